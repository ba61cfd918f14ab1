# SPDX-License-Identifier: Apache-2.0
"""An audit as one page of HTML: no script, nothing from outside, the same bytes for the same input."""

from __future__ import annotations

from html import escape
from pathlib import Path

from shoal.audit import Audit
from shoal.audit.telling import ColumnRanking
from shoal.audit.told_together import TogetherAudit
from shoal.errors import ReleaseError
from shoal.release import ClustersRelease, ModelRelease, TreeRelease
from shoal.release.files import write_atomically
from shoal.report import sections
from shoal.report.clusters import clusters_section
from shoal.report.layout import guilty_nodes
from shoal.report.projections import together_section
from shoal.report.style import CSS
from shoal.report.tree import tree_section
from shoal.report.words import Audited


def write_report(
    path: str | Path,
    release: Audited,
    audit: Audit,
    *,
    tree: TreeRelease | None = None,
    columns: ColumnRanking | None = None,
) -> None:
    """Write the report of an audit to a file, beside it first and then renamed into place.

    Parameters
    ----------
    path
        The file, for example ``audit.html``.
    release
        What was audited: a release, a `Subject`, or None where only the audit is at hand.
    audit
        Its audit, whether it holds or not.
    tree
        A tree to draw with the guilty nodes marked, where what was audited is none itself.
    columns
        What each column tells, from `rank_columns`, to be shown as a table.

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
    write_atomically(path, report_html(release, audit, tree=tree, columns=columns))


def report_html(
    release: Audited, audit: Audit, *, tree: TreeRelease | None = None, columns: ColumnRanking | None = None
) -> str:
    """The report of an audit as a page of HTML.

    Parameters
    ----------
    release, tree, columns
        As in `write_report`.
    audit
        The audit; one of another release is refused.
    """
    if release is not None and audit.sha256 != release.sha256:
        raise ReleaseError("audit-of-other", "This audit looked at another release. Report it with that one.")
    if tree is None:
        tree = release if isinstance(release, TreeRelease) else None
        tree = release.groups if isinstance(release, ModelRelease) else tree
    counted = "rows" if audit.unit == "people" else "people"  # a drawn tree is filled with rows
    title = f"Audit of {audit.what}"
    parts = [
        sections.verdict(release, audit),
        sections.claim(release, audit),
        together_section(audit) if isinstance(audit, TogetherAudit) else "",
        sections.attacker(release, audit),
        sections.smallest_groups(audit, linked=tree is not None),
        sections.exposed(release, audit),
        sections.distributions(audit),
        "" if tree is None else tree_section(tree, guilty_nodes(audit), counted=counted),
        clusters_section(release) if isinstance(release, ClustersRelease) else "",
        sections.noticed(audit, linked=tree is not None),
        "" if columns is None else sections.telling(columns),
        sections.next_steps(release, audit, tree, columns),
        sections.columns(audit),
        sections.limits(audit),
        sections.end(release, audit),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(part for part in parts if part) + "\n</main>\n</body>\n</html>\n"
    )
