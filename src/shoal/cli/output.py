# SPDX-License-Identifier: Apache-2.0
"""What the command line prints and writes: plain in a pipe, a little colour on a terminal."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import ReleaseError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from shoal.audit import Audit
    from shoal.audit.telling import ColumnRanking
    from shoal.cli.project import Where
    from shoal.release import EnsembleRelease, ProjectionsRelease, TreeRelease

# values may come from a stranger's file: none may steer the terminal or turn the reading order around
_STEERING = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F]
_VISIBLE = dict.fromkeys((c for c in _STEERING if c != 0x0A), "\N{REPLACEMENT CHARACTER}")

# what the library calls its options, in words of the command line
_WORDS = {
    "unknown='ancestor'": "--unknown ancestor",
    "widen=True": "--widen",
    "such as SimpleDiversity(2)": "such as --confidence 0.9, or simple = 2 under [privacy] of shoal.toml",
    "with domain=": "under [domain] of shoal.toml",
    "with public=": "with --public",
    "another encoding=": "another encoding under [data] of shoal.toml",
    "A requirement such as Confidence(0.95) would.": "--confidence 0.95 would.",
    "A requirement such as DistinctDiversity(2) would.": "distinct = 2 under [privacy] of shoal.toml would.",
    "with hierarchies=, or what is suppressed with suppressed=": "with --hierarchies, or in shoal.toml",
    "give y, the target's values or its column": "name its column with --target",
    "trust_pickle=True (--trust-pickle)": "--trust-pickle",
    "AnonymousTreeClassifier: ": "",
    "Try predict": "Leave out --proba",
    "max_depth": "--max-depth",
    "max_leaves": "--max-leaves",
    " (named in kinds)": " (named as numeric or categorical)",
}

PICTURES = (".png", ".svg", ".pdf")

written: list[str] = []  # by this run, so that a failure can say what is there


def clean(text: str) -> str:
    """Text that shows every control character instead of obeying it."""
    return text.translate(_VISIBLE)


def in_our_words(message: str) -> str:
    """A message of the library, telling what to type instead of what to call."""
    for theirs, ours in _WORDS.items():
        message = message.replace(theirs, ours)
    return message


def say(text: str = "", style: str | None = None) -> None:
    """Print lines as they are: no markup, no wrapping."""
    if not sys.stdout.isatty():
        print(clean(text))
        return
    from rich.text import Text

    _console().print(Text(clean(text), style or ""), soft_wrap=True)


def say_audit(audit: Audit) -> None:
    """The audit's own words, the verdict coloured."""
    verdicts = {"holds": "bold green", "BREACH": "bold red", "not proven": "bold red"}
    styles = verdicts | {"breach": "red", "warning": "yellow"}
    for line in in_our_words(str(audit)).splitlines():
        say(line, styles.get(line.strip().split(":")[0]))


