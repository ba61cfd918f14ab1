# SPDX-License-Identifier: Apache-2.0
"""VLDB'08 Tables 1 and 2 and Fig. 1."""

from shoal import to_table
from shoal.release import Attribute, Branch, Node, TreeRelease

CLIENTS = [
    ("Male", "Yes", "Young", "Yes", "good"),
    ("Male", "Yes", "Young", "No", "good"),
    ("Male", "Yes", "Young", "Yes", "good"),
    ("Male", "Yes", "Old", "Yes", "good"),
    ("Male", "Yes", "Old", "Yes", "bad"),
    ("Male", "No", "Old", "Yes", "bad"),
    ("Female", "No", "Young", "No", "good"),
    ("Female", "No", "Old", "Yes", "good"),
    ("Female", "No", "Young", "No", "bad"),
    ("Female", "Yes", "Young", "No", "bad"),
    ("Female", "Yes", "Young", "Yes", "bad"),
    ("Female", "Yes", "Young", "Yes", "bad"),
]

TABLE_2 = [
    ("Male", "*", "Young", "*", "good"),
    ("Male", "*", "Young", "*", "good"),
    ("Male", "*", "Young", "*", "good"),
    ("Male", "*", "Old", "*", "good"),
    ("Male", "*", "Old", "*", "bad"),
    ("Male", "*", "Old", "*", "bad"),
    ("Female", "No", "*", "*", "good"),
    ("Female", "No", "*", "*", "good"),
    ("Female", "No", "*", "*", "bad"),
    ("Female", "Yes", "*", "*", "bad"),
    ("Female", "Yes", "*", "*", "bad"),
    ("Female", "Yes", "*", "*", "bad"),
]

COLUMNS = ["gender", "married", "age", "sports car", "loan risk"]


def clients():
    return to_table(dict(zip(COLUMNS, zip(*CLIENTS, strict=True), strict=True)))


def client_tree():
    yes_no = ("Yes", "No")
    values = {"gender": ("Male", "Female"), "married": yes_no, "age": ("Young", "Old"), "sports car": yes_no}
    attributes = tuple(Attribute(name, "public", "categorical", values=values[name]) for name in COLUMNS[:-1])
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
