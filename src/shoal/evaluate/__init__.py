# SPDX-License-Identifier: Apache-2.0
"""Metrics: how much a release has kept of its table, and whether a difference is more than chance.

Counts, releases and scores enter, numbers leave.
"""

from shoal.evaluate.accuracy import drawn_rows, learned_accuracy
from shoal.evaluate.information import non_uniform_entropy, precision
from shoal.evaluate.losses import cell_losses
from shoal.evaluate.matching import class_match, path_match
from shoal.evaluate.significance import (
    DunnTest,
    FriedmanTest,
    FTest,
    bonferroni_dunn,
    combined_f_test,
    friedman_test,
)
from shoal.evaluate.tables import (
    TableMetrics,
    average_class_size,
    classification_metric,
    discernibility_metric,
    loss_metric,
    measure_table,
)

__all__ = [
    "DunnTest",
    "FTest",
    "FriedmanTest",
    "TableMetrics",
    "average_class_size",
    "bonferroni_dunn",
    "cell_losses",
    "class_match",
    "classification_metric",
    "combined_f_test",
    "discernibility_metric",
    "drawn_rows",
    "friedman_test",
    "learned_accuracy",
    "loss_metric",
    "measure_table",
    "non_uniform_entropy",
    "path_match",
    "precision",
]
