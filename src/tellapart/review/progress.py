"""What is known of a lesson so far: its rounds, its counts, and the error they show.

`Transcript` has every round, for a review (`Listening` makes one). `Progress` has a few counts.
`estimate` says how often the learner errs now.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, MutableSequence
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

import numpy as np

from tellapart import codec
from tellapart.errors import ProtocolError, check
from tellapart.protocol import Correction, Guess, Item, Label, Lesson, Teacher
from tellapart.review.error_bound import ABOVE, Draws, shares_of

_RIGHT, _WRONG, _PICKED, _PICKED_WRONG = range(4)  # drawn at random; not drawn, or asked


class Told(NamedTuple):
    """One round: the item, the label it has in the end, and how it came to it."""

    item: Item
    label: Label
    guess: Guess | None = None
    """What was guessed; None where that is not known."""
    correction: Correction | None = None
    """None when the guess stood."""
    who: Hashable = None
    """Who answered."""


@dataclass
class Transcript:
    """Every round of a lesson, right ones too; grows by one `add` a round.

    >>> history = Transcript()
    >>> history.add("bear", Guess(None, None), Correction("mammal"))
    >>> history.add("lion", Guess("mammal", "bear"), None, who="Ann")
    >>> history.rounds[1].label, history.rounds[1].who, len(history)
    ('mammal', 'Ann', 2)
    """

    rounds: MutableSequence[Told] = field(default_factory=list)

    def add(
        self, item: Item, guess: Guess, correction: Correction | None, who: Hashable = None
    ) -> None:
        """One more round, as it was told to the learner."""
        label = guess.label if correction is None else correction.label
        if label is None:
            raise ProtocolError(f"{item!r} has no label: the guess asked, and nobody answered")
        self.rounds.append(Told(codec.keep(item), label, guess, correction, who))

    def __len__(self) -> int:
        return len(self.rounds)


class Listening:
    """Another teacher's answers, and a `history` of them.

    >>> from tellapart import CappedDFF, teach, worlds
    >>> world = worlds.zoo()
    >>> teacher = Listening(world.teacher())
    >>> lesson = teach(CappedDFF(m=7), teacher, world.items)
    >>> sum(told.correction is not None for told in teacher.history.rounds), lesson.mistakes
    (23, 22)
    """

    def __init__(self, teacher: Teacher) -> None:
        self.teacher = teacher
        self.history = Transcript()
        self.m, self.k, self.s = (getattr(teacher, name, None) for name in "mks")

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """What the other teacher says."""
        correction = self.teacher.answer(item, guess)
        self.history.add(item, guess, correction)
        return correction


class Stretch(NamedTuple):
    """Some guesses up to now."""

    mistakes: int
    rounds: int


class Progress:
    """Counts of rounds, guesses, mistakes and models, and of those since some earlier rounds.

    `rows` is the size of a finite table that is read once; None where items never end, or repeat.

    >>> progress = Progress()
    >>> progress.ask()
    >>> for mistake in (True, False, False):
    ...     progress.add(mistake)
    >>> progress.rounds, progress.guesses, progress.mistakes, progress.streak, progress.models
    (4, 3, 1, 2, 2)
    """

    def __init__(self, rows: int | None = None) -> None:
        self.rows = rows
        self.aside = 0
        """Rows that were met, but have no label yet: they are not among the rows left."""
        self.rounds = 0
        """Items met."""
        self.guesses = 0
        """Rounds in which there was a guess: all but those that asked, and those picked."""
        self.mistakes = 0
        self.streak = 0
        """Guesses since the last mistake, on items drawn at random."""
        self.erred = False
        """Whether the last guess was a mistake."""
        self.picked = self.picked_mistakes = 0
        """Guesses on items that somebody picked, and mistakes among them."""
        self.models = 1
        """How many models there were, with the present one."""
        self._since = (0, 0, 0)  # guesses, mistakes and rounds when the present model came
        self.kinds = bytearray()
        """Of every round, whether it was drawn, and right."""
        self._begun = (0, 0, 0)  # as `_since`, when the table got its last rows

    @classmethod
    def of(cls, lesson: Progress | Lesson | Iterable[bool]) -> Progress:
        """The progress of a lesson, or of guesses of which True was a mistake.

        Which mistakes changed the model is not on record: all are taken to have. The first round of
        a lesson is not counted as a guess unless it was a mistake: a fresh learner asks there.

        >>> Progress.of([True, False, False, False]).streak
        3
        """
        if isinstance(lesson, Progress):
            return lesson
        progress = cls()
        if not isinstance(lesson, Lesson):
            for mistake in lesson:
                progress.add(mistake)
            return progress
        for number in (*lesson.mistake_rounds, lesson.rounds):
            if not progress.rounds and number:
                progress.ask()
            progress.skip(number - progress.rounds)
            if number < lesson.rounds:
                progress.add(mistake=True)
        return progress

    def ask(self) -> None:
        """A round in which the label was asked, not guessed."""
        self.rounds += 1
        self.kinds.append(_PICKED)

    def add(self, mistake: bool, changed: bool | None = None) -> None:
        """A round with a guess.

        `changed` says whether the model is another one from now on; where that is not known, it is
        taken to change with every mistake.
        """
        self.mistakes += mistake
        self._count(1)
        self.kinds[-1] = _WRONG if mistake else _RIGHT
        self.erred = mistake
        self.streak = 0 if mistake else self.streak + 1
        if mistake if changed is None else changed:
            self.change()

    def pick(self, mistake: bool, changed: bool | None = None, *, unsure: bool = False) -> None:
        """A round with a guess on an item that somebody picked: it says nothing of the others.

        Its mistake still ends a run of right guesses, and its correction may change the model. With
        `unsure`, it was picked because the learner was unsure of it: a right guess makes the run
        longer.

        >>> progress = Progress.of([False] * 40)
        >>> for _ in range(100):
        ...     progress.pick(False)
        >>> progress.guesses, progress.streak, progress.picked
        (40, 40, 100)
        """
        self.rounds += 1
        self.kinds.append(_PICKED_WRONG if mistake else _PICKED)
        self.picked += 1
        self.picked_mistakes += mistake
        self.erred = mistake
        if mistake:
            self.streak = 0
        elif unsure:
            self.streak += 1
        if mistake if changed is None else changed:
            self.change()

    def skip(self, rounds: int) -> None:
        """Count rounds whose guesses were right and changed nothing."""
        self._count(rounds)
        self.streak += rounds
        self.erred = self.erred and not rounds

    def change(self) -> None:
        """The model is another one from now on: somebody edited a rule, for example."""
        self.models += 1
        self._since = (self.guesses, self.mistakes, self.rounds)

    def grow(self, rows: int) -> None:
        """The table has more rows, `rows` in all: no draw so far says anything of the new ones."""
        if (self.rows, self._begun) == (rows, (self.guesses, self.mistakes, self.rounds)):
            return  # it was said already
        self.rows = rows
        self.change()
        self._begun = self._since

    def _count(self, rounds: int) -> None:
        self.rounds += rounds
        self.kinds += bytes(rounds)
        self.guesses += rounds

    @property
    def model(self) -> Stretch:
        """The guesses of the present model."""
        guesses, mistakes, _ = self._since
        return Stretch(self.mistakes - mistakes, self.guesses - guesses)

    @property
    def recent(self) -> Stretch:
        """The later half of the guesses, or somewhat more: all since the 1st, 2nd, 4th, 8th ..."""
        begin = 1 << self.guesses.bit_length() >> 2
        kinds = np.frombuffer(bytes(self.kinds), dtype=np.uint8)
        lately = kinds[kinds < _PICKED][begin:]
        return Stretch(int((lately == _WRONG).sum()), len(lately))

    def draws(self, rows: int | None, lately: bool = False) -> Draws:
        """The random draws from a table of `rows` rows, or without end: of the present model, or
        all of them."""
        guesses, _, rounds = self._begun if lately else self._since
        kinds = np.frombuffer(self.kinds[rounds:], dtype=np.uint8)
        drawn = np.flatnonzero(kinds < _PICKED)
        mistakes = kinds[drawn] == _WRONG
        shares = shares_of(guesses + 1 + np.arange(len(mistakes)), rows)
        if rows is None:
            return Draws.endless(mistakes, shares)
        picked = (kinds == _PICKED_WRONG)[::-1].cumsum()[::-1][drawn]
        before = rows - self.aside - rounds - drawn
        return Draws(mistakes, before, shares, rows - self.aside - self.rounds, picked)


@dataclass(frozen=True)
class ErrorEstimate:
    """How often the learner errs, and between which bounds with what confidence."""

    error: float
    """The share of mistakes lately, moved between the bounds where it lies outside."""
    low: float
    high: float
    confidence: float
    rounds_used: int
    """How many of the last rounds the bounds rest on."""
    lately: bool = False
    """Whether they assume that the model did not get worse in these rounds."""
    rows_left: int | None = None
    """Of a finite table: how many rows nobody has seen. The bounds are for these."""
    wrong_left: int | None = None
    """How many of them may be wrong: an upper bound."""

    def __str__(self) -> str:
        if self.rows_left == 0:
            return "all rows were seen: none is left to be wrong"
        if self.high > 0.99:
            return "nothing is known about the error yet"
        worse = f"if the rules got no worse in the last {self.rounds_used:,} rounds, "
        sure = f"{worse if self.lately else ''}with {100 * self.confidence:g} % confidence"
        if self.rows_left is None:
            return f"the error is below {percent(self.high)}{',' if self.lately else ''} {sure}"
        most = f"at most {self.wrong_left:,}" if self.wrong_left else "none"
        verb = "are" if self.wrong_left and self.wrong_left > 1 else "is"
        left = f"{self.rows_left:,} rows" if self.rows_left != 1 else "one row"
        return f"{most} of the {left} left {verb} wrong, {sure}"


def estimate(
    lesson: Progress | Lesson | Iterable[bool],
    confidence: float = 0.95,
    *,
    lately: bool = False,
    rows: int | None = None,
) -> ErrorEstimate:
    """The error now, and an interval that holds at all rounds at once.

    Parameters
    ----------
    lesson : Progress, Lesson, or an iterable of bool
        What happened so far; of bools, True is a mistake.
    confidence : float in (0, 1), default=0.95
        The chance that the interval is right in *every* round of the lesson, however long.
    lately : bool, default=False
        False: the error of the present model, from the rounds since it last changed. A learner that
        changes at every mistake has none in these, and under noise the bound stays high.
        True: the error of the present model, if no change of the model in the last `rounds_used`
        rounds made it larger. Both intervals are right at once: one may choose.
    rows : int, default=lesson.rows if that is a Progress
        The rows of a finite table that is read once, in random order: the interval is for the rows
        not yet seen, and `wrong_left` says how many of them may be wrong. None: there is no end of
        items, and none comes twice but by chance.

    >>> print(estimate([False] * 40))
    the error is below 9.3 % with 95 % confidence
    >>> now = estimate([True] * 10 + [False] * 40)
    >>> round(now.low, 3), round(now.error, 3), round(now.high, 3), now.rounds_used
    (0.0, 0.0, 0.161, 40)
    >>> print(estimate(([False] * 19 + [True]) * 50, lately=True))
    the error is below 7.7 %, if the rules got no worse in the last 1,000 rounds, with 95 %
    confidence
    >>> print(estimate([False] * 40, rows=200))
    at most 18 of the 160 rows left are wrong, with 95 % confidence
    >>> estimate([False] * 199, rows=200).wrong_left, estimate([True] * 200, rows=200).wrong_left
    (0, 0)
    """
    check("estimate", "confidence", confidence, "between 0 and 1", lambda c: 0 < c < 1, float)
    progress = Progress.of(lesson)
    rows = progress.rows if rows is None else rows
    if rows is not None:
        seen = progress.rounds + progress.aside
        check("estimate", "rows", rows, f"at least the {seen} rows seen", lambda v: v >= seen)
    draws, risk = progress.draws(rows, lately), 1 - confidence
    left, most = draws.left, draws.most_wrong(ABOVE * risk)
    least = 0 if lately else min(most, draws.least_wrong((1 - ABOVE) * risk))
    used = draws.enough(most + 1, ABOVE * risk) if lately else len(draws.mistakes)
    low, high = (least / left, most / left) if left else (0.0, 0.0)
    recent = progress.recent
    error = recent.mistakes / recent.rounds if recent.rounds else 0.5
    error = min(max(error, low), high)
    finite = (None, None) if rows is None else (left, most)
    return ErrorEstimate(error, low, high, confidence, used, lately, *finite)


def is_lower_lately(progress: Progress, wrong: float, confidence: float = 0.95) -> bool:
    """Whether `estimate(lately=True)` of a finite table has a `wrong_left` below `wrong`; that
    takes a fraction of the time."""
    assert progress.rows is not None
    draws = progress.draws(progress.rows, lately=True)
    return draws.refute(ceil(wrong), ABOVE * (1 - confidence))


def percent(share: float) -> str:
    """A bound in words, rounded up.

    >>> percent(0.0721), percent(0.4), percent(0.0039)
    ('7.3 %', '40 %', '0.39 %')
    """
    digits = 0 if share >= 0.1 else 1 if share >= 0.01 else 2
    rounded = ceil(round(share * 100 * 10**digits, 6)) / 10**digits
    return f"{rounded:.{digits}f} %"
