# SPDX-License-Identifier: Apache-2.0
"""What a report says: the verdict, the attacker, what he learns, what to try, what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shoal.audit import Audit
from shoal.release import Attribute, TreeRelease

SHOWN_VALUES = 12

NOT_OF_THE_ROWS = {"counts-differ", "shares-differ", "predictions-differ"}
STATED = {
    "counts": "the count of every bin",
    "shares": "the shares of the classes in every leaf",
    "majority": "the class that every leaf predicts",
}

LIMITS = (
    (
        "A group that agrees has no secret.",
        "If all people of a group have the same value, the group's size does not hide it. Only a requirement "
        "about values, such as Confidence, does.",
    ),
    (
        "One release at a time.",
        "Two releases of the same people, each safe alone, can give somebody away together. This audit saw one.",
    ),
    (
        "The attacker is the one described here.",
        "He knows the public columns and nothing private. Somebody who knows private values of some people, "
        "or facts that rule out combinations of the declared domain, can tell more.",
    ),
)
ROWS = ("Rows are taken for people.", "If a person has several rows, k rows are not k people.")
SEVERAL_ROWS = (
    "One row at a time.",
    "People have several rows each, and different people were counted. Somebody who knows that several rows are the "
    "same person's can put together what each of them tells.",
)


def limits(audit: Audit) -> tuple[tuple[str, str], ...]:
    """What the promise leaves out, each as a headline and a text."""
    return (*LIMITS, ROWS if audit.unit == "rows" else SEVERAL_ROWS)


def number(count: int, one: str, many: str) -> str:
    """A count with its noun: 1 group, 2 groups."""
    return f"{count:,} {one if count == 1 else many}"


def listed(names: Iterable[str]) -> str:
    """Names as people list them: a, b and c."""
    names = list(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def least_k(audit: Audit) -> int | None:
    """The largest k that is asked for, if any."""
    asked = [claim["k"] for claim in audit.claims if claim.get("requirement") == "k-anonymity"]
    return max(asked) if asked else None


def verdict_line(audit: Audit) -> str:
    """What the verdict means, in a sentence."""
    if audit.holds:
        return "Every group keeps what is claimed, and what is released of the leaves is true of the rows."
    people = max((finding.people for finding in audit.findings if finding.severity == "breach"), default=0)
    codes = {finding.code for finding in audit.findings if finding.severity == "breach"}
    if codes <= NOT_OF_THE_ROWS:
        return "What is released is not true of the rows. Nothing can be promised about this release."
    return f"The claim fails for {number(people, 'person', 'people')}. Do not publish this release."


def asked_of_other(release: TreeRelease, audit: Audit) -> str:
    """A sentence where the audit asked for something else than the release claims; else nothing."""
    if tuple(audit.claims) == tuple(release.claims):
        return ""
    own = "; ".join(claim_text(claim) for claim in release.claims)
    return f"The auditor asked for this instead of what the release itself claims ({own})."


def claim_text(claim: Mapping[str, Any]) -> str:
    """A claim as its name and parameters, short."""
    if claim.get("requirement") == "stated":
        return str(claim.get("text"))
    given = {key: value for key, value in claim.items() if isinstance(value, (int, float, str))}
    name = given.pop("requirement", "a requirement")
    return f"{name} with " + ", ".join(f"{key} = {value}" for key, value in given.items())


def attacker(release: TreeRelease, audit: Audit) -> list[str]:
    """Who the attacker is, in paragraphs."""
    names = [*(attribute.name for attribute in release.attributes), *release.unused]
    known = [name for name in names if name in audit.public]
    unknown = [name for name in names if name not in audit.public]
    said = [
        f"He knows, of everybody in the table: {listed(known)}." if known else "He knows no column of it.",
        f"He does not know: {listed(unknown)}." if unknown else "There is no column that he does not know.",
        f"He also has this release, with {STATED[release.statement]}, knows the declared domain of every column "
        "and how the release was made, and knows who is in the table.",
    ]
    stated = set(release.public)
    more, less = sorted(set(audit.public) - stated), sorted(stated - set(audit.public))
    if more:
        said.append(f"The auditor took {listed(more)} as public, though the release says private.")
    if less:
        said.append(f"The auditor took {listed(less)} as private, though the release says public.")
    return said


def knowledge(release: TreeRelease, audit: Audit) -> tuple[str, str]:
    """What the attacker knows for certain: a headline, and how to read it."""
    if audit.exposed is None or audit.highest_confidence is None:
        return "nothing new", f"The target {release.target!r} is public: there is nothing to learn about it."
    bound = "" if audit.exact else "at most "
    share = f"{100 * audit.exposed / audit.n_people:.1f} %"
    head = f"{bound}{number(audit.exposed, 'person', 'people')}" if audit.exposed else "nobody"
    sure = f"{bound}{100 * audit.highest_confidence:.1f} %"
    text = f"He is certain of {release.target!r} for {share} of all people. His highest confidence is {sure}. "
    if audit.exact:
        text += "Both numbers are exact: no two groups share a bin, so the counts of bins are those of groups."
    else:
        why = "groups share bins" if release.statement == "counts" else "the release states no counts"
        text += (
            f"Both numbers are upper bounds: {why}, and they are computed for an attacker who "
            "even knows how often each class occurs in each group."
        )
    return head, text


def advice(release: TreeRelease, audit: Audit) -> list[str]:
    """What to try next, most useful first; nothing where the audit holds without a warning."""
    codes = {finding.code for finding in audit.findings}
    said: list[str] = []
    if codes & NOT_OF_THE_ROWS:
        said.append(
            "Check that these are the very rows the release was learned from, read the same way. If they "
            "are, the file was changed: take the original, or mine again."
        )
    if codes & {"group-fails", "requirement-fails"}:
        said += _repair(release, audit)
    if "target-certain" in codes:
        said.append(
            f"Some groups are all of one {release.target!r}. If that is a secret, ask for mixed groups as "
            "well: KAnonymity(k) & Confidence(0.95)."
        )
    return said


def _repair(release: TreeRelease, audit: Audit) -> list[str]:
    guilty = sorted({n for finding in audit.findings if finding.code == "group-fails" for n in finding.nodes})
    said = [
        "Mine again with the requirement that is asked for here: AnonymousTreeClassifier(privacy=…) makes no "
        "split that breaks it."
    ]
    if guilty:
        asked = list(dict.fromkeys(str(release.nodes[n].attribute) for n in guilty))
        said.append(
            f"Or undo the splits that set these groups apart: node{'s' if len(guilty) > 1 else ''} "
            f"{listed(map(str, guilty))}. They ask for {listed(asked)}; a coarser hierarchy there helps."
        )
    if least_k(audit) is not None and audit.smallest_group is not None:
        said.append(
            f"Or claim less. Group sizes alone would bear k = {audit.smallest_group:,}; whether that is "
            "enough is not for a program to say."
        )
    return said


def domain_text(attribute: Attribute) -> str:
    """The declared domain of an attribute, in a line."""
    if attribute.bounds is not None:
        low, high = (f"{bound:,.15g}" for bound in attribute.bounds)
        text = f"{'whole numbers' if attribute.integer else 'numbers'} from {low} to {high}"
    else:
        values = list(attribute.values[:SHOWN_VALUES])
        rest = len(attribute.values) - len(values)
        text = ", ".join(values) + (f" and {number(rest, 'other', 'others')}" if rest else "")
    return text + ("; may be missing" if attribute.missing else "")
