# SPDX-License-Identifier: Apache-2.0
"""Learning together: each owner publishes a model that keeps a promise, and anybody learns a joint one from these.

One owner's rows enter `publish`, and nothing else here; of everybody, released trees enter, and pseudo-data and joint
models leave.
"""

from shoal.release.marginal import Marginal
from shoal.share.agree import Disagreement, agree, disagreements
from shoal.share.compare_owners import OwnersComparison, compare_owners
from shoal.share.conjunctive_rule import ConjunctiveRule
from shoal.share.generate import PseudoData, pseudo_data, pseudo_data_from_rules, uniform_data
from shoal.share.joint import JointModel, pool
from shoal.share.marginals import marginals_of
from shoal.share.naive_bayes import MixedNaiveBayes
from shoal.share.paths import Path, paths_of
from shoal.share.publish import publish

__all__ = [
    "ConjunctiveRule",
    "Disagreement",
    "JointModel",
    "Marginal",
    "MixedNaiveBayes",
    "OwnersComparison",
    "Path",
    "PseudoData",
    "agree",
    "compare_owners",
    "disagreements",
    "marginals_of",
    "paths_of",
    "pool",
    "pseudo_data",
    "pseudo_data_from_rules",
    "publish",
    "uniform_data",
]
