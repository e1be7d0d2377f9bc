"""What the views need of a session's inside, in one place."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from tellapart.errors import ProtocolError
from tellapart.learners import BaseLearner
from tellapart.model import DecisionList
from tellapart.review import History
from tellapart.sessions import Answered, Event, Given, Session, report
from tellapart.sessions.replies import Agreement, Disagreement
from tellapart.tables import Row


def opened(session: Session) -> Event:
    """The first event."""
    with session._ready() as state:
        return state.opened


def given(session: Session, id: str) -> Given:
    """What was given under an id."""
    with session._ready() as state:
        shown = state.shown.get(id)
        if shown is None:
            raise ProtocolError(f"nothing was given under the id {id!r}")
        return report.given(state, shown)


def log(session: Session) -> list[Event]:
    """All events."""
    with session._ready() as state:
        return list(state.ids.values())


def labelled(session: Session, most: int) -> dict[Row, str | None]:
    """Items that were learnt from, evenly spread over the lesson, and their labels."""
    with session._ready() as state:
        rounds = state.course.rounds
        picked = range(len(rounds))
        if len(rounds) > most:
            picked = np.linspace(0, len(rounds) - 1, most).astype(int).tolist()
        found: dict[Row, str | None] = {}
        for n in picked:
            said = state.course.said(rounds[n]).label
            row = state.items.row(state.acts[rounds[n]].place)
            found[row] = None if said is None else state.labels.name(said)
        return found


def mistakes(session: Session) -> list[bool]:
    """Of every guess, whether it was a mistake."""
    with session._ready() as state:
        return list(state.course.mistakes)


def learner(session: Session) -> BaseLearner:
    """Who learns."""
    with session._ready() as state:
        return state.course.now.learner.inner


class Lesson(NamedTuple):
    """What was learnt from, and the event and the label names that belong to it."""

    history: History
    events: list[str]
    names: dict[str, str]
    model: DecisionList


def lesson(session: Session) -> Lesson:
    """What was learnt from so far; teaching may go on meanwhile."""
    with session._ready() as state:
        course = state.course
        history = History()
        history.rounds.extend(course.history.rounds)
        events = [state.acts[n].id for n in course.rounds]
        names: dict[str, Any] = {key: state.labels.name(key) for key in state.labels.current()}
        return Lesson(history, events, names, course.now.learner.model)


def opinions(session: Session) -> dict[Row, dict[str, Answered]]:
    """Items that several teachers labelled, and what each said last."""
    found: dict[Row, dict[str, Answered]] = {}
    for one in session.history():
        if not one.undone and one.label is not None:
            found.setdefault(one.item, {})[one.teacher] = one
    return {item: said for item, said in found.items() if len(said) > 1}


def disagreements(session: Session) -> list[Disagreement]:
    """Items that teachers called differently."""
    return [
        Disagreement(item, tuple(said.values()))
        for item, said in opinions(session).items()
        if len({one.label for one in said.values()}) > 1
    ]


def agreement(session: Session) -> Agreement:
    """How far teachers agree."""
    found = opinions(session)
    pairs = [pair for said in found.values() for pair in combinations(said.values(), 2)]
    if not pairs:
        return Agreement(0, None, None, 0, None)
    same = sum(one.label == other.label for one, other in pairs) / len(pairs)
    told: dict[tuple[str, str], list[tuple[str | None, str | None]]] = {}
    for one, other in pairs:
        first, second = sorted((one, other), key=lambda said: said.teacher)
        told.setdefault((first.teacher, second.teacher), []).append((first.label, second.label))
    kappas = [kappa for labels in told.values() if (kappa := _kappa(labels)) is not None]
    reasons = [
        one.feature == other.feature
        for one, other in pairs
        if one.feature and other.feature and (one.label, one.guess) == (other.label, other.guess)
    ]
    return Agreement(
        len(found),
        same,
        sum(kappas) / len(kappas) if kappas else None,
        len(reasons),
        sum(reasons) / len(reasons) if reasons else None,
    )


def _kappa(labels: list[tuple[str | None, str | None]]) -> float | None:
    """Cohen's kappa; None where chance alone would agree on everything."""
    ones, others = Counter(one for one, _ in labels), Counter(other for _, other in labels)
    chance = sum(ones[label] * others[label] for label in ones) / len(labels) ** 2
    same = sum(one == other for one, other in labels) / len(labels)
    return None if chance == 1 else (same - chance) / (1 - chance)


def rules_over_time(session: Session) -> list[int]:
    """How many rules there were after every guess."""
    with session._ready() as state:
        return list(state.course.sizes)
