"""A session: people teach a learner about the items of a table, and no answer is lost.

    store = Store.beside("zoo.csv")                       # or Store("postgresql://...")
    session = Session.new(store, "zoo", "zoo.csv", reading={"id": "name"})
    given = session.next("Ann")                           # Given, or Ending when nothing is left
    session.answer("Ann", given.id, "wrong", "bird", "feathers")
    session.undo("Ann")

Every change is one event (`events`), committed to the log before the method returns; the state is
the log replayed (`state`). Each method that writes takes `id=`, made by the client: a repeat with
the same id changes nothing and returns what the first call did. Methods may be called from many
threads. Bad input is rejected before anything is written: `ParameterError` and `FeatureError` for
the arguments, `ProtocolError` for a call out of turn, `StoreError` when the database fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import tellapart
from tellapart import codec
from tellapart.errors import (
    ParameterError,
    ProtocolError,
    SessionError,
    TableChanged,
    TellapartError,
)
from tellapart.features.candidates import Candidate
from tellapart.learners.by_name import parse_learner
from tellapart.model import DecisionList, Record
from tellapart.protocol import Guess, Item
from tellapart.review import Stopper, Suspect
from tellapart.sessions import events, replies, suggestions, sweeps, teams
from tellapart.sessions.config import DEFAULT, check_settings, make_learner, with_columns
from tellapart.sessions.events import (
    FORMAT,
    AnswerWord,
    Event,
    check_name,
    check_text,
    new_id,
    same,
    stamp,
)
from tellapart.sessions.history import NONSENSE, Act, Labels, Question, id_key
from tellapart.sessions.items import Items, MissingItems, check_same, fingerprint
from tellapart.sessions.log import Log, State
from tellapart.sessions.queue import Choice
from tellapart.sessions.replies import Saved
from tellapart.sessions.rules import clause_of_items, write_rules
from tellapart.sessions.store import Kept, Store
from tellapart.sessions.wishes import parse_search
from tellapart.tables import Row, Table, read_table
from tellapart.tables.append import appended
from tellapart.tables.options import OF_CSV, ReadOptions
from tellapart.tables.read import read_table_again
from tellapart.tables.source import is_gone, remembered

T = TypeVar("T")
_ODD = 0.3  # the doubt at which an answer is listed: less is seldom a slip
_REST = 5  # times as long as judging answers took, before it is done again
_MANY = 2000  # answers: with fewer it is done at once
_UNKNOWN = Record(0, 0, None, high=1.0)
_MODEL = "model"  # how the store calls what is kept of it,
_EVENTS = 50  # in a quiet moment after so many events


def read_again(name: str, opened: Event) -> Table:
    """The table of a session from where it lies."""
    source = dict(opened.data.get("source") or {})
    if "path" not in source:
        raise SessionError(f"the session {name!r} has no file to read: give its table")
    place = source.pop("path")
    if is_gone(place):
        raise TableChanged(
            f"the table of the session {name!r} is gone: there is no {place}. Nothing is lost: put"
            " it back, or give the table"
        )
    return read_table_again(place, opened.data["table"]["columns"], **source)


def _is_open(state: State, one: replies.OddOne) -> bool:
    """Whether nobody has confirmed an odd answer yet."""
    number = state.history.act_of.get(one.event)
    return number is not None and not state.history.is_confirmed(number)


class Session:
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

    def __init__(
        self,
        store: Store,
        name: str,
        table: Table | MissingItems,
        *,
        writes: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name = name
        items = Items(table) if isinstance(table, Table) else table
        self._log = Log(store, name, items, clock, writes=writes)
        self._worked_out: dict[Hashable, Any] = {}
        self._worked_out_at: tuple[State, int] | None = None
        self._odd: tuple[int, bool, list[replies.OddOne], float] = (-1, False, [], 0.0)
        """Suspects: after which event, whether all answers, and until when they may stand."""
        self._numbers: tuple[tuple[DecisionList, int], npt.NDArray[np.uint32]] | None = None
        self._judges = 0
        """So many are judging answers now."""
        self._named: tuple[DecisionList, dict[str, str], DecisionList] | None = None
        self._kept = 0
        """The number of events when the model was last kept."""
        self._name_rows()

    @property
    def store(self) -> Store:
        return self._log.writer.store

    @property
    def table(self) -> Table:
        """What is taught about; `TableChanged` if it is gone, or another one now."""
        return self._log.state.items.table

    @property
    def missing(self) -> str | None:
        """Why there is no table; None if there is one."""
        return self._log.state.items.missing

    def _key(self, item: Item) -> Any:
        if self.missing is None:
            return self.table.place(item)
        return id_key(codec.encode(item.identity if isinstance(item, Row) else item))

    def _once(self, what: Hashable, work: Callable[[], T]) -> T:
        """What was worked out since the last event, or is now."""
        now = self._log.state, self._log.state.history.number
        if self._worked_out_at != now:
            self._worked_out, self._worked_out_at = {}, now
        if what not in self._worked_out:
            self._worked_out[what] = work()
        found: T = self._worked_out[what]
        return found

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
        words: int = 0,
        seed: int = 0,
        rules: DecisionList | None = None,
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
        order : {"file", "random", "mixed"}
        overlap : float in [0, 1]
            The share of items that two teachers are asked about.
        lease : float
            Seconds an item is kept for a teacher.
        until : stopper
            When one may stop; `review` has stoppers.
        words : int
            How many words of every column of texts such a learner may look at, too.
        rules : DecisionList
            Rules to begin with, such as `from_sql` reads. They stand before what is learnt, each
            with a row that it labels as its example; a rule that labels no row is left out. A wrong
            guess of such a rule adds NOT φ to it, as if somebody had edited it.
        """
        check_name(name)
        learner, given = parse_learner(learner)
        parameters = {**given, **(parameters or {})}
        make_learner(learner, parameters)
        source: dict[str, Any] = {}
        if not isinstance(table, Table):
            source = {"path": remembered(table), **dict(reading or {})}
            table = read_table(table, **dict(reading or {}))
        settings = check_settings(
            {"order": order, "overlap": overlap, "lease": lease, "until": until}
        )
        known = Labels()
        for label in labels:
            check_text("a label", label)
            known.key(known.spelled(label))
        told = codec.encode(with_columns(learner, parameters, table, words))
        make_learner(learner, told, table)  # what cannot be opened again is not begun
        data = {
            "tellapart": "session",
            "format": FORMAT,
            "version": tellapart.__version__,
            "name": name,
            "table": fingerprint(table),
            "source": source,
            **({} if table.dates is None else {"dates": table.dates}),
            "learner": learner,
            "parameters": told,
            "seed": seed,
            "labels": known.current(),
            **settings,
            **({} if rules is None else {"rules": write_rules(rules, table)}),
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
        needs_table: bool = True,
        writes: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> Session:
        """Open a session again.

        The table must be the one it began with, cell by cell; rows that were added at its end are
        taken on. If it is another one, or gone, `TableChanged` is raised. Without `needs_table` the
        session opens all the same: `missing` says why, what was said can be read and undone, and
        what needs the table raises then. Without `writes` it is read as it is now, also while
        another program has it open.
        """
        try:
            if table is None:
                table = read_again(name, store.opened(name))
            added = check_same(table, store.table_of(name))
        except TableChanged as error:
            if needs_table:
                raise
            missing = MissingItems(str(error), store.table_of(name))
            return cls(store, name, missing, writes=writes, clock=clock)
        session = cls(store, name, table, writes=writes, clock=clock)
        if added and writes:
            try:
                session.take_rows(table=table)
            except BaseException:
                session._log.close()
                raise
        return session

    def add_rows(
        self, teacher: str, rows: Sequence[Mapping[str, Any]], *, id: str | None = None
    ) -> int:
        """Write rows at the end of the table's file, and take them on; returns how many there are.

        The file must be CSV or JSON lines; rows are mappings from column to value.
        """
        with self._log.ready() as state:
            if (known := self._log.find(id, "rows added", teacher)) is not None:
                return int(known.data["rows"])
            source = dict(state.history.opened.data.get("source") or {})
            if "path" not in source:
                raise SessionError(f"the session {self.name!r} has no file: give the grown table")
            how = {name: source[name] for name in OF_CSV if name in source}
            with appended(Path(source["path"]), rows, ReadOptions(**how)):
                return self.take_rows(teacher, id=id)

    def take_rows(
        self, teacher: str | None = None, table: Table | None = None, *, id: str | None = None
    ) -> int:
        """Take on rows that were added at the end of the table; returns how many.

        Its file is read again, unless the grown `table` is given.
        """
        with self._log.ready() as state:
            known = None if teacher is None else self._log.find(id, "rows added", teacher)
            if known is not None:
                return int(known.data["rows"])
            if table is None:
                table = read_again(self.name, state.history.opened)
            added = check_same(table, self._log.writer.store.table_of(self.name))
            if added:
                if teacher is not None:
                    self._log.join(teacher)
                data = {"rows": added, "table": fingerprint(table)}
                self._log.append("rows added", teacher, data, id)
                if table is not self.table:
                    self._log.use(table)
                    self._name_rows()
            return added

    def close(self) -> None:
        """Close it, so that others can open it."""
        self._keep_model()
        self._log.close()

    def _keep_model(self, least: int = 1) -> None:
        """Keep the model beside the log, for when the table has changed or is gone."""
        with self._log.lock:
            history = self._log.state.history
            if history.number - self._kept < least or not self._log.state.learning.learnt_by:
                return
            self._kept = history.number
            with suppress(TellapartError):  # nothing depends on it
                kept = Kept(history.number, self.model.to_json().encode())
                self._log.writer.keep(kept, _MODEL)

    def keep(self) -> None:
        """Keep what need not be worked out again, in a quiet moment; nothing depends on it."""
        self._log.keep_learner()
        self._keep_model(_EVENTS)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<session {self.name!r}: {self.number} events>"

    def _repr_html_(self) -> str:
        """How far it is, and the rules so far."""
        from tellapart.html_views import table

        summary = self.summary()
        line = (f"{summary.labelled:,} of {summary.items:,}", summary.rules, ", ".join(self.labels))
        return table(("rows taught", "rules", "labels"), [line], self.name) + (
            self.model._repr_html_() if summary.labelled else ""
        )

    def together(self) -> AbstractContextManager[None]:
        """Commit everything done inside at the end, all or nothing; other threads wait.

        A disk takes as long for one event as for several.
        """
        return self._log.together()

    def check_store(self) -> None:
        """Raise `StoreError` unless an answer could be saved now."""
        self._log.check()

    def prepare(self) -> None:
        """Make the order of the items and the index of their ids, before somebody waits for them:
        in a large table that takes a second.
        """
        with self._log.ready() as state:
            if len(state.items) and self.missing is None:
                self.table.place(state.items.identity(0))
                _ = state.queue.order

    # -- the conversation

    def join(self, teacher: str, *, model: str | None = None, id: str | None = None) -> Saved:
        """A teacher joins; joining again changes nothing.

        `model`: the name of the language model that answers. A person's word outranks it.
        """
        with self._log.ready() as state:
            known = state.history.teachers.get(teacher)
            if known is not None and model is not None and known.model != model:
                other = "a person" if known.model is None else f"the model {known.model!r}"
                raise ParameterError(
                    f"the teacher {teacher!r} is {other} in this session, not the model {model!r};"
                    " choose another name for the teacher"
                )
            event = self._log.join(teacher, id, model)
            if event is None:  # they are there already
                return Saved(state.history.number, "", None, None)
            return self._saved(event)

    def coming(self, teacher: str, count: int) -> list[Row]:
        """The next few items for a teacher who answers about several at once; nothing is leased.

        `next` with `item=` then gives one of them.
        """
        with self._log.ready() as state:
            _ = self.table  # which must be there
            state.queue.expire(self._log.clock())
            return state.items.fetch(state.queue.coming(teacher, count))

    def next(
        self, teacher: str, *, item: Item = None, id: str | None = None
    ) -> replies.Given | replies.Ending:
        """The next item for a teacher: the one they have already, if they have one.

        `item`: this one (a row or its id), which must be free.
        """
        _ = self.table  # which must be there
        self._prepare_review(teacher)
        with self._log.ready() as state:
            if id is not None and id in state.history.ids:
                self._log.find(id, "given", teacher)
                return replies.given(state, state.history.questions[id])
            self._log.join(teacher)
            queue, items, now = state.queue, state.items, self._log.clock()

            def settle(place: int) -> None:
                # older logs have it only where the guess agrees; "reason": or its feature is known
                about = {"item": items.written(place), "reason": True}
                self._log.append("settled", None, about)

            queue.expire(now)
            held = queue.held.get(teacher)
            if item is not None and held is not None and held.item != self.table.place(item):
                queue.release(teacher)
                held = None
            if held is not None and state.learning.is_settled(held.item):
                settle(held.item)
                held = None
            if held is not None:
                chosen: Choice | None = Choice(held.item, held.sought, held.picked)
            elif item is None:
                chosen = queue.choose(teacher, settle)
            else:
                chosen = queue.wanted(teacher, self.table.place(item))
            if chosen is None:
                return replies.Ending(replies.summary(state), len(queue.leases))
            asked = queue.ask(chosen.place)
            if held is not None and queue.is_current(held, asked, now):
                return replies.given(state, held)
            return replies.given(state, self._give(state, teacher, chosen, id))

    def _give(self, state: State, teacher: str, chosen: Choice, id: str | None = None) -> Question:
        guess, asks, kept = state.queue.ask(chosen.place)
        items = state.items
        data = {
            "item": items.written(chosen.place),
            "label": state.history.name(guess.label),
            "example": None if guess.example is None else items.written(guess.example.place),
            "asks": asks,
            **({} if kept is None else {"kept": state.history.labels.name(kept)}),
            **({"sought": True} if chosen.sought else {}),
            **({"picked": True} if chosen.picked else {}),
            "until": stamp(self._log.clock() + state.history.settings.lease),
        }
        return state.history.questions[self._log.append("given", teacher, data, id).id]

    def start_from(self, teacher: str, labels: Mapping[Any, str]) -> int:
        """Take labels that are known, by the ids of items, as answers of a teacher; returns how
        many.

        Each is a round like any other, without a reason: an item is given, and answered. Items that
        somebody has answered about are left out. None counts for the estimate of the error: nobody
        drew them. A label that cannot be is refused before any is taken.
        """
        for label in labels.values():
            check_text("a label", label)
        with self._log.ready() as state, self.together():
            self._log.join(teacher)
            places = sorted(self.table.place(identity) for identity in labels)
            order = np.random.default_rng(state.history.opened.data["seed"]).permutation(
                len(places)
            )
            done = 0
            for place in (places[n] for n in order):
                if state.history.answers.get(place):
                    continue
                label = state.history.labels.spelled(labels[self.table.items[place].identity])
                question = self._give(state, teacher, Choice(place, False, True))
                guessed = state.history.name(question.label)
                said = ("right",) if guessed == label else ("wrong", label)
                self.answer(teacher, question.id, *said)
                done += 1
            return done

    def answer(
        self,
        teacher: str,
        given: str,
        answer: AnswerWord,
        label: str | None = None,
        feature: str | None = None,
        *,
        source: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> Saved:
        """Answer the question with the id `given`: right, wrong, unsure or skipped.

        A wrong guess needs the right `label`, and a `feature` (an SQL condition) that holds on the
        item and not on the example, or none if the teacher cannot say why. When the label was
        asked, there was no guess: answer "wrong" with the label alone. `source` is kept with the
        answer: which request to a model it came from, and what that replied.
        """
        with self._log.ready() as state:
            question = self._question(state, given)
            said = events.write_answer(state, question, answer, label, feature)
            data = {"given": given, "item": state.items.written(question.item), **said}
            data |= {} if source is None else {"source": dict(source)}
            if (known := self._log.find(id, "answered", teacher, data)) is not None:
                return self._saved(known)
            if question.teacher != teacher:
                raise ProtocolError(f"{given!r} was given to {question.teacher!r}, not {teacher!r}")
            for number in state.history.answers_to.get(given, ()):
                if state.history.acts[number].alive:
                    if same(state.history.acts[number].event.data, data):
                        return self._saved(state.history.acts[number].event)
                    raise ProtocolError(
                        f"{given!r} was answered already; change that answer"
                        f" ({state.history.acts[number].id!r}) instead"
                    )
            events.check_answer(state, question, said)
            return self._saved(self._log.append("answered", teacher, data, id))

    def change(
        self,
        teacher: str,
        event: str,
        answer: AnswerWord,
        label: str | None = None,
        feature: str | None = None,
        *,
        settles: bool = False,
        id: str | None = None,
    ) -> Saved:
        """Replace an earlier answer, one's own or another's.

        `settles`: it settles a disagreement about the item, even if it says the same once more.
        """
        with self._log.ready() as state:
            act, question = self._answered(state, event)
            alive = act.alive
            said = events.write_answer(state, question, answer, label, feature)
            data = {"event": event, **said, **({"settles": True} if settles else {})}

            def check(state: State) -> None:
                if not alive:
                    raise ProtocolError(f"the answer {event!r} was undone; redo it first")
                events.check_answer(state, question, said)

            return self._write("changed", teacher, data, id, check)

    def confirm(self, teacher: str, event: str, *, id: str | None = None) -> Saved:
        """Stand by an earlier answer, one's own or another's: it is no longer an odd one.

        It is a change to the same answer, and can be undone like any.
        """
        with self._log.ready() as state:
            if (known := self._log.find(id, "changed", teacher, {"event": event})) is not None:
                return self._saved(known)
            act, _ = self._answered(state, event)
            answer = state.history.answer(state.history.act_of[event])
            if not act.alive or answer.label is None:
                raise ProtocolError(
                    f"the answer {event!r} cannot be confirmed: it"
                    f" {f'says {answer.answer!r}' if act.alive else 'was undone; redo it first'}"
                )
            said: dict[str, Any] = {"event": event, "answer": answer.answer}
            if answer.answer == "wrong":
                said["label"] = state.history.labels.name(answer.label)
                if answer.feature is not None:
                    said["feature"] = answer.feature
            judged = self._odd
            before = state.history.number
            self._log.join(teacher)
            saved = self._saved(self._log.append("changed", teacher, said, id))
            if judged[0] == before:
                self._odd = (state.history.number, *judged[1:])  # no label changed
            return saved

    def undo(
        self,
        teacher: str,
        event: str | None = None,
        *,
        of: str | None = None,
        id: str | None = None,
    ) -> Saved:
        """Undo a teacher's latest act, or the one named; it stays in the log.

        `of`: undo what that teacher did. A server lets only its owner do that.
        """
        return self._switch("undo", teacher, event, of, id)

    def redo(
        self,
        teacher: str,
        event: str | None = None,
        *,
        of: str | None = None,
        id: str | None = None,
    ) -> Saved:
        """Redo what was undone last of a teacher's acts, or the one named; `of` as in `undo`."""
        return self._switch("redo", teacher, event, of, id)

    def _switch(
        self, way: str, teacher: str, event: str | None, of: str | None, id: str | None
    ) -> Saved:
        undo, whose = way == "undo", of or teacher
        kind = "undone" if undo else "redone"
        theirs = {} if whose == teacher else {"teacher": whose}
        with self._log.ready() as state:
            data = theirs if event is None else {"event": event, **theirs}
            if (known := self._log.find(id, kind, teacher, data)) is not None:
                return self._saved(known)
            acts = state.history.acts_of(whose)
            stack = acts.done if undo else acts.undone
            if not stack:
                raise ProtocolError(
                    f"{whose!r} has nothing to {way}: one's own acts can be undone, and redone"
                    " until something new is done"
                )
            number = stack[-1] if event is None else state.history.act_of.get(event)
            if number not in stack:
                raise ProtocolError(f"{event!r} is nothing that {whose!r} can {way}")
            act = state.history.acts[number]
            if act.kind == "label renamed":
                key, was, to = act.labels
                state.history.labels.check_free(was if undo else to, but=key)
            self._log.join(teacher)
            numbers = [number] if event else sweeps.swept_with(state, number, stack)
            about = {"sweep": len(numbers), **theirs} if numbers[1:] else theirs
            done: list[Event] = []
            with self.together():  # a sweep goes as a whole
                for each in numbers:
                    said = {"event": state.history.acts[each].id, **about}
                    done.append(self._log.append(kind, teacher, said, None if done else id))
            return self._saved(done[0])

    def sweep(
        self,
        teacher: str,
        *,
        rule: int | None = None,
        label: str | None = None,
        limit: int = sweeps.MOST,
    ) -> sweeps.Sweep:
        """Items that a rule covers (by its number, from 1), or that get a label, and that nobody
        has answered about. It changes nothing; `accept` says which guesses are right."""
        if (rule is None) == (label is None):
            raise ParameterError("a sweep is of a rule or of a label: give one of the two")
        model = self.model
        guess = label or sweeps.label_of(model, rule or 0)
        places = sweeps.covered(self.clause_numbers(), model, rule, guess)
        with self._log.ready() as state:
            found = sweeps.open_places(state, teacher, places)
            items = [state.items.row(int(place)) for place in found[:limit]]
        return sweeps.Sweep(guess, items, len(found))

    def left_to_sweep(self, teacher: str) -> dict[str, tuple[int, int]]:
        """For every label that rules say: how many items nobody has answered about, of how many.
        What is best swept next comes first: the label of which the largest part is left."""
        model, numbers = self.model, self.clause_numbers()
        with self._log.ready() as state:
            return sweeps.left_by_label(state, teacher, numbers, model)

    def accept(
        self,
        teacher: str,
        label: str,
        right: Sequence[Item],
        wrong: Sequence[Item] = (),
        *,
        id: str | None = None,
    ) -> sweeps.Swept:
        """The guess `label` is right for some items (rows or ids), and wrong for others, which come
        next to be corrected. All in one commit; `undo` takes all of it back.

        Each is a round like any other. They do not count for the estimate of the error: they are no
        random draw.
        """
        with self.together(), self._log.ready() as state:
            places = [[self.table.place(item) for item in items] for items in (right, wrong)]
            return sweeps.accept(self._log, state, teacher, label, places[0], places[1], id)

    # -- labels

    def add_label(self, teacher: str, label: str, *, id: str | None = None) -> Saved:
        """Add a label to choose from."""
        check_text("a label", label)
        return self._write(
            "label added",
            teacher,
            {"label": label},
            id,
            lambda s: s.history.labels.check_free(label),
        )

    def rename_label(self, teacher: str, label: str, to: str, *, id: str | None = None) -> Saved:
        """Rename a label, in the past too."""
        check_text("a label", to)

        def check(state: State) -> None:
            state.history.labels.check_free(to, but=state.history.labels.must_find(label))

        data = {"label": label, "to": to}
        return self._write("label renamed", teacher, data, id, check)

    def merge_labels(self, teacher: str, label: str, into: str, *, id: str | None = None) -> Saved:
        """Merge a label into another, in the past too."""

        def check(state: State) -> None:
            if state.history.labels.must_find(label) == state.history.labels.must_find(into):
                raise ParameterError(f"{label!r} and {into!r} are one label already")

        data = {"label": label, "into": into}
        return self._write("labels merged", teacher, data, id, check)

    def describe_label(
        self, teacher: str, label: str, meaning: str, *, id: str | None = None
    ) -> Saved:
        """Say in a line what a label means; an empty text removes the line."""
        if meaning:
            check_text("a meaning", meaning)
        data = {"label": label, "meaning": meaning}
        return self._write(
            "label described", teacher, data, id, lambda s: s.history.labels.must_find(label)
        )

    # -- tags, rules, notes

    def set_tag(
        self, teacher: str, tag: str, item: Item, value: bool | None, *, id: str | None = None
    ) -> Saved:
        """Set a tag of an item (a row or its id) to true, false or unknown (None)."""
        if value is not None and not isinstance(value, bool):
            raise ParameterError(f"a tag is True, False or None, got {value!r}")
        check_text("a tag", tag)
        data = {"tag": tag, "item": self._written(item), "value": value}
        return self._write("tag set", teacher, data, id, lambda s: events.check_tag(s, tag))

    def tag_apart(
        self, teacher: str, given: replies.Given, tag: str, *, id: str | None = None
    ) -> str:
        """Set a tag to true on the item and to false on its example; returns the feature to name.

        `id` is made by the client: the two events have ids made from it.
        """
        if given.guess.example is None:
            raise ParameterError("there is no example yet to tell the item from")
        self.set_tag(teacher, tag, given.item, True, id=id and f"{id}-item")
        self.set_tag(teacher, tag, given.guess.example, False, id=id and f"{id}-example")
        quoted = tag.replace('"', '""')
        return f'"{quoted}"'

    def drop_rule(self, teacher: str, example: Item, *, id: str | None = None) -> Saved:
        """Drop the rule with this example (a row or its id)."""
        data = {"example": self._written(example)}
        return self._write(
            "rule dropped", teacher, data, id, lambda s: events.check_rule(s, data["example"])
        )

    def edit_rule(
        self, teacher: str, example: Item, condition: str, label: str, *, id: str | None = None
    ) -> Saved:
        """Replace the condition (SQL) and the label of the rule with this example."""
        check_text("a label", label)
        with self._log.ready() as state:
            label = state.history.labels.spelled(label)
            data = {"example": self._written(example), "if": "", "label": label}
            data["if"] = str(state.items.feature(condition))
        return self._write(
            "rule edited", teacher, data, id, lambda s: events.check_rule(s, data["example"])
        )

    def note(self, teacher: str, text: str, item: Item = None, *, id: str | None = None) -> Saved:
        """Keep a note, about an item or in general."""
        check_text("a note", text, 10_000)
        about = {} if item is None else {"item": self._written(item)}
        return self._write("note", teacher, {"text": text, **about}, id)

    # -- what comes next

    def search(self, teacher: str, text: str | None, *, id: str | None = None) -> Saved:
        """Give this teacher the items that match a text next; None or "" ends the search.

        The text is a condition (`legs >= 4`), or words that must all be in the texts of an item.
        Items from a search do not count for the estimate of the error: they are no random draw.
        """
        data: dict[str, Any] = {"where": None}
        with self._log.ready():
            if text is not None and text.strip():
                check_text("what to look for", text, 2_000)
                data = {"where": str(parse_search(self.table, text)), "text": text.strip()}

        def check(state: State) -> None:
            if data["where"] is None:
                return
            found = state.queue.searched(data["where"])
            if not len(found.places):
                raise ParameterError(f"no item fits: {data['where']}")
            if found.next(state.queue) is None:
                raise ParameterError(
                    f"nothing is left of the {len(found.places):,} items that fit, all are answered"
                    f" or with others: {data['where']}"
                )

        return self._write("search", teacher, data, id, check)

    def set(self, teacher: str, *, id: str | None = None, **settings: Any) -> Saved:
        """Switch any of `config.Settings`: `order`, `overlap`, `lease` (seconds), `until` (a
        stopper), `unsure` and `error`, `assignments`, `title` and `articles`."""
        checked = check_settings(settings)
        with self._log.ready() as state:
            if checked.get("title"):
                self.table.check(checked["title"])
            for one in checked.get("assignments", {}).values():
                one["where"] = str(state.items.feature(one["where"]))
        saved = self._write("settings", teacher, checked, id)
        self._name_rows()
        return saved

    def _name_rows(self) -> None:
        """Call rows by the column that was chosen for it, if one was."""
        with self._log.ready() as state:
            title = state.history.settings.title
            if title and self.missing is None and title in self.table.columns:
                self.table.title = title

    def _write(
        self,
        type: str,
        teacher: str,
        data: Mapping[str, Any],
        id: str | None,
        check: Callable[[State], object] | None = None,
    ) -> Saved:
        """Write one event, unless its id is there already; `check` may refuse it."""
        with self._log.ready() as state:
            event = self._log.find(id, type, teacher, data)
            if event is None:
                if check is not None:
                    check(state)
                self._log.join(teacher)
                event = self._log.append(type, teacher, data, id)
            return self._saved(event)

    def _written(self, item: Item) -> Any:
        with self._log.ready() as state:
            return state.items.written(self.table.place(item))

    def _prepare_review(self, teacher: str) -> None:
        """Find what a person should settle of what models said, if that is to be done."""
        with self._log.ready() as state:
            if not state.queue.wants_review(teacher):
                return
            number = state.queue.model_answers()
        judged = [one for one, _ in self._judge(everything=True)]
        with self._log.ready() as state:
            queue = state.queue
            queue.reviews = state.safely("reviews", lambda: teams.reviews(state, judged), [])
            queue.reviewed = number

    def _judge(self, *, everything: bool) -> list[tuple[Suspect, int]]:
        """The answers that the others contradict, or all, and the act of each; none where that
        fails. Others can go on meanwhile."""
        with self._log.ready() as state:
            judged = state.safely("odd answers", lambda: teams.answers_to_judge(state), None)
        if judged is None:
            return []
        lock, nobody = self._log.lock, list[Suspect]()
        found = state.safely(
            "odd answers", lambda: teams.slips(state, judged, lock, everything), nobody
        )
        return [(one, judged.acts[one.round]) for one in found]

    def _saved(self, event: Event) -> Saved:
        with self._log.ready() as state:
            about: str | None = event.data.get("event")
            answer = str(about) if event.type == "changed" else event.id
            number = state.history.act_of.get(answer, -1)
            learning = state.learning  # which sets tags, too
            outcome = learning.outcome(number) if event.type in ("answered", "changed") else None
            turned = event.type in ("undone", "redone")
            acts = event.data.get("sweep", 1) if turned else 1
            return Saved(event.number, event.id, outcome, about, acts)

    # -- what is known

    @property
    def number(self) -> int:
        """The number of the last event."""
        with self._log.ready() as state:
            return state.history.number

    @property
    def trouble(self) -> list[str]:
        """What went wrong without stopping anybody, a line each; nothing of the table is in it."""
        with self._log.ready() as state:
            return state.trouble

    @property
    def opened(self) -> Event:
        """The first event: table, learner, seed."""
        with self._log.ready() as state:
            return state.history.opened

    @property
    def settings(self) -> dict[str, Any]:
        """The values of `config.Settings`."""
        with self._log.ready() as state:
            return dict(vars(state.history.settings))

    @property
    def teachers(self) -> list[str]:
        """Who has joined."""
        with self._log.ready() as state:
            return list(state.history.teachers)

    @property
    def models(self) -> dict[str, str]:
        """The teachers that are language models, and the names of these."""
        with self._log.ready() as state:
            found = state.history.teachers.items()
            return {name: one.model for name, one in found if one.model is not None}

    @property
    def labels(self) -> list[str]:
        """The names of the labels, oldest first."""
        with self._log.ready() as state:
            return [state.history.labels.name(key) for key in state.history.label_keys()]

    @property
    def meanings(self) -> dict[str, str]:
        """The meanings of labels that were described, by their names."""
        with self._log.ready() as state:
            keys = [key for key in state.history.label_keys() if state.history.meanings.get(key)]
            return {state.history.labels.name(key): state.history.meanings[key] for key in keys}

    @property
    def learner(self) -> Any:
        """The learner; to look at, not to teach."""
        with self._log.ready() as state:
            return state.learning.learner

    @property
    def model(self) -> DecisionList:
        """The rules learnt, with people's edits and the present names of labels."""
        with self._log.ready() as state:
            if self.missing is not None:
                return self._kept_model()[1]
            inner = state.learning.model
            names = {key: state.history.labels.name(key) for key in state.history.labels.current()}
            if self._named is None or self._named[0] is not inner or self._named[1] != names:
                self._named = (inner, names, replies.named_model(state, inner))
            return self._named[2]

    def _kept_model(self) -> tuple[int, DecisionList]:
        """The model as it was last kept, and after which event; for when the table is missing."""
        kept = self.store.kept(self.name, _MODEL)
        if kept is None:
            raise TableChanged(str(self.missing))
        try:
            return kept.number, DecisionList.from_json(kept.data.decode())
        except (TellapartError, *NONSENSE) as error:  # nobody knows who wrote it
            raise TableChanged(
                f"{self.missing}. And the model that was kept cannot be read: {error}"
            ) from error

    @property
    def model_note(self) -> str | None:
        """What is to be said of the model: that it is an old one, if the table is missing."""
        if self.missing is None:
            return None
        return f"{self.missing}. This is the model after event {self._kept_model()[0]}"

    def judged_model(self) -> DecisionList:
        """The rules with a record for each: right, wrong, when last seen, and a bound on its error
        with 95 % confidence (`review.ClauseRecords`)."""
        with self._log.ready() as state:
            _ = self.table  # without it nothing is known of the records
            return self._once("judged", lambda: self._judged(state))

    def _judged(self, state: State) -> DecisionList:
        learning = state.learning
        model = state.safely("records of rules", learning.judge, None)
        if model is None:  # nothing is known of any rule
            *clauses, default = (replace(clause, record=_UNKNOWN) for clause in learning.model)
            model = DecisionList(tuple(clauses), default, learning.model.reading)
        return replies.named_model(state, model)

    def clause_numbers(self) -> npt.NDArray[np.uint32]:
        """Which rule labels each item, from 0: worked out once for a model, and shared. Others can
        go on meanwhile."""
        with self._log.ready() as state:
            model, table = self.model, self.table
            of = (model, state.history.number if table.tags else 0)
            known = self._numbers
        if known is None or known[0][0] is not model or known[0][1] != of[1]:
            known = self._numbers = of, clause_of_items(table, model)
        return known[1]

    def chosen_model(self, unsure: str | None = None, error: float | None = None) -> DecisionList:
        """The rules as they are shown and exported: with the setting `unsure` "null", they say
        nothing where a rule's error may be above the setting `error`."""
        settings = self.settings
        if (unsure or settings["unsure"]) == "label":
            return self.model
        return self.judged_model().abstain(settings["error"] if error is None else error)

    def taught(self, *, viewer: str | None = None) -> dict[int, str]:
        """The label that each item was given, by the item's place in the table."""
        with self._log.ready() as state:
            if viewer is not None:
                mine = (one for one in self.history(viewer=viewer) if not one.undone)
                said = {one.item.place: one.label for one in mine}
                return {place: label for place, label in said.items() if label is not None}
            found = {**state.learning.waiting, **state.learning.taught}
            labels = {item: state.history.answer(number).label for item, number in found.items()}
            return {item: str(state.history.name(key)) for item, key in labels.items()}

    def mistakes(self) -> list[bool]:
        """For every guess, whether it was a mistake."""
        with self._log.ready() as state:
            return list(state.learning.mistakes)

    def rule_teacher(self, example: Item, *, viewer: str | None = None) -> str | None:
        """Who made the rule with this example: who edited it last, or else taught the example. A
        teacher is told of their own rules."""
        with self._log.ready() as state:
            learning, place = state.learning, self.table.place(example)
            edits, taught = learning.mind.learner.edits, learning.taught
            teacher = None
            if place in edits:
                teacher = edits[place].by
            elif place in taught:
                teacher = state.history.acts[taught[place]].by
            return teacher if viewer in (None, teacher) else None

    def notes(self, *, viewer: str | None = None) -> list[Event]:
        """All notes; a teacher sees those in general, and their own about items."""
        with self._log.ready() as state:
            return [
                one
                for one in state.history.notes
                if viewer in (None, one.by) or "item" not in one.data
            ]

    def history(
        self,
        *,
        viewer: str | None = None,
        item: Item = None,
        teacher: str | None = None,
        last: int | None = None,
    ) -> list[replies.Answered]:
        """Every answer that a viewer may see (`replies.visible`; None sees all), undone ones too,
        in order; of one item, of one teacher, or the last few."""
        with self._log.ready() as state:
            if item is None:
                numbers = sorted(chain.from_iterable(state.history.answers.values()))
            else:
                numbers = state.history.answers.get(self._key(item), [])
            if teacher is not None:
                numbers = [n for n in numbers if state.history.acts[n].by == teacher]
            found = (replies.answered(state, number) for number in numbers)
            seen = [one for one in found if replies.visible(one, viewer)]
            return seen if last is None else seen[len(seen) - min(last, len(seen)) :]

    def answer_of(self, event: str, *, viewer: str | None = None) -> replies.Answered | None:
        """The answer with the id of an event; None if there is none that the viewer may see."""
        with self._log.ready() as state:
            number = state.history.act_of.get(event)
            if number is None or state.history.acts[number].question is None:
                return None
            found = replies.answered(state, number)
            return found if replies.visible(found, viewer) else None

    def label_of(self, item: Item, *, viewer: str | None = None) -> str | None:
        """The label an item was given; None if it has none that the viewer may see."""
        with self._log.ready() as state:
            if viewer is not None:
                mine = (one for one in self.history(viewer=viewer, item=item) if not one.undone)
                return next((one.label for one in mine if one.label is not None), None)
            learning, place = state.learning, self._key(item)
            number = learning.taught.get(place, learning.waiting.get(place))
            return (
                None if number is None else state.history.name(state.history.answer(number).label)
            )

    def search_of(self, teacher: str) -> tuple[str, int] | None:
        """A teacher's search, and how many items match; None without one."""
        with self._log.ready() as state:
            search = state.queue.search_of(teacher)
            held = state.queue.held.get(teacher)
            on_it = held is not None and held.sought and not held.picked
            if search is None or not (on_it or search.next(state.queue) is not None):
                return None
            return search.text, len(search.places)

    def summary(self) -> replies.Summary:
        """The progress so far."""
        with self._log.ready() as state:
            return self._once("summary", lambda: replies.summary(state))

    def about(self) -> list[str]:
        """Who taught it, when and by how many answers, and what is known of the error: lines of
        comment for an exported model."""
        with self._log.ready() as state:
            answers = [one for one in self.history() if not one.undone]
            return replies.about(self.name, answers, replies.summary(state))

    def can_undo(self, teacher: str) -> bool:
        """Whether there is something to undo."""
        with self._log.ready() as state:
            return bool(state.history.acts_of(teacher).done)

    def can_redo(self, teacher: str) -> bool:
        """Whether there is something to redo."""
        with self._log.ready() as state:
            return bool(state.history.acts_of(teacher).undone)

    # -- what is shown

    def given(self, given: str) -> replies.Given:
        """The question with an id."""
        with self._log.ready() as state:
            return replies.given(state, self._question(state, given))

    def candidates(
        self,
        given: str,
        label: str | None = None,
        *,
        limit: int = suggestions.LIMIT,
    ) -> list[Candidate]:
        """Features that tell the item from the example shown with it, the worthiest first.

        `label` is what the teacher is about to say; with it the ranking is better.
        """
        with self._log.ready() as state:
            question, nothing = self._question(state, given), list[Candidate]()

            def found() -> list[Candidate]:
                return suggestions.candidates(state, question, label, limit)

            key = "suggestions", given, label, limit
            return [*state.safely("suggestions", lambda: self._once(key, found), nothing)]

    def check(self, given: str, expression: str) -> replies.Check:
        """Check whether an expression holds on the item and on the example, and count its items.

        Raises `FeatureError` if it is no expression.
        """
        with self._log.ready() as state:
            shown = replies.given(state, self._question(state, given))
            return suggestions.check(self.table, expression, shown.item, shown.guess.example)

    def _question(self, state: State, given: str) -> Question:
        question = state.history.questions.get(given)
        if question is None:
            raise ProtocolError(f"nothing was given under the id {given!r}")
        return question

    def question_of(self, event: str) -> replies.Given:
        """The question that an answer was given to."""
        with self._log.ready() as state:
            return replies.given(state, self._answered(state, event)[1])

    def guess_now(self, event: str) -> Guess | None:
        """The guess that an answer is about by now; None if it is the one that its teacher was
        shown."""
        with self._log.ready() as state:
            self._answered(state, event)
            return replies.guess_now(state, state.history.act_of[event])

    def waiting(self) -> frozenset[int]:
        """The places of the items whose label is known, and whose reason is asked again."""
        with self._log.ready() as state:
            return state.learning.wanting()

    def asked_again(self, given: str) -> replies.AskedAgain | None:
        """Why a question asks only for a feature; None if it asks for more."""
        with self._log.ready() as state:
            return replies.asked_again(state, self._question(state, given))

    def _answered(self, state: State, event: str) -> tuple[Act, Question]:
        number = state.history.act_of.get(event)
        act = None if number is None else state.history.acts[number]
        if act is None or act.question is None:
            raise ProtocolError(f"there is no answer {event!r} to change")
        return act, act.question

    # -- several teachers

    def disagreements(self, *, viewer: str | None = None) -> list[replies.Disagreement]:
        """The items that teachers called differently, with everybody's answer. A teacher sees those
        in which they are one of them: they have answered already."""
        with self._log.ready() as state:
            return [
                one
                for one in teams.disagreements(state)
                if any(replies.visible(each, viewer) for each in one.answers)
            ]

    def agreement(self) -> replies.Agreement:
        """How far teachers agree on labels and on features."""
        with self._log.ready() as state:
            return teams.agreement(state.history)

    def odd_ones(
        self, *, viewer: str | None = None, everything: bool = False
    ) -> list[replies.OddOne]:
        """Suspected slips that a viewer may see, a teacher their own, the oddest first.

        With `everything`, the answers that little or nothing contradicts come after them, the
        least certain first. An answer that a person confirmed is not listed, until it is changed.
        Others can go on meanwhile: it judges what there was when it began.
        """
        with self._log.ready() as state:
            number, started = state.history.number, time.monotonic()
            odd = self._odd_known(number, everything)
        if odd is None:
            self._judges += 1
            try:
                found = self._judge(everything=everything)
            finally:
                self._judges -= 1
            nobody: list[replies.OddOne] = []
            with self._log.ready() as state:
                odd = state.safely(
                    "odd answers", lambda: [teams.odd_one(state, *one) for one in found], nobody
                )
            now = time.monotonic()
            self._odd = (number, everything, odd, now + _REST * (now - started))
        with self._log.ready() as state:
            return [
                one
                for one in odd
                if (everything or one.score >= _ODD)
                and replies.visible(one, viewer)
                and _is_open(state, one)
            ]

    @property
    def odd_known(self) -> int:
        """How many odd answers were found when they were last judged; it takes no time."""
        with self._log.ready() as state:
            return sum(one.score >= _ODD and _is_open(state, one) for one in self._odd[2])

    def _odd_known(self, number: int, everything: bool) -> list[replies.OddOne] | None:
        """The suspects as they were last judged: if nothing was said since, or if judging them took
        long and was a short while ago, or is under way."""
        of, every, odd, fresh = self._odd
        slow = len(odd) > _MANY and (time.monotonic() < fresh or self._judges)
        return odd if every >= everything and (of == number or slow) else None

    # -- language models among the teachers

    def label_named(self, name: str) -> str | None:
        """What the label is called now that a name, new or old, means; None if there is none."""
        with self._log.ready() as state:
            return state.history.name(state.history.labels.find(name))

    def answered_by(self, teacher: str) -> frozenset[int]:
        """The places of the rows that a teacher has answered about, "skipped" left out."""
        with self._log.ready() as state:
            return frozenset(
                place
                for place, numbers in state.history.answers.items()
                for n in numbers
                if state.history.acts[n].by == teacher
                and state.history.acts[n].alive
                and state.history.raw_answer(n).answer != "skipped"
            )

    def free(self, items: Sequence[Row], teacher: str) -> list[Row]:
        """Those of some rows that may be given to this teacher, or are with them."""
        with self._log.ready() as state:
            held = state.queue.held.get(teacher)
            mine = None if held is None else held.item
            return [
                item
                for item in items
                if item.place == mine or state.queue.is_free(item.place, teacher)
            ]

    def slip_rates(self) -> dict[str, list[teams.SlipRate]]:
        """For each language model, how often people say otherwise: in all, and by its label."""
        with self._log.ready() as state:
            return teams.slip_rates(state.history)
