"""`simulate`: what `teach` does, found by jumping from mistake to mistake."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tellapart.columns.match import PackedMatch, Unreadable, World
from tellapart.model import FirstMatch, holds
from tellapart.protocol import Conversation, Learner, Lesson


def simulate(learner: Learner, world: World) -> Lesson:
    """The same lesson as `teach(learner, world.teacher(), world.items)`, fast.

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
    conversation = Conversation(learner, world.teacher())
    done = _jump(learner, world, conversation)
    for number in range(done, len(world)):
        conversation.round(number, world.items[number])
    return conversation.lesson(len(world))


def _jump(learner: Any, world: World, conversation: Conversation) -> int:
    """Go through the world by jumps as far as that goes; returns the first round not done."""
    lists: Callable[[], Any] = getattr(learner, "rule_lists", lambda: None)
    reading = getattr(world, "reading", holds)
    if not lists() or any(rules.holds is not reading for rules, _ in lists()):
        return 0
    number, end = 0, len(world)
    if end and learner.guess(world.items[0]).label is None:
        conversation.round(0, world.items[0])
        number = 1
    items = world.items
    matches: dict[Any, PackedMatch] = {}
    try:
        for rules, _ in lists():
            matches[rules] = PackedMatch(world, rules.model.default.label)
            rules.use(matches[rules])
        while number < end:
            stop = end
            for rules, shown in lists():
                match, counting = matches[rules], rules.needs_every_round
                quiet = rules.quiet() if counting else None
                stop = match.find(number, stop, shown, counting, quiet)
            if stop > number:
                learner.skip(stop - number, partial(_uncovered, matches, number, stop))
            number = stop
            if number < end:
                for match in matches.values():
                    match.arrive(number)
                conversation.round(number, items[number])
                number += 1
    except Unreadable:
        pass
    finally:
        for rules in matches:
            rules.use(FirstMatch(rules.holds))
    return number


def _uncovered(matches: dict[Any, PackedMatch], start: int, stop: int, rules: Any) -> int:
    return matches[rules].uncovered(start, stop)
