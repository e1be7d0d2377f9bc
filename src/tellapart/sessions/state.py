"""The state of a session: its events, taken in one by one.

`State.take` is the only way to change it: for events as they happen, and for those of a log read
back. It takes every event as it is; whether one may happen is checked before it is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tellapart.errors import FormatError, TellapartError
from tellapart.features import Expression
from tellapart.review import Stopper
from tellapart.sessions.config import SETTINGS, Settings, make_learner, read_stopper
from tellapart.sessions.events import Event, seconds
from tellapart.sessions.items import Items
from tellapart.sessions.labels import Labels
from tellapart.sessions.lazy import LazyEvents, LazyQuestions
from tellapart.sessions.queue import Queue
from tellapart.sessions.replay import EditedRule, Replay
from tellapart.sessions.rules import read_literals
from tellapart.sessions.search import Search

NONSENSE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, AssertionError)
"""What taking in an event raises that does not fit those before it."""


SETTLED = 10
"""Of so many answers of each of two models people must have spoken before one is believed more."""


class Question(NamedTuple):
    """What a teacher was shown: the item, and the guess with its example."""

    id: str
    teacher: str
    place: int
    label: str | None
    """The key of the label guessed."""
    example: int | None
    """The place of the example."""
    asks: str
    """answer: whether the guess is right. label: the label, there is no guess. feature: only what
    tells the item from the example; the label is known."""
    kept: str | None
    """The key of the label that is known when only the feature is asked."""
    until: float
    """When the lease ends."""
    sought: bool = False
    """Whether the item came from a search or a sweep, or somebody chose it: no random draw."""
    picked: bool = False
    """Whether it came because the learner was unsure of it; no random draw either. With `sought`:
    whether somebody chose it (it was assigned, or asked for by its name)."""
    since: float = 0.0
    """When the lease began."""


class Answer(NamedTuple):
    """What a teacher answered."""

    answer: str
    label: str | None = None
    """The key of the label: for a right guess, the guess's."""
    feature: Expression | None = None


@dataclass(slots=True)
class Act:
    """An event that can be undone."""

    id: str
    number: int
    at: str
    kind: str
    by: str | None
    place: int = -1
    question: Question | None = None
    answer: Answer | None = None
    target: int = -1
    """The act that this one changes."""
    changes: list[int] = field(default_factory=list)
    """The acts that change this one."""
    data: dict[str, Any] = field(default_factory=dict)
    alive: bool = True
    outcome: str | None = None
    """What became of an answer; see `Replay`."""


@dataclass
class Teacher:
    """A teacher's acts, to be undone and redone."""

    done: list[int] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)
    model: str | None = None
    """The name of the language model that answers; None for a person."""


