# SPDX-License-Identifier: Apache-2.0
"""What is published together under PartAL, in a report: the level of each part, of rows joined again, and of people."""

from __future__ import annotations

from html import escape

from shoal.audit.told_together import TogetherAudit
from shoal.report.words import number, people_of

HOW = (
    "PAL is the smallest group of any of them alone. SAL is the fewest equal rows that two of them give when they are "
    "joined again by the target. PartAL is the smaller of both. A joined row is no person."
)


def together_section(audit: TogetherAudit) -> str:
    """The section: a line for each part, the three levels, and what an attacker has of all parts together."""
    level = audit.rejoined
    parts = "".join(
        f"<tr><td>{i}</td><td>{escape(', '.join(names)) or 'no column'}</td><td class=n>{people:,}</td></tr>"
        for i, (names, people) in enumerate(zip(audit.named, level.groups, strict=True), 1)
    )
    levels = [("PAL", f"{level.pal:,}"), ("SAL", "none" if level.sal is None else f"{level.sal:,}")]
    levels.append(("PartAL", f"{level.partal:,}"))
    shown = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in levels)
    return (
        f'<h2>Alone, joined again, and together</h2><dl class="facts">{shown}</dl><p class="soft">{HOW}</p>'
        "<table><thead><tr><th></th><th>Columns besides the target</th><th class=n>Smallest group</th></tr></thead>"
        f"<tbody>{parts}</tbody></table><p>{escape(_together(audit))}</p>"
    )


def _together(audit: TogetherAudit) -> str:
    said = (
        f"An attacker who has all of them tells {number(audit.n_groups, 'group', 'groups')} of people apart. The "
        f"smallest has {people_of(int(audit.group_sizes[0]))}, and {people_of(audit.people_alone)} are alone."
    )
    if audit.classes_left is None:
        return said
    if audit.class_certain:
        return f"{said} Of {people_of(audit.class_certain)} he knows the class for certain."
    return f"{said} For everybody at least {audit.classes_left} classes are possible, as far as groups tell."
