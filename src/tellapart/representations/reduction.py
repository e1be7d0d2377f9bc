"""Representations without exceptions, and how small they can be.

Over d features an item is a corner of the cube {0,1}^d, and a component may be taken for the
smallest subcube around it: a single feature separates two components if and only if these subcubes
are disjoint. So a legal representation is a cover by labelled subcubes, those of different labels
disjoint. All three functions here rest on that; docs/theory.md has the proofs, and what is wrong
with Theorem 1(a).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tellapart.errors import ParameterError
from tellapart.model import Holds, Literal, holds, truth
from tellapart.protocol import Feature, Item, Label
from tellapart.representations.representation import Component, Representation


def absorb(
    representation: Representation,
    items: Iterable[Item],
    labels: Iterable[Label],
    features: Iterable[Feature],
) -> Representation:
    """A representation under which `items` have no exceptions (the reduction of Theorem 1(a)).

    Every exception becomes a component of its own, and every component that shares the label of the
    exception's component is cut around it. With d features and k exceptions, at most
    `theory.reduction_size(m, k, d)` = m + dk components if no exception satisfies two components of
    its component's label (so whenever labels are all different, and for trees); in general the
    paper's m + dk is false, and `reduction_size(m, k, d, shared)` holds.

    Parameters
    ----------
    representation : Representation
        A legal one, whose components are conjunctions of `features`.
    items, labels
        The exceptions at least; others do no harm, and are checked.
    features : iterable of features
        What may be used: Φ.

    >>> plain = Representation((Component("plain"),))
    >>> print(absorb(plain, [frozenset()], ["odd"], features=["red", "big"]))
    plain: red
    plain: not red and big
    odd: not red and not big
    """
    names = tuple(dict.fromkeys(features))
    bits = {name: bit for bit, name in enumerate(names)}
    parts = representation.components
    for part in parts:
        if any(feature not in bits for feature, _ in part.literals):
            raise ParameterError(f"absorb: the component '{part}' has a feature not in features=")
    cubes = [_Cube.of(part.literals, bits) for part in parts]
    labelled = _labelled("absorb", items, labels, names, representation.reading)
    odd: dict[int, Label] = {}  # each exception and the label of its component
    for point, label in labelled.items():
        home = next((part for part, cube in zip(parts, cubes, strict=True) if point in cube), None)
        if home is None:
            raise ParameterError("absorb: an item lies in no component; see representation.check")
        if home.label != label:
            odd[point] = home.label
    components: list[Component] = []
    for part, cube in zip(parts, cubes, strict=True):
        enemies = {point for point, usual in odd.items() if usual == part.label and point in cube}
        for piece in _carve(cube, enemies, len(names)):
            components.append(Component(part.label, piece.literals(names)))
    for point in odd:
        alone = _Cube((1 << len(names)) - 1, point)
        components.append(Component(labelled[point], alone.literals(names)))
    return Representation(tuple(components), reading=representation.reading)


def smallest(
    items: Iterable[Item],
    labels: Iterable[Label],
    features: Iterable[Feature],
    *,
    reading: Holds = holds,
) -> Representation:
    """A legal representation without exceptions of the least size there is, by exhaustive search.

    Only `features` and their negations may separate. For tiny worlds: the time is exponential in
    the number of items.

    In the world of Theorem 1(b), d + 1 components:

    >>> corners = [frozenset(), frozenset({"red"}), frozenset({"big"}), frozenset({"red", "big"})]
    >>> smallest(corners, ["odd", "plain", "plain", "plain"], ["red", "big"]).m
    3
    """
    names = tuple(dict.fromkeys(features))
    labelled = _labelled("smallest", items, labels, names, reading)
    first = _apart(labelled)
    order = [*first, *(point for point in labelled if point not in set(first))]
    for size in range(len(first), len(order) + 1):
        cubes = _cover(order, labelled, size, len(names))
        if cubes is not None:
            return Representation(
                tuple(Component(label, cube.literals(names)) for label, cube in cubes),
                reading=reading,
            )
    raise AssertionError("every item alone is a legal representation")


def apart(
    items: Iterable[Item],
    labels: Iterable[Label],
    features: Iterable[Feature],
    *,
    reading: Holds = holds,
) -> int:
    """A number of `items` no two of which fit into one component: a lower bound on any legal size.

    Two items of one label cannot share a component when an item of another label lies between them
    (agrees with both wherever they agree): no single feature tells it from both. Items are taken
    greedily, in their order.

    >>> corners = [frozenset(), frozenset({"red"}), frozenset({"big"}), frozenset({"red", "big"})]
    >>> apart(corners, ["odd", "plain", "plain", "plain"], ["red", "big"])
    3
    """
    names = tuple(dict.fromkeys(features))
    return len(_apart(_labelled("apart", items, labels, names, reading)))


class _Cube(NamedTuple):
    """A subcube: the bits that are fixed, and what to."""

    fixed: int
    value: int

    @classmethod
    def of(cls, literals: Iterable[Literal], bits: dict[Feature, int]) -> _Cube:
        fixed = value = 0
        for feature, wanted in literals:
            if feature in bits:
                fixed |= 1 << bits[feature]
                value |= wanted << bits[feature]
        return cls(fixed, value)

    def __contains__(self, point: object) -> bool:
        return isinstance(point, int) and (point ^ self.value) & self.fixed == 0

    def meets(self, other: _Cube) -> bool:
        return (self.value ^ other.value) & self.fixed & other.fixed == 0

    def with_bit(self, bit: int, wanted: int) -> _Cube:
        return _Cube(self.fixed | 1 << bit, self.value | wanted << bit)

    def around(self, point: int) -> _Cube:
        """The smallest subcube that holds this one and `point`."""
        fixed = self.fixed & ~(self.value ^ point)
        return _Cube(fixed, self.value & fixed)

    def literals(self, names: Sequence[Feature]) -> tuple[Literal, ...]:
        return tuple(
            Literal(name, bool(self.value >> bit & 1))
            for bit, name in enumerate(names)
            if self.fixed >> bit & 1
        )


def _carve(cube: _Cube, enemies: set[int], d: int) -> Iterator[_Cube]:
    """Disjoint subcubes that cover `cube` but the `enemies`: the dead ends of a binary trie."""
    waiting = [(cube, enemies, 0)]
    while waiting:
        cube, enemies, bit = waiting.pop()
        if not enemies:
            yield cube
            continue
        while bit < d and cube.fixed >> bit & 1:
            bit += 1
        if bit < d:
            for wanted in (0, 1):
                half = {point for point in enemies if point >> bit & 1 == wanted}
                waiting.append((cube.with_bit(bit, wanted), half, bit + 1))


def _labelled(
    owner: str,
    items: Iterable[Item],
    labels: Iterable[Label],
    names: Sequence[Feature],
    reading: Holds,
) -> dict[int, Label]:
    """Point -> label; refuses a point with two."""
    known, given = list(items), list(labels)
    if len(known) != len(given):
        raise ParameterError(f"{owner}: {len(known)} items, but {len(given)} labels; give as many")
    labelled: dict[int, Label] = {}
    for item, label in zip(known, given, strict=True):
        point = sum(1 << bit for bit, name in enumerate(names) if truth(name, item, reading))
        if labelled.setdefault(point, label) != label:
            raise ParameterError(
                f"{owner}: {item!r} is {label!r}, but an item of another label agrees with it in"
                f" all of the {len(names)} features: no representation is legal. Give a feature"
                " that tells them apart"
            )
    return labelled


def _apart(labelled: dict[int, Label]) -> list[int]:
    chosen: list[int] = []
    for point, label in labelled.items():
        for other in chosen:
            if labelled[other] == label:
                agree = _Cube(~(point ^ other), point & other)
                if not any(p in agree and labelled[p] != label for p in labelled):
                    break
        else:
            chosen.append(point)
    return chosen


def _cover(
    order: Sequence[int], labelled: dict[int, Label], size: int, d: int
) -> list[tuple[Label, _Cube]] | None:
    """`size` labelled subcubes that hold the points and are disjoint where labels differ."""
    cubes: list[tuple[Label, _Cube]] = []

    def place(n: int) -> bool:
        if n == len(order):
            return True
        point, label = order[n], labelled[order[n]]
        for slot, (its_label, cube) in enumerate(cubes):
            if its_label == label:
                grown = cube.around(point)
                if grown == cube or not any(y != label and grown.meets(c) for y, c in cubes):
                    cubes[slot] = (label, grown)
                    if place(n + 1):
                        return True
                    cubes[slot] = (label, cube)
        alone = _Cube((1 << d) - 1, point)
        if len(cubes) < size and not any(y != label and alone.meets(c) for y, c in cubes):
            cubes.append((label, alone))
            if place(n + 1):
                return True
            cubes.pop()
        return False

    return cubes if place(0) else None
