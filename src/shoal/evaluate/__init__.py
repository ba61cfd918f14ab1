# SPDX-License-Identifier: Apache-2.0
"""Metrics: how much a release has kept of its table. Counts and releases enter, numbers leave."""

from shoal.evaluate.accuracy import drawn_rows, learned_accuracy
from shoal.evaluate.information import non_uniform_entropy, precision
from shoal.evaluate.losses import cell_losses
from shoal.evaluate.matching import class_match, path_match
from shoal.evaluate.tables import (
    TableMetrics,
    average_class_size,
    classification_metric,
    discernibility_metric,
    loss_metric,
    measure_table,
)

__all__ = [
    "TableMetrics",
    "average_class_size",
    "cell_losses",
    "class_match",
    "classification_metric",
    "discernibility_metric",
    "drawn_rows",
    "learned_accuracy",
    "loss_metric",
    "measure_table",
    "non_uniform_entropy",
    "path_match",
    "precision",
]
