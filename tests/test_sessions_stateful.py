"""Any sequence of answers, undo, redo, change, rename, restart gives what a plain list gives."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from plain_session import PlainAct, PlainSession
from tellapart.errors import ParameterError
from tellapart.protocol import Guess
from tellapart.sessions import Ending, Given, Session, Store
from tellapart.sessions.config import make_learner, with_columns
from tellapart.tables import Table

NAMES = [f"i{n}" for n in range(10)]
COLUMNS = {
    "name": NAMES,
    "fur": [n % 2 == 0 for n in range(10)],
    "eggs": [n % 3 == 0 for n in range(10)],
    "fins": [n in (3, 4, 7) for n in range(10)],
    "legs": [n % 4 for n in range(10)],
}
FEATURES = ["fur", "NOT fur", "eggs", "NOT eggs", "fins", "NOT fins", "legs > 1", "legs < 2", "odd"]
LABELS = ["bird", "fish", "bear"]
ANSWERS = st.sampled_from(["right", "right", "wrong", "wrong", "wrong", "unsure", "skipped"])
TEACHERS = st.sampled_from(["Ann", "Bob"])


def upright(literals: Iterable[str]) -> list[str]:
    """Literals without needless negations, as a session's model has them."""
    found = (re.sub(r"^not \(NOT (\w+)\)$", r"\1", literal) for literal in literals)
    return list(dict.fromkeys(found))