def say_table(header: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """A plain table; the columns named in `right` hold numbers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in header:
        table.add_column(Text(clean(name)), justify="right" if name in right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(clean(shown(cell)).replace("\n", " ")) for cell in row))
    _console().print(table)


def shown(cell: object) -> str:
    """A cell of a printed table: counts with thousands, shares with four digits."""
    if isinstance(cell, bool) or cell is None:
        return {True: "yes", False: "no", None: ""}[cell]
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def say_json(body: Mapping[str, Any] | Sequence[Any]) -> None:
    """The only thing on standard output when ``--json`` was asked for."""
    print(json.dumps(body, indent=2))


def print_csv(text: str) -> None:
    """Rows on standard output, byte by byte as in a file; on a terminal no value of them is obeyed."""
    sys.stdout.flush()
    sys.stdout.buffer.write((clean(text) if sys.stdout.isatty() else text).encode())


def note(text: str) -> None:
    """A line beside the result, on standard error."""
    print(f"shoal: {clean(in_our_words(text)).replace(chr(10), ' ')}", file=sys.stderr)


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner while something takes its time, where somebody is looking."""
    if somebody_looks():
        from rich.console import Console

        with Console(stderr=True).status(what):
            yield
    else:
        yield


def somebody_looks() -> bool:
    """Whether the output goes to a terminal."""
    return sys.stdout.isatty() and sys.stderr.isatty()


@contextlib.contextmanager
def bar(what: str, total: float | None) -> Iterator[Callable[[float, str], None]]:
    """A bar that fills up to a total as it is told how far things are, and some words beside it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[told]}")
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=total, told="")
        yield lambda done, told: shown.update(task, completed=done, told=told)


def _console() -> Console:
    from rich.console import Console

    # lines are as long as they are: neither folded nor cut
    return Console(width=10_000, highlight=False, markup=False, emoji=False)


def check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Where | None] = ()) -> None:
    """Refuse outputs that cannot be written, or would overwrite an input, before any work is done."""
    seen = {path.resolve(): "is read by this command" for path in inputs if isinstance(path, Path)}
    for path in outputs:
        if path is None:
            continue
        if not path.parent.is_dir():
            raise ReleaseError("cannot-write", f"Cannot write {str(path)!r}: there is no folder {str(path.parent)!r}.")
        if path.is_dir():
            raise ReleaseError("cannot-write", f"Cannot write {str(path)!r}: it is a folder.")
        if path.resolve() in seen:
            raise ReleaseError("cannot-write", f"Cannot write {str(path)!r}: it {seen[path.resolve()]}.")
        seen[path.resolve()] = "was named for another output too"


def write_text(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all."""
    from shoal.release.files import write_atomically

    write_atomically(path, content)
    written.append(str(path))


def write_release(path: Path, release: TreeRelease | EnsembleRelease) -> None:
    """Write a release; it refuses unless its own audit holds."""
    release.save(path)
    written.append(str(path))


def write_parts(path: Path, release: ProjectionsRelease | EnsembleRelease) -> None:
    """Write projections, a file of rows for each, or the trees that stand in their place."""
    written.extend(map(str, release.save(path) or [path]))


def check_report() -> None:
    """Refuse before any work where no report can be made."""
    try:
        import shoal.report  # noqa: F401
    except ImportError:
        raise ReleaseError("no-report", "This installation of Shoal has no reports; leave out --report.") from None


def write_audit_report(
    path: Path,
    release: Any,
    audit: Audit,
    *,
    tree: TreeRelease | None = None,
    columns: ColumnRanking | None = None,
) -> None:
    """Write the audit as a page to read; `release` is None where something else was audited."""
    from shoal.report import write_report

    write_report(path, release, audit, tree=tree, columns=columns)
    written.append(str(path))


def check_plot(path: Path, clusters: Any = None) -> None:
    """Refuse before any work where no picture can be drawn, or none of `clusters`."""
    from shoal.cli.options import Usage
    from shoal.report.axes import check_clustering
    from shoal.report.plot import check_matplotlib

    if path.suffix.lower() not in PICTURES:
        raise Usage(f"--plot draws {', '.join(PICTURES)}, by how the file is called; got {str(path)!r}.")
    check_matplotlib("--plot")
    if clusters is not None:
        check_clustering(clusters)


def write_picture(path: Path, draw: Callable[[], Any]) -> None:
    """Write a figure of matplotlib; the same picture is the same bytes."""
    import matplotlib

    from shoal.release.files import write_atomically

    kind, file = path.suffix.lower()[1:], io.BytesIO()
    undated = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context({"svg.hashsalt": "shoal"}):
        draw().savefig(file, format=kind, metadata=undated[kind])
    write_atomically(path, file.getvalue())
    written.append(str(path))


def write_clusters_plot(path: Path, clusters: Any, rows: Any, audit: Audit) -> None:
    """Draw the rows of a clustering, for use in house."""
    from shoal.report import plot_clusters

    write_picture(path, lambda: plot_clusters(clusters, rows, audit).figure)
    note(f"{path} shows single rows with their private values: keep it in house.")


def rows_at_risk(audit: Audit) -> pa.Table:
    """One line a row whose group breaks a requirement or whose target is certain: numbers and counts, no cell.

    Rows are counted from 1, the first below the header.
    """
    import numpy as np
    import pyarrow as pa

    of_row = audit.groups.of_row
    rows = np.flatnonzero((audit.fails | audit.certain)[of_row])
    group = of_row[rows]
    return pa.table(
        {
            "row": rows + 1,
            "group": group + 1,
            "group_size": audit.groups.people[group],
            "fails": audit.fails[group],
            "certain": audit.certain[group],
        }
    )


def csv_text(table: pa.Table) -> str:
    """An Arrow table as CSV, quoted only where it must be."""
    from shoal.release.rows_file import csv_bytes

    return csv_bytes(table, header=True).decode()
