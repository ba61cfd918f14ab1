# SPDX-License-Identifier: Apache-2.0
"""``shoal compare``: all table anonymisers at one requirement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import output
from shoal.cli.anonymize import Suppress, common_options
from shoal.cli.options import Data, Json, Usage, names, takes
from shoal.cli.project import Project
from shoal.cli.tables import read_data, source_of

if TYPE_CHECKING:
    from shoal.anonymize.compare import Compared
    from shoal.data import Table

HEADER = ("method", "seconds", "groups", "loss", "discernibility", "class metric", "left out", "accuracy")


@takes("k", "confidence", "public", "roles", "sensitive", "person", "hierarchies", "reading")
def compare(
    project: Project,
    data: Data = None,
    methods: Annotated[
        list[str] | None, typer.Option("--methods", metavar="NAMES", help="Only these, comma-separated; otherwise all.")
    ] = None,
    suppress: Suppress = 0.0,
    test: Annotated[
        Path | None,
        typer.Option("--test", metavar="FILE", help="Other rows, to tell how well can be learned from each result."),
    ] = None,
    hold_out: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Without --test: the share of rows, drawn by chance, that takes its place."),
    ] = 0.3,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw utility and time to this .png or .svg file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Generalise a table by every method, side by side.

    Nothing is written but the plot. Where there is a target, a C4.5 tree is learned from each result and tested on
    rows that had no part in it.
    """
    from shoal.anonymize.compare import compare_methods
    from shoal.anonymize.methods import METHODS

    source = source_of(project, data)
    output.check_outputs([plot], [source, test, project.file])
    if plot is not None:
        output.check_plot(plot)
    chosen = list(names(methods)) if methods else list(METHODS)
    if not chosen:
        raise Usage(f"--methods names none. There are {', '.join(METHODS)}.")
    if not 0 <= suppress < 1:
        raise Usage("--suppress is a share of the rows, from 0 to below 1.")
    strange = [name for name in chosen if name not in METHODS]
    if strange:
        raise Usage(f"No method {strange[0]!r}. There are {', '.join(METHODS)}.")
    table = read_data(project, source)
    common, left, target = common_options(project, table, need_target=False)
    rows = table.drop(left)
    tested = None
    if target is not None:
        rows, tested = (rows, read_data(project, test)) if test is not None else _parted(rows, hold_out)
    with output.busy("Comparing"):
        found = compare_methods(rows, target, methods=chosen, test=tested, suppress=suppress, **common)
    if plot is not None:
        from shoal.report import plot_compared

        output.write_picture(plot, lambda: plot_compared(found))
    if as_json:
        output.say_json({"compared": [each.to_json() for each in found], "written": output.written})
        return
    output.say_table(HEADER, [_line(each) for each in found if each.release is not None], right=HEADER[1:])
    for each in found:
        if each.release is None:
            output.say(f"{each.method}: {output.in_our_words(each.refused or '')}")
    if tested is not None and test is None:
        output.say(f"{tested.n_rows:,} rows drawn by chance were held out for the accuracy.")
    for path in output.written:
        output.say(f"wrote {path}")


def _parted(rows: Table, hold_out: float) -> tuple[Table, Table | None]:
    import numpy as np

    if not 0 <= hold_out < 1:
        raise Usage("--hold-out is a share of the rows, from 0 to below 1.")
    held = np.random.default_rng(0).random(rows.n_rows) < hold_out
    return (rows.take(~held), rows.take(held)) if held.any() and not held.all() else (rows, None)


def _line(each: Compared) -> tuple[object, ...]:
    assert each.measures is not None
    assert each.release is not None
    measured = each.measures
    return (
        each.method,
        each.seconds,
        measured.n_groups,
        measured.lm,
        measured.dm,
        measured.cm,
        each.release.left_out,
        each.accuracy,
    )
