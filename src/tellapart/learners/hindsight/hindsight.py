"""Hindsight: refits a decision list on all labels and reasons so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.errors import ParameterError
from tellapart.learners.base import BaseLearner
from tellapart.learners.hindsight.history import History
from tellapart.learners.hindsight.tree_growing import Grower, Node, Way, in_order, positions
from tellapart.model import Clause, DecisionList, Holds, Literal, holds
from tellapart.protocol import Correction, Feature, Guess, Item, Label
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

_PATIENCE = 1000  # after n items, a refit waits for n/1000 new ones
_ASIDE = 100  # a refit of a reading that is not followed waits for n/100, and for an idle round
_UNREAD = 8  # the most right guesses that wait to be added to the history
_LOYALTY = 2  # mistakes by which another reading must be better to be followed


class Hindsight(BaseLearner):
    """Refit a decision list on everything told so far, after every mistake.

    A guess that stands is a label too, so the history is fully labelled, and beside it there are
    the features the teacher named. The list is grown on both (`tree_growing`): a correction counts
    not only as a label but as a claim, "this feature separates the group of the item from the group
    of the example", and a list is good if the claims are true in it. Features that were named are
    preferred; others are used where the labels alone support them.

    The history can be weighed in several ways (`Reading`): by labels and reasons, or with reasons
    as mere hints. All are tried side by side, and the one that would have made the fewest mistakes
    so far is followed.

    The example of a clause is one of its items that is typical in the features named. A feature
    that does not tell item and example apart is recorded as an inconsistency; the label is kept.
    With `remember`, items seen before are answered from memory as long as that is no worse than the
    list; the label of an item may then change, which is recorded too.

    Guarantee. None: `AutoDFF` has one.

    Parameters
    ----------
    columns : features, default=None
        What may be used without having been named. None: every column of mappings and every member
        of sets. Items of other kinds (rows of made worlds) are not looked into: there, by default,
        only what was named is used.
    ways : names, default=("reasons", "labels", ...)
        The ways of weighing the history that are tried; `WAYS` has them all.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.zoo()
    >>> learner = ta.Hindsight()
    >>> ta.teach(learner, world.teacher(), world.items).mistakes
    9
    """

    parameters = ("columns", "ways")

    def __init__(
        self,
        columns: Iterable[Feature] | None = None,
        ways: Iterable[str] = tuple(WAYS),
        *,
        holds: Holds = holds,
        remember: bool = False,
    ) -> None:
        super().__init__(holds=holds, remember=remember)
        if isinstance(columns, str) or not isinstance(columns, Iterable | None):
            raise ParameterError(
                f"{type(self).__name__}: columns must be a list of features, got {columns!r}"
                f" ({type(columns).__name__})"
            )
        self.columns = None if columns is None else tuple(columns)
        self.ways = tuple(ways)
        if not self.ways or not set(self.ways) <= WAYS.keys():
            raise ParameterError(
                f"Hindsight: ways must be some of {', '.join(WAYS)}, got {self.ways!r}"
            )
        self._history = History(holds, self.columns)
        self._readings = [Reading(WAYS[name]) for name in self.ways]
        self._followed = 0
        self._scored = 0  # items the readings have been scored on
        self._late: list[int] = []  # readings that are yet to be fitted on the history
        self._idle = False  # whether the last round needed no refit, and its time is not used yet
        self._created = self._deleted = 0
        self._wrong = [0, 0]  # on items seen before: answers from memory, answers of the list
        self._model: DecisionList | None = None

    @property
    def rules_created(self) -> int:
        return self._created

    @property
    def rules_deleted(self) -> int:
        return self._deleted

    @property
    def model(self) -> DecisionList:
        """The decision list of the reading that is followed."""
        if self._model is None:
            history = self._history
            clauses = [
                Clause(
                    tuple(Literal(history.features[c], wanted) for c, wanted in rule.literals),
                    history.labels[rule.label],
                    history.items[rule.example],
                    rule.example,
                )
                for rule in self._readings[self._followed].rules
            ] or [self._unlearnt()]
            self._model = DecisionList(tuple(clauses[:-1]), clauses[-1], self.holds)
        return self._model

    @property
    def looks_back(self) -> bool:
        """Yes."""
        return True

    def catch_up(self) -> None:
        """Fit what is not followed, and take in what came since; the model stays as it is."""
        unread, self._unread = self._unread, []
        for item, label in unread:
            self._settle()
            self._history.add(item, label)
            self._idle = True
        self._settle()

    def _settle(self) -> None:
        late, idle = self._late, self._idle
        self._late, self._idle = [], False
        for number in late:
            self._readings[number].fit(self._history)
        if idle:
            self._use_idle_round()

    def _add_later(self, item: Item, label: Label) -> None:
        """A label that changes no rule now: it waits for the next `catch_up`."""
        self._unread.append((codec.keep(item), label))
        if len(self._unread) > _UNREAD:
            self.catch_up()

    def _unlearnt(self) -> Clause:
        label, example = self._first or (None, None)
        return Clause((), label, example, origin=0)

    def witness(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """See another learner's round; its reason counts like one against an own example."""
        if correction is not None:
            self.catch_up()
        before = len(self._history)
        super().witness(item, guess, correction)
        if correction is None or not before:
            return
        self.catch_up()
        if len(self._history) == before:
            return
        if correction.feature is not None:
            examples = (n for n, kept in enumerate(self._history.items) if kept == guess.example)
            example = next(examples, None)
            if example is not None and not self._fault(correction.feature, item, guess.example):
                self._history.name(correction.feature, before, example)
        self._refit()

    # -- the contract of BaseLearner

    def _begin(self, item: Item, label: Label) -> None:
        self._history.add(item, label)
        self._scored = 1
        self._model = None

    def _guess(self, item: Item) -> Guess:
        return self.model.first_match(item)

    def _learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        shown = self.model.match(item)
        fault = None
        if correction is not None:
            self._check_turn(item, guess, shown.guess)
            fault = self._fault(correction.feature, item, shown.example)
        label = guess.label if correction is None else correction.label
        self.rounds += 1
        if self.remember:
            self._compare_memory(item, shown.label, label)
        if correction is None:
            self._add_later(item, label)
            return
        self.catch_up()
        number = self._history.add(item, label)
        if fault:
            self._odd(fault)
        else:
            self._history.name(correction.feature, number, shown.origin)
            self._refit()

    def _overhear(self, item: Item, label: Label) -> None:
        self.rounds += 1
        self._add_later(item, label)

    # -- memory

    def _recall(self, item: Item) -> Label | None:
        trusted = self._wrong[0] <= self._wrong[1]
        return super()._recall(item) if trusted else None

    def _meet_again(
        self, item: Item, guess: Guess, known: Label, correction: Correction | None
    ) -> None:
        super()._meet_again(item, guess, known, correction)
        self._take_again(item, known, known if correction is None else correction.label)

    def _overhear_again(self, item: Item, known: Label, label: Label) -> None:
        super()._overhear_again(item, known, label)
        self._take_again(item, known, label)

    def _take_again(self, item: Item, known: Label, label: Label) -> None:
        """After an answer from memory: compare it with the list's."""
        self._wrong[0] += known != label
        self._wrong[1] += self.model.match(item).label != label
        self.catch_up()
        self._history.add(item, label)
        if known != label:
            self._keep(item, label)
            self._refit()

    def _compare_memory(self, item: Item, said: Label, label: Label) -> None:
        """After an answer of the list: compare it with memory's."""
        known = super()._recall(item)
        if known is not None:
            self._wrong[0] += known != label
            self._wrong[1] += said != label
            if known != label:
                self._odd(f"{item!r} was {known!r} before and is now called {label!r}")

    # -- fitting

    def _refit(self) -> None:
        """Score every reading on what came since, fit it again, and follow the best."""
        history = self._history
        if len(history) - self._scored < len(history) // _PATIENCE:
            return
        codes = np.array(history.codes, dtype=np.intp)
        before = self._readings[self._followed].rules
        least = 2 * len(history) // _ASIDE
        late = [n for n, reading in enumerate(self._readings) if self._missed(reading) >= least]
        for reading in self._readings:
            reading.score(history, codes, self._scored)
        self._scored = len(history)
        best = min(range(len(self._readings)), key=lambda n: self._readings[n].mistakes)
        fewest, mine = (self._readings[n].mistakes for n in (best, self._followed))
        if fewest + _LOYALTY + sqrt(fewest) / 2 < mine:
            self._followed = best
        self._readings[self._followed].fit(history)
        self._late = [number for number in late if number != self._followed]
        self._readings[self._followed].choose_examples(history, codes)
        old, new = (
            {rule[:2] for rule in rules[:-1]}
            for rules in (before, self._readings[self._followed].rules)
        )
        self._created += len(new - old)
        self._deleted += len(old - new)
        self._model = None

    def _use_idle_round(self) -> None:
        """Fit a reading that is not followed, or prepare a refit: one thing a round. The model
        stays as it is."""
        history = self._history
        for number, reading in enumerate(self._readings):
            if number != self._followed and self._missed(reading) > len(history) // _ASIDE:
                reading.fit(history)
                return
        any(reading.prepare(history) for reading in self._readings)

    def _missed(self, reading: Reading) -> int:
        """How many items `reading` had not been fitted on when the last mistake was made."""
        return reading.age(self._history) - (len(self._history) - self._scored)

    # -- JSON

    def _write_parameters(self) -> dict[str, Any]:
        written: dict[str, Any] = codec.encode({"columns": self.columns, "ways": list(self.ways)})
        return written

    @classmethod
    def _read_parameters(cls, data: Mapping[str, Any], context: codec.Context) -> dict[str, Any]:
        return {name: codec.decode(value, context) for name, value in data.items()}

    def _state(self) -> dict[str, Any]:
        self.catch_up()
        return {
            "history": self._history.to_list(),
            "readings": [reading.to_dict(self._history) for reading in self._readings],
            "followed": self._followed,
            "scored": self._scored,
            "created": self._created,
            "deleted": self._deleted,
            "wrong": list(self._wrong),
        }

    def _restore(self, state: Mapping[str, Any], context: codec.Context) -> None:
        self._history.extend(state["history"], context)
        for reading, data in zip(self._readings, state["readings"], strict=True):
            reading.restore(data, self._history, context)
        self._followed, self._scored = state["followed"], state["scored"]
        self._created, self._deleted = state["created"], state["deleted"]
        self._wrong = list(state["wrong"])


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
