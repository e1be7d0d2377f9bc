"""What a log says, from the log alone: no table, no learner, nothing that can fail but the log.

`History.take` folds in one event, of those that happen as of those read back. It takes every event
as it is; whether one may happen is checked before it is written. Items are known by keys: by their
ids as the log writes them, or by whatever `key` makes of these. Features are texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unicodedata import normalize

from tellapart.errors import FormatError, ParameterError, TellapartError
from tellapart.sessions.events import NEEDS, AnswerWord, Event, seconds

NONSENSE = (LookupError, TypeError, AttributeError, ValueError, AssertionError)
"""What taking in an event raises that does not fit those before it."""
SETTLED = 10
"""Of so many answers of each of two models people must have spoken before one is believed more."""

MOST_LABELS, MOST_CHARACTERS = 1_000, 50_000
"""So many labels a session may have, with so many characters in all: each question shows them."""

LEAST_SURE = "least sure"
"""An order of older versions; it is read as "mixed"."""
COLUMN = "column "
"""So begins the name of the teacher whose answers are the labels of a column."""

Key = Any
"""An item: its place in the table, or its id where there is none."""


def is_column(teacher: str | None) -> bool:
    """Whether a teacher is a column whose labels were taken as first answers, and no person."""
    return teacher is not None and teacher.startswith(COLUMN)


def id_key(written: Any) -> Hashable:
    """The key of an item without a table: its id, as text where it is no plain value."""
    plain = isinstance(written, str | int | float | bool)
    return written if plain else json.dumps(written, sort_keys=True)


@dataclass
class Settings:
    """What can be switched at any time."""

    order: str = "file"
    overlap: float = 0.0
    """The share of items that two teachers are asked about."""
    lease: float = 600.0
    """Seconds an item is kept for a teacher."""
    until: Any = None
    """A stopper, as JSON."""
    unsure: str = "label"
    """What rules, exports and predictions say where a rule's error may be above `error`: "label"
    (its label all the same) or "null" (nothing: the row is left for a person)."""
    error: float = 0.05
    assignments: dict[str, Any] = field(default_factory=dict)
    """Who gets which rows: {teacher: {"where": condition}}."""
    title: str = ""
    """The column that rows are called by; empty: the one that a person would choose."""
    articles: dict[str, str] = field(default_factory=dict)
    """The articles of labels that were typed with one: {"mammal": "a"}."""


class Labels:
    """Labels by key: what a label is called may change, what it is does not.

    A learner is told keys, so that a new name costs nothing. The key of a label is its first name
    (with a number, if another label was called that before). An old name still means its label
    until another takes it: a page that was open during the change sends the old one.

    >>> labels = Labels()
    >>> bird = labels.key("brid")
    >>> labels.rename(bird, "bird")
    >>> labels.name(bird), labels.key("brid") == labels.key("bird") == bird
    ('bird', True)
    """

    def __init__(self) -> None:
        self._name: dict[str, str] = {}
        self._key: dict[str, str] = {}
        self._into: dict[str, str] = {}

    def find(self, name: str) -> str | None:
        key = self._key.get(name)
        return None if key is None else self.same(key)

    def key(self, name: str) -> str:
        """The key of the label that `name` means; a new label if there is none."""
        return self.find(name) or self.add(name)

    def add(self, name: str) -> str:
        """A new label; it takes the name even if another label had it once."""
        key, number = name, 1
        while key in self._name:
            number += 1
            key = f"{name} ({number})"
        self._name[key] = name
        self._key[name] = key
        return key

    def name(self, key: str) -> str:
        return self._name[self.same(key)]

    def same(self, key: str) -> str:
        """The label that this one was merged into, or itself."""
        while key in self._into:
            key = self._into[key]
        return key

    def rename(self, key: str, name: str) -> None:
        self._name[key] = name
        self._key[name] = key

    def merge(self, key: str, into: str) -> None:
        self._into[key] = into

    def part(self, key: str) -> None:
        del self._into[key]

    def current(self) -> list[str]:
        """The keys of all labels there are, in order of their coming."""
        return [key for key in self._name if key not in self._into]

    def check_free(self, name: str, but: str | None = None) -> None:
        """Raise `ParameterError` if some label other than `but` is called `name` now, or looks so;
        or if there is no room for one more.
        """
        others = [self._name[key] for key in self.current() if key != but]
        form = normalize("NFC", name)
        if (same := next((one for one in others if normalize("NFC", one) == form), None)) is None:
            _check_room([*others, name])
            return
        raise ParameterError(
            f"there is a label {same!r} already; choose another name, or merge the two"
        )

    def spelled(self, name: str) -> str:
        """The name of a label as it is written here: people see no difference between the Unicode
        forms of a letter. A new label needs room.
        """
        if self.find(name) is not None:
            return name
        form = normalize("NFC", name)
        known = [self._name[key] for key in self.current()]
        if (same := next((one for one in known if normalize("NFC", one) == form), None)) is None:
            _check_room([*known, name])
        return same or name

    def must_find(self, name: str) -> str:
        """The key of a label that must be there."""
        key = self.find(name)
        if key is None:
            known = ", ".join(repr(self._name[key]) for key in self.current()) or "none yet"
            raise ParameterError(f"there is no label {name!r}; labels are: {known}")
        return key


def _check_room(names: Sequence[str]) -> None:
    """Raise `ParameterError` if there are too many labels: every question shows all of them."""
    characters = sum(map(len, names))
    if len(names) > MOST_LABELS or characters > MOST_CHARACTERS:
        raise ParameterError(
            f"a session has at most {MOST_LABELS:,} labels with {MOST_CHARACTERS:,} characters in"
            f" all, and these are {len(names):,} with {characters:,}; use a label that is there,"
            " or merge some"
        )


class Question(NamedTuple):
    """What a teacher was shown: the item, and the guess with its example."""

    id: str
    teacher: str
    item: Key
    label: str | None
    """The key of the label guessed."""
    example: Key
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
    answer: AnswerWord
    label: str | None = None
    """The key of the label: for a right guess, the guess's."""
    feature: str | None = None


