"""What corrections prove about m + k, against every world there could be behind them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import pytest

from tellapart.learners.difficulty import Told, allowance, least
from tellapart.theory import adaptive_bound


class Case(NamedTuple):
    """Some corrections: of items 0, 1, ... in order."""

    labels: tuple[int, ...]
    examples: tuple[int, ...]
    """An earlier item, or a number from 100 on: one that was guessed right."""
    holds: tuple[tuple[bool, ...], ...]
    """Whether the feature named for item i holds on item j; on i itself, whether one was named."""

    def told(self) -> Iterator[Told]:
        n = range(len(self.labels))
        features: dict[int, set[str]] = {i: {f"f{j}" for j in n if self.holds[j][i]} for i in n}
        items = {i: frozenset({f"item {i}"} | features.get(i, set())) for i in {*n, *self.examples}}
        for i in n:
            feature = f"f{i}" if self.holds[i][i] else None
            yield Told(items[i], self.labels[i], feature, items[self.examples[i]])


def proven(case: Case) -> int:
    return least([*case.told()])


def possible(case: Case) -> int:
    """The least m + k of any world in which all this can be said: every choice of exceptions.

    (A slip may be taken for an exception: that allows more.)
    """
    n = len(case.labels)
    everything = sorted({*range(n), *case.examples})
    best = 2 * n + 1
    for count in range(len(everything) + 1):
        for odd in combinations(everything, count):
            sound = [i for i in range(n) if i not in odd and case.examples[i] not in odd]
            unnamed = sum(not case.holds[i][i] for i in sound)  # a bad round each
            apart = {pair for i in sound for pair in _apart(case, i)}
            apart |= {(u, v) for u, v in combinations(everything, 2) if _differ(case, u, v, odd)}
            best = min(best, count + unnamed + colours(everything, apart))
    return best


def _apart(case: Case, i: int) -> Iterator[tuple[int, int]]:
    """Pairs that cannot share a component, by what was named for item i."""
    if not case.holds[i][i]:
        return
    example, n = case.examples[i], len(case.labels)
    yield i, example
    for j in range(n):
        yield (example if case.holds[i][j] else i), j


def _differ(case: Case, u: int, v: int, odd: tuple[int, ...]) -> bool:
    """Whether two ordinary items have different labels, as far as they are known."""
    n = len(case.labels)
    if u in odd or v in odd or u >= n:
        return False
    if v < n:
        return case.labels[u] != case.labels[v]
    shown_for = {label for label, e in zip(case.labels, case.examples, strict=True) if e == v}
    return case.labels[u] in shown_for  # a guess was wrong: the example's label is another


def colours(nodes: list[int], apart: set[tuple[int, int]]) -> int:
    """How many components are needed."""
    links = {frozenset(pair) for pair in apart if pair[0] != pair[1]}

    def place(left: list[int], groups: list[list[int]], best: int) -> int:
        if len(groups) >= best:
            return best
        if not left:
            return len(groups)
        node, *rest = left
        for group in groups:
            if all(frozenset({node, other}) not in links for other in group):
                group.append(node)
                best = place(rest, groups, best)
                group.pop()
        return place(rest, [*groups, [node]], best)

    return place(nodes, [], len(nodes) + 1)


def cases(n: int) -> Iterator[Case]:
    """All of n corrections, up to names."""
    for labels in product(range(n), repeat=n):
        if any(label > max(labels[:i], default=-1) + 1 for i, label in enumerate(labels)):
            continue
        shown = [[*range(i), *range(100, 101 + i)] for i in range(n)]
        for examples in product(*shown):
            if any(e < n and labels[e] == labels[i] for i, e in enumerate(examples)):
                continue  # its label would be the right one
            for bits in product((True, False), repeat=n * n):
                holds = tuple(bits[i * n : i * n + n] for i in range(n))
                if legal(examples, holds):
                    yield Case(labels, examples, holds)


def legal(examples: tuple[int, ...], holds: tuple[tuple[bool, ...], ...]) -> bool:
    """A feature does not hold on the example it was named against; without one nothing holds."""
    return all(
        any(row) == row[i] and not (examples[i] < len(row) and row[examples[i]])
        for i, row in enumerate(holds)
    )


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_more_is_proven_than_any_world_allows(n):
    tight = tried = 0
    for case in cases(n):
        shown, true = proven(case), possible(case)
        assert shown <= true, case
        tight += shown == true
        tried += 1
    assert n == 1 or tight > tried / 10


def test_no_more_is_proven_by_larger_sets():
    rng = random.Random(0)
    tried = 0
    while tried < 60:
        n = rng.choice([4, 5])
        labels = tuple(rng.randrange(3) for _ in range(n))
        examples = tuple(rng.choice([*range(i), *range(100, 101 + i)]) for i in range(n))
        holds = tuple(tuple(rng.random() < 0.5 or i == j for j in range(n)) for i in range(n))
        clash = any(e < n and labels[e] == labels[i] for i, e in enumerate(examples))
        if clash or not legal(examples, holds):
            continue
        case = Case(labels, examples, holds)
        assert proven(case) <= possible(case), case
        tried += 1


def test_the_allowance_is_no_more_than_the_bound_of_the_true_world():
    """Whatever labels were met: those with a component, and those that only exceptions have."""
    met = False
    for m, k in product(range(1, 5), range(4)):
        for ordinary in product((1, 2, 7), repeat=m):
            for odd in [(), (k,), (1,) * k, (1, k - 1)] if k > 1 else [(1,) * k]:
                counts = [count for count in (*ordinary, *odd) if count]
                for total in range(1, m + k + 1):
                    allowed = allowance(total, counts)
                    assert allowed <= adaptive_bound(m, k)
                    met |= allowed == adaptive_bound(m, k) > 5
    assert met
