# SPDX-License-Identifier: Apache-2.0
"""The data itself, generalised by the spans of a tree: multi-dimensional recoding (VLDB'08 Sect. 3 and 6.2)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shoal.anonymize.base import Generalisation, TableAnonymizer, publish_elsewhere, publish_table
from shoal.audit.spans import TreeSpans
from shoal.data.domain import Domain, declare_domain
from shoal.data.frames import to_table
from shoal.data.grouped import coarser, most_groups
from shoal.data.person import Ids, whose_rows
from shoal.data.roles import Roles, TargetRole
from shoal.data.table import Column, Table, smallest_dtype
from shoal.data.target import with_target
from shoal.engines import RowsElsewhere, open_rows
from shoal.errors import DataError
from shoal.privacy import Requirement, as_requirement, people_behind
from shoal.release import Attribute, TableRelease, TreeRelease
from shoal.release.generalised import ALL, Generalised, from_mask, runs_of, with_labels
from shoal.release.numbers import Numbers
from shoal.release.table import fit_column
from shoal.trees import AnonymousTreeClassifier
from shoal.trees.score import Criterion

Masks = dict[str, NDArray[np.bool_]]  # public attribute -> the atoms that a span's paths leave


def anonymize_by_tree(
    release: TreeRelease,
    table: Any,
    y: Any = None,
    *,
    privacy: Requirement | int | None = None,
    reproducible: bool = False,
    person: str | None = None,
) -> TableRelease:
    """Publish the rows of a tree, each generalised to what the tree asks of people with its public values.

    A person's public value becomes what all public tests on the way to the leaves of his span leave of the column, and
    ``*`` where none of them asks for it. Private columns, the target included, are published exactly, as the release's
    domain has them: a number beyond the bounds of an undeclared private column becomes the bound.

    Parameters
    ----------
    release
        The tree; its roles are the table's. Columns that it does not know, identifiers among them, are left out.
    table
        The rows it was learned from.
    y
        The target's values, the name of its column, or None when the table has a column of its name.
    privacy
        What is promised, if other than the release claims; it must be given where a release claims it in words only.
    reproducible
        Sort the rows by what is published of them. By default their order is drawn from the operating system.
    person
        The column that tells people apart, where they may have several rows: then the tree must count people, too. One
        row is published for each row, and groups have enough different people.

    Returns
    -------
    TableRelease
        With the verdict of its audit. A table that fails is withheld: a tree may have small groups whose span is a
        single bin, which tell nothing private, but a table with private columns may not.

    Notes
    -----
    With only the target private a span is a leaf, and the result is the table equivalent to the tree (Sect. 3 of the
    paper). Two spans part at some public test that both can be put to, so their generalised values exclude each other:
    the groups of the table are those of the tree, and everybody fits exactly one of them.

    References
    ----------
    A. Friedman, R. Wolff, A. Schuster, "Providing k-anonymity in data mining", VLDB Journal 17 (2008),
    789-804, doi:10.1007/s00778-006-0039-5.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> anonymize_by_tree(tree, people)
    <TableRelease: 5000 rows, 3 columns, 2 groups>
    """
    requirement = release.requirement if privacy is None else as_requirement(privacy)
    given = to_table(table)
    rows = with_target(given, y, release.target)
    made = generalise_by_tree(release, rows, given.names, requirement, person)
    return publish_table(made, requirement, rows, reproducible=reproducible, person=person)


def generalise_by_tree(
    release: TreeRelease, table: Table, order: Sequence[str], requirement: Requirement, person: str | None = None
) -> Generalisation:
    """The generalised rows, in the order they came, with columns in a given order.

    Public columns that the tree never asks for need not be in the table, only in `order`.
    """
    if release.several_rows and person is None:
        raise DataError(
            "person-needed",
            "This release counts different people, who have several rows. Name the column that tells them apart "
            "(person=, or --person on the command line).",
        )
    roles = {attribute.name: attribute.role for attribute in release.attributes} | dict(release.unused)
    absent = [name for name in roles if name not in table and name not in order]
    if absent:
        raise DataError("no-column", f"The release knows column(s) {', '.join(map(repr, absent))} that are not here.")
    whose = None if person is None else whose_rows(table[person])
    settled = _settle(release, table, people_behind(requirement), whose)
    spans = _Generaliser(release, table)
    columns: dict[str, Column] = {}
    attributes: dict[str, Attribute] = {}
    generalised: dict[str, tuple[Generalised, ...]] = {}
    for name in dict.fromkeys([*(name for name in order if name in roles), *roles]):
        if roles[name] == "private":
            attributes[name], columns[name] = settled[name]
            continue
        attributes[name], generalised[name], codes = spans.column(name)
        labels = tuple(value.label for value in generalised[name])
        codes = codes.astype(smallest_dtype(len(labels)))
        columns[name] = Column(name, "categorical", codes, labels, weights=table.weights)
    return Generalisation(
        release.target, tuple(attributes.values()), Table(columns.values()), generalised, release.sensitive
    )


def generalise_elsewhere(
    release: TreeRelease, rows: RowsElsewhere, target: str, requirement: Requirement
) -> tuple[Generalisation, TableRelease]:
    """The same of rows that are elsewhere, and their release; each of their different rows is looked at once.

    Public columns that the tree never asks for are not read, and of the others nothing is told apart that the tree does
    not tell apart.
    """
    asked = TreeSpans(release, release.public).public
    roles = {attribute.name: attribute.role for attribute in release.attributes} | dict(release.unused)
    needed = [name for name in rows.names if name in asked or roles.get(name) == "private" or name == target]
    given = with_target(rows.count(needed, coarse=(), people=0, max_codes=0), target, release.target)
    atoms = dict(zip(release.routing.names, release.routing.atoms, strict=True))
    columns = [
        coarser(column, atoms[name].encode(replace(column, codes=np.arange(column.n_codes))))
        if name in asked and name != release.target
        else column
        for name, column in given.items()
    ]
    table = rows.grouped(given.like(columns), most_groups())
    made = generalise_by_tree(release, table, list(rows.names), requirement)
    return made, publish_elsewhere(made, requirement, rows.settled(given))


def _settle(release: TreeRelease, table: Table, people: int, whose: Ids | None) -> dict[str, tuple[Attribute, Column]]:
    """The private columns in codes of a domain that is declared or safe to state."""
    stated = [attribute for attribute in release.attributes if attribute.role == "private"]
    found = {each.name: (each, fit_column(each, table[each.name])) for each in stated}
    unused = tuple(name for name, role in release.unused.items() if role == "private")
    if unused:
        roles = Roles(public=(), private=unused, target=release.target)
        safe = declare_domain(table, roles, None, {}, people=people, person=whose)
        found |= {name: (Attribute.of(safe[name], "private"), safe[name]) for name in unused}
    return found


class _Generaliser:
    """What a tree leaves of each public column, span by span."""

    def __init__(self, release: TreeRelease, table: Table) -> None:
        self.release, self.table, self.routing = release, table, release.routing
        self.spans = TreeSpans(release, release.public)
        found = self.spans.spans(table)
        self.of_row = found.of_row
        self._atoms = dict(zip(self.routing.names, self.routing.atoms, strict=True))
        self._known: dict[Generalised, Generalised] = {}
        # not the masks themselves: of many spans and atoms, those would not fit into memory
        self.said = [self._said(self.spans.leaves_of(int(person))) for person in found.example]

    def _said(self, leaves: list[int]) -> dict[str, Generalised]:
        """What is left of each public attribute that the tests above some leaves ask for; all else is hidden."""
        found = {name: from_mask(self._atoms[name], mask) for name, mask in self._masks(leaves).items()}
        return {name: self._known.setdefault(value, value) for name, value in found.items()}

    def _masks(self, leaves: list[int]) -> Masks:
        """The atoms of each public attribute that the tests above some leaves have in common."""
        left: Masks = {}
        seen: set[int] = set()
        for leaf in leaves:
            child = leaf
            while (parent := int(self.release.parents[child])) >= 0 and child not in seen:
                seen.add(child)
                name = self.routing.names[self.routing.tests[parent]]
                if name in self.spans.public:
                    mask = self.routing.children(parent) == child
                    left[name] = left[name] & mask if name in left else mask
                child = parent
        return left

    def column(self, name: str) -> tuple[Attribute, tuple[Generalised, ...], NDArray[np.int64]]:
        """A public column: its domain, its generalised values and the one of each person."""
        if name == self.release.target:
            return self._exact(name)
        if name not in self.spans.public:
            return self._hidden(name)
        attribute = self.release.attribute(name)
        atoms, hidden = self._atoms[name], Generalised(ALL)
        of_span = [said.get(name, hidden) for said in self.said]
        # listed by the place of what they stand for, never by who came first in the table
        distinct = list(dict.fromkeys(of_span))
        runs = runs_of(atoms, distinct)
        n_atoms = np.diff(np.concatenate([[0], np.cumsum(runs.end - runs.first)])[runs.start])
        is_all = np.array([value.is_all for value in distinct])
        order = np.lexsort([n_atoms, runs.first[runs.start[:-1]], is_all])
        found = [distinct[i] for i in order]
        position = {value: code for code, value in enumerate(found)}
        codes = np.array([position[value] for value in of_span], dtype=np.int64)[self.of_row]
        return attribute, with_labels(attribute, found, self._names(name)), codes

    def _exact(self, name: str) -> tuple[Attribute, tuple[Generalised, ...], NDArray[np.int64]]:
        """A public target: a bin tells its value, so the table does."""
        attribute = self.release.attribute(name)
        column = fit_column(attribute, self.table[name]).compact()
        found = [Generalised("", values=(value,)) for value in column.names]
        return attribute, with_labels(attribute, found), column.codes.astype(np.int64)

    def _hidden(self, name: str) -> tuple[Attribute, tuple[Generalised, ...], NDArray[np.int64]]:
        """A public column that the tree never asks for; what was found in its rows is not stated either."""
        attribute = Attribute(name, "public", "categorical", values=(ALL,))
        if name not in self.release.unused:
            attribute = self.release.attribute(name)
        return attribute, (Generalised(ALL),), np.zeros(self.table.n_rows, dtype=np.int64)

    def _names(self, name: str) -> dict[Generalised, set[str]]:
        """What the tree's branches call sets of values of a column."""
        names: dict[Generalised, set[str]] = {}
        atoms = self._atoms[name]
        for node in self.release.nodes:
            for branch in node.branches:
                if node.attribute == name and branch.label is not None and branch.values:
                    mask = np.zeros(atoms.n, dtype=bool)
                    mask[atoms.of_branch(branch)] = True
                    names.setdefault(replace(from_mask(atoms, mask), label=""), set()).add(branch.label)
        return names