@dataclass(slots=True)
class Act:
    """An event that can be undone, or that settles what waits."""

    number: int
    """Among the acts, from 0."""
    event: Event
    item: Key = None
    question: Question | None = None
    answer: Answer | None = None
    target: int = -1
    """The act that this one changes."""
    changes: list[int] = field(default_factory=list)
    """The acts that change this one."""
    labels: tuple[str, str, str] = ("", "", "")
    """Of a label renamed: its key, its name before, and after. Of labels merged: the key, and twice
    the one it is merged into."""
    alive: bool = True

    @property
    def by(self) -> str | None:
        return self.event.by

    @property
    def kind(self) -> str:
        return self.event.type

    @property
    def id(self) -> str:
        return self.event.id


@dataclass
class Teacher:
    done: list[int] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)
    model: str | None = None
    """The name of the language model that answers; None for a person."""


class History:
    """What was said in a session, and by whom.

    A person's answer about an item takes the place of a language model's; a model's that of another
    that people contradict more often.
    """

    def __init__(self, key: Callable[[Any], Key] = id_key) -> None:
        self.key = key
        self.number = 0
        """The number of the last event."""
        self.ids: dict[str, Event] = {}
        self.labels = Labels()
        self.meanings: dict[str, str] = {}
        """What labels mean, by their keys."""
        self.settings = Settings()
        self.teachers: dict[str, Teacher] = {}
        self.models: set[str] = set()
        """The teachers that are language models."""
        self.questions: dict[str, Question] = {}
        self.acts: list[Act] = []
        """Everything that can be undone, in order."""
        self.act_of: dict[str, int] = {}
        self.answers: dict[Key, list[int]] = {}
        """The acts that answered about each item."""
        self.answers_to: dict[str, list[int]] = {}
        """The acts that answered each question, by its id."""
        self.searches: dict[str, Event] = {}
        """What each teacher searches for."""
        self.notes: list[Event] = []
        self.unsure: set[Key] = set()
        """Items about which every answer is "unsure"."""
        self.skipped: set[Key] = set()
        """Items about which every answer is "skipped"."""
        self.grown: set[int] = set()
        """Before which acts the table got more rows, or draws began: no guess until then says
        anything of the rows left."""
        self.changed_from = 0
        """The first act that means something else than when the learner last followed."""
        self._uses: dict[str, int] = {}
        """How often each label is said or was added, in the order of their coming."""

    @classmethod
    def of(cls, events: Iterable[Event], key: Callable[[Any], Key] = id_key) -> History:
        """What a whole log says."""
        history = cls(key)
        for event in events:
            history.take(event)
        return history

    @property
    def opened(self) -> Event:
        """The first event."""
        return next(iter(self.ids.values()))

    # -- reading

    def acts_of(self, teacher: str) -> Teacher:
        """What a teacher did; nothing, if nobody of that name has joined."""
        return self.teachers.get(teacher) or Teacher()

    def answer(self, number: int) -> Answer:
        """An answer after all changes, with labels as they are merged now."""
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

    def opinions(self, item: Key) -> dict[str, str]:
        """Each teacher's last answer about an item, "skipped" left out."""
        return {by: self.raw_answer(n).answer for by, n in self.voices(item).items()}

    def voices(self, item: Key) -> dict[str, int]:
        """The act of each teacher's last answer about an item, "skipped" left out."""
        found: dict[str, int] = {}
        for number in self.answers.get(item, ()):
            act = self.acts[number]
            if act.alive and act.by is not None and self.raw_answer(number).answer != "skipped":
                found[act.by] = number
        return found

    def is_settled_by_person(self, item: Key) -> bool:
        """Whether a person has said something about an item, or changed a model's answer."""
        if any(name not in self.models for name in self.voices(item)):
            return True
        changes = (c for n in self.answers.get(item, ()) for c in self.acts[n].changes)
        return any(self.acts[c].alive and self.acts[c].by not in self.models for c in changes)

    def changes_of(self, number: int) -> list[Act]:
        """The changes of an answer that are in force; the last one counts."""
        return [self.acts[n] for n in self.acts[number].changes if self.acts[n].alive]

    def is_confirmed(self, number: int) -> bool:
        """Whether a person looked at an answer again, last, and said the same once more."""
        changes = self.changes_of(number)
        return bool(changes) and self.is_confirmation(changes[-1].number)

    def has_settled(self, number: int) -> bool:
        changes = self.changes_of(number)
        return bool(changes) and "settles" in changes[-1].event.data

    def is_confirmation(self, change: int) -> bool:
        """Whether an act is a person's change that says what the answer said before it."""
        act = self.acts[change]
        if act.kind != "changed" or act.by in self.models:
            return False
        earlier = [one.number for one in self.changes_of(act.target) if one.number < change]
        return self._said(change) == self._said(earlier[-1] if earlier else act.target)

    def _said(self, number: int) -> Answer:
        """What one act says, with labels as they are merged now."""
        answer = self.acts[number].answer
        assert answer is not None
        return answer._replace(label=answer.label and self.labels.same(answer.label))

    def outcome(self, number: int) -> str | None:
        """What became of an answer as far as the log knows; a learner may know better."""
        act, answer = self.acts[number], self.answer(number)
        if not act.alive or act.question is None:
            return None
        if answer.label is None:
            return answer.answer
        firm = (n for n in self.answers[act.item] if self.acts[n].alive and self.answer(n).label)
        if next(firm) != number:
            return "opinion"
        if act.question.label is None:
            return "label"
        return "right" if answer.label == self.labels.same(act.question.label) else "mistake"

    def label_keys(self) -> list[str]:
        """The labels there are, in the order of their coming: those added, and those in use. One
        that no answer has any more is forgotten, and comes anew with the next."""
        return list(dict.fromkeys(map(self.labels.same, self._uses)))

    def name(self, key: Any) -> str | None:
        return None if key is None else self.labels.name(str(key))

    # -- taking events in

    def take(self, event: Event) -> bool:
        """Take one event in; returns whether an answer that it changes says something else now."""
        if event.number != self.number + 1:
            raise FormatError(f"event {self.number + 1} is missing: after it comes {event.number}")
        try:
            changed = getattr(self, f"_take_{event.type.replace(' ', '_')}")(event)
        except TellapartError as error:
            raise FormatError(f"event {event.number} ({event.type}): {error}") from error
        except NONSENSE as error:
            if event.type not in NEEDS:
                event.check()  # which says that a newer version may have written it
            raise FormatError(
                f"event {event.number} ({event.type}) does not fit what came before: {error!r}"
            ) from error
        self.number = event.number
        self.ids[event.id] = event
        return bool(changed)

    def _take_opened(self, event: Event) -> None:
        for rule in event.data.get("rules", ()):
            self.labels.key(rule["label"])
        for name in event.data.get("labels", ()):
            self._use_label(self.labels.key(name), 1)
        self._take_settings(event)

    def _take_settings(self, event: Event) -> None:
        in_file_order = self.settings.order == "file"
        if self.acts and in_file_order and event.data.get("order", "file") != "file":
            self.grown.add(len(self.acts))
        for name in vars(self.settings):
            if name in event.data:
                setattr(self.settings, name, event.data[name])
        if self.settings.order == LEAST_SURE:
            self.settings.order = "mixed"

    def _take_joined(self, event: Event) -> None:
        assert event.by is not None
        teacher = self.teachers.setdefault(event.by, Teacher(model=event.data.get("model")))
        if teacher.model is not None:
            self.models.add(event.by)

    def _take_given(self, event: Event) -> None:
        assert event.by is not None
        data = event.data
        self.questions[event.id] = Question(
            event.id,
            event.by,
            self.key(data["item"]),
            None if data["label"] is None else self.labels.key(data["label"]),
            None if data["example"] is None else self.key(data["example"]),
            data["asks"],
            None if data.get("kept") is None else self.labels.key(data["kept"]),
            seconds(data["until"]),
            bool(data.get("sought", False)),
            bool(data.get("picked", False)),
            seconds(event.at),
        )

    def _take_answered(self, event: Event) -> bool:
        question = self.questions[event.data["given"]]
        answer = self._answer(event, question)
        target = self._overruled(event.by, question.item, answer)
        act = self._add(event, question.item)
        act.question, act.answer, act.target = question, answer, target
        self._count_label(act.number, 1)
        if target >= 0:
            self._change(target, act)
        self.answers.setdefault(act.item, []).append(act.number)
        self.answers_to.setdefault(question.id, []).append(act.number)
        self._mark(act.item)
        return target >= 0

    def _overruled(self, by: str | None, item: Key, answer: Answer) -> int:
        """The answer of a model that this answer takes the place of; -1: none.

        A person outranks a model; a model outranks another that people contradict more often.
        """
        said = [
            number
            for number in self.answers.get(item, ())
            if self.acts[number].alive and self.raw_answer(number).label is not None
        ]
        if answer.label is None or not said or self.acts[said[0]].by not in self.models:
            return -1
        if self.raw_answer(said[0]).label == answer.label and answer.feature is None:
            return -1
        if by in self.models:
            people = any(self.acts[number].by not in self.models for number in said)
            if people or not self._is_believed(by, self.acts[said[0]].by):
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
                    elif act.by not in self.models:
                        verdict = self.labels.same(act.answer.label)
            if said is not None and verdict is not None:
                settled += 1
                slips += said != verdict
        return slips, settled

    def _take_changed(self, event: Event) -> bool:
        target = self.acts[self.act_of[event.data["event"]]]
        assert target.question is not None
        answer = self._answer(event, target.question)
        act = self._add(event, target.item)
        act.target, act.answer = target.number, answer
        return self._change(target.number, act)

    def _change(self, number: int, act: Act) -> bool:
        """An answer is changed by an act; returns whether it says something else now."""
        before = self.raw_answer(number)
        self._count_label(number, -1)
        self.acts[number].changes.append(act.number)
        self._count_label(number, 1)
        self._forget_unused_labels()
        return self._hear_change(number, before)

    def _hear_change(self, number: int, before: Answer) -> bool:
        if self.raw_answer(number) == before:
            return False
        self._touch(number)
        self._mark(self.acts[number].item)
        return True

    def _take_undone(self, event: Event) -> bool:
        redo = event.type == "redone"
        number = self.act_of[event.data["event"]]
        teacher = self.teachers[event.data.get("teacher", event.by)]
        (teacher.undone if redo else teacher.done).remove(number)
        (teacher.done if redo else teacher.undone).append(number)
        act = self.acts[number]
        before = self.raw_answer(act.target) if act.target >= 0 else None
        answers = [n for n in {number, act.target} - {-1} if self.acts[n].question is not None]
        for answer in answers:
            self._count_label(answer, -1)
        act.alive = redo
        for answer in answers:
            self._count_label(answer, 1)
        self._forget_unused_labels()
        key, was, to = act.labels
        if act.kind == "label renamed":
            self.labels.rename(key, to if redo else was)
        elif act.kind == "labels merged":
            self.labels.merge(key, to) if redo else self.labels.part(key)
            self._touch(0)
        elif act.kind != "changed":
            self._touch(number)
            if act.kind == "answered":
                self._mark(act.item)
        return before is not None and self._hear_change(act.target, before)

    _take_redone = _take_undone

    def _take_settled(self, event: Event) -> None:
        self._add(event, self.key(event.data["item"]))

    def _take_label_added(self, event: Event) -> None:
        self._use_label(self.labels.add(event.data["label"]), 1)

    def _take_label_described(self, event: Event) -> None:
        self.meanings[self.labels.must_find(event.data["label"])] = event.data["meaning"]

    def _take_label_renamed(self, event: Event) -> None:
        key = self.labels.must_find(event.data["label"])
        self._add(event).labels = (key, self.labels.name(key), event.data["to"])
        self.labels.rename(key, event.data["to"])

    def _take_labels_merged(self, event: Event) -> None:
        key, into = (self.labels.must_find(event.data[name]) for name in ("label", "into"))
        self._add(event).labels = (key, into, into)
        self.labels.merge(key, into)
        self._touch(0)

    def _take_tag_set(self, event: Event) -> None:
        self._add(event, self.key(event.data["item"]))

    def _take_rule_dropped(self, event: Event) -> None:
        self._add(event, self.key(event.data["example"]))

    def _take_rule_edited(self, event: Event) -> None:
        act = self._add(event, self.key(event.data["example"]))
        act.answer = Answer("wrong", self.labels.key(event.data["label"]), event.data["if"])

    def _take_search(self, event: Event) -> None:
        assert event.by is not None
        self.searches.pop(event.by, None)
        if event.data["where"] is not None:
            self.searches[event.by] = event

    def _take_swept(self, event: Event) -> None:
        """Its answers are events of their own."""

    def _take_rows_added(self, event: Event) -> None:
        self.grown.add(len(self.acts))
        self._touch(0)

    def _take_note(self, event: Event) -> None:
        self.notes.append(event)

    # -- acts

    def _add(self, event: Event, item: Key = None) -> Act:
        act = Act(len(self.acts), event, item)
        if event.by is not None:
            teacher = self.teachers[event.by]
            teacher.done.append(act.number)
            teacher.undone.clear()
        self.act_of[event.id] = act.number
        self.acts.append(act)
        return act

    def _answer(self, event: Event, question: Question) -> Answer:
        said = event.data
        if said["answer"] == "right":
            return Answer("right", question.label)
        if said["answer"] != "wrong":
            return Answer(said["answer"])
        label = said.get("label")
        return Answer("wrong", label and self.labels.key(label), said.get("feature"))

    def _touch(self, number: int) -> None:
        self.changed_from = min(self.changed_from, number)

    def _mark(self, item: Key) -> None:
        alive = [n for n in self.answers[item] if self.acts[n].alive]
        answers = {self.raw_answer(n).answer for n in alive}
        for items, belongs in (
            (self.unsure, answers - {"skipped"} == {"unsure"}),
            (self.skipped, answers == {"skipped"}),
        ):
            items.add(item) if belongs else items.discard(item)

    def _count_label(self, number: int, times: int) -> None:
        label = self.raw_answer(number).label
        if label is not None and self.acts[number].alive:
            self._use_label(label, times)

    def _use_label(self, label: str, times: int) -> None:
        self._uses[label] = self._uses.get(label, 0) + times

    def _forget_unused_labels(self) -> None:
        for label in [label for label, times in self._uses.items() if not times]:
            del self._uses[label]
