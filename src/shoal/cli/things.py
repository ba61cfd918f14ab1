# SPDX-License-Identifier: Apache-2.0
"""What a file is that somebody wants audited, told from how it begins, and how it is opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shoal.cli.options import Usage
from shoal.errors import DataError

Kind = Literal["release", "model", "rules", "table"]

TABLES = (".parquet", ".feather", ".arrow", ".ipc")
TEXTS = (".csv", ".tsv", ".txt")
LOOKED_AT = 4096  # bytes from the beginning of a file
# what XGBoost and LightGBM write first into their JSON; ours says "shoal-release" there
BOOSTER = re.compile(rb'\{\s*"(learner|version|name|tree_info|Config)"\s*:')
J48 = re.compile(rb"^(=== (Run information|Classifier model)|J48 (un)?pruned tree)", re.MULTILINE)
UBJSON = re.compile(rb"\{[iUIlL]")
RULES = re.compile(r"antecedents?\b.*\bconsequents?\b|consequents?\b.*\bantecedents?\b")


@dataclass(frozen=True)
class Thing:
    """What is audited, and of which kind its file is."""

    kind: Kind
    what: Any


def kind_of(path: Path) -> Kind:
    """What a file is; a folder, an empty file or one of no known kind is refused."""
    shown = repr(str(path))
    if not path.exists():
        raise DataError("no-file", f"There is no file {shown}.")
    if path.is_dir():
        raise DataError("not-a-file", f"{shown} is a folder. Name a release, a model, a table or rules.")
    try:
        with path.open("rb") as file:
            head = file.read(LOOKED_AT)
    except OSError as error:
        raise DataError("cannot-read", f"Cannot read {shown}: {error.strerror}.") from None
    if not head:
        raise DataError("empty-file", f"{shown} is empty.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if UBJSON.match(head):
        return "model"  # of XGBoost, which says that it is not read
    if suffixes[-1:] == [".json"] or head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return "model" if BOOSTER.search(head) and b"shoal-release" not in head else "release"
    if suffixes and suffixes[-1] in TABLES:
        return "table"
    is_model = head.startswith(b"tree\n") or J48.search(head)  # LightGBM begins so, and what Weka prints
    if any(suffix in TEXTS for suffix in suffixes[-2:]) and not is_model:
        line = head.decode("utf-8", errors="replace").splitlines()[0]
        return "rules" if RULES.search(line) else "table"
    return "model"


def open_release(path: Path, verb: str) -> Any:
    """Open a release of Shoal, and say what to do with anything else."""
    kind = kind_of(path)
    if kind != "release":
        raise Usage(
            f"shoal {verb} takes releases of Shoal; {str(path)!r} is none. Of a tree or a forest that somebody else "
            "trained, shoal repair makes one."
        )
    from shoal.release import load

    return load(path)


def open_thing(path: Path, *, trust_pickle: bool) -> Thing:
    """Open what is to be audited. A table is not opened: how it is read depends on roles."""
    kind = kind_of(path)
    if kind == "release":
        from shoal.release import load

        return Thing(kind, load(path))
    if kind == "model":
        from shoal.audit.foreign.files import load_model

        return Thing(kind, load_model(path, trust_pickle=trust_pickle))
    if kind == "rules":
        from shoal.audit.rules import Rules

        return Thing(kind, Rules.read(path))
    return Thing(kind, path)
