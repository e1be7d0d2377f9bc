"""A decision list on columns, in numpy: slower than `tape` where mistakes are many, and equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tellapart.columns.bits import Words, clear_tail

NEVER = 1 << 62
"""Later than any item."""
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LARGEST = 4096  # words a block; a few columns of them fit the cache


class Plain:
    """Conjunctions of columns in slots, each with a code, and the code of what none covers.

    Parameters
    ----------
    planes : sequence of packed columns
        The binary digits of the code that each item should get, lowest first. For `say`, room for
        the code that each item gets.
    default : int
        The code of items that no conjunction covers.
    digits : int, default=len(planes)
        How many digits codes have; those without a plane are 0 for every item.
    """

    def __init__(self, planes: Sequence[Words], default: int, digits: int | None = None) -> None:
        self.planes, self.default = tuple(planes), default
        self.digits = len(self.planes) if digits is None else digits
        self.clear()

    def clear(self) -> None:
        """Forget every conjunction."""
        self._rules: list[tuple[list[Words], list[Words], int] | None] = []

    def append(self, code: int) -> int:
        """An empty conjunction after all others; returns its slot."""
        self._rules.append(([], [], code))
        return len(self._rules) - 1

    def require(self, slot: int, column: Words, wanted: bool) -> None:
        """Add a literal to the conjunction in `slot`; nothing happens to one that was removed."""
        rule = self._rules[slot]
        if rule is not None:
            rule[1 if wanted else 0].append(column)  # type: ignore[union-attr]

    def remove(self, slot: int) -> None:
        """Take the conjunction in `slot` out of the race."""
        self._rules[slot] = None

    def first(self, item: int) -> int:
        """The slot of the first conjunction that covers `item`, or -1."""
        word, place = item >> 6, item & 63

        def holds(column: Words) -> bool:
            return bool(int(column[word]) >> place & 1)

        for slot, rule in enumerate(self._rules):
            if rule is not None and all(map(holds, rule[1])) and not any(map(holds, rule[0])):
                return slot
        return -1

    def find(
        self, start: int, stop: int, shown: bool, counting: bool, quiet: int
    ) -> tuple[int, int, int]:
        """The first event from `start` to before `stop`: its item, slot, and the uncovered before.

        An event is an item with a code other than its own (when not `shown`: only one that no
        conjunction covers), or, when `counting`, the `quiet`-th that no conjunction covers. Without
        one, the answer is `stop`. Uncovered items are counted only when `counting`.
        """
        quiet = quiet if counting else NEVER
        uncovered, size, word, last = 0, 2, start >> 6, -(-stop // 64)
        while word < last:
            end = min(word + size, last)
            valid = np.full(end - word, _FULL)
            if word == start >> 6:
                valid[0] &= _FULL << np.uint64(start & 63)
            if end == last:
                clear_tail(valid, stop)
            left, said = self._said(word, end, valid)
            wrong = said[len(self.planes)] if self.digits > len(self.planes) else valid & ~valid
            for plane, digit in zip(self.planes, said, strict=False):
                wrong |= plane[word:end] ^ digit
            wrong &= valid if shown else left
            here = int(np.bitwise_count(left).sum()) if counting else 0
            if uncovered + here >= quiet or wrong.any():
                place = min(_nth(wrong, 1), _nth(left, quiet - uncovered))
                before = uncovered + _count(left, place) if counting else 0
                item = 64 * word + place
                return item, self.first(item), before
            uncovered, word, size = uncovered + here, end, min(2 * size, _LARGEST)
        return stop, -1, uncovered

    def say(self, items: int) -> None:
        """Write the code of every item into the planes."""
        words = -(-items // 64)
        for word in range(0, words, _LARGEST):
            end = min(word + _LARGEST, words)
            valid = np.full(end - word, _FULL)
            if end == words:
                clear_tail(valid, items)
            _, said = self._said(word, end, valid)
            for plane, digit in zip(self.planes, said, strict=True):
                plane[word:end] = digit

    def _said(self, word: int, end: int, valid: Words) -> tuple[Words, Words]:
        """What no conjunction covers, and the digits of the codes of all items, in a stretch."""
        left = valid.copy()
        said = np.zeros((self.digits, end - word), dtype=np.uint64)
        for rule in self._rules:
            if rule is None:
                continue
            covered = left.copy()
            for column in rule[0]:
                covered &= ~column[word:end]
            for column in rule[1]:
                covered &= column[word:end]
            left ^= covered
            _write(said, rule[2], covered)
        _write(said, self.default, left)
        return left, said


def _write(said: Words, code: int, where: Words) -> None:
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
