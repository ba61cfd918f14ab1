# SPDX-License-Identifier: Apache-2.0
"""The ledger's files: what was published from a table so far, line by line, so that nothing goes missing unnoticed.

Beside the data stands a folder ``.shoal`` that only its owner can read::

    ledger.jsonl        one line a release; each holds the SHA-256 of the line before, and a keyed code of itself
    head                how many lines there are: written after a line, so it is at most one behind
    key                 a random key; without it no line can be written or changed unnoticed
    lock                held while a line is added
    releases/0001/      a copy of the first release, and keyed digests of the rows that it was made from

A line is one write, and it counts once its line break is there. What a crash leaves of it is no line: it is reported,
and cut off by the next write. The copy of a release is complete before its line is begun.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from shoal.errors import ReleaseError
from shoal.release.verdict import canonical

FOLDER = ".shoal"
FORMAT = "shoal-ledger/1"
FIRST = "0" * 64  # what the first line has for the line before
MAX_BYTES = 256 * 1024 * 1024
KEY_BYTES = 32


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: a release, and what was known when it was added.

    Attributes
    ----------
    number
        Its place, from 1.
    added
        When, in UTC.
    release, kind, what
        The fingerprint of the release, its kind, and what it is in words.
    verdict
        ``"holds"``, or ``"not proven"`` where it was added all the same.
    people, columns
        The rows of the table, and the names of its columns.
    public
        The columns that an attacker was taken to know.
    table
        A keyed fingerprint of the whole table.
    files
        The files of its copy, with their SHA-256.
    """

    number: int
    added: str
    release: str
    kind: str
    what: str
    verdict: str
    people: int
    columns: tuple[str, ...]
    public: tuple[str, ...]
    table: str
    files: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """The entry as plain JSON."""
        return {**asdict(self), "columns": list(self.columns), "public": list(self.public), "files": dict(self.files)}


