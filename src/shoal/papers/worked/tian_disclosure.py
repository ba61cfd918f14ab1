# SPDX-License-Identifier: Apache-2.0
"""Tian et al. (2012), Fig. 2 and Example 1: a tree whose leaves are of one class each, and what it discloses.

Of the picture the text tells two paths: old men have diabetes, and women with breast cancer, on the leftmost path, a
high income. The two others and the people of each are ours.
"""

from __future__ import annotations

from shoal import attack, audit, to_table
from shoal.papers.worked import Numbers, worked
from shoal.release import Attribute, Branch, Node, TreeRelease

VALUES = {
    "sex": ("woman", "man"),
    "age": ("old", "young"),
    "income": ("high", "low"),
    "disease": ("breast cancer", "flu", "diabetes", "asthma"),
}
PEOPLE = 10  # on each path


def fig2(private: str) -> TreeRelease:
    """The tree; a single column is private."""
    attributes = tuple(
        Attribute(name, "private" if name == private else "public", "categorical", values=values)
        for name, values in VALUES.items()
    )
    nodes = (
        Node("sex", (Branch(1, ("woman",)), Branch(2, ("man",)))),
        Node("income", (Branch(3, ("high",)), Branch(4, ("low",)))),
        Node("age", (Branch(5, ("old",)), Branch(6, ("young",)))),
        *(Node(counts=tuple(PEOPLE * (place == own) for place in range(4))) for own in range(4)),
    )
    return TreeRelease("disease", attributes, ({"requirement": "k-anonymity", "k": PEOPLE},), nodes)


@worked("tian-fig2")
def disclosed() -> Numbers:
    """How sure an attacker is who links people to the tree, of whom he knows all but one column."""
    half = ["one", "other"] * PEOPLE
    people = to_table(
        {
            "sex": ["woman"] * 2 * PEOPLE + ["man"] * 2 * PEOPLE,
            "age": ["old" if each == "one" else "young" for each in half] + ["old"] * PEOPLE + ["young"] * PEOPLE,
            "income": ["high"] * PEOPLE + ["low"] * PEOPLE + ["high" if each == "one" else "low" for each in half],
            "disease": [disease for disease in VALUES["disease"] for _ in range(PEOPLE)],
        }
    )
    known = attack(fig2("disease"), people)
    old_man = 2 * PEOPLE
    disease = known.beliefs[known.group_of_person[old_man]][VALUES["disease"].index("diabetes")]
    woman = attack(fig2("income"), people)
    income = dict(woman.conditions["income"][woman.group_of_person[0]])
    return {
        "an old man: diabetes, %": 100 * float(disease),
        "a woman with breast cancer: high income, %": 100 * income["= high"],
        "the tree is 10-anonymous (1: yes)": audit(fig2("disease"), people, privacy=PEOPLE).holds,
    }
