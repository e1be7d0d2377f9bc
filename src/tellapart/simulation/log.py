"""Mistakes of rules that only counted, of which there may be millions: two bytes each or less."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart.protocol import Guess
from tellapart.simulation.tape import NUMBER

_MANY = 1 << 10  # rounds that are worth packing


class Log:
    """The numbers of rounds, in order, and what was guessed in each.

    Parameters
    ----------
    default : Guess
        The guess with number -1.

    >>> log = Log(Guess("fish", "bass"))
    >>> log.shown.append(Guess("bird", "duck"))
    >>> log.add(np.array([7 - (1 << NUMBER), 9, 10 - (1 << NUMBER)]))
    >>> log.add(np.array([300]))
    >>> len(log), log.numbers.tolist(), log.guess(10).label, log.guess(300).label, log.guess(8)
    (4, [7, 9, 10, 300], 'fish', 'bird', None)
    """

    def __init__(self, default: Guess) -> None:
        self.shown = [default]
        """The guesses with numbers -1, 0, 1 and so on."""
        self._loose: list[npt.NDArray[np.int64]] = []
        self._parts: list[tuple[int, npt.NDArray[Any], npt.NDArray[Any]]] = []
        self._length = self._packed = 0

    def add(self, entries: npt.NDArray[np.int64]) -> None:
        """Further rounds, each with the number of the guess above `NUMBER` bits."""
        self._loose.append(entries.copy())
        self._length += len(entries)
        vars(self).pop("_laid_out", None)
        if self._length - self._packed >= _MANY:
            self._pack()

    def _pack(self) -> None:
        if self._length > self._packed:
            entries = np.concatenate(self._loose)
            rounds, guesses = entries & (1 << NUMBER) - 1, 1 + (entries >> NUMBER)
            self._parts.append((int(rounds[0]), _small(np.diff(rounds)), _halved(_small(guesses))))
            self._packed = self._length
        self._loose.clear()

    def __len__(self) -> int:
        return self._length

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """All rounds, in order."""
        return self._laid_out[0]

    def guess(self, number: int) -> Guess | None:
        """What was guessed in a round; None if it is not one of these."""
        numbers, guesses = self._laid_out
        place = int(np.searchsorted(numbers, number))
        known = place < len(numbers) and numbers[place] == number
        return self.shown[guesses[place]] if known else None

    @cached_property
    def _laid_out(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        self._pack()
        numbers, guesses = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.uint8)]
        for first, steps, halves in self._parts:
            numbers.append(np.cumsum(np.concatenate(([first], steps))))
            guesses.append(_whole(halves, 1 + len(steps)))
        return np.concatenate(numbers), np.concatenate(guesses)


def _small(numbers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """The same numbers, none below 0, in as few bytes as hold the largest."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _halved(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Two numbers a byte, where all are below 16."""
    if int(numbers.max()) >= 16:
        return numbers
    halves = numbers[::2].copy()
    halves[: len(numbers) // 2] |= numbers[1::2] << 4
    return halves


def _whole(halves: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """What `_halved` halved; there were so many."""
    if len(halves) == count:
        return halves
    return np.stack([halves & 15, halves >> 4], axis=1).ravel()[:count]
