# SPDX-License-Identifier: Apache-2.0
"""Decision trees that keep a promise while they grow.

An encoded table, roles and a requirement enter; an audited `TreeRelease` leaves. `grow.py` reads as the recipe: count,
score, veto what would break the promise, choose, split. A grower asks an engine for counts and never sees a row.
"""

from shoal.trees.classifier import AnonymousTreeClassifier

__all__ = ["AnonymousTreeClassifier"]
