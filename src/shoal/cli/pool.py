# SPDX-License-Identifier: Apache-2.0
"""``shoal pool``: one model from what several owners published."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import output
from shoal.cli.options import Json, Usage
from shoal.cli.things import open_release

if TYPE_CHECKING:
    from shoal.release import TreeRelease

PROMISE = (
    "The joint model is a function of these files, so it tells nothing that they do not tell and needs no further "
    "check. A person at several owners is in several of them: what those tell together may be more than each may tell, "
    "and nobody can see that from outside."
)


class Learner(StrEnum):
    """What is learned from the owners' files."""

    tree = "tree"
    bayes = "bayes"
    rules = "rules"
    boosting = "boosting"
    bag = "bag"
    vote = "vote"


def pool(
    files: Annotated[list[Path], typer.Argument(metavar="OWNER", help="What each owner published: a file an owner.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the joint model to this file.")
    ] = None,
    learn: Annotated[
        Learner,
        typer.Option(
            metavar="tree|bayes|rules|boosting|bag|vote",
            help="Learn from pseudo-data; or ask the owners' trees, averaging their shares (bag) or their answers "
            "(vote). The bag was the most accurate where we measured.",
        ),
    ] = Learner.tree,
    rows: Annotated[
        int | None, typer.Option(metavar="N", help="Pseudo-rows to learn from; otherwise as many as people.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="What the pseudo-rows are drawn with.")] = 0,
    widen: Annotated[
        bool, typer.Option("--widen", help="Accept that owners declare different values or bounds: take the widest.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Learn one model from what several owners published.

    Checks that the files are about the same columns and says where they differ, compares the owners, weights them by
    their people, and learns. The file it writes holds the owners' files and how to learn from them; the model is
    learned again wherever it is used.
    """
    from shoal.release.joint import check_audited

    output.check_outputs([out], files)
    names = owner_names(files)
    owners: dict[str, TreeRelease] = {}
    with output.busy("Reading"):
        for name, path in zip(names, files, strict=True):
            release = open_release(path, "pool")
            if release.kind != "tree":
                raise Usage(f"shoal pool takes releases of kind tree; {str(path)!r} is of kind {release.kind}.")
            owners[name] = release
        check_audited(owners)
        from shoal.share import compare_owners, disagreements  # a second or two, once it is clear that files are good
        from shoal.share import pool as join
    with output.busy("Learning"):
        joint = join(owners, learn.value, n_rows=rows, seed=seed, widen=widen)
        compared = compare_owners(owners, seed=seed, widen=widen)
        _ = joint.model_  # so that whatever is wrong is said now
    differ = disagreements(owners)
    if out is not None:
        joint.recipe.save(out)
        output.written.append(str(out))
    if as_json:
        output.say_json(
            {
                "target": joint.target,
                "learner": learn.value,
                "people": joint.recipe.n_people,
                "rows": None if joint.model_ is None else joint.recipe.n_rows or joint.recipe.n_people,
                "owners": compared.to_json(),
                "disagreements": [
                    {"column": each.column, "severity": each.severity, "message": each.message} for each in differ
                ],
                "outliers": list(compared.outliers),
                "promise": PROMISE,
                "written": output.written,
            }
        )
        return
    several = f"{len(owners)} owners" if len(owners) > 1 else "1 owner"
    output.say(f"{joint.target!r} from {several}, {joint.recipe.n_people:,} people ({learn.value})")
    output.say(str(compared))
    for each in differ:
        output.say(str(each), "yellow")
    output.say(PROMISE)
    for written in output.written:
        output.say(f"wrote {written}")


def owner_names(files: list[Path]) -> list[str]:
    """What to call owners: by their files, by the folder where two files are called the same, else by whole paths.

    >>> owner_names([Path("north/owner.json"), Path("south/owner.json"), Path("west.json")])
    ['north', 'south', 'west']
    """
    stems = Counter(path.stem for path in files)
    names = [path.stem if stems[path.stem] == 1 else path.absolute().parent.name for path in files]
    if len(set(names)) < len(files):
        names = [str(path) for path in files]
    if len(set(names)) < len(files):
        raise Usage("A file is named twice; every owner counts once.")
    return names
