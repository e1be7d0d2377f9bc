"""A trial: one learner, one world, and a teacher who may slip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tellapart.learners import BaseLearner
from tellapart.protocol import Feature, Guess, Lesson, teach
from tellapart.teachers import Slip, Slipping
from tellapart.worlds import World


@dataclass(frozen=True)
class Trial:
    """A lesson, the learner that took it, and the slips of its teacher."""

    world: World
    learner: BaseLearner
    lesson: Lesson
    slips: tuple[Slip, ...]
    bound: float | None
    """The most mistakes the learner's guarantee allows, if every slip counts as a bad round."""
    slip_rate: float
    seed: int

    @property
    def right(self) -> int:
        """How many items the final model labels correctly."""
        pairs = zip(self.learner.model.predict(self.world.items), self.world.labels, strict=True)
        return sum(guessed == label for guessed, label in pairs)

    def guess_at(self, number: int) -> Guess:
        """The learner's guess in round `number`; the rounds before it are taught again."""
        again = self.learner.clone()
        items = self.world.items
        teach(again, slipping_teacher(self.world, self.slip_rate, self.seed), items[:number])
        return again.guess(items[number])


def slipping_teacher(world: World, rate: float, seed: int) -> Slipping:
    """A fresh teacher of `world` who slips at `rate`, to its labels and features."""
    labels = sorted(set(world.labels), key=str)
    return Slipping(world.teacher(), rate, labels=labels, features=world.features, seed=seed)


def told_parameters(world: World, rate: float, seed: int) -> tuple[int, int, int]:
    """m, k and s to tell a learner before a trial with this slip rate.

    Every round with a slip adds to k. Two slips are not expected to say the same.
    """
    k = world.k + len(slipping_teacher(world, rate, seed).rounds(len(world)))
    return world.m, k, max(world.s, min(k, 1))


def run(world: World, learner: BaseLearner, *, slip_rate: float = 0.0, seed: int = 0) -> Trial:
    """Teach `learner` all items of `world`, in order.

    >>> from tellapart import CappedDFF, worlds
    >>> trial = run(worlds.zoo(), CappedDFF(m=7), slip_rate=0.03)
    >>> trial.lesson.mistakes, trial.bound, len(trial.slips)
    (33, 67, 2)
    """
    teacher = slipping_teacher(world, slip_rate, seed)
    lesson = teach(learner, teacher, world.items)
    slips = tuple(teacher.made)
    k, s = bad_rounds(world, lesson, slips)
    bound = learner.bound(m=world.m, k=k, s=s, n=lesson.rounds)
    return Trial(world, learner, lesson, slips, bound, slip_rate, seed)


def bad_rounds(world: World, lesson: Lesson, slips: Sequence[Slip]) -> tuple[int, int]:
    """k and s of this lesson: how many rounds were bad, and how many of them said the same.

    A round is bad if its item is an exception or its teacher slipped. s is the largest number of
    bad rounds that named one feature against one component. An example shown under a label that is
    not its component's stands for no component.
    """
    bad = {*world.exceptions, *(slip.round for slip in slips)}
    component_of, components = world.teacher().component_of, world.representation.components
    said = Counter[tuple[int, Feature]]()
    for number, _, guess, correction in lesson.corrections:
        if number in bad and correction.feature is not None:
            against = component_of(guess.example)
            if against is not None and components[against].label == guess.label:
                said[against, correction.feature] += 1
    return len(bad), max([world.s, *said.values()])
