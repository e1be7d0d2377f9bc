"""The worst case of a given learner: the lesson in which it errs most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, isinf

from tellapart.adversary.equivalence import EXCEPTION, Home, label_of
from tellapart.adversary.moves import Moves, Played
from tellapart.adversary.search import ExactSearch, walk
from tellapart.errors import ParameterError, TellapartError, check
from tellapart.learners import BaseLearner
from tellapart.protocol import Correction, Feature, Guess, Item, Label


@dataclass(frozen=True)
class WorstCase:
    """The most mistakes a learner can be led into, and a lesson that does it."""

    mistakes: float
    """The most mistakes; `math.inf` if there is no most."""
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
    positions: int
    """How many different positions were met."""


def worst_case(
    learner: BaseLearner,
    m: int,
    k: int,
    s: int | None = None,
    *,
    same_feature: bool = False,
    unnamed: bool = False,
    rounds: int = 100,
    most_positions: int = 100_000,
) -> WorstCase:
    """Search all lessons of `learner` for the one with most mistakes.

    Every teacher with at most m components and k bad rounds is tried, up to names, on the learner
    itself. docs/theory.md says what a teacher may do, and why nothing else hurts more.

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
    rounds : int, default=100
        Where to stop a lesson that could go on for ever.
    most_positions : int, default=100_000
        Give up beyond this many positions; some hundreds are searched in a second.

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
    check(owner, "most_positions", most_positions, "an integer >= 1", lambda v: v >= 1)
    m, k, s = int(m), int(k), int(s)
    moves = Moves(m, k, s, same_feature=same_feature, unnamed=unnamed)
    search = ExactSearch(moves, learner.clone(), most_positions)
    line = walk(moves, learner.clone(), search, rounds if isinf(search.mistakes) else inf)
    most = search.mistakes, search.rules_created
    return as_lesson(moves, learner, line, most, search.positions)


def as_lesson(
    moves: Moves,
    learner: BaseLearner,
    line: Sequence[Played],
    most: tuple[float, float],
    positions: int,
) -> WorstCase:
    """The rounds of a search as a lesson; `most` are the mistakes and rules that it found."""
    items, corrections = _write(moves, line)
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
        positions=positions,
    )


def _name(number: int) -> str:
    """A feature that only item `number` has."""
    return f"item {number}"


def _tells(i: int, j: int, number: int = 1) -> str:
    """A feature that tells component i from component j."""
    return f"{i}>{j}" if number == 1 else f"{i}>{j} #{number}"


def _label(home: Home, number: int) -> str:
    return f"{EXCEPTION}{number}" if home.exception else label_of(home.component)


def _write(
    moves: Moves, line: Sequence[Played]
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
    line: Sequence[Played],
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
