# SPDX-License-Identifier: Apache-2.0
"""Files that belong together: all of them are replaced, or none."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shoal.errors import ReleaseError
from shoal.release.files import read_json, write_atomically, write_json
from shoal.release.table_file import check_name


def save_together(path: Path, body: dict[str, Any], texts: Mapping[Path, str | Iterable[bytes]]) -> None:
    """Write the JSON and the files beside it, those first, or leave everything as it was.

    Files of rows that only the JSON that was there before names go last: somebody would take them for part of this.
    """
    older = _files_of(path)
    made: dict[Path, str] = {}
    try:
        for final in (*texts, path):
            handle, made[final] = _place(final)
            os.close(handle)
        for data_path, text in texts.items():
            _blaming(data_path, made[data_path], functools.partial(write_atomically, made[data_path], text))
        _blaming(path, made[path], lambda: write_json(body, made[path]))
        _swap(made)
    finally:
        for beside in made.values():
            with contextlib.suppress(OSError):
                os.unlink(beside)
    for file, sha256 in older.items():
        with contextlib.suppress(OSError):  # one that cannot be looked at or removed stays
            new = any(os.path.samefile(file, own) for own in made)
            if not new and hashlib.sha256(file.read_bytes()).hexdigest() == sha256:
                file.unlink()


def _files_of(path: Path) -> dict[Path, str]:
    """The files of rows that a release names, and the SHA-256 that it states of each; none where it is no release."""
    if not path.is_file():
        return {}
    try:
        body = read_json(path)
        entries = body.get("projections", body.get("files", []))
        return {path.parent / check_name(entry["name"]): str(entry["sha256"]) for entry in entries}
    except (ReleaseError, TypeError, KeyError):
        return {}


def _place(path: Path) -> tuple[int, str]:
    """An empty file beside a target."""
    try:
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise ReleaseError("cannot-write", f"Cannot write {str(path)!r}: {error.strerror}.") from None


def _blaming(path: Path, beside: str, write: Any) -> None:
    """Name the file that was asked for, not the one beside it."""
    try:
        write()
    except ReleaseError as error:
        raise ReleaseError(error.code, str(error).replace(beside, str(path))) from None


def _swap(made: Mapping[Path, str]) -> None:
    """Rename all into place, in this order; if one fails, those before it are undone."""
    before = {final: Path(f"{beside}.before") for final, beside in made.items()}
    done: list[Path] = []
    try:
        for final, beside in made.items():
            if final.exists():
                _keep(final, before[final])
            try:
                os.replace(beside, final)
            except OSError as error:
                raise ReleaseError("cannot-write", f"Cannot write {str(final)!r}: {error.strerror}.") from None
            done.append(final)
    except BaseException:
        for final in done:
            with contextlib.suppress(OSError):
                if before[final].exists():
                    os.replace(before[final], final)
                else:
                    final.unlink()
        raise
    finally:
        for kept in before.values():
            with contextlib.suppress(OSError):
                kept.unlink()


def _keep(path: Path, before: Path) -> None:
    """A second name for what was there, or a copy where a file cannot have two names."""
    try:
        os.link(path, before)
    except OSError:
        try:
            shutil.copy2(path, before)
        except OSError as error:
            raise ReleaseError("cannot-write", f"Cannot write {str(path)!r}: {error.strerror}.") from None
