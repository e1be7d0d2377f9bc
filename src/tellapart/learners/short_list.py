"""ShortList: short rules in the teacher's words, fitted to everything told so far.

The rules are a fold over the history (`fitted`): the same answers in the same order give the same
rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tellapart import codec
from tellapart.combinations import Or, Points
from tellapart.errors import ParameterError, check
from tellapart.learners.base import BaseLearner
from tellapart.learners.fitted import Fitted, fit
from tellapart.learners.history import Bits, Columns, History
from tellapart.learners.reasons import parts_of
from tellapart.learners.short_trees import Node, Numbers, size
from tellapart.learners.short_trees import guess as guess_by
from tellapart.model import Clause, DecisionList, Holds, Literal, Not, holds
from tellapart.protocol import Correction, Feature, Guess, Item, Label

PATIENCE = 100  # after n items, a refit waits for n/100 new ones
_FEW = 0.1  # of the rows: more than these no single reason decides against the list


class Rule(NamedTuple):
    """Literals, the code of a label, and the first item that is an example of it."""

    literals: tuple[Literal, ...]
    label: int
    example: int


def rules(tree: Node, history: History, items: int) -> list[Rule]:
    """A tree that was fitted to the first `items` of a history, as a decision list; the last rule
    has no literals."""
    found: list[Rule] = []
    codes = np.array(history.codes[:items], dtype=np.intp)

    def write(node: Node, above: tuple[Literal, ...], rows: Numbers) -> None:
        if not node.parts:
            same = rows[codes[rows] == node.label]
            example = same[0] if len(same) else history.codes.index(node.label)
            found.append(Rule(above, node.label, int(example)))
            return
        yes, no = size(node.yes)[1], size(node.no)[1]
        denied = sum(not wanted for _, wanted in node.parts)
        turned = yes > no or (yes == no and 2 * denied > len(node.parts))
        passed = node.match(history.bits[rows]) != turned
        first, second = (node.no, node.yes) if turned else (node.yes, node.no)
        literals = _literals(node, history.features, not turned)
        write(first, (*above, *literals), rows[passed])
        write(second, above, rows[~passed])

    write(tree, (), np.arange(len(codes)))
    while len(found) > 1 and found[-2].label == found[-1].label:
        del found[-2]
    return found


def grouped(found: list[Rule]) -> list[Rule]:
    """The same list; of rules that follow each other and give one label, those of a single literal
    are one rule."""
    made: list[Rule] = []
    for rule in found:
        last = made[-1] if made else None
        alike = last is not None and last.label == rule.label
        if last is None or not alike or {len(last.literals), len(rule.literals)} != {1}:
            made.append(rule)
            continue
        parts = [
            lit.feature if lit.wanted else Not(lit.feature) for lit in last.literals + rule.literals
        ]
        made[-1] = Rule((Literal(Or(*parts)),), rule.label, last.example)
    return made


def with_reasons(
    found: list[Rule], tree: Node, history: History, items: int, spare: int
) -> list[Rule]:
    """The same list, and before it what the teacher named for items that it gets wrong, if there is
    room.

    That is what only items of the label have, in the history; more than one row, of those that are
    known, but not many. So a reason stands as it was said, and a slip makes no rule.
    """
    bits, pool = history.bits[:items], history.pool_bits
    codes = np.array(history.codes[:items], dtype=np.intp)
    given = guess_by(tree, bits.astype(np.float32))
    said = {p for rule in found for lit in rule.literals for p in parts_of(lit.feature)}
    more: dict[Feature, Rule] = {}
    for item, _, column in history.pairs:
        feature = history.features[column]
        if item >= items or feature in said or feature in more or not bits[item, column]:
            continue
        held, rows = bits[:, column], int(bits[:, column].sum() + pool[:, column].sum())
        alone = bool((codes[held] == codes[item]).all())
        few = 2 <= rows <= max(2.0, _FEW * (items + len(pool)))
        if alone and few and (given[held] != codes[held]).any() and len(more) < spare:
            more[feature] = Rule((Literal(feature),), int(codes[item]), item)
    return [*sorted(more.values(), key=lambda rule: rule.label), *found]


def in_her_words(found: list[Rule], history: History, items: int, spare: int) -> list[Rule]:
    """The same list, and before the default what the teacher named for its label, if there is room:
    the default would say the same, but not why.

    That is what only items of this label have, and no more than half of them.
    """
    *rest, default = found
    said = {
        part for rule in rest for literal in rule.literals for part in parts_of(literal.feature)
    }
    codes = np.array(history.codes[:items], dtype=np.intp)
    mine = int((codes == default.label).sum())
    words: dict[Feature, int] = {}
    for item, _, column in history.pairs:
        if item >= items:
            break
        feature, held = history.features[column], history.bits[:items, column]
        if not held[item]:
            feature, held = Not(feature), ~held
        new = codes[item] == default.label and history.features[column] not in said
        if new and (codes[held] == default.label).all() and 2 * held.sum() <= mine:
            words.setdefault(feature, item)
    own = list(words)[: max(0, spare)]
    if not own:
        return found
    whole = Literal.forbid(own[0].feature) if isinstance(own[0], Not) else Literal(own[0])
    said_so = whole if len(own) == 1 else Literal(Or(*own))
    return [*rest, Rule((said_so,), default.label, words[own[0]]), default]


def _literals(node: Node, features: list[Feature], wanted: bool) -> list[Literal]:
    """A test, or its opposite, as literals that must all hold."""
    parts = [Literal(features[column], sign == wanted) for column, sign in node.parts]
    least = node.least if wanted else len(parts) - node.least + 1
    if least == len(parts):
        return parts
    plain = [feature if sign else Not(feature) for feature, sign in parts]
    if least == 1:
        return [Literal(Or(*plain))]
    return [Literal(Points([(feature, 1) for feature in plain], least))]


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
        self._history = History(holds, self.columns)
        self._fitted = Fitted()
        self._model: DecisionList | None = None
        self._asked: tuple[Item, Bits] | None = None

    @property
    def room(self) -> int:
        """The most terms that the rules may have."""
        return 8 + 4 * len(self._history.labels) if self.terms is None else self.terms

    @property
    def suspected(self) -> tuple[Hashable, ...]:
        """The columns that go along with the labels but were never named, and are not used."""
        return self._fitted.suspected

    @property
    def history(self) -> History:
        """Everything told."""
        return self._history

    @property
    def model(self) -> DecisionList:
        """The list that is shown."""
        if self._model is None:
            self._model = self._list()
        return self._model

    def __deepcopy__(self, memo: dict[int, Any]) -> ShortList:
        made = super().__deepcopy__(memo)
        made._model = made._asked = None
        return made

    def _list(self) -> DecisionList:
        history, shown = self._history, self._fitted.shown
        if not history.items:
            return DecisionList((), Clause((), None), self.holds)
        items, spare = self._fitted.items, self.room - size(shown)[0]
        short = rules(shown, history, items)
        found = with_reasons(short, shown, history, items, spare)
        spare -= len(found) - len(short)
        found = grouped(in_her_words(found, history, items, spare))
        clauses = [
            Clause(literals, history.labels[code], history.items[example], example)
            for literals, code, example in found
        ]
        return DecisionList(tuple(clauses[:-1]), clauses[-1], self.holds, self._nearest)

    def _nearest(self, item: Item, label: Label) -> Item:
        """The nearest earlier item of a label; of equally near ones, the first."""
        history = self._history
        codes = np.array(history.codes, dtype=np.intp)
        same = np.flatnonzero(codes == history.labels.index(label))
        apart = (history.bits[same] != self._bits_of(item)).sum(1)
        return history.items[int(same[apart.argmin()])]

    def _bits_of(self, item: Item) -> Bits:
        """The columns of an item; those of the last one are kept, for it comes again at once."""
        asked, columns = self._asked, len(self._history.features)
        if asked is None or asked[0] is not item or len(asked[1]) != columns:
            asked = self._asked = item, self._history.bits_of(item)
        return asked[1]

    # -- the contract of BaseLearner

    def begin(self, item: Item, label: Label) -> None:
        self._history.add(item, label)
        self._model = None

    def decide(self, item: Item) -> Guess:
        return self.model.first_match(item)

    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Learn from an answer, to whoever's guess: it says something of two items."""
        history = self._history
        fault = correction and self.fault(correction.feature, item, guess.example)
        self.rounds += 1
        number = history.add(item, guess.label if correction is None else correction.label)
        self._fitted = self._fitted.heard(history.bits[number], history.codes[number])
        self._asked = None
        if fault:
            self.note(fault)
        elif correction is not None:
            example = history.number_of.get(codec.identity(guess.example))
            if example is not None:
                history.name(correction.feature, number, example)
            self._refit()

    def _refit(self) -> None:
        history, fitted = self._history, self._fitted
        if len(history) - fitted.items < len(history) // PATIENCE or len(history.labels) < 2:
            return
        before = {(clause.literals, clause.label) for clause in self.model.clauses}
        self._fitted = fit(history, fitted, self.room, self.wary)
        self._model = None
        now = {(clause.literals, clause.label) for clause in self.model.clauses}
        self.rules_created += len(now - before)
        self.rules_deleted += len(before - now)

    def state(self) -> dict[str, Any]:
        """What was told, and the rules it came to."""
        fitted = vars(self._fitted) | {
            "imitating": _write_tree(self._fitted.imitating),
            "believing": _write_tree(self._fitted.believing),
        }
        return {**super().state(), "told": self._history.told(), "fitted": fitted}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        told, fitted = state["told"], dict(state["fitted"])
        for name, value in state.items():
            if name not in ("told", "fitted"):
                setattr(self, name, value)
        self._history.extend(told)
        for name in ("imitating", "believing"):
            fitted[name] = _read_tree(fitted[name])
        self._fitted = Fitted(**fitted)


def _write_tree(tree: Node) -> Any:
    if not tree.parts:
        return tree.label
    sides = _write_tree(tree.yes), _write_tree(tree.no)
    return [[list(part) for part in tree.parts], tree.least, *sides]


def _read_tree(data: Any) -> Node:
    if isinstance(data, int):
        return Node(data)
    parts, least, yes, no = data
    made = Node()
    made.split(tuple((c, w) for c, w in parts), _read_tree(yes), _read_tree(no), least)
    return made


Hindsight = ShortList
"""Its name in version 0.1."""
