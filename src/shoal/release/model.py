# SPDX-License-Identifier: Apache-2.0
"""A model over groups as it leaves the house."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.data.frames import Backend, from_columns, to_table
from shoal.data.table import Table
from shoal.errors import DataError, ReleaseError
from shoal.privacy import Requirement
from shoal.release.domain import Attribute, plain
from shoal.release.files import FORMAT, write_json
from shoal.release.model_file import check_model_name, load_model
from shoal.release.model_inputs import ModelInputs, in_order
from shoal.release.model_show import by_group, model_text
from shoal.release.together import save_together
from shoal.release.tree import TreeRelease, Unknown
from shoal.release.verdict import Verdict, check_writable, fingerprint, verdict_of

AT_ONCE = 100_000  # rows whose numbers are made in one piece


@dataclass(frozen=True, eq=False)
class ModelRelease:
    """A model that knows public columns only by a person's group, the tree of groups, and what is claimed of it.

    Without private inputs it is a table from group to prediction. With them it is a fitted model of scikit-learn, in a
    skops file beside the JSON. It needs no miner: it loads, prints, predicts, and can be audited by who has the rows.

    Parameters
    ----------
    groups
        The tree whose leaves are the groups. It states the domain, the claims, and the inputs among its attributes.
    model
        What was fitted, by name.
    library
        What it was fitted with.
    inputs
        The columns that the model takes besides the group, exactly as they are.
    cuts
        For a number as target: where it was cut to make the classes of the tree. None for a classifier.
    predictions
        What the model answers for each group: a class by its place in `classes`, or a number. None where there are
        inputs.
    shares
        The probability of each class for each group, where the model tells it.
    file
        The bytes of the fitted model's skops file. None where there are no inputs.
    verdict
        The audit's word on exactly this content. `save` refuses to write without it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from shoal import AnonymousModel, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> print(AnonymousModel(LogisticRegression(), privacy=1500).fit(people, "diabetes").release_)
    LogisticRegression on the groups of
    diabetes: 2 leaves, 5,000 people; claimed: every group has at least 1500 people
    age at most 47.5: 2,519 people, no (95.3%)
    age above 47.5: 2,481 people, no (63.8%)
    """

    groups: TreeRelease
    model: str
    library: str
    inputs: tuple[str, ...] = ()
    cuts: tuple[float, ...] | None = None
    predictions: NDArray[Any] | None = None
    shares: NDArray[np.float64] | None = None
    file: bytes | None = None
    verdict: Verdict | None = field(default=None)

    kind = "model"

    # ---------------------------------------------------------------- what it says

    @property
    def task(self) -> Literal["classification", "regression"]:
        """Whether the answer is a class or a number."""
        return "classification" if self.cuts is None else "regression"

    @property
    def target(self) -> str:
        """What is predicted."""
        return self.groups.target

    @property
    def requirement(self) -> Requirement:
        """What the release claims, as a requirement."""
        return self.groups.requirement

    @property
    def claims(self) -> tuple[Mapping[str, Any], ...]:
        """What is promised, as `shoal.privacy` writes it."""
        return self.groups.claims

    @property
    def public(self) -> tuple[str, ...]:
        """The columns an attacker is taken to know, as the release says."""
        return self.groups.public

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Private columns besides the target that the claims cover too."""
        return self.groups.sensitive

    @property
    def classes(self) -> tuple[str, ...]:
        """The target's classes; of a number, those it was cut into to make the groups."""
        return self.groups.classes

    @property
    def labels(self) -> NDArray[Any]:
        """The classes in their own type."""
        return self.groups.labels

    @property
    def n_people(self) -> int:
        """How many people it was learned from."""
        return self.groups.n_people

    @property
    def several_rows(self) -> bool:
        """Whether people have several rows each, so that every number is one of different people."""
        return self.groups.several_rows

    def attribute(self, name: str) -> Attribute:
        """One attribute by its name."""
        return self.groups.attribute(name)

    @property
    def kinds(self) -> dict[str, Literal["numeric", "categorical"]]:
        """How each column is to be read, the target's not among them."""
        return {name: kind for name, kind in self.groups.kinds.items() if name != self.target}

    @cached_property
    def told(self) -> ModelInputs:
        """What the model is told of a person."""
        return ModelInputs(self.groups, [self.attribute(name) for name in self.inputs])

    @cached_property
    def estimator(self) -> Any:
        """The fitted model as its file holds it; None where the release is a table."""
        if self.file is None:
            return None
        model = load_model(self.file)
        fits = getattr(model, "n_features_in_", None) == self.told.width
        if self.cuts is None:
            fits = fits and set(getattr(model, "classes_", ())) <= set(self.labels)
        if not fits:
            raise ReleaseError("model-file", "The model's file holds another model than the release describes.")
        return model

    # ---------------------------------------------------------------- what it does

    def apply(self, X: Any, *, unknown: Unknown = "error") -> NDArray[np.int64]:
        """The number of each row's group, in the order of the table."""
        return self._place(self.read(X), unknown)

    def predict(self, X: Any, *, unknown: Unknown = "error") -> NDArray[Any]:
        """The class or number of each row.

        A category outside the declared domain is an error, or with ``unknown="ancestor"`` the row is answered by the
        largest group below the node that asks for it.
        """
        table = self.read(X)
        group = self._place(table, unknown)
        if self.predictions is None:
            return np.concatenate([self.estimator.predict(part) for part in self._told_of(table, group, unknown)])
        answers: NDArray[Any] = self.predictions[group]
        return answers if self.cuts is not None else np.asarray(self.labels[answers])

    def predict_proba(self, X: Any, *, unknown: Unknown = "error") -> NDArray[np.float64]:
        """The probability of each class for each row, classes in the order of `classes`."""
        if not self.has_shares:
            raise DataError("no-probabilities", f"{self.model} tells no probabilities. Try predict.")
        table = self.read(X)
        group = self._place(table, unknown)
        if self.predictions is None:
            parts = [self.estimator.predict_proba(part) for part in self._told_of(table, group, unknown)]
            return in_order(np.concatenate(parts), self.estimator.classes_, self.labels)
        assert self.shares is not None
        # shares are rounded where they are written
        answer: NDArray[np.float64] = (self.shares / self.shares.sum(axis=1, keepdims=True))[group]
        return answer

    @property
    def has_shares(self) -> bool:
        """Whether it tells probabilities."""
        if self.cuts is not None:
            return False
        return self.shares is not None or (self.file is not None and hasattr(self.estimator, "predict_proba"))

    def _place(self, table: Table, unknown: Unknown) -> NDArray[np.int64]:
        if unknown not in ("error", "ancestor"):
            raise DataError("unknown-option", f"unknown must be 'error' or 'ancestor'; got {unknown!r}.")
        nodes = self.groups.routing.apply(table, stop_at_unknown=unknown == "ancestor")
        group: NDArray[np.int64] = self.told.group_of_node[nodes]
        return group

    def _told_of(self, table: Table, group: NDArray[np.int64], unknown: Unknown) -> Iterator[NDArray[np.float64]]:
        for first in range(0, table.n_rows, AT_ONCE):
            rows = np.arange(first, min(first + AT_ONCE, table.n_rows))
            yield self.told.matrix(table.take(rows), group[rows], accept_unknown=unknown == "ancestor")

    def read(self, X: Any) -> Table:
        """The columns of a data frame or array that the release knows, read as it knows them."""
        return to_table(X, kinds=self.kinds, only=self.kinds)

    # ---------------------------------------------------------------- how it is shown

    def __repr__(self) -> str:
        return (
            f"<ModelRelease of {self.target!r}: {self.model}, {len(self.told.leaves)} groups, {self.n_people} people>"
        )

    def __str__(self) -> str:
        return model_text(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row a group: its number, its path in words, its people and the answer in words.

        `backend` names the data frame library: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        """
        paths, people, answers = by_group(self)
        columns = {"group": list(range(len(paths))), "path": paths, "people": people, "answer": answers}
        return from_columns(columns, backend)

    # ---------------------------------------------------------------- how it leaves

    def to_json(self, model_file: str | None = None) -> dict[str, Any]:
        """The release as plain JSON, without the audit's verdict; a fitted model is in the file that `files` names."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "kind": self.kind,
            "task": self.task,
            "target": self.target,
            "model": {"name": self.model, "library": self.library, "inputs": list(self.inputs)},
            **({} if self.cuts is None else {"cuts": [plain(cut) for cut in self.cuts]}),
            "groups": self.groups.to_json(),
        }
        if self.file is not None:
            named = {} if model_file is None else {"name": model_file}
            return {**body, "files": [{**named, "sha256": hashlib.sha256(self.file).hexdigest()}]}
        return {**body, "table": [self._entry(i) for i in range(len(self.told.leaves))]}

    def _entry(self, i: int) -> dict[str, Any]:
        assert self.predictions is not None
        entry: dict[str, Any] = {"node": int(self.told.leaves[i]), "people": int(self.told.people[i])}
        if self.cuts is not None:
            return {**entry, "predict": plain(float(self.predictions[i]))}
        entry["predict"] = self.classes[int(self.predictions[i])]
        if self.shares is not None:
            entry["shares"] = dict(zip(self.classes, map(plain, self.shares[i].tolist()), strict=True))
        return entry

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of everything the release says, its model included; what its file is called does not count."""
        return fingerprint(self.to_json())

    def with_audit(self, audit: Any) -> ModelRelease:
        """The same release with the verdict of an audit of exactly this content, these claims and this attacker."""
        return replace(self, verdict=verdict_of(audit, sha256=self.sha256, claims=self.claims, public=self.public))

    def save(self, path: str | Path, model_file: str | None = None) -> None:
        """Write the release and, where it takes private columns, its model; refuse unless its own audit holds.

        Parameters
        ----------
        path
            The JSON file.
        model_file
            The name of the model's file in the same folder; as the JSON file with ``.skops`` at its end unless given.
        """
        check_writable(self.verdict, self.sha256)
        assert self.verdict is not None
        path = Path(path)
        if self.file is None:
            write_json({**self.to_json(), "audit": self.verdict.to_json()}, path)
            return
        name = check_model_name(path.with_suffix(".skops").name if model_file is None else model_file)
        if name == path.name:
            raise ReleaseError("model-file", f"The model of {str(path)!r} needs a file of another name than its own.")
        body = {**self.to_json(name), "audit": self.verdict.to_json()}
        save_together(path, body, {path.parent / name: [self.file]})
