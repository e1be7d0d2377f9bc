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
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import tellapart
from tellapart import codec
from tellapart.errors import (
    ParameterError,
    ProtocolError,
    SessionError,
    TableChanged,
    TellapartError,
)
from tellapart.learners.by_name import parse_learner
from tellapart.model import DecisionList
from tellapart.protocol import Item
from tellapart.review import Stopper
from tellapart.sessions import adjudication, agreement, events, replies, sweeps
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
from tellapart.sessions.items import check_same, fingerprint
from tellapart.sessions.queue import Choice
from tellapart.sessions.reader import SessionReader
from tellapart.sessions.replies import Saved
from tellapart.sessions.rules import write_rules
from tellapart.sessions.search import check_search, parse_search
from tellapart.sessions.state import Question, State
from tellapart.sessions.store import Store
from tellapart.tables import Row, Table, read_table
from tellapart.tables.append import appended
from tellapart.tables.options import OF_CSV, ReadOptions
from tellapart.tables.read import read_table_again
from tellapart.tables.source import is_gone, remembered

_TRIED = 20_000  # acts: with more, nobody waits for what a change would do
_MODEL = 50  # events after which the model is kept in a quiet moment


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


class Session(SessionReader):
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
        self, store: Store, name: str, table: Table, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(store, name, table, clock)
        self._kept = 0
        """The number of events when the model was last kept."""

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
        order : {"file", "random", "least sure", "mixed"}
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
        for label in labels:
            check_text("a label", label)
        told = codec.encode(with_columns(learner, parameters, table, words))
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
        clock: Callable[[], float] = time.time,
    ) -> Session:
        """Open a session again.

        The table must be the one it began with, cell by cell; rows that were added at its end are
        taken on.
        """
        if table is None:
            table = read_again(name, store.opened(name))
        added = check_same(table, store.table_of(name))
        session = cls(store, name, table, clock=clock)
        if added:
            try:
                session._take_on(None, table, added)
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
            if id is not None and self._log.find(state, id, "rows added", teacher) is not None:
                return int(state.ids[id].data["rows"])
            source = dict(state.opened.data.get("source") or {})
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
            known = None if teacher is None else self._log.find(state, id, "rows added", teacher)
            if known is not None:
                return int(state.ids[known.id].data["rows"])
            if table is None:
                table = read_again(self.name, state.opened)
            added = check_same(table, self._log.writer.store.table_of(self.name))
            if added:
                self._take_on(teacher, table, added, id)
            return added

    def _take_on(
        self, teacher: str | None, table: Table, added: int, id: str | None = None
    ) -> None:
        """Write that rows were added, and go on with the grown table."""
        with self._log.ready() as state:
            if teacher is not None:
                self._log.join(state, teacher)
            now = fingerprint(table)
            self._log.append(state, "rows added", teacher, {"rows": added, "table": now}, id)
            if table is not self.table:
                self.table = table
                self._log.use(table)

    def close(self) -> None:
        """Close it, so that others can open it."""
        self._keep_model()
        self._log.close()

    def _keep_model(self, least: int = 1) -> None:
        """Keep the model beside the log, for when the table has changed or is gone."""
        with self._log.lock:
            state = self._log.state
            if state is None or not state.replay.rounds or state.number - self._kept < least:
                return
            self._kept = state.number
            with suppress(TellapartError):  # nothing depends on it
                self._log.writer.keep_model(state.number, self.model.to_json())

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<session {self.name!r}: {self.number} events>"

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
            if len(state.items):
                self.table.place(state.items.identity(0))
                _ = state.queue.order

    # -- the conversation

    def join(self, teacher: str, *, model: str | None = None, id: str | None = None) -> Saved:
        """A teacher joins; joining again changes nothing.

        `model`: the name of the language model that answers. A person's word outranks it.
        """
        with self._log.ready() as state:
            known = state.teachers.get(teacher)
            if known is not None and model is not None and known.model != model:
                other = "a person" if known.model is None else f"the model {known.model!r}"
                raise ParameterError(
                    f"the teacher {teacher!r} is {other} in this session, not the model {model!r};"
                    " choose another name for the teacher"
                )
            return self._log.join(state, teacher, id, model)

    def coming(self, teacher: str, count: int) -> list[Row]:
        """The next few items for a teacher who answers about several at once; nothing is leased.

        `next` with `item=` then gives one of them.
        """
        with self._log.ready() as state:
            state.queue.expire(self._log.clock())
            return state.items.fetch(state.queue.coming(teacher, count))

    def next(
        self, teacher: str, *, item: Item = None, id: str | None = None
    ) -> replies.Given | replies.Ending:
        """The next item for a teacher: the one they have already, if they have one.

        `item`: this one (a row or its id), which must be free.
        """
        self._prepare_review(teacher)
        with self._log.ready() as state:
            if id is not None and id in state.ids:
                self._log.find(state, id, "given", teacher)
                return replies.given(state, state.questions[id])
            self._log.join(state, teacher)
            queue, items, now = state.queue, state.items, self._log.clock()

            def settle(place: int) -> None:
                # older logs have it only where the guess agrees; "reason": or its feature is known
                about = {"item": items.written(place), "reason": True}
                self._log.append(state, "settled", None, about)

            queue.expire(now)
            held = queue.held.get(teacher)
            if item is not None and held is not None and held.place != self.table.place(item):
                queue.release(teacher)
                held = None
            if held is not None and state.replay.is_settled(held.place):
                settle(held.place)
                held = None
            if held is not None:
                chosen: Choice | None = Choice(held.place, held.sought, held.picked)
            elif item is None:
                chosen = queue.choose(teacher, settle)
            else:
                chosen = queue.take(teacher, self.table.place(item))
            if chosen is None:
                return replies.Ending(
                    replies.summary(state), len(queue.leases), queue.left_to_others(teacher)
                )
            asked = queue.ask(chosen.place)
            blind = queue.blind_example(asked[0], teacher) is not None
            if held is not None and (blind or queue.is_current(held, asked, now)):
                return replies.given(state, held)
            if blind and item is None:
                chosen = queue.opinion_first(chosen, teacher)
            return replies.given(state, self._give(state, teacher, chosen, id))

    def _give(self, state: State, teacher: str, chosen: Choice, id: str | None = None) -> Question:
        """Give an item to a teacher."""
        guess, asks, kept = state.queue.ask(chosen.place)
        items = state.items
        data = {
            "item": items.written(chosen.place),
            "label": replies.name_of(state, guess.label),
            "example": None if guess.example is None else items.written(guess.example.place),
            "asks": asks,
            **({} if kept is None else {"kept": state.labels.name(kept)}),
            **({"sought": True} if chosen.sought else {}),
            **({"picked": True} if chosen.picked else {}),
            "until": stamp(self._log.clock() + state.settings.lease),
        }
        saved = self._log.append(state, "given", teacher, data, id)
        return state.questions[saved.id]

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
            self._log.join(state, teacher)
            places = sorted(self.table.place(identity) for identity in labels)
            order = np.random.default_rng(state.seed).permutation(len(places))
            done = 0
            for place in (places[n] for n in order):
                if state.answers.get(place):
                    continue
                label = labels[self.table.items[place].identity]
                question = self._give(state, teacher, Choice(place, False, True))
                guessed = replies.name_of(state, question.label)
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
            data = {"given": given, "item": state.items.written(question.place), **said}
            data |= {} if source is None else {"source": dict(source)}
            if (known := self._log.find(state, id, "answered", teacher, data)) is not None:
                return known
            if question.teacher != teacher:
                raise ProtocolError(f"{given!r} was given to {question.teacher!r}, not {teacher!r}")
            for number in state.answers_to.get(given, ()):
                if state.acts[number].alive:
                    if same(state.ids[state.acts[number].id].data, data):
                        return self._log.saved(state, state.acts[number].id)
                    raise ProtocolError(
                        f"{given!r} was answered already; change that answer"
                        f" ({state.acts[number].id!r}) instead"
                    )
            events.check_answer(state, question, said)
            return self._log.append(state, "answered", teacher, data, id)

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

            return self._log.append_once("changed", teacher, data, id, check)

    def confirm(self, teacher: str, event: str, *, id: str | None = None) -> Saved:
        """Stand by an earlier answer, one's own or another's: it is no longer an odd one.

        It is a change to the same answer, and can be undone like any.
        """
        with self._log.ready() as state:
            if (
                known := self._log.find(state, id, "changed", teacher, {"event": event})
            ) is not None:
                return known
            act, _ = self._answered(state, event)
            answer = state.replay.answer(state.act_of[event])
            if not act.alive or answer.label is None:
                raise ProtocolError(
                    f"the answer {event!r} cannot be confirmed: it"
                    f" {f'says {answer.answer!r}' if act.alive else 'was undone; redo it first'}"
                )
            said: dict[str, Any] = {"event": event, "answer": answer.answer}
            if answer.answer == "wrong":
                said["label"] = state.labels.name(answer.label)
                if answer.feature is not None:
                    said["feature"] = str(answer.feature)
            kept = self._odd if self._odd is not None and self._odd[0] == state.number else None
            self._log.join(state, teacher)
            saved = self._log.append(state, "changed", teacher, said, id)
            if kept is not None and state.is_confirmed(state.act_of[event]):
                left = [one for one in kept[2] if one.answer.id != event]
                self._odd = (state.number, kept[1], left)  # no label changed: nothing to judge anew
            return saved

    def follows(
        self,
        event: str,
        answer: str,
        label: str | None = None,
        feature: str | None = None,
        *,
        seconds: float = 2.0,
    ) -> replies.Follows | None:
        """What would follow from `change` with these arguments, which changes nothing; or from
        `undo` (answer "undo"). None if finding out takes longer than that.

        Others can go on meanwhile: it looks at what there was when it began.
        """
        with self._log.ready() as state:
            act, question = self._answered(state, event)
            number, tried = state.act_of[event], None
            if answer != "undo":
                said = events.write_answer(state, question, answer, label, feature)
                events.check_answer(state, question, said)
                key = label and (state.labels.find(label) or f"new: {label}")
                tried = state.read_answer(said, question, key)
            if len(state.acts) > _TRIED:
                return None
            trial = state.replay.trial(number, tried)
        if not trial.try_out(number, seconds):
            return None
        with self._log.lock:
            return replies.follows(state, trial, act.place)

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

    def undo_sweep(self, teacher: str, sweep: str, *, id: str | None = None) -> Saved:
        """Undo all of a sweep, unless the teacher did something else after it."""
        with self._log.ready() as state:
            if id not in state.ids and self.last_sweep(teacher) != sweep:
                raise ProtocolError(
                    "other answers came after this sweep; undo them first, on Teach"
                )
            return self.undo(teacher, id=id)

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
            if (known := self._log.find(state, id, kind, teacher, data)) is not None:
                return known
            acts = state.teachers.get(whose)
            stack = [] if acts is None else acts.done if undo else acts.undone
            if not stack:
                raise ProtocolError(
                    f"{whose!r} has nothing to {way}: one's own acts can be undone, and redone"
                    " until something new is done"
                )
            number = stack[-1] if event is None else state.act_of.get(event)
            if number not in stack:
                raise ProtocolError(f"{event!r} is nothing that {whose!r} can {way}")
            act = state.acts[number]
            if act.kind == "label renamed":
                name = act.data["label" if undo else "to"]
                state.labels.check_free(name, but=act.data["key"])
            self._log.join(state, teacher)
            if event is None and len(swept := sweeps.swept_with(state, number, stack)) > 1:
                return self._switch_sweep(state, kind, teacher, swept, theirs, id)
            return self._log.append(state, kind, teacher, {"event": act.id, **theirs}, id)

    def _switch_sweep(
        self,
        state: State,
        kind: str,
        teacher: str,
        acts: list[int],
        theirs: dict[str, str],
        id: str | None,
    ) -> Saved:
        """Undo or redo a whole sweep, in one commit."""
        done: list[Saved] = []
        with self.together(), state.replay.batch():
            for number in acts:
                about = {"event": state.acts[number].id, "sweep": len(acts), **theirs}
                done.append(self._log.append(state, kind, teacher, about, None if done else id))
        return done[0]

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
        places = sweeps.covered(self.table, model, rule, guess)
        with self._log.ready() as state:
            found = sweeps.open_places(state, teacher, places)
            items = [state.items.row(int(place)) for place in found[:limit]]
        return sweeps.Sweep(guess, items, len(found))

    def left_to_sweep(self, teacher: str) -> dict[str, tuple[int, int]]:
        """For every label that rules say: how many items nobody has answered about, of how many.
        What is best swept next comes first: the label of which the largest part is left."""
        model = self.model
        with self._log.ready() as state:
            return sweeps.left_by_label(state, teacher, self.table, model)

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
        return self._log.append_once(
            "label added", teacher, {"label": label}, id, lambda s: s.labels.check_free(label)
        )

    def rename_label(self, teacher: str, label: str, to: str, *, id: str | None = None) -> Saved:
        """Rename a label, in the past too."""
        check_text("a label", to)

        def check(state: State) -> None:
            state.labels.check_free(to, but=state.labels.must_find(label))

        data = {"label": label, "to": to}
        return self._log.append_once("label renamed", teacher, data, id, check)

    def merge_labels(self, teacher: str, label: str, into: str, *, id: str | None = None) -> Saved:
        """Merge a label into another, in the past too."""

        def check(state: State) -> None:
            if state.labels.must_find(label) == state.labels.must_find(into):
                raise ParameterError(f"{label!r} and {into!r} are one label already")

        data = {"label": label, "into": into}
        return self._log.append_once("labels merged", teacher, data, id, check)

    def describe_label(
        self, teacher: str, label: str, meaning: str, *, id: str | None = None
    ) -> Saved:
        """Say in a line what a label means; an empty text removes the line."""
        if meaning:
            check_text("a meaning", meaning)
        data = {"label": label, "meaning": meaning}
        return self._log.append_once(
            "label described", teacher, data, id, lambda s: s.labels.must_find(label)
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
        return self._log.append_once(
            "tag set", teacher, data, id, lambda s: events.check_tag(s, tag)
        )

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
        return self._log.append_once(
            "rule dropped", teacher, data, id, lambda s: events.check_rule(s, data["example"])
        )

    def edit_rule(
        self, teacher: str, example: Item, condition: str, label: str, *, id: str | None = None
    ) -> Saved:
        """Replace the condition (SQL) and the label of the rule with this example."""
        check_text("a label", label)
        with self._log.ready() as state:
            data = {"example": self._written(example), "if": "", "label": label}
            data["if"] = str(state.items.feature(condition))
        return self._log.append_once(
            "rule edited", teacher, data, id, lambda s: events.check_rule(s, data["example"])
        )

    def note(self, teacher: str, text: str, item: Item = None, *, id: str | None = None) -> Saved:
        """Keep a note, about an item or in general."""
        check_text("a note", text, 10_000)
        about = {} if item is None else {"item": self._written(item)}
        return self._log.append_once("note", teacher, {"text": text, **about}, id)

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
        return self._log.append_once(
            "search", teacher, data, id, lambda s: check_search(s, data["where"])
        )

    def set(self, teacher: str, *, id: str | None = None, **settings: Any) -> Saved:
        """Switch any of `config.Settings`: `order`, `overlap`, `lease` (seconds), `until` (a
        stopper), `unsure` and `error`, `assignments`."""
        checked = check_settings(settings)
        with self._log.ready() as state:
            for one in checked.get("assignments", {}).values():
                if "where" in one:
                    one["where"] = str(state.items.feature(one["where"]))
        return self._log.append_once("settings", teacher, checked, id)

    def _written(self, item: Item) -> Any:
        """An item (a row or its id) as the log writes it."""
        with self._log.ready() as state:
            return state.items.written(self.table.place(item))

    def _prepare_review(self, teacher: str) -> None:
        """Find what a person should settle of what models said, if that is to be done."""
        with self._log.ready() as state:
            if not state.queue.wants_review(teacher):
                return
            number = state.queue.model_answers()
            history, _ = agreement.answers_to_judge(state)
        judged = agreement.slips(state, history, self._log.lock, everything=True)
        with self._log.ready() as state:
            state.queue.reviews = adjudication.reviews(state, judged)
            state.queue.reviewed = number

    # -- work for when nobody waits; it changes nothing but how soon the next answer comes

    def expect(self) -> None:
        """Learn in a copy what the first feature would teach, if features are before somebody; else
        make a copy for an undo.
        """
        with self._log.lock:
            state = self._log.state
            if state is not None and not self._suggestions.learn_ahead(state):
                state.replay.keep_copy()

    def look_ahead(self) -> bool:
        """Work out one thing that may be asked for next; False when nothing is left to do."""
        with self._log.lock:
            state = self._log.state
            return state is not None and self._suggestions.look_ahead(state)

    def catch_up(self) -> None:
        """Do the work that the last answers put off; a later answer does it otherwise."""
        with self._log.lock:
            if self._log.state is not None:
                self._log.state.replay.catch_up()
            self._log.keep_snapshot()
            self._keep_model(_MODEL)
