"""Features that tell an item from its example: candidates, and a check of one the teacher writes.

The cost of a request does not grow with the table or with what was taught: candidates are ranked on
a few hundred of the last labelled items, and counted on a part of the table. `Suggestions` works
them out before they are asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from math import log2

import numpy as np

from tellapart.features import Expression, canonical
from tellapart.features.candidates import Candidate
from tellapart.protocol import Label
from tellapart.sessions.replies import Check
from tellapart.sessions.state import Answer, Question, State
from tellapart.tables import Row, Table
from tellapart.tables.packed_columns import evaluate_soon
from tellapart.tables.table_features import candidates_in

LIMIT = 30
"""So many candidates are offered, unless another number is asked for."""
_MANY = 500  # are looked through for those of one column
_BACK = 2_000  # so many rounds are looked back at
_EACH = 200  # for so many items of each of the two labels, and of all others
_OTHERS = object()
_COUNTED = 1_500  # rows in which candidates are counted
_NAMED = 50  # so many features that were named before are offered again
_ONCE, _SO = 0.7, 1.5  # worth of having been named; of having told these two labels apart
_HABIT = 0.3  # worth of a column that this teacher has named, for each time it doubles
_LATELY = 200  # rounds, in which likely labels are frequent
_LABELS = 2  # so many labels are likely
_FIRST = 3  # so many features are likely to be chosen


def candidates(state: State, question: Question, label: str | None, limit: int) -> list[Candidate]:
    """Features that hold on the item and not on the example, the worthiest first."""
    if question.example is None:
        return []
    mine = question.kept if label is None else state.labels.find(label)
    item, example = state.items.row(question.place), state.items.row(question.example)
    history: list[tuple[Row, Label]] = [(example, question.label)]
    room: Counter[Label] = Counter({mine: _EACH, question.label: _EACH})
    for row, said in islice(_said(state), _BACK):
        if row.place not in (item.place, example.place):
            group = said if said in (mine, question.label) else _OTHERS
            room.setdefault(group, _EACH)
            if room[group]:
                room[group] -= 1
                history.append((row, said))
    return candidates_in(
        state.items.table,
        item,
        example,
        history,
        label=mine,
        limit=limit,
        counted=_COUNTED,
        named=_named(state, item, example, (mine, question.label)),
        habits=_habits(state, question.teacher),
        called="" if mine is None else state.labels.name(mine),
    )


def _said(state: State) -> Iterator[tuple[Row, Label]]:
    """Items and their labels, the latest first; before them those that wait for a reason, whose
    labels are known as well."""
    replay = state.replay
    for place, number in replay.now.waiting.items():
        label = replay.answer(number).label
        if label is not None:
            yield state.items.row(place), label
    for told in reversed(replay.history.rounds):
        yield told.item, told.label


def _named(
    state: State, item: Row, example: Row, labels: tuple[Label, Label]
) -> dict[Expression, float]:
    """What was named before, or its opposite, where it tells the two apart; and what that adds:
    more if it told the same two labels apart."""
    found: dict[Expression, float] = {}
    seen: set[Expression] = set()
    for told in islice(reversed(state.replay.history.rounds), _BACK):
        feature = None if told.correction is None else told.correction.feature
        if not isinstance(feature, Expression) or told.guess is None:
            continue
        pair: tuple[Label, Label] = (told.label, told.guess.label)
        seen.add(feature)
        if feature(item) == feature(example):
            continue
        if feature(example):
            feature, pair = Expression(canonical.negate(feature.tree)), pair[::-1]
        worth = _SO if pair == labels else _ONCE
        found[feature] = max(found.get(feature, 0.0), worth)
        if len(seen) >= _NAMED:
            break
    return found


def _habits(state: State, teacher: str) -> dict[str, float]:
    """The columns that a teacher has named lately, and what that adds."""
    mine = islice(reversed(state.teachers[teacher].done), _NAMED)
    answers = (state.acts[number].answer for number in mine)
    named = Counter(
        column
        for answer in answers
        if answer is not None and answer.feature is not None
        for column in answer.feature.schema
    )
    return {column: _HABIT * log2(1 + times) for column, times in named.items()}


def check(table: Table, text: str, item: Row | None, example: Row | None) -> Check:
    """What an expression says of the item and of the example, and how many items it covers."""
    feature = table.parse(text)
    if table.knows(feature):
        items = table.count(feature)
    else:  # one that was only tried is not kept in memory
        items = int(np.bitwise_count(evaluate_soon(table, feature)).sum())
    here = None if item is None else feature.value(item)
    there = None if example is None else feature.value(example)
    return Check(str(feature), here, there, items)


class Suggestions:
    """Candidates of a session, and what a teacher may need next, worked out while they look:
    candidates for the likely labels; when these are shown, what is learnt if one is chosen.

    Everything is kept until the next event: after that, the answer may be another.
    """

    def __init__(self) -> None:
        self._of: tuple[State | None, int] = (None, 0)
        self._kept: dict[tuple[str, str | None, int, str | None], list[Candidate]] = {}
        self._asked: dict[str, str | None] = {}

    def candidates(
        self,
        state: State,
        question: Question,
        label: str | None,
        limit: int = LIMIT,
        column: str | None = None,
    ) -> list[Candidate]:
        """See the function `candidates`; all, or those that read a column."""
        self._refresh(state)
        self._asked[question.id] = label
        return list(self._find(state, question, label, limit, column))

    def _refresh(self, state: State) -> None:
        if self._of[0] is not state or self._of[1] != state.number:
            self._of, self._kept, self._asked = (state, state.number), {}, {}

    def _find(
        self,
        state: State,
        question: Question,
        label: str | None,
        limit: int,
        column: str | None = None,
    ) -> list[Candidate]:
        key = question.id, label, limit, column
        if key not in self._kept:
            if column is None:
                self._kept[key] = candidates(state, question, label, limit)
            else:
                found = self._find(state, question, label, _MANY)
                self._kept[key] = [one for one in found if column in one.feature.schema][:limit]
        return self._kept[key]

    def learn_ahead(self, state: State, first: int = 1) -> bool:
        """Learn in a copy what one of the first features would teach, if they are shown."""
        self._refresh(state)
        question = next(reversed(state.queue.held.values()), None)
        if question is None or question.id not in self._asked:
            return False
        label = self._asked[question.id]
        key = question.kept if label is None else state.labels.find(label)
        if key is None:
            return False
        found = self._kept.get((question.id, label, LIMIT, None), [])[:first]
        answers = (Answer("wrong", state.labels.same(key), one.feature) for one in found)
        return any(state.replay.learn_ahead(question, one) for one in answers)

    def look_ahead(self, state: State) -> bool:
        """Work out one thing more; False when all that is likely is at hand."""
        self._refresh(state)
        question = next(reversed(state.queue.held.values()), None)
        if question is None:
            return False  # nobody is looking
        if question.id in self._asked:  # they have made up their mind what it is
            return self.learn_ahead(state, _FIRST)
        if question.asks != "answer":
            return False
        for label in _likely_labels(state, question):
            if (question.id, label, LIMIT, None) not in self._kept:
                self._find(state, question, label, LIMIT)
                return True
        return False


def _likely_labels(state: State, question: Question) -> list[str]:
    """What the item may be if the guess is wrong: the labels that were frequent of late."""
    rounds = islice(reversed(state.replay.history.rounds), _LATELY)
    often = Counter(told.label for told in rounds)
    others = [key for key in state.label_keys() if key != question.label]
    first = sorted(others, key=lambda key: -often[key])[:_LABELS]
    return [state.labels.name(key) for key in first]
