"""The adversary: picks the items and the answers that make a given learner err most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, isinf
from typing import Any

from tellapart.errors import ParameterError, ProtocolError, TellapartError, check
from tellapart.learners import BaseLearner
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.teachers.adversary.equivalence import EXCEPTION, Home, label_of
from tellapart.teachers.adversary.history_moves import HistoryMoves, Move
from tellapart.teachers.adversary.moves import Moves, Played
from tellapart.teachers.adversary.search import ExactSearch, LevelSearch, Lookahead, walk


@dataclass(frozen=True)
class WorstCase:
    """The most mistakes a learner can be led into, and a lesson that does it."""

    mistakes: float
    """The most mistakes; `math.inf` if there is no most. With `depth`, those of the lesson."""
    rules_created: float
    """The most rules the learner can be made to create, perhaps in another lesson."""
    items: tuple[Item, ...] = field(repr=False)
    guesses: tuple[Guess, ...] = field(repr=False)
    """What the learner says to each item."""
    corrections: tuple[Correction | None, ...] = field(repr=False)
    """What the teacher says to that."""
    homes: tuple[Home, ...] = field(repr=False)
    """The component of each item, and whether it is an exception to it."""
    m: int
    k: int
    s: int
    exact: bool
    """Whether every teacher was tried; if not, `mistakes` is a lower bound."""
    positions: int
    """How many different positions were met."""
    searched: float
    """The search is complete for lessons with at most this many right guesses (and at most `rounds`
    rounds): `math.inf` if `exact`, -1 if not even for those without one."""


def worst_case(
    learner: BaseLearner,
    m: int,
    k: int,
    s: int | None = None,
    *,
    same_feature: bool = False,
    unnamed: bool = False,
    depth: int | None = None,
    rounds: int = 100,
    most_positions: int | None = None,
    features: int | None = None,
    look_into: bool = False,
) -> WorstCase:
    """Search all lessons of `learner` for the one with most mistakes.

    Every teacher with at most m components and k bad rounds is tried, up to names, on the learner
    itself. docs/adversary.md says what a teacher may do, and why nothing else hurts more.

    Learners that look back over all they were told (`Hindsight`, `AutoDFF`) have lessons without
    end in which no two positions are alike. Theirs are tried level by level: all lessons without a
    right guess, all with one, and so on. `searched` says how far that went; the rest of the search
    goes where most mistakes were made.

    Parameters
    ----------
    learner
        Attacked in its fresh state; the object given is not touched.
    m, k
        How many components the world has, and at most how many bad rounds.
    s : int, default=k
        At most how many exceptions name the same feature against the same component.
    same_feature : bool, default=False
        Name the same feature whenever the same two components are told apart, as the paper assumes
        (the bounds of `RobustDFF` need it). Otherwise every correction names a feature of its own.
    unnamed : bool, default=False
        The teacher may also name none: in a bad round, or against a rule made from an exception.
    depth : int, default=None
        Look only this many rounds ahead, for worlds too large to search; then nothing is proven.
    rounds : int, default=100
        Where to stop a lesson that could go on for ever, or that looks only `depth` ahead.
    most_positions : int, default=None
        Give up an exact search beyond this many positions (some hundreds are searched in a second);
        None means 100,000. Learners that look back: how many are searched exactly, 1000 if None.
    features : int, default=None
        Learners that look back: at most how many features there are. None: no limit.
    look_into : bool, default=False
        Learners that look back: whether they see all features of an item, or only those named.

    >>> from tellapart import CappedDFF
    >>> worst = worst_case(CappedDFF(m=2), m=2, k=1)
    >>> worst.mistakes, CappedDFF(m=2).bound(k=1)
    (5, 5)
    >>> worst_case(CappedDFF(m=2), m=3, k=0).mistakes
    inf
    """
    owner = "worst_case"
    if not isinstance(learner, BaseLearner):
        raise ParameterError(f"{owner}: learner must be a tellapart learner, got {learner!r}")
    check(owner, "m", m, "an integer >= 1", lambda v: v >= 1)
    check(owner, "k", k, "an integer >= 0", lambda v: v >= 0)
    s = k if s is None else s
    check(owner, "s", s, f"an integer from 0 to k = {k}", lambda v: 0 <= v <= k)
    check(owner, "rounds", rounds, "an integer >= 1", lambda v: v >= 1)
    for name, value in (("most_positions", most_positions), ("features", features)):
        if value is not None:
            check(owner, name, value, "None or an integer >= 1", lambda v: v >= 1)
    m, k, s = int(m), int(k), int(s)
    if learner.looks_back:
        if same_feature or depth is not None or s < k:
            raise ParameterError(
                f"{owner}: {type(learner).__name__} looks back, and for such learners same_feature,"
                " depth and s are not thought of. Leave them out; features= makes a search smaller"
            )
        if look_into and features is None:
            raise ParameterError(f"{owner}: features must be given if they are to be looked into")
        return _look_back(learner, HistoryMoves(m, k, features, look_into), most_positions, rounds)
    if look_into or features is not None:
        raise ParameterError(
            f"{owner}: features and look_into are only for learners that look back"
        )
    most_positions = 100_000 if most_positions is None else most_positions
    moves = Moves(m, k, s, same_feature=same_feature, unnamed=unnamed)
    if depth is None:
        search = ExactSearch(moves, learner.clone(), most_positions)
        line = walk(moves, learner.clone(), search, rounds if isinf(search.mistakes) else inf)
        most = search.mistakes, search.rules_created
        return _result(moves, learner, line, _write(moves, line), most, search.positions, inf)
    check(owner, "depth", depth, "None or an integer >= 1", lambda v: v >= 1)
    ahead = Lookahead(moves, depth)
    line = walk(moves, learner.clone(), ahead, rounds)
    found = sum(played.mistakes for played in line), sum(played.created for played in line)
    return _result(moves, learner, line, _write(moves, line), found, ahead.positions, -1)


class Adversary:
    """A teacher who also picks the items: the worst lesson of a given learner.

    A learner that guesses as `learner` would is led through its `worst_case`. Any other can be
    taught the same items; its wrong guesses get true answers, with the same components and the same
    exceptions behind them.

    Parameters
    ----------
    learner, m, k, s, **options
        As for `worst_case`.

    Examples
    --------
    >>> import tellapart as ta
    >>> adversary = Adversary(ta.CappedDFF(m=2), m=2, k=2)
    >>> lesson = ta.teach(ta.CappedDFF(m=2), adversary, adversary.items)
    >>> lesson.mistakes, lesson.bound
    (8, 8)
    >>> ta.teach(ta.AdaptiveDFF(), adversary, adversary.items).mistakes
    7
    """

    def __init__(
        self, learner: BaseLearner, m: int, k: int, s: int | None = None, **options: Any
    ) -> None:
        self.case = worst_case(learner, m, k, s, **options)
        self.items = self.case.items
        self.m, self.k, self.s = self.case.m, self.case.k, self.case.s
        self._numbers = {item: number for number, item in enumerate(self.items)}

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The prepared answer to the guess that was foreseen; a true one to any other."""
        number = self._number(item)
        if guess == self.case.guesses[number]:
            return self.case.corrections[number]
        foreseen = self.case.corrections[number] or self.case.guesses[number]
        if guess.label == foreseen.label:
            return None
        feature = None if guess.label is None else self._reason(number, guess)
        return Correction(foreseen.label, feature if feature in item else None)

    def _number(self, item: Item) -> int:
        if item not in self._numbers:
            raise ProtocolError(
                f"the adversary did not pick {item!r}: teach the items in adversary.items"
            )
        return self._numbers[item]

    def _reason(self, number: int, guess: Guess) -> Feature | None:
        here, there = self.case.homes[number], self.case.homes[self._number(guess.example)]
        if here.exception or there.exception:
            return _name(number)
        return None if here == there else _tells(here.component, there.component)


