# SPDX-License-Identifier: Apache-2.0
"""What a user gave as `privacy`, made a requirement."""

from __future__ import annotations

import inspect

import numpy as np

from shoal.errors import RequirementError
from shoal.privacy._parameters import shown
from shoal.privacy.base import Requirement, is_requirement
from shoal.privacy.k_anonymity import KAnonymity


def as_requirement(given: object) -> Requirement:
    """A requirement from what a user gave.

    Parameters
    ----------
    given
        An integer (50 means ``KAnonymity(50)``), a requirement, or any object with `holds`, `monotone` and
        `describe`.

    Notes
    -----
    A user's own object is passed on as it is: read what it may lack with `least_people` and `needs_values`.

    References
    ----------
    L. Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty, Fuzziness
    and Knowledge-Based Systems 10(5), 2002, doi:10.1142/S0218488502001648.

    Examples
    --------
    >>> as_requirement(50)
    KAnonymity(k=50)
    >>> as_requirement(0.9)
    Traceback (most recent call last):
    ...
    shoal.errors.RequirementError: A requirement is an integer or an object such as KAnonymity(50); got 0.9.
    Try Confidence(0.9) for a highest share, KAnonymity(k) for a group size.
    """
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        return KAnonymity(int(given))
    if is_requirement(given):
        _check_holds(given)
        return given  # type: ignore[return-value]
    raise RequirementError(
        "requirement",
        f"A requirement is an integer or an object such as KAnonymity(50); got {_seen(given)}. " + _hint(given),
    )


def _seen(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else shown(given)


def _hint(given: object) -> str:
    if isinstance(given, type):
        return f"Try {given.__name__}(…), with its parameters."
    if isinstance(given, (float, np.floating)):
        return "Try Confidence(0.9) for a highest share, KAnonymity(k) for a group size."
    if isinstance(given, (list, tuple)):
        return "Try joining requirements with &."
    return "Try KAnonymity(50); one of your own needs holds, monotone and describe."


def _check_holds(given: object) -> None:
    """Refuse now what would fail in the middle of mining."""
    holds = getattr(given, "holds", None)
    fits = callable(holds) and callable(getattr(given, "describe", None))
    if fits and callable(holds):
        try:
            inspect.signature(holds).bind(None, None)
        except TypeError:
            fits = False
        except ValueError:
            pass  # compiled code may have no signature to look at
    if not fits or not isinstance(getattr(given, "monotone", None), (bool, np.bool_)):
        raise RequirementError(
            "requirement",
            f"{type(given).__name__}: a requirement needs methods holds(counts, total=None) and describe(), "
            "and monotone, True or False.",
        )