class State:
    """What a log comes to."""

    def __init__(self, items: Items, opened: Event) -> None:
        data = opened.data
        self.items, self.opened = items, opened
        self.seed: int = data["seed"]
        self.number = 0
        """The number of the last event."""
        self.ids = LazyEvents()
        self.labels = Labels()
        self.listed: set[str] = set()
        """The labels that were added by themselves, and not just used."""
        self.meanings: dict[str, str] = {}
        """What labels mean, by their keys."""
        self.settings = Settings()
        self.stopper: Stopper | None = None
        self.teachers: dict[str, Teacher] = {}
        self.questions = LazyQuestions()
        self.act_of: dict[str, int] = {}
        self.answers: dict[int, list[int]] = {}
        """The acts that answered about each item."""
        self.answers_to: dict[str, list[int]] = {}
        """The acts that answered each question, by its id."""
        self.notes: list[Event] = []
        self.unsure: set[int] = set()
        """Items about which every answer is "unsure"."""
        self.skipped: set[int] = set()
        """Items about which every answer is "skipped"."""
        self._uses: dict[str, int] = {}
        learner = make_learner(data["learner"], data["parameters"], items.table)
        begun = data.get("rules", ())
        rules = [
            EditedRule(
                items.row(items.place(rule["example"])),
                number - len(begun),
                None,
                self.labels.key(rule["label"]),
                read_literals(rule["if"], items.table),
            )
            for number, rule in enumerate(begun)
        ]
        self.replay = Replay(items, learner, self.labels, rules)
        self.acts = self.replay.acts
        """Everything that can be undone, in order."""
        self.queue = Queue(self)

    @classmethod
    def of(cls, items: Items, events: Sequence[Event]) -> State:
        """The state after a whole log."""
        try:
            state = cls(items, events[0])
        except NONSENSE as error:
            raise FormatError(f"the log does not fit together: {error!r}") from error
        state.take_all(events)
        return state

    def take_all(self, events: Sequence[Event], resume: Callable[[], None] | None = None) -> None:
        """Take many events in at once; `resume` tells the learner what they come to."""
        try:
            with self.replay.batch(resume):
                for event in events:
                    self.take(event)
        except NONSENSE as error:
            raise FormatError(f"the log does not fit together: {error!r}") from error

    # -- reading

    def opinions(self, place: int) -> dict[str, str]:
        """Each teacher's last answer about an item, "skipped" left out."""
        return {by: self.replay.answer(n).answer for by, n in self.voices(place).items()}

    def voices(self, place: int) -> dict[str, int]:
        """The act of each teacher's last answer about an item, "skipped" left out."""
        found: dict[str, int] = {}
        for number in self.answers.get(place, ()):
            act = self.acts[number]
            if act.alive and act.by is not None and self.replay.answer(number).answer != "skipped":
                found[act.by] = number
        return found

    def is_settled_by_person(self, place: int) -> bool:
        """Whether a person has said something about an item, or changed a model's answer."""
        models = self.replay.models
        if any(name not in models for name in self.voices(place)):
            return True
        changes = (c for n in self.answers.get(place, ()) for c in self.acts[n].changes)
        return any(self.acts[c].alive and self.acts[c].by not in models for c in changes)

    def is_confirmed(self, number: int) -> bool:
        """Whether a person looked at an answer again, last, and said the same once more."""
        changes = [n for n in self.acts[number].changes if self.acts[n].alive]
        return bool(changes) and self.is_confirmation(changes[-1])

    def has_settled(self, number: int) -> bool:
        """Whether the last change of an answer settles a disagreement about its item."""
        changes = [n for n in self.acts[number].changes if self.acts[n].alive]
        return bool(changes) and "settles" in self.ids[self.acts[changes[-1]].id].data

    def is_confirmation(self, change: int) -> bool:
        """Whether an act is a person's change that says what the answer said before it."""
        act = self.acts[change]
        if act.kind != "changed" or act.by in self.replay.models:
            return False
        changes = self.acts[act.target].changes
        earlier = [n for n in changes if n < change and self.acts[n].alive]
        return self._said(change) == self._said(earlier[-1] if earlier else act.target)

    def _said(self, number: int) -> Answer:
        """What one act says, with labels as they are merged now."""
        answer = self.acts[number].answer
        assert answer is not None
        return answer._replace(label=answer.label and self.labels.same(answer.label))

    def is_shared(self, place: int) -> bool:
        """Whether an item is among those that two teachers are asked about."""
        share = self.settings.overlap
        if share <= 0 or share >= 1:
            return share >= 1
        digest = hashlib.blake2b(f"{self.seed} {place}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") < share * 2**64

    def label_keys(self) -> list[str]:
        """The labels there are: those added, and those in use."""
        used = {self.labels.same(key) for key, times in self._uses.items() if times > 0}
        used |= {self.labels.same(key) for key in self.listed}
        return [key for key in self.labels.current() if key in used]

    # -- taking events in

    def take(self, event: Event) -> None:
        if event.number != self.number + 1:
            raise FormatError(f"event {self.number + 1} is missing: after it comes {event.number}")
        try:
            getattr(self, f"_take_{event.type.replace(' ', '_')}")(event)
        except TellapartError as error:
            raise FormatError(f"event {event.number} ({event.type}): {error}") from error
        except NONSENSE as error:
            raise FormatError(
                f"event {event.number} ({event.type}) does not fit what came before: {error!r}"
            ) from error
        self.number = event.number
        self.ids[event.id] = event

    def _take_opened(self, event: Event) -> None:
        for name in event.data.get("labels", ()):
            self.listed.add(self.labels.key(name))
        self._take_settings(event)

    def _take_settings(self, event: Event) -> None:
        in_file_order = self.settings.order == "file"
        if self.acts and in_file_order and event.data.get("order", "file") != "file":
            self.replay.begin_draws()
        for name in SETTINGS:
            if name in event.data:
                setattr(self.settings, name, event.data[name])
        self.stopper = read_stopper(self.settings.until)
        self.queue.reorder()
        if "overlap" in event.data:
            for place in self.answers:
                if place not in self.queue.leases:
                    self.queue.enqueue(place)

    def _take_joined(self, event: Event) -> None:
        assert event.by is not None
        teacher = self.teachers.setdefault(event.by, Teacher(model=event.data.get("model")))
        if teacher.model is not None:
            self.replay.models.add(event.by)

    def _take_given(self, event: Event) -> None:
        assert event.by is not None
        data = event.data
        question = Question(
            event.id,
            event.by,
            self.items.place(data["item"]),
            None if data["label"] is None else self.labels.key(data["label"]),
            None if data["example"] is None else self.items.place(data["example"]),
            data["asks"],
            None if data.get("kept") is None else self.labels.key(data["kept"]),
            seconds(data["until"]),
            bool(data.get("sought", False)),
            bool(data.get("picked", False)),
            seconds(event.at),
        )
        self.questions[event.id] = question
        self.queue.give(question)

    def _take_answered(self, event: Event) -> None:
        question = self.questions[event.data["given"]]
        act = self._act(event, question.place)
        act.question = question
        act.answer = self._answer(event, question)
        act.target = self._overruled(act)
        number = self._add(act)
        self._count_label(number, 1)
        if act.target >= 0:
            self._count_label(act.target, -1)
            self.acts[act.target].changes.append(number)
            self._count_label(act.target, 1)
            self.replay.rerun_from(act.target)
        self.answers.setdefault(question.place, []).append(number)
        self.answers_to.setdefault(question.id, []).append(number)
        self.queue.release(question.teacher, question.place)
        self._requeue(act)

    def _overruled(self, act: Act) -> int:
        """The answer of a model that this answer takes the place of; -1: none.

        A person outranks a model; a model outranks another that people contradict more often.
        """
        answer, models = act.answer, self.replay.models
        assert answer is not None
        said = [
            number
            for number in self.answers.get(act.place, ())
            if self.acts[number].alive and self.replay.raw_answer(number).label is not None
        ]
        if answer.label is None or not said or self.acts[said[0]].by not in models:
            return -1
        if self.replay.raw_answer(said[0]).label == answer.label and answer.feature is None:
            return -1
        if act.by in models:
            people = any(self.acts[number].by not in models for number in said)
            if people or not self._is_believed(act.by, self.acts[said[0]].by):
                return -1
        return said[0]

    def _is_believed(self, model: str | None, other: str | None) -> bool:
        """Whether people contradict a model less often than another."""
        (slips, settled), (more, among) = self._slips(model), self._slips(other)
        return min(settled, among) >= SETTLED and slips * among < more * settled

    def _slips(self, model: str | None) -> tuple[int, int]:
        """How often people said otherwise than a model, and on how many items they spoke."""
        slips = settled = 0
        for numbers in self.answers.values():
            said = verdict = None
            for act in (self.acts[number] for number in numbers):
                if act.alive and act.answer is not None and act.answer.label is not None:
                    if act.by == model:
                        said = self.labels.same(act.answer.label)
                    elif act.by not in self.replay.models:
                        verdict = self.labels.same(act.answer.label)
            if said is not None and verdict is not None:
                settled += 1
                slips += said != verdict
        return slips, settled

    def _take_settled(self, event: Event) -> None:
        act = self._act(event, self.items.place(event.data["item"]))
        self._add(act)
        if act.place in self.queue.leases:
            self.queue.release(self.queue.leases[act.place].teacher)

    def _take_changed(self, event: Event) -> None:
        target = self.act_of[event.data["event"]]
        changed = self.acts[target]
        assert changed.question is not None
        act = self._act(event, changed.place)
        act.target = target
        act.answer = self._answer(event, changed.question)
        before = self.replay.raw_answer(target)
        self._count_label(target, -1)
        changed.changes.append(self._add(act))
        self._count_label(target, 1)
        if self.replay.raw_answer(target) != before:
            lease = self.queue.leases.get(act.place)
            if lease is not None and lease.asks == "feature":  # for the label that it had
                self.queue.release(lease.teacher)
            assert event.by is not None
            self.queue.release(event.by)  # what comes back because of the change comes first
        self._hear_change(target, before)

    def _hear_change(self, number: int, before: Answer) -> None:
        """Learn anew from an answer that was changed, unless it says what it said before."""
        if self.replay.raw_answer(number) != before:
            self.replay.rerun_from(number)
            self._requeue(self.acts[number])

    def _take_undone(self, event: Event) -> None:
        redo = event.type == "redone"
        number = self.act_of[event.data["event"]]
        whose = event.data.get("teacher", event.by)
        teacher = self.teachers[whose]
        (teacher.undone if redo else teacher.done).remove(number)
        (teacher.done if redo else teacher.undone).append(number)
        act = self._switch(number, alive=redo)
        if act.kind == "answered" and redo:
            self.queue.release(whose, act.place)  # it is answered again
            self._requeue(act)
        elif act.kind == "answered":
            self._mark(act.place)
            self.queue.release(whose)  # what they have before them can wait
            if "sweep" in event.data:  # many at once: none of them is what they look at
                self.queue.enqueue(act.place)
            else:
                self.queue.put_back(whose, act.place)

    _take_redone = _take_undone

    def _take_label_added(self, event: Event) -> None:
        self.listed.add(self.labels.add(event.data["label"]))

    def _take_label_described(self, event: Event) -> None:
        key = self.labels.must_find(event.data["label"])
        self.meanings[key] = event.data["meaning"]

    def _take_label_renamed(self, event: Event) -> None:
        act = self._act(event)
        key = self.labels.must_find(event.data["label"])
        act.data = {"key": key, "label": self.labels.name(key), "to": event.data["to"]}
        self.labels.rename(key, event.data["to"])
        self._add(act)

    def _take_labels_merged(self, event: Event) -> None:
        act = self._act(event)
        key = self.labels.must_find(event.data["label"])
        into = self.labels.must_find(event.data["into"])
        act.data = {"key": key, "target": into}
        self.labels.merge(key, into)
        self._add(act)
        self.replay.rerun_from(0)

    def _take_tag_set(self, event: Event) -> None:
        self.items.table.tag(event.data["tag"])
        self._add(self._act(event, self.items.place(event.data["item"])))

    def _take_rule_dropped(self, event: Event) -> None:
        self._add(self._act(event, self.items.place(event.data["example"])))

    def _take_rule_edited(self, event: Event) -> None:
        act = self._act(event, self.items.place(event.data["example"]))
        feature = self.items.feature(event.data["if"])
        act.answer = Answer("wrong", self.labels.key(event.data["label"]), feature)
        self._add(act)

    def _take_search(self, event: Event) -> None:
        assert event.by is not None
        where = event.data["where"]
        if where is None:
            self.queue.searches.pop(event.by, None)
            return
        self.queue.searches[event.by] = Search(self, where, event.data.get("text", ""))
        self.queue.release(event.by)  # what they have before them can wait

    def _take_swept(self, event: Event) -> None:
        assert event.by is not None
        wrong = [self.items.place(item) for item in event.data["wrong"]]
        self.queue.put_first(event.by, wrong)

    def _take_rows_added(self, event: Event) -> None:
        """The table that the state is made with has them already; what depends on its length is
        worked out anew.
        """
        self.queue.reorder()
        self.replay.grow()

    def _take_note(self, event: Event) -> None:
        self.notes.append(event)

    # -- acts

    def _act(self, event: Event, place: int = -1) -> Act:
        return Act(
            event.id, event.number, event.at, event.type, event.by, place, data=dict(event.data)
        )

    def _add(self, act: Act) -> int:
        number = len(self.acts)
        self.act_of[act.id] = number
        self.replay.add(act)
        if act.by is not None:
            teacher = self.teachers[act.by]
            teacher.done.append(number)
            teacher.undone.clear()
        return number

    def _answer(self, event: Event, question: Question) -> Answer:
        label = event.data.get("label")
        return self.read_answer(event.data, question, label and self.labels.key(label))

    def read_answer(self, said: Mapping[str, Any], question: Question, key: str | None) -> Answer:
        """An answer as the log writes it; `key` is that of its label."""
        answer = said["answer"]
        if answer == "right":
            return Answer(answer, question.label)
        if answer != "wrong":
            return Answer(answer)
        feature = None if said.get("feature") is None else self.items.feature(said["feature"])
        return Answer(answer, key, feature)

    def _switch(self, number: int, *, alive: bool) -> Act:
        """Undo or redo an act, and all that follows from it."""
        act = self.acts[number]
        before = self.replay.raw_answer(act.target) if act.kind == "changed" else None
        both = {number, act.target} - {-1}
        answers = [one for one in both if self.acts[one].kind == "answered"]
        for answer in answers:
            self._count_label(answer, -1)
        act.alive = alive
        for answer in answers:
            self._count_label(answer, 1)
        if act.kind == "label renamed":
            self.labels.rename(act.data["key"], act.data["to" if alive else "label"])
        elif act.kind == "labels merged":
            if alive:
                self.labels.merge(act.data["key"], act.data["target"])
            else:
                self.labels.part(act.data["key"])
            self.replay.rerun_from(0)
        elif before is not None:
            self._hear_change(act.target, before)
        elif act.target >= 0:
            self.replay.rerun_from(act.target)
        elif alive or act.outcome not in ("opinion", "skipped"):  # these taught nothing
            self.replay.rerun_from(number)
        return act

    def _requeue(self, act: Act) -> None:
        """Put the item of an answer where it belongs now."""
        self._mark(act.place)
        if self.replay.answer(self.act_of[act.id]).answer == "skipped":
            self.queue.put_off(act.place)
        elif act.place not in self.queue.leases:
            self.queue.enqueue(act.place)

    def _mark(self, place: int) -> None:
        """Count an item among those unsure or skipped, or no longer."""
        alive = [n for n in self.answers[place] if self.acts[n].alive]
        answers = {self.replay.raw_answer(n).answer for n in alive}
        for places, belongs in (
            (self.unsure, answers - {"skipped"} == {"unsure"}),
            (self.skipped, answers == {"skipped"}),
        ):
            places.add(place) if belongs else places.discard(place)

    def _count_label(self, number: int, times: int) -> None:
        """Count the label of an answer, or take it off."""
        label = self.replay.raw_answer(number).label
        if label is not None and self.acts[number].alive:
            self._uses[label] = self._uses.get(label, 0) + times