class TreeAnonymizer(TableAnonymizer):
    """Generalise a table by a decision tree that keeps the promise, so that it stays good for learning its target.

    The parameters are those of `AnonymousTreeClassifier`, and mean the same. Every group counts, also where its span is
    a single bin, because private columns are published exactly. With a `person` column one row is published for each
    row, without saying whose it is, and every group has enough different people.

    Parameters
    ----------
    variant
        ``"id3"``, as in the paper, unless said otherwise: what a classifier prunes away, a table can keep.
    numbers
        How `fit_transform` writes generalised numbers: ``"intervals"`` (texts), ``"ends"`` (two columns) or
        ``"midpoints"``.
    reproducible
        Sort the published rows by what is published of them. By default their order is drawn from the operating system.
    engine
        Where rows are: ``"memory"``; ``"stream"`` to read a file, a folder, a dataset or a query in batches, however
        many rows there are; ``"spark"`` for a Spark DataFrame, or a path or table that Spark reads. What is published
        is the same, its rows always sorted; it is `release_`, as `fit_transform` then hands none back. Private columns
        and what the tree asks for have at most 4 million different rows together (``SHOAL_MOST_GROUPS`` in the
        environment says otherwise).

    Attributes
    ----------
    release_ : TableRelease
        All that may leave the house, with the audit's verdict.
    tree_ : TreeRelease
        The tree that generalised it.
    n_features_in_ : int
        How many columns it was given.
    feature_names_in_ : ndarray
        Their names, where they had any.

    References
    ----------
    A. Friedman, R. Wolff, A. Schuster, "Providing k-anonymity in data mining", VLDB Journal 17 (2008),
    789-804, Sect. 6.2, doi:10.1007/s00778-006-0039-5.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().to_arrow().select(["age", "sex", "education", "diabetes"])
    >>> anonymizer = TreeAnonymizer(privacy=1000, hierarchies={"age": {"intervals": [20, 40]}})
    >>> anonymizer.fit_transform(people, "diabetes").column_names
    ['age', 'sex', 'education', 'diabetes']
    >>> anonymizer.release_.verdict.smallest_group >= 1000
    True
    """

    def __init__(
        self,
        privacy: Requirement | int = 10,
        *,
        public: Sequence[str] | None = None,
        target_role: TargetRole = "private",
        sensitive: Sequence[str] = (),
        domain: Domain | None = None,
        person: str | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        criterion: Criterion | None = None,
        grouping: Literal["levels", "halves", "merge"] | None = None,
        pruning: Literal["cost", "none"] | float | None = None,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_gain: float = 0.0,
        lookahead: Literal[0, 1] = 0,
        variant: Literal["id3"] | None = "id3",
        engine: Literal["memory", "stream", "spark"] = "memory",
        random_state: int | np.random.RandomState | None = None,
        numbers: Numbers = "intervals",
        reproducible: bool = False,
    ) -> None:
        self.privacy = privacy
        self.public = public
        self.target_role = target_role
        self.sensitive = sensitive
        self.domain = domain
        self.person = person
        self.hierarchies = hierarchies
        self.criterion = criterion
        self.grouping = grouping
        self.pruning = pruning
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_gain = min_gain
        self.lookahead = lookahead
        self.variant = variant
        self.engine = engine
        self.random_state = random_state
        self.numbers = numbers
        self.reproducible = reproducible

    def _generalise(self, X: Any, y: Any) -> tuple[Generalisation, TableRelease]:
        options = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in ("numbers", "reproducible")
        }
        model = AnonymousTreeClassifier(**options, strict=True).fit(X, y)
        self.tree_ = model.release_
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        requirement = as_requirement(self.privacy)
        if self.engine != "memory":
            with open_rows(self.engine, X) as elsewhere:
                return generalise_elsewhere(self.tree_, elsewhere, y, requirement)
        table = to_table(X)
        rows = with_target(table, y, self.tree_.target)
        made = generalise_by_tree(self.tree_, rows, table.names, requirement, self.person)
        return made, publish_table(made, requirement, rows, reproducible=self.reproducible, person=self.person)

    def transform(self, X: Any) -> Any:
        """What the tree makes of other rows: public values as texts, all other columns as they are.

        For use in house. New rows were not there when groups were counted, so nothing is promised about them.
        """
        check_is_fitted(self)
        table = to_table(self._checked(X, reset=False))
        spans = _Generaliser(self.tree_, table)
        cells: dict[str, list[Generalised]] = {}
        codes: dict[str, NDArray[np.int64]] = {}
        for name in self.release_.public:
            if name in table:
                _, found, codes[name] = spans.column(name)
                known = {replace(cell, label=""): cell.label for cell in self.release_.generalised[name]}
                cells[name] = [replace(cell, label=known.get(replace(cell, label=""), cell.label)) for cell in found]
        return self._as_frame(X, table, cells, codes)
