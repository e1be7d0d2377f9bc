"""What a teacher is asked next: which item, with what guess, and what about it.

In this order: an item the teacher took an answer back on; one of theirs that waits for a feature;
one they look for; one that came back (skipped a while ago, or its lease ended); one that wants a
second opinion; a fresh one; and at the end whatever is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tellapart.protocol import Guess
from tellapart.sessions.acts import Shown
from tellapart.sessions.state import State

_SOUGHT = 2  # the way of items that are looked for
_GLANCE = 200  # so many of those who wait for others are passed by


class Question(NamedTuple):
    """An item, the guess on it (in keys), what is asked, and the label if only a feature is."""

    place: int
    guess: Guess
    asks: str
    kept: str | None


def choose(state: State, teacher: str, settle: Callable[[int], None]) -> tuple[int | None, bool]:
    """The place of the next item for a teacher, or None; and whether it was looked for.

    `settle` is called with items that need not be asked about any more: the guess has come to
    agree with the label that was kept.
    """
    desk, acts = state.desk, len(state.acts)
    ways: tuple[Callable[[], int | None], ...] = (
        lambda: desk.own(teacher),
        lambda: _waiting(state, teacher, settle, mine=True),
        lambda: _sought(state, teacher),
        lambda: desk.back(teacher, acts),
        lambda: desk.second(teacher, acts),
        lambda: desk.fresh(state.line, lambda pool: _doubts(state, pool)),
        lambda: desk.back(teacher, None),
        lambda: _waiting(state, teacher, settle, mine=False),
    )
    for way in ways:
        place = way()
        if place is not None:
            return place, way is ways[_SOUGHT] or place in state.sought
    return None, False


def _sought(state: State, teacher: str) -> int | None:
    looking = state.searches.get(teacher)
    return None if looking is None else looking.next()


def _waiting(
    state: State, teacher: str, settle: Callable[[int], None], *, mine: bool
) -> int | None:
    """An item whose label is known and whose feature is asked."""
    passed = 0
    for place, number in list(state.course.now.waiting.items()):
        if place in state.desk.leases:
            continue
        due = state.desk.due(place, len(state.acts))
        if mine and (state.acts[number].by != teacher or not due):
            passed += 1
            if passed > _GLANCE:
                return None
        elif state.course.guess(place).label == state.course.said(number).label:
            settle(place)
        else:
            return place
    return None


def _doubts(state: State, pool: list[int]) -> list[float]:
    """How likely the guess on each of some items is wrong, by the record of its rule."""
    rules = state.rules_of(pool)
    counts = (state.course.now.records.get(rules[place], (0, 0)) for place in pool)
    return [(wrong + 1) / (right + wrong + 2) for right, wrong in counts]


def ask(state: State, place: int) -> Question:
    """What to ask about an item."""
    course = state.course
    taught = course.now.taught.get(place)
    if taught is not None:
        # A second opinion is asked as the first was: nothing learnt since shows through.
        shown = course.acts[taught].shown
        assert shown is not None
        label = None if shown.label is None else state.labels.same(shown.label)
        example = None if shown.example is None else state.items.row(shown.example)
        return Question(place, Guess(label, example), "answer" if label else "label", None)
    guess = course.guess(place)
    number = course.now.waiting.get(place)
    if number is not None:
        return Question(place, guess, "feature", course.said(number).label)
    return Question(place, guess, "label" if guess.label is None else "answer", None)


def is_still(held: Shown, question: Question, state: State, now: float) -> bool:
    """Whether what a teacher has before them is what would be asked now, with time to answer."""
    example = None if question.guess.example is None else question.guess.example.place
    label = None if held.label is None else state.labels.same(held.label)
    return (
        held.until - now > state.settings.lease / 2
        and (label, held.example) == (question.guess.label, example)
        and (held.asks, held.kept) == (question.asks, question.kept)
    )