class LedgerFile:
    """The ledger beside some data, read and checked.

    Parameters
    ----------
    folder
        The folder of the data. Nothing is written until something is added.

    Attributes
    ----------
    entries
        The lines.
    torn
        How many bytes there are of a last line that a crash cut off. They do not count.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder) / FOLDER
        self.entries: tuple[Entry, ...] = ()
        self.torn = 0
        self._lines: list[bytes] = []
        self.read()

    @property
    def path(self) -> Path:
        """The file of lines."""
        return self.folder / "ledger.jsonl"

    # ---------------------------------------------------------------- reading

    def read(self) -> None:
        """Read the lines again, and refuse them unless all are there and none was changed."""
        raw = _bytes(self.path)
        if len(raw) > MAX_BYTES:
            raise ReleaseError("too-large", f"{str(self.path)!r} has more than {MAX_BYTES:,} bytes.")
        *lines, rest = raw.split(b"\n")
        self._lines, self.torn = lines, len(rest)
        key = self.key if lines else b""
        before, entries = FIRST, []
        for number, line in enumerate(lines, 1):
            entries.append(self._entry(line, number, before, key))
            before = hashlib.sha256(line).hexdigest()
        self.entries = tuple(entries)
        self._check_head(key)

    @property
    def key(self) -> bytes:
        """The key of lines and digests."""
        text = _bytes(self.folder / "key")
        try:
            key = bytes.fromhex(text.decode("ascii").strip())
        except ValueError:
            key = b""
        if len(key) != KEY_BYTES:
            raise ReleaseError(
                "ledger-key", f"The ledger's key {str(self.folder / 'key')!r} is missing or broken. Restore it."
            )
        return key

    def _entry(self, line: bytes, number: int, before: str, key: bytes) -> Entry:
        version = FORMAT
        try:
            body = json.loads(line)
            version = str(body["format"])
            mac = body.pop("mac")
            good = hmac.compare_digest(mac, _mac(body, key)) and body.pop("before") == before
            good = good and bool(body.pop("format")) and body["number"] == number
            body["columns"], body["public"] = tuple(body["columns"]), tuple(body["public"])
            good = good and set(body) == {field.name for field in fields(Entry)}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            good = False
        if version != FORMAT:
            raise ReleaseError(
                "ledger-version",
                f"The ledger {str(self.path)!r} is not of the format {FORMAT}, which this version of Shoal reads. Use "
                "the version that wrote it.",
            )
        if not good:
            raise self._tampered(f"line {number} was changed, or one before it was removed, added or moved")
        return Entry(**body)

    def _check_head(self, key: bytes) -> None:
        """The head tells how many lines there were at least, so that none is missing at the end."""
        raw = _bytes(self.folder / "head")
        n_told, last = 0, FIRST
        if raw:
            try:
                head = json.loads(raw)
                mac = head.pop("mac")
                n_told, last = int(head["number"]), str(head["last"])
                good = bool(self._lines) and hmac.compare_digest(mac, _mac(head, key))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                good = False
            if not good:
                raise self._tampered("its head was changed, or all of its lines are gone")
        # a crash between a line and the head leaves the head one behind
        if n_told > len(self._lines) or n_told < len(self._lines) - 1:
            raise self._tampered(f"it has {len(self._lines)} line(s), and its head tells of {n_told}")
        told = self._lines[n_told - 1] if n_told else None
        if told is not None and hashlib.sha256(told).hexdigest() != last:
            raise self._tampered("its last line is not the one that its head tells of")

    def _tampered(self, what: str) -> ReleaseError:
        return ReleaseError(
            "ledger-tampered", f"The ledger {str(self.path)!r} is not as it was written: {what}. Restore it."
        )

    def part(self, entry: Entry, name: str) -> bytes:
        """One file of a release's copy, which must be as it was written."""
        raw = _bytes(self.copy_of(entry) / name)
        if hashlib.sha256(raw).hexdigest() != entry.files.get(name):
            raise ReleaseError(
                "ledger-tampered",
                f"The ledger's copy of release {entry.number} is not as it was written: {name!r} was changed or is "
                "gone. Restore it.",
            )
        return raw

    def copy_of(self, entry: Entry) -> Path:
        """The folder with the copy of a release."""
        return self.folder / "releases" / f"{entry.number:04}"

    def verify(self) -> None:
        """Read everything again, copies included, and refuse what is not as it was written."""
        self.read()
        for entry in self.entries:
            for name in entry.files:
                self.part(entry, name)

    # ---------------------------------------------------------------- writing

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the ledger while something is added; others who add wait. Lines are read again first."""
        with self._or_say():
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self.folder.chmod(0o700)
            handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle)
            self.read()
            yield
        finally:
            os.close(handle)  # which lets go of the lock

    def prepare(self) -> bytes:
        """The key, made now if there is none yet; call it while `writing`."""
        if not self.entries and not (self.folder / "key").exists():
            with self._or_say():
                _write(self.folder / ".gitignore", b"*\n")
                _write(self.folder / "key", secrets.token_hex(KEY_BYTES).encode() + b"\n")
        return self.key

    def append(self, entry: Entry, parts: Mapping[str, bytes]) -> None:
        """Keep the copy of a release, then its line, then the head; call it while `writing`."""
        key = self.key
        assert entry.number == len(self.entries) + 1
        with self._or_say():
            self._keep(entry, parts)
            last = hashlib.sha256(self._lines[-1]).hexdigest() if self._lines else FIRST
            body = {"format": FORMAT, **entry.to_json(), "before": last}
            line = canonical({**body, "mac": _mac(body, key)}).encode()
            self._add_line(line)
            head = {"number": entry.number, "last": hashlib.sha256(line).hexdigest()}
            _write(self.folder / "head", canonical({**head, "mac": _mac(head, key)}).encode() + b"\n")
        self.read()

    @contextlib.contextmanager
    def _or_say(self) -> Iterator[None]:
        """Say what the system says where it cannot write."""
        try:
            yield
        except OSError as error:
            raise ReleaseError("cannot-write", f"Cannot write to {str(self.folder)!r}: {error.strerror}.") from None

    def _keep(self, entry: Entry, parts: Mapping[str, bytes]) -> None:
        """Write the copy beside its place and rename it; what a crash left there belongs to no line."""
        place = self.copy_of(entry)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        beside = place.with_suffix(".part")
        for left in (beside, place):
            if left.exists():
                shutil.rmtree(left)
        beside.mkdir(mode=0o700)
        for name, raw in parts.items():
            _write(beside / name, raw)
        os.rename(beside, place)
        _flush_folder(place.parent)

    def _add_line(self, line: bytes) -> None:
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.ftruncate(handle, sum(len(each) + 1 for each in self._lines))  # what a crash left of a line
            left = memoryview(line + b"\n")
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        _flush_folder(self.folder)


def _bytes(path: Path) -> bytes:
    """What a file holds; nothing where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ReleaseError("cannot-read", f"Cannot read {str(path)!r}: {error.strerror}.") from None


def _mac(body: Mapping[str, Any], key: bytes) -> str:
    return hmac.new(key, b"line" + canonical(body).encode(), "sha256").hexdigest()


def _write(path: Path, raw: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    beside = path.with_name(f"{path.name}.part")
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make names in a folder last through a crash, where the system can."""
    if sys.platform != "win32":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
