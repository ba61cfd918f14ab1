# SPDX-License-Identifier: Apache-2.0
"""The telling: an audit for the person who signs.

A release and its audit enter; one page leaves that needs no network, no script and no explanation
by a colleague. `layout` decides what is shown and where, the other files draw it. This
folder counts nobody itself.
"""

from shoal.report.html import report_html, write_report
from shoal.report.plot import plot_tree
from shoal.report.plot_clusters import plot_clusters
from shoal.report.plot_compare import plot_compared
from shoal.report.plot_frontier import plot_frontier

__all__ = ["plot_clusters", "plot_compared", "plot_frontier", "plot_tree", "report_html", "write_report"]
