"""When to stop: conditions on the progress of a lesson.

A stopper has no state: one serves many lessons. `teach(..., until=stopper)` ends a lesson by it; a
person who teaches reads `say` after every round.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil
from typing import Any

from tellapart.errors import ParameterError, check
from tellapart.features.phrasing import counted
from tellapart.model import DecisionList, Literal
from tellapart.protocol import Correction, Guess, Label, Learner
from tellapart.review.error_bound import ABOVE
from tellapart.review.progress import ErrorEstimate, Progress, estimate


class Stopper(ABC):
    """A condition that right guesses only bring nearer."""

    def met(self, progress: Progress) -> bool:
        return self.left(progress) == 0

    def left(self, progress: Progress) -> int | None:
        """How many more guesses, if all are right, until one may stop; None if nobody knows."""
        return None

    @abstractmethod
    def facts(self, progress: Progress, now: ErrorEstimate | None = None) -> list[str]:
        """How far it is, in words. `now` is `estimate(progress)`, if that is known: it takes long
        to work out."""

    def say(self, progress: Progress, now: ErrorEstimate | None = None) -> str:
        """One sentence: how far it is, and whether one may stop; `now` as in `facts`.

        >>> print(NoMistakeIn(40).say(Progress.of([True] + [False] * 12)))
        no mistake in 12 items; the error is below 36 % with 95 % confidence; if the next 28 guesses
        are right, you may stop
        """
        left, said = self.left(progress), self.facts(progress, now)
        if left:
            coming = f"if the next {left} guesses are right" if left > 1 else "with one more"
            said.append(f"{coming}, you may stop")
        elif self.met(progress):
            said.append("you may stop")
        return "; ".join(said)

    def watch(self, learner: Learner | None = None) -> Watch:
        return Watch(self, learner)


@dataclass(frozen=True)
class Rounds(Stopper):
    """After `n` items, whatever happened.

    >>> print(Rounds(2).say(Progress.of([True, False])))
    2 items done; you may stop
    """

    n: int

    def __post_init__(self) -> None:
        check("Rounds", "n", self.n, "an integer >= 1", lambda n: n >= 1)

    def left(self, progress: Progress) -> int:
        return max(0, self.n - progress.rounds)

    def facts(self, progress: Progress, now: ErrorEstimate | None = None) -> list[str]:
        return [f"{counted(progress.rounds, 'item')} done"]


@dataclass(frozen=True)
class NoMistakeIn(Stopper):
    """After `n` right guesses in a row.

    The sentence tells what that is worth, which is less after many mistakes than after few:

    >>> print(NoMistakeIn(40).say(Progress.of([False] * 40)))
    no mistake in 40 items; the error is below 9.3 % with 95 % confidence; you may stop
    >>> print(NoMistakeIn(40).say(Progress.of([True] * 20 + [False] * 40)))
    no mistake in 40 items; the error is below 18 % with 95 % confidence; you may stop
    """

    n: int

    def __post_init__(self) -> None:
        check("NoMistakeIn", "n", self.n, "an integer >= 1", lambda n: n >= 1)

    def left(self, progress: Progress) -> int:
        return max(0, self.n - progress.streak)

    def facts(self, progress: Progress, now: ErrorEstimate | None = None) -> list[str]:
        if progress.streak:
            run = f"no mistake in {counted(progress.streak, 'item')}"
        elif progress.erred or not progress.picked:
            run = "a mistake just now"
        else:
            run = "no item drawn at random since the last mistake"
        return [run, str(now or estimate(progress))]


@dataclass(frozen=True)
class ErrorBelow(Stopper):
    """When the error is below `error` with `confidence`, by `estimate`.

    The statement is right with this confidence although it is tried after every round. On a finite
    table (`Progress(rows=N)`) it is about the rows left. Of few rows, a small error is less than
    one row: then it may be met, and no longer be met some rows later, until no row is left.

    Parameters
    ----------
    error : float in (0, 1)
    confidence : float in (0, 1), default=0.95
    lately : bool, default=False
        False: by the draws of the present model. True: by all draws, if no change of the model made
        it worse, where a learner goes on to change because the world is noisy.

    >>> print(ErrorBelow(0.05).say(Progress.of([True] * 3 + [False] * 130)))
    the error is below 4.1 % with 95 % confidence; you may stop
    """

    error: float
    confidence: float = 0.95
    lately: bool = False

    def __post_init__(self) -> None:
        for name, value in (("error", self.error), ("confidence", self.confidence)):
            check("ErrorBelow", name, value, "between 0 and 1", lambda v: 0 < v < 1, float)

    def met(self, progress: Progress) -> bool:
        draws = progress.draws(progress.rows, self.lately)
        least = ceil(self.error * draws.left - 1e-9)  # of no row that is left, none is wrong
        return not draws.left or draws.refute(least, ABOVE * (1 - self.confidence))

    def facts(self, progress: Progress, now: ErrorEstimate | None = None) -> list[str]:
        if now is None or (now.confidence, now.lately) != (self.confidence, self.lately):
            now = estimate(progress, self.confidence, lately=self.lately)
        return [str(now)]


class Watch:
    """A stopper in one lesson: it counts every round and knows whether one may stop.

    Given the learner, it compares the model before and after a round: a mistake may leave it as it
    was. (Learners cache their model until it changes, so this is cheap.)
    """

    def __init__(self, stopper: Stopper, learner: Learner | None = None) -> None:
        self.stopper, self.learner = stopper, learner
        self.progress = Progress()
        self._model = None if learner is None else learner.model

    def __call__(self, guess: Guess, correction: Correction | None) -> None:
        changed = self._changed()
        if guess.label is None:
            self.progress.ask()
        else:
            self.progress.add(correction is not None, changed)

    def met(self) -> bool:
        return self.stopper.met(self.progress)

    def _changed(self) -> bool | None:
        if self.learner is None or self._model is None:
            return None
        before, self._model = self._model, self.learner.model
        return self._model is not before and says(self._model) != says(before)


def says(model: DecisionList) -> list[tuple[tuple[Literal, ...], Label]]:
    """What a model guesses, apart from the examples it shows."""
    return [(clause.literals, clause.label) for clause in model]


# -- as JSON


def write_stopper(stopper: Stopper | None) -> Any:
    """A stopper as JSON.

    >>> write_stopper(NoMistakeIn(40))
    {'no mistake in': 40}
    """
    if stopper is None:
        return None
    if isinstance(stopper, NoMistakeIn):
        return {"no mistake in": stopper.n}
    if isinstance(stopper, Rounds):
        return {"rounds": stopper.n}
    if isinstance(stopper, ErrorBelow):
        more = {"confidence": stopper.confidence} if stopper.confidence != 0.95 else {}
        return {
            "error below": stopper.error,
            **more,
            **({"lately": True} if stopper.lately else {}),
        }
    raise ParameterError(f"a session cannot keep the stopper {stopper!r}")


def read_stopper(written: Any) -> Stopper | None:
    """The inverse of `write_stopper`; a stopper stands for itself.

    Old logs have joined ones: what they say of the error is kept, else the first part.

    >>> read_stopper({"and": [{"no mistake in": 40}, {"error below": 0.05}]})
    ErrorBelow(error=0.05, confidence=0.95, lately=False)
    """
    if written is None or isinstance(written, Stopper):
        return written
    match written:
        case {"no mistake in": n, **rest} if not rest:
            return NoMistakeIn(n)
        case {"rounds": n, **rest} if not rest:
            return Rounds(n)
        case {"error below": error, **rest} if rest.keys() <= {"confidence", "lately"}:
            options: dict[str, Any] = {str(name): value for name, value in rest.items()}
            return ErrorBelow(error, **options)
        case {"and": [_, _] as parts} | {"or": [_, _] as parts} if (
            len(written) == 1 and None not in parts
        ):
            read = [read_stopper(part) for part in parts]
            return next((one for one in read if isinstance(one, ErrorBelow)), read[0])
    raise ParameterError(
        f"unknown stopper {written!r}; use {{'no mistake in': 40}}, {{'error below': 0.05}} or"
        " {'rounds': 1000}"
    )
