# SPDX-License-Identifier: Apache-2.0
"""The sections of a report as HTML, in the order they are read: each takes the audit and draws one answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from importlib import metadata

from shoal.audit import Audit, Finding
from shoal.audit.telling import ColumnRanking
from shoal.release import TreeRelease
from shoal.release.statement import WORDS
from shoal.report import words
from shoal.report.advice import advice
from shoal.report.draw import histogram_svg, shares_svg
from shoal.report.layout import believed, histogram, share_bars, smallest_sizes
from shoal.report.words import Audited, Released

_TAGS = {"breach": "bad", "warning": "warn", "note": "plain"}
_IN_OTHER_PLACES = {"group-fails", "requirement-fails"}


def verdict(release: Audited, audit: Audit) -> str:
    """The verdict, why, what it leaves open, and four numbers."""
    head, text = words.verdict(audit)
    why = [finding for finding in audit.findings if finding.severity == "breach" and finding.code != "group-fails"]
    reasons = f"<ul>{''.join(f'<li>{escape(_sentence(finding.message))}</li>' for finding in why)}</ul>" if why else ""
    note = "".join(f'<p class="note even">{escape(text)}</p>' for text in words.to_read_first(audit))
    boxes = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in _facts(release, audit))
    return (
        f'<p class="soft">{escape(_learned(release, audit))}</p>'
        f'<section class="verdict {"holds" if audit.holds else "breach"}"><b>{escape(head)}</b>'
        f"<p>{escape(text)}</p>{reasons}</section>{note}"
        f'<dl class="facts">{boxes}</dl>'
    )


def _learned(release: Audited, audit: Audit) -> str:
    said = "" if audit.target is None else f"For {audit.target.name}; "
    if isinstance(release, TreeRelease) and release.statement != "counts":
        return _sentence(f"{said}stating {WORDS[release.statement]}.")
    return _sentence(f"{said}held against the rows of {words.people_of(audit.n_people)}.")


def _facts(release: Audited, audit: Audit) -> list[tuple[str, str]]:
    if audit.smallest_group is None:
        smallest = "none<small>every span is a single bin, which tells nothing private</small>"
    else:
        smallest = words.people_of(audit.smallest_group)
        k = words.least_k(audit)
        if k is not None:
            smallest += f"<small>required: at least {k:,}</small>"
    exempt = f"<small>{audit.n_exempt:,} of them exempt: a single bin each</small>" if audit.n_exempt else ""
    at_risk = "nobody"
    if audit.people_at_risk:
        share = words.percent(audit.people_at_risk, audit.n_people)
        at_risk = f"{words.people_of(audit.people_at_risk)}<small>{share} of {audit.n_people:,}</small>"
    certain, _ = words.knowledge(release, audit)
    sure = words.known_for_certain(audit)
    share = f"<small>{words.percent(sure, audit.n_people)} of all people</small>" if sure else ""
    return [
        ("Smallest group", smallest),
        ("Groups", f"{audit.n_groups:,}{exempt}"),
        ("In groups that fail", at_risk),
        (f"{escape(_sentence(audit.about or 'target'))} known for certain", escape(certain) + share),
    ]


def claim(release: Audited, audit: Audit) -> str:
    """What every group must keep, in words, and whether it does."""
    said = [part.requirement[:1].upper() + part.requirement[1:] + part.about for part in audit.parts]
    claims = "".join(f"<blockquote>{escape(text)}.</blockquote>" for text in said)
    other = words.asked_of_other(release, audit)
    look = "note" if isinstance(release, Released) else "soft"
    note = f'<p class="{look}">{escape(other)}</p>' if other else ""
    return (
        f"<h2>{'What the auditor asked for' if other else 'What is claimed'}</h2>{claims}{note}"
        '<p class="soft">A group is the people whom the attacker described below cannot tell apart with what is '
        "published. Groups whose span is a single bin are exempt: such a span tells nothing private.</p>"
    )


def attacker(release: Audited, audit: Audit) -> str:
    """The threat model: who he is, what he knows, and what is assumed."""
    return (
        f"<h2>Who the attacker is</h2>{_list(words.attacker(release, audit))}"
        f"<h3>What is assumed</h3>{_list(words.assumed(audit))}"
    )


def smallest_groups(audit: Audit, *, linked: bool) -> str:
    """The requirements one by one, the smallest sizes, and the groups at fault in words."""
    asked = [
        (
            escape(part.requirement + part.about),
            _tag("good", "holds") if part.holds else _tag("bad", "fails"),
            f"{part.failing_groups:,}",
            f"{part.failing_people:,}",
        )
        for part in audit.parts
    ]
    sizes = [
        (f"{row.size:,}", f"{row.groups:,}", f"{row.people:,}", f"{row.failing:,}" if row.failing else "none")
        for row in smallest_sizes(audit)
    ]
    # groups that are told in the same words are told once
    at_fault = Counter(finding for finding in audit.findings if finding.code == "group-fails")
    described = "".join(_finding(finding, linked=linked, times=times) for finding, times in at_fault.items())
    table = _table(("People in the group", "Groups", "People in them", "Groups that fail"), sizes, numbers=(1, 2, 3))
    return (
        "<h2>The smallest groups</h2>"
        + _table(("Requirement", "Verdict", "Groups that fail", "People in them"), asked, numbers=(2, 3))
        + (f"<h3>By size</h3>{table}" if sizes else "<p>Every group is exempt.</p>")
        + (f"<h3>Groups at fault</h3>{described}" if described else "")
    )


def exposed(release: Audited, audit: Audit) -> str:
    """How many people are at risk, whose target is certain or nearly so, and what would stop it."""
    head, text = words.knowledge(release, audit)
    if audit.people_at_risk:
        share = words.percent(audit.people_at_risk, audit.n_people)
        fails = f"{words.people_of(audit.people_at_risk)} ({share}) are in a group that breaks a requirement."
    else:
        fails = "Nobody is in a group that breaks a requirement."
    said = [
        f"<p>{escape(fails)}</p>",
        f"<p><strong>Known for certain: {escape(head)}.</strong> {escape(text)}</p>",
    ]
    if audit.likeliest is not None:
        rows = [
            (f"{level} %" if level == 100 else f"{level} % or more", f"{n:,}", words.percent(n, audit.n_people))
            for level, n in believed(audit, words.LEVELS)
        ]
        bound = "" if audit.exact else ", at most"
        said.append(_table(("He is sure by", f"People{bound}", "Share"), rows, numbers=(1, 2)))
        if words.known_for_certain(audit):
            said.append(
                '<p class="soft">A requirement about values would stop it. Confidence(0.95), asked together with the '
                "others, refuses every group in which one value has more than 95 % of the people.</p>"
            )
    said.append(f'<p class="soft">{escape(words.found(audit))}</p>')
    return f"<h2>Who is exposed</h2>{''.join(said)}{_measures(audit)}"


def _measures(audit: Audit) -> str:
    """What the groups reach of every sensitive column, in the measures that people ask for."""
    if not audit.measures:
        return ""
    rows = [
        (
            escape(each.column),
            f"{each.certain:,}",
            f"{each.distinct_l}",
            f"{each.entropy_l:.3g}",
            f"{each.alpha:.3g}",
            f"{each.t:.3g}",
            f"{each.basic_beta:.3g}",
            f"{each.delta:.3g}",
        )
        for each in audit.measures
    ]
    header = ("Sensitive column", "Certain for", "ℓ", "Entropy ℓ", "α", "t", "β", "δ")
    return (
        "<h3>What every group keeps</h3>"
        + _table(header, rows, numbers=range(1, len(header)))
        + '<p class="soft small">The strictest that holds of every group: its fewest different values (ℓ), the same '
        "counted by entropy, the largest share of one value (α), and how far its values are from those of the whole "
        "table (t-closeness, β-likeness, δ-disclosure).</p>"
    )


def distributions(audit: Audit) -> str:
    """Group sizes, and how sure the attacker is of people's target."""
    shown = histogram(audit.group_sizes, words.least_k(audit))
    text = ""
    if shown.k is not None and audit.n_exempt:
        text = '<p class="soft small">Exempt groups are drawn too, and may be smaller than required.</p>'
    bad = not audit.n_exempt or not audit.holds
    page = f"<h2>How groups are distributed</h2><h3>By size</h3>{histogram_svg(shown, below_is_bad=bad)}{text}"
    if audit.about is not None:
        page += (
            f"<h3>By how sure the attacker is of {escape(audit.about)}</h3>{shares_svg(share_bars(audit))}"
            '<p class="soft small">People by the share that the most frequent value has in their group. At 100 % '
            "nothing is hidden.</p>"
        )
    return page


