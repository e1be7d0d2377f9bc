"""The corrections of a lesson that were not laid out while it ran."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from tellapart.model import DecisionList
from tellapart.protocol import Guess, Round, Teacher
from tellapart.simulation.numpy_engine import PART, all_items, first_matches
from tellapart.simulation.packed_columns import column, unpack, words_for
from tellapart.simulation.packed_rules import World
from tellapart.simulation.predict import column_rules


class Stretch(NamedTuple):
    """Rounds in which a model did not change, though it made mistakes."""

    start: int
    stop: int
    """The first round and the one after the last."""
    mistakes: int
    model: DecisionList


class Corrections(Sequence[Round]):
    """The corrections of a lesson, in order: some were told, others are found when asked for.

    Of a stretch of rounds only the model is kept. It is run over the columns once more to find its
    mistakes, and the teacher is asked once more what they were.

    Parameters
    ----------
    told : sequence of Round
        Those that were told to the learner one by one, in order.
    stretches : sequence of Stretch
        Where the others are, in order. No told round is in one.
    world : World
        Where the lesson took place.
    teacher : Teacher
        The one of the lesson: asked again, he says what he said, or would have said, then.
    """

    def __init__(
        self, told: Sequence[Round], stretches: Sequence[Stretch], world: World, teacher: Teacher
    ) -> None:
        self._told = {corrected.number: corrected for corrected in told}
        self._stretches, self._starts = stretches, [stretch.start for stretch in stretches]
        self._world, self._teacher = world, teacher
        self._laid_out: tuple[Stretch | None, dict[int, Guess]] = None, {}

    @cached_property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of the rounds, in order."""
        parts = [np.fromiter(self._told, dtype=np.int64)]
        parts += [self._mistakes(stretch)[0] for stretch in self._stretches]
        return np.sort(np.concatenate(parts))

    def __len__(self) -> int:
        return len(self._told) + sum(stretch.mistakes for stretch in self._stretches)

    def _mistakes(self, stretch: Stretch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The rounds of the mistakes of a stretch, and the numbers of the clauses that erred."""
        clauses, labels = list(stretch.model), self._world.packed_labels
        numbers = range(len(clauses))
        rules = column_rules(clauses, numbers, lambda feature: column(self._world, feature))
        rounds, erred = [], []
        end = words_for(stretch.stop)
        for first in range(stretch.start >> 6, end, PART):
            last = min(first + PART, end)
            left = all_items(max(stretch.start, 64 * first), min(stretch.stop, 64 * last))
            for number, covered in first_matches(rules, first, last, left):
                label = labels.code_or_other(clauses[number].label)
                wrong = covered & ~labels.codes.where(label, slice(first, last))
                found = np.flatnonzero(unpack(wrong, 64 * (last - first)))
                rounds.append(found + 64 * first)
                erred.append(np.full(len(found), number))
        return np.concatenate(rounds), np.concatenate(erred)

    def _guess(self, number: int) -> Guess:
        """What was guessed in a round that was not told."""
        stretch = self._stretches[bisect_right(self._starts, number) - 1]
        if self._laid_out[0] is not stretch:
            rounds, erred = self._mistakes(stretch)
            guesses = [clause.guess for clause in stretch.model]
            found = zip(rounds.tolist(), erred.tolist(), strict=True)
            self._laid_out = stretch, {number: guesses[clause] for number, clause in found}
        return self._laid_out[1][number]

    def _round(self, number: int) -> Round:
        told = self._told.get(number)
        if told is not None:
            return told
        item, guess = self._world.items[number], self._guess(number)
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
