# SPDX-License-Identifier: Apache-2.0
"""``shoal clusters``: find clusters that keep the promise."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import output
from shoal.cli.options import Data, Json, Plot, Report, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import read_data, resolve_roles, source_of


class Method(StrEnum):
    """How clusters are split."""

    mst = "mst"
    kmeans = "kmeans"


@takes("k", "public", "roles", "sensitive", "person", "hierarchies", "reading")
def clusters(
    project: Project,
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the release to this file.")
    ] = None,
    n_clusters: Annotated[int | None, typer.Option("-n", metavar="N", help="Stop at this many clusters.")] = None,
    method: Annotated[
        Method | None,
        typer.Option(
            metavar="mst|kmeans",
            help="Cut the longest edges of a spanning tree, or use k-means; by default the tree up to 5,000 rows.",
        ),
    ] = None,
    min_gain: Annotated[
        float, typer.Option(metavar="SHARE", help="By what share of all inertia a split must lower it at least.")
    ] = 0.01,
    allow_small: Annotated[
        bool, typer.Option("--allow-small", help="Allow centroids of fewer than k people; one of one is his row.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of k-means.")] = 0,
    report: Report = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Find clusters whose centroids keep the promise, and audit them.

    The promise comes from -k and [privacy] of shoal.toml. Nothing is written unless the audit holds.
    """
    from shoal.audit import audit
    from shoal.clusters import AnonymousClusters
    from shoal.data import load_hierarchies

    source = source_of(project, data)
    output.check_outputs([out, report, plot], [source, project.file])
    if report is not None:
        output.check_report()
    if plot is not None:
        output.check_plot(plot)
    requirement = project.requirement()
    if requirement is None:
        raise Usage("No promise: say how many people a group must have, with -k 10 or [privacy] k in shoal.toml.")
    table = read_data(project, source)
    roles = resolve_roles(project, table, need_target=False)
    gone = [name for name in roles.identifier if name != project.person]
    known = [name for name in table if name not in gone and roles.of(name) == "public"]
    sensitive = roles.sensitive
    if project.target is not None and roles.target_role == "private":
        sensitive = (project.target, *sensitive)
    hierarchies = load_hierarchies(project.hierarchies, table.names, project.folder)
    table = table.drop(gone)
    with output.busy("Mining"):
        model = AnonymousClusters(
            requirement,
            public=known,
            n_clusters=n_clusters,
            method=None if method is None else method.value,
            min_gain=min_gain,
            allow_small=allow_small,
            sensitive=sensitive,
            domain={name: values for name, values in project.domain.items() if name not in roles.identifier},
            person=project.person,
            hierarchies={name: each for name, each in hierarchies.items() if name in table and name != project.person},
            random_state=seed,
        ).fit(table)
        release = model.release_
        verdict = audit(release, table, person=project.person)
    if report is not None:
        output.write_audit_report(report, release, verdict)
    if plot is not None:
        output.write_clusters_plot(plot, release, table, verdict)
    if out is not None:
        output.write_release(out, release)
    if as_json:
        output.say_json({"release": release.to_json(), "audit": verdict.to_json(), "written": output.written})
        return
    output.say(str(release))
    output.say()
    output.say_audit(verdict)
    for path in output.written:
        output.say(f"wrote {path}")
