# SPDX-License-Identifier: Apache-2.0
"""The command line: ``shoal VERB``. One verb a file; here they are gathered, and failures become one line.

Exit codes: 0 done and, for an audit, holds; 1 failure; 2 wrong use; 3 an audit found a breach.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.anonymize import anonymize
from shoal.cli.attack import attack
from shoal.cli.audit import audit
from shoal.cli.bench import bench
from shoal.cli.clusters import clusters
from shoal.cli.compare import compare
from shoal.cli.demo import demo
from shoal.cli.describe import describe
from shoal.cli.generate import generate
from shoal.cli.init import init
from shoal.cli.ledger import ledger
from shoal.cli.options import Usage
from shoal.cli.papers import papers
from shoal.cli.partition import partition
from shoal.cli.pool import pool
from shoal.cli.predict import predict
from shoal.cli.publish import publish
from shoal.cli.repair import repair
from shoal.cli.rules import rules
from shoal.cli.tree import tree
from shoal.errors import ShoalError

__all__ = ["app", "main", "run"]

app = typer.Typer(
    name="shoal",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help and one-line errors, the same in a pipe as on a terminal
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
VERBS = (
    *(init, describe, tree, clusters, anonymize, compare, rules),
    *(publish, pool, generate, partition),
    *(audit, attack, repair, predict, demo, bench),
)
for verb in VERBS:
    app.command()(verb)
app.add_typer(ledger)
app.add_typer(papers)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"shoal {version('shoal')}")
        raise typer.Exit


@app.callback()
def shoal(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Publish what was learned from personal data without giving anybody in it away.

    Start with "shoal demo", or with your own table: "shoal init FILE", "shoal tree -o tree.json",
    "shoal audit tree.json".
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    output.written.clear()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            typer.main.get_command(app).main(None if arguments is None else list(arguments), prog_name="shoal")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        code = 130
    except Usage as error:
        code = _fail(error, 2)
    except ShoalError as error:
        code = _fail(error, 1)
    except BrokenPipeError:
        code = _nobody_listens()
    except Exception as error:
        # its text may hold a cell, so only its type is shown
        done = f"written so far: {', '.join(output.written)}" if output.written else "nothing was written"
        output.note(f"unexpected {type(error).__name__}; {done}. Set SHOAL_DEBUG=1 for the traceback.")
        code = 1
        _debug()
    else:
        code = 0
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _nobody_listens()
    return code


def main() -> None:
    """The entry point of the command ``shoal``."""
    for stream in (sys.stdout, sys.stderr):
        # a name that the terminal cannot show must not end the run
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(run())


def _fail(error: ShoalError, code: int) -> int:
    output.note(str(error))
    _debug()
    return code


def _debug() -> None:
    if os.environ.get("SHOAL_DEBUG") == "1":
        traceback.print_exc()


def _nobody_listens() -> int:
    """Whoever read our output has gone: say nothing more, not even at the end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _show_warning(*_: Any, **__: Any) -> None:
    """Warnings of other libraries are not for a steward, and may quote anything."""