def noticed(audit: Audit, *, linked: bool) -> str:
    """Findings that have no place of their own: how it was counted, and what else there is."""
    others = [
        finding for finding in audit.findings if finding.code not in _IN_OTHER_PLACES and finding.severity != "warning"
    ]
    if not others:
        return ""
    return "<h2>What else was noticed</h2>" + "".join(_finding(finding, linked=linked) for finding in others)


def _finding(finding: Finding, *, linked: bool, times: int = 1) -> str:
    where = f'<p class="small soft">{times} groups like this.</p>' if times > 1 else ""
    if finding.nodes and linked:  # what else they may be, such as clusters, the message names
        shown = finding.nodes[:20]
        texts = [f'<a href="#node-{number}">{number}</a>' for number in shown]
        rest = len(finding.nodes) - len(shown)
        where += f'<p class="small soft">Nodes: {", ".join(texts)}{f" and {rest:,} more" if rest else ""}</p>'
    return (
        f'<div class="finding"><div>{_tag(_TAGS[finding.severity], finding.severity)}</div>'
        f"<div><p>{escape(_sentence(finding.message))}</p>{where}</div></div>"
    )


def telling(ranking: ColumnRanking) -> str:
    """What each column gives away, or would."""
    page = "<h2>Which columns tell</h2>"
    for effects, title in (
        (ranking.private, "If the attacker learned one more column"),
        (ranking.public, "If he did not know a column that is public"),
    ):
        if effects:
            header, *rows = [[escape(cell) for cell in row] for row in ranking.shown(effects)]
            page += f"<h3>{title}</h3>" + _table(list(map(_sentence, header)), rows, numbers=range(1, len(header)))
    bound = (
        ""
        if ranking.exact or ranking.about is None
        else " Counts of people of whom something is certain are upper bounds."
    )
    return page + (
        '<p class="soft small">Today → then. Not knowing a column can also tell more people apart: a test that would '
        f"not have been reached then may be.{bound}</p>"
    )


