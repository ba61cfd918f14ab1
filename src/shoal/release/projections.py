# SPDX-License-Identifier: Apache-2.0
"""Projections of one table as they leave the house: each a table of its own, in an order of its own."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from shoal.data.frames import Backend
from shoal.data.table import Table
from shoal.errors import ReleaseError
from shoal.privacy import (
    NOT_K_ANONYMITY,
    KAnonymity,
    Requirement,
    claims,
    likely_asked,
    partal_asked,
    requirement_from_claims,
)
from shoal.release.domain import Attribute
from shoal.release.files import FORMAT
from shoal.release.generalised import Generalised
from shoal.release.numbers import Numbers
from shoal.release.order import shuffled_order, sorted_order
from shoal.release.table import TableRelease
from shoal.release.table_file import check_name
from shoal.release.together import save_together
from shoal.release.verdict import Verdict, check_writable, fingerprint, verdict_of


@dataclass(frozen=True, eq=False)
class ProjectionsRelease:
    """Some columns of a table here, others there, the target with each; and what is claimed of them together.

    Every projection is a table whose rows are in an order that tells nothing of the others'. The claim is
    `shoal.privacy.PartAL`: rows that are joined again are counted, not people. It is not k-anonymity, and what an
    attacker can tell from all projections together is for the audit to say. Each projection alone is k-anonymous.

    Make one with `of`.

    Parameters
    ----------
    tables
        The projections. Target, and what is said of a column, are the same in all of them, and so are the number of
        rows and how many have each value of the target.
    claims
        What is promised, as `shoal.privacy` writes it; PartAL among it.
    left_out
        How many rows of the original table are in no projection.
    overlapping
        Whether a column may be in several projections.
    verdict
        The audit's word on exactly this content. `save` refuses to write without it.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.partition.publish import publish_projections
    >>> people = load_sample().table.select(["age", "sex", "smoker", "diabetes"])
    >>> release = publish_projections(people, "diabetes", [["age"], ["sex", "smoker"]], privacy=50,
    ...                               public=["age", "sex"], cuts={"age": [40, 60]}, reproducible=True)
    >>> print(release)
    2 projections of 5,000 rows with 'diabetes'; claimed: every projection alone is 50-anonymous, and every row of two
    of them joined again is there at least 50 times (PartAL, which is not k-anonymity)
      PartAL counts rows of the projections joined again, not people: it is not k-anonymity, and who is in the same
      rows of every projection may be alone.
      1: age, diabetes (private)
      2: sex, smoker (private), diabetes (private)
    >>> release.frame(1, backend="pyarrow").column_names
    ['sex', 'smoker', 'diabetes']
    """

    tables: tuple[TableRelease, ...]
    claims: tuple[Mapping[str, Any], ...]
    left_out: int = 0
    overlapping: bool = False
    verdict: Verdict | None = field(default=None)

    kind = "projections"
    several_rows = False

    def __post_init__(self) -> None:
        wrong = self._wrong()
        if wrong:
            raise ReleaseError("bad-release", f"These projections are not valid: {wrong}.")

    def _wrong(self) -> str:
        """What does not fit together; nothing where all does."""
        if not self.tables:
            return "there is none"
        first = self.tables[0]
        if first.target is None or first.attribute(first.target).role != "private":
            return "the target is in each of them and must be private"
        if partal_asked(self.requirement) is None:
            return "they must claim PartAL, whatever else they claim"
        private = {name for table in self.tables for name in table.private if name != first.target}
        if any(not private.issuperset(part.columns) for part in likely_asked(self.requirement)):
            return "what is claimed of columns known by chance is of private ones that are published, not the target"
        for one, other in combinations(self.tables, 2):
            if one.target != other.target:
                return "they have different targets"
            common = [name for name in one.columns if name in other.columns]
            if any(one.attribute(name) != other.attribute(name) for name in common):
                return "they do not state the same of a column that is in several"
            if any(one.generalised.get(name) != other.generalised.get(name) for name in common):
                return "labels of a column that is in several do not mean the same"
            if len(common) > 1 and not self.overlapping:
                return f"column {next(name for name in common if name != one.target)!r} is in several of them"
        for table in self.tables:
            if len(table.columns) < 2:
                return "one has no column but the target"
            if table.left_out or table.several_rows:
                return "people with several rows, and rows left out of one projection only, are not known here"
            if table.n_rows != first.n_rows:
                return "they do not have the same number of rows"
            assert first.target is not None
            if table.rows[first.target].counts().tolist() != first.rows[first.target].counts().tolist():
                return "they do not have as many rows of each value of the target"
        return ""

    @classmethod
    def of(
        cls,
        rows: Table,
        target: str,
        attributes: Sequence[Attribute],
        generalised: Mapping[str, tuple[Generalised, ...]],
        subsets: Sequence[Sequence[str]],
        requirement: Requirement,
        *,
        sensitive: Sequence[str] = (),
        left_out: int = 0,
        overlapping: bool = False,
        reproducible: bool = False,
    ) -> ProjectionsRelease:
        """Take a table apart.

        Parameters
        ----------
        rows
            The rows as they are published: of a public column codes into its generalised values, of a private one
            codes into its own.
        target
            The column that goes with every projection.
        attributes
            Every column with role and domain; those of columns in no subset are left out.
        generalised
            What each label of each public column means.
        subsets
            The columns of each projection, the target left aside.
        requirement
            What is claimed: PartAL, perhaps with more.
        sensitive, left_out, overlapping
            Private columns besides the target that claims about values cover too, how many rows of the original table
            `rows` lacks, and whether a column may be in several projections.
        reproducible
            Sort each projection by its cells, so that the same input gives the same bytes, instead of shuffling it
            with the operating system's randomness. Neither tells which rows of two projections belong together.
        """
        k = partal_asked(requirement)
        alone = () if k is None else tuple(claims(KAnonymity(k)))
        known = {each.name: each for each in attributes}
        tables = []
        for subset in subsets:
            names = [*(name for name in subset if name != target), target]
            part = rows.select(names)
            order = sorted_order(part) if reproducible else shuffled_order(part.n_rows)
            tables.append(
                TableRelease(
                    target,
                    tuple(known[name] for name in names),
                    alone,
                    part.take(order),
                    {name: tuple(generalised[name]) for name in names if name in generalised},
                    tuple(name for name in sensitive if name in names),
                )
            )
        return cls(tuple(tables), tuple(claims(requirement)), left_out, overlapping)

    # ---------------------------------------------------------------- what it says

    @property
    def target(self) -> str:
        """The column that is in every projection."""
        assert self.tables[0].target is not None
        return self.tables[0].target

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """Every published column, the target last."""
        found = {each.name: each for table in self.tables for each in table.attributes if each.name != self.target}
        return (*found.values(), self.tables[0].attribute(self.target))

    def attribute(self, name: str) -> Attribute:
        """One attribute by its name."""
        return next(table.attribute(name) for table in self.tables if name in table.columns)

    @property
    def requirement(self) -> Requirement:
        """What the release claims, as a requirement."""
        return requirement_from_claims([dict(claim) for claim in self.claims])

    @property
    def k(self) -> int:
        """The level that PartAL is claimed to have."""
        k = partal_asked(self.requirement)
        assert k is not None
        return k

    @property
    def columns(self) -> tuple[str, ...]:
        """Every published column, the target last."""
        return tuple(each.name for each in self.attributes)

    @property
    def generalised(self) -> Mapping[str, tuple[Generalised, ...]]:
        """For each public column what its labels mean."""
        return {name: values for table in self.tables for name, values in table.generalised.items()}

    @property
    def public(self) -> tuple[str, ...]:
        """The public columns of all projections."""
        return tuple(each.name for each in self.attributes if each.role == "public")

    @property
    def private(self) -> tuple[str, ...]:
        """The private columns of all projections."""
        return tuple(each.name for each in self.attributes if each.role == "private")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Private columns besides the target that claims about values cover too."""
        return tuple(dict.fromkeys(name for table in self.tables for name in table.sensitive))

    @property
    def kinds(self) -> dict[str, Literal["numeric", "categorical"]]:
        """How the columns of the original rows are to be read."""
        return {name: kind for table in self.tables for name, kind in table.kinds.items()}

    @property
    def n_rows(self) -> int:
        """How many rows each projection has."""
        return self.tables[0].n_rows

    @property
    def n_people(self) -> int:
        """How many people the rows are of: each is a person."""
        return self.n_rows

    def frame(self, number: int, backend: Backend = "pandas", *, numbers: Numbers = "intervals") -> Any:
        """The rows of one projection, counted from 0, as a data frame; see `TableRelease.to_frame`."""
        return self.tables[number].to_frame(backend, numbers=numbers)

    # ---------------------------------------------------------------- how it is shown

    def __len__(self) -> int:
        return len(self.tables)

    def __repr__(self) -> str:
        return f"<ProjectionsRelease of {self.target!r}: {len(self)} projections, {self.n_rows} rows, PartAL {self.k}>"

    def __str__(self) -> str:
        n = f"{len(self):,} projection{'' if len(self) == 1 else 's'}"
        lines = [
            f"{n} of {self.n_rows:,} rows with {self.target!r}; claimed: {self.requirement.describe()}",
            f"  {NOT_K_ANONYMITY}",
        ]
        if self.left_out:
            lines.append(f"  {self.left_out:,} rows of the original table are left out")
        for number, table in enumerate(self.tables, 1):
            said = [name if name in table.generalised else f"{name} (private)" for name in table.columns]
            lines.append(f"  {number}: {', '.join(said)}")
        return "\n".join(lines)

    # ---------------------------------------------------------------- how it leaves

    def to_json(self, files: Sequence[str] | None = None) -> dict[str, Any]:
        """The release as plain JSON, without the audit's verdict; rows are in `files`, one of each projection."""
        names: Sequence[dict[str, Any]] = [{}] * len(self) if files is None else [{"name": name} for name in files]
        return {
            "format": FORMAT,
            "kind": self.kind,
            "notice": NOT_K_ANONYMITY,
            "target": self.target,
            "attributes": [each.to_json() for each in self.attributes],
            "claims": [copy.deepcopy(dict(claim)) for claim in self.claims],
            **({"sensitive": list(self.sensitive)} if self.sensitive else {}),
            **({"left_out": self.left_out} if self.left_out else {}),
            **({"overlapping": True} if self.overlapping else {}),
            "generalised": {name: [each.to_json() for each in found] for name, found in self.generalised.items()},
            "projections": [
                {"columns": list(table.columns), **named, "sha256": table.data_sha256, "rows": table.n_rows}
                for table, named in zip(self.tables, names, strict=True)
            ],
        }

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of everything the release says, rows included; what its files are called does not count."""
        return fingerprint(self.to_json())

    def with_audit(self, audit: Any) -> ProjectionsRelease:
        """The same release with the verdict of an audit of exactly this content, these claims and this attacker."""
        verdict = verdict_of(audit, sha256=self.sha256, claims=self.claims, public=self.public)
        # how small a group of people in all projections is would be one more thing to know of them
        return replace(self, verdict=replace(verdict, smallest_group=None))

    def save(self, path: str | Path) -> list[Path]:
        """Write the release and, beside it, a CSV file for each projection, such as ``clinic.1.csv``.

        Refused unless its own audit holds for exactly this content. The file says that the claim is not k-anonymity.
        Returns the files that were written.
        """
        check_writable(self.verdict, self.sha256)
        assert self.verdict is not None
        path = Path(path)
        names = [check_name(path.with_suffix(f".{number}.csv").name) for number in range(1, len(self) + 1)]
        body = {**self.to_json(names), "audit": self.verdict.to_json(sizes=False)}
        texts = {path.parent / name: table.to_csv() for name, table in zip(names, self.tables, strict=True)}
        save_together(path, body, texts)
        return [path, *texts]
