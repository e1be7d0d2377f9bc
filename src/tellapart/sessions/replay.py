"""The learner of a session: taught by the acts of its log, with the rules that people edited.

The learner is where it would be had the undone acts never been. Copies of it are kept from time to
time: to undo an act, take the latest copy made before it and apply the acts after it once more.

Only the first answer about an item teaches; others are opinions, to be compared. What an answer
comes to depends on what the learner guesses when the answer is applied, which need not be what the
teacher was shown (somebody else answered meanwhile, or an earlier act was undone):

- the guess agrees with the label of the answer: the guess was right;
- it is the guess that was shown, with the same example: the answer counts as given;
- otherwise the label is kept, and the item waits for a feature that tells it from the new example.

A language model is not asked again: its label is learnt, with its feature if that tells the item
from the new example, too. Nor is a column whose labels were taken as first answers: these never had
a reason. And a person's answer about an item takes the place of a model's.
"""

from __future__ import annotations

import copy
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tellapart.learners import BaseLearner
from tellapart.model import Clause, DecisionList, Literal
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.review import ClauseRecords, Progress, Transcript
from tellapart.review.stoppers import says
from tellapart.sessions.config import is_column
from tellapart.sessions.items import Items
from tellapart.sessions.labels import Labels
from tellapart.tables import Row

if TYPE_CHECKING:
    from tellapart.sessions.snapshots import PackedCopy
    from tellapart.sessions.state import Act, Answer, Question

_WORTH = 3  # a copy is made when the acts since the last one took so many times what a copy takes
_URGENT = 6  # and it no longer waits for a quiet moment
_COPIES = 24
_LEAST = 0.002  # seconds


@dataclass
class EditedRule:
    """What a person did to the rule with an example: another rule instead of it, or none."""

    example: Row
    at: int
    """Where the rule stood. Below 0 it is one that the session began with: those stand, in their
    order, before all that is learnt."""
    by: str | None
    """Who did it."""
    label: Label = None
    literals: list[Literal] | None = None
    """None: the rule is dropped."""

    @property
    def clause(self) -> Clause | None:
        if self.literals is None:
            return None
        return Clause(tuple(self.literals), self.label, self.example, "by hand")


