"""The value of the game: the mistakes that the best learner makes under the worst teacher.

Here the learner is not given: both sides play as well as they can. A learner shows one of the
earlier items; a teacher picks the next item, its label, and a new feature. What may be left out,
because it never helps the teacher (docs/theory.md, "The value of the game"): right guesses, old
features, missing or faulty ones, and all truths of features that were not named yet.

A round is a mistake: the truths of the features named before on the new item, the earlier item that
is shown, the new item's label, and the truths of the new feature on all earlier items. Labels are
numbered as they appear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations, product
from typing import NamedTuple, TypeAlias

from tellapart.errors import ParameterError, check

Truths: TypeAlias = tuple[bool, ...]
_NONE = -1  # the label of a component without an ordinary item


class Mistake(NamedTuple):
    """One round of the game."""

    truths: Truths
    """What holds on the new item, of the features named before."""
    example: int
    """The number of the item shown."""
    label: int
    """The right label."""
    feature: Truths
    """Where the feature holds that is named now, of the items before; on the new one it does."""


class _World(NamedTuple):
    """One way to explain what was said."""

    left: int
    """Bad rounds left."""
    labels: tuple[int, ...]
    """Of the components."""
    homes: tuple[tuple[int, bool], ...]
    """The component of each item, and whether the item is an exception to it."""
    sides: tuple[tuple[int, int, int], ...]
    """Features that are known to hold on all of one component and on none of another."""


class _State(NamedTuple):
    """What matters of a lesson: the labels of its items, and all worlds that explain it."""

    labels: tuple[int, ...]
    worlds: tuple[_World, ...]

    @property
    def features(self) -> list[int]:
        """Those that some world still needs."""
        return sorted({feature for world in self.worlds for feature, _, _ in world.sides})

    @property
    def fresh(self) -> int:
        """A label that nothing has."""
        return 1 + max(*self.labels, *(max(world.labels) for world in self.worlds))


@dataclass
class OptimalCase:
    """The value of the game, and the two strategies that prove it.

    `item` and `answer` make any learner err `mistakes` times; `guess` never errs more often,
    whatever a teacher does. A program that knows only the rules can check both.
    """

    m: int
    k: int
    most_positions: int = field(default=20_000, repr=False)
    mistakes: int = field(default=0, init=False)
    """The mistakes of the best learner under the worst teacher."""
    _known: dict[tuple[_State, int], bool] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        while self._forces(_reduced(self._start), self.mistakes + 1):
            self.mistakes += 1

    @property
    def positions(self) -> int:
        """How many different positions were solved."""
        return len({state for state, _ in self._known})

    # -- the strategies

    def item(self, rounds: Sequence[Mistake]) -> Truths:
        """The teacher's next item: what holds on it, of the features named so far."""
        state = self._after(rounds)
        for truths in self._items(state):
            if all(
                self._answer(state, truths, shown, len(rounds)) for shown in range(len(rounds) + 1)
            ):
                return tuple(truths.get(feature, False) for feature in range(len(rounds)))
        raise ParameterError(f"{self}: no teacher can make a learner err again")

    def answer(self, rounds: Sequence[Mistake], truths: Truths, example: int) -> Mistake:
        """The teacher's correction, when `example` is shown for an item of `item`."""
        found = self._answer(self._after(rounds), dict(enumerate(truths)), example, len(rounds))
        if found is None:
            raise ParameterError(f"{self}: no correction leads to {self.mistakes} mistakes")
        return Mistake(truths, example, *found)

    def guess(self, rounds: Sequence[Mistake], truths: Truths) -> int:
        """The learner's guess: the number of the earlier item whose label it says."""
        state, told = self._after(rounds), dict(enumerate(truths))
        left = self.mistakes - len(rounds)
        for shown in range(len(rounds) + 1):
            if not any(
                left <= 0 or self._forces(_reduced(then), left)
                for *_, then in self._corrections(state, told, shown, len(rounds))
            ):
                return shown
        raise ParameterError(f"{self}: this cannot happen in a world with these m and k")

    # -- the search

    @cached_property
    def _start(self) -> _State:
        worlds = [_World(self.k, (0,), ((0, False),), ())]
        if self.k:
            worlds.append(_World(self.k - 1, (_NONE,), ((0, True),), ()))
        return _State((0,), tuple(worlds))

    def _after(self, rounds: Sequence[Mistake]) -> _State:
        state = self._start
        for number, (truths, example, label, feature) in enumerate(rounds):
            told = dict(enumerate(truths))
            then = self._played(state, told, example, label, feature, number)
            if then is None:
                raise ParameterError(f"{self}: round {number + 1} is not legal")
            state = then
        return state

    def _items(self, state: _State) -> Iterator[dict[int, bool]]:
        features = state.features
        for truths in product((False, True), repeat=len(features)):
            yield dict(zip(features, truths, strict=True))

    def _forces(self, state: _State, mistakes: int) -> bool:
        """Whether a teacher can cause that many mistakes from here on."""
        if mistakes == 0:
            return True
        key = state, mistakes
        if key not in self._known:
            if len(self._known) >= self.most_positions:
                raise ParameterError(
                    f"optimal_case: m = {self.m}, k = {self.k} has more than {self.most_positions}"
                    " positions. Pass a larger most_positions="
                )
            new, shown = len(state.features), range(len(state.labels))
            self._known[key] = any(
                all(self._force(state, truths, one, new, mistakes - 1) for one in shown)
                for truths in self._items(state)
            )
        return self._known[key]

    def _force(
        self, state: _State, truths: Mapping[int, bool], shown: int, new: int, more: int
    ) -> tuple[int, Truths] | None:
        """A correction after which a teacher can cause `more` mistakes."""
        seen = set()
        for label, feature, then in self._corrections(state, truths, shown, new):
            if more == 0:
                return label, feature
            reduced = _reduced(then)
            if reduced not in seen and self._forces(reduced, more):
                return label, feature
            seen.add(reduced)
        return None

    def _answer(
        self, state: _State, truths: Mapping[int, bool], shown: int, made: int
    ) -> tuple[int, Truths] | None:
        more = self.mistakes - made - 1
        return None if more < 0 else self._force(state, truths, shown, made, more)

    def _corrections(
        self, state: _State, truths: Mapping[int, bool], shown: int, new: int
    ) -> Iterator[tuple[int, Truths, _State]]:
        """Every legal answer: the label, where feature `new` holds, and what it leads to."""
        others = len(state.labels) - 1
        for label in range(state.fresh + 1):
            if label != state.labels[shown]:
                for held in product((False, True), repeat=others):
                    feature = (*held[:shown], False, *held[shown:])
                    then = self._played(state, truths, shown, label, feature, new)
                    if then is not None:
                        yield label, feature, then

    def _played(
        self,
        state: _State,
        truths: Mapping[int, bool],
        shown: int,
        label: int,
        feature: Truths,
        new: int,
    ) -> _State | None:
        """The state after a round, or None if no world explains it."""
        found: dict[tuple[tuple[int, ...], tuple[tuple[int, bool], ...]], list[_World]] = {}
        for world in state.worlds:
            for then in self._extended(world, state.labels, truths, shown, label, feature, new):
                alike = found.setdefault((then.labels, then.homes), [])
                if not any(_covers(other, then) for other in alike):
                    alike[:] = [other for other in alike if not _covers(then, other)]
                    alike.append(then)
        worlds = tuple(world for alike in found.values() for world in alike)
        return _State((*state.labels, label), worlds) if worlds else None

    def _extended(
        self,
        world: _World,
        known: tuple[int, ...],
        truths: Mapping[int, bool],
        shown: int,
        label: int,
        feature: Truths,
        new: int,
    ) -> Iterator[_World]:
        """The world with the new item in any component, as an ordinary item or an exception."""
        left, labels, homes, sides = world
        for home in range(min(self.m, len(labels) + 1)):  # empty components are alike
            if any(home in (i, j) and truths[f] != (home == i) for f, i, j in sides):
                continue
            parts = labels if home < len(labels) else (*labels, _NONE)
            if left and parts[home] != label:
                yield _World(left - 1, parts, (*homes, (home, True)), sides)
            members = (one for one, (place, _) in zip(known, homes, strict=True) if place == home)
            if parts[home] not in (label, _NONE) or (parts[home] == _NONE and label in members):
                continue
            parts, placed = (*parts[:home], label, *parts[home + 1 :]), (*homes, (home, False))
            there, odd = homes[shown]
            if odd:
                yield _World(left, parts, placed, sides)
                continue
            pairs = zip(homes, feature, strict=True)
            if there != home and all(
                place not in (home, there) or held == (place == home) for (place, _), held in pairs
            ):
                yield _World(left, parts, placed, (*sides, (new, home, there)))
            if left:  # a slip
                yield _World(left - 1, parts, placed, sides)


