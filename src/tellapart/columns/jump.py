"""`simulate`: what `teach` does, found by jumping from mistake to mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tellapart.columns.codes import Labels
from tellapart.columns.match import PackedMatch
from tellapart.columns.source import Source
from tellapart.model import FirstMatch, Holds, holds
from tellapart.protocol import Conversation, Item, Learner, Lesson, Teacher


class RuleList(Protocol):
    """What a learner that can be simulated by jumps lets us do to its rules."""

    holds: Holds

    def use(self, index: Any) -> None:
        """Find rules by `index` from now on."""
        ...

    def quiet(self) -> int | None:
        """The first of the coming uncovered rounds in which a guess left standing may matter."""
        ...


class World(Source, Protocol):
    """What `simulate` needs of a world."""

    items: Sequence[Item]

    @property
    def packed_labels(self) -> Labels:
        """What the teacher calls each item."""
        ...

    def teacher(self) -> Teacher:
        """A fresh teacher who corrects every wrong guess, and no other."""
        ...


def simulate(learner: Learner, world: World) -> Lesson:
    """The same lesson as `teach(learner, world.teacher(), world.items)`, fast.

    Between two mistakes nothing changes. So the learner's rules are evaluated on packed columns, 64
    items a word, until a guess is wrong; that round is handed to the learner; and so on. The
    learner is the same object, and ends in the same state.

    Learners jump when they can say which rules decide (`BaseLearner.rule_lists`): all of the
    paper's and ours that keep a list of rules, and `Guarded` over such. Others, learners with
    `remember=True`, and learners that read features otherwise than the world (`holds=`) are given
    every round, by `teach`.

    >>> import tellapart as ta
    >>> world = ta.worlds.tree(1_000_000, 1000, 8, 4, seed=1)
    >>> lesson = ta.simulate(ta.CappedDFF(world.m), world)
    >>> lesson.rounds, lesson.mistakes, lesson.bound
    (1000000, 19, 35)
    """
    conversation = Conversation(learner, world.teacher())
    lists = getattr(learner, "rule_lists", lambda: None)()
    start = 0
    if lists is not None and all(_reads_alike(rules, world) for rules, _ in lists):
        start = _jump(learner, world, conversation)
    for number in range(start, len(world)):
        conversation.round(number, world.items[number])
    return conversation.lesson(len(world))


def _reads_alike(rules: RuleList, world: World) -> bool:
    return rules.holds is getattr(world, "reading", holds)


def _jump(learner: Any, world: World, conversation: Conversation) -> int:
    """Go through the world by jumps; returns how far that went."""
    number, end = 0, len(world)
    if end and learner.guess(world.items[0]).label is None:
        conversation.round(0, world.items[0])
        number = 1
    labels = world.packed_labels
    matches: dict[Any, PackedMatch] = {}
    try:
        for rules, _ in learner.rule_lists():
            match = matches[rules] = PackedMatch(world, labels)
            rules.use(match)
            match.default(rules.model.default.label)
        while number < end:
            stop = end
            for rules, shown in learner.rule_lists():
                stop, _ = matches[rules].find(number, stop, shown, rules.quiet())
            if stop > number:
                learner.skip(stop - number, _Uncovered(matches, number, stop))
            if stop == end:
                return end
            for match in matches.values():
                match.at = stop
            conversation.round(stop, world.items[stop])
            number = stop + 1
        return end
    finally:
        for rules in matches:
            rules.use(FirstMatch(rules.holds))


class _Uncovered:
    """How many items of a stretch without events a list of rules does not cover."""

    def __init__(self, matches: dict[Any, PackedMatch], start: int, stop: int) -> None:
        self.matches, self.start, self.stop = matches, start, stop

    def __call__(self, rules: Any) -> int:
        return self.matches[rules].find(self.start, self.stop, False, None)[1]
