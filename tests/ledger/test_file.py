# SPDX-License-Identifier: Apache-2.0
"""The ledger's files: crashes at every byte, tampering of every kind, two who write at once."""

import dataclasses
import hashlib
import json
import os
import shutil
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import shoal.release.ledger as module
from shoal.audit.together.ledger import Ledger
from shoal.data import to_table
from shoal.errors import ReleaseError
from shoal.release.digests import row_digests, siphash, table_fingerprint, were_there
from shoal.release.ledger import LedgerFile

from .examples import PEOPLE, stump

RELEASES = [stump("street"), stump(None), stump("school", "sex")]
CANARY = "Xq7Canary"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of three releases."""
    folder = tmp_path_factory.mktemp("written")
    ledger = Ledger.open(folder)
    for release in RELEASES:
        assert ledger.add(release, PEOPLE).holds
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    shutil.copytree(written, tmp_path / "copy")
    return tmp_path / "copy"


def lines(folder: Path) -> list[bytes]:
    return (folder / ".shoal" / "ledger.jsonl").read_bytes().splitlines(keepends=True)


def refused(folder: Path, match: str) -> None:
    with pytest.raises(ReleaseError, match=match) as caught:
        Ledger.open(folder).verify()
    assert caught.value.code == "ledger-tampered"


# ---------------------------------------------------------------- crashes


def _head_of(folder: Path, number: int) -> bytes:
    """The head as it was after some lines."""
    key = bytes.fromhex((folder / ".shoal" / "key").read_text())
    head = {"number": number, "last": hashlib.sha256(lines(folder)[number - 1].rstrip(b"\n")).hexdigest()}
    return json.dumps({**head, "mac": module._mac(head, key)}).encode()


@pytest.mark.parametrize("length", [1, 100, -1])
def test_the_next_write_cuts_off_what_is_torn(folder: Path, length: int):
    file = folder / ".shoal" / "ledger.jsonl"
    *kept, last = lines(folder)
    (folder / ".shoal" / "head").write_bytes(_head_of(folder, 2))
    file.write_bytes(b"".join(kept) + last[:length])
    ledger = Ledger.open(folder)
    assert ledger.add(RELEASES[2], PEOPLE).holds
    again = Ledger.open(folder)
    again.verify()
    assert (len(again.entries), again.torn) == (3, 0)


def test_the_first_line_torn(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(RELEASES[0], PEOPLE)
    file = tmp_path / ".shoal" / "ledger.jsonl"
    (tmp_path / ".shoal" / "head").unlink()
    file.write_bytes(file.read_bytes()[:50])
    ledger = Ledger.open(tmp_path)
    assert (ledger.entries, ledger.torn) == ((), 50)
    assert ledger.add(RELEASES[0], PEOPLE).holds
    Ledger.open(tmp_path).verify()


class Crash(Exception):
    pass


def test_killed_at_every_byte_of_a_line(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """The system writes some bytes of the line, and then nothing more happens."""
    monkeypatch.setattr(module.os, "fsync", lambda handle: None)  # thousands of them take their time
    monkeypatch.setattr(LedgerFile, "_keep", lambda *_: None)  # the copy is there before the line is begun
    file = folder / ".shoal" / "ledger.jsonl"
    whole, told, real = file.read_bytes(), (folder / ".shoal" / "head").read_bytes(), os.write
    n_lines = len(lines(folder))
    ledger = LedgerFile(folder)
    entry = dataclasses.replace(ledger.entries[-1], number=n_lines + 1)
    with ledger.writing():
        ledger.append(entry, {})
    length = len(lines(folder)[-1])
    for n_bytes in range(length + 1):
        file.write_bytes(whole)
        (folder / ".shoal" / "head").write_bytes(told)

        def torn(handle: int, raw: bytes, n_bytes: int = n_bytes) -> int:
            real(handle, raw[:n_bytes])
            raise Crash

        ledger = LedgerFile(folder)
        with monkeypatch.context() as patch, ledger.writing():
            patch.setattr(module.os, "write", torn)
            with pytest.raises(Crash):
                ledger.append(entry, {})
        after = LedgerFile(folder)
        there = n_bytes == length  # the line break is the last byte
        assert (len(after.entries), after.torn) == (n_lines + there, 0 if there else n_bytes)


CALLS = ["replace", "rename", "write", "fsync", "ftruncate"]


@pytest.mark.parametrize("call", CALLS)
def test_a_crash_at_any_step_leaves_all_of_a_release_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
):
    """Stop before the first, second, … call of the operating system that an add makes."""
    Ledger.open(tmp_path).add(RELEASES[0], PEOPLE)
    seen, real = set(), getattr(os, call)
    for after in range(30):
        folder = tmp_path / f"{call}{after}"
        shutil.copytree(tmp_path / ".shoal", folder / ".shoal")
        left = [after]

        def crash(*given, _left=left, **more):
            if not _left[0]:
                raise Crash
            _left[0] -= 1
            return real(*given, **more)

        with monkeypatch.context() as patch:
            patch.setattr(module.os, call, crash)
            try:
                Ledger.open(folder).add(RELEASES[1], PEOPLE)
            except Crash:
                done = False
            else:
                done = True
        ledger = Ledger.open(folder)
        ledger.verify()
        seen.add(len(ledger.entries))
        assert len(ledger.entries) in (1, 2)
        assert ledger.release(1).sha256 == RELEASES[0].sha256
        # and whatever was left behind, the next one goes through
        ledger.add(RELEASES[1], PEOPLE)
        assert [entry.number for entry in Ledger.open(folder).entries] == [1, 2]
        Ledger.open(folder).verify()
        if done:
            break
    assert done
    assert seen == {1, 2}


# ---------------------------------------------------------------- tampering


def _edit(text: bytes) -> bytes:
    return text.replace(b'"verdict":"holds"', b'"verdict":"never"', 1)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda a, b, c: [_edit(a), b, c], "line 1 was changed"),
        (lambda a, b, c: [a, _edit(b), c], "line 2 was changed"),
        (lambda a, b, c: [a, b, _edit(c)], "line 3 was changed"),
        (lambda a, b, c: [b, c], "line 1 was changed"),
        (lambda a, b, c: [a, c], "line 2 was changed"),
        (lambda a, b, c: [a, b], "has 2 line.s., and its head tells of 3"),
        (lambda a, b, c: [a], "has 1 line.s., and its head tells of 3"),
        (lambda a, b, c: [], "all of its lines are gone"),
        (lambda a, b, c: [a, c, b], "line 2 was changed"),
        (lambda a, b, c: [a, b, c, c], "line 4 was changed"),
        (lambda a, b, c: [a, b"\n", b, c], "line 2 was changed"),
        (lambda a, b, c: [a, b"[1]\n", c], "line 2 was changed"),
        (lambda a, b, c: [a, b'{"mac":1}\n', c], "line 2 was changed"),
        (lambda a, b, c: [a, b"\xff\n", c], "line 2 was changed"),
        (lambda a, b, c: [a, b, c[:-10] + b"\n"], "line 3 was changed"),
    ],
)
def test_changed_lines_are_noticed(folder: Path, change: Callable[..., list[bytes]], match: str):
    (folder / ".shoal" / "ledger.jsonl").write_bytes(b"".join(change(*lines(folder))))
    refused(folder, match)


def test_whoever_recomputes_all_checksums_without_the_key_is_noticed(folder: Path):
    before, forged = "0" * 64, []
    for line in lines(folder):
        body = json.loads(line) | {"before": before, "verdict": "never"}
        body["mac"] = module._mac({name: each for name, each in body.items() if name != "mac"}, b"a guess")
        text = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
        before = hashlib.sha256(text).hexdigest()
        forged.append(text + b"\n")
    (folder / ".shoal" / "ledger.jsonl").write_bytes(b"".join(forged))
    refused(folder, "line 1 was changed")


@pytest.mark.parametrize("name", ["release.json", "rows.bin"])
@pytest.mark.parametrize("how", ["edited", "removed"])
def test_changed_copies_are_noticed(folder: Path, name: str, how: str):
    file = folder / ".shoal" / "releases" / "0002" / name
    if how == "edited":
        file.write_bytes(file.read_bytes().replace(b"1", b"2") + b" ")
    else:
        file.unlink()
    refused(folder, f"copy of release 2 .* '{name}'")
    with pytest.raises(ReleaseError, match="copy of release 2"):
        Ledger.open(folder).check(stump("school"), PEOPLE)


def test_a_changed_head_and_a_lost_key_are_noticed(folder: Path):
    head = folder / ".shoal" / "head"
    told = head.read_bytes()
    for other in (b"{}", told.replace(b'"number":3', b'"number":2'), b"\xff"):
        head.write_bytes(other)
        refused(folder, "its head was changed")
    head.unlink()
    refused(folder, "its head tells of 0")
    head.write_bytes(told)
    (folder / ".shoal" / "key").write_text("00")
    with pytest.raises(ReleaseError, match="is missing or broken") as caught:
        Ledger.open(folder)
    assert caught.value.code == "ledger-key"


# ---------------------------------------------------------------- who else


def test_two_who_add_at_once_are_audited_together(tmp_path: Path):
    """One of two that do not go together is entered, whoever comes first."""
    verdicts: list[str] = []
    start = threading.Barrier(4)

    def add(release) -> None:
        start.wait()
        verdicts.append(Ledger.open(tmp_path).add(release, PEOPLE).verdict)

    threads = [threading.Thread(target=add, args=[each]) for each in (stump("street"), stump("school")) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger = Ledger.open(tmp_path)
    ledger.verify()
    assert len(ledger.entries) == 1
    assert sorted(verdicts) == ["holds", "holds", "not proven", "not proven"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such rights")
def test_only_the_owner_can_read_it(written: Path):
    for path in [written / ".shoal", *(written / ".shoal").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_it_holds_no_cell_that_was_not_published(tmp_path: Path):
    people = {**PEOPLE, "name": [f"{CANARY}{i}" for i in range(11)], "pay": [7654321 + i for i in range(11)]}
    Ledger.open(tmp_path).add(stump("street"), people)
    for path in (tmp_path / ".shoal").rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            assert CANARY.encode() not in raw
            assert b"765432" not in raw
            assert np.float64(7654321).tobytes() not in raw


def test_what_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / ".shoal").write_text("a file")
    with pytest.raises(ReleaseError, match="Cannot"):
        Ledger.open(tmp_path).add(stump("street"), PEOPLE)


# ---------------------------------------------------------------- digests


def test_siphash_is_that_of_its_paper():
    """The vectors of the reference implementation: key 00 01 … 0f, messages 00 01 … of 8, 16 and 24 bytes."""
    message = np.frombuffer(bytes(range(24)), dtype="<u8")
    found = [int(siphash([message[i : i + 1] for i in range(n)], bytes(range(16)))[0]) for n in (1, 2)]
    assert found == [0x93F5F5799A932462, 0x3F2ACC7F57C29BDB]


def test_digests_go_by_meaning_and_by_key():
    numbers = to_table({"a": [1, 2, None], "b": ["x", "y", "x"]})
    texts = to_table({"b": ["x", "y", "x"], "a": ["1", "2.0", None]})
    key, other = b"k" * 32, b"l" * 32
    assert row_digests(numbers, ["a", "b"], key).tolist() == row_digests(texts, ["b", "a"], key).tolist()
    assert len({*row_digests(numbers, ["a", "b"], key), *row_digests(numbers, ["a", "b"], other)}) == 6
    assert table_fingerprint(numbers, key) == table_fingerprint(texts.take(np.array([2, 0, 1])), key)
    assert table_fingerprint(numbers, key) != table_fingerprint(numbers, other)
    renamed = to_table({"a": [1, 2, None], "c": ["x", "y", "x"]})
    assert table_fingerprint(numbers, key) != table_fingerprint(renamed, key)
    swapped = to_table({"b": [1, 2, None], "a": ["x", "y", "x"]})
    assert table_fingerprint(numbers, key) != table_fingerprint(swapped, key)


def test_compared_rows_are_counted():
    rng = np.random.default_rng(0)
    for _ in range(50):
        before, now = (rng.integers(0, 6, rng.integers(0, 9)).astype(np.uint64) for _ in range(2))
        was_there, still_here = were_there(before, now), were_there(now, before)
        for digest in range(6):
            common = min((before == digest).sum(), (now == digest).sum())
            assert was_there[now == digest].sum() == common
            assert still_here[before == digest].sum() == common