def next_steps(release: Audited, audit: Audit, tree: TreeRelease | None, ranking: ColumnRanking | None) -> str:
    """What to try next."""
    said = advice(release, audit, tree, ranking)
    return f"<h2>What to try next</h2>{_list(said, 'ol')}" if said else ""


def columns(audit: Audit) -> str:
    """Every column with its role, its use and its domain."""
    uses = {"person": "tells people apart"}
    rows = [
        (
            escape(column.name),
            "" if column.use == "person" else column.role,
            uses.get(column.use, column.use),
            "" if column.use == "person" else escape(words.column_domain(column)),
        )
        for column in audit.columns
    ]
    return "<h2>Columns</h2>" + _table(("Column", "Role", "Use", "Domain"), rows)


def limits(audit: Audit) -> str:
    """What the promise does not cover."""
    items = "".join(f"<li><strong>{escape(head)}</strong> {escape(text)}</li>" for head, text in words.limits(audit))
    return f"<h2>What the promise does not cover</h2><ul>{items}</ul>"


def end(release: Audited, audit: Audit) -> str:
    """Who may see the page, room for a signature, and the fingerprint of what was audited."""
    kept = ""
    if not audit.holds or not isinstance(release, Released):
        kept = "<p>This page tells of what is not published, and may not be: keep it as safe as the rows.</p>"
    return (
        f'{kept}<div class="sign"><div>Name and signature</div><div>Date</div></div>'
        f"<footer><p>SHA-256 of what was audited: <code>{audit.sha256}</code></p>"
        f"<p>Recounted by Shoal {escape(metadata.version('shoal'))} from the rows and what is published alone; "
        "the audit imports no miner.</p></footer>"
    )


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]


def _tag(look: str, text: str) -> str:
    return f'<span class="tag {look}">{text}</span>'


def _list(items: Iterable[str], tag: str = "ul") -> str:
    return f"<{tag}>" + "".join(f"<li>{escape(item)}</li>" for item in items) + f"</{tag}>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table of cells that are HTML already; the columns in `numbers` end together."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return "".join(f"<{tag}{' class=n' if i in numbers else ''}>{cell}</{tag}>" for i, cell in enumerate(cells))

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{line('th', header)}</tr></thead><tbody>{body}</tbody></table>"
