# SPDX-License-Identifier: Apache-2.0
"""Top-down refinement: top-down specialisation that also tells single values of columns without a taxonomy."""

from __future__ import annotations

from shoal.anonymize.tds import TopDownSpecialization


class TopDownRefinement(TopDownSpecialization):
    """Generalise a table for learning its target, also columns that have no taxonomy (TDR).

    Like `TopDownSpecialization`, with the same parameters and attributes, but a categorical column without a hierarchy
    is refined by *telling* its values: all are kept back at first (``*``), then one at a time is told, and those that
    are not told are published as ``(other)``. The release says which they are.

    Notes
    -----
    The score of a step is its information gain divided by one more than what the smallest group loses, as in the paper
    (TDS divides by the loss itself, and not at all where there is none). Telling a value parts the rows that are kept
    back in two: those that have it and the others; its gain is that of these two parts.

    Differs from the paper: as `TopDownSpecialization` does; values that no row has are never told; when all values but
    one are told, the last is told too.

    References
    ----------
    B. C. M. Fung, K. Wang, P. S. Yu, "Anonymizing classification data for privacy preservation", IEEE Transactions on
    Knowledge and Data Engineering 19 (2007), 711-725, doi:10.1109/TKDE.2007.1015.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import TopDownRefinement
    >>> people = load_sample().to_arrow().select(["age", "sex", "education", "diabetes"])
    >>> tdr = TopDownRefinement(500).fit(people, "diabetes")
    >>> tdr.release_.verdict.smallest_group >= 500
    True
    >>> tdr.made_hierarchies_["education"]
    'kept back, and told value by value'
    """

    _more = 1
    _keeps_back = True