class Sessions(RuleBasedStateMachine):
    learner: ClassVar[tuple[str, dict[str, Any]]] = ("AdaptiveDFF", {})

    @initialize(
        order=st.sampled_from(["file", "random", "least sure", "mixed"]),
        overlap=st.sampled_from([0.0, 0.5, 1.0]),
        seed=st.integers(0, 5),
    )
    def begin(self, order: str, overlap: float, seed: int) -> None:
        self.now = 1e9
        self.folder = Path(tempfile.mkdtemp())
        self.store = Store(self.folder / "s.db")
        name, parameters = self.learner
        self.session = Session.new(
            self.store,
            "s",
            Table(COLUMNS, id="name"),
            learner=name,
            parameters=parameters,
            order=order,
            overlap=overlap,
            seed=seed,
            clock=lambda: self.now,
        )
        table = Table(COLUMNS, id="name")
        learner = make_learner(name, with_columns(name, parameters, table), table)
        self.plain = PlainSession(table, learner)
        self.plain.table.tag("odd")
        self.session.set_tag("Ann", "odd", "i0", None)
        self.plain.act(PlainAct("tag", "Ann", "i0"))
        self.session.join("Bob")
        self.held: dict[str, Given] = {}
        self.answers: list[tuple[str, int]] = []
        self.number = self.session.number

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.session.close()
            self.store.close()
            shutil.rmtree(self.folder)

    @rule(teacher=TEACHERS)
    def give(self, teacher: str) -> None:
        given = self.session.next(teacher)
        for event in self.store.log("s")[self.number :]:
            if event.type == "settled":
                self.plain.act(PlainAct("settled", None, event.data["item"]))
        self.number = self.session.number
        if isinstance(given, Ending):
            self.held.pop(teacher, None)
            return
        learner, taught, waiting, _ = self.plain.replay()
        name = given.item.identity
        guess = learner.guess(self.plain.table.item(name))
        if name not in taught:
            label = None if guess.label is None else self.plain.names[guess.label]
            example = None if guess.example is None else guess.example.identity
            assert given.guess.label == label
            assert (given.guess.example and given.guess.example.identity) == example
        assert (given.asks == "feature") == (name in waiting)
        held = ((t, g) for t, g in self.held.items() if g.until > self.now)
        others = {g.item.identity for t, g in held if t != teacher}
        assert name not in others, "an item is leased to one teacher at a time"
        self.held[teacher] = given

    @precondition(lambda self: self.held)
    @rule(data=st.data(), answer=ANSWERS)
    def reply(self, data: st.DataObject, answer: str) -> None:
        self._reply(data, data.draw(st.sampled_from(sorted(self.held))), answer)

    @rule(data=st.data(), teacher=TEACHERS, answers=st.lists(ANSWERS, min_size=1, max_size=5))
    def teach(self, data: st.DataObject, teacher: str, answers: list[str]) -> None:
        for answer in answers:
            self.give(teacher)
            if teacher in self.held:
                self._reply(data, teacher, answer)

    def _reply(self, data: st.DataObject, teacher: str, answer: str) -> None:
        given = self.session.given(self.held[teacher].id)  # labels may have other names by now
        if given.guess.label is None and answer == "right":
            return
        del self.held[teacher]
        shown = self._shown(given.guess.label, given.guess.example)
        words = self._words(data, given.item, given.guess, answer)
        saved = self.session.answer(teacher, given.id, *words)
        again = self.session.answer(teacher, given.id, *words, id=saved.id)
        assert again == saved
        act = PlainAct("answered", teacher, given.item.identity, shown, self._said(words, shown))
        self.answers.append((saved.id, self.plain.act(act)))
        self.number = self.session.number

    @precondition(lambda self: self.answers)
    @rule(
        data=st.data(),
        teacher=TEACHERS,
        answer=st.sampled_from(["right", "wrong", "wrong", "unsure"]),
    )
    def change(self, data: st.DataObject, teacher: str, answer: str) -> None:
        event, number = data.draw(st.sampled_from(self.answers))
        act = self.plain.acts[number]
        found = next(a for a in self.session.history() if a.event == event)
        if not act.alive or (act.shown[0] is None and answer == "right"):
            return
        words = self._words(data, found.item, Guess(found.guess, found.example), answer)
        self.session.change(teacher, event, *words)
        said = self._said(words, act.shown)
        before = self.plain.said(number)
        self.plain.act(PlainAct("changed", teacher, act.item, said=said, target=number))
        if self.plain.said(number) != before:  # what comes back because of the change comes first
            self.held.pop(teacher, None)
            for other, given in list(self.held.items()):
                if given.asks == "feature" and given.item.identity == act.item:
                    del self.held[other]

    @rule(teacher=TEACHERS)
    def undo(self, teacher: str) -> None:
        if not self.plain.done[teacher]:
            assert not self.session.can_undo(teacher)
            return
        if self._is_taken(lambda: self.session.undo(teacher)):
            return
        self.plain.undo(teacher)
        self.held.pop(teacher, None)  # they go back to what they have undone

    @rule(teacher=TEACHERS)
    def redo(self, teacher: str) -> None:
        if not self.plain.undone[teacher]:
            assert not self.session.can_redo(teacher)
            return
        if self._is_taken(lambda: self.session.redo(teacher)):
            return
        self.plain.redo(teacher)
        self.held.pop(teacher, None)

    @precondition(lambda self: self.plain.names)
    @rule(data=st.data(), teacher=TEACHERS, to=st.sampled_from([*LABELS, "brd", "fsh"]))
    def rename(self, data: st.DataObject, teacher: str, to: str) -> None:
        name = data.draw(st.sampled_from(self.plain.names))
        label = self.plain.number(name)
        old = self.plain.names[label]
        if self._is_taken(lambda: self.session.rename_label(teacher, name, to)):
            return
        self.plain.rename(label, to)
        self.plain.act(PlainAct("renamed", teacher, label=label, names=(old, to)))

    @precondition(lambda self: len(self.plain.names) > 1)
    @rule(data=st.data(), teacher=TEACHERS)
    def merge(self, data: st.DataObject, teacher: str) -> None:
        one, other = (data.draw(st.sampled_from(self.plain.names)) for _ in "ab")
        label, into = self.plain.number(one), self.plain.number(other)
        if label == into:
            return
        self.session.merge_labels(teacher, one, other)
        self.plain.act(PlainAct("merged", teacher, label=label, into=into))

    @rule(teacher=TEACHERS, item=st.sampled_from(NAMES), value=st.sampled_from([True, False, None]))
    def tag(self, teacher: str, item: str, value: bool | None) -> None:
        self.session.set_tag(teacher, "odd", item, value)
        self.plain.act(PlainAct("tag", teacher, item, value=value))

    @rule(order=st.sampled_from(["file", "random", "least sure", "mixed"]))
    def reorder(self, order: str) -> None:
        self.session.set("Ann", order=order)

    @rule(later=st.sampled_from([1, 400, 700]))
    def wait(self, later: int) -> None:
        self.now += later

    @rule()
    def restart(self) -> None:
        self.session.close()
        table = Table(COLUMNS, id="name")
        self.session = Session.open(self.store, "s", table, clock=lambda: self.now)

    @rule(keeps=st.booleans())
    def die(self, keeps: bool) -> None:
        """The process is killed, perhaps after it kept what the learner came to."""
        if keeps:
            self.session.keep()
        self.session._log.writer.close()
        table = Table(COLUMNS, id="name")
        self.session = Session.open(self.store, "s", table, clock=lambda: self.now)

    @invariant()
    def agree(self) -> None:
        if not hasattr(self, "plain"):
            return
        learner, taught, waiting, mistakes = self.plain.replay()
        said = [
            (
                upright(str(literal) for literal in clause.literals),
                clause.label,
                None if clause.example is None else clause.example.identity,
            )
            for clause in self.session.model
        ]
        rules = self.plain.rules(learner)
        assert said == [(upright(literals), *rest) for literals, *rest in rules]
        summary = self.session.summary()
        assert (summary.labelled, summary.waiting) == (len(taught), len(waiting))
        assert summary.mistakes == mistakes
        for name in NAMES:
            number = taught.get(name, waiting.get(name))
            label = None if number is None else self.plain.said(number)[1]
            assert self.session.label_of(name) == (
                None if label is None else self.plain.names[label]
            )
        told = [a for a in self.plain.acts if a.kind == "answered"]
        assert [a.undone for a in self.session.history()] == [not a.alive for a in told]

    def _is_taken(self, do: Callable[[], object]) -> bool:
        """Whether a rename is refused because another label has the name."""
        try:
            do()
        except ParameterError as error:
            if "already" not in str(error):
                raise
            return True
        return False

    # -- what is said

    def _words(self, data: st.DataObject, item: Any, guess: Any, answer: str) -> tuple[Any, ...]:
        if answer != "wrong":
            return (answer,)
        free = [name for name in [*LABELS, "new"] if self._differs(name, guess.label)]
        if not free:  # all were merged
            return ("unsure",)
        label = data.draw(st.sampled_from(free))
        if guess.example is None:
            return (answer, label)
        table = self.session.table
        telling = [
            text
            for text in FEATURES
            if table.parse(text)(item) and not table.parse(text)(guess.example)
        ]
        return (answer, label, data.draw(st.sampled_from([None, *telling])))

    def _differs(self, name: str, guessed: str | None) -> bool:
        """Whether a name means another label than the one guessed."""
        if guessed is None or name not in self.plain.meaning:
            return name != guessed
        return self.plain.number(name) != self.plain.number(guessed)

    def _shown(self, label: str | None, example: Any) -> tuple[int | None, Any]:
        known = None if label is None else self.plain.number(label)
        return known, None if example is None else example.identity

    def _said(
        self, words: tuple[Any, ...], shown: tuple[int | None, Any]
    ) -> tuple[str, int | None, str | None]:
        answer, label, feature = (*words, None, None)[:3]
        if answer == "right":
            return answer, shown[0], None
        return answer, None if label is None else self.plain.number(label), feature


class Hindsights(Sessions):
    learner = ("Hindsight", {"remember": True})


quick = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestRules = Sessions.TestCase
TestRules.settings = quick
TestHindsight = pytest.mark.slow(Hindsights.TestCase)
TestHindsight.settings = settings(quick, max_examples=10)
