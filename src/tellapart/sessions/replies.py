"""What a session says to those who use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tellapart.features.phrasing import counted
from tellapart.protocol import Guess
from tellapart.tables import Row

AT_RANDOM = " (for items in random order)"
"""What estimates and stoppers assume, said where it is not so."""


class Given(NamedTuple):
    """An item to be answered about."""

    id: str
    """What to answer to."""
    teacher: str
    item: Row
    guess: Guess
    """The guess, with the name of its label and the example; (None, None) when the label is asked.
    """
    asks: str
    """"answer": is the guess right, and if not, why? "label": what is it? "feature": the label is
    known (`kept`), but what tells the item from the example?"""
    kept: str | None
    until: float
    """When the lease ends, in seconds since 1970."""


class Saved(NamedTuple):
    """An event that is safely in the log."""

    number: int
    id: str
    outcome: str | None = None
    """Of an answer: "label", "right", "mistake", "again" (the rules changed meanwhile: the label is
    kept, and the next item asks for the feature), "opinion", "unsure" or "skipped"."""
    event: str | None = None
    """Of an undo or redo: what was undone or redone."""


@dataclass(frozen=True)
class Summary:
    """How far a session is. Counts are of items."""

    items: int
    labelled: int
    """Learnt from."""
    waiting: int
    """The label is known, a feature is still asked."""
    unsure: int
    skipped: int
    left: int
    """Not labelled, and nobody was unsure of them."""
    mistakes: int
    guesses: int
    recent: tuple[int, int]
    """Mistakes among the last 20 guesses, and how many there were."""
    rules: int
    teachers: int
    estimate: str
    """What is known about the error, as a sentence."""
    error: tuple[float, float, float]
    """Low, likely, high."""
    may_stop: bool
    stop: str | None
    """What the stopper says."""

    def __str__(self) -> str:
        return (
            f"{self.labelled:,} of {self.items:,} items labelled, {self.unsure:,} unsure,"
            f" {self.left:,} left; {counted(self.mistakes, 'mistake')} in"
            f" {counted(self.guesses, 'guess', 'guesses')}, {self.recent[0]} in the last"
            f" {self.recent[1]}; {counted(self.rules, 'rule')}; {self.estimate}"
        )


class Ending(NamedTuple):
    """There is nothing to give to this teacher now."""

    summary: Summary
    busy: int
    """Items that others have before them: some may come back."""

    def __str__(self) -> str:
        more = f" ({self.busy} are with other teachers)" if self.busy else ""
        return f"no items left{more}: {self.summary}"


class Answered(NamedTuple):
    """One answer in the history."""

    id: str
    number: int
    at: str
    teacher: str
    item: Row
    guess: Guess
    answer: str
    label: str | None
    feature: str | None
    outcome: str | None
    undone: bool
    changes: tuple[str, ...]
    """The events that changed it, the last in force last."""


class Disagreement(NamedTuple):
    """An item that teachers called differently: each one's answer, with label and reason."""

    item: Row
    answers: tuple[Answered, ...]


class Agreement(NamedTuple):
    """How far teachers agree on the items that several of them labelled."""

    items: int
    labels: float | None
    """The share of pairs of answers about one item with the same label; None without any."""
    alpha: float | None
    """The same, less what chance would do: Krippendorff's alpha, 1 at best, 0 by chance. It does
    not mind that teachers saw different items. None where only one label was used."""
    reasons: int
    """Pairs of answers about one item, to one guess, with the same label and a feature each."""
    features: float | None
    """The share of these pairs with the same feature."""


class OddOne(NamedTuple):
    """An answer that the others contradict: a slip, or an exception."""

    answer: Answered
    expected: str | None
    """The label that the others speak for; the same label when the feature is doubted."""
    score: float
    why: str
    expected_feature: str | None


class Check(NamedTuple):
    """What an expression says of what is shown."""

    feature: str
    """The expression, in its one form."""
    on_item: bool | None
    """True, False, or None where it is unknown."""
    on_example: bool | None
    items: int
    """On how many items of the table it holds."""

    @property
    def tells(self) -> bool:
        """Whether it may be named as the reason."""
        return self.on_item is True and self.on_example is not True
