"""The search for the worst lesson, over every position there is."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from math import inf
from typing import NamedTuple, TypeAlias

from tellapart.adversary.moves import Moves, Played, Position
from tellapart.errors import ParameterError, TellapartError
from tellapart.learners import BaseLearner

START = "start"
"""Stands for the key before the first round."""

Node: TypeAlias = Hashable
Graph: TypeAlias = Mapping[Node, Iterable[tuple[int, Node]]]
"""The edges out of every node: their worth (0 or 1), and where they lead."""

Choose: TypeAlias = Callable[[Hashable, list[Played]], Played | None]
"""Takes the key of a position and the rounds possible there; None ends the lesson."""


class ExactSearch:
    """Every position there is, and the best way through them."""

    def __init__(self, moves: Moves, learner: BaseLearner, most: int) -> None:
        self._learner = repr(learner)
        self._numbers: dict[Hashable, int] = {START: 0}
        graph: list[list[tuple[int, int, int]]] = [[]]  # mistakes, rules created, where it leads
        queue: deque[Position] = deque()
        for played in moves.openings(learner):
            graph[0].append(self._step(played, queue))
        while queue:
            graph.append([])
            for played in moves.rounds(queue.popleft()):
                graph[-1].append(self._step(played, queue))
            if len(self._numbers) > most:
                raise ParameterError(
                    f"worst_case: {learner!r} at m = {moves.m}, k = {moves.k} has more than {most}"
                    " positions. Pass a larger most_positions="
                )
        self.positions = len(self._numbers) - 1
        worth, self._best = longest(dict(enumerate([(n, to) for n, _, to in out] for out in graph)))
        rules, _ = longest(dict(enumerate([(n, to) for _, n, to in out] for out in graph)))
        self.mistakes, self.rules_created = worth[0], rules[0]

    def _step(self, played: Played, queue: deque[Position]) -> tuple[int, int, int]:
        key = played.then.key
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            queue.append(played.then)
        return played.mistakes, played.created, self._numbers[key]

    def __call__(self, key: Hashable, options: list[Played]) -> Played | None:
        best = self._best.get(self._numbers[key])
        if best is None:
            return options[0] if key == START else None
        good = [played for played in options if self._numbers.get(played.then.key) == best]
        if not good:
            raise TellapartError(
                f"{self._learner} did something else when taught the same lesson again."
                " A learner must depend on nothing but what it is told"
            )
        return max(good, key=lambda played: played.mistakes)


def walk(moves: Moves, learner: BaseLearner, choose: Choose, rounds: float) -> list[Played]:
    """The lesson that `choose` makes, of at most `rounds` rounds."""
    line: list[Played] = []
    key: Hashable = START
    options = moves.openings(learner)
    while len(line) < rounds and (played := choose(key, list(options))) is not None:
        line.append(played)
        key, options = played.then.key, moves.rounds(played.then)
    return line


class Longest(NamedTuple):
    """The longest walks through a graph."""

    worth: dict[Node, float]
    """The most a walk from each node can gather; `math.inf` if it can go round for ever."""
    step: dict[Node, Node]
    """Where such a walk goes next, from every node that is worth something."""


def longest(graph: Graph) -> Longest:
    """The worth of every node, level by level: who can gather 1, 2, 3, ...

    A node can gather n+1 if a walk of worthless steps leads from it to a step worth 1 into a node
    that can gather n. When a level loses no node, those on it can go on for ever: each has a walk
    to the same level again.

    >>> longest({"a": [(1, "b"), (0, "c")], "b": [], "c": [(1, "b"), (1, "c")]}).worth
    {'a': inf, 'b': 0, 'c': inf}
    """
    level = dict.fromkeys(graph)  # a set in order, so that the same graph gives the same walk
    into: tuple[defaultdict[Node, list[Node]], ...] = (defaultdict(list), defaultdict(list))
    for node, steps in graph.items():
        for worth, then in steps:
            into[worth][then].append(node)
    found: dict[Node, float] = {}
    step: dict[Node, Node] = {}
    n = 0
    while level:
        upper = {node: then for then in level for node in into[1][then]}
        reached = list(upper)
        for then in reached:  # grows while it is read
            for node in into[0][then]:
                if node not in upper:
                    upper[node] = then
                    reached.append(node)
        found |= dict.fromkeys((node for node in level if node not in upper), n)
        step |= upper
        if len(upper) == len(level):
            found |= dict.fromkeys(level, inf)
            break
        level, n = dict.fromkeys(upper), n + 1
    return Longest({node: found[node] for node in graph}, step)
