"""`FirstMatch` on packed columns: which rule covers each item of a world, and where one errs next.

It takes the place of a learner's own index while `simulate` runs, so that the learner's changes
reach the columns as they happen, one literal at a time.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tellapart.columns.bits import Words
from tellapart.columns.codes import Labels
from tellapart.columns.source import Source, column
from tellapart.model import Literal
from tellapart.protocol import Feature, Item, Label

NEVER = 1 << 62
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LARGEST = 4096  # words a block; a few columns of them fit the cache


class PackedMatch:
    """Conjunctions in slots, in order of creation, over the items of `source`."""

    def __init__(self, source: Source, labels: Labels) -> None:
        self.source, self.labels = source, labels
        self.at = 0
        """The number of the item that `first` is asked about."""
        self._columns: dict[Feature, Words] = {}
        self._default = 0
        self.clear()

    # -- what a learner does to its index

    def clear(self) -> None:
        """Forget every conjunction."""
        self.slots = 0
        self._rules: list[tuple[list[Words], list[Words], int] | None] = []

    def append(self, literals: Iterable[Literal] = (), label: Label = None) -> int:
        """A new conjunction after all others; returns its slot."""
        slot = self.slots
        self.slots += 1
        self._rules.append(([], [], self._code(label)))
        for literal in literals:
            self.require(slot, literal)
        return slot

    def require(self, slot: int, literal: Literal) -> None:
        """Add a literal to the conjunction in `slot`."""
        rule = self._rules[slot]
        assert rule is not None
        (rule[1] if literal.wanted else rule[0]).append(self._column(literal.feature))

    def remove(self, slot: int) -> None:
        """Take the conjunction in `slot` out of the race."""
        self._rules[slot] = None

    def first(self, item: Item) -> int | None:
        """The slot of the first conjunction that the item at `at` satisfies."""
        word, place = self.at >> 6, self.at & 63
        for slot, rule in enumerate(self._rules):
            if (
                rule is not None
                and not any(int(words[word]) >> place & 1 for words in rule[0])
                and all(int(words[word]) >> place & 1 for words in rule[1])
            ):
                return slot
        return None

    # -- what simulate asks

    def default(self, label: Label) -> None:
        """The label of items that no conjunction covers."""
        self._default = self._code(label)

    def find(self, start: int, stop: int, shown: bool, quiet: int | None) -> tuple[int, int]:
        """The first item from `start` on that may change the learner, and the uncovered before it.

        That is an item guessed wrong (when the learner is not `shown`: one that no conjunction
        covers and whose label is not the default's), or the `quiet`-th uncovered one.
        """
        planes = self.labels.codes.planes
        quiet = NEVER if quiet is None else quiet
        uncovered, size, word, last = 0, 2, start >> 6, -(-stop // 64)
        while word < last:
            end = min(word + size, last)
            valid = np.full(end - word, _FULL)
            if word == start >> 6:
                valid[0] &= _FULL << np.uint64(start & 63)
            if end == last and stop & 63:
                valid[-1] &= ~(_FULL << np.uint64(stop & 63))
            left = valid.copy()
            said = np.zeros((len(planes) + 1, end - word), dtype=np.uint64)
            for rule in self._rules:
                if rule is None:
                    continue
                covered = left.copy()
                for words in rule[0]:
                    covered &= ~words[word:end]
                for words in rule[1]:
                    covered &= words[word:end]
                left ^= covered
                if shown:
                    _say(said, rule[2], covered)
            _say(said, self._default, left)
            wrong = said[-1]
            for plane, digit in zip(planes, said, strict=False):
                wrong |= plane[word:end] ^ digit
            wrong &= valid if shown else left
            here = int(np.bitwise_count(left).sum())
            if uncovered + here >= quiet or wrong.any():
                errs = _nth(wrong, 1)
                place = min(errs, _nth(left, quiet - uncovered))
                return word * 64 + place, uncovered + _count(left, place)
            uncovered, word, size = uncovered + here, end, min(2 * size, _LARGEST)
        return stop, uncovered

    def _column(self, feature: Feature) -> Words:
        if feature not in self._columns:
            self._columns[feature] = column(self.source, feature)
        return self._columns[feature]

    def _code(self, label: Label) -> int:
        code = self.labels.code(label)
        # a label that no item has is wrong everywhere: it has a digit of its own
        return 1 << len(self.labels.codes.planes) if code is None else code


def _say(said: Words, code: int, where: Words) -> None:
    for number, digit in enumerate(said):
        if code >> number & 1:
            np.bitwise_or(digit, where, out=digit)


def _nth(words: Words, n: int) -> int:
    """The place of the n-th bit that is set; beyond all words if there are fewer."""
    counts = np.cumsum(np.bitwise_count(words), dtype=np.int64)
    word = int(np.searchsorted(counts, n))
    if word == len(words):
        return NEVER
    rest = int(words[word])
    for _ in range(n - 1 - (int(counts[word - 1]) if word else 0)):
        rest &= rest - 1
    return word * 64 + (rest & -rest).bit_length() - 1


def _count(words: Words, place: int) -> int:
    """How many bits are set before `place`."""
    whole = int(np.bitwise_count(words[: place >> 6]).sum())
    return whole + (int(words[place >> 6]) & (1 << (place & 63)) - 1).bit_count()
