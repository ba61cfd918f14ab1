# SPDX-License-Identifier: Apache-2.0
"""XGBoost's models as subjects of an audit. XGBoost is never imported: a model is asked for its own JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class XGBoostModel:
    """An XGBoost model as its own JSON, as `save_model("model.json")` and `save_raw("json")` write it.

    >>> XGBoostModel({"learner": {}, "version": [3, 2, 0]})
    <XGBoost model, version 3.2.0>
    """

    body: Mapping[str, Any]

    def __repr__(self) -> str:
        version = self.body.get("version")
        written = ".".join(map(str, version)) if isinstance(version, list) and len(version) == 3 else "unknown"
        return f"<XGBoost model, version {written[:20]}>"
