# SPDX-License-Identifier: Apache-2.0
"""How the pages are made. No network is needed: nothing is looked up elsewhere."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

project = "Shoal"
author = "the Shoal authors"
copyright = "the Shoal authors"
release = version = metadata.version("shoal")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
nitpicky = True
# types of other libraries are not looked up, because that would need the network
nitpick_ignore_regex = [
    (r"py:.*", r"(?!shoal\.).*"),
    (r"py:.*", r"shoal\.[a-z_.]+\.(Domain|Criterion|Kind|Role).*"),
]
# a bare name such as n_people stands in several classes: no link is better than a guess
suppress_warnings = ["ref.python"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = "Shoal"
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_depth": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _by_last_name(app: Sphinx, env: Any, node: Any, contnode: nodes.Node) -> nodes.Node | None:
    """Find a name of the front door by its last part: shoal.audit.result.Audit is shoal.Audit."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target:
        return None
    found = env.domains["py"].objects.get("shoal." + target.rpartition(".")[2])
    if found is None:
        return None
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, contnode, target)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("missing-reference", _by_last_name)
