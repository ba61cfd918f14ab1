# SPDX-License-Identifier: Apache-2.0
"""All experiments as one page: self-contained HTML, and Markdown with its pictures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from shoal.papers.data import make_folder, manifest
from shoal.papers.experiment import PAPERS
from shoal.papers.figure import agreement_svg
from shoal.papers.grids import Grid
from shoal.papers.judge import Judged
from shoal.papers.markdown import page_markdown
from shoal.papers.runner import Done
from shoal.papers.told import (
    TITLE,
    Told,
    by_paper,
    caption,
    counts,
    cpu_seconds,
    how,
    percentages,
    reasons,
    run_words,
    told_time,
    told_versions,
    unkept,
    unmeasured,
    where,
)
from shoal.release.files import write_atomically
from shoal.report.style import CSS

TAGS = {"holds": "good", "does not hold": "bad", "depends": "warn", "not measured": "plain"}
OWN_CSS = """
main{max-width:1080px}h1{font-size:1.9rem;margin-bottom:2px}
h2{font-size:1.3rem;margin-top:44px}h3{font-size:1.08rem;color:var(--ink);margin:30px 0 4px}
h3 .place{color:var(--soft);font-weight:400}
figure{margin:14px 0 6px}svg.figure{width:100%;height:auto;display:block}svg.narrow{max-width:430px;margin:0 auto}
figcaption{font-size:.875rem;color:var(--soft);margin-top:6px}
.scroll{overflow-x:auto}table.numbers{font-size:.82rem;width:auto;margin:10px 0 12px}
table.numbers th,table.numbers td{padding:2px 16px 2px 0;white-space:nowrap}
table.numbers tr.paper td,table.numbers tr.difference td{color:var(--soft)}
table.numbers td{border-bottom:0}table.numbers tr.ours td{border-top:1px solid var(--line)}
table.numbers tr td.off{color:var(--bad);font-weight:600}
ul.claims{list-style:none;padding:0;margin:8px 0}ul.claims li{display:grid;grid-template-columns:112px 1fr;gap:10px;
margin:7px 0}ul.claims p{margin:0}.how{font-size:.84rem;color:var(--soft);margin:8px 0 0}
.how dt{float:left;clear:left;width:84px;font-weight:600}.how dd{margin:0 0 2px 92px}
td a{color:inherit}
@media (max-width:640px){figure{overflow-x:auto}svg.figure:not(.narrow){min-width:640px}
ul.claims li{grid-template-columns:1fr;gap:2px}}
@media print{body{font-size:9.5pt}main{max-width:none}h2{break-before:page}h2+p,h3,h3+p{break-after:avoid}
figure,ul.claims li,.how dd{break-inside:avoid}}
"""


def write_page(path: Path, done: Sequence[Done]) -> list[Path]:
    """Write the page, and beside it the same as Markdown with its pictures in a folder.

    Parameters
    ----------
    path
        The HTML file, such as ``papers.html``; Markdown goes to ``papers.md``, pictures to ``papers-pictures/``.
    done
        What is known of each experiment.

    Returns
    -------
    list of Path
        Everything that was written.
    """
    told = [Told.of(each) for each in done]
    pictures = path.with_name(f"{path.stem}-pictures")
    drawn = {f"{each.experiment.id}.svg": each.figure for each in told if each.figure}
    drawn |= {"agreement.svg": agreement_svg(percentages(told))}
    drawn = {name: svg for name, svg in drawn.items() if svg}
    if drawn:
        make_folder(pictures)
    for name, svg in drawn.items():
        write_atomically(pictures / name, svg + "\n")
    write_atomically(path.with_suffix(".md"), page_markdown(told, pictures.name))
    write_atomically(path, page_html(told))
    return [path, path.with_suffix(".md"), *(pictures / name for name in drawn)]


def page_html(told: Sequence[Told]) -> str:
    """The page as HTML: no script, nothing from outside."""
    parts = [_summary_html(told), _claims_html(told)]
    for paper, (name, citation) in PAPERS.items():
        own = [each for each in told if each.experiment.paper == paper]
        if own:
            parts.append(f"<h2>{escape(name)}</h2>\n<p class='soft'>{escape(citation)}.</p>")
            parts += map(_experiment_html, own)
    parts.append(_end_html(told))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE}</title>\n<style>{CSS}{OWN_CSS}</style>\n</head>\n<body>\n<main>\n<h1>{TITLE}</h1>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _summary_html(told: Sequence[Told]) -> str:
    hold, claims, near, numbers = counts(told)
    measured = [each for each in told if each.done.points is not None]
    quick = sum(each.done.quick for each in measured)
    silent, alone = (f"; {number} more not measured" if number else "" for number in unmeasured(told))
    facts = [
        ("experiments", f"{len(measured)} of {len(told)}", f"{quick} of them quick" if quick else "all of them whole"),
        ("claims that hold", f"{hold} of {claims}", f"{unkept(told)}{silent}"),
        ("published numbers", f"{near} of {numbers}", f"as near as their tolerance asks{alone}"),
        ("CPU time", told_time(cpu_seconds(measured)), "of all units, those that experiments share once"),
    ]
    shown = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(more)}</small></dd></div>"
        for name, value, more in facts
    )
    agreement = agreement_svg(percentages(told))
    figure = (
        f"<figure>{agreement}<figcaption>Every published percentage that has a tolerance, against ours. On the dashed "
        "line they are the same; hollow triangles are farther off than the tolerance. Some tolerances are only for "
        "being worse.</figcaption></figure>"
        if agreement
        else ""
    )
    return (
        "<p class='soft'>Every table and figure of the papers that Shoal implements, measured anew, beside the numbers "
        f"that the papers print.</p>\n<dl class='facts'>{shown}</dl>\n{figure}\n{_grid_html(by_paper(told))}"
    )


def _claims_html(told: Sequence[Told]) -> str:
    rows = []
    for each in told:
        for one in each.judged:
            quick = f"<br><span class='small soft'>{run_words(each)}</span>" if run_words(each) else ""
            rows.append(
                f"<tr><td><a href='#{each.experiment.id}'>{escape(where(each, one))}</a></td>"
                f"<td>{escape(one.claim.says)}</td><td>{_tag(one)}{quick}</td></tr>"
            )
    return (
        "<h2>Claims</h2>\n<table><thead><tr><th>where</th><th>claim, in our words</th><th>here</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _tag(one: Judged) -> str:
    return f"<span class='tag {TAGS[one.outcome.verdict]}'>{one.outcome.verdict}</span>"


def _experiment_html(each: Told) -> str:
    own = each.experiment
    head = (
        f"<h3 id='{own.id}'>{escape(own.title)} <span class='place'>({escape(own.place)}; {own.id}"
        f"{'; ' if run_words(each) else ''}{run_words(each)})</span></h3>\n"
        f"<p>{escape(own.claim)}</p>"
    )
    if each.done.points is None:
        return f"{head}\n<p class='note'>Not measured: {each.done.measured} of {each.done.units} units are there.</p>"
    figure = ""
    if each.figure:
        figure = f"<figure>{each.figure}<figcaption>{escape(caption(each))}</figcaption></figure>"
    tables = "\n".join(map(_grid_html, each.grids))
    claims = "".join(_judged_html(one) for one in each.judged)
    notes = "".join(f"<li>{escape(note)}</li>" for note in own.notes)
    return "\n".join(
        part
        for part in (
            head,
            figure,
            tables,
            f"<ul class='claims'>{claims}</ul>" if claims else "",
            f"<ul class='small soft'>{notes}</ul>" if notes else "",
            f"<dl class='how'>{''.join(f'<dt>{a}</dt><dd>{escape(b)}</dd>' for a, b in how(each))}</dl>",
        )
        if part
    )


def _grid_html(grid: Grid) -> str:
    def cells(row: Sequence[str], tag: str, off: Sequence[bool]) -> str:
        shown = []
        for number, text in enumerate(row):
            kind = " ".join(name for name, on in (("n", number >= grid.words), ("off", off[number])) if on)
            shown.append(f"<{tag}{f' class={chr(39)}{kind}{chr(39)}' if kind else ''}>{escape(text)}</{tag}>")
        return "".join(shown)

    head = cells(grid.header, "th", [False] * len(grid.header))
    body = []
    for row in grid.rows:
        kind = next((cell.text for cell in row[: grid.words] if cell.text in ("ours", "paper", "difference")), "ours")
        body.append(f"<tr class='{kind}'>{cells([cell.text for cell in row], 'td', [cell.off for cell in row])}</tr>")
    return _scrolled(f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>")


def _scrolled(rows: str) -> str:
    """A table of numbers; on a narrow screen it moves by itself, not the page with it."""
    return f"<div class='scroll'><table class='numbers'>{rows}</table></div>"


def _judged_html(one: Judged) -> str:
    why = f"<p class='small'><b>Why:</b> {escape(reasons(one))}</p>" if reasons(one) else ""
    return (
        f"<li><div>{_tag(one)}</div><div><p>{escape(one.claim.says)} "
        f"<span class='soft small'>({escape(one.claim.place)})</span></p>"
        f"<p class='small soft'>{escape(one.outcome.sentence)}</p>{why}</div></li>"
    )


def _end_html(told: Sequence[Told]) -> str:
    names = sorted({name for each in told for name in each.experiment.data})
    data = "".join(
        f"<tr><td>{escape(manifest()[name].title)}</td><td><code>{escape(file)}</code></td><td><code>{sha256[:16]}…</code>"
        "</td></tr>"
        for name in names
        for file, sha256 in manifest()[name].files.items()
    )
    versions = "".join(f"<li>{escape(each)}</li>" for each in told_versions(told))
    return (
        "<h2>Measured with</h2>\n"
        f"<ul>{versions}</ul>\n<p>Again: <code>shoal papers run --all</code>, then <code>shoal papers report</code>. "
        "With <code>--quick</code> it takes minutes.</p>\n"
        + _scrolled(
            f"<thead><tr><th>table</th><th>file</th><th>SHA-256 of its contents</th></tr></thead><tbody>{data}</tbody>"
        )
    )
