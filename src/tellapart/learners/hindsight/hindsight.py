"""Hindsight: refits a decision list on all labels and reasons so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, log, sqrt
from typing import Any

import numpy as np

from tellapart import codec
from tellapart.errors import ParameterError
from tellapart.learners.base import BaseLearner
from tellapart.learners.hindsight.history import History
from tellapart.learners.hindsight.readings import WAYS, Reading
from tellapart.model import Clause, DecisionList, Holds, holds
from tellapart.protocol import Correction, Feature, Guess, Item, Label

_PATIENCE = 1000  # after n items, a refit waits for n/1000 new ones
_ASIDE = 100  # a refit of a reading that is not followed waits for n/100, and for an idle round;
_BEHIND = 10  # of one with more than twice the mistakes, for n/10
_EARLY = 5  # corrections until which reasons are believed first
_ALARM = 8  # mistakes from which on a change of the world is looked for,
_SINCE = 32  # and items that must have come since: people may correct many wrong guesses in a row
_BEFORE = 8  # so many times as many items from before are weighed against those
_LEFT_OUT = 5  # a fifth of the items is left out in turn to judge the readings,
_JUDGED = 32, 1024  # from so many items on, and up to so many,
_GROWN = 1.25  # whenever there are so many times as many as the last time
_UNREAD = 8  # the most right guesses that wait to be added to the history


class Hindsight(BaseLearner):
    """Refit a decision list on everything told so far, after every mistake.

    A guess that stands is a label too, so the history is fully labelled, and beside it there are
    the features the teacher named. The list is grown on both (`tree_growing`): a correction counts
    not only as a label but as a claim, "this feature separates the group of the item from the group
    of the example", and a list is good if the claims are true in it. Features that were named are
    preferred; others are used where the labels alone support them.

    The history can be read in several ways (`readings`): by labels and reasons, by labels alone, or
    as points that add up. All are tried side by side, and the one that would have made the fewest
    mistakes is followed: on the items as they came, and now and then on all items, each fifth of
    them being left out in turn. If the world changes, what came before is forgotten.

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
    ways : names, default=("reasons", "few points", "labels", "points")
        The ways of reading the history that are tried; `readings.WAYS` has them all.

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
        self._readings = [WAYS[name]() for name in self.ways]
        self._followed = 0
        self._scored = 0  # items the readings have been scored on
        self._judged = 0  # items there were when some were left out to judge the readings
        self._late: list[int] = []  # readings that are yet to be fitted on the history
        self._idle = False  # whether the last round needed no refit, and its time is not used yet
        self._created = self._deleted = 0
        self._erred: list[int] = []  # the items of the history on which a guess was wrong
        self._looked = 0  # mistakes known when a change of the world was looked for last
        self._forgotten: list[tuple[int, int]] = []
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
                Clause(literals, history.labels[label], history.items[example], example)
                for literals, label, example in self._readings[self._followed].rules(history)
            ] or [self._unlearnt()]
            self._model = DecisionList(tuple(clauses[:-1]), clauses[-1], self.holds)
        return self._model

    @property
    def forgotten(self) -> Sequence[tuple[int, int]]:
        return tuple(self._forgotten)

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
        self._erred.append(number)
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
        if len(self._history) - self._scored < len(self._history) // _PATIENCE:
            return
        self._forget()
        history = self._history
        codes = np.array(history.codes, dtype=np.intp)
        before = self.model
        late = [n for n, r in enumerate(self._readings) if self._missed(r) >= 2 * self._wait(r)]
        for reading in self._readings:
            reading.score(history, codes, self._scored)
        self._scored = len(history)
        if _JUDGED[0] <= len(history) <= _JUDGED[1] and len(history) >= _GROWN * self._judged:
            self._judge()
        self._follow()
        followed = self._readings[self._followed]
        followed.fit(history)
        followed.shorten(history)
        followed.choose_examples(history, codes)
        self._late = [number for number in late if number != self._followed]
        self._model = None
        old, new = (
            {(clause.literals, clause.label) for clause in model.clauses}
            for model in (before, self.model)
        )
        self._created += len(new - old)
        self._deleted += len(old - new)

    def _follow(self) -> None:
        """Follow the reading with the fewest mistakes, and few points if they do as well.

        Readings are charged with some mistakes beforehand. Reasons, if the teacher gives any, are
        followed first; after some corrections points are preferred, unless there are many labels:
        then they are charged more, since they are compared for every two labels, and that is hard
        to read. The fewer reasons the teacher gives, the smaller this charge. Where only columns
        are known that were named, reasons know best.
        """
        history = self._history
        silent = 1 - len(history.pairs) / max(1, len(history.corrected))
        blind = 0.0 if history.shows_columns else 2.0
        points = blind + (2 - 1.5 * silent) * (len(history.labels) - 2)
        early = blind or len(history.corrected) < _EARLY
        charged = {"reasons": silent + (0 if early else 1), "labels": blind + 2}
        made = {
            way: reading.mistakes + charged.get(way, points)
            for way, reading in zip(self.ways, self._readings, strict=True)
        }
        best = min(made, key=made.__getitem__)
        if best == "points" and made.get("few points", inf) <= made[best]:
            best = "few points"
        self._followed = self.ways.index(best)

    def _forget(self) -> None:
        """Forget what came before a change of the world, if the rest alone would guess better.

        A change is looked for where mistakes have become much more frequent. Then rules are fitted
        to the first half of what came since, alone and with what came before, and the former must
        make clearly fewer mistakes on the second half than the latter, and than were made. Where
        other items come than before, as in a table that is sorted, both do as well.
        """
        n = len(self._history)
        if len(self._erred) < max(_ALARM, self._looked * 9 // 8):
            return
        since = _jump(self._erred, n)
        if since is None:
            return
        self._looked = len(self._erred)
        middle = (since + n) // 2
        made = sum(number >= middle for number in self._erred)
        fresh, fewest = self._refitted(since, middle)
        if made - fewest <= 1 + sqrt(made + fewest):
            return
        _, kept = self._refitted(max(0, since - _BEFORE * (n - since)), middle)
        if kept - fewest <= 1 + sqrt(kept + fewest):
            return
        after = self._history.part(since, n)
        self._forgotten.append((self.rounds, self.rounds - (n - since)))
        for reading in fresh:
            reading.fit(after)
        self._history, self._readings = after, fresh
        self._scored, self._late, self._looked, self._judged = n - since, [], 0, 0
        self._erred = [number - since for number in self._erred if number >= since]

    def _refitted(self, first: int, last: int) -> tuple[list[Reading], float]:
        """Readings of the items from `first` up to `last`, and the fewest mistakes that one of them
        makes on all later ones."""
        part, whole = self._history.part(first, last), self._history.part(first, len(self._history))
        codes = np.array(whole.codes, dtype=np.intp)
        readings = [WAYS[name]() for name in self.ways]
        for reading in readings:
            reading.fit(part)
            reading.score(whole, codes, last - first)
        return readings, min(reading.mistakes for reading in readings)

    def _use_idle_round(self) -> None:
        """Fit a reading that is not followed, or prepare a refit: one thing a round. The model
        stays as it is."""
        history = self._history
        for number, reading in enumerate(self._readings):
            if number != self._followed and self._missed(reading) > self._wait(reading):
                reading.fit(history)
                return
        for reading in self._readings:
            if reading.prepare(history):
                return

    def _judge(self) -> None:
        """Charge readings that are close to the best for what they get wrong of items left out.

        The items on which guesses were wrong, and those that were chosen because a reading was
        unsure of them, say less about the whole than they count against that reading. Here all are
        compared on all items. By these alone, the one with the fewest mistakes would be charged as
        the best was before, and the others with as many more as they make; what each is charged
        with is the mean of that and what it was charged with before.
        """
        history = self._history
        self._judged = len(history)
        fewest = min(reading.mistakes for reading in self._readings)
        close = [r for r in self._readings if r.mistakes <= fewest + 2 * sqrt(fewest) + 2]
        if len(close) < 2:
            return
        codes = np.array(history.codes, dtype=np.intp)
        wrong = np.zeros(len(close))
        shuffled = np.random.default_rng(0).permutation(len(history))
        for left_out in np.array_split(shuffled, _LEFT_OUT):
            rest = history.without(left_out)
            for number, reading in enumerate(close):
                fitted = reading.again()
                fitted.fit(rest)
                guesses = fitted.guesses(history, 0)[left_out]
                wrong[number] += np.count_nonzero(guesses != codes[left_out])
        for reading, more in zip(close, (wrong - wrong.min()).tolist(), strict=True):
            reading.mistakes = (reading.mistakes + fewest + more) / 2

    def _wait(self, reading: Reading) -> int:
        """How many items a reading that is not followed lets pass before it is fitted again."""
        behind = reading.mistakes > 2 * self._readings[self._followed].mistakes + 4
        return len(self._history) // (_BEHIND if behind else _ASIDE)

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
            **self._history.to_dict(),
            "readings": [reading.to_dict(self._history) for reading in self._readings],
            "followed": self._followed,
            "scored": self._scored,
            "judged": self._judged,
            "created": self._created,
            "deleted": self._deleted,
            "wrong": list(self._wrong),
            "erred": [*self._erred],
            "looked": self._looked,
            "forgotten": [list(change) for change in self._forgotten],
        }

    def _restore(self, state: Mapping[str, Any], context: codec.Context) -> None:
        self._history.restore(state, context)
        for reading, data in zip(self._readings, state["readings"], strict=True):
            reading.restore(data, self._history, context)
        self._followed, self._scored = state["followed"], state["scored"]
        self._judged = state.get("judged", 0)
        self._created, self._deleted = state["created"], state["deleted"]
        self._wrong = list(state["wrong"])
        self._erred, self._looked = list(state["erred"]), state["looked"]
        self._forgotten = [(now, since) for now, since in state["forgotten"]]


def _jump(erred: Sequence[int], n: int) -> int | None:
    """Where mistakes have become much more frequent, if they have; `erred` are their places.

    Could there be so many since then, if the chance of one were as before? No, if that is less
    likely than e^-8 (Chernoff). Of all such places the least likely one is taken.

    >>> _jump([3, 40, 90, *range(101, 141, 2)], 141), _jump(range(0, 120, 10), 121)
    (90, None)
    """
    most, place = 8.0, None
    for number in range(1, len(erred) - _ALARM // 2):
        since = erred[number]
        if n - since < _SINCE:
            break
        before, now = (number + 1) / (since + 2), (len(erred) - number) / (n - since)
        unlikely = (n - since) * _divergence(now, before) if now > before else 0.0
        if unlikely > most:
            most, place = unlikely, since
    return place


def _divergence(p: float, q: float) -> float:
    """The relative entropy of two coins, in nats."""
    return sum(a * log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)
