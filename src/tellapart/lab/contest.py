"""One contestant on one stream: how many corrections it needed."""

from __future__ import annotations

from typing import Any

from tellapart import learners
from tellapart.lab.experiment import Row
from tellapart.lab.peers import PEERS
from tellapart.lab.streams import Stream, stream
from tellapart.learners.by_name import make_learner, world_facts

OURS = tuple(
    name
    for name in ("AutoDFF", "Hindsight", "RobustDFF", "CappedDFF", "AdaptiveDFF", "DFF")
    if hasattr(learners, name)
)
"""Learners that hear reasons, in the order of the report."""


def contestant(name: str, on: Stream) -> Any:
    """A fresh learner or peer by name, told what it is to know of the stream."""
    if name in PEERS:
        return PEERS[name](on)
    return make_learner(name, facts=world_facts(*on.told, len(on.world)))


def run(_: int, row: str, learner: str, seed: int, rounds: int) -> list[Row]:
    """Teach one contestant one stream; the stream has a seed of its own, the same for all."""
    on = stream(row, seed, rounds)
    one, teacher = contestant(learner, on), on.teacher()
    mistakes = 0
    for item in on.world.items:
        guess = one.guess(item)
        answer = teacher.answer(item, guess)
        one.learn(item, guess, answer)
        mistakes += answer is not None and guess.label is not None
    return [{"items": len(on.world), "mistakes": mistakes, "exceptions": on.world.k}]
