"""The moves against learners that look back: every truth of every item counts, old ones included.

Hindsight asks whether a feature holds on earlier items as soon as the feature is named. So a
feature that a teacher makes up gets its truths on all items at once, each way being a move of its
own; and a right guess changes the learner too, as one more item of its history. The rules:

- An item has a component, and a truth of its own in every feature that its component leaves open.
- An ordinary item has the label of its component, which may be the label of another component
  (with two components that is the same as one). An exception spends one of the k bad rounds and
  has any other label, old or new.
- What is named between ordinary items holds on the whole component of the item and on nothing of
  the example's: a new feature, an old one or its negation, wherever that is consistent with all
  items so far. If either is an exception, or in a bad round (a slip), anything true of the item and
  not of the example may be named, or nothing.
- No item comes twice.

By default the learner cannot look into items, as with the rows of made worlds: it knows only the
features that were named. If it may look into them, all features are there from the start.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from itertools import product
from math import inf
from typing import NamedTuple, TypeAlias

from tellapart.learners import BaseLearner
from tellapart.model import Not
from tellapart.protocol import Correction, Feature, Guess, Item
from tellapart.teachers.adversary.equivalence import Home, label_of
from tellapart.teachers.adversary.moves import pickled

_Column: TypeAlias = tuple[bool | None, ...]
"""What a feature is on each component; None where each item may choose."""


class Draft:
    """An item that is not looked into, and may still get features it was not asked about."""

    __slots__ = ("held", "number")

    def __init__(self, number: int, held: Iterable[Feature]) -> None:
        self.number, self.held = number, set(held)

    def __contains__(self, feature: Feature) -> bool:
        return feature in self.held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Draft) and self.number == other.number

    def __hash__(self) -> int:
        return hash((Draft, self.number))

    def __reduce__(self) -> tuple[type[Draft], tuple[int, set[Feature]]]:
        return Draft, (self.number, self.held)  # whole at once: it may be the key of a dictionary

    def __repr__(self) -> str:
        return f"Draft({self.number}, {sorted(map(str, self.held))})"


class HistoryPosition(NamedTuple):
    """A learner in the middle of a lesson, and what its teacher has committed to."""

    pickled: bytes
    """The learner and the items."""
    homes: tuple[Home, ...]
    labels: tuple[int | None, ...]
    """Of the components met; None where only an exception was."""
    met: int
    """How many labels were met: they are 0, 1, ..."""
    columns: tuple[_Column, ...]
    bad: int
    """Bad rounds left."""
    mistakes: int
    created: int
    """Rules created."""
    by: Move | None
    """The round that led here."""

    def load(self) -> tuple[BaseLearner, list[Item]]:
        """Copies of the learner and the items."""
        learner, items = pickle.loads(self.pickled)
        return learner, items

    def line(self) -> list[Move]:
        """All rounds up to here."""
        moves: list[Move] = []
        position = self
        while position.by is not None:
            moves.append(position.by)
            position = position.by.start
        return moves[::-1]


class Answer(NamedTuple):
    """What the teacher says to a wrong guess."""

    feature: Feature | None
    columns: tuple[_Column, ...]
    """What the teacher has committed to from now on."""
    holders: frozenset[int] | None = None
    """If the feature is new: the old items on which it holds."""
    slip: bool = False


class Move(NamedTuple):
    """A round that could be played."""

    start: HistoryPosition
    home: Home
    held: frozenset[Feature]
    label: int
    guess: Guess
    answer: Answer | None
    """None: the guess is right."""

    @property
    def correction(self) -> Correction | None:
        if self.answer is None:
            return None
        return Correction(label_of(self.label), self.answer.feature)

    @property
    def mistakes(self) -> int:
        """Those of the lesson, this round included; the first round asks and is none."""
        return self.start.mistakes + int(self.answer is not None and self.guess.label is not None)


class HistoryMoves:
    """What a teacher may do whose learner looks back.

    There are `m` components, at most `k` bad rounds and at most `features` features (None: no
    limit). With `look_into`, items are sets of features, all of them there from the start.
    """

    def __init__(
        self, m: int, k: int, features: int | None = None, look_into: bool = False
    ) -> None:
        self.m, self.k, self.s, self.look_into = m, k, k, look_into
        self.features = inf if features is None else features

    def start(self, learner: BaseLearner) -> HistoryPosition:
        """Before the first round."""
        columns = ((None,) * self.m,) * (int(self.features) if self.look_into else 0)
        return HistoryPosition(pickled(learner, []), (), (), 0, columns, self.k, 0, 0, None)

    def rounds(self, position: HistoryPosition) -> Iterator[Move]:
        """Every round that a teacher could play now, one of each kind."""
        learner, items = position.load()
        for component in range(min(len(position.labels) + 1, self.m)):
            for held in self._truths(position, component):
                item = self._item(len(items), held)
                if self.look_into and item in items:
                    continue
                guess = learner.guess(item)
                for exception, label in self._labels(position, component):
                    here = Home(component, exception)
                    if label_of(label) == guess.label:
                        yield Move(position, here, held, label, guess, None)
                        continue
                    for answer in self._answers(position, here, held, guess, items):
                        yield Move(position, here, held, label, guess, answer)

    def play(self, move: Move) -> HistoryPosition:
        """The position after a round."""
        start, answer = move.start, move.answer
        learner, items = start.load()
        held, columns, slip = move.held, start.columns, False
        if answer is not None:
            columns, slip = answer.columns, answer.slip
            if answer.holders is not None and answer.feature is not None:
                held |= {answer.feature}
                for number in answer.holders:
                    items[number].held.add(answer.feature)
        item = self._item(len(items), held)
        learner.learn(item, learner.guess(item), move.correction)
        component, exception = move.home
        labels = list(start.labels) + [None] * (component + 1 - len(start.labels))
        if not exception:
            labels[component] = move.label
        return HistoryPosition(
            pickled(learner, [*items, item]),
            (*start.homes, move.home),
            tuple(labels),
            max(start.met, move.label + 1),
            columns,
            start.bad - exception - slip,
            move.mistakes,
            learner.rules_created,
            move,
        )

    # -- what may be chosen

    def _item(self, number: int, held: frozenset[Feature]) -> Item:
        return held if self.look_into else Draft(number, held)

    def _truths(self, position: HistoryPosition, component: int) -> Iterator[frozenset[Feature]]:
        """The sets of features that an item of `component` may have."""
        choices = [
            (True, False) if column[component] is None else (column[component],)
            for column in position.columns
        ]
        for chosen in product(*choices):
            yield frozenset(name_of(n) for n, held in enumerate(chosen) if held)

    def _labels(self, position: HistoryPosition, component: int) -> Iterator[tuple[bool, int]]:
        """Labels that an item of `component` may have, and whether it is then an exception."""
        own = position.labels[component] if component < len(position.labels) else None
        if own is not None:
            yield False, own
        else:
            alike = set(position.labels) if self.m == 2 else set()
            yield from ((False, label) for label in range(position.met + 1) if label not in alike)
        if position.bad:
            yield from ((True, label) for label in range(position.met + 1) if label != own)

    def _answers(
        self,
        position: HistoryPosition,
        here: Home,
        held: frozenset[Feature],
        guess: Guess,
        items: list[Item],
    ) -> Iterator[Answer]:
        """What the teacher may say, when the guess is wrong."""
        if guess.label is None:
            yield Answer(None, position.columns)
            return
        example = items.index(guess.example)
        there = position.homes[example]
        sound = not here.exception and not there.exception
        if sound and here.component == there.component:  # nothing tells the two apart
            yield Answer(None, position.columns)
            return
        sides = {here.component: True, there.component: False} if sound else {}
        for number in range(len(position.columns)):
            feature = name_of(number)
            on_item = feature in held
            if on_item == (feature in items[example]):
                continue
            name = feature if on_item else Not(feature)
            bound = {c: side == on_item for c, side in sides.items()}
            if sound and self._consistent(position, items, number, bound):
                yield Answer(name, _bind(position.columns, number, bound))
            if not sound or position.bad:
                yield Answer(name, position.columns, slip=sound)
        if sound:
            yield from self._made_up(position, sides, example)
        if not sound or position.bad:
            yield Answer(None, position.columns, slip=sound)
            yield from self._made_up(position, {}, example, slip=sound)

    def _consistent(
        self, position: HistoryPosition, items: list[Item], number: int, bound: dict[int, bool]
    ) -> bool:
        """Whether feature `number` may be bound so: no item, and nothing said, is against it."""
        column, feature = position.columns[number], name_of(number)
        return all(column[c] in (None, held) for c, held in bound.items()) and all(
            bound.get(home.component, feature in item) == (feature in item)
            for home, item in zip(position.homes, items, strict=True)
        )

    def _made_up(
        self, position: HistoryPosition, sides: dict[int, bool], example: int, *, slip: bool = False
    ) -> Iterator[Answer]:
        """A new feature, in every way it may hold on old items."""
        number = len(position.columns)
        if number >= self.features:
            return
        columns = _bind((*position.columns, (None,) * self.m), number, sides)
        choices = []
        for old, home in enumerate(position.homes):
            side = False if old == example else sides.get(home.component)
            choices.append((True, False) if side is None else (side,))
        for chosen in product(*choices):
            holders = frozenset(old for old, holds in enumerate(chosen) if holds)
            yield Answer(name_of(number), columns, holders, slip)


def name_of(number: int) -> str:
    """What a feature is called."""
    return f"f{number}"


def _bind(columns: tuple[_Column, ...], number: int, bound: dict[int, bool]) -> tuple[_Column, ...]:
    column = tuple(bound.get(c, held) for c, held in enumerate(columns[number]))
    return (*columns[:number], column, *columns[number + 1 :])
