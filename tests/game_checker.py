"""Checks that a game has a value, from its rules alone; shares no code with the search.

A teacher has m components and at most k bad rounds. A world says of each item which component it is
in, and whether it is an exception there. A round is bad if its item is an exception, or if neither
item is one and the feature does not hold on all of one component and none of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

Round = tuple[tuple[bool, ...], int, int, tuple[bool, ...]]
World = tuple[tuple[int, bool], ...]
Worlds = dict[World, tuple[int, ...]]  # those that explain a lesson, and the features they rest on


class Game:
    def __init__(self, m: int, k: int) -> None:
        self.m, self.k = m, k
        self.lessons = 0
        self.start: Worlds = {((0, False),): (), **({((0, True),): ()} if k else {})}

    def worlds(self, before: Worlds, rounds: tuple[Round, ...]) -> Worlds:
        """The worlds that explain the rounds; `before` explain all but the last."""
        labels = [0, *(label for _, _, label, _ in rounds)]
        places = product(range(self.m), (False, True))
        every = [(*world, place) for place in places for world in before]
        found = {world: self.explains(world, labels, rounds) for world in every}
        return {world: rests for world, rests in found.items() if rests is not None}

    def explains(self, world: World, labels: list[int], rounds: Any) -> tuple[int, ...] | None:
        for home in range(self.m):
            names = {labels[n] for n, place in enumerate(world) if place == (home, False)}
            odd = {labels[n] for n, place in enumerate(world) if place == (home, True)}
            if len(names) > 1 or names & odd:
                return None
        bad, rests = sum(exception for _, exception in world), []
        for number, (_, example, _, _) in enumerate(rounds):
            (here, odd), (there, shown_is_odd) = world[number + 1], world[example]
            if not odd and not shown_is_odd:
                separates = here != there and all(
                    self.truth(rounds, number, item) == (home == here)
                    for item, (home, _) in enumerate(world)
                    if home in (here, there)
                )
                rests += [number] * separates
                bad += not separates
        return tuple(rests) if bad <= self.k else None

    @staticmethod
    def truth(rounds: tuple[Round, ...], feature: int, item: int) -> bool:
        """Whether the feature named in a round holds on an item."""
        if item <= feature:
            return rounds[feature][3][item]
        return item == feature + 1 or rounds[item - 1][0][feature]

    def most(self, guess: Any, rounds: tuple[Round, ...] = (), worlds: Worlds | None = None) -> int:
        """The most mistakes of a learner, whatever a teacher does.

        The learner is `guess`, told False of features on which no world rests, and the first of all
        corrections that leave the same worlds, resting on the same features.
        """
        worlds, most = worlds or self.start, len(rounds)
        self.lessons += 1
        labels = [0, *(label for _, _, label, _ in rounds)]
        used = set().union(*worlds.values())
        for truths in product(*((False, True)[: 1 + (f in used)] for f in range(len(rounds)))):
            example, seen = guess(rounds, truths), []
            for label in set(range(max(labels) + 2)) - {labels[example]}:
                for feature in product((False, True), repeat=len(labels)):
                    told = (*rounds, (truths, example, label, feature))
                    left = {} if feature[example] else self.worlds(worlds, told)
                    if left and (label, left) not in seen:
                        seen.append((label, left))
                        most = max(most, self.most(guess, told, left))
        return most

    def lines(self, item: Any, answer: Any, n: int, rounds: Any = ()) -> Iterator[Any]:
        """All lessons of a teacher with n mistakes, whatever a learner does."""
        if len(rounds) == n:
            yield rounds
            return
        truths = item(rounds)
        for example in range(len(rounds) + 1):
            told = answer(rounds, truths, example)
            assert told[:2] == (truths, example)
            assert told[2] != [0, *(label for _, _, label, _ in rounds)][example]
            assert not told[3][example]
            yield from self.lines(item, answer, n, (*rounds, tuple(told)))

    def legal(self, rounds: tuple[Round, ...]) -> bool:
        worlds = self.start
        for n in range(len(rounds)):
            worlds = self.worlds(worlds, rounds[: n + 1])
        return bool(worlds)
