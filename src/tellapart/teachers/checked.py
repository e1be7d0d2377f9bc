"""A function of yours as a teacher, its answers checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tellapart.errors import ProtocolError, check
from tellapart.model import Holds, holds, tells
from tellapart.protocol import Correction, Guess, Item, Label


class Checked:
    """Any function `(item, guess) -> answer` as a teacher: checked, and asked again if need be.

    An answer is a label, a label with a feature (a tuple or a `Correction`), or None: the guess
    stands. The label must be one of `labels`. The feature must hold on the item and not on the
    example; one that does not is left out. A function that raises, or answers something else, is
    asked again. In the end the guess stands; `failures` has what went wrong.

    Parameters
    ----------
    function : (item, guess) -> answer
    labels : labels
        All that may be answered.
    again : int, default=1
        How often it is asked again.
    holds : (feature, item) -> bool, optional
        How a feature is evaluated; as learners do by default.

    >>> def legs(item, guess):
    ...     return "bird" if item["legs"] == 2 else "mammal", "two legs"
    >>> teacher = Checked(legs, ["bird", "mammal"])
    >>> teacher.answer({"legs": 2}, Guess("mammal", {"legs": 4}))
    Correction(label='bird', feature=None)
    """

    def __init__(
        self,
        function: Callable[[Item, Guess], Any],
        labels: Iterable[Label],
        *,
        again: int = 1,
        holds: Holds = holds,
    ) -> None:
        check("Checked", "again", again, "an integer >= 0", lambda n: n >= 0)
        self.function, self.labels, self.again = function, tuple(labels), again
        self.failures: list[str] = []
        self._holds = holds

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """What the function answers, if that is an answer."""
        for _ in range(self.again + 1):
            try:
                return self._read(self.function(item, guess), item, guess)
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
        if guess.label is None:
            raise ProtocolError(
                f"no label for {item!r}, and there is no guess yet that could stand:"
                f" {self.failures[-1]}"
            )
        return None

    def _read(self, said: Any, item: Item, guess: Guess) -> Correction | None:
        label, feature = said if isinstance(said, tuple) and len(said) == 2 else (said, None)
        if label is None and guess.label is not None:
            return None
        if label not in self.labels:
            known = ", ".join(map(repr, self.labels))
            raise ProtocolError(f"the answer {said!r} has none of the labels {known}")
        if label == guess.label:
            return None
        told = guess.label is not None and feature is not None
        told = told and tells(feature, item, guess.example, self._holds)
        return Correction(label, feature if told else None)
