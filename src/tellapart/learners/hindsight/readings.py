"""Readings: rules fitted to a history in one way, and what they would have guessed wrong."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import gcd
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.features import Points
from tellapart.features.implications import implications
from tellapart.learners.hindsight.history import History
from tellapart.learners.hindsight.points_fitting import Card, fit_cards
from tellapart.learners.hindsight.tree_growing import Grower, Node, Way, in_order
from tellapart.model import Literal
from tellapart.simplification import shorten
from tellapart.simulation import unpack

_FADES = 0.98  # what a mistake counts after the next refit
_TRUST = 10  # reasons in a teacher's favour before the first
_MOST_DOUBT = 0.8
_OFTEN, _WAIT = 64, 32  # a tree is grown again when 64 items have come, and one in 32
_LOOKED_AT = 256  # items of a rule among which a typical one is found
_MOST_RULES = 200  # longer lists are not shortened: it would take long
_MOST_LABELS = 16  # where there are more labels, points would take too many comparisons

_Codes: TypeAlias = npt.NDArray[np.intp]
_Literal: TypeAlias = tuple[int, bool]
_Literals: TypeAlias = tuple[_Literal, ...]


class Rule(NamedTuple):
    """A clause: its literals, the code of its label, and the number of the item it shows."""

    literals: tuple[Literal, ...]
    label: int
    example: int = 0


class Reading(ABC):
    """Rules fitted in one way; the last of them has no literals and covers the rest.

    Before the first fit there are none; then the first label is meant.
    """

    def __init__(self) -> None:
        self.mistakes = 0.0
        """Guesses it would have got wrong, the latest counting most."""
        self.labels: list[int] = []
        """The code of the label of each rule."""
        self.examples: list[int] = []
        """The number of the example of each rule, once they are chosen."""
        self._fitted = 0  # items known at the last fit

    def fit(self, history: History) -> None:
        """Fit the rules to the history as it is now."""
        self._fitted = len(history)
        self._fit(history)
        self.examples = [0] * len(self.labels)

    def shorten(self, history: History) -> None:
        """Leave out rules and literals that change no label."""

    @abstractmethod
    def _fit(self, history: History) -> None:
        """Find the rules, and set `labels`."""

    @abstractmethod
    def literals(self, history: History) -> list[tuple[Literal, ...]]:
        """The literals of each rule."""

    @abstractmethod
    def matches(self, history: History, since: int) -> _Codes:
        """Which rule covers each item from number `since` on."""

    @abstractmethod
    def again(self) -> Reading:
        """A reading of the same way that is not fitted yet, for another history."""

    def prepare(self, history: History) -> bool:
        """Do a part of the next fit, if it would take long; whether there was anything to do."""
        return False

    def age(self, history: History) -> int:
        """How many items have come since the last fit."""
        return len(history) - self._fitted

    def rules(self, history: History) -> list[Rule]:
        """The rules, in order."""
        if not self.labels:
            return []
        found = zip(self.literals(history), self.labels, self.examples, strict=True)
        return [Rule(*rule) for rule in found]

    def guesses(self, history: History, since: int) -> _Codes:
        """The codes that the rules give to the items from number `since` on."""
        if not self.labels:
            return np.zeros(len(history) - since, dtype=np.intp)
        return np.array(self.labels, dtype=np.intp)[self.matches(history, since)]

    def score(self, history: History, codes: _Codes, since: int) -> None:
        """Count the mistakes the rules make on the items from number `since` on."""
        wrong = np.count_nonzero(self.guesses(history, since) != codes[since:])
        self.mistakes = self.mistakes * _FADES + wrong

    def choose_examples(self, history: History, codes: _Codes) -> None:
        """Find an example for every rule: a typical item of its label that it covers."""
        used = np.zeros(len(history), dtype=np.bool_)
        used[[*history.corrected, *history.corrected.values()]] = True
        rule_of = self.matches(history, 0)
        by_rule = np.argsort(rule_of, kind="stable")
        ends = np.searchsorted(rule_of[by_rule], np.arange(len(self.labels) + 1))
        for number, label in enumerate(self.labels):
            members = by_rule[ends[number] : ends[number + 1]]
            right = members[codes[members] == label][-_LOOKED_AT:]
            if not len(right):  # no item shows it; one of its label does as well
                right = np.flatnonzero(codes == label)[-_LOOKED_AT:]
            self.examples[number] = _typical(history, right, used)

    def to_dict(self, history: History) -> dict[str, Any]:
        """As JSON values."""
        return {
            "mistakes": self.mistakes,
            "fitted": self._fitted,
            "labels": self.labels,
            "examples": self.examples,
        }

    def restore(self, data: Mapping[str, Any], history: History, context: codec.Context) -> None:
        """The inverse of `to_dict`."""
        self.mistakes, self._fitted = data["mistakes"], data["fitted"]
        self.labels, self.examples = list(data["labels"]), list(data["examples"])


def _typical(history: History, right: _Codes, used: npt.NDArray[np.bool_]) -> int:
    """The item that agrees most with the others in the features named; the earliest of such.

    One that was not an example in a correction before is preferred.
    """
    named = list(history.named)
    if len(right) < 2:
        return int(right[0])
    truths = history.truths(right, named)
    usual = truths.mean(axis=1) > 0.5
    agree = (truths == usual[:, None]).sum(axis=0)
    return int(right[(agree + ~used[right] * (len(named) + 1)).argmax()])


class TreeReading(Reading):
    """The leaves of a tree grown in one way (`tree_growing`)."""

    def __init__(self, way: Way) -> None:
        super().__init__()
        self.way = self._first_way = way
        self._literals: list[_Literals] = []
        self._grown = 0  # items known when the tree was grown last
        self._misfits = 0  # items that are not of the label of their rule, at the last fit
        self._reasons = self._contradicted = 0  # given until then, and not borne out by the tree
        self._grower: Grower | None = None

    def _fit(self, history: History) -> None:
        """Grow the tree again.

        The more items did not fit the last rules, the less eagerly; the more reasons they
        contradicted, the less reasons are trusted.
        """
        self.way = replace(self._first_way, eager=self._eager(), doubt=self._doubt())
        found = list(in_order(self._grow(history)))
        self._literals = [literals for literals, _ in found]
        self.labels = [leaf.label for _, leaf in found]
        labels = history.label_words
        right = (leaf.inside & labels[leaf.label, : len(leaf.inside)] for _, leaf in found)
        self._misfits = len(history) - sum(int(np.bitwise_count(words).sum()) for words in right)
        if self._grower is not None and self.way.doubt is not None:
            self._reasons, self._contradicted = len(history.pairs), self._grower.contradicted()

    def shorten(self, history: History) -> None:
        if len(self.labels) > _MOST_RULES:
            return
        rules = list(zip(self._literals, self.labels, strict=True))
        left = shorten(rules, implied=_implied(history, rules))
        self._literals = [literals for _, literals in left]
        self.labels = [self.labels[number] for number, _ in left]
        self.examples = [0] * len(left)

    def literals(self, history: History) -> list[tuple[Literal, ...]]:
        features = history.features
        return [
            tuple(Literal(features[column], wanted) for column, wanted in literals)
            for literals in self._literals
        ]

    def matches(self, history: History, since: int) -> _Codes:
        start = since >> 6
        words = history.words[:, start:]
        size = len(history) - start * 64
        found = np.zeros(size, dtype=np.intp)
        left = np.ones(size, dtype=np.bool_)
        for number, literals in enumerate(self._literals):
            covered = np.full(words.shape[1], ~np.uint64(0))
            for column, wanted in literals:
                covered &= words[column] if wanted else ~words[column]
            hit = unpack(covered, size) & left
            found[hit] = number
            left &= ~hit
        return found[since - start * 64 :]

    def again(self) -> TreeReading:
        made = TreeReading(self._first_way)
        made._misfits = self._misfits
        made._reasons, made._contradicted = self._reasons, self._contradicted
        return made

    def prepare(self, history: History) -> bool:
        if len(history) - self._grown < max(_OFTEN, len(history) // _WAIT):
            return False
        self._grow(history)
        return True

    def _grow(self, history: History) -> Node:
        if self._grower is None or self._grower.history is not history:
            self._grower = Grower(history, self.way)
        self._grown = len(history)
        self._grower.way = self.way
        return self._grower.grow()

    def _eager(self) -> float:
        """Half as eager with two misfits, a quarter with four, an eighth with eight."""
        return self._first_way.eager / (1 << (self._misfits // 2).bit_length())

    def _doubt(self) -> float | None:
        """The share of reasons that were contradicted, in steps of two: a new one changes all."""
        doubt = self._first_way.doubt
        if doubt is None:
            return None
        share = (self._contradicted + doubt * _TRUST) / (self._reasons + _TRUST)
        while doubt * 2 <= min(share, _MOST_DOUBT):
            doubt *= 2
        return doubt

    def to_dict(self, history: History) -> dict[str, Any]:
        rules = [
            [[codec.encode(history.features[column]), wanted] for column, wanted in literals]
            for literals in self._literals
        ]
        told = [self._reasons, self._contradicted]
        more = {"misfits": self._misfits, "reasons": told, "literals": rules}
        return {**super().to_dict(history), **more}

    def restore(self, data: Mapping[str, Any], history: History, context: codec.Context) -> None:
        super().restore(data, history, context)
        self._misfits = data["misfits"]
        self._reasons, self._contradicted = data["reasons"]
        self._literals = [
            tuple((history.column_of[codec.decode(f, context)], wanted) for f, wanted in literals)
            for literals in data["literals"]
        ]


def _implied(
    history: History, rules: Sequence[tuple[_Literals, int]]
) -> Iterator[tuple[_Literal, _Literal]]:
    """Literals that are true where others are."""
    used = {column for literals, _ in rules for column, _ in literals}
    for one, other in implications(history.features[column] for column in used):
        yield (
            (history.column_of[one.feature], one.wanted),
            (history.column_of[other.feature], other.wanted),
        )


class PointsReading(Reading):
    """The label with the most points (`points_fitting`).

    As a list: the first rule is that no other label has more points than its own; of what it leaves
    over, the second rule is that none of the later labels has more; and so on. Rare labels come
    first, and of equal sums the earlier one is taken.
    """

    def __init__(self, *, short: bool) -> None:
        super().__init__()
        self.short = short
        self._card: Card | None = None

    def _fit(self, history: History) -> None:
        counts = np.bincount(history.codes, minlength=len(history.labels))
        order = np.lexsort((-np.arange(len(counts)), counts))
        if len(order) > _MOST_LABELS or len(order) < 2:
            self._card, self.labels = None, [int(order[-1])]
            return
        card = history.kept("cards", fit_cards)[self.short]
        self._card = Card(card.columns, card.points[order], card.start[order])
        self.labels = order.tolist()

    def literals(self, history: History) -> list[tuple[Literal, ...]]:
        if self._card is None:
            return [()]
        columns, points, start = self._card
        features = [history.features[column] for column in columns.tolist()]
        rules = []
        for number in range(len(points)):
            beaten = []
            for other in range(number + 1, len(points)):
                more = (points[number] - points[other]).tolist()
                least = int(start[other] - start[number])
                by = gcd(*more) or 1
                terms = [(f, more // by) for f, more in zip(features, more, strict=True) if more]
                beaten.append(Literal(Points(terms, -(-least // by))))
            rules.append(tuple(beaten))
        return rules

    def matches(self, history: History, since: int) -> _Codes:
        items = np.arange(since, len(history))
        if self._card is None:
            return np.zeros(len(items), dtype=np.intp)
        sums = self._card.sums(history.truths(items, self._card.columns.tolist()))
        most: _Codes = sums.argmax(0)
        return most

    def again(self) -> PointsReading:
        return PointsReading(short=self.short)

    def to_dict(self, history: History) -> dict[str, Any]:
        card = None
        if self._card is not None:
            columns, points, start = self._card
            features = [codec.encode(history.features[column]) for column in columns.tolist()]
            card = [features, points.tolist(), start.tolist()]
        return {**super().to_dict(history), "card": card}

    def restore(self, data: Mapping[str, Any], history: History, context: codec.Context) -> None:
        super().restore(data, history, context)
        self._card = None
        if data["card"] is not None:
            features, points, start = data["card"]
            columns = [history.column_of[codec.decode(f, context)] for f in features]
            self._card = Card(
                np.array(columns, dtype=np.intp),
                np.array(points, dtype=np.int64).reshape(len(points), len(columns)),
                np.array(start, dtype=np.int64),
            )


WAYS: dict[str, Callable[[], Reading]] = {
    "reasons": lambda: TreeReading(Way(doubt=0.05, eager=1.0)),
    "few points": lambda: PointsReading(short=True),
    "labels": lambda: TreeReading(Way(doubt=None, eager=0.0, purity=0.3, free=True)),
    "points": lambda: PointsReading(short=False),
}
"""The ways to read a history, by name; of equally good ones the first is followed."""
