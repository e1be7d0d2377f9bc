"""A session as a plain list, told again from the start each time: what the real one must equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tellapart.learners import BaseLearner
from tellapart.protocol import Correction
from tellapart.tables import Table


@dataclass
class PlainAct:
    kind: str
    by: str | None = None
    item: Any = None
    shown: tuple[int | None, Any] = (None, None)
    """The number of the label guessed, and the id of the example."""
    said: tuple[str, int | None, str | None] = ("", None, None)
    target: int = -1
    alive: bool = True
    label: int = -1
    into: int = -1
    names: tuple[str, str] = ("", "")
    value: bool | None = None


class PlainSession:
    """Acts in a list; labels are numbers with names."""

    def __init__(self, table: Table, learner: BaseLearner) -> None:
        self.table, self.fresh = table, learner
        self.acts: list[PlainAct] = []
        self.names: list[str] = []
        self.meaning: dict[str, int] = {}
        self.done: dict[str, list[int]] = {"Ann": [], "Bob": []}
        self.undone: dict[str, list[int]] = {"Ann": [], "Bob": []}

    def number(self, name: str) -> int:
        if name not in self.meaning:
            self.meaning[name] = len(self.names)
            self.names.append(name)
        return self.same(self.meaning[name])

    def same(self, label: int) -> int:
        for act in self.acts:
            if act.kind == "merged" and act.alive and act.label == label:
                return self.same(act.into)
        return label

    def act(self, act: PlainAct) -> int:
        self.acts.append(act)
        if act.by is not None:
            self.done[act.by].append(len(self.acts) - 1)
            self.undone[act.by].clear()
        return len(self.acts) - 1

    def undo(self, teacher: str) -> PlainAct:
        number = self.done[teacher].pop()
        self.undone[teacher].append(number)
        return self._turn(number, alive=False)

    def redo(self, teacher: str) -> PlainAct:
        number = self.undone[teacher].pop()
        self.done[teacher].append(number)
        return self._turn(number, alive=True)

    def _turn(self, number: int, alive: bool) -> PlainAct:
        act = self.acts[number]
        act.alive = alive
        if act.kind == "renamed":
            self.rename(act.label, act.names[alive])
        return act

    def rename(self, label: int, name: str) -> None:
        self.names[label] = name
        self.meaning[name] = label

    def said(self, number: int) -> tuple[str, int | None, str | None]:
        said = self.acts[number].said
        for act in self.acts:
            if act.kind == "changed" and act.alive and act.target == number:
                said = act.said
        answer, label, feature = said
        return answer, None if label is None else self.same(label), feature

    def replay(self) -> tuple[BaseLearner, dict[Any, int], dict[Any, int], int]:
        """The learner, the items taught and waiting with their acts, and the mistakes."""
        learner = self.fresh.clone()
        taught: dict[Any, int] = {}
        waiting: dict[Any, int] = {}
        mistakes = 0
        for tag in list(self.table.tags.values()):
            for place, _ in list(tag):
                tag.set(self.table.items[place], None)
        for number, act in enumerate(self.acts):
            if not act.alive:
                continue
            if act.kind == "tag":
                self.table.tag("odd").set(act.item, act.value)
            if act.kind == "settled" and act.item in waiting:
                item = self.table.item(act.item)
                guess = learner.guess(item)
                if guess.label == self.said(waiting[act.item])[1]:
                    learner.learn(item, guess, None)
                    taught[act.item] = waiting.pop(act.item)
            if act.kind != "answered":
                continue
            answer, label, feature = self.said(number)
            if label is None:
                waits = waiting.get(act.item)
                if answer == "unsure" and waits is not None and self.acts[waits].by == act.by:
                    del waiting[act.item]
                continue
            if act.item in taught:
                continue
            item = self.table.item(act.item)
            guess = learner.guess(item)
            shown = None if act.shown[0] is None else self.same(act.shown[0])
            if guess.label is None:
                learner.learn(item, guess, Correction(label))
            elif guess.label == label:
                learner.learn(item, guess, None)
            elif (guess.label, guess.example.identity) == (shown, act.shown[1]):
                parsed = None if feature is None else self.table.parse(feature)
                learner.learn(item, guess, Correction(label, parsed))
                mistakes += 1
            else:
                waiting[act.item] = number
                continue
            taught[act.item] = number
            waiting.pop(act.item, None)
        return learner, taught, waiting, mistakes

    def rules(self, learner: BaseLearner) -> list[tuple[list[str], str | None, Any]]:
        """A model in plain words."""
        return [
            (
                [str(literal) for literal in clause.literals],
                None if clause.label is None else self.names[clause.label],
                None if clause.example is None else clause.example.identity,
            )
            for clause in learner.model
        ]
