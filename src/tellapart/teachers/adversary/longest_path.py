"""The most that can be gathered on a walk through a graph, when a walk may go round for ever."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

Node: TypeAlias = Hashable
Graph: TypeAlias = Mapping[Node, Iterable[tuple[int, Node]]]
"""Steps out of every node: what a step is worth (0, 1, 2, ...), and where it leads."""

_Into: TypeAlias = defaultdict[Node, list[Node]]


class Longest(NamedTuple):
    """What `longest` finds."""

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
    into: tuple[_Into, _Into] = (defaultdict(list), defaultdict(list))
    for node, worth, then in _units(graph):
        level[node] = None
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
            found |= dict.fromkeys(level, math.inf)
            break
        level, n = dict.fromkeys(upper), n + 1
    return Longest({node: found[node] for node in graph}, step)


def _units(graph: Graph) -> Iterator[tuple[Node, int, Node]]:
    """Every step; one worth w > 1 goes through w-1 nodes of its own."""
    for start, steps in graph.items():
        for worth, then in steps:
            node = start
            for left in range(worth - 1, 0, -1):
                yield node, 1, (then, left)
                node = (then, left)
            yield node, min(worth, 1), then
