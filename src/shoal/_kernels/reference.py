# SPDX-License-Identifier: Apache-2.0
"""The slow, obvious twins of the kernels, for the tests."""

from __future__ import annotations

import numpy as np


def count_keys(keys, starts, ends, out):
    for s, (start, end) in enumerate(zip(starts, ends, strict=True)):
        np.add.at(out, (s, keys[start:end]), 1)


def count_pairs(keys, others, starts, ends, out):
    for s, (start, end) in enumerate(zip(starts, ends, strict=True)):
        np.add.at(out, (s, keys[start:end], others[start:end]), 1)


def branches(keys, per_code, branch_of, starts, ends, branch, sizes):
    for s, (start, end) in enumerate(zip(starts, ends, strict=True)):
        branch[start:end] = branch_of[s, keys[start:end] // per_code]
        sizes[s] += np.bincount(branch[start:end], minlength=sizes.shape[1])


def sort_by_branch(column, branch, starts, ends, sizes):
    for start, end in zip(starts, ends, strict=True):
        column[start:end] = column[start:end][np.argsort(branch[start:end], kind="stable")]


def regroup(counts, group_of, out):
    for code, group in enumerate(group_of):
        out[:, group] += counts[:, code]


def impurity(counts, gini, scale):
    people = int(counts.sum())
    if people == 0:
        return 0
    if gini:
        return int(np.rint((people - float((counts.astype(np.float64) ** 2).sum()) / people) * scale))
    return _term(people, scale) - sum(_term(int(x), scale) for x in counts)


def _term(x, scale):
    return int(np.rint(x * np.log2(x) * scale)) if x > 1 else 0


def gains(counts, gini, scale):
    return np.array(
        [
            impurity(node.sum(axis=0), gini, scale) - sum(impurity(group, gini, scale) for group in node)
            for node in counts
        ],
        dtype=np.int64,
    )


def threshold_gains(counts, n_known, n_sides, gini, scale):
    out = np.zeros((len(counts), n_known - 1, n_sides), dtype=np.int64)
    for s, node in enumerate(counts):
        for cut in range(n_known - 1):
            for side in range(n_sides):
                low = node[: cut + 1].sum(axis=0) + (node[n_known] if side else 0)
                both = np.stack([low, node.sum(axis=0) - low])
                out[s, cut, side] = gains(both[None], gini, scale)[0]
    return out


def best_cuts(counts, n_known, n_sides, least, gini, scale):
    every = threshold_gains(counts, n_known, n_sides, gini, scale)
    for s, node in enumerate(counts):
        for cut in range(n_known - 1):
            for side in range(n_sides):
                low = node[: cut + 1].sum() + (node[n_known].sum() if side else 0)
                if min(low, node.sum() - low) < least:
                    every[s, cut, side] = 0
    flat = every.reshape(len(counts), -1)
    return flat.max(axis=1), flat.argmax(axis=1)


def order_halves(counts, units, rare):
    few = counts.sum(axis=2) < rare
    counts = counts * units
    people = counts.sum(axis=2)
    main = np.take_along_axis(counts, counts.sum(axis=1).argmax(axis=1)[:, None, None], axis=2)[:, :, 0]
    of_few = (main * few).sum(axis=1) / np.maximum((people * few).sum(axis=1), 1)
    share = np.where(few, of_few[:, None], main / np.maximum(people, 1))
    return np.lexsort((few, share), axis=1)


def best_halves(counts, order, rare, least, gini, scale):
    ordered = np.take_along_axis(counts, order[:, :, None], axis=1)
    every = threshold_gains(ordered, ordered.shape[1], 1, gini, scale)[:, :, 0]
    people = ordered.sum(axis=2)
    low = np.cumsum(people, axis=1)[:, :-1]
    few = people < rare
    every[few[:, :-1] & few[:, 1:]] = 0
    every[np.minimum(low, people.sum(axis=1, keepdims=True) - low) < least] = 0
    return every.max(axis=1), every.argmax(axis=1)


def ladder(people, counts, maps, rare, most, gini, scale):
    """One node's ladder as its stages, each a set of groups of codes; and how many merges the rare values took."""
    n, n_levels = len(people), len(maps)

    def size(group):
        return sum(int(people[code]) for code in group)

    def sums(group):
        return sum(counts[code] for code in group)

    def order(group):
        return (size(group), tuple(sums(group)), min(group))

    def families(group, level):
        return {int(maps[level][code]) if level < n_levels else 0 for code in group}

    def common(group):
        return next(level for level in range(n_levels + 1) if len(families(group, level)) == 1)

    def loss(a, b):
        return impurity(sums(a | b), gini, scale) - impurity(sums(a), gini, scale) - impurity(sums(b), gini, scale)

    def merge(a, b):
        groups = (stages[-1] - {a, b}) | {a | b}
        stages.append(groups)
        return a | b

    least = rare if n <= most else max(rare, sorted(people, reverse=True)[most] + 1)
    stages = [frozenset(frozenset([code]) for code in range(n))]
    for level in range(1, n_levels + 1):
        for family in range(n):
            own = [group for group in stages[-1] if families(group, level) == {family}]
            small = sorted((group for group in own if size(group) < least), key=min)
            large = sorted((group for group in own if size(group) >= least), key=order)
            if small:
                pool = small[0]
                for group in small[1:]:
                    pool = merge(pool, group)
                if size(pool) < least and large:
                    merge(pool, large[0])
    by_size = len(stages) - 1
    while len(stages[-1]) > 1:
        smallest = min(stages[-1], key=order)
        others = stages[-1] - {smallest}
        merge(smallest, min(others, key=lambda other: (common(smallest | other), loss(smallest, other), order(other))))
    return stages, by_size


def ladder_sums(counts, into):
    out = np.zeros((len(counts), into.shape[1], counts.shape[2]), dtype=np.int64)
    for s, node in enumerate(counts):
        for code in range(len(node)):
            group = code
            out[s, group] += node[code]
            while group < into.shape[1] - 1:
                group = into[s, group]
                out[s, group] += node[code]
    return out


def ladder_stages(into):
    """The stages of one ladder, each a set of groups of codes."""
    n = (len(into) + 1) // 2
    members = {code: frozenset([code]) for code in range(n)}
    stages = [frozenset(members.values())]
    for new in range(n, 2 * n - 1):
        parts = [group for group in range(new) if into[group] == new]
        members[new] = frozenset().union(*(members.pop(part) for part in parts))
        stages.append(frozenset(members.values()))
    return stages


def outlook(codes, classes, n_classes, branch, n_codes, ordered, missing, least, rare, fewest, price, gini, scale):
    def by_class(rows):
        return np.bincount(classes[rows], minlength=n_classes)

    def parts(f, rows):
        """Every way to split people by a feature, as a mask; in the order in which ties are broken."""
        mine = codes[rows, f].astype(int)
        if ordered[f]:
            n_known = n_codes[f] - missing[f]
            for side in range(1 + missing[f]):
                for cut in range(n_known - 1):
                    if (mine == cut).any():
                        yield np.where(mine == n_known, side == 1, mine <= cut)
            return
        main = by_class(rows).argmax()
        sizes = np.bincount(mine, minlength=n_codes[f])
        groups = [[value] for value in range(n_codes[f]) if sizes[value] >= rare]
        few = [value for value in range(n_codes[f]) if 0 < sizes[value] < rare]
        shares = {id(g): (classes[rows][np.isin(mine, g)] == main).mean() for g in [*groups, few] if g}
        ranked = sorted([*groups, *([few] if few else [])], key=lambda g: (shares[id(g)], g is few))
        for n in range(1, len(ranked)):
            yield np.isin(mine, [value for group in ranked[:n] for value in group])

    def cost(rows):
        leaf = impurity(by_class(rows), False, scale) + price
        if leaf <= 2 * price or len(rows) < max(2 * least, fewest):
            return leaf
        best, chosen = 0, None
        for f in range(len(n_codes)):
            for low in parts(f, rows):
                if least <= low.sum() <= len(rows) - least:
                    both = np.stack([by_class(rows[low]), by_class(rows[~low])])
                    gain = gains(both[None], gini, scale)[0]
                    if gain > best:
                        best, chosen = gain, low
        if best <= 3 * (n_classes + 1):
            return leaf
        return min(leaf, cost(rows[chosen]) + cost(rows[~chosen]))

    return sum(cost(np.flatnonzero(branch == b)) for b in np.unique(branch))


def people_by_branch(person, keys, per_code, branch_of, starts, ends, out):
    for s, (start, end) in enumerate(zip(starts, ends, strict=True)):
        branch = branch_of[s, keys[start:end] // per_code]
        for b in range(out.shape[1]):
            out[s, b] += len(set(person[start:end][branch == b].tolist()))


def people_by_value(person, keys, per_code, branch_of, values, starts, ends, out):
    for s, (start, end) in enumerate(zip(starts, ends, strict=True)):
        branch = branch_of[s, keys[start:end] // per_code]
        for b in range(out.shape[1]):
            here = branch == b
            of_person = {}
            for whose, value in zip(person[start:end][here].tolist(), values[start:end][here].tolist(), strict=True):
                of_person.setdefault(whose, set()).add(value)
            have = [sum(value in own for own in of_person.values()) for value in range(out.shape[2])]
            for own in of_person.values():
                out[s, b, min(own, key=lambda value: (-have[value], value))] += 1


def runs_of_people(codes, person, n_people, size, ends):
    run, seen = 0, set()
    for code in sorted(set(codes.tolist())):
        seen |= set(person[codes == code].tolist())
        if len(seen) >= size:
            ends[run] = code + 1
            run, seen = run + 1, set()
    return max(run, 1)


def cheapest_cuts(ranks, kinds, known, unit, node, value, at, seen_at, offsets, lengths, tail, cost, before):
    n = len(ranks)
    cost[:], before[:], cost[0] = np.inf, -1, 0.0

    def try_group(start, end):
        total = cost[start] + (end - start) * _group_loss(ranks[start:end], kinds, known, unit, node, value, at)
        if total < cost[end]:
            cost[end], before[end] = total, start

    for start in range(n):
        for length in lengths if len(offsets) == 0 else lengths[offsets[start] : offsets[start + 1]]:
            if start + length <= n:
                try_group(start, start + length)
    for start in range(len(tail) - 1, -1, -1):
        if tail[start]:
            try_group(start, n)


def _group_loss(ranks, kinds, known, unit, node, value, at):
    total = 0.0
    for j, column in enumerate(ranks.T):
        there, gap = set(column.tolist()) - {known[j]}, known[j] in column
        if kinds[j] == 1:  # a set of values
            total += (len(there) + gap - 1) * unit[j]
        elif there:
            low, high = min(there), max(there)
            if kinds[j] == 0:  # an interval
                total += value[at[j] + high] - value[at[j] + low]
            else:  # the lowest node of a hierarchy
                levels = range(at[j], len(node), known[j])
                first = next(level for level in levels if node[level + low] == node[level + high])
                total += value[first + low]
            total += gap * unit[j]
    return total