@dataclass
class EditedLearner:
    """A learner, and what people changed about its rules.

    A rule is known by its example. A dropped rule is passed over; an edited one stands where it
    stood, with the condition and the label the person gave, and is corrected like the rules of
    `DFF`: a wrong guess adds NOT φ. The learner beneath goes on learning: where its own guess was
    not the one shown, it sees the round as a witness. (One that refits may find a dropped rule
    again in other words.)
    """

    inner: BaseLearner
    edits: dict[int, EditedRule] = field(default_factory=dict)
    _model: DecisionList | None = None
    _of: DecisionList | None = None

    def edit(
        self, example: Row, by: str | None, condition: Feature = None, label: Label = None
    ) -> None:
        """Put a rule where the one with this example stands; without a condition, put none."""
        literals = None if condition is None else [Literal(condition)]
        at = self._position(example)
        self.edits[example.place] = EditedRule(example, at, by, label, literals)
        self._model = None

    def _position(self, example: Row) -> int:
        known = self.edits.get(example.place)
        if known is None or known.at >= 0:
            for number, clause in enumerate(self.model.clauses):
                if clause.example.place == example.place:
                    return number
        return 0 if known is None else known.at

    @property
    def model(self) -> DecisionList:
        """The rules in force."""
        inner = self.inner.model
        if not self.edits:
            return inner
        if self._model is None or self._of is not inner:
            clauses: list[Clause] = []
            met: set[int] = set()
            for clause in inner.clauses:
                rule = self.edits.get(clause.example.place)
                if rule is None or rule.at < 0:
                    clauses.append(clause)
                elif rule.example.place not in met:
                    met.add(rule.example.place)
                    if rule.clause is not None:
                        clauses.append(rule.clause)
            for place, rule in self.edits.items():
                if place not in met and rule.clause is not None and rule.at >= 0:
                    clauses.insert(min(rule.at, len(clauses)), rule.clause)
            begun = sorted((r for r in self.edits.values() if r.at < 0), key=lambda r: r.at)
            clauses[:0] = [rule.clause for rule in begun if rule.clause is not None]
            self._model = DecisionList(tuple(clauses), inner.default, inner.reading)
            self._of = inner
        return self._model

    def guess(self, item: Item) -> Guess:
        """The guess of the rules in force; for an item remembered, what is remembered."""
        guess = self.inner.guess(item)
        if not self.edits or guess.label is None or guess.example == item:
            return guess
        return self.model.first_match(item)

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Take the answer to `guess`."""
        if not self.edits:
            self.inner.learn(item, guess, correction)
            return
        own = self.inner.guess(item)
        rule = self.edits.get(guess.example.place) if isinstance(guess.example, Row) else None
        if rule is not None and rule.at < 0 and self.model.match(item).origin != "by hand":
            rule = None  # another rule has the same example
        if own == guess:
            self.inner.learn(item, own, correction)
        else:
            self.inner.witness(item, guess, correction)
        if rule is not None and rule.literals is not None and correction is not None:
            if correction.feature is not None:
                rule.literals.append(Literal.forbid(correction.feature))
            self._model = None


@dataclass
class Snapshot:
    """A learner at some act, and what was counted on the way there."""

    learner: EditedLearner
    taught: dict[int, int] = field(default_factory=dict)
    """The items learnt from, and the act that taught each."""
    waiting: dict[int, int] = field(default_factory=dict)
    """The items whose label is known, but not what tells them from the example shown now."""
    records: dict[int, tuple[int, int]] = field(default_factory=dict)
    """How often the rule with an example was right, and wrong."""
    tags: dict[tuple[str, int], bool | None] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    put_off: set[int] = field(default_factory=set)
    """The items that teachers skipped or were unsure of: no random draw when they come again."""
    counted: set[int] = field(default_factory=set)
    """The items whose guess was counted as a mistake before they were learnt from."""

    def copy(self) -> Snapshot:
        """An independent copy."""
        return Snapshot(
            copy.deepcopy(self.learner),
            dict(self.taught),
            dict(self.waiting),
            dict(self.records),
            dict(self.tags),
            copy.deepcopy(self.progress),
            set(self.put_off),
            set(self.counted),
        )


class Replay:
    """A learner taught by acts.

    Outcomes of an answer: "label" (it was asked for), "right", "mistake" (learnt), "again" (waits
    for another feature), "opinion", "unsure", "skipped".
    """

    def __init__(
        self,
        items: Items,
        learner: BaseLearner,
        labels: Labels,
        rules: Sequence[EditedRule] = (),
    ) -> None:
        self.items, self.labels = items, labels
        self._fresh, self._rules = learner, rules
        self.acts: MutableSequence[Act] = []
        self.mistakes: list[bool] = []
        """For every guess, whether it was a mistake."""
        self.sizes: list[int] = []
        """How many rules there were after it."""
        self.history = Transcript()
        """The rounds learnt from, with keys of labels."""
        self.rounds: list[int] = []
        """The act of each round."""
        self.now = self._begin()
        self._copies: list[tuple[int, int, int, Snapshot | PackedCopy]] = []
        self._spent, self._price = 0.0, _LEAST
        self._is_batch, self._is_caught_up = False, True
        self._first_changed = 0
        self.grown: set[int] = set()
        """Before which acts the table got more rows, or draws began: see `begin_draws`."""
        self.models: set[str] = set()
        """The teachers that are language models."""
        self._learnt_ahead: dict[tuple[int, Correction], tuple[EditedLearner, float]] = {}
        self._records: ClauseRecords | None = None
        self._until = float("inf")
        """When to give up: only for what is tried."""
        self.kept: tuple[int, int, int] | None = None
        """How many acts, rounds and guesses are in the last snapshot; None if one has changed."""
        self.settled: set[int] = set()
        """The acts in it whose outcome came later."""
        self.cost = 0.0
        """Seconds that acts took to apply since the learner was kept last."""

    def _begin(self) -> Snapshot:
        edits = {rule.example.place: rule for rule in copy.deepcopy(self._rules)}
        learner = EditedLearner(self._fresh.clone(), edits)
        return Snapshot(learner, progress=Progress(self.items.whole))

    # -- reading

    def answer(self, number: int) -> Answer:
        """An answer after all changes."""
        answer = self.raw_answer(number)
        if answer.label is None:
            return answer
        label = self.labels.same(answer.label)
        return answer if label is answer.label else answer._replace(label=label)

    def raw_answer(self, number: int) -> Answer:
        """The same, before any labels were merged."""
        act = self.acts[number]
        for change in reversed(act.changes):
            if self.acts[change].alive:
                act = self.acts[change]
                break
        assert act.answer is not None
        return act.answer

    def guess(self, place: int) -> Guess:
        """What the learner guesses now."""
        return self.now.learner.guess(self.items.row(place))

    # -- applying acts

    @contextmanager
    def batch(self, resume: Callable[[], None] | None = None) -> Iterator[None]:
        """Add many acts; they are applied at the end, without those undone.

        `resume` is called instead, if it is given and no earlier act has changed.
        """
        start = self._first_changed = len(self.acts)
        self._is_batch = True
        try:
            yield
        finally:
            self._is_batch = False
        if resume is not None and start and self._first_changed >= start:
            resume()
            return
        new = (self.acts[number] for number in range(self._first_changed, len(self.acts)))
        self.items.prepare(act.place for act in new if act.alive and act.place >= 0)
        if start and self._first_changed == start:
            self._apply_from(start)
        else:
            self.rerun_from(self._first_changed)

    def resume(self, kept: PackedCopy) -> None:
        """Go on from a copy after the last act."""
        self.now, self._is_caught_up = kept.copy(), False
        self._copies.append((len(self.acts), len(self.rounds), len(self.mistakes), kept))
        for (tag, place), value in self.now.tags.items():
            self.items.table.tag(tag).set(self.items.row(place), value)
        self._grow_last()

    def mark_kept(self) -> None:
        """All acts so far are in a snapshot."""
        self.kept, self.cost = (len(self.acts), len(self.rounds), len(self.mistakes)), 0.0
        self.settled = set()

    def add(self, act: Act) -> None:
        """One more act."""
        if self._is_batch:
            self.acts.append(act)
            return
        self.keep_copy(_URGENT)
        self.acts.append(act)
        self._apply(len(self.acts) - 1)
        self._is_caught_up, self._learnt_ahead = False, {}

    def grow(self) -> None:
        """The table has more rows now: no guess so far says anything of these."""
        self.grown.add(len(self.acts))
        self.rerun_from(0)

    def begin_draws(self) -> None:
        """Items are drawn at random from now on: no guess so far says anything of those left."""
        self.grown.add(len(self.acts))
        self.rerun_from(len(self.acts))

    def rerun_from(self, number: int) -> None:
        """Apply the acts from this one on anew: it was undone, redone or changed."""
        self._learnt_ahead = {}
        if self._is_batch:
            self._first_changed = min(self._first_changed, number)
            return
        if self.kept is not None and number < self.kept[0]:
            self.kept = None
        while self._copies and self._copies[-1][0] > number:
            self._copies.pop()
        before = self.now
        start, rounds, guesses = 0, 0, 0
        if self._copies:
            start, rounds, guesses, kept = self._copies[-1]
            self.now = kept.copy()
        else:
            self.now = self._begin()
        del self.history.rounds[rounds:], self.rounds[rounds:]
        del self.mistakes[guesses:], self.sizes[guesses:]
        for tag, place in before.tags.keys() | self.now.tags.keys():
            value = self.now.tags.get((tag, place))
            if before.tags.get((tag, place)) is not value:
                self.items.table.tag(tag).set(self.items.row(place), value)
        self._spent = 0.0
        self._apply_from(start)

    def _apply_from(self, start: int) -> None:
        """Apply the acts from this one on, with copies half way, and half way again."""
        self._is_caught_up = False
        left = len(self.acts) - start
        marks = {len(self.acts) - (left >> power) for power in range(1, left.bit_length() + 1)}
        for later in range(start, len(self.acts)):
            if time.monotonic() > self._until:
                raise TimeoutError
            self._apply(later)
            if later + 1 in marks and self._spent > self._price:
                self._copy(later + 1)
        self._grow_last()

    def _grow_last(self) -> None:
        """What was said after the last act."""
        if len(self.acts) in self.grown:
            self.now.progress.grow(self.items.whole)

    def trial(self, number: int, answer: Answer | None) -> Replay:
        """A replay in which one act says something else, or is undone; `try_out` applies it."""
        again = Replay(self.items, self._fresh, self.labels, self._rules)
        again.grown, again.models = self.grown, self.models
        again.now.tags = dict(self.now.tags)
        again._copies = [kept for kept in self._copies if kept[0] <= number][-1:]
        again._price = float("inf")  # it is not kept: no copies
        start = again._copies[0][0] if again._copies else 0
        again.acts = [act if n < start else copy.copy(act) for n, act in enumerate(self.acts)]
        tried = again.acts[number] = copy.copy(again.acts[number])
        if answer is None:
            tried.alive = False
        else:
            tried.answer, tried.changes = answer, []
        return again

    def try_out(self, number: int, seconds: float) -> bool:
        """Apply the acts of a trial from one on; False if it takes longer than that."""
        self._until = time.monotonic() + seconds
        tags = dict(self.now.tags)
        try:
            self.rerun_from(number)
        except TimeoutError:
            for (tag, place), value in tags.items():  # those of the table are as they were
                self.items.table.tag(tag).set(self.items.row(place), value)
            return False
        return True

    def judge(self, confidence: float) -> DecisionList:
        """The model with the records of its clauses: all acts are applied once more."""
        again = Replay(self.items, self._fresh, self.labels, self._rules)
        again.acts, again.grown, again.models = self.acts, self.grown, self.models
        again.now.tags = dict(self.now.tags)
        records = again._records = ClauseRecords(len(self.items))
        again.rerun_from(0)
        return records.judge(again.now.learner.model, confidence)

    def model_until(self, moment: str) -> DecisionList:
        """The rules that the answers until a moment make, without what was undone since."""
        count = bisect_right(range(len(self.acts)), moment, key=lambda n: self.acts[n].at)
        again = Replay(self.items, self._fresh, self.labels)
        again.models = self.models
        for number in range(count):
            act = self.acts[number]
            # copies, for what became of an answer is written into its act
            kept = replace(act, changes=[one for one in act.changes if one < count])
            again.acts.append(kept)
        for number in range(count):
            if again.acts[number].kind != "tag set":  # a tag has one value, the present one
                again._apply(number)
        return again.now.learner.model

    def catch_up(self) -> None:
        """Do the work that the last acts put off; nothing that can be seen changes.

        A later act does it otherwise: better now, while nobody waits.
        """
        if self._is_caught_up:
            return
        self._is_caught_up = True
        started = time.perf_counter()
        self.now.learner.inner.catch_up()
        seconds = time.perf_counter() - started
        self._spent += seconds
        self.cost += seconds
        self.keep_copy()

    def learn_ahead(self, question: Question, answer: Answer) -> bool:
        """Learn in a copy what may be answered next; False if there was nothing to do.

        If it is answered, the copy takes the learner's place.
        """
        correction = Correction(answer.label, answer.feature)
        if (question.place, correction) in self._learnt_ahead or question.place in self.now.taught:
            return False
        self.catch_up()
        guess, started = self.guess(question.place), time.perf_counter()
        if guess.label == answer.label or not self.is_shown(guess, question):
            return False
        learner = copy.deepcopy(self.now.learner)
        learner.learn(self.items.row(question.place), guess, correction)
        _ = learner.model
        seconds = time.perf_counter() - started
        self._learnt_ahead[question.place, correction] = learner, seconds
        return True

    # -- copies

    def keep_copy(self, worth: int = _WORTH) -> None:
        """Make a copy for those who undo, if it is worth it."""
        if self._spent > worth * max(self._price, _LEAST):
            self._copy(len(self.acts))

    def _copy(self, number: int) -> None:
        started = time.perf_counter()
        self._copies.append((number, len(self.rounds), len(self.mistakes), self.now.copy()))
        self._price, self._spent = time.perf_counter() - started, 0.0
        if len(self._copies) > _COPIES:
            self._thin()

    def _thin(self) -> None:
        """Drop the copy that is missed least: keep many of late, few of long ago."""
        at = [0, *(kept[0] for kept in self._copies)]
        end = at[-1] + 1

        def missed(n: int) -> float:
            return (at[n + 1] - at[n - 1]) / (end - at[n - 1])

        del self._copies[min(range(1, len(at) - 1), key=missed) - 1]

    # -- one act

    def _apply(self, number: int) -> None:
        act, started = self.acts[number], time.perf_counter()
        if number in self.grown:
            self.now.progress.grow(self.items.whole)
        if not act.alive:
            return
        if act.kind == "answered":
            act.outcome = self._apply_answer(number, act)
        elif act.kind == "settled":
            self._settle(act)
        elif act.kind == "tag set":
            self.now.tags[act.data["tag"], act.place] = act.data["value"]
            self.items.table.tag(act.data["tag"]).set(self.items.row(act.place), act.data["value"])
        elif act.kind == "rule dropped":
            self.now.learner.edit(self.items.row(act.place), act.by)
            self.now.progress.change()
        elif act.kind == "rule edited":
            assert act.answer is not None
            assert act.answer.label is not None
            label = self.labels.same(act.answer.label)
            self.now.learner.edit(self.items.row(act.place), act.by, act.answer.feature, label)
            self.now.progress.change()
        seconds = time.perf_counter() - started
        self._spent += seconds
        self.cost += seconds

    def _apply_answer(self, number: int, act: Act) -> str:
        answer, place = self.answer(number), act.place
        assert act.question is not None
        if answer.label is None:
            waits = self.now.waiting.get(place)
            if answer.answer == "unsure" and waits is not None and self.acts[waits].by == act.by:
                del self.now.waiting[place]  # the label is no longer vouched for
            if place not in self.now.taught and place not in self.now.counted:
                self._put_off(place, True)
            return answer.answer
        if place in self.now.taught:
            return "opinion"
        guess = self.guess(place)
        if guess.label is None:
            self._learn(number, guess, Correction(answer.label))
            return "label"
        if guess.label == answer.label:
            self._learn(number, guess, None)
            return "right"
        if self.is_shown(guess, act.question):
            self._learn(number, guess, Correction(answer.label, answer.feature))
            return "mistake"
        if act.by in self.models or is_column(act.by):  # not asked again: the label is learnt
            feature = answer.feature
            if feature is not None and (
                not feature(self.items.row(place)) or feature(guess.example)
            ):
                feature = None
            self._learn(number, guess, Correction(answer.label, feature))
            return "mistake"
        self.now.waiting[place] = number
        if place not in self.now.counted:
            self.now.counted.add(place)
            self._count(number, self.now.learner.model, True, False)
        return "again"

    def _settle(self, act: Act) -> None:
        """The guess on an item that waits may have come to agree with its label, or to be the one
        that its feature was given for."""
        number = self.now.waiting.get(act.place)
        if number is None:
            return
        guess, answer = self.guess(act.place), self.answer(number)
        if guess.label == answer.label:
            self._learn(number, guess, None)
            self.acts[number].outcome = "right"
        elif act.data.get("reason") and self._has_reason(number, guess):
            assert answer.label is not None
            self._learn(number, guess, Correction(answer.label, answer.feature))
            self.acts[number].outcome = "mistake"
        else:
            return
        self.settled.add(number)

    def is_settled(self, place: int) -> bool:
        """Whether an item waits for a feature that need not be asked: the guess is its label, or
        the one that its feature was given for."""
        number = self.now.waiting.get(place)
        if number is None:
            return False
        guess = self.guess(place)
        return guess.label == self.answer(number).label or self._has_reason(number, guess)

    def _has_reason(self, number: int, guess: Guess) -> bool:
        """Whether an answer has a feature, which was given for a guess."""
        question = self.acts[number].question
        assert question is not None
        return self.answer(number).feature is not None and self.is_shown(guess, question)

    def wanting(self) -> frozenset[int]:
        """The places of the items that wait for a feature, which is needed."""
        return frozenset(place for place in self.now.waiting if not self.is_settled(place))

    def is_shown(self, guess: Guess, question: Question) -> bool:
        """Whether a guess is the one that the teacher was shown."""
        if question.label is None or guess.label != self.labels.same(question.label):
            return False
        return isinstance(guess.example, Row) and guess.example.place == question.example

    def _learn(self, number: int, guess: Guess, correction: Correction | None) -> None:
        now, act = self.now, self.acts[number]
        item = self.items.row(act.place)
        before = now.learner.model
        ahead = None if correction is None else self._learnt_ahead.get((act.place, correction))
        if ahead is None:
            now.learner.learn(item, guess, correction)
        else:
            now.learner, seconds = ahead
            self._spent += seconds
            self.cost += seconds
        now.taught[act.place] = number
        now.waiting.pop(act.place, None)
        self.history.add(item, guess, correction, who=act.by)
        self.rounds.append(number)
        if guess.label is None:
            self._put_off(act.place, False)
            now.progress.ask()
            return
        mistake = correction is not None
        after = now.learner.model
        changed = after is not before and says(after) != says(before)
        if act.place not in now.counted:
            self._count(number, before, mistake, changed)
        elif changed:
            now.progress.change()
        now.counted.discard(act.place)
        self.mistakes.append(mistake)
        self.sizes.append(len(after.clauses))
        rule = guess.example.place
        right, wrong = now.records.get(rule, (0, 0))
        now.records[rule] = (right + (not mistake), wrong + mistake)

    def _count(self, number: int, model: DecisionList, mistake: bool, changed: bool) -> None:
        """Count a guess of `model` for the estimate of the error."""
        act = self.acts[number]
        assert act.question is not None
        question = act.question
        picked = question.sought or question.picked or act.place in self.now.put_off
        unsure = question.picked and not question.sought and not is_column(act.by)
        self._put_off(act.place, False)
        if self._records is not None:
            item, label = self.items.row(act.place), self.answer(number).label
            self._records.add(model, item, label, drawn=not picked)
        if picked:
            self.now.progress.pick(mistake, changed, unsure=unsure)
        else:
            self.now.progress.add(mistake, changed)

    def _put_off(self, place: int, is_so: bool) -> None:
        """Keep account of the items that were met and not answered."""
        (self.now.put_off.add if is_so else self.now.put_off.discard)(place)
        self.now.progress.aside = len(self.now.put_off)
