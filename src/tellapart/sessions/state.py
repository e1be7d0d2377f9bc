"""The state of a session: all its events, taken in one by one.

There is one way to get here, `take`: for events as they happen, and for those of a log read back.
Events are taken as they are; whether one may happen is asked before it is written (`Session`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tellapart.errors import FormatError, TellapartError
from tellapart.review import Stopper
from tellapart.sessions.acts import Act, Said, Shown
from tellapart.sessions.config import make_learner, read_stopper
from tellapart.sessions.events import Event, seconds
from tellapart.sessions.items import Items
from tellapart.sessions.labels import Labels
from tellapart.sessions.order import Line
from tellapart.sessions.queue import Desk
from tellapart.sessions.replay import Course
from tellapart.sessions.search import Search
from tellapart.tables import Row


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

    @property
    def stopper(self) -> Stopper | None:
        return read_stopper(self.until)


@dataclass
class Teacher:
    """A teacher's acts, to be undone and redone."""

    name: str
    done: list[int] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)


class State:
    """What a log comes to."""

    def __init__(self, items: Items, opened: Event) -> None:
        data = opened.data
        self.items, self.opened = items, opened
        self.seed: int = data["seed"]
        self.number = 0
        """The number of the last event."""
        self.ids: dict[str, Event] = {}
        self.labels = Labels()
        self.listed: set[str] = set()
        """The labels that were added by themselves, and not just used."""
        self.meanings: dict[str, str] = {}
        """What labels mean, by their keys."""
        self.settings = Settings()
        self.searches: dict[str, Search] = {}
        """What teachers look for."""
        self.sought: set[int] = set()
        """Items that were given because somebody looked for them."""
        self.teachers: dict[str, Teacher] = {}
        self.shown: dict[str, Shown] = {}
        self.act_of: dict[str, int] = {}
        self.answers: dict[int, list[int]] = {}
        """The acts that answered about each item."""
        self.answer_to: dict[str, list[int]] = {}
        """The acts that answered to what was shown under an id."""
        self.notes: list[Event] = []
        self.unsure: set[int] = set()
        """Items of which all that is said is "unsure"."""
        self.skipped: set[int] = set()
        """Items of which nothing is said but "skipped"."""
        self._uses: dict[str, int] = {}
        learner = make_learner(data["learner"], data["parameters"], items.table)
        self.course = Course(items, learner, self.labels)
        self.desk = Desk(self.opinions, self.is_shared)
        self._line: Line | None = None
        self._rules: tuple[object, dict[int, int]] = (None, {})

    @property
    def acts(self) -> list[Act]:
        """Everything that can be undone, in order."""
        return self.course.acts

    @property
    def line(self) -> Line:
        """The items nobody has seen, in their order."""
        if self._line is None:
            self._line = Line(len(self.items), self.settings.order, self.seed)
        return self._line

    def opinions(self, place: int) -> dict[str, str]:
        """Who says what of an item, skipping apart."""
        return {by: self.course.said(n).answer for by, n in self.voices(place).items()}

    def voices(self, place: int) -> dict[str, int]:
        """Each teacher's last answer about an item."""
        found: dict[str, int] = {}
        for number in self.answers.get(place, ()):
            act = self.acts[number]
            if act.alive and act.by is not None and self.course.said(number).answer != "skipped":
                found[act.by] = number
        return found

    def is_shared(self, place: int) -> bool:
        """Whether an item is among those that two teachers are asked about."""
        share = self.settings.overlap
        if share <= 0 or share >= 1:
            return share >= 1
        digest = hashlib.blake2b(f"{self.seed} {place}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") < share * 2**64

    def rules_of(self, places: Sequence[int]) -> dict[int, int]:
        """The rule that covers each of some items, by its example; -1 where there is none.

        Kept from one call to the next while the model is the same: items are asked for again.
        """
        model = self.course.now.learner.model
        kept = self._rules[1] if self._rules[0] is model else {}
        new = [place for place in places if place not in kept]
        found = {place: kept[place] for place in places if place in kept}
        for place, item in zip(new, self.items.fetch(new), strict=True):
            example = self.course.now.learner.guess(item).example
            found[place] = example.place if isinstance(example, Row) else -1
        self._rules = (model, found)
        return found

    def label_keys(self) -> list[str]:
        """The labels there are: those added, and those in use."""
        used = {self.labels.same(key) for key, times in self._uses.items() if times > 0}
        used |= {self.labels.same(key) for key in self.listed}
        return [key for key in self.labels.current() if key in used]

    def _mark(self, place: int) -> None:
        """Count an item among those unsure or skipped, or no longer."""
        said = [self.course.words(n).answer for n in self.answers[place] if self.acts[n].alive]
        firm = [answer for answer in said if answer != "skipped"]
        for places, belongs in (
            (self.unsure, firm and set(firm) == {"unsure"}),
            (self.skipped, said and not firm),
        ):
            places.add(place) if belongs else places.discard(place)

    def _tally(self, number: int, times: int) -> None:
        """Count the label of an answer, or take it off."""
        label = self.course.words(number).label
        if label is not None and self.acts[number].alive:
            self._uses[label] = self._uses.get(label, 0) + times

    # -- taking events in

    @classmethod
    def of(cls, items: Items, events: Sequence[Event]) -> State:
        """The state after a whole log."""
        state = cls(items, events[0])
        with state.course.at_once():
            for event in events:
                state.take(event)
        return state

    def take(self, event: Event) -> None:
        """One more event."""
        if event.number != self.number + 1:
            raise FormatError(f"event {self.number + 1} is missing: after it comes {event.number}")
        try:
            self._ways[event.type](self, event)
        except TellapartError as error:
            raise FormatError(f"event {event.number} ({event.type}): {error}") from error
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise FormatError(
                f"event {event.number} ({event.type}) does not fit what came before: {error!r}"
            ) from error
        self.number = event.number
        self.ids[event.id] = event

    def _opened(self, event: Event) -> None:
        for name in event.data.get("labels", ()):
            self.listed.add(self.labels.key(name))
        self._settings(event)

    def _settings(self, event: Event) -> None:
        for name in ("order", "overlap", "lease", "until"):
            if name in event.data:
                setattr(self.settings, name, event.data[name])
        self._line = None
        if "overlap" in event.data:
            for place in self.answers:
                if place not in self.desk.leases:
                    self.desk.file(place)

    def _joined(self, event: Event) -> None:
        assert event.by is not None
        self.teachers.setdefault(event.by, Teacher(event.by))

    def _given(self, event: Event) -> None:
        assert event.by is not None
        data = event.data
        shown = Shown(
            event.id,
            event.by,
            self.items.place(data["item"]),
            None if data["label"] is None else self.labels.key(data["label"]),
            None if data["example"] is None else self.items.place(data["example"]),
            data["asks"],
            None if data.get("kept") is None else self.labels.key(data["kept"]),
            seconds(data["until"]),
            bool(data.get("sought", False)),
        )
        if shown.sought:
            self.sought.add(shown.place)
        self.shown[event.id] = shown
        self.desk.give(shown)

    def _answered(self, event: Event) -> None:
        shown = self.shown[event.data["given"]]
        act = self._act(event, shown.place)
        act.shown = shown
        act.said = self._said(event, shown)
        number = self._add(act)
        self._tally(number, 1)
        self.answers.setdefault(shown.place, []).append(number)
        self.answer_to.setdefault(shown.id, []).append(number)
        held = self.desk.held.get(shown.teacher)
        if held is not None and held.place == shown.place:
            self.desk.leave(shown.teacher)
        self._refile(act)

    def _refile(self, act: Act) -> None:
        self._mark(act.place)
        if self.course.said(self.act_of[act.id]).answer == "skipped":
            self.desk.skip(act.place, len(self.acts))
        elif act.place not in self.desk.leases:
            self.desk.file(act.place)

    def _settled(self, event: Event) -> None:
        self._add(self._act(event, self.items.place(event.data["item"])))

    def _changed(self, event: Event) -> None:
        target = self.act_of[event.data["event"]]
        changed = self.acts[target]
        assert changed.shown is not None
        act = self._act(event, changed.place)
        act.target = target
        act.said = self._said(event, changed.shown)
        self._tally(target, -1)
        changed.changes.append(self._add(act))
        self._tally(target, 1)
        self.course.again(target)
        self._refile(changed)

    def _undone(self, event: Event) -> None:
        assert event.by is not None
        number = self.act_of[event.data["event"]]
        teacher = self.teachers[event.by]
        teacher.done.remove(number)
        teacher.undone.append(number)
        act = self._turn(number, alive=False)
        if act.kind == "answered":
            self._mark(act.place)
            self.desk.leave(event.by)  # what they have before them can wait
            self.desk.undo(event.by, act.place, len(self.acts))

    def _redone(self, event: Event) -> None:
        assert event.by is not None
        number = self.act_of[event.data["event"]]
        teacher = self.teachers[event.by]
        teacher.undone.remove(number)
        teacher.done.append(number)
        act = self._turn(number, alive=True)
        if act.kind == "answered":
            held = self.desk.held.get(event.by)
            if held is not None and held.place == act.place:
                self.desk.leave(event.by)  # it is answered again
            self._refile(act)

    def _turn(self, number: int, *, alive: bool) -> Act:
        """Switch an act off or on."""
        act = self.acts[number]
        answer = act.target if act.kind == "changed" else number
        is_answer = self.acts[answer].kind == "answered"
        if is_answer:
            self._tally(answer, -1)
        act.alive = alive
        if is_answer:
            self._tally(answer, 1)
        self._switch(number, act)
        return act

    def _switch(self, number: int, act: Act) -> None:
        """An act has been undone or redone: bring everything there."""
        if act.kind == "label renamed":
            self.labels.rename(act.data["key"], act.data["to" if act.alive else "label"])
        elif act.kind == "labels merged":
            if act.alive:
                self.labels.merge(act.data["key"], act.data["target"])
            else:
                self.labels.part(act.data["key"])
            self.course.again(0)
        elif act.kind == "changed":
            self.course.again(act.target)
            self._refile(self.acts[act.target])
        elif act.kind != "answered" or not self._is_idle(number, act):
            self.course.again(number)

    def _is_idle(self, number: int, act: Act) -> bool:
        """Whether an answer that is switched off taught nothing, and nothing rests on it."""
        return not act.alive and act.outcome in ("opinion", "skipped")

    def _label_added(self, event: Event) -> None:
        self.listed.add(self.labels.add(event.data["label"]))

    def _label_described(self, event: Event) -> None:
        key = self.labels.must_find(event.data["label"])
        self.meanings[key] = event.data["meaning"]

    def _label_renamed(self, event: Event) -> None:
        act = self._act(event)
        key = self.labels.must_find(event.data["label"])
        act.data = {"key": key, "label": self.labels.name(key), "to": event.data["to"]}
        self.labels.rename(key, event.data["to"])
        self._add(act)

    def _labels_merged(self, event: Event) -> None:
        act = self._act(event)
        key = self.labels.must_find(event.data["label"])
        into = self.labels.must_find(event.data["into"])
        act.data = {"key": key, "target": into}
        self.labels.merge(key, into)
        self._add(act)
        self.course.again(0)

    def _tag_set(self, event: Event) -> None:
        self.items.table.tag(event.data["tag"])
        self._add(self._act(event, self.items.place(event.data["item"])))

    def _rule_dropped(self, event: Event) -> None:
        self._add(self._act(event, self.items.place(event.data["example"])))

    def _rule_edited(self, event: Event) -> None:
        act = self._act(event, self.items.place(event.data["example"]))
        feature = self.items.feature(event.data["if"])
        act.said = Said("wrong", self.labels.key(event.data["label"]), feature)
        self._add(act)

    def _search(self, event: Event) -> None:
        assert event.by is not None
        where = event.data["where"]
        if where is None:
            self.searches.pop(event.by, None)
            return
        self.searches[event.by] = Search(self, where, event.data.get("text", ""))
        self.desk.leave(event.by)  # what they have before them can wait

    def _note(self, event: Event) -> None:
        self.notes.append(event)

    def _act(self, event: Event, place: int = -1) -> Act:
        return Act(
            event.id, event.number, event.at, event.type, event.by, place, data=dict(event.data)
        )

    def _add(self, act: Act) -> int:
        number = len(self.acts)
        self.act_of[act.id] = number
        self.course.add(act)
        if act.by is not None:
            teacher = self.teachers[act.by]
            teacher.done.append(number)
            teacher.undone.clear()
        return number

    def _said(self, event: Event, shown: Shown) -> Said:
        data, answer = event.data, event.data["answer"]
        if answer == "right":
            return Said(answer, shown.label)
        if answer != "wrong":
            return Said(answer)
        feature = None if data.get("feature") is None else self.items.feature(data["feature"])
        return Said(answer, self.labels.key(data["label"]), feature)

    _ways: ClassVar[dict[str, Callable[[State, Event], None]]] = {
        "opened": _opened,
        "joined": _joined,
        "given": _given,
        "answered": _answered,
        "settled": _settled,
        "undone": _undone,
        "redone": _redone,
        "changed": _changed,
        "label added": _label_added,
        "label described": _label_described,
        "label renamed": _label_renamed,
        "labels merged": _labels_merged,
        "tag set": _tag_set,
        "rule dropped": _rule_dropped,
        "rule edited": _rule_edited,
        "settings": _settings,
        "search": _search,
        "note": _note,
    }
