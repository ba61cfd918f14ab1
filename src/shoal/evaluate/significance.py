# SPDX-License-Identifier: Apache-2.0
"""Whether one method is better than another, or by chance: tests over folds of one table and over many tables."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DataError

Numbers = NDArray[np.float64]


class FTest(NamedTuple):
    """An F test's result.

    Attributes
    ----------
    statistic
        The value of F; ``inf`` where nothing but the difference varies.
    p_value
        How likely at least that value is where there is no difference.
    degrees
        The two degrees of freedom.
    """

    statistic: float
    p_value: float
    degrees: tuple[int, int]


class FriedmanTest(NamedTuple):
    """The adjusted Friedman test's result.

    Attributes
    ----------
    statistic, p_value, degrees
        As of `FTest`.
    chi_square
        Friedman's own statistic, before Iman and Davenport's adjustment.
    ranks
        The average rank of each method; 1 is best.
    """

    statistic: float
    p_value: float
    degrees: tuple[int, int]
    chi_square: float
    ranks: Numbers


class DunnTest(NamedTuple):
    """The Bonferroni-Dunn test's result, for every method against the control.

    Attributes
    ----------
    z
        How far the control's average rank is from each method's, in standard errors: below 0 the control is better.
        0 for the control itself.
    p_values
        How likely at least that distance is by chance, times the number of comparisons and at most 1. A method differs
        from the control at level 0.05 where this is below 0.05. 1 for the control itself.
    """

    z: Numbers
    p_values: Numbers


def combined_f_test(first: ArrayLike, second: ArrayLike) -> FTest:
    """The 5 × 2 cv combined F test of two methods on one table.

    Rows are split in halves five times; each time both methods learn from one half and are tested on the other, and
    the other way round.

    Parameters
    ----------
    first, second
        What each method reached, 5 × 2: five splits, two halves. Accuracies or errors, no matter which.

    Notes
    -----
    With p the ten differences and s² the variance of each pair of them, F is Σp² / 2Σs², with 10 and 5 degrees of
    freedom. Where no pair of differences varies, F is infinite, or 0 if there are no differences.

    References
    ----------
    E. Alpaydin, "Combined 5 × 2 cv F test for comparing supervised classification learning algorithms", Neural
    Computation 11, 1999, pp. 1885-1892, doi:10.1162/089976699300016007.

    Examples
    --------
    >>> ours = [[0.84, 0.86], [0.83, 0.85], [0.86, 0.84], [0.85, 0.86], [0.84, 0.84]]
    >>> theirs = [[0.80, 0.81], [0.81, 0.80], [0.80, 0.81], [0.79, 0.82], [0.81, 0.80]]
    >>> found = combined_f_test(ours, theirs)
    >>> round(found.statistic, 2), round(found.p_value, 3)
    (8.0, 0.017)
    """
    from scipy import stats

    ours, theirs = _scores(first), _scores(second)
    if not ours.shape == theirs.shape == (5, 2):
        raise DataError("scores", "The 5 × 2 cv test needs five pairs of numbers of each method: an array of 5 × 2.")
    difference = ours - theirs
    # twice the variance of two numbers is the square of what lies between them
    statistic = _ratio(float((difference**2).sum()), float((np.diff(difference) ** 2).sum()))
    return FTest(statistic, float(stats.f.sf(statistic, 10, 5)), (10, 5))


def friedman_test(scores: ArrayLike) -> FriedmanTest:
    """Iman and Davenport's adjusted Friedman test: do any methods differ over many tables?

    Parameters
    ----------
    scores
        What each method reached on each table, tables × methods; more is better. Of errors give the negative.

    Notes
    -----
    Methods that reach the same on a table share the mean of their ranks; as Demšar does, and unlike scipy, nothing is
    corrected for that.

    References
    ----------
    R. Iman, J. Davenport, "Approximations of the critical region of the Friedman statistic", Communications in
    Statistics A9, 1980, pp. 571-595, doi:10.1080/03610928008827904.

    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine Learning
    Research 7, 2006, pp. 1-30.

    Examples
    --------
    >>> found = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.7, 0.6, 0.5], [0.9, 0.8, 0.6]])
    >>> found.ranks.tolist(), found.degrees
    ([1.25, 2.25, 2.5], (2, 6))
    >>> round(found.chi_square, 2), round(found.statistic, 2), round(found.p_value, 2)
    (3.5, 2.33, 0.18)
    """
    from scipy import stats

    ranks, n = _average_ranks(scores)
    k = len(ranks)
    chi_square = 12 * n / (k * (k + 1)) * float((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    # a share of nothing is left where every table ranks the methods alike, but for rounding
    rest = n * (k - 1) - chi_square
    statistic = _ratio((n - 1) * chi_square, rest if rest > 1e-9 * n else 0.0)
    degrees = k - 1, (k - 1) * (n - 1)
    return FriedmanTest(statistic, float(stats.f.sf(statistic, *degrees)), degrees, chi_square, ranks)


def bonferroni_dunn(scores: ArrayLike, control: int = 0) -> DunnTest:
    """The Bonferroni-Dunn test: which methods differ from one of them over many tables?

    To be asked after `friedman_test` found that there are differences.

    Parameters
    ----------
    scores
        As of `friedman_test`.
    control
        The column of the method that the others are compared with.

    References
    ----------
    O. Dunn, "Multiple comparisons among means", Journal of the American Statistical Association 56, 1961,
    pp. 52-64, doi:10.1080/01621459.1961.10482090.

    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine Learning
    Research 7, 2006, pp. 1-30.

    Examples
    --------
    >>> better = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.6, 0.5], [0.9, 0.8, 0.6]]
    >>> found = bonferroni_dunn(better)
    >>> found.z.round(2).tolist(), found.p_values.round(3).tolist()
    ([0.0, -1.41, -2.83], [1.0, 0.315, 0.009])
    """
    from scipy import stats

    ranks, n = _average_ranks(scores)
    k = len(ranks)
    if not 0 <= control < k:
        raise DataError("scores", f"There is no method {control!r} to compare with; methods are numbered 0 to {k - 1}.")
    z = (ranks[control] - ranks) / math.sqrt(k * (k + 1) / (6 * n))
    return DunnTest(z, np.minimum((k - 1) * 2 * stats.norm.sf(np.abs(z)), 1.0))


def _average_ranks(scores: ArrayLike) -> tuple[Numbers, int]:
    """The average rank of each method, the best first, and how many tables there are."""
    from scipy import stats

    numbers = _scores(scores)
    if numbers.ndim != 2 or len(numbers) < 2 or numbers.shape[1] < 2:
        raise DataError("scores", "Methods are compared over at least two tables: an array of tables × methods.")
    return np.asarray(stats.rankdata(-numbers, axis=1).mean(axis=0)), len(numbers)


def _scores(scores: ArrayLike) -> Numbers:
    try:
        numbers = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("scores", "What methods reached must be an array of numbers.") from None
    if not np.isfinite(numbers).all():
        raise DataError("scores", "What methods reached must be finite numbers, none of them missing.")
    return numbers


def _ratio(above: float, below: float) -> float:
    if below > 0:
        return above / below
    return math.inf if above > 0 else 0.0
