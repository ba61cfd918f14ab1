# SPDX-License-Identifier: Apache-2.0
"""``shoal rules``: association rules of which as many leave as may leave together."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import output
from shoal.cli.asking import read_baskets
from shoal.cli.options import Data, Json, Usage, names, takes
from shoal.cli.project import Project
from shoal.cli.tables import read_data, source_of
from shoal.errors import closest


class Worth(StrEnum):
    """What a rule is worth."""

    lift = "lift"
    confidence_support = "confidence_support"
    number = "number"


@takes("k", "public", "sensitive", "person", "reading")
def rules(
    project: Project,
    data: Data = None,
    min_support: Annotated[
        float, typer.Option(metavar="N", help="People who must have a rule's items: a number, or a share below 1.")
    ] = 0.01,
    min_confidence: Annotated[
        float, typer.Option(metavar="C", help="The smallest share of those with the antecedent.")
    ] = 0.5,
    value: Annotated[
        Worth,
        typer.Option(metavar="lift|confidence_support|number", help="What a rule is worth; number: all the same."),
    ] = Worth.lift,
    hierarchy: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Categories of items: one line an item, item;category;...;root."),
    ] = None,
    private: Annotated[
        list[str] | None,
        typer.Option("--private", metavar="ITEMS", help="The items an attacker does not know; all others are public."),
    ] = None,
    no_merge: Annotated[
        bool,
        typer.Option("--no-merge", help='Never make one of rules that do not fit, with "this or that" for an item.'),
    ] = False,
    public_rules: Annotated[
        bool, typer.Option("--public-rules", help="Release rules about public items alone, too.")
    ] = False,
    columns: Annotated[
        bool,
        typer.Option("--columns", help="DATA is a table: each cell is an item, column=value, or a class of numbers."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the release to this JSON file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Mine association rules that may leave together.

    DATA has two columns, transaction and item, or one yes-or-no column an item, or columns item1, item2, …; or it is
    any table, with --columns.
    --public or --private names the items (with --columns: the columns) that an attacker knows or does not know.
    Nothing is written unless the audit holds. What was dropped, and for which group, is printed: it is not for
    publication.
    """
    from shoal.audit.rules import read_transactions
    from shoal.data import Hierarchy
    from shoal.rules import AnonymousRules

    source = source_of(project, data)
    output.check_outputs([out], [source, project.file, hierarchy])
    requirement = project.requirement()
    if requirement is None:
        raise Usage("No promise: say how many people a group must have, with -k 10 or [privacy] k in shoal.toml.")
    hidden = names(private or ())
    # private items that were named here leave the rest public, whatever the project file says of columns
    public = project.public if not hidden or "public" in project.options else None
    if bool(hidden) == bool(public):
        raise Usage("Name either the public items, with --public, or the private ones, with --private.")
    table = read_data(project, source) if columns else read_baskets(project, source)
    also = () if project.person is None else (project.person,)
    if columns:
        rows, known = table, [name for name in table if name not in also]
    else:
        rows = transactions = read_transactions(table, also)
        known = list(transactions.item_names)
    for name in hidden:
        if name not in known:
            raise Usage(f"--private: there is no {'column' if columns else 'item'} {name!r}.{closest(name, known)}")
    miner = AnonymousRules(
        privacy=requirement,
        public_items=public or [name for name in known if name not in hidden],
        min_support=int(min_support) if min_support >= 1 and min_support.is_integer() else min_support,
        min_confidence=min_confidence,
        value=value.value,
        hierarchy=None if hierarchy is None else Hierarchy.from_file(hierarchy),
        merge=not no_merge,
        public_rules=public_rules,
        sensitive=project.sensitive,
        person=project.person,
        rows="table" if columns else "baskets",
    )
    with output.busy("Mining"):
        miner.fit(rows)
    if out is not None:
        miner.release_.save(out)
        output.written.append(str(out))
    if as_json:
        body = {"release": miner.release_.to_json(), "report": miner.report_.to_json()}
        output.say_json({**body, "written": output.written})
        return
    output.say(str(miner.release_))
    output.say()
    output.say(str(miner.report_))
    for path in output.written:
        output.say(f"wrote {path}")
