# SPDX-License-Identifier: Apache-2.0
"""What was measured, kept by content: one JSON file for each unit, named by the fingerprint of all that it depends on.

A result counts as long as these are the same: the recipe's name and the unit's options, the contents of the data files
it reads, Shoal's version, and the code that measures (`measure` of the recipe, and the modules the recipe names as its
sources; docstrings and comments do not matter). Miners may change between two versions without the results being
measured again; so each file also has the fingerprint of the rest of Shoal's code, and a report says where that is
another.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import json
import os
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from tempfile import TemporaryFile
from typing import Any

import shoal
from shoal.errors import DataError
from shoal.papers.data import Data, make_folder
from shoal.papers.registry import Recipe, Unit, get_recipe
from shoal.release.files import write_atomically

PACKAGES = ("shoal", "numpy", "numba", "pyarrow", "scikit-learn", "scipy", "pymoo", "diffprivlib")


@dataclass(frozen=True)
class Kept:
    """A result as its file tells it, with its key and the CPU seconds it took."""

    key: str
    result: Any
    seconds: float
    versions: Mapping[str, str]
    source: str


class Store:
    """A folder of results.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> store.read("0123") is None
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, key: str) -> Kept | None:
        """What was measured, or None."""
        try:
            told = json.loads((self.folder / f"{key}.json").read_text(encoding="utf-8"))
            versions = {str(name): str(number) for name, number in told["versions"].items()}
            return Kept(key, told["result"], float(told["seconds"]), versions, str(told["source"]))
        # not there, cut by a full disk, or not ours: to be measured again
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            return None

    def open(self) -> None:
        """Make the folder, and refuse one that cannot be written to before anything is measured."""
        make_folder(self.folder)
        try:
            with TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            why = os.strerror(error.errno or 0)
            raise DataError("cannot-write", f"Cannot keep results in {str(self.folder)!r}: {why}.") from None

    def write(self, key: str, recipe: str, unit: Unit, result: Any, seconds: float) -> None:
        """Keep what was measured; a file that is there is whole."""
        told = {
            "recipe": recipe,
            "options": dict(unit.options),
            "data": list(unit.data),
            "versions": dict(versions()),
            "source": source_sha256(),
            "seconds": round(seconds, 3),
            "result": result,
        }
        write_atomically(self.folder / f"{key}.json", json.dumps(told, indent=1) + "\n")


def key_of(recipe: str, unit: Unit, data: Data) -> str:
    """The fingerprint of everything a unit's result depends on."""
    told = [
        recipe,
        dict(unit.options),
        {name: data.sha256[name] for name in unit.data},
        versions()["shoal"],
        code_sha256(recipe),
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]


@cache
def code_sha256(recipe: str) -> str:
    """The fingerprint of the code that measures: of `measure`, and of the modules that the recipe names."""
    used: Recipe = get_recipe(recipe)
    texts = [textwrap.dedent(inspect.getsource(type(used).measure))]
    texts += [inspect.getsource(importlib.import_module(name)) for name in used.sources]
    return hashlib.sha256("\n".join(map(bare_code, texts)).encode()).hexdigest()


def bare_code(text: str) -> str:
    """Code without comments, layout and docstrings.

    >>> bare_code("def f(x):\\n    'Twice.'\\n    return 2 * x  # why") == bare_code("def f( x ): return 2*x")
    True
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)


@cache
def source_sha256() -> str:
    """The fingerprint of the code that recipes call, as it is now: all of Shoal's but what runs, tells and shows."""
    root = Path(shoal.__file__).parent
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in ("papers", "cli", "report"):
            whole.update(f"{name} {bare_code(path.read_text(encoding='utf-8'))}".encode())
    return whole.hexdigest()


@cache
def versions() -> Mapping[str, str]:
    """What measures: Python, Shoal and the packages whose numbers these are."""
    found = {"python": python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an extra that is not installed
            continue
    return found
