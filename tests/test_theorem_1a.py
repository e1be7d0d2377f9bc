"""Theorem 1(a): false with nine features, and true with three.

The certificate is checked from the definition alone, by code that shares nothing with the package:
items are sets of vertices, as bits, and the subcube around some items is where these agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product

import pytest

from tellapart.theory import smallest

D = 9
EDGES = [
    "03", "06", "07", "08", "12", "14", "15", "16", "23",
    "24", "27", "34", "37", "45", "56", "58", "68", "78",
]  # fmt: skip
COLOURS = ["03,15", "06,24", "07,45", "08,12", "14,78", "16,37", "23,58", "27,56", "34,68"]


def bits(text: str) -> int:
    return sum(1 << int(vertex) for vertex in text)


def around(items: list[int]) -> tuple[int, int]:
    """The features in which all items agree, and their truths there."""
    same = (1 << D) - 1
    for item in items:
        same &= ~(item ^ items[0])
    return same, items[0] & same


def disjoint(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Some feature holds on all of one subcube and on nothing of the other."""
    return bool(one[0] & other[0] & (one[1] ^ other[1]))


def legal(parts: list[tuple[str, list[int]]]) -> bool:
    cubes = [(label, around(items)) for label, items in parts]
    return all(a == b or disjoint(x, y) for (a, x), (b, y) in combinations(cubes, 2))


def nine_features(edges: list[str]) -> tuple[list[int], list[int]]:
    numbers = [bits(edge) for edge in edges]
    paths = {e | f for e, f in combinations(numbers, 2) if e & f}
    return numbers, sorted(paths)


def needs(labels: dict[int, str]) -> int:
    """How many items there are, if no two of them can share a component."""
    for x, y in combinations(labels, 2):
        same, truths = around([x, y])
        between = (z for z in labels if z & same == truths and labels[z] != labels[x])
        if labels[x] == labels[y] and next(between, None) is None:
            return 0
    return len(labels)


def test_with_nine_features_one_exception_costs_ten_components() -> None:
    edges, paths = nine_features(EDGES)
    assert (len(edges), len(paths)) == (18, 36)
    groups = [[0, *(bits(edge) for edge in colour.split(","))] for colour in COLOURS]
    assert sorted(item for group in groups for item in group if item) == sorted(edges)
    parts = [("edge", group) for group in groups] + [(f"path {n}", [n]) for n in paths]
    assert legal(parts)
    assert len(parts) == 45  # m; with k = 1 the theorem says that 45 + 9 are enough
    labels = {0: "odd"} | dict.fromkeys(edges, "edge") | {path: f"path {path}" for path in paths}
    assert needs(labels) == 55 > len(parts) + D


def test_the_certificate_can_fail() -> None:
    edges, paths = nine_features(EDGES[:-1])
    labels = {0: "odd"} | dict.fromkeys(edges, "edge") | {path: f"path {path}" for path in paths}
    assert needs(labels) < 55
    apart = [("edge", [0, bits("03"), bits("06")]), ("path", [bits("036")])]
    assert not legal(apart)


# -- three features: every labelling of every set of items, up to names


def labellings(n: int) -> Iterator[tuple[int, ...]]:
    """Labels 1, 2, ... as they appear, 0 where there is no item."""

    def extend(known: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(known) == n:
            yield known
            return
        for label in range(max(known, default=0) + 2):
            yield from extend((*known, label))

    yield from extend(())


def named(labels: tuple[int, ...]) -> tuple[int, ...]:
    number = {0: 0}
    return tuple(number.setdefault(label, len(number)) for label in labels)


def moves(d: int) -> list[list[int]]:
    """The symmetries of the cube, as where each corner goes."""
    return [
        [sum((x >> i & 1) << order[i] for i in range(d)) ^ flip for x in range(2**d)]
        for order in permutations(range(d))
        for flip in range(2**d)
    ]


@pytest.mark.parametrize(
    ("d", "cases", "most"),
    [(1, 5, 1), (2, 52, 2), (3, 21_147, 3)],
)
def test_with_few_features_one_exception_costs_d_components(d: int, cases: int, most: int) -> None:
    symmetries, features = moves(d), range(d)
    kind: dict[tuple[int, ...], tuple[int, ...]] = {}
    size: dict[tuple[int, ...], int] = {}
    for labels in labellings(2**d):
        if labels in kind:
            continue
        for symmetry in symmetries:
            kind[named(tuple(labels[place] for place in symmetry))] = labels
        items = [frozenset(f for f in features if x >> f & 1) for x in range(2**d) if labels[x]]
        size[labels] = smallest(items, list(filter(None, labels)), features).m if items else 0
    assert len(kind) == cases
    costs = [
        size[kind[named((*labels[:x], new, *labels[x + 1 :]))]] - size[labels]
        for labels in size
        for x, new in product(range(2**d), range(1, max(labels) + 2))
        if labels[x] not in (0, new)
    ]
    assert max(costs) == most
