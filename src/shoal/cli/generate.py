# SPDX-License-Identifier: Apache-2.0
"""``shoal generate``: pseudo-data from what was published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.options import Json, Release, Usage
from shoal.cli.tables import check_kind
from shoal.cli.things import open_release

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.share import PseudoData

MARK = "pseudo-data: rows of nobody, generated from published models"
WARNING = (
    "Publish the model instead of these rows: rows made from one path differ in columns that the path does not ask "
    "for, so they need not keep the promise that the model keeps, and who reads them may take them for people."
)


def generate(
    release: Release,
    rows: Annotated[
        int | None, typer.Option(metavar="N", help="How many rows; otherwise as many as people, or as the recipe says.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to this .csv or .parquet instead of printing CSV."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="The same rows again; otherwise others every time.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make pseudo-data of one owner's file, or of a joint model's.

    Rows of nobody that fill every path of the published trees as their people did. They are marked as such: in the
    metadata of a Parquet file, in a file FILE.json beside a CSV.
    """
    beside = None if out is None or out.suffix.lower() != ".csv" else out.with_name(out.name + ".json")
    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise Usage("Pseudo-data is written as .csv or .parquet.")
    if as_json and out is None:
        raise Usage("With --json, name a file for the rows with -o.")
    output.check_outputs([out, beside], [release])
    loaded = open_release(release, "generate")
    check_kind(loaded, "generate", "tree", "joint")
    with output.busy("Generating"):
        made = _rows(loaded, rows, seed)
    frame = made.to_frame("pyarrow")
    told: dict[str, Any] = {
        "shoal": MARK,
        "warning": WARNING,
        "rows": made.table.n_rows,
        "columns": made.table.names,
        "target": made.target,
        "made_from": loaded.sha256,
    }
    if out is None:
        output.print_csv(output.csv_text(frame))
        output.note(f"{MARK}. {WARNING}")
        return
    if beside is None:
        output.write_text(out, _parquet(frame, told))
    else:
        output.write_text(beside, json.dumps(told, indent=2) + "\n")
        output.write_text(out, output.csv_text(frame))
    if as_json:
        output.say_json({**told, "written": output.written})
        return
    output.say(f"{made.table.n_rows:,} rows of nobody, {len(made.table)} columns")
    output.say(WARNING)
    for path in output.written:
        output.say(f"wrote {path}")


def _rows(loaded: Any, rows: int | None, seed: int | None) -> PseudoData:
    from shoal.share import JointModel, pseudo_data

    if loaded.kind == "joint":
        import secrets

        return JointModel(loaded).pseudo_data(rows, seed=secrets.randbits(64) if seed is None else seed)
    return pseudo_data(loaded, rows, marginals=loaded.marginals, random_state=seed)


def _parquet(frame: pa.Table, told: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    marked = frame.replace_schema_metadata({"shoal": MARK, "shoal.about": json.dumps(told)})
    buffer = pa.BufferOutputStream()
    pq.write_table(marked, buffer)
    return bytes(buffer.getvalue().to_pybytes())
