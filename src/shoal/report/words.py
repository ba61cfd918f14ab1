# SPDX-License-Identifier: Apache-2.0
"""What a report says: the verdict, the attacker, what he learns, what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shoal.audit import Audit
from shoal.audit.columns import AuditColumn
from shoal.audit.subject import Subject
from shoal.audit.told_together import TogetherAudit
from shoal.release import (
    Attribute,
    ClustersRelease,
    EnsembleRelease,
    ModelRelease,
    ProjectionsRelease,
    RulesRelease,
    TableRelease,
    TreeRelease,
)

# these claim something themselves
Released = (
    TreeRelease | EnsembleRelease | TableRelease | ProjectionsRelease | ModelRelease | ClustersRelease | RulesRelease
)
Audited = Released | Subject | None

NBSP = "\N{NO-BREAK SPACE}"
SHOWN_VALUES = 12
SHOWN_NAMES = 30

OF_ROWS = {"partal", "likely-partal"}  # claims about rows that are joined again, and not about people
NOT_OF_THE_ROWS = {"counts-differ", "shares-differ", "predictions-differ", "not-covered"}
STATED = {
    "counts": "the count of every bin",
    "shares": "the shares of the classes in every leaf",
    "majority": "the class that every leaf predicts",
}
LEVELS = (100, 95, 90, 80)  # per cent of confidence that people are counted for

LIMITS = (
    (
        "A group that agrees has no secret.",
        "If all people of a group have the same value, the group's size does not hide it. Only a requirement "
        "about values, such as Confidence, does.",
    ),
    (
        "One release at a time.",
        "Two releases of the same people, each safe alone, can give somebody away together. This audit saw one; "
        "shoal ledger add keeps a list of what was published and audits a new release together with all of it.",
    ),
    (
        "The attacker is the one described here.",
        "He knows the public columns and nothing private. Somebody who knows private values of some people, "
        "or facts that rule out combinations of the declared domain, can tell more.",
    ),
)
ROWS = (
    "Rows are taken for people.",
    "If a person has several rows, k rows are not k people. Name the column that tells people apart.",
)
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


def people_of(count: int) -> str:
    """So many people."""
    return number(count, "person", "people")


def listed(names: Iterable[str]) -> str:
    """Names as people list them: a, b and c; of very many only the first."""
    names = list(names)
    if len(names) > SHOWN_NAMES:
        names = [*names[: SHOWN_NAMES - 1], f"{len(names) - SHOWN_NAMES + 1:,} more"]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def percent(part: int, whole: int) -> str:
    """A share of people, with one digit; never 0.0 % of somebody nor 100.0 % of not everybody."""
    if 0 < 1000 * part < whole:
        return f"less than 0.1{NBSP}%"
    if part < whole and 2000 * part >= 1999 * whole:
        return f"more than 99.9{NBSP}%"
    return f"{100 * part / whole:.1f}{NBSP}%"


def least_k(audit: Audit) -> int | None:
    """The largest k that is asked for, if any."""
    asked = [claim["k"] for claim in audit.claims if claim.get("requirement") == "k-anonymity"]
    return max(asked) if asked else None


def is_bound(audit: Audit) -> bool:
    """Whether all people were grouped more finely than the model tells them apart."""
    return any(finding.code == "finer-groups" and not finding.people for finding in audit.findings)


def verdict(audit: Audit) -> tuple[str, str]:
    """The verdict's headline, and what it means in a sentence."""
    if isinstance(audit, TogetherAudit) and all(claim["requirement"] in OF_ROWS for claim in audit.claims):
        return _of_rows(audit)
    if audit.holds:
        kept = "every group keeps what is asked of it"
        if len(audit.parts) == 1 and not audit.n_exempt:
            kept = audit.parts[0].requirement + audit.parts[0].about
        return "✓ The promise holds", f"{kept[:1].upper()}{kept[1:]}, and nothing was found that contradicts it."
    codes = {finding.code for finding in audit.findings if finding.severity == "breach"}
    if codes <= NOT_OF_THE_ROWS:
        word = "What is released is not true of the rows. Nothing can be promised about it."
    else:
        people = max((finding.people for finding in audit.findings if finding.severity == "breach"), default=0)
        word = f"What every group must keep fails for {people_of(people)}. Do not publish this."
    if is_bound(audit) and codes <= {"group-fails", "requirement-fails"}:
        return (
            "✗ Not proven: the promise may not hold",
            f"{word} People were grouped more finely than this model tells them apart, so it may still hold; "
            "nothing here shows that it does.",
        )
    return "✗ Breach: the promise does not hold", word


