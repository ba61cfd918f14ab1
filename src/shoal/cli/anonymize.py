# SPDX-License-Identifier: Apache-2.0
"""``shoal anonymize``: publish the data itself, generalised until the promise holds."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.options import Data, Engine, EngineOption, Json, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import NOBODY, open_data, resolve_roles, source_of
from shoal.cli.tree import BREACH
from shoal.errors import ReleaseError

if TYPE_CHECKING:
    from shoal.anonymize.base import TableAnonymizer
    from shoal.anonymize.cut_search import SearchProgress
    from shoal.data import Roles, Table
    from shoal.data.sources import Source
    from shoal.data.spark_source import SparkSource
    from shoal.evaluate import TableMetrics
    from shoal.release import TableRelease


class Method(StrEnum):
    """How a table is generalised."""

    tree = "tree"
    clusters = "clusters"
    mondrian = "mondrian"
    tds = "tds"
    tdr = "tdr"
    incognito = "incognito"
    k_optimize = "k-optimize"
    one_dimensional = "one-dimensional"


class Numbers(StrEnum):
    """How generalised numbers are written."""

    intervals = "intervals"
    ends = "ends"
    midpoints = "midpoints"


Suppress = Annotated[
    float, typer.Option("--suppress", metavar="SHARE", help="The share of rows that may be left out, such as 0.05.")
]


@takes("k", "confidence", "public", "roles", "sensitive", "person", "hierarchies", "reading")
def anonymize(
    project: Project,
    data: Data = None,
    method: Annotated[
        Method,
        typer.Option(
            metavar="METHOD",
            help="How to generalise: tree, clusters, mondrian, tds, tdr, incognito, k-optimize or one-dimensional.",
        ),
    ] = Method.tree,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="An option of the method, such as by=dm; repeatable."),
    ] = None,
    suppress: Suppress = 0.0,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the rows to this .csv or .parquet file, or the release to this .json file; both are written.",
        ),
    ] = None,
    data_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Beside -o FILE.json: the name of the CSV file of rows, in the same folder."),
    ] = None,
    numbers: Annotated[
        Numbers,
        typer.Option(
            metavar="intervals|ends|midpoints",
            help="Write generalised numbers as texts, as two columns of numbers, or as their middle.",
        ),
    ] = Numbers.intervals,
    reproducible: Annotated[
        bool, typer.Option("--reproducible", help="Sort the rows instead of shuffling them: the same bytes every time.")
    ] = False,
    max_leaves: Annotated[int | None, typer.Option(metavar="N", help="Stop at this many leaves of the tree.")] = None,
    max_depth: Annotated[int | None, typer.Option(metavar="N", help="Stop at this many levels of the tree.")] = None,
    engine: EngineOption = Engine.memory,
    as_json: Json = False,
) -> None:
    """Publish a table itself, generalised until the promise holds.

    Only public columns are generalised; private ones are published as they are, identifiers never. The promise
    comes from -k, --confidence and [privacy] of shoal.toml. Nothing is written unless the audit holds; rows are
    shuffled, or sorted with --reproducible or an --engine other than memory.
    """
    from shoal.audit import audit
    from shoal.evaluate import measure_table

    source = source_of(project, data)
    files = _files(out, data_file, numbers)
    output.check_outputs(list(files.values()), [source, project.file])
    table = open_data(project, source, project.kinds, engine)
    options = {**_options(option), **_tree_options(method, max_leaves=max_leaves, max_depth=max_depth)}
    with _watched(method, options) as own:
        anonymizer = generalise(
            project, table, method.value, own, suppress=suppress, reproducible=reproducible, engine=engine.value
        )
        release = anonymizer.release_
        verdict = audit(release, table, privacy=project.requirement(), person=project.person, engine=engine.value)
    in_memory = table if engine is Engine.memory else None
    measured = measure_table(release, in_memory, hierarchies=_stated_hierarchies(project, table, release))
    if verdict.holds and files:
        _write(release, files, numbers)
    if as_json:
        body = {"release": release.to_json(files["rows"].name if files else None), "audit": verdict.to_json()}
        output.say_json({**body, "measures": measured.to_json(), **_found(anonymizer), "written": output.written})
    else:
        output.say(str(release))
        output.say()
        output.say_audit(verdict)
        output.say()
        output.say(_told(measured))
        for line in _told_of(anonymizer):
            output.say(line)
        for path in output.written:
            output.say(f"wrote {path}")
    if not verdict.holds:
        raise typer.Exit(BREACH)


def generalise(
    project: Project,
    table: Table | Source | SparkSource,
    method: str,
    options: dict[str, Any],
    *,
    suppress: float,
    reproducible: bool,
    engine: str = "memory",
) -> TableAnonymizer:
    """A method fitted to a table, by what the project says."""
    from shoal.anonymize.methods import METHODS, make_method
    from shoal.data import Table

    common, left, target = common_options(project, table, need_target=method == "tree")
    if target is None and METHODS[method].needs_target:
        raise Usage(f"--method {method} generalises for learning a private target: name it with --target.")
    if method == "tree":
        common["target_role"] = resolve_roles(project, table).target_role
    common |= {"suppress": suppress, "reproducible": reproducible, "engine": engine}
    anonymizer = make_method(method, common, options)
    rows = table.drop(left) if isinstance(table, Table) else table  # a source was opened without identifiers
    return anonymizer.fit(rows, target)


@contextlib.contextmanager
def _watched(method: Method, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The options of a method; one that searches for long is watched with a bar, where somebody is looking."""
    if method is not Method.k_optimize or not output.somebody_looks():
        with output.busy("Generalising"):
            yield options
        return
    with output.bar("Searching", options.get("max_seconds", 10.0)) as move:

        def progress(so_far: SearchProgress) -> None:
            move(so_far.seconds, f"cost {so_far.cost:,}, at least {so_far.bound:,}")

        yield {**options, "progress": progress}


