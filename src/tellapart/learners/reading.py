"""One way of weighing a history: its rules now, and how it fared as the history unfolded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.columns import unpack
from tellapart.learners.growing import Grower, Node, Way, in_order, positions
from tellapart.learners.history import History

WAYS = {
    "reasons": Way(doubt=0.05, eager=1.0),
    "labels": Way(doubt=None, eager=0.0),
}
"""The ways to weigh a history, by name."""

FADES = 0.98  # what a mistake counts after the next refit

_LOOKED_AT = 256  # members of a leaf among which a typical one is found


class Rule(NamedTuple):
    """A clause in numbers: columns and the truth they must have, a label, an example."""

    literals: tuple[tuple[int, bool], ...]
    label: int
    example: int


class Reading:
    """Rules grown in one way, and what they would have guessed wrong."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self._grower: Grower | None = None
        self.rules: list[Rule] = []
        """The last one has no literals; empty before the first fit: the first label then."""
        self.mistakes = 0.0
        """Guesses it would have got wrong, the latest counting most."""

    def fit(self, history: History, codes: npt.NDArray[np.intp]) -> None:
        """Grow the rules anew."""
        if self._grower is None:
            self._grower = Grower(history, self.way)
        self.rules = [
            Rule(literals, leaf.label, _typical(history, leaf, codes))
            for literals, leaf in in_order(self._grower.grow())
        ]

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
        return {"mistakes": self.mistakes, "rules": rules}

    def restore(self, data: Mapping[str, Any], history: History, context: codec.Context) -> None:
        self.mistakes = data["mistakes"]
        column = history.column_of
        self.rules = [
            Rule(tuple((column[codec.decode(f, context)], w) for f, w in literals), label, example)
            for literals, label, example in data["rules"]
        ]


def _typical(history: History, leaf: Node, codes: npt.NDArray[np.intp]) -> int:
    """The member that agrees most with the others in what was named; the earliest of such.

    One that was not an example in a correction before is preferred: it has more to tell.
    """
    members = positions(leaf.inside)
    right = members[codes[members] == leaf.label][-_LOOKED_AT:]
    named = list(history.named)
    if len(right) < 2 or not named:
        return int(right[0])
    truths = history.truths(right)[named]
    usual = truths.mean(axis=1) > 0.5
    agree = (truths == usual[:, None]).sum(axis=0)
    used = {n for pair in history.pairs for n in pair[:2]}
    fresh = np.array([n not in used for n in right.tolist()])
    return int(right[(agree + fresh * len(named)).argmax()])
