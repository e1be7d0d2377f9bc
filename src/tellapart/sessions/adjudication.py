"""A person settles what language models said: which answers first, and how often the models slip.

First come the items that models call differently, then the answers in doubt, then a random sample.
In doubt are those that the others contradict (`agreement.slips`), and rather those that the rules
agree with: a slip that the rules do not follow does little harm. Only the sample tells how often a
model slips: its items are those whose hashes are smallest, so that it does not depend on what
anybody said about them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from tellapart.review import Suspect
from tellapart.review.error_bound import interval
from tellapart.sessions import agreement
from tellapart.sessions.log import State

ODD = 30
"""So many answers in doubt come before the sample."""
FOLLOWED = 0.2
"""What is added to the doubt about an answer if the rules say the same; doubts are from -1 to 1."""
SAMPLE = 50
"""So many answers are drawn at random, before other items come again."""


class SlipRate(NamedTuple):
    """How often people say otherwise than a model, in a random sample of its answers."""

    label: str | None
    """What the model said; None: whatever it said."""
    slips: int
    settled: int
    """Of so many answers that a person settled."""
    low: float
    high: float
    """Bounds on the share of slips, with 95 % confidence, whenever one looks."""


def reviews(state: State, judged: Sequence[Suspect]) -> list[int]:
    """The items to settle, in their order; `judged` are all answers (`agreement.slips`)."""
    models = state.history.models
    disputed = [
        place
        for place, numbers in agreement.shared(state)
        if len({state.history.answer(n).label for n in numbers}) > 1
    ]
    said = set(_answers(state))
    doubted = _in_doubt(state, judged, said)[:ODD]
    sample = _by_hash(state, said)[:SAMPLE]
    unsure = [
        place for place in state.history.unsure if models & state.history.voices(place).keys()
    ]
    return list(dict.fromkeys([*disputed, *doubted, *sample, *unsure]))


def _in_doubt(state: State, judged: Sequence[Suspect], said: Container[int]) -> list[int]:
    """The items whose answers are in doubt, the most doubtful first."""
    judged = [one for one in judged if one.item.place in said]
    labels = state.learning.model.predict([one.item for one in judged])
    doubts = {
        one.item.place: one.score + FOLLOWED * (label == one.label)
        for one, label in zip(judged, labels, strict=True)
        if one.feature is None
    }
    found = [place for place, doubt in doubts.items() if doubt > 0]
    return sorted(found, key=lambda place: -doubts[place])


def slip_rates(state: State) -> dict[str, list[SlipRate]]:
    """The slip rate of every model, in all and by label."""
    found = {}
    for model in sorted(state.history.models):
        said = _answers(state, model)
        sample: list[tuple[str, bool]] = []
        for place in _by_hash(state, said):
            number = said[place]
            answer = state.history.acts[number].answer
            assert answer is not None
            assert answer.label is not None
            verdict = _verdict(state, number)
            if verdict is None:
                if not state.history.is_settled_by_person(place):
                    break  # from here on the sample is not complete
                continue  # the person is unsure
            label = state.history.labels.same(answer.label)
            sample.append((label, label != verdict))
        rates = [_rate(None, [slip for _, slip in sample])]
        for key in dict.fromkeys(label for label, _ in sample):
            rates.append(
                _rate(state.history.labels.name(key), [s for said, s in sample if said == key])
            )
        found[model] = rates
    return found


def _rate(label: str | None, slips: list[bool]) -> SlipRate:
    return SlipRate(label, sum(slips), len(slips), *interval(slips))


def _answers(state: State, model: str | None = None) -> dict[int, int]:
    """The items that models gave a label, and the first act that did."""
    found: dict[int, int] = {}
    names = state.history.models if model is None else {model}
    for place, numbers in state.history.answers.items():
        for number in numbers:
            act = state.history.acts[number]
            if act.alive and act.by in names and act.answer is not None and act.answer.label:
                found.setdefault(place, number)
    return found


def _verdict(state: State, number: int) -> str | None:
    """The label that a person gave to the item of a model's answer; None if nobody did."""
    act, models = state.history.acts[number], state.history.models
    spoken = [
        other
        for other in (*act.changes, *state.history.answers[act.item])
        if state.history.acts[other].alive and state.history.acts[other].by not in models
    ]
    for other in sorted(spoken, reverse=True):
        target = (
            state.history.acts[other].target
            if state.history.acts[other].kind == "changed"
            else other
        )
        answer = (
            state.history.acts[other].answer if target != other else state.history.raw_answer(other)
        )
        if answer is not None and answer.label is not None:
            return state.history.labels.same(answer.label)
    return None


def _by_hash(state: State, places: Iterable[int]) -> list[int]:
    def key(place: int) -> bytes:
        text = f"{state.history.opened.data['seed']} sample {place}"
        return hashlib.blake2b(text.encode(), digest_size=8).digest()

    return sorted(places, key=key)
