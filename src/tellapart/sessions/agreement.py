"""Where teachers disagree, how far they agree, which answers look like slips; and how answers
compare with labels that are known beforehand.
"""

from __future__ import annotations

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
from tellapart.sessions import replies
from tellapart.sessions.log import State
from tellapart.sessions.phrasing import name
from tellapart.sessions.replies import Agreement, Answered, Disagreement, OddOne
from tellapart.tables.read import read_table_again

if TYPE_CHECKING:
    from tellapart.sessions.session import Session


def shared(state: State) -> Iterator[tuple[int, list[int]]]:
    """The items that several teachers labelled, and each one's answer."""
    for place, numbers in state.history.answers.items():
        if len(numbers) > 1:
            voices = state.history.voices(place).values()
            firm = [n for n in voices if state.history.answer(n).label is not None]
            if len(firm) > 1:
                yield place, firm


def disagreements(state: State) -> list[Disagreement]:
    """The items that teachers called differently."""
    return [
        Disagreement(
            state.items.row(place), tuple(replies.answered(state, number) for number in numbers)
        )
        for place, numbers in shared(state)
        if len({state.history.answer(number).label for number in numbers}) > 1
    ]


def agreement(state: State) -> Agreement:
    """How far teachers agree."""
    items = [numbers for _, numbers in shared(state)]
    labels = [[str(state.history.answer(n).label) for n in numbers] for numbers in items]
    equal, same_reason = [], []
    for numbers in items:
        for one, other in combinations(numbers, 2):
            mine, theirs = state.history.answer(one), state.history.answer(other)
            equal.append(mine.label == theirs.label)
            if equal[-1] and mine.feature and theirs.feature and _same_guess(state, one, other):
                same_reason.append(mine.feature == theirs.feature)
    reasons = len(same_reason)
    return Agreement(len(items), _share(equal), alpha(labels), reasons, _share(same_reason))


def _same_guess(state: State, one: int, other: int) -> bool:
    """Whether two answers were given to the same guess."""
    mine, theirs = state.history.acts[one].question, state.history.acts[other].question
    assert mine is not None
    assert theirs is not None
    return (mine.label, mine.example) == (theirs.label, theirs.example)


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


class Judged(NamedTuple):
    """Answers to be compared with each other."""

    rounds: Transcript
    acts: list[int]
    """The act of each."""
    model: DecisionList
    columns: Sequence[Feature]
    """What the learner may look at."""


def answers_to_judge(state: State) -> Judged:
    """The rounds learnt from, and the answers that wait for a reason."""
    history = Transcript(list(state.learning.rounds))
    acts = list(state.learning.learnt_by)
    for place, number in state.learning.waiting.items():
        label = state.history.answer(number).label
        item, guess = state.items.row(place), state.learning.guess(place)
        history.add(item, guess, Correction(label), who=state.history.acts[number].by)
        acts.append(number)
    columns = getattr(state.learning.learner, "columns", None) or ()
    return Judged(history, acts, state.learning.model, columns)


def slips(
    state: State,
    judged: Judged,
    lock: AbstractContextManager[object],
    everything: bool = False,
) -> list[Suspect]:
    """The rounds that the others contradict, the oddest first, in keys of labels; or all rounds.

    This takes a while: the lock is held only where the table is read.
    """
    words = Words(lambda key: state.history.name(key) or "nothing", replies.feature_words(state))
    places = np.array([told.item.place for told in judged.rounds.rounds], dtype=np.int64)

    def read(feature: Feature) -> Packed:
        with lock:
            bits = state.items.table.truth(feature)[places >> 6]
        return pack(bits >> (places & 63).astype(np.uint64) & np.uint64(1))

    return suspects(
        judged.rounds,
        judged.model,
        features=judged.columns,
        words=words,
        truth_of=read,
        everything=everything,
    )


def odd_one(state: State, suspect: Suspect, number: int) -> OddOne:
    """A suspect in names, with the answer it speaks of."""
    feature = suspect.expected_feature
    spoken_of = (one for one in suspect.against if isinstance(one, Expression))
    columns = dict.fromkeys(chain.from_iterable(sorted(one.schema) for one in spoken_of))
    return OddOne(
        replies.answered(state, number),
        state.history.name(suspect.expected),
        suspect.score,
        suspect.why,
        None if feature is None else str(feature),
        tuple(columns),
    )


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
        label = one.guess.label if one.answer == "right" else one.label
        if label is not None and one.item.identity in known:
            said[one.item.identity] = name(one.item), str(label)
    odd = {
        called: (label, known[identity])
        for identity, (called, label) in said.items()
        if label != known[identity]
    }
    return len(said) - len(odd), odd
