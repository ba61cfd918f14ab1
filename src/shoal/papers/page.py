# SPDX-License-Identifier: Apache-2.0
"""All experiments as one page: self-contained HTML, and Markdown with its pictures beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from shoal.papers.data import manifest
from shoal.papers.experiment import PAPERS, Experiment
from shoal.papers.figure import agreement_svg, figure_svg
from shoal.papers.grids import Grid, grids
from shoal.papers.judge import Beside, Judged, compare, judge
from shoal.papers.runner import Done
from shoal.papers.store import source_sha256
from shoal.release.files import write_atomically
from shoal.report.style import CSS

TITLE = "Four papers, reproduced"
TAGS = {"holds": "good", "does not hold": "bad", "depends": "warn", "not measured": "plain"}
UNKEPT = ("does not hold", "depends")  # where a claim's file explains itself
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
td a{color:inherit}article{break-inside:avoid-page}
@media print{main{max-width:none}h2{break-before:page}figure,ul.claims li{break-inside:avoid}}
"""


@dataclass(frozen=True)
class Told:
    """An experiment with everything that is said of it."""

    done: Done
    beside: tuple[Beside, ...]
    judged: tuple[Judged, ...]
    grids: tuple[Grid, ...]
    figure: str

    @property
    def experiment(self) -> Experiment:
        """The experiment."""
        return self.done.experiment

    @classmethod
    def of(cls, done: Done) -> Told:
        """Compare, judge and draw what was measured."""
        own, points = done.experiment, done.points
        if points is None:
            return cls(done, (), (), (), "")
        return cls(
            done,
            tuple(compare(own, points)),
            tuple(judge(own, points)),
            tuple(grids(own, points)),
            figure_svg(own, points),
        )


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
    drawn |= {"agreement.svg": agreement_svg(_percentages(told))}
    drawn = {name: svg for name, svg in drawn.items() if svg}
    if drawn:
        pictures.mkdir(exist_ok=True)
    for name, svg in drawn.items():
        write_atomically(pictures / name, svg + "\n")
    write_atomically(path.with_suffix(".md"), page_markdown(told, pictures.name))
    write_atomically(path, page_html(told))
    return [path, path.with_suffix(".md"), *(pictures / name for name in drawn)]


def _percentages(told: Sequence[Told]) -> list[Beside]:
    """Published numbers that are per cent."""
    return [one for each in told if "%" in each.experiment.plot.y for one in each.beside]


def counts(told: Iterable[Told]) -> tuple[int, int, int, int]:
    """How many claims hold, of those that were measured; published numbers that agree, of those with a tolerance."""
    judged = [one for each in told for one in each.judged if one.outcome.verdict != "not measured"]
    beside = [one for each in told for one in each.beside if one.agrees is not None]
    right = sum(one.outcome.verdict == "holds" for one in judged)
    return right, len(judged), sum(bool(one.agrees) for one in beside), len(beside)


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
    seconds = sum(each.done.seconds for each in measured)
    facts = [
        ("experiments", f"{len(measured)} of {len(told)}", f"{quick} of them quick" if quick else "all of them whole"),
        ("claims that hold", f"{hold} of {claims}", "each is checked by a function of the numbers"),
        ("published numbers", f"{near} of {numbers}", "as near as their tolerance asks"),
        ("CPU time", _time(seconds), "what experiments share counts in each"),
    ]
    shown = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(more)}</small></dd></div>"
        for name, value, more in facts
    )
    agreement = agreement_svg(_percentages(told))
    figure = (
        f"<figure>{agreement}<figcaption>Every published percentage that has a tolerance, against ours. On the dashed "
        "line they are the same; orange ones are farther off than the tolerance.</figcaption></figure>"
        if agreement
        else ""
    )
    return (
        "<p class='soft'>Every table and figure of the papers that Shoal implements, measured anew, beside the numbers "
        f"that the papers print.</p>\n<dl class='facts'>{shown}</dl>\n{figure}"
    )


def _claims_html(told: Sequence[Told]) -> str:
    rows = []
    for each in told:
        for one in each.judged:
            place = f"{PAPERS[each.experiment.paper][0]}, {one.claim.place}"
            rows.append(
                f"<tr><td><a href='#{each.experiment.id}'>{escape(place)}</a></td><td>{escape(one.claim.says)}</td>"
                f"<td>{_tag(one)}</td></tr>"
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
        f"{'; quick run' if each.done.quick and each.done.points is not None else ''})</span></h3>\n"
        f"<p>{escape(own.claim)}</p>"
    )
    if each.done.points is None:
        return f"{head}\n<p class='note'>Not measured: {each.done.measured} of {each.done.units} units are there.</p>"
    figure = ""
    if each.figure:
        caption = f"{own.place}: {own.plot.y} by {own.plot.x}." if own.plot.x else own.place
        figure = f"<figure>{each.figure}<figcaption>{escape(caption)}</figcaption></figure>"
    tables = "\n".join(f"<div class='scroll'>{_grid_html(grid)}</div>" for grid in each.grids)
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
            f"<dl class='how'>{''.join(f'<dt>{a}</dt><dd>{escape(b)}</dd>' for a, b in _how(each))}</dl>",
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
    return f"<table class='numbers'><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _judged_html(one: Judged) -> str:
    why = ""
    if one.outcome.verdict in UNKEPT and one.claim.otherwise:
        why = f"<p class='small'><b>Why:</b> {escape(one.claim.otherwise)}</p>"
    return (
        f"<li><div>{_tag(one)}</div><div><p>{escape(one.claim.says)} "
        f"<span class='soft small'>({escape(one.claim.place)})</span></p>"
        f"<p class='small soft'>{escape(one.outcome.sentence)}</p>{why}</div></li>"
    )


