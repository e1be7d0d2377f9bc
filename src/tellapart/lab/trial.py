"""One learner, one world, one teacher who may slip: what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tellapart.learners import BaseLearner
from tellapart.protocol import Feature, Guess, Item, Label, Lesson, Teacher, teach
from tellapart.teachers import Informed, Slip, Slipping
from tellapart.worlds import World


class Scene(Protocol):
    """What a trial asks of a world; a table without a representation will do."""

    @property
    def name(self) -> str: ...
    @property
    def items(self) -> Sequence[Item]: ...
    @property
    def labels(self) -> Sequence[Label]: ...
    @property
    def features(self) -> Sequence[Feature]: ...

    def teacher(self) -> Teacher: ...


class Labelled:
    """A world whose teacher knows every label and names the most telling feature (`Informed`).

    What the teacher says follows no components, so no bound applies.
    """

    def __init__(self, world: World) -> None:
        self.name, self.items, self.labels = world.name, world.items, world.labels
        self.features = world.features
        self._teacher = Informed(self.items, self.labels, self.features)

    def teacher(self) -> Informed:
        """The one teacher; it has no state."""
        return self._teacher


@dataclass(frozen=True)
class Trial:
    """A lesson, the learner that took it, and the slips its teacher made."""

    scene: Scene
    learner: BaseLearner
    lesson: Lesson
    slips: tuple[Slip, ...]
    bound: float | None
    """The most mistakes the learner's guarantee allows, every slip counted as a bad round."""
    slip_rate: float
    seed: int

    @property
    def right(self) -> int:
        """How many items the model labels right once the lesson is over."""
        pairs = zip(self.learner.model.predict(self.scene.items), self.scene.labels, strict=True)
        return sum(said == label for said, label in pairs)

    def guess_at(self, number: int) -> Guess:
        """What the learner guessed in round `number`: it is taught again up to there."""
        again = self.learner.clone()
        items = self.scene.items
        teach(again, slipping(self.scene, self.slip_rate, self.seed), items[:number])
        return again.guess(items[number])


def slipping(scene: Scene, rate: float, seed: int) -> Slipping:
    """A fresh teacher of `scene` who slips at `rate`, to its labels and features."""
    labels = sorted(set(scene.labels), key=str)
    return Slipping(scene.teacher(), rate, labels=labels, features=scene.features, seed=seed)


def worst(world: World, rate: float, seed: int) -> tuple[int, int, int]:
    """m, k and s as one could tell a learner who is about to meet such a teacher.

    Every round in which the tongue slips adds to k. That two slips say the same is not expected.
    """
    k = world.k + len(slipping(world, rate, seed).rounds(len(world)))
    return world.m, k, max(world.s, min(k, 1))


def run(scene: Scene, learner: BaseLearner, *, slip_rate: float = 0.0, seed: int = 0) -> Trial:
    """Teach `learner` everything in `scene`, in order.

    >>> from tellapart import CappedDFF, worlds
    >>> trial = run(worlds.zoo(), CappedDFF(m=7), slip_rate=0.03)
    >>> trial.lesson.mistakes, trial.bound, len(trial.slips)
    (33, 67, 2)
    """
    teacher = slipping(scene, slip_rate, seed)
    lesson = teach(learner, teacher, scene.items)
    slips = tuple(teacher.made)
    bound = None
    if isinstance(scene, World):
        k, s = bad_rounds(scene, lesson, slips)
        bound = learner.bound(m=scene.m, k=k, s=s, n=lesson.rounds)
    return Trial(scene, learner, lesson, slips, bound, slip_rate, seed)


def bad_rounds(world: World, lesson: Lesson, slips: Sequence[Slip]) -> tuple[int, int]:
    """k and s as this lesson met them: exceptions and slips, and how many of them said the same.

    A slip makes its round a bad one, whatever the item. s is the largest number of bad rounds that
    named one feature against one component; an example that was shown under a label not its
    component's stands for no component.
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
