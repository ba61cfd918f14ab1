# SPDX-License-Identifier: Apache-2.0
"""Tian et al. (2012), Fig. 8 with Examples 19 and 20: the pseudo-data of one path of Fig. 3."""

from __future__ import annotations

import numpy as np

from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.tian_pruning import fig3
from shoal.papers.worked.tian_tree import CLASSES
from shoal.share import paths_of, pseudo_data

SEED = 0
MORE = 1000  # times as many rows, to see how values are spread


@worked("tian-fig8")
def pseudo_rows() -> Numbers:
    """The template of the path A = a1, B = b4 or b5, and its rows."""
    release = fig3()
    paths = paths_of(release)
    number = next(i for i, path in enumerate(paths) if "B" in path.box and path.box["B"].values == ("b4", "b5"))
    box = paths[number].box
    made = pseudo_data(release, classes="hits", random_state=SEED)
    rows = made.table.take(made.path == number)
    reached = np.bincount(release.apply(made.table), minlength=len(release.nodes))[list(release.leaves)]
    many = pseudo_data(release, MORE * made.table.n_rows, classes="hits", random_state=SEED)
    spread = {name: many.table[name].take(many.path == number).counts() for name in "BCD"}
    shares = {name: 100 * counts[counts > 0] / counts.sum() for name, counts in spread.items()}
    return {
        "template, values of A": len(box["A"].values),
        "template, values of B": len(box["B"].values),
        "template, columns left open": sum(name not in box for name in "ABCD"),
        "rows": rows.n_rows,
        **{f"rows of {name}": int(n) for name, n in zip(CLASSES, rows["class"].counts(), strict=True)},
        "values of A": len(np.unique(rows["A"].codes)),
        **{f"values of {name}, of {MORE} times as many rows": len(shares[name]) for name in "BCD"},
        **{
            f"values of {name}, farthest from an even share, points": float(np.abs(own - 100 / len(own)).max())
            for name, own in shares.items()
        },
        "paths with other rows than people": int((reached != [sum(path.counts) for path in paths]).sum()),
    }
