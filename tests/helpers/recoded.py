# SPDX-License-Identifier: Apache-2.0
"""Groups of rows judged by the definitions, one by one, with nothing of the library's own."""

from collections import Counter, defaultdict
from fractions import Fraction
from math import log2


def values_of(group, person):
    """The private value of each person of a group; of several, the one that most people of it have, then the lowest."""
    if person is None:
        return [row["ill"] for row in group]
    has = defaultdict(set)
    for row in group:
        has[row[person]].add(row["ill"])
    people = Counter(value for values in has.values() for value in values)
    return [min(values, key=lambda value: (-people[value], value)) for values in has.values()]


def group_holds(kind, group, table, person):
    """Whether a group of rows keeps a requirement, in a table of rows."""
    if " & " in kind:
        return all(group_holds(part, group, table, person) for part in kind.split(" & "))
    values = values_of(group, person)
    counts = sorted(Counter(values).values(), reverse=True)
    n = len(values)
    if kind[0] == "k":
        return n >= int(kind[1:])
    if kind == "distinct":
        return len(counts) >= 2
    if kind == "entropy":
        return -sum(c / n * log2(c / n) for c in counts) >= log2(1.6)
    if kind == "simple":
        return counts[0] * 3 <= n * 2  # l = 1.5
    if kind == "recursive":
        return counts[0] < 2 * sum(counts[1:])
    everybody = Counter(values_of(table, person))
    total = sum(everybody.values())
    own = Counter(values)
    apart = sum(abs(Fraction(own[v], n) - Fraction(everybody[v], total)) for v in everybody | own)
    return apart / 2 <= Fraction(3, 10)


def left_out(kind, groups, person):
    """The groups (by name) that fail: all that do, then those that do against the rest, until no more do."""
    kept = dict(groups)
    while kept:
        table = [row for group in kept.values() for row in group]
        failing = [name for name, group in kept.items() if not group_holds(kind, group, table, person)]
        if not failing:
            break
        for name in failing:
            del kept[name]
    return [name for name in groups if name not in kept]
