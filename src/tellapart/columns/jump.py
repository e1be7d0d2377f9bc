"""`simulate`: what `teach` does, found by jumping from mistake to mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from tellapart.columns.bits import Words, clear, words_for
from tellapart.columns.corrections import Corrections
from tellapart.columns.match import PackedMatch, Unreadable, World
from tellapart.columns.patience import Patience
from tellapart.model import holds
from tellapart.protocol import Conversation, Guess, Learner, Lesson, Round, Stopper, Teacher


def simulate(learner: Learner, world: World, *, until: Stopper | None = None) -> Lesson:
    """The same lesson as `teach(learner, world.teacher(), world.items, until=until)`, fast.

    Between two mistakes nothing changes. So the learner's rules are evaluated on packed columns, 64
    items a word, until a guess is wrong; that round is handed to the learner; and so on. The
    learner is the same object, and ends in the same state.

    Learners jump when they can name the rules that decide (`BaseLearner.rule_lists`): all that keep
    a list of rules, and `Guarded` over such. Others, learners with `remember=True`, learners that
    read features otherwise than the world does (`holds=`), and, from there on, those that are told
    of a feature that cannot be read on every item, are given every round, as `teach` does.

    >>> import tellapart as ta
    >>> world = ta.worlds.tree(1_000_000, 1000, 8, 4, seed=1)
    >>> lesson = ta.simulate(ta.CappedDFF(world.m), world)
    >>> lesson.rounds, lesson.mistakes, lesson.bound
    (1000000, 19, 35)
    """
    conversation = Conversation(learner, world.teacher(), until)
    done, noted = _jump(learner, world, conversation)
    while done < len(world) and not conversation.over:
        conversation.round(done, world.items[done])
        done += 1
    lesson = conversation.lesson(done)
    if noted is None:
        return lesson
    corrections = Corrections(lesson.corrections, noted.where, noted.tell, len(world))
    return replace(lesson, corrections=corrections)


class _Noted:
    """Mistakes on ordinary items that were only counted, by the default or by a rule."""

    def __init__(self, world: World, default: Guess) -> None:
        self.where: Words = np.zeros(words_for(len(world)), dtype=np.uint64)
        self.patience: Patience | None = None
        self._world, self._default = world, default

    @cached_property
    def _teacher(self) -> Teacher:
        return self._world.teacher()

    @cached_property
    def _guesses(self) -> dict[int, Guess]:
        return {} if self.patience is None else self.patience.guesses()

    def tell(self, number: int) -> Round:
        """What was said in one of these rounds."""
        guess, item = self._guesses.get(number, self._default), self._world.items[number]
        correction = self._teacher.answer(item, guess)
        assert correction is not None
        return Round(number, item, guess, correction)


def _jump(learner: Any, world: World, conversation: Conversation) -> tuple[int, _Noted | None]:
    """Go through the world by jumps as far as that goes.

    Returns the first round not done, and the mistakes put down but not told.
    """
    lists: Callable[[], Any] = getattr(learner, "rule_lists", lambda: None)
    reading = getattr(world, "reading", holds)
    if not lists() or any(rules.holds is not reading for rules, _ in lists()):
        return 0, None
    items, number, end = world.items, 0, len(world)
    if end and learner.guess(items[0]).label is None:
        conversation.round(0, items[0])
        number = 1
    ordinary = noted = patience = None
    clocked = any(rules.quiet()[0] >= 0 for rules, _ in lists())
    if clocked or any(rules.tolerant for rules, _ in lists()):
        ordinary = world.ordinary
        alone = lists() == [(learner, True)] and not conversation.watched
        if ordinary is not None and alone:
            noted = _Noted(world, learner.model.default.guess)
    matches: dict[Any, PackedMatch] = {}
    stretch = _Stretch(matches)
    try:
        for rules, _ in lists():
            where = None if noted is None else noted.where
            matches[rules] = PackedMatch(world, rules.model.default.label, ordinary, where)
            rules.use(matches[rules])
        if noted is not None and learner.tolerant:
            patience = noted.patience = matches[learner].patience(learner)
        while number < end and (left := conversation.left()):
            stop = min(end, number + left)
            for rules, shown in lists():
                stop = matches[rules].find(number, stop, shown, *rules.quiet())
            if stop > number:
                if patience is not None:
                    patience.settle(number)
                stretch.start, stretch.stop = number, stop
                learner.skip(stop - number, stretch.uncovered)
                conversation.skip(stop - number)
                left -= stop - number
                number = stop
                if clocked:
                    continue  # its clock has gone on: more may be quiet now
            if number < end and left:
                for match in matches.values():
                    match.arrive(number)
                if patience is None:
                    conversation.round(number, items[number])
                else:
                    slot = matches[learner].slot
                    rule = learner.rule(slot) if slot >= 0 else None
                    patience.look(rule, conversation.round(number, items[number]))
                number += 1
    except Unreadable:
        if noted is not None:
            clear(noted.where, number, end)  # what was put down ahead
    finally:
        for rules in matches:
            rules.use(None)
    return number, noted


class _Stretch:
    """Items between two events."""

    def __init__(self, matches: dict[Any, PackedMatch]) -> None:
        self.matches, self.start, self.stop = matches, 0, 0

    def uncovered(self, rules: Any) -> int:
        """How many of them a list of rules does not cover."""
        return self.matches[rules].uncovered(self.start, self.stop)
