"""ShortList: short rules in the teacher's words, fitted to everything told so far.

The rules are a fold over the history (`fitted`): the same answers in the same order give the same
rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tellapart import codec
from tellapart.errors import ParameterError, check
from tellapart.learners.base import BaseLearner
from tellapart.learners.decision_list import decision_list
from tellapart.learners.fitted import Fitted, fit
from tellapart.learners.history import Bits, Columns, History
from tellapart.learners.reasons import Reason, reasons
from tellapart.model import Clause, DecisionList, Holds, holds
from tellapart.protocol import Correction, Feature, Guess, Item, Label

_RECENT = 2000  # so many items are looked at for the nearest one
PATIENCE = 100  # after n items, a refit waits for n/100 new ones


class ShortList(BaseLearner):
    """Fit a short decision list to everything told so far, after every mistake.

    A guess that stands is a label too, so the history is fully labelled, and beside it there are
    the features the teacher named. What was named comes first: another feature takes its place only
    where it is clearly better. The list never has more terms than there is room for, and from one
    correction to the next few of them change. The example shown is the nearest earlier item of the
    guessed label.

    A feature that does not tell item and example apart is recorded as an inconsistency; the label
    is kept. An answer to somebody else's guess is taken like one to its own: as a claim about two
    items.

    Guarantee. None: `AutoDFF` has one.

    Parameters
    ----------
    columns : features, default=None
        What may be used without having been named. None: every column of mappings and every member
        of sets. Items of other kinds (rows of made worlds) are not looked into: there, by default,
        only what was named is used. `table.features()` knows the unlabelled rows, too.
    terms : int, default=None
        The room: the most terms that the rules may have. None: 8 and 4 for every label.
    wary : bool, default=True
        Whether columns that go along with the labels, and could have been named again and again but
        never were, are left out; `suspected` has them.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.zoo()
    >>> learner = ta.ShortList()
    >>> ta.teach(learner, world.teacher(), world.items).mistakes
    8
    """

    def __init__(
        self,
        columns: Iterable[Feature] | None = None,
        terms: int | None = None,
        wary: bool = True,
        *,
        holds: Holds = holds,
        remember: bool = False,
    ) -> None:
        super().__init__(holds=holds, remember=remember)
        name = type(self).__name__
        if isinstance(columns, str) or not isinstance(columns, Iterable | None):
            raise ParameterError(
                f"{name}: columns must be a list of features, got {columns!r}"
                f" ({type(columns).__name__})"
            )
        if terms is not None:
            check(name, "terms", terms, "at least 1", lambda n: n >= 1, int)
        self.columns = columns if isinstance(columns, Columns | None) else Columns(columns)
        self.terms, self.wary = terms, bool(wary)
        self.rules_created = self.rules_deleted = 0
        self.history = History(holds, self.columns)
        """Everything told."""
        self.fitted = Fitted()
        """The tree that the rules say."""
        self._model: DecisionList | None = None
        self._asked: tuple[Item, Bits, dict[Label, Item]] | None = None
        """The item asked for last, its bits, and its nearest items of labels."""

    @property
    def room(self) -> int:
        """The most terms that the rules may have."""
        return 8 + 4 * len(self.history.labels) if self.terms is None else self.terms

    @property
    def suspected(self) -> tuple[Hashable, ...]:
        """The columns that go along with the labels but were never named, and are not used."""
        return self.fitted.suspected

    def reasons(self, model: DecisionList | None = None) -> list[Reason]:
        """Every reason given: in which rule of a model it stands, or why it is not needed."""
        return reasons(model or self.model, self.history)

    @property
    def model(self) -> DecisionList:
        """The list that is shown."""
        if self._model is None:
            if not self.history.items:
                return DecisionList((), Clause((), None), self.holds)
            made = decision_list(self.fitted.tree, self.history, self.fitted.items, self.room)
            self._model = replace(made, example_for=self._nearest)
        return self._model

    def _nearest(self, item: Item, label: Label) -> Item:
        """The nearest earlier item of a label, of the last thousands if there are more; of equally
        near ones, the first."""
        history = self.history
        bits = self._bits_of(item)
        if bits is None:
            bits = history.bits_of(item)
            self._asked = codec.keep(item), bits, {}  # it comes again at once
        assert self._asked
        nearest = self._asked[2]
        if label in nearest:
            return nearest[label]
        code, start = history.labels.index(label), max(0, len(history) - _RECENT)
        if code not in history.codes[start:]:
            start = 0
        same = start + np.flatnonzero(np.array(history.codes[start:]) == code)
        apart = np.bitwise_count(np.packbits(history.bits[same] != bits, axis=1)).sum(1)
        nearest[label] = history.items[int(same[apart.argmin()])]
        return nearest[label]

    def _bits_of(self, item: Item) -> Bits | None:
        """The bits of the item whose nearest one was asked for last, if it is this one."""
        if self._asked is None or len(self._asked[1]) != len(self.history.features):
            return None
        asked, bits, _ = self._asked
        return bits if asked is item or asked == item else None

    # -- the contract of BaseLearner

    def begin(self, item: Item, label: Label) -> None:
        self.history.add(item, label)
        self._model = None

    def decide(self, item: Item) -> Guess:
        return self.model.first_match(item)

    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Learn from an answer, to whoever's guess: it says something of two items."""
        history = self.history
        fault = correction and self.fault(correction.feature, item, guess.example)
        self.rounds += 1
        label = guess.label if correction is None else correction.label
        number = history.add(item, label)  # read anew: a tag may have been set since
        self._asked = None
        if fault:
            self.note(fault)
        elif correction is not None:
            example = history.number_of.get(codec.identity(guess.example))
            if example is not None:
                history.name(correction.feature, number, example)
            self._refit()

    def _refit(self) -> None:
        history, fitted = self.history, self.fitted
        if len(history) - fitted.items < len(history) // PATIENCE or len(history.labels) < 2:
            return
        before = {(clause.literals, clause.label) for clause in self.model.clauses}
        self.fitted = fit(history, fitted.tree, self.room, self.wary)
        self._model = None
        now = {(clause.literals, clause.label) for clause in self.model.clauses}
        self.rules_created += len(now - before)
        self.rules_deleted += len(before - now)

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`. Of the history, what was told is written."""
        super().restore({**state, "history": self.history})
        self.history.extend(state["history"])

    def __deepcopy__(self, memo: dict[int, Any]) -> ShortList:
        made = super().__deepcopy__(memo)
        made._model = made._asked = None  # they know the nearest items of this one
        return made


codec.register(History, "$told", lambda history: codec.encode(history.told), codec.decode)


Hindsight = ShortList
"""Its name in version 0.1."""
