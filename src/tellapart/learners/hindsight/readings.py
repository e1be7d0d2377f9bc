"""A reading: one way of weighing a history, the rules it gives, and the mistakes they made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.learners.hindsight.history import History
from tellapart.learners.hindsight.tree_growing import Grower, Node, Way, in_order, positions
from tellapart.simulation import unpack

WAYS = {
    "reasons": Way(doubt=0.05, eager=1.0),
    "labels": Way(doubt=None, eager=0.0),
}
"""The ways to weigh a history, by name."""

FADES = 0.98  # what a mistake counts after the next refit
_TRUST = 10  # reasons in a teacher's favour before the first
_MOST_DOUBT = 0.8

_OFTEN, _WAIT = 64, 32  # a tree is grown again when 64 items have come, and one in 32
_LOOKED_AT = 256  # members of a leaf among which a typical one is found


class Rule(NamedTuple):
    """A clause in numbers: columns and the truth they must have, and a label."""

    literals: tuple[tuple[int, bool], ...]
    label: int
    example: int = 0
    """The number of an item; found for the rules that are followed."""


class Reading:
    """Rules grown in one way, and what they would have guessed wrong."""

    def __init__(self, way: Way) -> None:
        self.way = self._first_way = way
        self.rules: list[Rule] = []
        """The last one has no literals; empty before the first fit: the first label then."""
        self.mistakes = 0.0
        """Guesses it would have got wrong, the latest counting most."""
        self._fitted = 0  # items known at the last fit
        self._grown = 0  # and when the tree was grown last
        self._misfits = 0  # items that are not of the label of their rule, at the last fit
        self._reasons = self._contradicted = 0  # given until then, and not borne out by the tree
        self._grower: Grower | None = None
        self._leaves: list[Node] = []

    def fit(self, history: History) -> None:
        """Grow the rules anew.

        The more items did not fit the last rules, the less eagerly; the more reasons they
        contradicted, the less reasons are trusted.
        """
        self._fitted = len(history)
        self.way = replace(self._first_way, eager=self._eager(), doubt=self._doubt())
        found = list(in_order(self._grow(history)))
        self.rules = [Rule(literals, leaf.label) for literals, leaf in found]
        self._leaves = [leaf for _, leaf in found]
        labels = history.label_words
        right = (leaf.inside & labels[leaf.label, : len(leaf.inside)] for leaf in self._leaves)
        self._misfits = len(history) - sum(int(np.bitwise_count(words).sum()) for words in right)

        if self._grower is not None and self.way.doubt is not None:
            self._reasons, self._contradicted = len(history.pairs), self._grower.contradicted()

    def prepare(self, history: History) -> bool:
        """Do a part of the next fit, if it would take long; whether there was anything to do."""
        if len(history) - self._grown < max(_OFTEN, len(history) // _WAIT):
            return False
        self._grow(history)
        return True

    def _grow(self, history: History) -> Node:
        if self._grower is None:
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

    def age(self, history: History) -> int:
        """How many items have come since the last fit."""
        return len(history) - self._fitted

    def choose_examples(self, history: History, codes: npt.NDArray[np.intp]) -> None:
        """Find an example for every rule."""
        used = np.zeros(len(history), dtype=np.bool_)
        used[[number for pair in history.pairs for number in pair[:2]]] = True
        examples = (_typical(history, leaf, codes, used) for leaf in self._leaves)
        self.rules = [r._replace(example=e) for r, e in zip(self.rules, examples, strict=True)]

    def score(self, history: History, codes: npt.NDArray[np.intp], since: int) -> None:
        """Count the mistakes the rules make on the items from number `since` on."""
        wrong = np.count_nonzero(self.guesses(history, since) != codes[since:])
        self.mistakes = self.mistakes * FADES + wrong

    def guesses(self, history: History, since: int) -> npt.NDArray[np.intp]:
        """The codes the rules give to the items from number `since` on."""
        start = since >> 6
        words = history.words[:, start:]
        codes = np.zeros(len(history) - start * 64, dtype=np.intp)
        left = np.ones(len(codes), dtype=np.bool_)
        for rule in self.rules:
            covered = np.full(words.shape[1], ~np.uint64(0))
            for column, wanted in rule.literals:
                covered &= words[column] if wanted else ~words[column]
            hit = unpack(covered, len(codes)) & left
            codes[hit] = rule.label
            left &= ~hit
        return codes[since - start * 64 :]

    def to_dict(self, history: History) -> dict[str, Any]:
        rules = [
            [[[codec.encode(history.features[c]), w] for c, w in literals], label, example]
            for literals, label, example in self.rules
        ]
        return {
            "mistakes": self.mistakes,
            "fitted": self._fitted,
            "misfits": self._misfits,
            "reasons": [self._reasons, self._contradicted],
            "rules": rules,
        }

    def restore(self, data: Mapping[str, Any], history: History, context: codec.Context) -> None:
        self.mistakes, self._fitted = data["mistakes"], data["fitted"]
        self._misfits = data.get("misfits", 0)
        self._reasons, self._contradicted = data.get("reasons", (0, 0))
        column = history.column_of
        self.rules = [
            Rule(tuple((column[codec.decode(f, context)], w) for f, w in literals), label, example)
            for literals, label, example in data["rules"]
        ]


def _typical(
    history: History, leaf: Node, codes: npt.NDArray[np.intp], used: npt.NDArray[np.bool_]
) -> int:
    """The member that agrees most with the others in the features named; the earliest of such.

    One that was not an example in a correction before is preferred.
    """
    members = positions(leaf.inside)
    right = members[codes[members] == leaf.label][-_LOOKED_AT:]
    named = list(history.named)
    if len(right) < 2 or not named:
        return int(right[0])
    truths = history.truths(right, named)
    usual = truths.mean(axis=1) > 0.5
    agree = (truths == usual[:, None]).sum(axis=0)
    return int(right[(agree + ~used[right] * len(named)).argmax()])
