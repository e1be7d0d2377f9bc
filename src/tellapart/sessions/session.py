"""A session: people teach a learner about the items of a table, and nothing they say is lost.

    store = Store.beside("zoo.csv")                       # or Store("postgresql://...")
    session = Session.new(store, "zoo", "zoo.csv", reading={"id": "name"})
    given = session.next("Ann")                           # Given, or Ending when nothing is left
    session.answer("Ann", given.id, "wrong", "bird", "feathers")
    session.undo("Ann")

Every change is one event (`events`), committed to the log before the method returns; the state is
what the log comes to (`state`). Each method that writes takes `id=`, made by the client: a repeat
with the same id changes nothing and returns what the first one did. Methods may be called from many
threads. What may not be is refused before anything is written: `ParameterError` and `FeatureError`
for what was sent, `ProtocolError` for what is out of turn, `StoreError` when the database fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tellapart
from tellapart import codec
from tellapart.errors import ProtocolError, SessionError
from tellapart.learners.by_name import parse_learner
from tellapart.review import Stopper
from tellapart.sessions import summary
from tellapart.sessions.config import DEFAULT, make_learner, with_columns
from tellapart.sessions.events import FORMAT, Event, new_id, same, stamp
from tellapart.sessions.items import check_same, fingerprint
from tellapart.sessions.question import ask, choose, is_still
from tellapart.sessions.replies import Ending, Given, Saved
from tellapart.sessions.saying import Saying
from tellapart.sessions.state import State
from tellapart.sessions.store import Store
from tellapart.sessions.validation import check_answer, check_settings, check_text, write_answer
from tellapart.tables import Table, read_table


class Session(Saying):
    """See the top of this file; `Session.new` and `Session.open` make one.

    >>> from tempfile import TemporaryDirectory
    >>> zoo = Table({"name": ["bear", "duck", "lion"], "wings": [False, True, False]}, id="name")
    >>> with TemporaryDirectory() as folder, Store(Path(folder, "zoo.db")) as store:
    ...     with Session.new(store, "zoo", zoo, learner="DFF") as session:
    ...         given = session.next("Ann")
    ...         first = session.answer("Ann", given.id, "wrong", "mammal")
    ...         given = session.next("Ann")
    ...         second = session.answer("Ann", given.id, "wrong", "bird", "wings")
    ...         given.guess.label, first.outcome, second.outcome, str(session.model)
    ('mammal', 'label', 'mistake', 'always: bird, like duck\\nelse: mammal, like bear')
    """

    # -- begin and end

    @classmethod
    def new(
        cls,
        store: Store,
        name: str,
        table: Table | str | Path,
        *,
        learner: str = DEFAULT,
        parameters: Mapping[str, Any] | None = None,
        labels: Sequence[str] = (),
        order: str = "file",
        overlap: float = 0.0,
        lease: float = 600.0,
        until: Stopper | Mapping[str, Any] | None = None,
        seed: int = 0,
        reading: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Session:
        """Begin a session.

        Parameters
        ----------
        table : Table or path
            What to teach about. A path is remembered, so that `open` needs none; `reading` are the
            arguments of `read_table` for it.
        learner, parameters
            A learner as `learners.by_name` writes it ("capped:m=7"), and more arguments for it. One
            that may look at columns, such as AutoDFF, is shown what the table shows at first sight
            (`Table.features`).
        labels
            Labels to choose from at first; others may come.
        order : {"file", "random", "least sure"}
        overlap : float in [0, 1]
            The share of items that two teachers are asked about.
        lease : float
            Seconds an item is kept for a teacher.
        until : stopper
            When one may stop; `review` has stoppers.
        """
        check_text("the name of a session", name)
        learner, given = parse_learner(learner)
        parameters = {**given, **(parameters or {})}
        make_learner(learner, parameters)
        source: dict[str, Any] = {}
        if not isinstance(table, Table):
            source = {"path": str(Path(table).absolute()), **dict(reading or {})}
            table = read_table(table, **dict(reading or {}))
        settings = check_settings(
            {"order": order, "overlap": overlap, "lease": lease, "until": until}
        )
        for label in labels:
            check_text("a label", label)
        told = codec.encode(with_columns(learner, parameters, table))
        make_learner(learner, told, table)  # what cannot be opened again is not begun
        data = {
            "tellapart": "session",
            "format": FORMAT,
            "version": tellapart.__version__,
            "name": name,
            "table": fingerprint(table),
            "source": source,
            "learner": learner,
            "parameters": told,
            "seed": seed,
            "labels": list(dict.fromkeys(labels)),
            **settings,
        }
        store.add(name, [Event(1, new_id(), stamp(clock()), "opened", None, data)])
        return cls(store, name, table, clock=clock)

    @classmethod
    def open(
        cls,
        store: Store,
        name: str,
        table: Table | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> Session:
        """Go on with a session. The table must be the one it began with, cell by cell."""
        opened = store.opened(name).data
        if table is None:
            source = dict(opened.get("source") or {})
            if "path" not in source:
                raise SessionError(f"the session {name!r} has no file to read: give its table")
            table = read_table(source.pop("path"), **source)
        check_same(table, opened["table"])
        return cls(store, name, table, clock=clock)

    # -- the conversation

    def join(self, teacher: str, *, id: str | None = None) -> Saved:
        """A teacher comes in; to come again changes nothing."""
        with self._ready() as state:
            return self._join(state, teacher, id)

    def next(self, teacher: str, *, id: str | None = None) -> Given | Ending:
        """The next item for a teacher: the one they have already, if they have one."""
        with self._ready() as state:
            if id is not None and id in state.ids:
                self._repeat(state, id, "given", teacher)
                return summary.given(state, state.shown[id])
            self._join(state, teacher, None)
            now = self._clock()
            state.desk.expire(now)
            held = state.desk.held.get(teacher)
            place, sought = (
                (held.place, held.sought) if held is not None else self._choose(state, teacher)
            )
            if place is None:
                return Ending(summary.summary(state), len(state.desk.leases))
            question = ask(state, place)
            if held is not None and is_still(held, question, state, now):
                return summary.given(state, held)
            guess, kept = question.guess, question.kept
            data = {
                "item": state.items.write(state.items.row(place)),
                "label": summary.name_of(state, guess.label),
                "example": None if guess.example is None else state.items.write(guess.example),
                "asks": question.asks,
                **({} if kept is None else {"kept": state.labels.name(kept)}),
                **({"sought": True} if sought else {}),
                "until": stamp(now + state.settings.lease),
            }
            event = self._append(state, "given", teacher, data, id)
            return summary.given(state, state.shown[event.id])

    def _choose(self, state: State, teacher: str) -> tuple[int | None, bool]:
        def settle(place: int) -> None:
            item = state.items.write(state.items.row(place))
            self._append(state, "settled", None, {"item": item}, None)

        return choose(state, teacher, settle)

    def answer(
        self,
        teacher: str,
        given: str,
        answer: str,
        label: str | None = None,
        feature: str | None = None,
        *,
        id: str | None = None,
    ) -> Saved:
        """Answer to what was given under an id: right, wrong, unsure or skipped.

        A wrong guess needs the right `label`, and a `feature` (an SQL condition) that holds on the
        item and not on the example, or none if the teacher cannot say why. When the label was
        asked, there was no guess: answer "wrong" with the label alone.
        """
        with self._ready() as state:
            shown = state.shown.get(given)
            if shown is None:
                raise ProtocolError(f"nothing was given under the id {given!r}")
            said = write_answer(state, shown, answer, label, feature)
            item = state.items.write(state.items.row(shown.place))
            data = {"given": given, "item": item, **said}
            if (known := self._repeat(state, id, "answered", teacher, data)) is not None:
                return known
            if shown.teacher != teacher:
                raise ProtocolError(f"{given!r} was given to {shown.teacher!r}, not {teacher!r}")
            for number in state.answer_to.get(given, ()):
                if state.acts[number].alive:
                    if same(state.ids[state.acts[number].id].data, data):
                        return self._saved(state, state.acts[number].id)
                    raise ProtocolError(
                        f"{given!r} was answered already; change that answer"
                        f" ({state.acts[number].id!r}) instead"
                    )
            check_answer(state, shown, said)
            event = self._append(state, "answered", teacher, data, id)
            return self._saved(state, event.id)

    def change(
        self,
        teacher: str,
        event: str,
        answer: str,
        label: str | None = None,
        feature: str | None = None,
        *,
        id: str | None = None,
    ) -> Saved:
        """Say something else in place of an earlier answer, one's own or another's."""
        with self._ready() as state:
            number = state.act_of.get(event)
            act = None if number is None else state.acts[number]
            if act is None or act.shown is None:
                raise ProtocolError(f"there is no answer {event!r} to change")
            said = write_answer(state, act.shown, answer, label, feature)
            data = {"event": event, **said}
            if (known := self._repeat(state, id, "changed", teacher, data)) is not None:
                return known
            if not act.alive:
                raise ProtocolError(f"the answer {event!r} was undone; redo it first")
            check_answer(state, act.shown, said)
            self._join(state, teacher, None)
            made = self._append(state, "changed", teacher, data, id)
            return self._saved(state, made.id)

    def undo(self, teacher: str, event: str | None = None, *, id: str | None = None) -> Saved:
        """Take back a teacher's latest act, or one they name; it stays in the log."""
        return self._turn("undone", teacher, event, id)

    def redo(self, teacher: str, event: str | None = None, *, id: str | None = None) -> Saved:
        """Do again what the teacher undid last, or one they name."""
        return self._turn("redone", teacher, event, id)

    def _turn(self, way: str, teacher: str, event: str | None, id: str | None) -> Saved:
        with self._ready() as state:
            if id is not None and id in state.ids:
                data = {} if event is None else {"event": event}
                known = self._repeat(state, id, way, teacher, data)
                assert known is not None
                return known
            mine = state.teachers.get(teacher)
            undo = way == "undone"
            stack = [] if mine is None else mine.done if undo else mine.undone
            if not stack:
                raise ProtocolError(
                    f"{teacher!r} has nothing to {'undo' if undo else 'redo'}: one's own acts can"
                    " be undone, and redone until something new is done"
                )
            number = stack[-1] if event is None else state.act_of.get(event)
            if number not in stack:
                raise ProtocolError(
                    f"{event!r} is nothing that {teacher!r} can {'undo' if undo else 'redo'}"
                )
            act = state.acts[number]
            if act.kind == "label renamed":
                name = act.data["label" if undo else "to"]
                state.labels.check_free(name, but=act.data["key"])
            made = self._append(state, way, teacher, {"event": act.id}, id)
            return self._saved(state, made.id)
