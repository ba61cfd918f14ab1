# SPDX-License-Identifier: Apache-2.0
"""``shoal predict``: the classes, or the clusters, of new rows."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.options import Json, Release, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import check_kind, open_data, read_for
from shoal.cli.things import open_release
from shoal.cli.tree import Engine


class Unknown(StrEnum):
    """What to do with a value outside the release's domain."""

    error = "error"
    ancestor = "ancestor"


@takes("reading")
def predict(
    project: Project,
    release: Release,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The rows to predict; the target need not be there.")],
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
            metavar="memory|stream",
            help="Hold the rows in memory, or predict them in batches, by a tree, into -o FILE (.parquet or CSV).",
        ),
    ] = Engine.memory,
    as_json: Json = False,
) -> None:
    """Predict the target, or the cluster, of every row, as CSV."""
    import pyarrow as pa

    output.check_outputs([out], [release, file, project.file])
    loaded = open_release(release, "predict")
    check_kind(loaded, "predict", "tree", "ensemble", "model", "clusters", "joint")
    if engine is Engine.stream:
        _in_batches(loaded, project, file, out, unknown.value, proba=proba, as_json=as_json)
        return
    table = read_for(loaded, project, file)
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
    loaded: Any, project: Project, file: Path, out: Path | None, unknown: Any, *, proba: bool, as_json: bool
) -> None:
    from shoal.release.predict_file import predict_file

    if loaded.kind != "tree" or proba or out is None:
        raise Usage("--engine stream takes a tree, -o FILE for the predictions, and no --proba.")
    kinds = {name: kind for name, kind in loaded.kinds.items() if name != loaded.target}
    n_rows = predict_file(loaded, open_data(project, file, kinds | dict(project.kinds)), out, unknown=unknown)
    output.written.append(str(out))
    if as_json:
        output.say_json({"target": loaded.target, "rows": n_rows, "written": output.written})
    else:
        output.note(f"wrote {out}: {n_rows:,} rows")