def optimal_case(m: int, k: int, *, most_positions: int = 20_000) -> OptimalCase:
    """The mistakes of the best learner, which knows m and k, under the worst teacher.

    Parameters
    ----------
    m, k
        How many components the world has, and at most how many bad rounds. Tiny numbers only.
    most_positions : int, default=20_000
        Give up beyond this many positions.

    >>> case = optimal_case(2, 1)
    >>> case.mistakes, case.positions
    (4, 52)
    >>> case.guess([], ())  # one item is known: the learner can only say its label
    0
    >>> case.answer([], (), 0)
    Mistake(truths=(), example=0, label=1, feature=(False,))
    """
    check("optimal_case", "m", m, "an integer >= 1", lambda v: v >= 1)
    check("optimal_case", "k", k, "an integer >= 0", lambda v: v >= 0)
    return OptimalCase(int(m), int(k), most_positions)


# -- positions that are equal but for names


def _covers(one: _World, other: _World) -> bool:
    """Whether all that can follow in `other` can follow in `one`, of the same homes."""
    return one.left >= other.left and set(one.sides) <= set(other.sides)


def _reduced(state: _State) -> _State:
    """The same position under the names that come first, without items and features that double."""
    kept: dict[object, int] = {}
    for number, label in enumerate(state.labels):
        kept.setdefault((label, tuple(world.homes[number] for world in state.worlds)), number)
    features = state.features
    orders = list(_orders(state, list(kept.values())))
    return min(
        _renamed(state, order, dict(zip(features, names, strict=True)))
        for names in permutations(range(len(features)))
        for order in orders
    )