def _how(each: Told) -> list[tuple[str, str]]:
    own, done = each.experiment, each.done
    asked = ", ".join(f"{name} {_plain(value)}" for name, value in own.asked(quick=done.quick).items())
    titles = ", ".join(manifest()[name].title for name in own.data)
    return [
        ("Data", titles + "."),
        ("Split", own.split),
        ("Seeds", own.seeds),
        ("Settings", asked + "."),
        ("Measured", f"{done.units} units, {_time(done.seconds)} of CPU{_others(done)}."),
    ]


def _others(done: Done) -> str:
    """Whether Shoal's code was another when something was measured."""
    other = sum(each.source != source_sha256() for each in done.kept)
    return f"; {other} of them when Shoal's code was not yet what it is now" if other else ""


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(own)}" for key, own in value.items()) or "as they are"
    return str(value).replace("'", "")


def _time(seconds: float) -> str:
    """A time as people say it.

    >>> _time(42), _time(600), _time(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _versions(told: Sequence[Told]) -> list[str]:
    found = {
        ", ".join(f"{name} {number}" for name, number in kept.versions.items())
        for each in told
        for kept in each.done.kept
    }
    return sorted(found)


def _end_html(told: Sequence[Told]) -> str:
    names = sorted({name for each in told for name in each.experiment.data})
    data = "".join(
        f"<tr><td>{escape(manifest()[name].title)}</td><td><code>{escape(file)}</code></td><td><code>{sha256[:16]}…</code>"
        "</td></tr>"
        for name in names
        for file, sha256 in manifest()[name].files.items()
    )
    versions = "".join(f"<li>{escape(each)}</li>" for each in _versions(told))
    return (
        "<h2>Measured with</h2>\n"
        f"<ul>{versions}</ul>\n<p>Again: <code>shoal papers run --all</code>, then <code>shoal papers report</code>. "
        "With <code>--quick</code> it takes minutes.</p>\n"
        "<table class='numbers'><thead><tr><th>table</th><th>file</th><th>SHA-256 of its contents</th></tr></thead>"
        f"<tbody>{data}</tbody></table>"
    )


def page_markdown(told: Sequence[Told], pictures: str) -> str:
    """The page as Markdown; pictures are files of a folder beside it."""
    hold, claims, near, numbers = counts(told)
    parts = [
        f"# {TITLE}",
        f"{hold} of {claims} claims hold; {near} of {numbers} published numbers are as near as their tolerance asks.",
    ]
    if agreement_svg(_percentages(told)):
        parts.append(f"![Published numbers against ours]({pictures}/agreement.svg)")
    parts += ["## Claims", claims_markdown(told)]
    for paper, (name, citation) in PAPERS.items():
        own = [each for each in told if each.experiment.paper == paper]
        if own:
            parts += [f"## {name}", f"{citation}."]
            parts += [part for each in own for part in _experiment_markdown(each, pictures)]
    parts += ["## Measured with", "\n".join(f"- {each}" for each in _versions(told))]
    return "\n\n".join(parts) + "\n"


def claims_markdown(told: Sequence[Told]) -> str:
    """All claims and what came of them, as one table."""
    lines = ["| where | claim | here |", "|---|---|---|"]
    for each in told:
        for one in each.judged:
            place = f"{PAPERS[each.experiment.paper][0]}, {one.claim.place}"
            lines.append(f"| {place} | {one.claim.says} | {one.outcome.verdict} |")
    return "\n".join(lines)


def _experiment_markdown(each: Told, pictures: str) -> list[str]:
    own = each.experiment
    quick = ", quick run" if each.done.quick and each.done.points is not None else ""
    parts = [f"### {own.title} ({own.place}{quick})", own.claim]
    if each.done.points is None:
        return [*parts, f"Not measured: {each.done.measured} of {each.done.units} units are there."]
    if each.figure:
        parts.append(f"![{own.title}]({pictures}/{own.id}.svg)")
    parts += [grid.markdown() for grid in each.grids]
    for one in each.judged:
        why = f" {one.claim.otherwise}" if one.outcome.verdict in UNKEPT else ""
        parts.append(f"- **{one.outcome.verdict}**: {one.claim.says} {one.outcome.sentence}{why}")
    parts += [f"- {note}" for note in own.notes]
    parts.append("\n".join(f"- {name}: {text}" for name, text in _how(each)))
    return parts