def _of_rows(audit: TogetherAudit) -> tuple[str, str]:
    """The verdict where PartAL is all that is claimed: no promise about people."""
    level = f"PartAL is {audit.rejoined.partal:,}, and {audit.claims[0]['k']:,} is claimed."
    for likely in audit.likely:
        level += (
            f" For whoever knows private columns by the stated chances it is {likely:,}, with the stated certainty."
        )
    if audit.holds:
        return "✓ PartAL holds, which is not k-anonymity", level
    codes = {finding.code for finding in audit.findings if finding.severity == "breach"}
    if codes & NOT_OF_THE_ROWS:
        level = "What is released is not true of the rows. Nothing can be promised about it."
    return "✗ Breach: what is claimed does not hold", f"{level} Do not publish this."


def known_for_certain(audit: Audit) -> int:
    """How many people are in groups that are all of one value of the target, or else of the first sensitive column."""
    return audit.groups.people_in(audit.certain)


def even_so(audit: Audit) -> str:
    """What a verdict that holds does not say: of whom something is certain all the same; else nothing."""
    certain = known_for_certain(audit)
    if not audit.holds or not certain:
        return ""
    bound = "" if audit.exact else "up to "
    return (
        f"Even so, {audit.about!r} is certain for {bound}{certain:,} of {people_of(audit.n_people)} "
        f"({percent(certain, audit.n_people)}): they are in groups that are all of one value. Group sizes do not "
        "stop that. A requirement about values, such as Confidence(0.95), does."
    )


def to_read_first(audit: Audit) -> list[str]:
    """What is outside the promise and to be read before signing: of whom something is certain, and other warnings."""
    certain = even_so(audit)
    warnings = [
        each
        for each in audit.findings
        # of the column that the page is about, this is told in its own words
        if each.severity == "warning" and not (each.code.endswith("-certain") and repr(audit.about) in each.message)
    ]
    return [*([certain] if certain else []), *(each.message[:1].upper() + each.message[1:] for each in warnings)]


def asked_of_other(release: Audited, audit: Audit) -> str:
    """A sentence where the audit asked for something else than the release claims; else nothing."""
    if not isinstance(release, Released):
        return "It claims nothing itself; this is what the auditor asked."
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


def attacker(release: Audited, audit: Audit) -> list[str]:
    """Who the attacker is, in paragraphs."""
    looked_at = {column.name: column for column in audit.columns if column.use != "person"}
    known = [*(name for name in looked_at if name in audit.public), *(n for n in audit.public if n not in looked_at)]
    unknown = [name for name in looked_at if name not in audit.public]
    said = [
        f"He knows, of everybody in the table: {listed(known)}." if known else "He knows no column of it.",
        f"He does not know: {listed(unknown)}." if unknown else "There is no column that he does not know.",
        f"{_has(release, audit)}, knows the domain of every column and how it was made, and knows who is in the table.",
    ]
    if isinstance(release, Released):
        stated = set(release.public)
        more, less = sorted(set(audit.public) - stated), sorted(stated - set(audit.public))
        if more:
            said.append(f"The auditor took {listed(more)} as public, though the release says private.")
        if less:
            said.append(f"The auditor took {listed(less)} as private, though the release says public.")
    return said


def _has(release: Audited, audit: Audit) -> str:
    if isinstance(release, EnsembleRelease):
        return "He also has this release, with the counts of every leaf"
    if isinstance(release, ModelRelease | TreeRelease):
        statement = release.statement if isinstance(release, TreeRelease) else release.groups.statement
        return f"He also has this release, with {STATED[statement]}"
    if isinstance(release, TableRelease):
        return "He also has this release, with every row of it"
    if isinstance(release, ProjectionsRelease):
        return "He also has this release, with every row of every projection"
    if isinstance(release, ClustersRelease):
        return "He also has this release, with every centroid and how many people are nearest to it"
    return f"He also has {audit.what}, with every number in its file"


