# SPDX-License-Identifier: Apache-2.0
"""Metrics: how much a release has kept of its table. Counts and releases enter, numbers leave."""

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
    "classification_metric",
    "discernibility_metric",
    "loss_metric",
    "measure_table",
]
