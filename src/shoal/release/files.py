# SPDX-License-Identifier: Apache-2.0
"""Release files: plain JSON that comes from anywhere, so nothing in it is believed before it is checked."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from shoal.errors import ReleaseError

FORMAT = "shoal-release/1"
MAX_BYTES = 256 * 1024 * 1024
UMASK = os.umask(0o077)  # reading it means setting it: do so once, before there are other threads
os.umask(UMASK)


@contextlib.contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """A file beside the target to write to, renamed into place at the end; on any failure the target is as it was."""
    path = Path(path)
    beside = None
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
        yield Path(beside)
        # mkstemp makes the file private; give it the rights an ordinary new file would have
        os.chmod(beside, 0o666 & ~UMASK)
        os.replace(beside, path)
    except BaseException as error:
        if beside is not None:
            with contextlib.suppress(OSError):
                os.unlink(beside)
        if isinstance(error, OSError):
            # Arrow's words would name the file beside
            why = error.strerror if error.errno is None else os.strerror(error.errno)
            raise ReleaseError("cannot-write", f"Cannot write {str(path)!r}: {why}.") from None
        raise


def write_atomically(path: str | Path, content: str | bytes | Iterable[bytes]) -> None:
    """Write a file, flush it to disk and rename it into place; on any failure the target is as it was."""
    with written_whole(path) as beside, open(beside, "wb") as file:
        content = content.encode("utf-8") if isinstance(content, str) else content
        file.writelines([content] if isinstance(content, bytes) else content)
        file.flush()
        os.fsync(file.fileno())


def write_json(body: dict[str, Any], path: str | Path) -> None:
    """Write a release's JSON, one node a line so that two versions can be compared."""
    lines = [f"{json.dumps(key)}: {_value(value)}" for key, value in body.items()]
    write_atomically(path, "{" + ",\n ".join(lines) + "}\n")


def _value(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a file that claims to be a release, and refuse what is no plain JSON object of this format."""
    name = repr(str(path))
    try:
        size = os.stat(path).st_size
        if not Path(path).is_file():
            raise ReleaseError("not-a-file", f"{name} is not a file.")
        if size > MAX_BYTES:
            raise ReleaseError("too-large", f"{name} has {size:,} bytes; a release has at most {MAX_BYTES:,}.")
        raw = Path(path).read_bytes()
    except OSError as error:
        raise ReleaseError("cannot-read", f"Cannot read {name}: {error.strerror}.") from None
    try:
        body = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ReleaseError("not-utf8", f"{name} is not UTF-8 text: no release file.") from None
    except RecursionError:
        raise ReleaseError("too-deep", f"{name} is nested too deeply for a release.") from None
    except json.JSONDecodeError as error:
        raise ReleaseError(
            "not-json", f"{name} is no complete JSON (line {error.lineno}). Was it cut off on the way?"
        ) from None
    except ReleaseError as error:
        raise ReleaseError(error.code, f"{name}: {error}") from None
    except ValueError:  # an integer of thousands of digits
        raise ReleaseError("not-json", f"{name} holds a number no release can hold.") from None
    if not isinstance(body, dict) or "format" not in body:
        raise ReleaseError("not-a-release", f"{name} is JSON but no release: it does not state a format.")
    if body["format"] != FORMAT:
        raise ReleaseError(
            "other-format", f"{name} is not of the format {FORMAT!r}. Was it written by another version of Shoal?"
        )
    return body


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        raise ReleaseError("key-twice", "an object names a key twice.")
    return entry


def _no_constant(word: str) -> NoReturn:
    raise ReleaseError("not-finite", f"{word} is not a number of a release.")
