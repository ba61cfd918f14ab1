# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON and, where there is one, the file beside it to a `ModelRelease`: every statement is checked.

A fitted model is only read here, not built: that happens when it is first asked, and then by known types alone.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.release import checks
from shoal.release.model import ModelRelease
from shoal.release.model_file import check_model_name, read_model_file
from shoal.release.model_inputs import class_intervals
from shoal.release.parse import parse_tree, parse_verdict
from shoal.release.tree import TreeRelease

_KEYS = {"format", "kind", "task", "target", "model", "groups"}
CLOSE = 1e-3  # shares are rounded where they are written


def parse_model(body: dict[str, Any], folder: Path) -> ModelRelease:
    """Build the release that a JSON body and its file describe, or say what is wrong and where."""
    checks.keys(body, "release", _KEYS, {"cuts", "table", "files", "audit"})
    if not isinstance(body["groups"], dict) or {"audit", "marginals"} & set(body["groups"]):
        checks.refuse("groups", "must be a tree, without an audit or marginals of its own")
    checks.keys(body["groups"], "groups", {"format", "kind"}, set(body["groups"]))
    if body["groups"]["kind"] != "tree" or body["groups"]["format"] != body["format"]:
        checks.refuse("groups", "must be a tree of the same format")
    groups = parse_tree(body["groups"])
    if groups.statement != "counts":
        checks.refuse("groups", "must state counts")
    if checks.text(body["target"], "target") != groups.target:
        checks.refuse("target", "must be the target of the groups")
    checks.keys(body["model"], "model", {"name", "library", "inputs"}, ())
    inputs = _inputs(body["model"]["inputs"], groups)
    made: dict[str, Any] = {
        "groups": groups,
        "model": checks.text(body["model"]["name"], "model.name"),
        "library": checks.text(body["model"]["library"], "model.library"),
        "inputs": inputs,
        "cuts": _cuts(body, groups),
        "verdict": parse_verdict(body.get("audit")),
    }
    if ("table" in body) == ("files" in body) or ("files" in body) != bool(inputs):
        checks.refuse("release", "must have a table where the model has no inputs, and files where it has some")
    if inputs:
        return ModelRelease(**made, file=_file(body["files"], folder))
    bare = ModelRelease(**made)
    predictions, shares = _table(body["table"], bare)
    return ModelRelease(**made, predictions=predictions, shares=shares)


def _inputs(entry: Any, groups: TreeRelease) -> tuple[str, ...]:
    if entry == []:
        return ()
    names = checks.texts(entry, "model.inputs", checks.MAX_ATTRIBUTES)
    known = {attribute.name for attribute in groups.attributes} - {groups.target}
    if len(set(names)) < len(names) or not set(names) <= known:
        checks.refuse("model.inputs", "must name attributes of the groups other than the target, each once")
    return names


def _cuts(body: dict[str, Any], groups: TreeRelease) -> tuple[float, ...] | None:
    task = checks.text(body["task"], "task")
    if task not in ("classification", "regression") or ("cuts" in body) != (task == "regression"):
        checks.refuse("task", "must be 'classification', or 'regression' with cuts")
    if "cuts" not in body:
        return None
    cuts = tuple(checks.number(cut, "cuts") for cut in checks.items(body["cuts"], "cuts", checks.MAX_VALUES))
    if any(low >= high for low, high in pairwise(cuts)):
        checks.refuse("cuts", "must ascend")
    if class_intervals(cuts) != groups.classes:
        checks.refuse("cuts", "must make the classes that the groups count")
    return cuts


def _table(entry: Any, release: ModelRelease) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    rows = checks.items(entry, "table", checks.MAX_NODES)
    leaves, people = release.told.leaves.tolist(), release.told.people.tolist()
    if len(rows) != len(leaves):
        checks.refuse("table", "must have one entry for each leaf that somebody is in")
    numbers = release.cuts is not None
    place = {value: i for i, value in enumerate(release.classes)}
    predictions: list[Any] = []
    shares: list[list[float]] = []
    for i, row in enumerate(rows):
        at = f"table[{i}]"
        checks.keys(row, at, {"node", "people", "predict"}, () if numbers else {"shares"})
        if (
            checks.count(row["node"], f"{at}.node") != leaves[i]
            or checks.count(row["people"], f"{at}.people") != people[i]
        ):
            checks.refuse(at, "must be of the next leaf that somebody is in, with its people")
        if numbers:
            predictions.append(checks.number(row["predict"], f"{at}.predict"))
            continue
        if checks.text(row["predict"], f"{at}.predict") not in place:
            checks.refuse(f"{at}.predict", "must be a class")
        predictions.append(place[row["predict"]])
        if "shares" in row:
            shares.append(_shares(row["shares"], f"{at}.shares", release))
    if shares and len(shares) < len(rows):
        checks.refuse("table", "must have shares in every entry or in none")
    return np.array(predictions), np.array(shares) if shares else None


def _shares(entry: Any, at: str, release: ModelRelease) -> list[float]:
    checks.keys(entry, at, release.classes, ())
    found = [checks.number(entry[value], at) for value in release.classes]
    if min(found) < 0 or abs(sum(found) - 1) > CLOSE:
        checks.refuse(at, "must not be negative and must add up to 1")
    return found


def _file(entry: Any, folder: Path) -> bytes:
    files = checks.items(entry, "files", 1)
    checks.keys(files[0], "files[0]", {"name", "sha256"}, ())
    name, sha256 = (checks.text(files[0][key], f"files[0].{key}") for key in ("name", "sha256"))
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        checks.refuse("files[0].sha256", "must be 64 hexadecimal digits")
    return read_model_file(folder / check_model_name(name), sha256)
