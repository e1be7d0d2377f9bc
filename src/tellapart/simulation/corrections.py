"""The corrections of a lesson that were not all laid out while it ran."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tellapart.protocol import Guess, Round, Teacher
from tellapart.simulation.bits import Words, clear
from tellapart.simulation.log import Log

_PART = 1 << 12  # words of the first part of a column


class Noted:
    """Mistakes on ordinary items: what was said of each can be asked again at any time.

    Those of a rule are kept as a number and a guess. The default makes millions: of those a bit is
    kept, in parts of a column, each laid out when the one before is full.

    Parameters
    ----------
    default : Guess
        What is said of items that no rule covers.
    """

    def __init__(self, default: Guess) -> None:
        self.guesses: dict[int, Guess] = {}
        self.log = Log(default)
        """Further mistakes of rules: those that only counted."""
        self.parts: list[tuple[int, Words]] = []
        """Parts of the column, each with the number of its first word."""
        self._default = default

    def extend(self, first: int, words: int) -> Words:
        """One more part of a column of so many words, from word `first` on, with anything in it.

        With it there is room for a sixteenth of all, then for twice as many as before.
        """
        part = np.empty(min(words - first, max(_PART, words >> 4, first)), dtype=np.uint64)
        self.parts.append((first, part))
        return part

    def end(self, word: int) -> None:
        """From this word on, nothing was put down so far."""
        if self.parts:
            first, part = self.parts[-1]
            self.parts[-1] = first, part[: max(0, word - first)]

    def forget(self, start: int) -> None:
        """Forget what was put down of the items from `start` on."""
        for first, part in self.parts:
            clear(part, max(0, start - 64 * first), 64 * len(part))

    def numbers(self) -> list[npt.NDArray[np.int64]]:
        """The rounds, in no particular order."""
        found = [np.fromiter(self.guesses, dtype=np.int64), self.log.numbers]
        for first, part in self.parts:
            bits = np.unpackbits(part.view(np.uint8), bitorder="little")
            found.append(np.flatnonzero(bits) + 64 * first)
        return found

    def guess(self, number: int) -> Guess:
        """What was said in one of these rounds."""
        return self.guesses.get(number) or self.log.guess(number) or self._default

    def __len__(self) -> int:
        of_default = sum(int(np.bitwise_count(part).sum()) for _, part in self.parts)
        return len(self.guesses) + len(self.log) + of_default


class Corrections(Sequence[Round]):
    """Rounds that were told, and rounds that can be told at any time, in order.

    Parameters
    ----------
    told : sequence of Round
        Those that happened, in order.
    noted : Noted
        The others.
    items : sequence
        All items of the lesson.
    teacher : () -> Teacher
        Makes one who will say of the others what was, or would have been, said.

    >>> from tellapart import Correction, Guess
    >>> from tellapart.teachers import Recorded
    >>> noted = Noted(Guess("fish", "bass"))
    >>> noted.guesses[2] = Guess("bird", "duck")
    >>> noted.extend(first=0, words=1)[:] = 0b0001
    >>> items = ["bat", "duck", "cat", "dog"]
    >>> teacher = Recorded([("bat", Correction("mammal")), ("cat", Correction("mammal", "milk"))])
    >>> told = Round(3, "dog", Guess("fish", "bass"), Correction("mammal", "hair"))
    >>> corrections = Corrections([told], noted, items, lambda: teacher)
    >>> len(corrections), [(one.number, one.item, one.guess.label) for one in corrections]
    (3, [(0, 'bat', 'fish'), (2, 'cat', 'bird'), (3, 'dog', 'fish')])
    >>> corrections[1].correction
    Correction(label='mammal', feature='milk')
    """

    def __init__(
        self,
        told: Sequence[Round],
        noted: Noted,
        items: Sequence[Any],
        teacher: Callable[[], Teacher],
    ) -> None:
        self._told = {corrected.number: corrected for corrected in told}
        self._noted, self._items, self._make = noted, items, teacher

    @cached_property
    def _teacher(self) -> Teacher:
        return self._make()

    @cached_property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of the rounds, in order."""
        told = np.fromiter(self._told, dtype=np.int64)
        return np.sort(np.concatenate([told, *self._noted.numbers()]), kind="stable")

    @cached_property
    def _length(self) -> int:
        return len(self._told) + len(self._noted)

    def __len__(self) -> int:
        return self._length

    def _round(self, number: int) -> Round:
        told = self._told.get(number)
        if told is not None:
            return told
        item, guess = self._items[number], self._noted.guess(number)
        correction = self._teacher.answer(item, guess)
        assert correction is not None
        return Round(number, item, guess, correction)

    @overload
    def __getitem__(self, index: int) -> Round: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Round, ...]: ...
    def __getitem__(self, index: int | slice) -> Round | tuple[Round, ...]:
        if isinstance(index, slice):
            return tuple(map(self._round, self.numbers[index].tolist()))
        return self._round(int(self.numbers[operator.index(index)]))

    def __iter__(self) -> Iterator[Round]:
        return map(self._round, self.numbers.tolist())

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, tuple | Corrections):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[type[tuple[Round, ...]], tuple[tuple[Round, ...]]]:
        return tuple, (tuple(self),)  # all laid out, to be copied or sent to another process
