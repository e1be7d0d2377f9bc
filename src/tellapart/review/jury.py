"""Trees that judge the rounds they were grown without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.review.groups import Facts, Group, grouped
from tellapart.simulation import Words, pack, unpack

_FOLDS = 5


class _Tree(NamedTuple):
    judges: npt.NDArray[np.bool_]
    """The rounds it was grown without."""
    home: npt.NDArray[np.intp]
    """The group that each round falls into."""
    groups: list[Group]


class Jury:
    """A few trees, each grown without a fifth of the rounds, and what they say of that fifth.

    A tree speaks of a round by the labels in the group it falls into. The jury's opinion is the
    mean; a slip that made a group of its own is not among those who speak of it.
    """

    def __init__(self, facts: Facts, trees: int, seed: int) -> None:
        self.facts = facts
        folds = min(_FOLDS, facts.n)
        generator = np.random.default_rng(seed)
        self._trees: list[_Tree] = []
        opinions = np.zeros((facts.n, len(facts.names)))
        for _ in range(-(-trees // folds)):
            fold = generator.permutation(facts.n) % folds
            self._trees += [self._grow(fold == number) for number in range(folds)]
        for judges, home, groups in self._trees:
            counts = np.array([group.counts for group in groups]) + 1 / len(facts.names)
            shares = counts / counts.sum(axis=1, keepdims=True)
            opinions[judges] += shares[home[judges]]
        opinions /= opinions.sum(axis=1, keepdims=True)
        every = np.arange(facts.n)
        own = opinions[every, facts.codes]
        opinions[every, facts.codes] = -1.0
        self.expected = opinions.argmax(axis=1)
        """The likeliest label other than the one given."""
        self.doubt = opinions.max(axis=1) - own
        """How much likelier; below zero where the given label is the likeliest."""

    def _grow(self, judges: npt.NDArray[np.bool_]) -> _Tree:
        groups = grouped(self.facts, pack(~judges))
        home = np.zeros(self.facts.n, dtype=np.intp)
        for number, group in enumerate(groups):
            home[unpack(group.inside, self.facts.n)] = number
        return _Tree(judges, home, groups)

    def groups_of(self, number: int) -> Iterator[Group]:
        """The groups that a round falls into, in the trees grown without it."""
        for judges, home, groups in self._trees:
            if judges[number]:
                yield groups[home[number]]

    def telling(self, number: int, shown: int, column: int) -> Telling | None:
        """How well a column tells the group of one round from that of another, at best.

        None where no tree parts the two.
        """
        held = self.facts.columns[column]
        wanted = bool(held[number >> 6] >> np.uint64(number & 63) & np.uint64(1))
        found = []
        for judges, home, groups in self._trees:
            if judges[number] and home[number] != home[shown]:
                sides = [groups[home[n]].inside for n in (number, shown)]
                (here, of), (there, among) = (_share(side, held, wanted) for side in sides)
                found.append(Telling(here - 1, of - 1, there, among - 1))
        return min(found, key=lambda telling: telling.doubt, default=None)


class Telling(NamedTuple):
    """On how many others of the item's group a feature holds, and of the example's."""

    here: int
    of: int
    there: int
    among: int

    @property
    def doubt(self) -> float:
        """0 where it holds on all of the one or none of the other; 1 where it tells nothing.

        Few others prove little.
        """
        here, there = (self.here + 1) / (self.of + 1), self.there / (self.among + 1)
        return min(1.0, 1.0 - (here - there) / min(here, 1 - there))


def _share(inside: Words, held: Words, wanted: bool) -> tuple[int, int]:
    both = int(np.bitwise_count(inside & held).sum())
    size = int(np.bitwise_count(inside).sum())
    return both if wanted else size - both, size
