"""`simulate`: what `teach` does, found by jumping from mistake to mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tellapart.model import holds
from tellapart.protocol import Conversation, Learner, Lesson, Stopper
from tellapart.simulation.corrections import Corrections, Noted
from tellapart.simulation.match import PackedMatch, Unreadable, World
from tellapart.simulation.solo import Solo


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
    if noted is None:
        return conversation.lesson(done)
    # (what he said of an exception depends on what he had said before: he will say it again)
    told = Corrections(conversation.corrections, noted, world.items, lambda: conversation.teacher)
    return conversation.lesson(done, told)


def _jump(learner: Any, world: World, conversation: Conversation) -> tuple[int, Noted | None]:
    """Go through the world by jumps as far as that goes.

    Returns the first round not done, and the mistakes put down but not told.
    """
    # (not what a wrapper passes on, which may guess and learn otherwise)
    speaks = hasattr(type(learner), "rule_lists")
    lists: Callable[[], Any] = learner.rule_lists if speaks else lambda: None
    reading = getattr(world, "reading", holds)
    decide = lists()
    if not decide or any(rules.holds is not reading for rules, _ in decide):
        return 0, None
    number = 0
    if len(world) and learner.guess(world.items[0]).label is None:
        conversation.round(0, world.items[0])
        number = 1
    alone = decide == [(learner, True)] and not conversation.watched
    if alone and learner.by_the_book:
        solo = Solo(learner, world, conversation)
        return solo.run(number), solo.noted
    return _together(learner, lists, world, conversation, number), None


def _together(
    learner: Any,
    lists: Callable[[], Any],
    world: World,
    conversation: Conversation,
    number: int,
) -> int:
    """Several lists of rules, or one and a stopper; returns the first round not done."""
    end, items = len(world), world.items
    clocked = any(rules.quiet()[0] >= 0 for rules, _ in lists())
    ordinary = world.ordinary if clocked else None
    matches: dict[Any, PackedMatch] = {}
    stretch = _Stretch(matches)
    try:
        for rules, _ in lists():
            matches[rules] = PackedMatch(world, rules.default.label, ordinary)
            rules.use(matches[rules])
        while number < end and (left := conversation.left()):
            stop = min(end, number + left)
            for rules, shown in lists():
                stop = matches[rules].find(number, stop, shown, *rules.quiet())
            if stop > number:
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
                conversation.round(number, items[number])
                number += 1
    except Unreadable:
        pass
    finally:
        for rules in matches:
            rules.use(None)
    return number


class _Stretch:
    """Items between two events."""

    def __init__(self, matches: dict[Any, PackedMatch]) -> None:
        self.matches, self.start, self.stop = matches, 0, 0

    def uncovered(self, rules: Any) -> int:
        """How many of them a list of rules does not cover."""
        return self.matches[rules].uncovered(self.start, self.stop)
