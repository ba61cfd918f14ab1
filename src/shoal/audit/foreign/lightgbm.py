# SPDX-License-Identifier: Apache-2.0
"""LightGBM's models as subjects of an audit. LightGBM is never imported: a model is asked for its own text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LightGBMModel:
    """A LightGBM model as the text of its own file, as `Booster.save_model` writes it.

    >>> LightGBMModel("tree\\nversion=v4\\n")
    <LightGBM model, 16 characters>
    """

    text: str

    def __repr__(self) -> str:
        return f"<LightGBM model, {len(self.text)} characters>"