def _orders(state: _State, items: list[int]) -> Iterator[list[int]]:
    """The orders of `items` that are worth trying: those that differ in kind keep their order."""

    def kind(item: int) -> tuple[object, ...]:
        worlds = (
            (
                world.homes[item][1],
                world.left,
                sum(world.homes[item][0] in side[1:] for side in world.sides),
            )
            for world in state.worlds
        )
        return sorted(worlds), sum(state.labels[item] == state.labels[one] for one in items)

    groups: dict[str, list[int]] = {}
    for item in items:
        groups.setdefault(repr(kind(item)), []).append(item)
    for parts in product(*(permutations(groups[key]) for key in sorted(groups))):
        yield [item for part in parts for item in part]


def _renamed(state: _State, order: Iterable[int], features: Mapping[int, int]) -> _State:
    """The items in another order, with names as they appear then."""
    order, label_of = list(order), {_NONE: _NONE}
    labels = tuple(label_of.setdefault(state.labels[n], len(label_of) - 1) for n in order)
    worlds = set()
    for left, parts, homes, sides in state.worlds:
        number: dict[int, int] = {}
        placed = tuple((number.setdefault(homes[n][0], len(number)), homes[n][1]) for n in order)
        for home in range(len(parts)):
            number.setdefault(home, len(number))
        named = {number[n]: label_of.setdefault(x, len(label_of) - 1) for n, x in enumerate(parts)}
        told = sorted((features[f], number[i], number[j]) for f, i, j in sides)
        worlds.add(_World(left, tuple(named[n] for n in sorted(named)), placed, tuple(told)))
    return _State(labels, tuple(sorted(worlds)))
