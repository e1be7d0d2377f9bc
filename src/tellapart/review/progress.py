"""What is known of a lesson so far: its rounds, its counts, and the error they show.

`Transcript` has every round, for a review (`Listening` makes one). `Progress` has a few counts.
`estimate` says how often the learner errs now.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, MutableSequence
from dataclasses import dataclass, field
from itertools import count
from math import ceil, exp, log, log1p
from typing import NamedTuple

import numpy as np

from tellapart import codec
from tellapart.errors import ProtocolError, check
from tellapart.protocol import Correction, Guess, Item, Label, Lesson, Teacher
from tellapart.review.without_replacement import Draws, shares_of

_BETS = tuple(2.0**-power for power in (2, 1, 1 / 2, 1 / 4, 1 / 8))
_FEWER = tuple((log(g), g - 1) for g in _BETS)  # g < 1 bets on fewer mistakes, 1 / g on more
_MORE = tuple((-log(g), 1 / g - 1) for g in _BETS)
_NEAR = 5e-10  # how exactly an edge is found
ABOVE = 0.9  # of the risk goes to the upper bound, which is what people stop by
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

    @classmethod
    def of(cls, lesson: Lesson, items: Iterable[Item], labels: Iterable[Label]) -> Transcript:
        """A lesson whose teacher was not listened to.

        `labels` says what each item was where nothing is recorded: for the rounds without a
        correction. Items after the last round of the lesson are left out.
        """
        corrected = {r.number: r for r in lesson.corrections}
        history = cls()
        for number, (item, label) in enumerate(zip(items, labels, strict=True)):
            if number == lesson.rounds:
                break
            if number in corrected:
                _, _, guess, correction = corrected[number]
                history.add(item, guess, correction)
            else:
                history.rounds.append(Told(codec.keep(item), label))
        return history

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
    """Some rounds up to now, and what share of the risk of a wrong statement is theirs."""

    mistakes: int
    rounds: int
    share: float


def window(number: int) -> tuple[int, float]:
    """After how many guesses a window begins, and its share of the risk; the shares add up to 1.

    >>> [window(number)[0] for number in range(5)]
    [0, 1, 2, 4, 8]
    """
    return 1 << number >> 1, 1 / ((number + 1) * (number + 2))


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
        self._marks = [0]  # mistakes when each window began
        self._kinds = bytearray()  # of every round
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
        self._kinds.append(_PICKED)

    def add(self, mistake: bool, changed: bool | None = None) -> None:
        """A round with a guess.

        `changed` says whether the model is another one from now on; where that is not known, it is
        taken to change with every mistake.
        """
        self.mistakes += mistake
        self._count(1)
        self._kinds[-1] = _WRONG if mistake else _RIGHT
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
        self._kinds.append(_PICKED_WRONG if mistake else _PICKED)
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
        self._kinds += bytes(rounds)
        self.guesses += rounds
        while self.guesses >= window(len(self._marks))[0]:
            self._marks.append(self.mistakes)

    @property
    def model(self) -> Stretch:
        """The rounds of the present model. The j-th model's share is 1 / (j (j+1))."""
        guesses, mistakes, _ = self._since
        return Stretch(
            self.mistakes - mistakes,
            self.guesses - guesses,
            1 / (self.models * (self.models + 1)),
        )

    @property
    def windows(self) -> list[Stretch]:
        """The rounds since the start, and since the first, 2nd, 4th, 8th ... guess."""
        return [
            Stretch(self.mistakes - mistakes, self.guesses - begin, share)
            for mistakes, (begin, share) in zip(self._marks, map(window, count()), strict=False)
        ]

    @property
    def recent(self) -> Stretch:
        """The later half of the guesses, or somewhat more."""
        return self.windows[max(0, len(self._marks) - 2)]

    def draws(self, rows: int, lately: bool = False, more: int = 0) -> Draws:
        """The random draws from a table of `rows` rows: of the present model, or all of them; and
        so many more, if they were right."""
        guesses, _, rounds = self._begun if lately else self._since
        kinds = np.frombuffer(self._kinds[rounds:], dtype=np.uint8)
        drawn = np.flatnonzero(kinds < _PICKED)
        picked = (kinds == _PICKED_WRONG)[::-1].cumsum()[::-1][drawn]
        left = rows - self.aside - self.rounds
        if more > left:
            raise ValueError(f"{more} more draws than there are rows left: {left}")
        mistakes = np.append(kinds[drawn] == _WRONG, np.zeros(more, np.bool_))
        before = np.append(rows - self.aside - rounds - drawn, left - np.arange(more))
        shares = shares_of(guesses + 1 + np.arange(len(mistakes)), rows)
        return Draws(mistakes, before, shares, left - more, np.append(picked, [0] * more))


