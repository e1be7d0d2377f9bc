"""The learner of a session, as a passenger: it follows the history, and may fail without stopping
anybody.

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

What a learner raises is left out: the answer stays, the learner does without it. After some
failures it is off: its last rules stand, and labels are asked. A later version begins anew.
"""

from __future__ import annotations

import copy
import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellapart.features import Expression
from tellapart.model import DecisionList
from tellapart.protocol import Correction, Guess, Learner
from tellapart.review import ClauseRecords, Progress
from tellapart.review.progress import Told
from tellapart.review.stoppers import says
from tellapart.sessions.config import make_learner
from tellapart.sessions.edited_learner import EditedLearner, EditedRule, NoLearner
from tellapart.sessions.history import Act, Answer, History, Key, Question, is_column
from tellapart.sessions.items import Items
from tellapart.sessions.rules import read_literals
from tellapart.tables import Row

if TYPE_CHECKING:
    from tellapart.sessions.kept_learner import LateMind

BORNE = 3
"""So many failures are borne; after that the learner is off."""
_WORTH = 6  # a copy is made when the acts since the last one took so many times what a copy takes
_COPIES = 8
_LEAST = 0.002  # seconds
_NOTHING = Guess(None, None)


def report(what: str, error: BaseException) -> str:
    """Write to the program's log what went wrong and where, without a word of what a table or an
    answer says; returns it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {frames[-1].name} ({Path(frames[-1].filename).name}:{frames[-1].lineno})"
    found = f"{type(error).__name__}{where if frames else ''}"
    logging.getLogger("tellapart").warning("%s: %s", what, found)
    return found


@dataclass
class Mind:
    """A learner after some acts, and what was counted on the way there."""

    learner: EditedLearner
    progress: Progress
    records: ClauseRecords
    taught: dict[Key, int] = field(default_factory=dict)
    """The items learnt from, and the act that taught each."""
    waiting: dict[Key, int] = field(default_factory=dict)
    """The items whose label is known, but not what tells them from the example shown now."""
    outcomes: dict[int, str] = field(default_factory=dict)
    """What became of each answer: "label" (it was asked for), "right", "mistake" (learnt), "again"
    (waits for another feature), "opinion", "unsure", "skipped"."""
    tags: dict[tuple[str, Key], bool | None] = field(default_factory=dict)
    put_off: set[Key] = field(default_factory=set)
    """The items that teachers skipped or were unsure of: no random draw when they come again."""
    counted: set[Key] = field(default_factory=set)
    """The items whose guess was counted as a mistake before they were learnt from."""

    def copy(self) -> Mind:
        return Mind(
            self.learner.copy(),
            copy.deepcopy(self.progress),
            self.records.copy(),
            dict(self.taught),
            dict(self.waiting),
            dict(self.outcomes),
            dict(self.tags),
            set(self.put_off),
            set(self.counted),
        )


class Learning:
    """A learner taught by the acts of a history. Nothing here raises what the learner raises."""

    def __init__(self, history: History, items: Items) -> None:
        self.history, self.items = history, items
        self.rounds: list[Told] = []
        """The rounds learnt from, with keys of labels."""
        self.learnt_by: list[int] = []
        """The act of each round."""
        self.mistakes: list[bool] = []
        """For every guess, whether it was a mistake."""
        self.failed: dict[str, str] = {}
        """What went wrong, by the id of the event that is left out, or by what was asked."""
        self.off: str | None = None
        """Why the learner is off."""
        self.done = 0
        """How many acts are applied."""
        self.cost = 0.0
        """Seconds that the learner took since it was kept last."""
        self.copies: list[tuple[int, int, int, Mind | LateMind]] = []
        """Earlier minds: after how many acts, rounds and guesses."""
        self._spent, self._price = 0.0, _LEAST
        self._model = DecisionList()
        self._firm: tuple[int, dict[Key, int]] = (-1, {})
        self.mind = self._mind(EditedLearner(NoLearner()))
        if items.missing is not None:
            self.off = items.missing
        else:
            self._safely("begin", self._begin)

    def _begin(self) -> None:
        opened, items = self.history.opened.data, self.items
        begun = opened.get("rules", ())
        rules = {}
        for number, rule in enumerate(begun):
            example = items.row(items.place(rule["example"]))
            label = self.history.labels.key(rule["label"])
            literals = read_literals(rule["if"], items.table)
            made = EditedRule(example, number - len(begun), None, label, literals)
            rules[example.place] = made
        learner = make_learner(opened["learner"], opened["parameters"], items.table)
        self.mind = self._mind(EditedLearner(learner, rules))

    def _mind(self, learner: EditedLearner) -> Mind:
        return Mind(learner, Progress(self.items.whole), ClauseRecords(len(self.items)))

    # -- reading

    @property
    def learner(self) -> Learner:
        return self.mind.learner.inner

    @property
    def lengths(self) -> tuple[int, int]:
        return len(self.rounds), len(self.mistakes)

    @property
    def refits(self) -> bool:
        """Whether the learner looks at columns, and fits its rules to all it has seen."""
        return getattr(self.learner, "columns", None) is not None

    @property
    def model(self) -> DecisionList:
        """The rules in force, in keys of labels; the last good ones if the learner fails."""
        if self.off is None:
            self._safely("model", self._read_model)
        return self._model

    def _read_model(self) -> None:
        self._model = self.mind.learner.model

    def guess(self, item: Key) -> Guess:
        """What the learner guesses now; nothing when it fails: then the label is asked."""
        if self.off is None:
            found: Guess | None = self._safely(f"guess {item}", partial(self._guess, item))
            if found is not None:
                return found
        return _NOTHING

    def _guess(self, item: Key) -> Guess:
        return self.mind.learner.guess(self.items.row(item))

    @property
    def taught(self) -> dict[Key, int]:
        """The items that have a label, and the act that gave it. Those that wait are not among
        them."""
        if not self.failed and self.off is None:
            return self.mind.taught
        if self._firm[0] != self.history.number:
            found: dict[Key, int] = {}
            for item, numbers in self.history.answers.items():
                for n in numbers:
                    if self.history.acts[n].alive and self.history.raw_answer(n).label is not None:
                        found.setdefault(item, n)
            for item in self.waiting:
                found.pop(item, None)
            self._firm = self.history.number, found
        return self._firm[1]

    @property
    def waiting(self) -> dict[Key, int]:
        """The items whose reason is asked again, and the act that gave the label."""
        return self.mind.waiting if self.off is None else {}

    def outcome(self, number: int) -> str | None:
        if not self.history.acts[number].alive:
            return None
        return self.mind.outcomes.get(number) or self.history.outcome(number)

    def is_shown(self, guess: Guess, question: Question) -> bool:
        if question.label is None or guess.label != self.history.labels.same(question.label):
            return False
        return isinstance(guess.example, Row) and guess.example.place == question.example

    def is_settled(self, item: Key) -> bool:
        """Whether an item waits for a feature that need not be asked: the guess is its label, or
        the one that its feature was given for."""
        number = self.waiting.get(item)
        if number is None:
            return False
        guess = self.guess(item)
        return guess.label == self.history.answer(number).label or self._has_reason(number, guess)

    def _has_reason(self, number: int, guess: Guess) -> bool:
        question = self.history.acts[number].question
        assert question is not None
        return self.history.answer(number).feature is not None and self.is_shown(guess, question)

    def wanting(self) -> frozenset[Key]:
        """The items that wait for a feature, which is needed."""
        return frozenset(item for item in self.waiting if not self.is_settled(item))

    def judge(self) -> DecisionList:
        """The model with the records of its clauses, on items drawn at random."""
        return self.mind.records.copy().judge(self.model)

    def move_to(self, history: History) -> None:
        """Go on with what was read again: the end of the history before was never written."""
        before, self.history = self.history, history
        history.changed_from = len(history.acts)
        if vars(before.labels) != vars(history.labels) or before.grown != history.grown:
            history.changed_from = 0
        for old, new in zip(before.acts, history.acts, strict=False):
            told = old.answer is None or before.raw_answer(old.number) == history.raw_answer(
                new.number
            )
            if (old.id, old.alive) != (new.id, new.alive) or not told:
                history.changed_from = min(history.changed_from, new.number)
                break

    @property
    def trouble(self) -> list[str]:
        """What a teacher should know, a line for each failure; nothing of the table is in it."""
        lines = []
        for about, what in self.failed.items():
            event = self.history.ids.get(about)
            left = "the learner failed" if event is None else f"event {event.number} is not learnt"
            lines.append(f"{left} (a fault of the learner: {what}); no answer is lost")
        if self.items.missing is not None:
            lines.append(self.items.missing)
        elif self.off is not None:
            lines.append("the learner is off: the last rules stand, and labels are asked")
        return lines

    # -- following

    def follow(self) -> None:
        """Bring the learner to where the history is: an act that fails is left out."""
        acts = self.history.acts
        start, self.history.changed_from = self.history.changed_from, len(acts)
        if start < self.done:
            self._safely("undo", partial(self._back, start))
        if start < len(acts):
            self._follow_to(len(acts))
            _ = self.model  # the last good one, should the learner be off later
        if len(acts) in self.history.grown:
            self._grow()

    def _grow(self) -> None:
        """The table has more rows, or draws began; if that fails, nothing is known of the error."""
        self._safely("grow", partial(self.mind.progress.grow, self.items.whole))
        if "grow" in self.failed:
            self.mind.progress = Progress(self.items.whole)

    def _follow_to(self, end: int) -> None:
        if end - self.done > 1:
            new = (self.history.acts[n] for n in range(self.done, end))
            self.items.prepare(act.item for act in new if act.alive and act.item is not None)
        while self.done < end:
            act = self.history.acts[self.done]
            started = time.perf_counter()
            if act.number in self.history.grown:
                self._grow()
            if act.kind == "tag set":
                self._safely(act.id, partial(self._set_tag, act))
            elif act.alive and self.off is None and act.id not in self.failed:
                self._safely(act.id, partial(self._apply, act))
                if act.id in self.failed:  # it may be half changed: from a copy, without this act
                    self._safely("undo", partial(self._back, act.number))
                    continue
            self.done += 1
            self._spent += time.perf_counter() - started
            self.cost += time.perf_counter() - started
            if self.off is None and self._spent > _WORTH * self._price:
                self._copy()

    def _safely(self, about: str, work: Callable[[], Any]) -> Any:
        """Do something with the learner; what it raises is written down, and it is None then."""
        try:
            return work()
        except Exception as error:  # whatever it is: the answer stays
            if self.off is None:
                what = report("a fault of the learner", error)
                self.failed.setdefault(about, what)
                if len(self.failed) > BORNE or about in ("begin", "undo"):
                    self.off = what
            return None

    # -- copies

    def _back(self, number: int) -> None:
        """Go back to the latest copy not after an act."""
        while self.copies and self.copies[-1][0] > number:
            self.copies.pop()
        before = self.mind.tags
        if self.off is not None:
            self.done, self.mind.tags = 0, {}
        else:
            rounds, guesses = self._take_copy()
            del self.rounds[rounds:], self.learnt_by[rounds:]
            del self.mistakes[guesses:]
        for tag, item in before.keys() | self.mind.tags.keys():
            value = self.mind.tags.get((tag, item))
            if before.get((tag, item)) is not value:
                self.items.table.tag(tag).set(self.items.row(item), value)
        self._spent = 0.0

    def _take_copy(self) -> tuple[int, int]:
        """Go on from the latest copy that can be read, or from the beginning; returns how many
        rounds and guesses there were."""
        while self.copies:
            self.done, rounds, guesses, kept = self.copies[-1]
            try:
                self.mind = kept.copy()
                return rounds, guesses
            except Exception as error:  # the log says it all
                report("a copy of the learner", error)
                self.copies.pop()
        self.done = 0
        self._begin()
        return 0, 0

    def _copy(self) -> None:
        """Keep a copy for those who undo; without one they wait longer."""
        started = time.perf_counter()
        try:
            kept = self.mind.copy()
        except Exception as error:  # nothing depends on it
            report("no copy of the learner", error)
            self._price = float("inf")
            return
        self.copies.append((self.done, *self.lengths, kept))
        self._price, self._spent = max(_LEAST, time.perf_counter() - started), 0.0
        if len(self.copies) > _COPIES:
            self._thin()

    def _thin(self) -> None:
        """Drop the copy that is missed least: keep many of late, few of long ago."""
        at = [0, *(kept[0] for kept in self.copies)]
        end = at[-1] + 1

        def missed(n: int) -> float:
            return (at[n + 1] - at[n - 1]) / (end - at[n - 1])

        del self.copies[min(range(1, len(at) - 1), key=missed) - 1]

    # -- one act

    def _set_tag(self, act: Act) -> None:
        tag, value = act.event.data["tag"], act.event.data["value"]
        column = self.items.table.tag(tag)
        if act.alive:
            self.mind.tags[tag, act.item] = value
            column.set(self.items.row(act.item), value)

    def _apply(self, act: Act) -> None:
        if act.kind == "answered":
            self.mind.outcomes[act.number] = self._apply_answer(act)
        elif act.kind == "settled":
            self._settle(act)
        elif act.kind in ("rule dropped", "rule edited"):
            rule: tuple[Any, ...] = ()
            if act.answer is not None:
                assert act.answer.label is not None
                rule = self._feature(act.answer), self.history.labels.same(act.answer.label)
            self.mind.learner.edit(self.items.row(act.item), act.by, *rule)
            self.mind.progress.change()
            model = self.mind.learner.model
            self._record(lambda records: records.take(model))

    def _apply_answer(self, act: Act) -> str:
        answer, item, now = self.history.answer(act.number), act.item, self.mind
        assert act.question is not None
        if answer.label is None:
            waits = now.waiting.get(item)
            own = waits is not None and self.history.acts[waits].by == act.by
            if answer.answer == "unsure" and own:
                del now.waiting[item]  # the label is no longer vouched for
            if item not in now.taught and item not in now.counted:
                self._put_off(item, True)
            return answer.answer
        if item in now.taught:
            return "opinion"
        guess = self._guess(item)
        if guess.label is None:
            self._learn(act, guess, Correction(answer.label))
            return "label"
        if guess.label == answer.label:
            self._learn(act, guess, None)
            return "right"
        feature = self._feature(answer)
        if self.is_shown(guess, act.question):
            self._learn(act, guess, Correction(answer.label, feature))
            return "mistake"
        if act.by in self.history.models or is_column(act.by):  # not asked again
            row = self.items.row(item)
            if feature is not None and (not feature(row) or feature(guess.example)):
                feature = None
            self._learn(act, guess, Correction(answer.label, feature))
            return "mistake"
        now.waiting[item] = act.number
        if item not in now.counted:
            now.counted.add(item)
            self._count(act, now.learner.model, True, False)
        return "again"

    def _feature(self, answer: Answer) -> Expression | None:
        return None if answer.feature is None else self.items.feature(answer.feature)

    def _settle(self, act: Act) -> None:
        """The guess on an item that waits may have come to agree with its label, or to be the one
        that its feature was given for."""
        number = self.mind.waiting.get(act.item)
        if number is None:
            return
        guess, answer = self._guess(act.item), self.history.answer(number)
        if guess.label == answer.label:
            self._learn(self.history.acts[number], guess, None)
            self.mind.outcomes[number] = "right"
        elif act.event.data.get("reason") and self._has_reason(number, guess):
            assert answer.label is not None
            correction = Correction(answer.label, self._feature(answer))
            self._learn(self.history.acts[number], guess, correction)
            self.mind.outcomes[number] = "mistake"

    def _learn(self, act: Act, guess: Guess, correction: Correction | None) -> None:
        now, row = self.mind, self.items.row(act.item)
        before = now.learner.model
        now.learner.learn(row, guess, correction)
        now.taught[act.item] = act.number
        now.waiting.pop(act.item, None)
        label = guess.label if correction is None else correction.label
        self.rounds.append(Told(row, label, guess, correction, act.by))
        self.learnt_by.append(act.number)
        if guess.label is None:
            self._put_off(act.item, False)
            now.progress.ask()
            return
        mistake = correction is not None
        after = now.learner.model
        changed = after is not before and says(after) != says(before)
        if act.item not in now.counted:
            self._count(act, before, mistake, changed)
        elif changed:
            now.progress.change()
        now.counted.discard(act.item)
        if after is not before:
            self._record(lambda records: records.take(after))
        self.mistakes.append(mistake)

    def _count(self, act: Act, model: DecisionList, mistake: bool, changed: bool) -> None:
        """Count a guess of `model` for the estimate of the error."""
        question, now = act.question, self.mind
        assert question is not None
        picked = question.sought or question.picked or act.item in now.put_off
        unsure = question.picked and not question.sought and not is_column(act.by)
        self._put_off(act.item, False)
        row, label = self.items.row(act.item), self.history.answer(act.number).label
        self._record(lambda records: records.add(model, row, label, drawn=not picked))
        if picked:
            now.progress.pick(mistake, changed, unsure=unsure)
        else:
            now.progress.add(mistake, changed)

    def _record(self, work: Callable[[ClauseRecords], object]) -> None:
        """Keep the records of the rules; if that fails, they begin anew."""
        try:
            work(self.mind.records)
        except Exception as error:  # nothing of the learner depends on it
            report("records of rules", error)
            self.mind.records = ClauseRecords(len(self.items))

    def _put_off(self, item: Key, is_so: bool) -> None:
        """Keep account of the items that were met and not answered."""
        (self.mind.put_off.add if is_so else self.mind.put_off.discard)(item)
        self.mind.progress.aside = len(self.mind.put_off)
