# SPDX-License-Identifier: Apache-2.0
"""The worst case of PKDD'06 Sect. 3.2: private splits on top, another public attribute under each leaf."""

import tracemalloc

import numpy as np

from shoal import AnonymousTreeClassifier, KAnonymity, Roles, audit
from shoal.audit.recount import recount
from shoal.data.table import Column, Table
from shoal.release import Attribute, Branch, Node, TreeRelease
from shoal.trees.mine import grow, prepare

PRIVATE, PUBLIC, VALUES = 3, 8, 4  # 2**3 private leaves, each with a public attribute of its own


def categorical(name, codes, values):
    return Column(name, "categorical", codes.astype(np.uint8), tuple(values))


def worst_table(n_rows, rng):
    """The class is the parity of the public attribute that the private ones point to."""
    private = rng.integers(0, 2, (n_rows, PRIVATE))
    public = rng.integers(0, VALUES, (n_rows, PUBLIC))
    pointed = public[np.arange(n_rows), private @ (1 << np.arange(PRIVATE))]
    target = (pointed % 2) ^ (rng.random(n_rows) < 0.05)
    # a faint trace of each private attribute, or no greedy grower would ever ask for it
    target = np.where(rng.random(n_rows) < 0.2, private[:, 0] ^ private[:, 1] ^ private[:, 2], target)
    target = np.where(rng.random(n_rows) < 0.3, private[:, 0], target)
    columns = [categorical(f"p{i}", private[:, i], "01") for i in range(PRIVATE)]
    columns += [categorical(f"q{i}", public[:, i], "abcd") for i in range(PUBLIC)]
    return Table([*columns, categorical("t", target, "ny")])


def test_spans_stay_bounded_while_growing():
    rng = np.random.default_rng(0)
    table = worst_table(8_000, rng)
    roles = Roles.resolve(table.names, target="t", private=[f"p{i}" for i in range(PRIVATE)])

    def grown(table):
        return grow(prepare(table, roles, KAnonymity(5), domain=None, hierarchies={}))

    grown(worst_table(500, rng))  # what is compiled takes memory too, and is slow to trace
    tracemalloc.start()
    grown(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    tree = AnonymousTreeClassifier(privacy=20, public=roles.public).fit(table, "t")
    verdict = audit(tree, table)
    assert verdict.holds
    # every span that counts holds k people, so there are at most n / k of them
    assert verdict.n_groups <= table.n_rows // 20


def test_the_audit_counts_as_many_spans_as_the_public_domain_has():
    """All of VALUES**PUBLIC public tuples, each a span of its own: 65,536 groups of one."""
    n = VALUES**PUBLIC
    cells = np.stack(np.unravel_index(np.arange(n), (VALUES,) * PUBLIC), axis=1)
    columns = [categorical(f"p{i}", np.zeros(n, dtype=int), "01") for i in range(PRIVATE)]
    columns += [categorical(f"q{i}", cells[:, i], "abcd") for i in range(PUBLIC)]
    target = np.arange(n) % 2
    table = Table([*columns, categorical("t", target, "ny")])
    release = worst_tree(table)
    groups = recount(release, table, None, None).groups
    assert len(groups) == n
    assert groups.people.max() == 1
    # a leaf of each private branch, two classes each
    assert set(groups.n_bins.tolist()) == {2 * 2**PRIVATE}


def worst_tree(table):
    attributes = tuple(
        Attribute(name, "private" if name[0] in "pt" else "public", "categorical", values=table[name].names)
        for name in table
    )
    nodes: list[Node] = []
    for depth in range(PRIVATE):  # a full binary tree of private tests, numbered level by level
        for i in range(2**depth):
            child = 2 ** (depth + 1) - 1 + 2 * i
            nodes.append(Node(f"p{depth}", (Branch(child, ("0",)), Branch(child + 1, ("1",)))))
    first = len(nodes) + 2**PRIVATE
    for i in range(2**PRIVATE):
        nodes.append(Node(f"q{i}", tuple(Branch(first + VALUES * i + v, (c,)) for v, c in enumerate("abcd"))))
    nodes += [Node(counts=(0, 0))] * (VALUES * 2**PRIVATE)
    release = TreeRelease("t", attributes, ({"requirement": "k-anonymity", "k": 2},), tuple(nodes))
    ends = release.apply(table)
    counts = np.zeros((len(nodes), 2), dtype=int)
    np.add.at(counts, (ends, table["t"].codes), 1)
    nodes = [Node(counts=tuple(map(int, c))) if n.is_leaf else n for n, c in zip(nodes, counts, strict=True)]
    return TreeRelease("t", attributes, release.claims, tuple(nodes))
