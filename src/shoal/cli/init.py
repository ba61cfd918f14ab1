# SPDX-License-Identifier: Apache-2.0
"""``shoal init``: propose a project file for a table."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.options import Json
from shoal.cli.project import NAME, parse_project
from shoal.errors import ShoalError

if TYPE_CHECKING:
    from shoal.cli.propose import Proposals

WIDTH = 100


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The table to look at.")],
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column to predict.")] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="What stands for a missing value; repeatable. Otherwise found out."),
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The project file to write.")] = Path(
        NAME
    ),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the project file if it is there.")] = False,
    as_json: Json = False,
) -> None:
    """Propose roles and hierarchies for a table.

    Looks at the columns and writes shoal.toml, for you to correct.
    """
    from shoal.cli.propose import propose

    output.check_outputs([out], [file])
    if out.exists() and not force:
        raise ShoalError(
            "file-exists", f"{str(out)!r} is there already. Use --force to overwrite it, or -o for another."
        )
    proposals = propose(file, target=target, missing=tuple(missing) if missing else None)
    text = project_text(proposals, _source(file, out))
    parse_project(text, out)  # every verb must be able to read it
    output.write_text(out, text)
    if as_json:
        columns = [{"name": c.name, "kind": c.kind, "role": c.role, "why": c.why} for c in proposals.columns]
        body = {
            "people": proposals.people,
            "k": proposals.k,
            "missing": proposals.missing,
            "columns": columns,
        }
        output.say_json({**body, "written": output.written})
        return
    output.say(f"{proposals.people:,} people, {len(proposals.columns):,} columns in {file}")
    output.say()
    output.say_table(("column", "kind", "role", "why"), [(c.name, c.kind, c.role, c.why) for c in proposals.columns])
    output.say()
    output.say(f"wrote {out}: correct the roles there, since the promise is about them. Then:")
    config = "" if out == Path(NAME) else f" --config {out}"
    output.say(f"  shoal describe{config}")
    output.say(f"  shoal tree{config} -o tree.json")


def _source(file: Path, out: Path) -> str:
    """The table's path as seen from the project file."""
    try:
        return Path(os.path.relpath(file, out.parent)).as_posix()
    except ValueError:  # on another drive
        return file.resolve().as_posix()


def project_text(proposals: Proposals, source: str) -> str:
    """The project file: names of columns and what is proposed for them, no cell."""
    return "\n".join(_lines(proposals, source)) + "\n"


def _lines(proposals: Proposals, source: str) -> Iterator[str]:
    yield "# Proposed by `shoal init` from a look at the columns. Check the roles: the promise is about them."
    yield ""
    yield "[data]"
    yield f"source = {_text(source)}"
    if proposals.missing:
        yield f"missing = {_list(proposals.missing)}"
    if proposals.read_as_text:
        yield f"categorical = {_list(proposals.read_as_text)}"
    if proposals.person is not None:
        yield "# tells people apart, who have several rows each: groups are counted in people"
        yield f"person = {_text(proposals.person)}"
    yield ""
    yield "[roles]"
    yield "# never used: they name a person"
    yield f"identifier = {_list(proposals.of('identifier'))}"
    yield "# an attacker is assumed to know these; move to private what he cannot know"
    yield f"public = {_list(proposals.of('public'))}"
    yield "private = []"
    yield '# private too, unless you add: target_role = "public"'
    yield f"target = {_text(proposals.of('target')[0])}"
    yield ""
    yield "[hierarchies]"
    yield '# how values generalise; a file of your own: education = "education.csv", lines exact;group;*'
    for column in proposals.columns:
        if column.hierarchy is not None:
            yield f"{_key(column.name)} = {_table(column.hierarchy)}"
    numeric = [column for column in proposals.columns if column.intervals]
    if numeric:
        yield "# without one of these, a tree finds its own thresholds between numbers"
    for column in numeric:
        yield f"# {_key(column.name)} = {_table({'intervals': column.intervals})}"
    yield ""
    yield "[privacy]"
    yield "# people that every group an attacker can tell apart must have at least"
    yield f"k = {proposals.k}"
    yield "# an attacker's highest certainty about the target"
    yield "# confidence = 0.9"


def _text(text: str) -> str:
    """A TOML string: as in JSON, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _list(texts: Sequence[str]) -> str:
    line = f"[{', '.join(map(_text, texts))}]"
    return line if len(line) <= WIDTH else "[\n" + "".join(f"  {_text(text)},\n" for text in texts) + "]"


def _table(entries: dict[str, Any]) -> str:
    """An inline table of lists of texts or numbers."""
    lists = {key: ", ".join(map(_value, values)) for key, values in entries.items()}
    return "{ " + ", ".join(f"{key} = [{values}]" for key, values in lists.items()) + " }"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return _text(value)
    return str(int(value)) if float(value).is_integer() else repr(value)
