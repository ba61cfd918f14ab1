# SPDX-License-Identifier: Apache-2.0
"""VLDB'08 Fig. 1."""

from shoal.papers.worked.clients import PUBLIC
from shoal.release import Attribute, Branch, Node, TreeRelease


def client_tree():
    yes_no = ("Yes", "No")
    values = {"gender": ("Male", "Female"), "married": yes_no, "age": ("Young", "Old"), "sports car": yes_no}
    attributes = tuple(Attribute(name, "public", "categorical", values=values[name]) for name in PUBLIC)
    attributes += (Attribute("loan risk", "private", "categorical", values=("good", "bad")),)
    nodes = (
        Node("gender", (Branch(1, ("Male",)), Branch(2, ("Female",)))),
        Node("age", (Branch(3, ("Young",)), Branch(4, ("Old",)))),
        Node("married", (Branch(5, ("Yes",)), Branch(6, ("No",)))),
        Node(counts=(3, 0)),
        Node(counts=(1, 2)),
        Node(counts=(0, 3)),
        Node(counts=(2, 1)),
    )
    return TreeRelease("loan risk", attributes, ({"requirement": "k-anonymity", "k": 3},), nodes)
