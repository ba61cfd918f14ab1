# SPDX-License-Identifier: Apache-2.0
"""``shoal predict``: the classes, or the clusters, of new rows."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.options import Engine, Json, Release, Usage, takes
from shoal.cli.project import Project, file_or_address
from shoal.cli.tables import check_kind, open_data, read_for
from shoal.cli.things import open_release

if TYPE_CHECKING:
    from shoal.cli.project import Where


class Unknown(StrEnum):
    """What to do with a value outside the release's domain."""

    error = "error"
    ancestor = "ancestor"


@takes("reading")
def predict(
    project: Project,
    release: Release,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The rows to predict; the target need not be there.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the CSV here instead of printing it."),
    ] = None,
    unknown: Annotated[
        Unknown,
        typer.Option(
            metavar="error|ancestor",
            help="A value the release does not know is an error, or stops the row where it is asked for.",
        ),
    ] = Unknown.error,
    proba: Annotated[bool, typer.Option("--proba", help="Add the share of each class.")] = False,
    engine: Annotated[
        Engine,
        typer.Option(
            metavar="memory|stream|spark",
            help="Hold the rows in memory; predict them in batches, by a tree, into -o FILE (.parquet or CSV); or let "
            "Spark write them, each with its answer, into the folder -o FILE.",
        ),
    ] = Engine.memory,
    as_json: Json = False,
) -> None:
    """Predict the target, or the cluster, of every row, as CSV."""
    import pyarrow as pa

    source = file_or_address(file)
    output.check_outputs([out], [release, source, project.file])
    loaded = open_release(release, "predict")
    check_kind(loaded, "predict", "tree", "ensemble", "model", "clusters", "joint")
    if engine is Engine.stream:
        _in_batches(loaded, project, source, out, unknown.value, proba=proba, as_json=as_json)
        return
    if engine is Engine.spark:
        _on_spark(loaded, project, source, out, unknown, proba=proba, as_json=as_json)
        return
    table = read_for(loaded, project, source)
    if loaded.kind == "clusters":
        if proba or unknown is not Unknown.error:
            raise Usage("A row is in one cluster, the nearest: leave out --proba and --unknown.")
        named, answer = "cluster", loaded.predict(table)
    else:
        if loaded.kind == "joint":
            with output.busy("Learning"):
                from shoal.share import JointModel

                loaded = JointModel(loaded)
                _ = loaded.model_
        named, answer = loaded.target, loaded.predict(table, unknown=unknown.value)
    if answer.dtype.kind == "b":
        answer = answer.astype(str)  # True, as in the release, not true
    columns = {named: pa.array(answer)}
    if proba:
        shares = loaded.predict_proba(table, unknown=unknown.value)
        columns |= {f"{loaded.target}={value}": pa.array(shares[:, i]) for i, value in enumerate(loaded.classes)}
    text = output.csv_text(pa.table(columns))
    if out is not None:
        output.write_text(out, text)
    if as_json:
        told = {} if out is not None else {"predictions": pa.table(columns).to_pydict()}
        output.say_json({"target": named, "rows": table.n_rows, **told, "written": output.written})
        return
    if out is not None:
        output.note(f"wrote {out}: {table.n_rows:,} rows")
        return
    output.print_csv(text)


def _in_batches(
    loaded: Any, project: Project, source: Where, out: Path | None, unknown: Any, *, proba: bool, as_json: bool
) -> None:
    from shoal.release.predict_file import predict_file

    if loaded.kind != "tree" or proba or out is None:
        raise Usage("--engine stream takes a tree, -o FILE for the predictions, and no --proba.")
    kinds = {name: kind for name, kind in loaded.kinds.items() if name != loaded.target}
    rows = open_data(project, source, kinds | dict(project.kinds), Engine.stream)
    _say_written(loaded, predict_file(loaded, rows, out, unknown=unknown), out, as_json=as_json)


def _on_spark(
    loaded: Any, project: Project, source: Where, out: Path | None, unknown: Unknown, *, proba: bool, as_json: bool
) -> None:
    from shoal.release.predict_spark import predict_spark

    if loaded.kind != "tree" or out is None:
        raise Usage("--engine spark takes a tree, and -o FOLDER for the predictions.")
    if unknown is not Unknown.ancestor:
        raise Usage("--engine spark stops a row at a value that the release does not know: say --unknown ancestor.")
    rows = open_data(project, source, project.kinds, Engine.spark)
    _say_written(loaded, predict_spark(loaded, rows, out, proba=proba), out, as_json=as_json)


def _say_written(loaded: Any, n_rows: int, out: Path, *, as_json: bool) -> None:
    output.written.append(str(out))
    if as_json:
        output.say_json({"target": loaded.target, "rows": n_rows, "written": output.written})
    else:
        output.note(f"wrote {out}: {n_rows:,} rows")
