"""Several teachers: where they disagree and how far they agree, which answers look like slips, what
a person settles of what language models said; and how answers compare with labels known beforehand.

Of what models said, first come the items that teachers call differently, then the answers in doubt,
then a random sample. In doubt are those that the others contradict (`slips`), and rather those that
the rules agree with: a slip that the rules do not follow does little harm. Only the sample tells
how often a model slips: its items are those whose hashes are smallest, so that it does not depend
on what anybody said about them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tellapart.columns import Words as Packed
from tellapart.columns import pack
from tellapart.export.text import Words
from tellapart.features import Expression
from tellapart.model import DecisionList
from tellapart.protocol import Correction, Feature
from tellapart.review import Suspect, Transcript, suspects
from tellapart.review.error_bound import interval
from tellapart.sessions import replies
from tellapart.sessions.history import History
from tellapart.sessions.log import State
from tellapart.sessions.phrasing import name
from tellapart.sessions.replies import Agreement, Answered, Disagreement, OddOne
from tellapart.tables.read import read_table_again

if TYPE_CHECKING:
    from tellapart.sessions.session import Session

ODD = 30
"""So many answers in doubt come before the sample."""
FOLLOWED = 0.2
"""What is added to the doubt about an answer if the rules say the same; doubts are from -1 to 1."""
SAMPLE = 50
"""So many answers of models are drawn at random, before other items come again."""


# -- where teachers agree


def shared(history: History) -> Iterator[tuple[int, list[int]]]:
    """The items that several teachers labelled, and each one's answer."""
    for place, numbers in history.answers.items():
        if len(numbers) > 1:
            voices = history.voices(place).values()
            firm = [n for n in voices if history.answer(n).label is not None]
            if len(firm) > 1:
                yield place, firm


def disputed(history: History) -> dict[int, list[int]]:
    """The items that teachers called differently, and each one's answer."""
    return {
        place: numbers
        for place, numbers in shared(history)
        if len({history.answer(number).label for number in numbers}) > 1
    }


def disagreements(state: State) -> list[Disagreement]:
    return [
        Disagreement(state.items.row(place), tuple(replies.answered(state, n) for n in numbers))
        for place, numbers in disputed(state.history).items()
    ]


def agreement(history: History) -> Agreement:
    items = [numbers for _, numbers in shared(history)]
    labels = [[str(history.answer(n).label) for n in numbers] for numbers in items]
    equal, same_reason = [], []
    for one, other in chain.from_iterable(combinations(numbers, 2) for numbers in items):
        mine, theirs = history.answer(one), history.answer(other)
        equal.append(mine.label == theirs.label)
        if equal[-1] and mine.feature and theirs.feature and _same_guess(history, one, other):
            same_reason.append(mine.feature == theirs.feature)
    reasons = len(same_reason)
    return Agreement(len(items), _share(equal), alpha(labels), reasons, _share(same_reason))


def _same_guess(history: History, *numbers: int) -> bool:
    questions = [history.acts[number].question for number in numbers]
    return len({question and (question.label, question.example) for question in questions}) == 1


def _share(truths: Sequence[bool]) -> float | None:
    return sum(truths) / len(truths) if truths else None


def alpha(units: Sequence[Sequence[str]]) -> float | None:
    """Krippendorff's alpha for names: units are items, each with the labels it was given.

    >>> round(alpha([["a", "a"], ["b", "b"], ["a", "b"], ["b", "b"]]), 3)
    0.533
    """
    totals: Counter[str] = Counter()
    observed = 0.0
    for labels in units:
        if len(labels) > 1:
            counts = Counter(labels)
            totals += counts
            unlike = sum(n * (len(labels) - n) for n in counts.values())
            observed += unlike / (len(labels) - 1)
    everything = sum(totals.values())
    expected = sum(n * (everything - n) for n in totals.values()) / max(1, everything - 1)
    return 1 - observed / expected if expected else None


# -- answers that the others contradict


class Judged(NamedTuple):
    """Answers to be compared with each other, and what the rules were then."""

    rounds: Transcript
    acts: list[int]
    """The act of each."""
    model: DecisionList
    columns: Sequence[Feature]
    """What the learner may look at."""


def answers_to_judge(state: State) -> Judged:
    rounds, acts = Transcript(list(state.learning.rounds)), list(state.learning.learnt_by)
    for place, number in state.learning.waiting.items():
        correction = Correction(state.history.answer(number).label)
        who = state.history.acts[number].by
        rounds.add(state.items.row(place), state.learning.guess(place), correction, who)
        acts.append(number)
    columns = getattr(state.learning.learner, "columns", None) or ()
    return Judged(rounds, acts, state.learning.model, columns)


def slips(
    state: State,
    judged: Judged,
    lock: AbstractContextManager[object],
    everything: bool = False,
) -> list[Suspect]:
    """The rounds that the others contradict, the oddest first, in keys of labels; or all rounds.

    This takes a while: the lock is held only where the table is read.
    """
    places = np.array([told.item.place for told in judged.rounds.rounds], dtype=np.int64)

    def read(feature: Feature) -> Packed:
        with lock:
            bits = state.items.table.truth(feature)[places >> 6]
        return pack(bits >> (places & 63).astype(np.uint64) & np.uint64(1))

    return suspects(
        judged.rounds,
        judged.model,
        features=judged.columns,
        words=Words(lambda key: state.history.name(key) or "nothing", replies.feature_words(state)),
        truth_of=read,
        everything=everything,
    )


