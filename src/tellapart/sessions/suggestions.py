"""Features that tell an item from its example: candidates, and a check of one the teacher writes.

The cost of a request does not grow with the table or with what was taught: candidates are ranked on
a few hundred of the last labelled items, and counted on a part of the table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from math import log2

import numpy as np

from tellapart.features import Expression, canonical, tree
from tellapart.features.candidates import NINE, Candidate
from tellapart.features.phrasing import spoken
from tellapart.features.tree import Type
from tellapart.protocol import Label
from tellapart.sessions.history import Question
from tellapart.sessions.log import State
from tellapart.sessions.replies import Check
from tellapart.tables import Row, Table
from tellapart.tables.packed_columns import evaluate_soon
from tellapart.tables.table_features import FEWEST_KEYS, candidates_in

LIMIT = 30
"""So many candidates are offered, unless another number is asked for."""
_LOOKED = 60  # candidates are looked through for the best
_BACK = 2_000  # so many rounds are looked back at
_EACH = 200  # for so many items of each of the two labels, and of all others
_OTHERS = object()
_COUNTED = 1_500  # rows in which candidates are counted
_NAMED = 50  # so many features that were named before are offered again
_ONCE, _SO = 0.7, 1.5  # worth of having been named; of having told these two labels apart
_LONGEST = 100  # characters of an opposite that is offered
_HABIT = 0.3  # worth of a column that this teacher has named, for each time it doubles


def candidates(state: State, question: Question, label: str | None, limit: int) -> list[Candidate]:
    """Features that hold on the item and not on the example, the best first (`ranked`)."""
    if question.example is None:
        return []
    mine = question.kept if label is None else state.history.labels.find(label)
    item, example = state.items.row(question.item), state.items.row(question.example)
    history: list[tuple[Row, Label]] = [(example, question.label)]
    room: Counter[Label] = Counter({mine: _EACH, question.label: _EACH})
    for row, said in islice(_said(state), _BACK):
        if row.place not in (item.place, example.place):
            group = said if said in (mine, question.label) else _OTHERS
            room.setdefault(group, _EACH)
            if room[group]:
                room[group] -= 1
                history.append((row, said))
    named = _named(state, item, example, (mine, question.label))
    found = candidates_in(
        state.items.table,
        item,
        example,
        history,
        label=mine,
        limit=max(limit, _LOOKED),
        counted=_COUNTED,
        named=named,
        habits=_habits(state, question.teacher),
        called="" if mine is None else state.history.labels.name(mine),
    )
    return ranked(state.items.table, found, limit, named)


def _said(state: State) -> Iterator[tuple[Row, Label]]:
    """Items and their labels, the latest first; before them those that wait for a reason, whose
    labels are known as well."""
    for place, number in state.learning.waiting.items():
        label = state.history.answer(number).label
        if label is not None:
            yield state.items.row(place), label
    for told in reversed(state.learning.rounds):
        yield told.item, told.label


def _named(
    state: State, item: Row, example: Row, labels: tuple[Label, Label]
) -> dict[Expression, float]:
    """What was named before, or its opposite, where it tells the two apart; and what that adds:
    more if it told the same two labels apart."""
    found: dict[Expression, float] = {}
    seen: set[Expression] = set()
    for told in islice(reversed(state.learning.rounds), _BACK):
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
    mine = islice(reversed(state.history.teachers[teacher].done), _NAMED)
    answers = (state.history.acts[number].answer for number in mine)
    named = Counter(
        column
        for answer in answers
        if answer is not None and answer.feature is not None
        for column in state.items.feature(answer.feature).schema
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


def opposite(table: Table, text: str) -> str | None:
    """The opposite of a reason, in words; None if there is none that is short."""
    said = spoken(Expression(canonical.negate(table.parse(text).tree)))
    return said if len(said) <= _LONGEST else None


def ranked(
    table: Table, found: Sequence[Candidate], limit: int, named: Collection[Expression] = ()
) -> list[Candidate]:
    """Candidates in the order in which a person looks for them; of those that are true of the same
    rows, one.

    While little is known, sense decides: what was `named` before, names, categories and words, then
    round limits, then what says little to a person. After that, what the answers speak for. Dates
    come last until several answers speak for one. Numbers of rows, and more than a few limits of
    one column, come after nine others, or not at all.
    """
    sense = {id(one): _sense(table, one) for one in found}
    chosen = _different(table, found, sense, named)

    def rank(one: Candidate) -> tuple[bool, int]:
        if one.feature in named:
            return False, -1 if one.known < _LITTLE else 0
        agree = one.yes - 1
        spoken_for = agree >= _SEVERAL and agree >= _OFTEN * (agree + one.others)
        late = sense[id(one)] == _DATE and not spoken_for
        return late, sense[id(one)] if one.known < _LITTLE else 0

    first: list[Candidate] = []
    keys: list[Candidate] = []
    more: list[Candidate] = []
    limits: Counter[str] = Counter()
    for one in sorted(chosen, key=rank):
        if one.feature in named:
            first.append(one)
        elif sense[id(one)] == _KEY:
            keys.append(one)
        else:
            column = _limited(one)
            limits[column] += column != ""
            (more if limits[column] > _EACH_COLUMN else first).append(one)
    if not first:
        return keys[:limit]
    return (first + (more + keys if len(first) >= NINE else []))[:limit]


_WORD, _VALUE, _LIMIT, _WEAK, _DATE, _KEY = range(6)
_LITTLE = 8  # answers: with fewer, what they speak for is chance
_SEVERAL, _OFTEN = 3, 0.7
_EACH_COLUMN = 3  # so many limits of a column among the first nine
_SAME = 2_000  # rows that tell whether two are true of the same
_COMMON = 0.05  # of the rows must have a number that is said as a value
_NEARLY_ALL = 0.95  # a limit that holds on more rows, or on this row alone, says little
_YEARS = range(1900, 2101)
_KEY_NAMES = re.compile(r"(^|[\W_])(id|key|nr|index|rowid|rownames|rownum)$|[a-z]I[dD]$", re.I)


def _different(
    table: Table,
    found: Sequence[Candidate],
    sense: Mapping[int, int],
    named: Collection[Expression],
) -> list[Candidate]:
    """Of the candidates that are true of the same rows, what was named before, or else the first;
    the simplest, while little is known."""
    kept: dict[bytes, Candidate] = {}
    truths = table.part(_SAME).truths([one.feature for one in found])
    for one, held in zip(found, truths, strict=True):
        same = np.packbits(held).tobytes()
        other = kept.get(same)
        if other is None or (one.feature in named and other.feature not in named):
            kept[same] = one
        elif one.known < _LITTLE and other.feature not in named:
            kept[same] = min(other, one, key=lambda each: sense[id(each)])
    chosen = {id(one) for one in kept.values()}
    return [one for one in found if id(one) in chosen]


def _limited(one: Candidate) -> str:
    """The column of which a candidate is a limit; empty if it is none."""
    match one.feature.tree:
        case tree.Compare("<" | ">" | "<=" | ">=", tree.Column(name=column), tree.Value()):
            return column
    return ""


def _sense(table: Table, one: Candidate) -> int:
    """How much a kind of reason says to a person: the less the better."""
    node, types = one.feature.tree, one.feature.schema
    if any(_is_key(table, column) for column in types):
        return _KEY
    if any(Type(kind).temporal or _is_year(table, column) for column, kind in types.items()):
        return _DATE
    match node:
        case tree.Column() | tree.Not(tree.Column()):
            return _WORD
        case tree.Like(negated=False, pattern=(tree.Wild.ANY, str(), tree.Wild.ANY)):
            return _WORD
        case tree.Compare("=", tree.Column(type=Type.TEXT)) | tree.Like(negated=False):
            return _VALUE
        case tree.Compare("=", tree.Column(), tree.Value(value=number)):
            common = number == 0 or one.covers >= _COMMON * len(table)
            return _LIMIT if common else _WEAK
        case tree.Compare(_, tree.Column(), tree.Value(value=limit)) if _limited(one):
            says = 1 < one.covers <= _NEARLY_ALL * len(table) or len(table) < FEWEST_KEYS
            return _LIMIT if says and _is_round(limit) else _WEAK
    return _WEAK


def _is_key(table: Table, column: str) -> bool:
    """Whether a column only says which row it is: a number, or an id that is a code."""
    if column in table.row_numbers or (column == table.id and column != table.title):
        return True
    return table.types.get(column) is Type.INTEGER and _KEY_NAMES.search(column) is not None


def _is_year(table: Table, column: str) -> bool:
    if table.types.get(column) is not Type.INTEGER:
        return False
    values = table.profile().numbers(column).shares
    return bool(values) and all(value in _YEARS for value in values)


def _is_round(limit: float) -> bool:
    """Whether a number has one digit, zeros left out, or a 5 behind it.

    >>> [_is_round(limit) for limit in (0, -40, 0.05, 2500, 67, 17.5)]
    [True, True, True, True, False, False]
    """
    digits = f"{abs(limit):.15f}".replace(".", "").strip("0")
    return len(digits) < 2 or (len(digits) == 2 and digits[1] == "5")
