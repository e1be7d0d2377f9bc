"""A decision list on columns, in numpy: slower than `tape` where mistakes are many, and equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tellapart.simulation.bits import Words, clear_tail

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
        The code of items that no conjunction covers. A code may have one digit more than there are
        planes: no item should get it.
    ordinary, noted : packed columns, optional
        For `find`: where a wrong code may be put down, and where to.
    """

    def __init__(
        self,
        planes: Sequence[Words],
        default: int,
        ordinary: Words | None = None,
        noted: Words | None = None,
    ) -> None:
        self.planes, self.default = tuple(planes), default
        self.digits = max(len(self.planes), default.bit_length())
        self.ordinary, self.noted, self._first_noted = ordinary, noted, 0
        self.written = 0
        """The word of `noted` from which on nothing was put down, and there may be anything."""
        self.clear()

    def note(self, noted: Words, first: int) -> None:
        """Put mistakes down in `noted`, whose first word is word `first`, as far as it goes."""
        self.noted, self._first_noted = noted, first
        self.written = first + len(noted)
        noted.fill(0)

    def clear(self) -> None:
        """Forget every conjunction."""
        self._rules: list[tuple[list[Words], list[Words], int] | None] = []

    def hold(self, column: Words) -> Words:
        """What `require` wants of a column: here, itself."""
        return column

    def append(self, code: int) -> int:
        """An empty conjunction after all others; returns its slot."""
        self.digits = max(self.digits, code.bit_length())
        self._rules.append(([], [], code))
        return len(self._rules) - 1

    def require(self, slot: int, column: Words, wanted: bool) -> None:
        """Add a literal to the conjunction in `slot`; nothing happens to one that was removed."""
        rule = self._rules[slot]
        if rule is not None:
            forbidden, needed, _ = rule
            (needed if wanted else forbidden).append(column)

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
        self,
        start: int,
        stop: int,
        shown: bool = True,
        quiet: int = -1,
        wrong_only: bool = False,
        growth: object = None,
        began: int | None = None,
        counted: int = 0,
    ) -> tuple[int, int, int]:
        """The first event from `start` to before `stop`: its item, slot, and the uncovered before.

        Without an event, the answer is `stop`. An event is an item that gets a code other than its
        own; when not `shown`, only if no conjunction covers it.

        With `quiet` >= 0, uncovered items are counted. All after the first `quiet` of them are
        events (with `wrong_only`, those that get a wrong code). Of the first `quiet`, those that
        get a wrong code are no events where `ordinary` is set: they are put down in `noted`. If
        there is no `noted`, this is so only when not `shown`, and nothing is put down; where there
        is no more room in it, the search ends (`Tape`: if anything is uncovered). `counted` of
        the uncovered came before `start`. `growth` and `began` are for `Tape.find`: without them
        there are more events, which does no harm.
        """
        counting, uncovered, size = quiet >= 0, counted, 2
        silent = self.ordinary is not None and (self.noted is not None or not shown)
        if silent and counting and shown and self.noted is not None:
            stop = min(stop, 64 * (self._first_noted + len(self.noted)))
        word, last = start >> 6, -(-stop // 64)
        while word < last:
            end = min(word + size, last)
            valid = np.full(end - word, _FULL)
            if word == start >> 6:
                valid[0] &= _FULL << np.uint64(start & 63)
            if end == last:
                clear_tail(valid, stop)
            left, wrong = self._wrong(word, end, valid, shown)
            events, hushed = wrong, wrong & ~wrong
            if counting:
                early = _first(left, quiet - uncovered)
                if silent and self.ordinary is not None:
                    hushed = wrong & early & self.ordinary[word:end]
                late = left & ~early
                events = wrong & ~hushed | (late & wrong if wrong_only else late)
            if events.any():
                before = _first(valid, _count(valid, _place(events)))
                left, hushed = left & before, hushed & before
            if counting:
                uncovered += int(np.bitwise_count(left).sum())
                if shown and self.noted is not None:
                    first = self._first_noted
                    self.noted[word - first : end - first] |= hushed
            if events.any():
                item = 64 * word + _place(events)
                return item, self.first(item), uncovered
            word, size = end, min(2 * size, _LARGEST)
        return stop, -1, uncovered

    def _wrong(self, word: int, end: int, valid: Words, shown: bool) -> tuple[Words, Words]:
        """What no conjunction covers, and what gets a wrong code, in a stretch."""
        left, said = self._said(word, end, valid)
        wrong = np.zeros(end - word, dtype=np.uint64)
        for number, digit in enumerate(said):
            wrong |= digit ^ self.planes[number][word:end] if number < len(self.planes) else digit
        return left, wrong & (valid if shown else left)

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


def _place(words: Words) -> int:
    """The place of the first bit that is set, of which there is one."""
    word = int(np.flatnonzero(words)[0])
    rest = int(words[word])
    return 64 * word + (rest & -rest).bit_length() - 1


def _count(words: Words, place: int) -> int:
    """How many bits are set before `place`."""
    whole = int(np.bitwise_count(words[: place >> 6]).sum())
    return whole + (int(words[place >> 6]) & (1 << (place & 63)) - 1).bit_count()


def _first(words: Words, n: int) -> Words:
    """The first `n` of the bits that are set."""
    counts = np.cumsum(np.bitwise_count(words), dtype=np.int64)
    whole = int(np.searchsorted(counts, n, side="right"))
    kept = words.copy()
    kept[whole:] = 0
    if whole < len(words):
        rest = int(words[whole])
        for _ in range(n - (int(counts[whole - 1]) if whole else 0)):
            kept[whole] |= np.uint64(rest & -rest)
            rest &= rest - 1
    return kept
