# SPDX-License-Identifier: Apache-2.0
"""Rules with categories in place of public items: more people have a category, so groups are larger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shoal.rules.mine import Items

Categories = dict[str, tuple[str, ...]]


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
    """

    def __init__(self, rows: Sequence[Sequence[str]], public: Items, items: Iterable[str]) -> None:
        known = set(items)
        rows = [row for row in rows if row[0] in known]
        self.levels: list[dict[str, str]] = []
        self.members: Categories = {}
        for level in range(1, len(rows[0]) - 1 if rows else 0):
            inside: dict[str, list[str]] = {}
            for row in rows:
                inside.setdefault(row[level], []).append(row[0])
            used = {name: each for name, each in inside.items() if len(each) > 1 and set(each) <= public}
            of_item = {}
            for name, each in used.items():
                category = self._named(name, known, tuple(sorted(each)))
                of_item.update(dict.fromkeys(each, category))
            self.levels.append(of_item)

    def _named(self, name: str, known: set[str], members: tuple[str, ...]) -> str:
        """A name that is no item's, nor that of another category: the levels may use the same word twice."""
        category = f"any {name}"
        while category in known or self.members.get(category, members) != members:
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

    def _is_nested(self, items: Items) -> bool:
        """Whether an item is named beside its own category, which it makes certain."""
        return any(member in items for item in items for member in self.members.get(item, ()))
