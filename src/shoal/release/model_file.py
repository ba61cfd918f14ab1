# SPDX-License-Identifier: Apache-2.0
"""The file of a fitted model beside its release: skops, never pickle, and only types that are known to be harmless."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import PromiseError, ReleaseError

MAX_MODEL_BYTES = 512 * 1024 * 1024
MOST_PARTS = 5_000_000
NAME = re.compile(r"\w[\w .()+-]{0,199}")

# types of scikit-learn that skops does not trust by itself; each only holds numbers. Exact names, for a prefix would
# let in functions too
KNOWN_TYPES = frozenset(
    {
        "numpy.dtype",
        "sklearn._loss.loss.HalfTweedieLossIdentity",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
    }
)

# models that learn by keeping rows, and what such rows are called in a fitted model
KEEPING = re.compile(
    r"(KNeighbors|RadiusNeighbors|GaussianProcess|LabelPropagation|LabelSpreading|KernelRidge|KernelPCA|KernelDensity|"
    r"NearestNeighbors|KNNImputer|LocalOutlierFactor|Nystroem|OneClassSVM|KDTree|BallTree|AffinityPropagation)\w*|"
    r"(Nu)?SV[CR]"
)
PER_ROUND = frozenset(
    {
        "train_score_",
        "validation_score_",
        "loss_curve_",
        "estimator_weights_",
        "estimator_errors_",
        "oob_improvement_",
        "oob_scores_",
    }
)
KEPT = frozenset({"_fit_X", "X_fit_", "X_train_", "support_vectors_", "component_indices_"})


def dump_model(model: Any) -> bytes:
    """A fitted model as the bytes of a skops file: the same model, the same bytes."""
    io_ = _skops()
    try:
        raw = _canonical(io_.dumps(model, compression=zipfile.ZIP_DEFLATED))
    except Exception:  # skops raises whatever a part of the model raises
        raise PromiseError(
            "unknown-model",
            f"{type(model).__name__} cannot be written as a skops file, so it cannot be published with private "
            "columns. Try a model of scikit-learn, or make every column public.",
        ) from None
    strange = sorted(set(io_.get_untrusted_types(data=raw)) - KNOWN_TYPES)
    if strange:
        raise PromiseError(
            "unknown-model",
            f"{type(model).__name__} holds types that a release may not: {', '.join(strange[:3])}. "
            "Try a model of scikit-learn, or make every column public.",
        )
    return raw


def load_model(raw: bytes) -> Any:
    """The model in the bytes of a skops file; one with a type that is not known is refused before it is built."""
    io_ = _skops()
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as parts:
            if sum(part.file_size for part in parts.infolist()) > MAX_MODEL_BYTES:
                raise ReleaseError("too-large", f"The model takes more than {MAX_MODEL_BYTES:,} bytes unpacked.")
        strange = sorted(set(io_.get_untrusted_types(data=raw)) - KNOWN_TYPES)
        if strange:
            raise ReleaseError(
                "unknown-types", f"The model holds {len(strange)} type(s) that a release may not; it is not loaded."
            )
        model = io_.loads(raw, trusted=sorted(KNOWN_TYPES))
        _check_trees(model)
    except ReleaseError:
        raise
    except Exception:  # a hostile file can make skops and the types it builds raise anything
        raise ReleaseError("model-file", "The model's file is broken: skops cannot read it.") from None
    if not callable(getattr(model, "predict", None)):
        raise ReleaseError("model-file", "The model's file holds no model that predicts.")
    return model


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise ReleaseError(
            "no-skops",
            "A model that takes private columns is published as a skops file, and skops is not installed. "
            "Try: pip install shoal[models]",
        ) from None
    return skops.io


def _canonical(raw: bytes) -> bytes:
    """The same file without what differs between two runs: addresses in memory, random names, the time of day."""
    ids: dict[int, int] = {}
    files: dict[str, str] = {}

    def rename(entry: dict[str, Any]) -> dict[str, Any]:
        if isinstance(entry.get("__id__"), int):
            entry["__id__"] = ids.setdefault(entry["__id__"], len(ids) + 1)
        if isinstance(entry.get("file"), str):
            suffix = Path(entry["file"]).suffix
            entry["file"] = files.setdefault(entry["file"], f"{len(files) + 1}{suffix}")
        return entry

    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w") as new:
        schema = json.loads(old.read("schema.json"), object_hook=rename)
        bodies = {new_name: old.read(old_name) for old_name, new_name in files.items()}
        bodies["schema.json"] = json.dumps(schema).encode()
        for name, body in bodies.items():
            new.writestr(zipfile.ZipInfo(name), body, compress_type=zipfile.ZIP_DEFLATED)
    return out.getvalue()


# -------------------------------------------------------------------- what is inside


def parts_inside(model: Any) -> Iterator[tuple[str, Any]]:
    """Everything a model holds, however deep, with the name it is held by."""
    seen: set[int] = set()
    stack: list[tuple[str, Any]] = [("", model)]
    while stack:
        name, part = stack.pop()
        if id(part) in seen or isinstance(part, (type, str, bytes, int, float, type(None))):
            continue
        seen.add(id(part))
        if len(seen) > MOST_PARTS:
            raise ReleaseError("too-large", f"The model has more than {MOST_PARTS:,} parts.")
        yield name, part
        if isinstance(part, dict):
            stack.extend((str(key), value) for key, value in part.items())
        elif isinstance(part, (list, tuple)) or (isinstance(part, np.ndarray) and part.dtype == object):
            stack.extend((name, value) for value in (part.ravel() if isinstance(part, np.ndarray) else part))
        elif hasattr(part, "__dict__"):
            stack.extend(vars(part).items())


def keeps_rows(model: Any, n_people: int | None = None) -> str | None:
    """What in a model holds rows it was fitted on, in words; None where nothing does.

    With `n_people`, an array with one entry a person counts too.
    """
    for name, part in parts_inside(model):
        if any(KEEPING.fullmatch(each.__name__) for each in type(part).__mro__):
            return type(part).__name__
        if name in KEPT and (isinstance(part, np.ndarray) or hasattr(part, "shape")):
            return repr(name)
        if n_people is not None and name not in PER_ROUND and _one_a_person(part, n_people):
            return f"{name!r}, with one entry a person"
    return None


def _one_a_person(part: Any, n_people: int) -> bool:
    shape = getattr(part, "shape", ())
    # few people are easily as many as something else is
    return bool(n_people > 20 and isinstance(shape, tuple) and shape and shape[0] == n_people and not _is_nodes(part))


def _is_nodes(part: Any) -> bool:
    return isinstance(part, np.ndarray) and (part.dtype == object or part.dtype.names is not None)


def _check_trees(model: Any) -> None:
    """Compiled code follows the trees of a model without looking: every step must lead down, and to a node."""
    for _, part in parts_inside(model):
        if type(part).__name__ == "Tree":
            _check_ways(part.children_left, part.children_right, part.children_left < 0, part.feature, part.n_features)
            continue
        held = getattr(part, "__dict__", {})
        if "tree_" in held:
            _check_same(held["tree_"].n_features, part.n_features_in_)
        if type(part).__name__.startswith("GradientBoosting"):  # it goes past its own trees' checks
            _check_same({each.tree_.n_features for each in part.estimators_.ravel()}, {part.n_features_in_})
        for each in np.ravel(np.array(held.get("_predictors", []), dtype=object)):
            nodes = each.nodes
            _check_ways(nodes["left"], nodes["right"], nodes["is_leaf"] > 0, nodes["feature_idx"], part.n_features_in_)
            _check_same(bool(nodes["is_categorical"].any()), False)


def _check_ways(left: Any, right: Any, ends: Any, feature: Any, width: Any) -> None:
    own = np.arange(len(left))
    good = (left > own) & (right > own) & (left < len(own)) & (right < len(own)) & (feature >= 0) & (feature < width)
    if not (good | ends).all() or not len(own):
        raise ReleaseError("model-file", "The model's file is broken: a tree in it is no tree.")


def _check_same(found: Any, needed: Any) -> None:
    if found != needed:
        raise ReleaseError("model-file", "The model's file is broken: its parts do not fit each other.")


# -------------------------------------------------------------------- on disk


def check_model_name(name: str) -> str:
    """The name of a file beside the release: a plain name, never a way to some other folder."""
    if not NAME.fullmatch(name) or name.endswith((".", " ")):
        raise ReleaseError(
            "model-file", "The model's file must have a plain name, without a folder: it stands beside the release."
        )
    return name


def read_model_file(path: Path, sha256: str) -> bytes:
    """The bytes of the file that a release names; one that is missing or changed is refused."""
    shown = repr(path.name)
    try:
        if not path.is_file():
            raise ReleaseError(
                "model-file", f"Its model is not there: no file {shown} beside the release. Keep the two together."
            )
        size = path.stat().st_size
        if size > MAX_MODEL_BYTES:
            raise ReleaseError("too-large", f"{shown} has {size:,} bytes; at most {MAX_MODEL_BYTES:,} are read.")
        raw = path.read_bytes()
    except OSError as error:
        raise ReleaseError("cannot-read", f"Cannot read {shown}: {error.strerror}.") from None
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise ReleaseError("model-file", f"{shown} is not the file this release was written with: its SHA-256 differs.")
    return raw
