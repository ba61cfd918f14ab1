# SPDX-License-Identifier: Apache-2.0
"""Files of models that somebody else saved. What a file is, its content says; its name is not believed.

Nothing that a file holds is run. A pickle runs what it holds, so it is loaded only for those who trust it.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import os
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any, NoReturn

from shoal.audit.foreign import dumps
from shoal.audit.foreign.j48 import J48Model
from shoal.audit.foreign.j48_text import BEGINS as J48_BEGINS
from shoal.audit.foreign.lightgbm import LightGBMModel
from shoal.audit.foreign.xgboost import XGBoostModel
from shoal.errors import ReleaseError, ShoalError
from shoal.release.model_file import MAX_MODEL_BYTES
from shoal.release.model_file import load_model as load_skops

TAKEN = (
    "Shoal reads its own releases, skops files of scikit-learn models, LightGBM's text (Booster.save_model), "
    "XGBoost's JSON (save_model('model.json')) and what Weka prints of a J48 tree"
)
HEAD = 4096
# a pickle of today begins with its version, an old one with the first thing it builds
PICKLE = re.compile(rb"\x80[\x02-\x05]|\(?[dl]p\d|[\]}]q\x00|c[\w.]+\n\w+\n([pq()]|\Z)")
LZ4 = b"\x04\x22\x4d\x18"
OTHERS = [
    (rb"\{[iUIlL]", "is XGBoost's binary JSON (UBJSON). Save it as text with save_model('model.json')"),
    (rb"binf", "is in XGBoost's old binary form. Save it as text with save_model('model.json')"),
    (rb"booster\[\d+\]:|\s*\[\s*\{\s*\"nodeid\"", "is what XGBoost's dump_model shows, not the model"),
    (rb"\x08[\x00-\x20]\x12", "looks like an ONNX model, which does not say what its columns are"),
    (rb"\x89HDF", "is an HDF5 file, as Keras writes it"),
    (rb"CBM1", "is a CatBoost model"),
    (rb"\s*<", "looks like XML, perhaps PMML"),
]


def load_model(path: str | os.PathLike[str], *, trust_pickle: bool = False) -> Any:
    """Load a model from a file, without running anything that the file holds.

    Parameters
    ----------
    path
        A release of Shoal, a skops file of a scikit-learn model, the text that LightGBM's `Booster.save_model` writes,
        the JSON that XGBoost's `save_model("model.json")` writes, or what Weka prints of a J48 tree. Which of them it
        is, its content says.
    trust_pickle
        Whether a pickle or joblib file may be loaded. Loading one runs whatever its author put into it, with all that
        you may do on this machine: say so only of a file that you made yourself and that nobody could change since.

    Returns
    -------
    object
        A release, a fitted model, a `LightGBMModel`, an `XGBoostModel` or a `J48Model`: all are what `audit` takes.

    Examples
    --------
    >>> import os, tempfile
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> tree = AnonymousTreeClassifier(privacy=50).fit(load_sample().table, "diabetes")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tree.json")
    ...     tree.release_.save(path)
    ...     type(load_model(path)).__name__
    'TreeRelease'
    """
    path = Path(path)
    raw, shown = _read(path), repr(path.name)
    try:
        return _load(path, raw, shown, trust_pickle)
    except ShoalError as error:
        if shown in str(error) or str(path) in str(error):
            raise
        raise type(error)(error.code, f"{shown}: {error}") from None


def _read(path: Path) -> bytes:
    shown = repr(path.name)
    try:
        if path.exists() and not path.is_file():
            raise ReleaseError("not-a-file", f"{shown} is not a file.")
        size = path.stat().st_size
        if size > MAX_MODEL_BYTES:
            raise ReleaseError("too-large", f"{shown} has {size:,} bytes; at most {MAX_MODEL_BYTES:,} are read.")
        raw = path.read_bytes()
    except OSError as error:
        raise ReleaseError("cannot-read", f"Cannot read {shown}: {error.strerror}.") from None
    if not raw:
        raise ReleaseError("unknown-file", f"{shown} is empty.")
    return raw


def _load(path: Path, raw: bytes, shown: str, trust_pickle: bool) -> Any:
    text = raw.removeprefix(b"\xef\xbb\xbf")
    if raw.startswith(b"PK\x03\x04"):
        return _from_zip(raw, shown)
    if raw.startswith(LZ4) or PICKLE.match(raw) or PICKLE.match(_unpacked(raw)):  # LZ4 cannot be looked into
        return _unpickle(path, shown) if trust_pickle else _refuse_pickle(shown)
    if re.match(rb"tree\r?\n", text):
        return LightGBMModel(_decode(text))
    if J48_BEGINS.search(text[:HEAD]):
        return J48Model(_decode(text))
    if re.match(rb"\s*\{\s*\"", text):
        return _from_json(path, text, shown)
    known = (what for start, what in OTHERS if re.match(start, text))
    return _refuse(f"{shown} {next(known, 'is no file of a model that is known here')}")


def _refuse(why: str) -> NoReturn:
    raise ReleaseError("unknown-file", f"{why}. {TAKEN}.")


def _from_zip(raw: bytes, shown: str) -> Any:
    """The model of a skops file; no other zip file is one."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as parts:
            known = "schema.json" in parts.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
        raise ReleaseError("model-file", f"{shown} is a broken zip file. Was it cut off on the way?") from None
    if not known:
        _refuse(f"{shown} is a zip file, but none of skops; perhaps of PyTorch, Keras or NumPy")
    try:
        return load_skops(raw)
    except ReleaseError as error:
        if error.code != "unknown-types":
            raise
        raise ReleaseError(
            "unknown-types",
            f"{shown} holds types besides those of scikit-learn that are known to hold numbers only, so it was not "
            "loaded. Save the fitted estimator alone, without functions and without the search that found it; models "
            "of LightGBM and XGBoost with their own save_model.",
        ) from None