def odd_one(state: State, suspect: Suspect, number: int) -> OddOne:
    """A suspect in names, with the answer it speaks of."""
    feature = suspect.expected_feature
    spoken_of = (one for one in suspect.against if isinstance(one, Expression))
    columns = dict.fromkeys(chain.from_iterable(sorted(one.schema) for one in spoken_of))
    return OddOne(
        **vars(replies.answered(state, number)),
        expected=state.history.name(suspect.expected),
        expected_feature=None if feature is None else str(feature),
        score=suspect.score,
        why=suspect.why,
        columns=tuple(columns),
    )


# -- what people settle of what language models said


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

    @classmethod
    def of(cls, label: str | None, slips: list[bool]) -> SlipRate:
        return cls(label, sum(slips), len(slips), *interval(slips))


def reviews(state: State, judged: Sequence[Suspect]) -> list[int]:
    """The items to settle, in their order; `judged` are all answers (`slips`)."""
    history = state.history
    said = _first_answers(history, history.models)
    doubted = _in_doubt(state, [one for one in judged if one.item.place in said])[:ODD]
    sample = _by_hash(history, said)[:SAMPLE]
    unsure = [p for p in history.unsure if history.models & history.voices(p).keys()]
    return list(dict.fromkeys([*disputed(history), *doubted, *sample, *unsure]))


def _in_doubt(state: State, judged: Sequence[Suspect]) -> list[int]:
    """The items whose answers are in doubt, the most doubtful first."""
    labels = state.learning.model.predict([one.item for one in judged])
    doubts = {
        one.item.place: one.score + FOLLOWED * (label == one.label)
        for one, label in zip(judged, labels, strict=True)
        if one.feature is None
    }
    found = [place for place, doubt in doubts.items() if doubt > 0]
    return sorted(found, key=lambda place: -doubts[place])


def slip_rates(history: History) -> dict[str, list[SlipRate]]:
    """The slip rate of every model, in all and by label."""
    found = {}
    for model in sorted(history.models):
        said = _first_answers(history, {model})
        sample: list[tuple[str | None, bool]] = []
        for place in _by_hash(history, said):
            answer, verdict = history.acts[said[place]].answer, _verdict(history, said[place])
            if verdict is not None and answer is not None and answer.label is not None:
                label = history.labels.same(answer.label)
                sample.append((history.name(label), label != verdict))
            elif not history.is_settled_by_person(place):
                break  # from here on the sample is not complete
        labels = dict.fromkeys(label for label, _ in sample)
        by_label = [SlipRate.of(one, [s for label, s in sample if label == one]) for one in labels]
        found[model] = [SlipRate.of(None, [slip for _, slip in sample]), *by_label]
    return found


def _first_answers(history: History, models: set[str]) -> dict[int, int]:
    """The items that some models gave a label, and the first act that did."""
    found: dict[int, int] = {}
    for place, numbers in history.answers.items():
        for act in (history.acts[number] for number in numbers):
            if act.alive and act.by in models and act.answer is not None and act.answer.label:
                found.setdefault(place, act.number)
    return found


def _verdict(history: History, number: int) -> str | None:
    """The label that a person gave to the item of a model's answer; None if nobody did."""
    act = history.acts[number]
    for other in sorted((*act.changes, *history.answers[act.item]), reverse=True):
        spoken = history.acts[other]
        if spoken.alive and spoken.by not in history.models:
            said = spoken.answer if spoken.kind == "changed" else history.raw_answer(other)
            if said is not None and said.label is not None:
                return history.labels.same(said.label)
    return None


def _by_hash(history: History, places: Iterable[int]) -> list[int]:
    def key(place: int) -> bytes:
        text = f"{history.opened.data['seed']} sample {place}"
        return hashlib.blake2b(text.encode(), digest_size=8).digest()

    return sorted(places, key=key)


# -- labels that are known beforehand


def known_labels(path: str | Path, column: str, session: Session) -> dict[Hashable, str]:
    """The label of each item by its id, from a column that the session's table leaves out."""
    read = dict(session.opened.data.get("source") or {})
    how = {key: value for key, value in read.items() if key not in ("path", "without")}
    columns = {**session.opened.data["table"]["columns"]}
    whole = read_table_again(path, columns, **how)
    pairs = zip(whole.ids(), whole.labels(column), strict=True)
    return {identity: str(label) for identity, label in pairs if label is not None}


def compare(
    answers: Iterable[Answered], known: Mapping[Hashable, str]
) -> tuple[int, dict[str, tuple[str, str]]]:
    """How many items were called what is known, and the others: name -> (said, known)."""
    said: dict[Hashable, tuple[str, str]] = {}
    for one in answers:
        if one.undone or one.answer in ("unsure", "skipped"):
            continue
        label = one.guess if one.answer == "right" else one.label
        if label is not None and one.item.identity in known:
            said[one.item.identity] = name(one.item), str(label)
    odd = {
        called: (label, known[identity])
        for identity, (called, label) in said.items()
        if label != known[identity]
    }
    return len(said) - len(odd), odd