def assumed(audit: Audit) -> list[str]:
    """What the audit takes for granted, in sentences."""
    said = [unit(audit)]
    private = [column for column in audit.columns if column.role == "private" and column.type is not None]
    for kind, taken in (
        ("categorical", "the values that occur are"),
        ("numeric", "every number between the smallest and the largest that occur is"),
    ):
        undeclared = [column.name for column in private if column.declared is None and column.type == kind]
        if undeclared:
            said.append(f"No domain is declared for {listed(undeclared)}: {taken} taken to be possible there.")
    if len(private) > 1:
        said.append("Every combination of values of the private columns is taken to be possible.")
    if audit.missing is not None:
        text = str(audit.missing)
        said.append(f"{text[:1].upper()}{text[1:]}.")
    return said


def unit(audit: Audit) -> str:
    """What is counted: rows as people, or people with several rows."""
    rows, people = number(audit.n_rows, "row", "rows"), people_of(audit.n_people)
    if audit.unit == "rows":
        return f"A row is a person: {rows} are counted as {people}."
    name = next((column.name for column in audit.columns if column.use == "person"), None)
    which = "One column" if name is None else f"Column {name!r}"
    return f"{which} tells people apart: {rows} of {people}. Every count is of different people."


def knowledge(release: Audited, audit: Audit) -> tuple[str, str]:
    """What the attacker knows for certain: a headline, and how to read it."""
    if isinstance(audit, TogetherAudit) and audit.classes_left is not None:
        return _class_certain(audit)
    if audit.likeliest is None:
        return _nothing_asked(audit)
    certain = known_for_certain(audit)
    highest = float((audit.likeliest / audit.groups.people).max())
    bound = "" if audit.exact else "at most "
    head = f"{bound}{people_of(certain)}" if certain else "nobody"
    text = (
        f"He is certain of {audit.about!r} for {percent(certain, audit.n_people)} of all people. His highest "
        f"confidence is {bound}{100 * highest:.1f}{NBSP}%. "
    )
    if audit.exact:
        return (
            head,
            text + "Both numbers are exact: no two groups share a bin, so the counts of bins are those of groups.",
        )
    return head, text + (
        f"Both numbers are upper bounds: {_why_bound(release, audit)}, and they are computed for an attacker who even "
        "knows how often each value occurs in each group."
    )


def _class_certain(audit: TogetherAudit) -> tuple[str, str]:
    pinned = sum(each.people + each.alone for each in audit.pinned if audit.target and each.column == audit.target.name)
    certain = max(audit.class_certain, pinned)
    return people_of(certain) if certain else "nobody", (
        f"He intersects the classes of a person's groups: for {people_of(audit.class_certain)} only one is left, for "
        f"{people_of(audit.certain_in_one)} in a single part already. With the published counts he is certain of "
        f"{percent(certain, audit.n_people)} of all people, or of more: these numbers are what is certain for sure."
    )


def _nothing_asked(audit: Audit) -> tuple[str, str]:
    target = audit.target
    if target is None:
        return "not counted", (
            "There is no target and no sensitive column: whoever is in a large enough group is taken to be safe, "
            "whatever the group has in common."
        )
    if target.role == "public":
        return "nothing new", f"The target {target.name!r} is public: there is nothing to learn about it."
    return "not counted", f"The target {target.name!r} is a number, so no value of it is counted as certain."


def _why_bound(release: Audited, audit: Audit) -> str:
    codes = {finding.code for finding in audit.findings}
    if isinstance(release, TreeRelease) and release.statement != "counts":
        return "the release states no counts"
    if "finer-groups" in codes:
        return "groups are finer than those of the model"
    if "worst-case-counts" in codes:
        return "what is published does not count the people of each bin"
    return "groups share bins"


def found(audit: Audit) -> str:
    """How likely somebody is found, for those who ask for it in these words."""
    risk = audit.risk
    sure = risk.prosecutor
    above = f"above {risk.threshold:.0%} for {sure.above:.1%} of people"
    text = (
        "Risk of being found by somebody who knows that his victim is in the table (prosecutor): at most "
        f"{sure.highest:.1%}, {sure.average:.1%} on average, {above}. Somebody who guesses for everybody (marketer) is "
        f"right for {risk.marketer:.1%}. Alone in their group: {people_of(risk.unique)}."
    )
    return text.replace("%", f"{NBSP}%")


def column_domain(column: AuditColumn) -> str:
    """What a column's values are taken to be, in a line; never those of the rows themselves."""
    if column.declared is not None:
        return domain_text(column.declared)
    return "not stated" if column.type is None else f"{column.type}; taken from the rows"


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