def _found(anonymizer: TableAnonymizer) -> dict[str, Any]:
    """What a method says of its own doing, beside the release."""
    names = ("optimal_", "cost_", "bound_", "made_hierarchies_")
    return {name.rstrip("_"): getattr(anonymizer, name) for name in names if hasattr(anonymizer, name)}


def _told_of(anonymizer: TableAnonymizer) -> Iterator[str]:
    found = _found(anonymizer)
    if "optimal" in found:
        proven = "proven to be the least" if found["optimal"] else f"the least is at least {found['bound']:,}"
        yield f"cost {found['cost']:,}; {proven}"
    for name, said in found.get("made_hierarchies", {}).items():
        yield f"no hierarchy for {name}: {said}"


def common_options(
    project: Project, table: Table | Source | SparkSource, *, need_target: bool
) -> tuple[dict[str, Any], set[str], str | None]:
    """What every method is told, the identifiers to drop, and the target; a public target is no target."""
    from shoal.data import load_hierarchies

    requirement = project.requirement()
    if requirement is None:
        raise Usage("No promise: say how many people a group must have, with -k 10 or [privacy] k in shoal.toml.")
    roles = resolve_roles(project, table, need_target=need_target)
    target = None if roles.target == NOBODY else roles.target
    public, left = list(roles.public), set(roles.identifier) - {project.person}
    if target is not None and roles.target_role == "public" and not need_target:
        public, target = [*public, target], None
    hierarchies = load_hierarchies(project.hierarchies, table.names, project.folder)
    common = {
        "privacy": requirement,
        "public": public,
        "sensitive": roles.sensitive,
        "domain": {name: values for name, values in project.domain.items() if name not in roles.identifier},
        "person": project.person,
        "hierarchies": {name: each for name, each in hierarchies.items() if _generalises(roles, name)},
    }
    return common, left, target


def _stated_hierarchies(project: Project, table: Table | Source | SparkSource, release: TableRelease) -> dict[str, Any]:
    from shoal.data import load_hierarchies

    found = load_hierarchies(project.hierarchies, table.names, project.folder)
    return {name: each for name, each in found.items() if name in release.public}


def _generalises(roles: Roles, name: str) -> bool:
    return name in roles.features or (name == roles.target and roles.target_role == "public")


def _tree_options(method: Method, **limits: int | None) -> dict[str, Any]:
    given = {name: value for name, value in limits.items() if value is not None}
    if given and method is not Method.tree:
        raise Usage(f"--{next(iter(given)).replace('_', '-')} is an option of --method tree.")
    return given


def _options(given: list[str] | None) -> dict[str, Any]:
    """Options of a method as they were typed: numbers, true and false as such, everything else as text."""
    found: dict[str, Any] = {}
    for text in given or []:
        name, separator, value = text.partition("=")
        if not separator or not name.strip():
            raise Usage(f"--option takes NAME=VALUE, such as by=dm; got {text!r}.")
        try:
            found[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            found[name.strip()] = value.strip()
    return found


def _files(out: Path | None, data_file: Path | None, numbers: Numbers) -> dict[str, Path]:
    """What is written: the release, its rows beside it, and a copy of them in another form where one is asked for."""
    if out is None:
        if data_file is not None:
            raise Usage("--data-file needs -o: the rows are written beside their release.")
        return {}
    if out.is_dir():
        raise ReleaseError("cannot-write", f"Cannot write {str(out)!r}: it is a folder.")
    suffix = out.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        if numbers is not Numbers.intervals:
            raise Usage(f"--numbers {numbers.value} needs -o FILE.csv or FILE.parquet: a release has intervals.")
        rows = out.with_suffix(".csv") if data_file is None else data_file
        if rows.parent.resolve() != out.parent.resolve():
            raise Usage("--data-file must be in the folder of the release: the two belong together.")
        if rows.name == out.name:
            raise Usage("The release and its rows need two files: let -o end in .json, or name --data-file.")
        return {"release": out, "rows": rows}
    if data_file is not None:
        raise Usage("--data-file goes with -o FILE.json; with -o FILE.csv the rows are in that file.")
    release = out.with_suffix(".json")
    if suffix == ".csv" and numbers is Numbers.intervals:
        return {"release": release, "rows": out}
    return {"release": release, "rows": out.with_name(f"{out.stem}.rows.csv"), "copy": out}


def _write(release: TableRelease, files: dict[str, Path], numbers: Numbers) -> None:
    from shoal.release.rows_file import check_numbers, write_rows

    if "copy" in files:  # one that cannot be made is told before anything is written
        check_numbers(release, numbers.value)
    release.save(files["release"], files["rows"].name)
    output.written.extend([str(files["release"]), str(files["rows"])])
    if "copy" in files:
        write_rows(release, files["copy"], numbers=numbers.value)
        output.written.append(str(files["copy"]))


def _told(measured: TableMetrics) -> str:
    cm = "" if measured.cm is None else f"classification metric {measured.cm:,}; "
    return (
        f"groups {measured.n_groups:,}; {cm}loss metric {measured.lm:.4f}; discernibility {measured.dm:,}; "
        f"average class size {measured.average_class_size:.2f} k"
    )
