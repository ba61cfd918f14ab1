# SPDX-License-Identifier: Apache-2.0
"""An audit as one page of HTML: no script, nothing from outside, the same bytes for the same input."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib import metadata
from pathlib import Path

from shoal.audit import Audit, Finding
from shoal.errors import ReleaseError
from shoal.release import TreeRelease
from shoal.release.files import write_atomically
from shoal.release.statement import WORDS
from shoal.report import words
from shoal.report.draw import histogram_svg
from shoal.report.layout import guilty_nodes, histogram
from shoal.report.style import CSS
from shoal.report.tree import tree_section

_TAGS = {"breach": "bad", "warning": "warn", "note": "plain"}


def write_report(path: str | Path, release: TreeRelease, audit: Audit) -> None:
    """Write the report of an audit to a file, beside it first and then renamed into place.

    Parameters
    ----------
    path
        The file, for example ``audit.html``.
    release
        The release that was audited.
    audit
        Its audit, whether it holds or not.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from shoal import AnonymousTreeClassifier, audit, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = AnonymousTreeClassifier(privacy=500).fit(people, "diabetes").release_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "audit.html")
    ...     write_report(file, release, audit(release, people))
    ...     "The promise holds" in file.read_text(encoding="utf-8")
    True
    """
    write_atomically(path, report_html(release, audit))


def report_html(release: TreeRelease, audit: Audit) -> str:
    """The report of an audit as a page of HTML.

    Parameters
    ----------
    release
        The release that was audited.
    audit
        Its audit; one of another release is refused.
    """
    if audit.sha256 != release.sha256:
        raise ReleaseError("audit-of-other", "This audit looked at another release. Report it with that one.")
    title = f"Audit of a release: {release.target}"
    sections = [
        _verdict(release, audit),
        _claim(release, audit),
        _attacker(release, audit),
        _findings(audit),
        _advice(release, audit),
        _sizes(audit),
        _requirements(audit),
        _attributes(release, audit),
        tree_section(release, guilty_nodes(audit)),
        _limits(audit),
        _end(release),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n"
        + "\n".join(section for section in sections if section)
        + "\n</main>\n</body>\n</html>\n"
    )


def _verdict(release: TreeRelease, audit: Audit) -> str:
    kind, word = "breach", "✗ Breach: the promise does not hold"
    if audit.holds:
        kind, word = "holds", "✓ The promise holds"
    if audit.smallest_group is None:
        smallest = "none <small>every span is a single bin, which tells nothing private</small>"
    else:
        smallest = f"{words.number(audit.smallest_group, 'person', 'people')}"
        k = words.least_k(audit)
        if k is not None:
            smallest += f"<small>required: at least {k:,}</small>"
    exempt = f"<small>{audit.n_exempt:,} of them exempt: a single bin each</small>" if audit.n_exempt else ""
    head, _ = words.knowledge(release, audit)
    facts = [
        ("Smallest group", smallest),
        ("Groups", f"{audit.n_groups:,}{exempt}"),
        ("People recounted", f"{audit.n_people:,}"),
        ("Known for certain", escape(head)),
    ]
    if release.statement == "counts":
        said = f"learned from {words.number(release.n_people, 'person', 'people')}"
    else:
        said = f"stating {WORDS[release.statement]}"
    boxes = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in facts)
    return (
        f'<p class="soft">A decision tree for {escape(release.target)!s}, {len(release.leaves):,} leaves, '
        f"{said}.</p>"
        f'<section class="verdict {kind}"><b>{word}</b><p>{escape(words.verdict_line(audit))}</p></section>'
        f'<dl class="facts">{boxes}</dl>'
    )


def _claim(release: TreeRelease, audit: Audit) -> str:
    said = [part.requirement[:1].upper() + part.requirement[1:] + part.about for part in audit.parts]
    claims = "".join(f"<blockquote>{escape(text)}.</blockquote>" for text in said)
    other = words.asked_of_other(release, audit)
    note = f'<p class="note">{escape(other)}</p>' if other else ""
    return (
        f"<h2>{'What the auditor asked for' if other else 'What is claimed'}</h2>{claims}{note}"
        '<p class="soft">A group is the people whom the attacker described below cannot tell apart with this '
        "release. Groups whose span is a single bin are exempt: such a span tells nothing private.</p>"
    )


def _attacker(release: TreeRelease, audit: Audit) -> str:
    head, text = words.knowledge(release, audit)
    return (
        f"<h2>Who the attacker is</h2>{_list(words.attacker(release, audit))}"
        f"<h2>What he knows for certain</h2><p><strong>{escape(head[:1].upper() + head[1:])}.</strong> "
        f"{escape(text)}</p>"
    )


def _findings(audit: Audit) -> str:
    if not audit.findings:
        return "<h2>Findings</h2><p>None.</p>"
    return "<h2>Findings</h2>" + "".join(_finding(finding) for finding in audit.findings)


def _finding(finding: Finding) -> str:
    where = ""
    if finding.nodes:
        shown = finding.nodes[:20]
        links = ", ".join(f'<a href="#node-{number}">{number}</a>' for number in shown)
        rest = len(finding.nodes) - len(shown)
        where = f'<p class="small soft">Nodes: {links}{f" and {rest:,} more" if rest else ""}</p>'
    message = finding.message[:1].upper() + finding.message[1:]
    return (
        f'<div class="finding"><div>{_tag(_TAGS[finding.severity], finding.severity)}</div>'
        f"<div><p>{escape(message)}</p>{where}</div></div>"
    )


def _advice(release: TreeRelease, audit: Audit) -> str:
    said = words.advice(release, audit)
    return f"<h2>What to try next</h2>{_list(said, 'ol')}" if said else ""


def _sizes(audit: Audit) -> str:
    shown = histogram(audit.group_sizes, words.least_k(audit))
    # exempt groups may be smaller than k, and an audit does not say which they are
    text = ""
    if shown.k is not None and audit.n_exempt:
        text = '<p class="soft small">Exempt groups are drawn too, and may be smaller than required.</p>'
    bad = not audit.n_exempt or not audit.holds
    return f"<h2>Sizes of the groups</h2>{histogram_svg(shown, below_is_bad=bad)}{text}"


def _requirements(audit: Audit) -> str:
    rows = "".join(
        f"<tr><td>{escape(part.requirement + part.about)}</td>"
        f"<td>{_tag('good', 'holds') if part.holds else _tag('bad', 'fails')}</td>"
        f'<td class="n">{part.failing_groups:,}</td><td class="n">{part.failing_people:,}</td></tr>'
        for part in audit.parts
    )
    return (
        "<h2>Requirements</h2><table><thead><tr><th>Requirement</th><th>Verdict</th>"
        '<th class="n">Groups that fail</th><th class="n">People in them</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _attributes(release: TreeRelease, audit: Audit) -> str:
    rows = []
    tested = set(release.tested)
    for attribute in release.attributes:
        role = "public" if attribute.name in audit.public else "private"
        use = "asked" if attribute.name in tested else "not used"
        if attribute.name == release.target:
            use = "target"
        if attribute.name in release.sensitive:
            use += ", sensitive"
        rows.append(
            f"<tr><td>{escape(attribute.name)}</td><td>{role}</td><td>{use}</td>"
            f"<td>{escape(words.domain_text(attribute))}</td></tr>"
        )
    for name in release.unused:
        role = "public" if name in audit.public else "private"
        rows.append(f"<tr><td>{escape(name)}</td><td>{role}</td><td>not used</td><td>not stated</td></tr>")
    return (
        "<h2>Columns</h2><table><thead><tr><th>Column</th><th>Role</th><th>In the tree</th>"
        f"<th>Declared domain</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _limits(audit: Audit) -> str:
    items = "".join(f"<li><strong>{escape(head)}</strong> {escape(text)}</li>" for head, text in words.limits(audit))
    return f"<h2>What the promise does not cover</h2><ul>{items}</ul>"


def _end(release: TreeRelease) -> str:
    return (
        '<div class="sign"><div>Name and signature</div><div>Date</div></div>'
        f"<footer><p>Release SHA-256: <code>{release.sha256}</code></p>"
        f"<p>Recounted by Shoal {escape(metadata.version('shoal'))} from the rows and the release alone; "
        "the audit shares no counting with the miner.</p></footer>"
    )


def _tag(look: str, text: str) -> str:
    return f'<span class="tag {look}">{text}</span>'


def _list(items: Iterable[str], tag: str = "ul") -> str:
    return f"<{tag}>" + "".join(f"<li>{escape(item)}</li>" for item in items) + f"</{tag}>"
