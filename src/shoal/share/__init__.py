# SPDX-License-Identifier: Apache-2.0
"""Learning together: each owner publishes a model that keeps a promise, and anybody learns a joint one from these.

Released trees enter; pseudo-data and joint models leave. Nothing here ever sees an owner's rows.
"""

from shoal.release.marginal import Marginal
from shoal.share.conjunctive_rule import ConjunctiveRule
from shoal.share.generate import PseudoData, pseudo_data, pseudo_data_from_rules, uniform_data
from shoal.share.naive_bayes import MixedNaiveBayes
from shoal.share.paths import Path, paths_of

__all__ = [
    "ConjunctiveRule",
    "Marginal",
    "MixedNaiveBayes",
    "Path",
    "PseudoData",
    "paths_of",
    "pseudo_data",
    "pseudo_data_from_rules",
    "uniform_data",
]
