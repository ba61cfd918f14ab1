# SPDX-License-Identifier: Apache-2.0
"""What to try next: for every kind of finding what helps against it, most useful first."""

from __future__ import annotations

from shoal.audit import Audit
from shoal.audit.telling import ColumnRanking
from shoal.release import TreeRelease
from shoal.report.words import NOT_OF_THE_ROWS, Audited, Released, is_bound, least_k, listed

BY_CODE = {
    "outside-domain": "Declare the domain of these columns as it is: values that do occur cannot be impossible.",
    "public-input": "Give the model this column by its group, or make it private, and fit again.",
    "centroid-of-few": "Ask for fewer clusters, or leave these out: a centroid of few people is their values.",
    "rule-certain": "Leave out the rules that never fail, or state their confidence no more exactly than above 95 %.",
    "items-unknown": "Check that these are the transactions the rules were mined from, and how items are written.",
    "partal-fails": "Take fewer or coarser columns into each projection, or claim a lower level.",
    "class-certain-together": "If the class is a secret, ask the search to leave everybody's class open, or publish a "
    "k-anonymous table.",
    "stores-rows": "Fit a model that keeps none of its rows. Nearest neighbours and kernel machines keep theirs.",
}


def advice(release: Audited, audit: Audit, tree: TreeRelease | None, ranking: ColumnRanking | None) -> list[str]:
    """What to try next; nothing where the audit holds without a warning."""
    codes = {finding.code for finding in audit.findings}
    said: list[str] = []
    if codes & NOT_OF_THE_ROWS:
        said.append(
            "Check that these are the very rows the release was learned from, read the same way. If they "
            "are, the file was changed: take the original, or mine again."
        )
    said += [text for code, text in BY_CODE.items() if code in codes]
    if codes & {"group-fails", "requirement-fails"}:
        said += _again(release, audit) + _coarser(audit, tree, ranking) + _less(audit)
    if codes & {"target-certain", "value-certain"} and audit.about is not None:
        said.append(
            f"Some groups are all of one {audit.about!r}. If that is a secret, ask for mixed groups as "
            f"well: {_mixed(audit)} (on the command line, --confidence 0.95)."
        )
    return said


def _again(release: Audited, audit: Audit) -> list[str]:
    if isinstance(release, Released):
        return ["Mine again with the requirement that is asked for here: Shoal makes no split that breaks it."]
    if is_bound(audit):
        return [
            "Fit the same kind of model over groups of people, with AnonymousModel, which keeps the promise whatever "
            "the model does. Or mine a tree, with shoal tree.",
            "Or have groups counted exactly: a tree, a forest, a boosted model or a clustering from a known library, "
            "with encodings that take one column each, is read in full.",
        ]
    return [
        "Repair it: of a tree or a forest shoal repair merges as few leaves as are needed, says what that costs in "
        "accuracy, and writes a release. Or mine one that keeps the promise from the start, with shoal tree."
    ]


def _coarser(audit: Audit, tree: TreeRelease | None, ranking: ColumnRanking | None) -> list[str]:
    said = []
    guilty = sorted({n for finding in audit.findings if finding.code == "group-fails" for n in finding.nodes})
    if guilty and tree is not None:
        asked = list(dict.fromkeys(str(tree.nodes[n].attribute) for n in guilty))
        said.append(
            f"Or undo the splits that set these groups apart: node{'s' if len(guilty) > 1 else ''} "
            f"{listed(map(str, guilty))}. They ask for {listed(asked)}; a coarser hierarchy there helps."
        )
    telling = [] if ranking is None else [each.column for each in ranking.public if each.more_at_risk > 0]
    if telling:
        said.append(
            f"Or leave out {telling[0]!r}, or use coarser values of it: of the public columns it puts most people at "
            "risk."
        )
    elif not guilty:
        seen = [column.name for column in audit.columns if column.role == "public" and column.use == "asked"]
        if seen:
            said.append(
                f"Or use coarser values of the public columns ({listed(seen)}), or leave one of them out; shoal audit "
                "--columns says which tells most."
            )
    return said


def _less(audit: Audit) -> list[str]:
    if least_k(audit) is None or audit.smallest_group is None or audit.smallest_group < 2:
        return []
    return [
        f"Or claim less. Group sizes alone would bear k = {audit.smallest_group:,}; whether that is "
        "enough is not for a program to say."
    ]


def _mixed(audit: Audit) -> str:
    k = least_k(audit)
    return "Confidence(0.95)" if k is None else f"KAnonymity({k}) & Confidence(0.95)"