# -- the lesson, written down


def _result(
    moves: Moves | HistoryMoves,
    learner: BaseLearner,
    line: Sequence[Played | Move],
    written: tuple[tuple[Item, ...], tuple[Correction | None, ...]],
    most: tuple[float, float],
    positions: int,
    searched: float,
) -> WorstCase:
    """The result of a search: the lesson as `written`, the most mistakes and rules it found."""
    items, corrections = written
    return WorstCase(
        mistakes=most[0],
        rules_created=most[1],
        items=items,
        guesses=_replay(learner.clone(), line, items, corrections),
        corrections=corrections,
        homes=tuple(played.home for played in line),
        m=moves.m,
        k=moves.k,
        s=moves.s,
        exact=isinf(searched),
        positions=positions,
        searched=searched,
    )


def _look_back(
    learner: BaseLearner, moves: HistoryMoves, most_positions: int | None, rounds: int
) -> WorstCase:
    """The worst that was found for a learner that looks back."""
    most = 1000 if most_positions is None else most_positions
    levels = LevelSearch(moves, learner.clone(), most, rounds)
    line, homes = levels.best.line(), levels.best.homes
    _, items = levels.best.load()
    corrections = tuple(move.correction for move in line)
    if not moves.look_into:  # room for answers to guesses that were not foreseen
        for number, (item, home) in enumerate(zip(items, homes, strict=True)):
            others = (j for j in range(moves.m) if j != home.component)
            item.held |= {_name(number), *(_tells(home.component, j) for j in others)}
    written, found = (tuple(items), corrections), (levels.best.mistakes, levels.rules_created)
    return _result(moves, learner, line, written, found, levels.positions, levels.searched)


