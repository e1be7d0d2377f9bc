"""Sweeps: many items of one guess at a glance; a teacher marks the wrong ones and accepts the rest.

What is accepted is given and answered like any other item, all in one commit. A sweep looks for
its items, so none of them counts as drawn at random. What is marked comes next, to be corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tellapart.errors import ParameterError
from tellapart.model import DecisionList
from tellapart.sessions.events import check_text, new_id, stamp
from tellapart.sessions.log import Log, State
from tellapart.sessions.replies import WholeRow

MOST = 50
"""So many items are shown at a time."""


@dataclass(frozen=True)
class Sweep:
    """Items that are guessed alike, and that nobody has answered about."""

    label: str
    """The guess."""
    items: list[WholeRow]
    left: int
    """How many there are, these among them."""


@dataclass(frozen=True)
class Swept:
    """What a sweep came to."""

    accepted: int
    marked: int
    left_out: int
    """Items that others have or answered about meanwhile, or whose guess is another now."""


def label_of(model: DecisionList, rule: int) -> str:
    clauses = list(model)
    if not 1 <= rule <= len(clauses) or clauses[rule - 1].label is None:
        raise ParameterError(f"there is no rule {rule}; rules are 1 to {len(clauses)}")
    return str(clauses[rule - 1].label)


def covered(
    numbers: npt.NDArray[np.uint32], model: DecisionList, rule: int | None, label: str
) -> npt.NDArray[np.intp]:
    """The places of the items that a rule covers, or else of those that get a label; `numbers` says
    which rule labels each."""
    if rule is not None:
        return np.flatnonzero(numbers == rule - 1)
    alike = [number for number, clause in enumerate(model) if clause.label == label]
    if not alike:
        raise ParameterError(f"no rule says {label!r}")
    return np.flatnonzero(np.isin(numbers, alike))


def left_by_label(
    state: State, teacher: str, numbers: npt.NDArray[np.uint32], model: DecisionList
) -> dict[str, tuple[int, int]]:
    """For every label that rules say: how many items are open, of how many. The label of which the
    largest part is open comes first, so that the rules see all labels."""
    whole = np.bincount(numbers, minlength=len(model.clauses) + 1)
    free = numbers[open_places(state, teacher, np.arange(len(numbers), dtype=np.intp))]
    part = np.bincount(free, minlength=len(whole))
    found: dict[str, tuple[int, int]] = {}
    for clause, left, items in zip(model, part.tolist(), whole.tolist(), strict=True):
        if clause.label is not None and items:
            before = found.get(str(clause.label), (0, 0))
            found[str(clause.label)] = (before[0] + left, before[1] + items)
    return dict(sorted(found.items(), key=lambda one: -one[1][0] / one[1][1]))


def open_places(state: State, teacher: str, places: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Those of some places that nobody has answered about, and that no other teacher has."""
    taken = [place for place in state.history.answers if state.history.opinions(place)]
    taken += [place for place, lease in state.queue.leases.items() if lease.teacher != teacher]
    return places[~np.isin(places, taken)]


def accept(
    log: Log,
    state: State,
    teacher: str,
    label: str,
    right: Sequence[int],
    wrong: Sequence[int],
    id: str | None,
) -> Swept:
    """Write a sweep: that the guess `label` is right for some places, and wrong for others."""
    check_text("a label", label)
    if not right and not wrong:
        raise ParameterError("a sweep needs items: name those that are right, or wrong")
    if set(right) & set(wrong):
        raise ParameterError("an item of a sweep is right or wrong, not both")
    items, queue = state.items, state.queue
    right = list(dict.fromkeys(right))
    data = {
        "label": label,
        "right": [items.written(place) for place in right],
        "wrong": [items.written(place) for place in dict.fromkeys(wrong)],
    }
    sweep = id or new_id()
    if log.find(id, "swept", teacher, data) is not None:
        answers = (act.event for act in state.history.acts if act.kind == "answered")
        accepted = sum(event.data.get("sweep") == sweep for event in answers)
        return Swept(accepted, len(data["wrong"]), len(right) - accepted)
    log.join(teacher)
    now = log.clock()
    queue.expire(now)
    free = {*open_places(state, teacher, np.array(right, dtype=np.intp)).tolist()}
    asked = [(place, queue.ask(place)) for place in right if place in free]
    log.append("swept", teacher, data, sweep)
    accepted = 0
    for place, (guess, asks, _) in asked:
        if asks == "answer" and state.history.name(guess.label) == label:
            question = {
                "item": items.written(place),
                "label": label,
                "example": items.written(guess.example.place),
                "asks": asks,
                "sought": True,
                "until": stamp(now + state.history.settings.lease),
            }
            given = log.append("given", teacher, question)
            said = {"given": given.id, "item": question["item"], "answer": "right"}
            log.append("answered", teacher, {**said, "sweep": sweep})
            accepted += 1
    return Swept(accepted, len(data["wrong"]), len(right) - accepted)


def swept_with(state: State, number: int, stack: Sequence[int]) -> list[int]:
    """Of the acts that can be undone or redone, those of the same sweep as one; or that one."""
    sweep = state.history.acts[number].event.data.get("sweep")
    if sweep is None:
        return [number]
    found = []
    for one in reversed(stack):
        if state.history.acts[one].event.data.get("sweep") == sweep:
            found.append(one)
    return found