def _from_json(path: Path, text: bytes, shown: str) -> Any:
    """One of the two kinds of JSON that are models, known by what stands at its top."""
    dumps.check_size(text)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        dumps.refuse("it is no complete JSON")
    if "format" in body:
        from shoal.release import load

        return load(path)
    if "learner" in body:
        return XGBoostModel(body)
    if "tree_info" in body:
        _refuse(f"{shown} is what LightGBM's dump_model shows, not the model")
    _refuse(f"{shown} is JSON, but of no model")


def _decode(text: bytes) -> str:
    dumps.check_size(text)
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        dumps.refuse("it is not UTF-8 text")


# -------------------------------------------------------------------- pickles


def _unpacked(raw: bytes) -> bytes:
    """The first bytes of what joblib may have packed; nothing where it is not packed."""
    head = raw[:HEAD]
    try:
        if head.startswith(b"BZh"):  # a whole block is needed to see its first byte
            return bz2.BZ2Decompressor().decompress(raw, HEAD)
        if head.startswith((b"\xfd7zXZ", b"\x5d\x00\x00")):
            return lzma.LZMADecompressor().decompress(raw, HEAD)
        return zlib.decompressobj(wbits=47).decompress(head, HEAD)  # of zlib or gzip
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
        return b""


def _refuse_pickle(shown: str) -> NoReturn:
    raise ReleaseError(
        "pickle",
        f"{shown} is a pickle (as pickle, joblib and cloudpickle write them). Loading it would run whatever its author "
        "put into it, with all your rights, before anything could be checked; so it was not loaded. Where the model "
        "was trained, save it anew: skops.io.dump(model, 'model.skops') for scikit-learn, save_model for LightGBM and "
        "XGBoost. If you made the file yourself and nobody could change it since: trust_pickle=True (--trust-pickle).",
    )


def _unpickle(path: Path, shown: str) -> Any:
    import joblib  # type: ignore[import-untyped]

    try:
        model = joblib.load(path)
    except ImportError as error:
        needed = f": {error.name!r} is not installed" if error.name else ""
        raise ReleaseError("model-file", f"{shown} cannot be loaded here{needed}.") from None
    except Exception:  # a pickle can raise anything
        raise ReleaseError("model-file", f"{shown} is a broken pickle, or one of another version.") from None
    if isinstance(model, type) or not any(hasattr(model, name) for name in ("predict", "transform", "release_")):
        raise ReleaseError("model-file", f"{shown} holds no model that predicts or transforms.")
    return model
