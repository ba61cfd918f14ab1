# SPDX-License-Identifier: Apache-2.0
"""A released model for the eye."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.release.domain import plain
from shoal.release.show import headline, leaf_text

if TYPE_CHECKING:
    from shoal.release.model import ModelRelease

SHOWN = 200  # groups in the text


def model_text(release: ModelRelease) -> str:
    """What was fitted, on what, and one line a group."""
    taken = f"{', '.join(release.inputs)} and " if release.inputs else ""
    lines = [f"{release.model} on {taken}the groups of", headline(release.groups)]
    paths, people, answers = by_group(release)
    for path, n, answer in list(zip(paths, people, answers, strict=True))[:SHOWN]:
        lines.append(f"{'everybody' if path == 'the root' else path}: {n:,} people, {answer}")
    if len(paths) > SHOWN:
        lines.append(f"… {len(paths) - SHOWN:,} more groups")
    return "\n".join(lines)


def by_group(release: ModelRelease) -> tuple[list[str], list[int], list[str]]:
    """For each group its path in words, its people, and what is answered or, where inputs decide, who is in it."""
    leaves = release.told.leaves.tolist()
    if release.predictions is None:
        answers = [leaf_text(release.groups, leaf) for leaf in leaves]
    elif release.cuts is not None:
        answers = [f"{plain(number)}" for number in release.predictions.tolist()]
    else:
        answers = [release.classes[i] for i in release.predictions.tolist()]
        if release.shares is not None:
            top = release.shares[np.arange(len(answers)), release.predictions]
            answers = [f"{answer} ({share:.1%})" for answer, share in zip(answers, top.tolist(), strict=True)]
    return [release.groups.describe_node(leaf) for leaf in leaves], release.told.people.tolist(), answers
