# SPDX-License-Identifier: Apache-2.0
"""Rules with categories, or "this or that", in place of public items: more people have one, so groups are larger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from shoal.rules.mine import Candidate, Items

Categories = dict[str, tuple[str, ...]]
MOST_MERGED = 5  # items that become one
MOST_MERGES = 1_000


class ItemHierarchy:
    """Categories of public items, level by level.

    Parameters
    ----------
    rows
        For every item a row: itself, the category it is in, the category of that, and so on to the root.
    public
        The public items. A category is used where all its members are public and there are several.
    items
        All items of the transactions; others in the hierarchy are left aside.
    column_of
        Of items that are cells of a table, the column. The members of a category are of one column then.
    """

    def __init__(
        self, rows: Sequence[Sequence[str]], public: Items, items: Iterable[str], column_of: Mapping[str, str]
    ) -> None:
        self.column_of = column_of
        self.public = public
        self.known = known = set(items)
        rows = [row for row in rows if row[0] in known]
        self.levels: list[dict[str, str]] = []
        self.members: Categories = {}
        for level in range(1, len(rows[0]) - 1 if rows else 0):
            inside: dict[str, list[str]] = {}
            for row in rows:
                inside.setdefault(row[level], []).append(row[0])
            used = {
                name: each
                for name, each in inside.items()
                if len(each) > 1 and set(each) <= public and len(set(map(column_of.get, each))) == 1
            }
            of_item = {}
            for name, each in used.items():
                category = self._named(f"any {name}", known, tuple(sorted(each)))
                of_item.update(dict.fromkeys(each, category))
            self.levels.append(of_item)

    def _named(self, category: str, known: set[str], members: tuple[str, ...]) -> str:
        """A name that is no item's, nor that of other members: the levels may use the same word twice."""
        for name, same in self.members.items():
            if same == members:
                return name
        while category in known or category in self.members:
            category += "*"
        self.members[category] = members
        return category

    def of_rule(self, antecedent: Items, consequent: Items) -> Iterator[tuple[Items, Items]]:
        """The sides of a rule with some of its items generalised: each alone, and all of them, level by level."""
        for of_item in self.levels:
            items = [item for item in sorted(antecedent | consequent) if item in of_item]
            for chosen in dict.fromkeys([*((item,) for item in items), tuple(items)]):
                step = {item: of_item[item] for item in chosen}
                before = frozenset(step.get(item, item) for item in antecedent)
                after = frozenset(step.get(item, item) for item in consequent) - before
                if chosen and after and not self._is_nested(before | after):
                    yield before, after

    def merged(self, rules: Sequence[Candidate]) -> Iterator[tuple[Items, Items]]:
        """The sides of rules that differ in one public item, as one rule with "this or that" in its place.

        Of the most valuable such rules, which come first, any two and all.
        """
        alike: dict[tuple[Items, Items, bool, str | None], list[str]] = {}
        for rule in rules:
            for item in sorted(rule.both & self.public):
                before, after = rule.antecedent - {item}, rule.consequent - {item}
                side = item in rule.antecedent, self.column_of.get(item)
                alike.setdefault((before, after, *side), []).append(item)
        n_before = len(self.members)
        for (before, after, in_antecedent, _), items in alike.items():
            items = items[:MOST_MERGED]
            for chosen in dict.fromkeys([*combinations(items, 2), *([tuple(items)] if len(items) > 2 else [])]):
                members = tuple(sorted(chosen))
                if set(members) & (before | after) or len(self.members) - n_before > MOST_MERGES:
                    continue
                category = frozenset({self._named(" or ".join(members), self.known, members)})
                yield (before | category, after) if in_antecedent else (before, after | category)

    def _is_nested(self, items: Items) -> bool:
        """Whether an item is named beside its own category, which it makes certain."""
        return any(member in items for item in items for member in self.members.get(item, ()))
