# SPDX-License-Identifier: Apache-2.0
"""What we hold: tables as codes and dictionaries, who may know which column, how values generalise.

Files and data frames enter; a read-only `Table` leaves. This folder imports nothing else of Shoal's but its errors.
"""

from shoal.data.frames import to_table
from shoal.data.hierarchy import Hierarchy, load_hierarchies
from shoal.data.query import Query
from shoal.data.read import read_table
from shoal.data.roles import Roles
from shoal.data.sample import load_sample, write_sample
from shoal.data.table import Column, Table

__all__ = [
    "Column",
    "Hierarchy",
    "Query",
    "Roles",
    "Table",
    "load_hierarchies",
    "load_sample",
    "read_table",
    "to_table",
    "write_sample",
]
