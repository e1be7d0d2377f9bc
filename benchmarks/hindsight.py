"""How long a refit of Hindsight takes, and a round with a long history.

Compares one refit from nothing with one fit of scikit-learn's decision tree on the same table, and
times the rounds of AutoDFF (guess and learn) on items that are sets of columns. Ratios are within
one run. What Python's garbage collector needs to go through all those sets is told apart: it comes
in whatever round happens to be next, with any learner.

    python benchmarks/hindsight.py              # 100 000 x 200, and rounds at 10 000 x 1000
    python benchmarks/hindsight.py --quick
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import tellapart as ta
from tellapart.learners.hindsight.history import History
from tellapart.learners.hindsight.readings import WAYS
from tellapart.protocol import Correction, Guess
from tellapart.simulation import unpack


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def table(n: int, d: int) -> tuple[Any, Any, list[frozenset[str]]]:
    world = ta.worlds.tree(n, d, 12, 3, 0.03, seed=0)
    truths = np.stack([unpack(world.truth(f), n) for f in world.features], axis=1)
    names = np.array(world.features)
    return world, truths, [frozenset(names[row].tolist()) for row in truths]


def refit(n: int, d: int) -> None:
    world, truths, items = table(n, d)
    labels = list(world.labels)
    history = History()
    for item, label in zip(items, labels, strict=True):
        history.add(item, label)
    tree = seconds(lambda: DecisionTreeClassifier(random_state=0).fit(truths, labels), 1)
    for name, way in WAYS.items():
        mine = seconds(lambda way=way: way().fit(history), 1)
        print(
            f"refit {n} x {d}, {name}: {mine:.3f} s; a tree {tree:.3f} s; ratio {mine / tree:.3f}"
        )


class Pauses:
    """How long Python collected garbage, in seconds."""

    total = began = 0.0

    def __call__(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self.began = time.process_time()
        else:
            self.total += time.process_time() - self.began


def rounds(n: int, d: int, timed: int = 300) -> None:
    world, truths, items = table(n + timed, d)
    labels, teacher = list(world.labels), world.teacher()
    place = {item: number for number, item in enumerate(items)}
    learner = ta.AutoDFF()
    right, wrong = [], []
    pauses, longest_pause = Pauses(), 0.0
    gc.callbacks.append(pauses)
    for number, item in enumerate(items):
        if 300 <= number < n:
            learner.overhear(item, labels[number])
            continue
        paused, start = pauses.total, time.process_time()
        guess = learner.guess(item)
        spent = time.process_time() - start
        answer = None
        if guess.label is None:
            answer = Correction(labels[number])
        elif guess.label != labels[number]:
            shown = Guess(guess.label, world.items[place[guess.example]])
            answer = teacher.answer(world.items[number], shown)
        start = time.process_time()
        learner.learn(item, guess, answer)
        spent += time.process_time() - start
        if number >= n:
            paused = pauses.total - paused
            longest_pause = max(longest_pause, paused * 1000)
            (right if answer is None else wrong).append((spent - paused) * 1000)
    gc.callbacks.remove(pauses)
    tree = seconds(lambda: DecisionTreeClassifier(random_state=0).fit(truths, labels), 1)
    for name, times in (("right", right), ("wrong", wrong)):
        median = float(np.median(times))
        print(
            f"rounds {n} x {d}, guess {name}: median {median:.1f} ms, the longest"
            f" {max(times):.1f} ms; a tree {tree * 1000:.0f} ms; ratios {median / tree / 1000:.4f}"
            f" and {max(times) / tree / 1000:.4f}"
        )
    print(f"the longest pause to collect garbage: {longest_pause:.1f} ms")


def noisy(n: int, d: int, components: int) -> None:
    """A lesson with many rules and exceptions; each correction against a fit on what is known."""
    world = ta.worlds.tree(n, d, components, 3, 0.1, seed=0)
    truths = np.stack([unpack(world.truth(f), n) for f in world.features], axis=1)
    labels, found = list(world.labels), []
    mine = seconds(lambda: found.append(ta.teach(ta.AutoDFF(), world.teacher(), world.items)), 1)
    known = [place + 1 for place in found[0].mistake_rounds if place]
    trees = seconds(
        lambda: [DecisionTreeClassifier(random_state=0).fit(truths[:k], labels[:k]) for k in known],
        1,
    )
    each = 1000 / len(known)
    print(
        f"{n} x {d}, {components} components, 10 % exceptions: {mine * each:.1f} ms a correction; a"
        f" tree {trees * each:.1f} ms; ratio {mine / trees:.2f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    refit(*((5000, 50) if quick else (100_000, 200)))
    rounds(*((1000, 100) if quick else (10_000, 1000)))
    for components in (8, 30, 100):
        noisy(*((500, 30) if quick else (2000, 100)), components)