# -- the error, with an interval that holds whenever one looks
#
# For a finite table that is read once, see `without_replacement`. This is for items that never end.
#
# Assumption: items come in random order, and the learner changes only by what it is told. Then the
# next guess errs with a chance p that is the error of the present model, and for any g >= 0
#
#     g^M / ((1 + p_1 (g-1)) ... (1 + p_n (g-1))),      M mistakes in n guesses with these chances,
#
# is a martingale that starts at 1: the purse of a player in a fair game. By the concavity of the
# logarithm the denominator is at most (1 + q (g-1))^n, where q is the mean of the chances, so
#
#     g^M / (1 + q (g-1))^n
#
# is never more than that purse, nor is its mean over several g. The chance that the purse ever
# reaches 1/r is at most r (Ville's inequality). So with confidence 1 - r, and for all n at once, q
# is one of the numbers for which the mean stays below 1/r. These bound the mean error over the n
# rounds. The model may change meanwhile, and when to look may depend on anything seen.
#
# Where the count begins must not be chosen in hindsight. For the error *of the present model* it
# begins when the model came to be, and the j-th model has the share r / (j (j+1)) of the risk; the
# shares add up to r. Otherwise luck would beat any bound: a learner that errs once in 20 rounds
# will have a run of 59 right guesses one day, and 59 right guesses of one model that was chosen
# beforehand do show an error below 5 %.


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
    """Whether they bound the mean error over these rounds, or the present model's. Of a finite
    table: whether they assume that the model did not get worse in these rounds."""
    rows_left: int | None = None
    """Of a finite table: how many rows nobody has seen. The bounds are for these."""
    wrong_left: int | None = None
    """How many of them may be wrong: an upper bound."""

    def __str__(self) -> str:
        if self.rows_left == 0:
            return "all rows were seen: none is left to be wrong"
        if self.high > 0.99:
            return "nothing is known about the error yet"
        if self.rows_left is not None:
            return self._about_rows()
        over = f" over the last {self.rounds_used} items" if self.lately else ""
        sure = f"with {100 * self.confidence:g} % confidence"
        return f"the error{over} is below {percent(self.high)} {sure}"

    def _about_rows(self) -> str:
        most = f"at most {self.wrong_left:,}" if self.wrong_left else "none"
        verb = "are" if self.wrong_left and self.wrong_left > 1 else "is"
        left = f"{self.rows_left:,} rows" if self.rows_left != 1 else "one row"
        worse = f" if the rules got no worse in the last {self.rounds_used:,} rounds,"
        sure = f"with {100 * self.confidence:g} % confidence"
        return f"{most} of the {left} left {verb} wrong,{worse if self.lately else ''} {sure}"


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
        True: the mean error over the last `rounds_used` rounds, over whatever models were shown in
        them: of several windows the one with the smallest upper bound. It bounds the error of the
        present model where that is no worse than those of the window were on average.
        With `rows`: the error of the present model, if no change of the model in the last
        `rounds_used` rounds made more of the rows left wrong. Both intervals are right at once: one
        may choose.
    rows : int, default=lesson.rows if that is a Progress
        The rows of a finite table that is read once, in random order: the interval is for the rows
        not yet seen, and `wrong_left` says how many of them may be wrong. None: there is no end of
        items, and none comes twice but by chance.

    >>> print(estimate([False] * 40))
    the error is below 9.7 % with 95 % confidence
    >>> now = estimate([True] * 10 + [False] * 40)
    >>> round(now.low, 3), round(now.error, 3), round(now.high, 3), now.rounds_used
    (0.0, 0.0, 0.187, 40)
    >>> print(estimate(([False] * 19 + [True]) * 50, lately=True))
    the error over the last 1000 items is below 8.0 % with 95 % confidence
    >>> print(estimate([False] * 40, rows=200))
    at most 18 of the 160 rows left are wrong, with 95 % confidence
    >>> estimate([False] * 199, rows=200).wrong_left, estimate([True] * 200, rows=200).wrong_left
    (0, 0)
    """
    check("estimate", "confidence", confidence, "between 0 and 1", lambda c: 0 < c < 1, float)
    progress = Progress.of(lesson)
    rows = progress.rows if rows is None else rows
    if rows is not None:
        return _of_rows_left(progress, rows, confidence, lately)
    risk = 1 - confidence
    stretches = progress.windows if lately else [progress.model]
    best = stretches[0]
    high = highest(best, risk)
    for stretch in stretches[1:]:  # an edge is slow to find: do it only where it is lower
        if is_below(high, stretch, risk):
            high, best = highest(stretch, risk, high), stretch
    low = lowest(best, risk)
    recent = best if lately else progress.recent
    error = recent.mistakes / recent.rounds if recent.rounds else 0.5
    return ErrorEstimate(min(max(error, low), high), low, high, confidence, best.rounds, lately)


def _of_rows_left(progress: Progress, rows: int, confidence: float, lately: bool) -> ErrorEstimate:
    """The estimate for a finite table."""
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
    return ErrorEstimate(error, low, high, confidence, used, lately, left, most)


def is_lower_lately(progress: Progress, wrong: float, confidence: float = 0.95) -> bool:
    """Whether `estimate(lately=True)` of a finite table has a `wrong_left` below `wrong`; that
    takes a fraction of the time."""
    assert progress.rows is not None
    draws = progress.draws(progress.rows, lately=True)
    return draws.refute(ceil(wrong), ABOVE * (1 - confidence))


def is_below(error: float, stretch: Stretch, risk: float) -> bool:
    """Whether a stretch refutes that its mean error is `error` or more; 1 is never refuted.

    >>> is_below(0.05, Stretch(0, 60, share=1.0), 0.05), is_below(0.05, Stretch(0, 80, 1.0), 0.05)
    (False, True)
    """
    mistakes, rounds, share = stretch
    if error >= 1 or error * rounds <= mistakes:
        return False
    purses = [mistakes * log_g - rounds * log1p(error * more) for log_g, more in _FEWER]
    if not mistakes:  # g = 0, which a mistake ruins, plays with three quarters of the money
        purses.append(log(3 * len(_FEWER)) - rounds * log1p(-error))
    return _mean(purses, 4 * len(_FEWER)) >= -log(ABOVE * risk * share)


def is_above(error: float, stretch: Stretch, risk: float) -> bool:
    """Whether a stretch refutes that its mean error is `error` or less."""
    mistakes, rounds, share = stretch
    if error * rounds >= mistakes:
        return False
    purses = [mistakes * log_g - rounds * log1p(error * more) for log_g, more in _MORE]
    return _mean(purses, len(_MORE)) >= -log((1 - ABOVE) * risk * share)


def highest(stretch: Stretch, risk: float, refuted: float = 1.0) -> float:
    """The least error that the stretch refutes from above; one that it refutes may be known."""
    return _edge(stretch, refuted, lambda error: is_below(error, stretch, risk))


def lowest(stretch: Stretch, risk: float) -> float:
    """The largest error that the stretch refutes from below, or 0."""
    return _edge(stretch, 0.0, lambda error: is_above(error, stretch, risk))


def needed(error: float, mistakes: int, share: float, risk: float) -> int:
    """How many rounds with `mistakes` mistakes refute an error of `error` or more.

    >>> needed(0.05, 0, 1.0, 0.05)
    66
    """
    enough = 1
    while not is_below(error, Stretch(mistakes, enough, share), risk):
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if is_below(error, Stretch(mistakes, middle, share), risk):
            enough = middle
        else:
            too_few = middle
    return enough


def _edge(stretch: Stretch, out: float, refuted: Callable[[float], bool]) -> float:
    """Where refutation begins on the way from the share of mistakes, never refuted, to `out`."""
    if not stretch.rounds:
        return out
    inside = stretch.mistakes / stretch.rounds
    while abs(out - inside) > _NEAR:
        middle = (inside + out) / 2
        if refuted(middle):
            out = middle
        else:
            inside = middle
    return out


def _mean(logs: list[float], count: int) -> float:
    """The logarithm of the mean of `count` numbers, given the logarithms of those that are not
    0."""
    top = max(logs)
    return top + log(sum([exp(value - top) for value in logs]) / count)


def percent(share: float) -> str:
    """A bound in words, rounded up.

    >>> percent(0.0721), percent(0.4), percent(0.0039)
    ('7.3 %', '40 %', '0.39 %')
    """
    digits = 0 if share >= 0.1 else 1 if share >= 0.01 else 2
    rounded = ceil(round(share * 100 * 10**digits, 6)) / 10**digits
    return f"{rounded:.{digits}f} %"
