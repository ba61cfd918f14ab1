# SPDX-License-Identifier: Apache-2.0
"""The reference page of the command line, made from the commands themselves.

``python -m shoal.cli.reference docs/reference/cli.md`` writes it; a test fails when it is not current.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from shoal.cli.project import BY_COLUMN, KEYS

INTRODUCTION = """\
# The command line

<!-- Made by python -m shoal.cli.reference docs/reference/cli.md: change the commands, not this page. -->

`shoal VERB`. Every verb that reads a table takes what it needs from `shoal.toml` in the current folder, or
from the file named by `--config`; an option on the command line overrides the file. Lists of columns are
separated by commas, and their options may be repeated. `--json` prints one JSON value on standard output and
nothing else.

| exit code | meaning |
|---|---|
| 0 | done; for an audit: the promise holds |
| 1 | failure, told in one line on standard error; nothing half-written is left |
| 2 | wrong use: an unknown option, or something that had to be said was not |
| 3 | an audit found a breach, or the ledger cannot prove that releases hold together |
| 130 | interrupted |

`SHOAL_DEBUG=1` in the environment adds the traceback to a failure. A traceback may quote cells: do not send
it on.
"""

JSON_KEYS = {
    "init": "`people`, `k`, `missing`, `columns` (each `name`, `kind`, `role`, `why`), `written`",
    "describe": "`people`, `rows`, `k`, `columns` (each `name`, `kind`, `role`, `distinct`, `missing`), `uniqueness` "
    "(each `columns`, `how`, `combinations`, `alone`, `below`)",
    "tree": "`release` (as in its file), `audit` (as of `shoal audit`), `written`",
    "clusters": "`release` (as in its file), `audit` (as of `shoal audit`), `written`",
    "anonymize": "`release` (as in its file, without its rows), `audit` (as of `shoal audit`), `measures` "
    "(`groups`, `cm`, `lm`, `dm`, `average_class_size`, `precision`, `entropy`, `left_out`), `made_hierarchies`, of "
    "K-Optimize `optimal`, `cost` and `bound`, `written`",
    "compare": "`compared` (each `method`, `seconds`, `rows`, `left_out`, the measures of `shoal anonymize` and "
    "`accuracy`; or `method` and `refused`), `written`",
    "rules": "`release` (as in its file), `report` (`mined`, `certain`, `safe_alone`, `most`, `greedy`, `kept`, "
    "`generalised`, `public`, `worth`, `greedy_worth`, `most_worth`, `dropped`), `written`",
    "publish": "`release` (as in its file), `audit` (as of `shoal audit`), `written`",
    "pool": "`target`, `learner`, `people`, `rows` (null where trees are asked), `owners` (each `owner`, `people`, "
    "`leaves`, `classes`, `class_distance`, `disagreement`, `with`, `outlier`), `disagreements` (each `column`, "
    "`severity`, `message`), `outliers`, `promise`, `written`",
    "generate": "`shoal`, `warning`, `rows`, `columns`, `target`, `made_from`, `written`",
    "partition": "with `--pareto` `frontier` (each `level`, `accuracy`, `projections`, `knee`); where something is "
    "published `release` (as in its file, without its rows), `audit` (as of `shoal audit`), `level`, `accuracy`, "
    "`projections`, `interrupted`; `written`",
    "audit": "`what`, `holds`, `smallest_group`, `people`, `rows`, `unit`, `groups`, `exempt_groups`, `requirements`, "
    "`claims`, `public`, `columns` (each `name`, `role`, `use`, `type`, `domain`), `exposed`, `exposed_share`, "
    "`highest_confidence`, `exact`, `group_sizes`, `risk`, `measures` (one each for the target and every sensitive "
    "column), `missing`, `findings`, `release_sha256`, `written`; with `--columns` also `ranking`",
    "attack": "`people`, `groups`, `smallest_group`, `alone`, `target`, `certain`, `highest_confidence`, "
    "`exact`, `written`; with a model `what`, and `beliefs` by column instead of what is about the target",
    "repair": "`release` (as in its file), `before` and `after` (as of `shoal audit`), `trees`, `leaves`, `accuracy` "
    "and `test_accuracy` (each of the model and of the release), `written`",
    "ledger add": "as of `shoal audit`, without `written`, and `verdict`, `releases` (each `number`, `what`), `pair`, "
    "`left_out`, `pinned` (each `column`, `releases`, `people`, `alone`), `entered` (its number, or null)",
    "ledger check": "as of `shoal ledger add`, without `entered`",
    "ledger list": "a list of `number`, `added`, `release`, `kind`, `what`, `verdict`, `people`, `columns`, `table`, "
    "`files`",
    "ledger verify": "`releases`, `torn`, `intact`",
    "papers list": "a list of `id`, `paper`, `place`, `title`, `claim`, `data`, `claims`",
    "papers run": "a list of `id`, `quick`, `units`, `measured`; where all units are measured also `seconds`, `points` "
    "(each `panel`, `series`, `x`, `value`), `published` (each `place`, `panel`, `series`, `x`, `published`, `ours`, "
    "`agrees`), `claims` (each `says`, `verdict`, `found`)",
    "papers report": "`results` (as of `shoal papers run`), `written`",
    "predict": "`target`, `rows`, `predictions` (by column; left out where a file is written), `written`",
    "demo": "as of `shoal tree`",
    "bench": "a list of rows",
}


def reference() -> str:
    """The page as Markdown."""
    from shoal.cli import app

    # the commands as Typer built them, so that nothing is told twice
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    parts = [INTRODUCTION]
    for name, command in commands.items():
        if not hasattr(command, "commands"):
            parts.append("\n".join(_verb(name, command)))
            continue
        parts.append(f"## shoal {name}\n\n{inspect.cleandoc(command.help)}\n")
        parts += ["\n".join(_verb(f"{name} {verb}", each)) for verb, each in command.commands.items()]
    parts.append("\n".join(_project_file()))
    return "\n".join(parts)


def _verb(name: str, command: Any) -> Iterator[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and "--help" not in each.opts]
    usage = " ".join(each.metavar if each.required else f"[{each.metavar}]" for each in arguments)
    yield f"## shoal {name}\n"
    yield inspect.cleandoc(command.help) + "\n"
    yield f"```console\n$ shoal {name}{' ' if usage else ''}{usage} [OPTIONS]\n```\n"
    yield "| | |\n|---|---|"
    for each in arguments:
        yield f"| `{each.metavar}` | {each.help} |"
    for each in options:
        metavar = (each.metavar or "").replace("|", "\\|")
        shown = ", ".join(f"`{opt}{' ' + metavar if metavar else ''}`" for opt in each.opts)
        yield f"| {shown} | {each.help} |"
    yield ""
    if name in JSON_KEYS:
        yield f"`--json`: {JSON_KEYS[name]}.\n"


def _project_file() -> Iterator[str]:
    yield "## The project file\n"
    yield "`shoal.toml`; paths in it start at its own folder. An unknown section or key is refused.\n"
    yield "| key | value |\n|---|---|"
    for section, keys in KEYS.items():
        for key, (_, wanted) in keys.items():
            yield f"| `{section}.{key}` | {wanted} |"
    told = {
        "hierarchies": 'file or rule: `"education.csv"`, `{ intervals = [5, 10] }`, `{ prefix = [3, 2] }`',
        "domain": "a list of values, or two bounds `[low, high]`",
    }
    for section in BY_COLUMN:
        yield f"| `{section}.COLUMN` | {told[section]} |"
    yield ""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
