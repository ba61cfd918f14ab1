# SPDX-License-Identifier: Apache-2.0
"""``shoal describe``: what is in a table, and how far it tells people apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.cli.options import Data, Json, takes
from shoal.cli.output import busy, say, say_json, say_table
from shoal.cli.project import Project
from shoal.cli.tables import read_data, resolve_roles, source_of

if TYPE_CHECKING:
    from shoal.audit.uniqueness import Uniqueness
    from shoal.data import Table

DEFAULT_K = 10
SHOWN_PAIRS = 5


@takes("k", "public", "roles", "person", "reading")
def describe(project: Project, data: Data = None, as_json: Json = False) -> None:
    """Describe the columns, and count the people they set apart.

    No cell is shown, only counts. Columns are public unless the options or shoal.toml say otherwise.
    """
    from shoal.audit.uniqueness import uniqueness
    from shoal.privacy import KAnonymity

    k = KAnonymity(project.privacy.get("k", DEFAULT_K)).k
    table = read_data(project, source_of(project, data))
    roles = resolve_roles(project, table, need_target=False)
    # a public target is one more thing an attacker may know
    known = [name for name in table.names if roles.of(name) == "public"]
    with busy("Counting"):
        found = uniqueness(table, known, k=k, person=project.person)
    people = table.n_rows if project.person is None else len(table[project.person].compact().values)
    columns = [
        {
            "name": name,
            "kind": column.kind,
            "role": f"{roles.of(name)} target" if name == roles.target else roles.of(name),
            "distinct": distinct,
            "missing": missing,
        }
        for name, column in table.items()
        for distinct, missing in [_counts(table, name)]
    ]
    if as_json:
        say_json(
            {
                "people": people,
                "rows": table.n_rows,
                "k": k,
                "columns": columns,
                "uniqueness": [each.to_json() for each in found],
            }
        )
        return
    rows = "" if project.person is None else f"{table.n_rows:,} rows of "
    say(f"{rows}{people:,} people, {len(table):,} columns")
    say()
    header = ("column", "kind", "role", "distinct", "missing")
    keys = ("name", "kind", "role", "distinct", "missing")
    say_table(header, [[column[key] for key in keys] for column in columns], right=("distinct", "missing"))
    say()
    _say_uniqueness(found, people, k)


def _counts(table: Table, name: str) -> tuple[int, int]:
    """Distinct values that somebody has, and rows without one."""
    column = table[name]
    counts = column.counts()
    return int((counts[: len(column.values)] > 0).sum()), int(counts[len(column.values) :].sum())


def _say_uniqueness(found: list[Uniqueness], people: int, k: int) -> None:
    if not found:
        say("No column is public: an attacker knows nothing to tell people apart by.")
        return
    say(f"What public columns tell, of {people:,} people:")
    pairs = sorted((each for each in found if each.how == "pair"), key=lambda each: (-each.alone, -each.below))
    shown = [each for each in found if each.how == "single"] + pairs[:SHOWN_PAIRS]
    shown += [each for each in found if each.how in ("growing", "all")]
    rows: list[list[Any]] = []
    for each in shown:
        which = f"all {len(each.columns)} together" if each.how == "all" else " + ".join(each.columns)
        share = f"{each.below / people:.1%}"
        rows.append([which, each.combinations, each.alone, each.below, share])
    right = ("combinations", "alone", f"below {k}", "share")
    say_table(("known to an attacker", *right), rows, right=right)
    if len(pairs) > SHOWN_PAIRS:
        say(f"(the {SHOWN_PAIRS} most telling of {len(pairs)} pairs; --json has all)")