def _name(number: int) -> str:
    """A feature that only item `number` has."""
    return f"item {number}"


def _tells(i: int, j: int, number: int = 1) -> str:
    """A feature that tells component i from component j."""
    return f"{i}>{j}" if number == 1 else f"{i}>{j} #{number}"


def _label(home: Home, number: int) -> str:
    return f"{EXCEPTION}{number}" if home.exception else label_of(home.component)


def _write(
    moves: Moves, line: list[Played]
) -> tuple[tuple[Item, ...], tuple[Correction | None, ...]]:
    """Items and corrections of one consistent world.

    In the search an item has only features named before it. Here it also gets those named later
    that its component forces on it.
    """
    commitments = moves.commitments
    names: dict[Feature, str] = {}
    for _, _, _, correction, *_ in line:
        feature = None if correction is None else correction.feature
        if feature is not None and feature not in names:
            sides = commitments.sides[feature]
            number = 1 + sum(commitments.sides[old] == sides for old in names)
            names[feature] = f"free #{number}" if sides is None else _tells(*sides, number)
    items: list[Item] = []
    corrections: list[Correction | None] = []
    for number, (home, fit, _, correction, *_) in enumerate(line):
        component = home.component
        item = {_name(number), *(_tells(component, j) for j in range(moves.m) if j != component)}
        for feature, name in names.items():
            forced = commitments.forced(feature, component)
            if forced or (forced is None and fit.chosen.get(feature)):
                item.add(name)
        if correction is None:
            corrections.append(None)
        else:
            named = names.get(correction.feature)
            item |= set() if named is None else {named}
            corrections.append(Correction(_label(home, number), named))
        items.append(frozenset(item))
    return tuple(items), tuple(corrections)


def _replay(
    learner: BaseLearner,
    line: Sequence[Played | Move],
    items: tuple[Item, ...],
    corrections: tuple[Correction | None, ...],
) -> tuple[Guess, ...]:
    """The learner's guesses, and a check that they are those of the search."""
    guesses = []
    labels: dict[Label, Label] = {}
    for played, item, correction in zip(line, items, corrections, strict=True):
        guess = learner.guess(item)
        foreseen = labels.get(played.guess.label, played.guess.label)
        if guess.label != foreseen:
            raise TellapartError(
                f"{learner!r} guessed {foreseen!r} in the search and {guess.label!r} when taught"
                " the same lesson again. A learner must depend on nothing but what it is told"
            )
        if played.correction is not None and correction is not None:
            labels[played.correction.label] = correction.label
        learner.learn(item, guess, correction)
        guesses.append(guess)
    return tuple(guesses)
