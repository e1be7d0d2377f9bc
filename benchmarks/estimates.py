"""How often the 95 % error interval is false at any round of a lesson, and how wide it is.

    python benchmarks/estimates.py [--lessons 1000] [--finite] [--orders] [--width] [--clauses]

Without --finite the rounds are independent and the error of the model drifts in four ways. The last
column is the interval of Clopper and Pearson for the last run of right guesses, looked at after
every round.

With --finite a table is read once, and the statement is about the rows not yet seen: for the
present model; for the present model if models got no worse (`lately`); and what independent draws
would allow, which is false here. Tables of more than 200 rows are looked at before and after every
mistake, where the bounds are tightest, and every 50 rounds.

With --orders: the same for the orders of sessions, which pick some rows and draw others, and for a
switch from one to another. The model never changes. It is unsure of 60 % of the rows and right
there, and 10 % of the others are wrong; or it is unsure of 40 %, of which 20 % are wrong. It is
looked at before every mistake, where the bounds are tightest.

With --width: the upper bound for a fixed model, in wrong rows, beside the exact bound of the
hypergeometric distribution for one look at a round chosen beforehand (Clopper and Pearson without
replacement), and beside what independent draws would allow. Then the same for a model that changed
with each of 34 mistakes in the first 100 rounds, and was right from then on.

With --clauses: the bounds on the errors of single clauses (`review.ClauseRecords`). Items are drawn
from all sets of six features, labels from a decision tree of five leaves with 5 % noise, reasons
are any true difference. A lesson is false if the bound of any clause of any of its models is below
the clause's true error in any round.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from math import exp, lgamma

import tellapart as ta
from tellapart.review import Progress, estimate
from tellapart.review.error_bound import ABOVE, ENDLESS, Draws
from tellapart.sessions.queue import Order

RISK = 0.05
ROUNDS = 1000
# The error after a mistake, from a generator, the error before and the number of models so far.
DRIFTS: dict[str, Callable[[random.Random, float, int], float]] = {
    "stays 5 %": lambda chance, error, models: 0.05,
    "falls by a tenth with each mistake, down to 1 %": lambda chance, error, models: max(
        0.01, 0.9 * error
    ),
    "jumps between 2, 5, 10 and 30 %": lambda chance, error, models: chance.choice(
        [0.02, 0.05, 0.1, 0.3]
    ),
    "falls slowly from 30 % to 3 %": lambda chance, error, models: max(0.03, 0.3 - 0.003 * models),
}
FIXED = [(100, 1), (100, 10), (200, 4), (200, 40), (1000, 10), (1000, 100), (5000, 50), (5000, 500)]
# How many of the rows left are wrong after a mistake, from how many were and how many are left.
CHANGES: dict[str, Callable[[random.Random, int, int], int]] = {
    "loses a tenth of the wrong rows": lambda chance, wrong, left: int(0.9 * wrong),
    "10 % of the rows left are wrong": lambda chance, wrong, left: left // 10,
    "jumps between 0, 2, 10 and 30 % wrong": lambda chance, wrong, left: int(
        left * chance.choice([0.0, 0.02, 0.1, 0.3])
    ),
    "jumps between none and one wrong row": lambda chance, wrong, left: min(
        left, chance.randrange(2)
    ),
}
LEARNERS: list[tuple[str, Callable[[], ta.learners.BaseLearner], int]] = [
    ("CappedDFF(5)", lambda: ta.CappedDFF(5), 300),
    ("AdaptiveDFF()", ta.AdaptiveDFF, 300),
]
ORDERS: list[list[tuple[str, float]]] = [  # each with the share of the rows that it gives out
    [("random", 1.0)],
    [("mixed", 1.0)],
    [("mixed", 0.3), ("random", 0.7)],
]
NOISE = 0.05
BETTER = "loses a tenth of the wrong rows"  # the only change that makes nothing worse


def refuted(draws: Draws, error: float) -> bool:
    """Whether an error of items without end is outside the interval."""
    wrong = error * ENDLESS
    return draws.refute(wrong, ABOVE * RISK) or draws.refute(wrong, (1 - ABOVE) * RISK, more=True)


def drifting(drift: Callable[[random.Random, float, int], float], seed: int) -> tuple[bool, bool]:
    """Whether the interval, and the last run alone, were false at any round of one lesson."""
    chance = random.Random(seed)
    progress = Progress()
    error = drift(chance, 0.3, 1)
    false = false_alone = False
    for _ in range(ROUNDS):
        mistake = chance.random() < error
        if mistake:  # a false statement is not taken back before
            false = false or refuted(progress.draws(None), error)
            false_alone |= (1 - error) ** progress.model.rounds < RISK
        progress.add(mistake)
        if mistake:
            error = drift(chance, error, progress.models)
    return false, false_alone


def finite(
    rows: int, wrong: int, change: Callable[[random.Random, int, int], int] | None, seed: int
) -> tuple[bool, bool, bool]:
    """Whether a statement was false at any round of one lesson: for the present model, `lately`,
    and as if draws were independent."""
    chance = random.Random(seed)
    progress = Progress()
    false = [False, False, False]
    was_mistake = False
    for left in range(rows, 0, -1):
        mistake = chance.random() * left < wrong
        if rows <= 200 or mistake or was_mistake or left % 50 == 0:
            draws = progress.draws(rows)
            false[0] |= draws.refute(wrong, ABOVE * RISK)
            false[0] |= draws.refute(wrong, (1 - ABOVE) * RISK, more=True)
            if change in (None, CHANGES[BETTER]):
                every = progress.draws(rows, lately=True)
                false[1] |= every.refute(wrong, ABOVE * RISK)
            independent = progress.draws(None)
            false[2] |= independent.refute(wrong / left * ENDLESS, ABOVE * RISK)
        was_mistake = mistake
        progress.add(mistake, changed=mistake and change is not None)
        if mistake:
            wrong = wrong - 1 if change is None else change(chance, wrong - 1, left - 1)
    return false[0], false[1], false[2]


def ordered(rows: int, kinds: list[tuple[str, float]], unsure_is_right: bool, seed: int) -> bool:
    """Whether the statement was false at any round, if a session gives out rows in these orders."""
    chance = random.Random(seed)
    is_unsure = [chance.random() < (0.6 if unsure_is_right else 0.4) for _ in range(rows)]
    share = 0.1 if unsure_is_right else 0.2
    wrong = [chance.random() < share and one is not unsure_is_right for one in is_unsure]
    progress, seen, left, false = Progress(), set[int](), sum(wrong), False
    for kind, part in kinds:
        order = Order(rows, kind, seed)
        for _ in range(int(part * rows)):
            place = order.next(seen, lambda pool: [float(is_unsure[one]) for one in pool])
            if place is None:
                break
            if wrong[place]:
                false |= progress.draws(rows).refute(left, ABOVE * RISK)
                left -= 1
            count = progress.pick if order.picks(place) else progress.add
            count(wrong[place], changed=False)
            seen.add(place)
    return false


class NoisyTree:
    """Items are sets of features; labels come from a tree, with noise."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        names = "abcdef"
        self.items = [
            frozenset(name for bit, name in enumerate(names) if number >> bit & 1)
            for number in range(1 << len(names))
        ]
        order = self.chance.sample(names, 4)
        self.labels = [
            next((n for n, name in enumerate(order) if name in item), 4) % 3 for item in self.items
        ]
        self.errors: list[float] = []

    def draw(self) -> tuple[frozenset[str], int]:
        """An item and its label."""
        number = self.chance.randrange(len(self.items))
        wrong = self.chance.random() < NOISE
        return self.items[number], (self.labels[number] + wrong) % 3

    def reason(self, item: frozenset[str], example: frozenset[str]) -> ta.features.Feature | None:
        """Something that tells the two apart."""
        plain, lacking = sorted(item - example), sorted(example - item)
        ways = [*plain, *map(ta.Not, lacking)]
        return self.chance.choice(ways) if ways else None

    def true_errors(self, model: ta.DecisionList) -> list[float]:
        """The error of each clause on the items that fall to it."""
        clauses = list(model)
        errors: list[list[float]] = [[] for _ in clauses]
        place = {id(clause): number for number, clause in enumerate(clauses)}
        for item, label in zip(self.items, self.labels, strict=True):
            clause = model.match(item)
            chances = {label: 1 - NOISE, (label + 1) % 3: NOISE}
            errors[place[id(clause)]].append(1 - chances.get(clause.label, 0.0))
        return [sum(part) / len(part) if part else 0.0 for part in errors]


def clauses(make: Callable[[], ta.learners.BaseLearner], rounds: int, seed: int) -> bool:
    """Whether the bound of any clause was false in any round of one lesson."""
    world, learner, records = NoisyTree(seed), make(), ta.review.ClauseRecords(rounds)
    model, errors = None, []
    for _ in range(rounds):
        item, label = world.draw()
        guess = learner.guess(item)
        if guess.label is not None:
            if learner.model is not model:
                model = learner.model
                errors = world.true_errors(model)
            records.add(model, item, label)
            clause = model.match(item)
            fired = next(n for n, one in enumerate(model) if one is clause)
            if clause.label == label and records.refutes(model, fired, errors[fired], RISK):
                return True
        correction = None
        if guess.label is None or guess.label != label:
            reason = None if guess.label is None else world.reason(item, guess.example)
            correction = ta.Correction(label, reason)
        learner.learn(item, guess, correction)
    return False


def exact_for_one_look(rows: int, draws: int, mistakes: int) -> int:
    """The largest number of wrong rows left that a test of one round does not refute."""

    def log_choose(n: int, k: int) -> float:
        return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

    def likely(wrong: int) -> bool:
        chances = (
            log_choose(wrong, k) + log_choose(rows - wrong, draws - k) - log_choose(rows, draws)
            for k in range(mistakes + 1)
            if draws - k <= rows - wrong
        )
        return sum(map(exp, chances)) > RISK

    wrong = mistakes
    while wrong < rows - draws + mistakes and likely(wrong + 1):
        wrong += 1
    return wrong - mistakes


def widths() -> None:
    """Print the bounds for fixed models with as many mistakes as expected."""
    for rows, wrong in FIXED:
        for share in (0.2, 0.5, 0.8, 0.95):
            draws = round(share * rows)
            mistakes = round(share * wrong)
            progress = Progress(rows)
            for number in range(draws):  # evenly spread
                now, before = ((n * mistakes) // draws for n in (number + 1, number))
                progress.add(now > before, changed=False)
            about = estimate(progress)
            progress.rows = None
            independent = estimate(progress).high * (rows - draws)
            one_look = exact_for_one_look(rows, draws, mistakes)
            print(
                f"{rows} rows, {wrong} wrong; {draws} seen, {mistakes} mistakes: of"
                f" {about.rows_left} left {wrong - mistakes} are wrong; at most"
                f" {about.wrong_left}; for one look {one_look}; as if independent"
                f" {independent:.0f}"
            )
    for right in (25, 50, 100, 200, 400):
        progress = Progress(1000)
        for number in range(100 + right):
            progress.add(number < 100 and number % 3 == 0)
        about = estimate(progress)
        progress.rows = None
        independent = estimate(progress).high * (900 - right)
        print(
            f"1000 rows, 35th model, {right} right: of {about.rows_left} left at most"
            f" {about.wrong_left}; as if independent {independent:.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lessons", type=int, default=1000)
    parser.add_argument("--finite", action="store_true")
    parser.add_argument("--orders", action="store_true")
    parser.add_argument("--width", action="store_true")
    parser.add_argument("--clauses", action="store_true")
    chosen = parser.parse_args()
    seeds = range(chosen.lessons)
    if chosen.orders:
        for kinds in ORDERS:
            for rows in (300, 2000):
                false = [
                    sum(ordered(rows, kinds, is_right, seed) for seed in seeds) / len(seeds)
                    for is_right in (True, False)
                ]
                name = ", then ".join(kind for kind, _ in kinds)
                print(f"{name:24} {rows:5} rows: {false[0]:.3f} {false[1]:.3f}", flush=True)
        return
    if chosen.width:
        widths()
    elif chosen.clauses:
        for name, make, rounds in LEARNERS:
            false = sum(clauses(make, rounds, seed) for seed in seeds)
            print(f"{name}, {rounds} rounds: {false / len(seeds):.3f}", flush=True)
    elif chosen.finite:
        for rows, wrong in FIXED:
            lessons = [finite(rows, wrong, None, seed) for seed in seeds]
            shares = [sum(column) / len(seeds) for column in zip(*lessons, strict=True)]
            said = "present {:.3f}, lately {:.3f}, as if independent {:.3f}".format(*shares)
            print(f"{rows} rows, {wrong} wrong: {said}", flush=True)
        for rows in (200, 1000):
            for name, change in CHANGES.items():
                lessons = [finite(rows, rows // 5, change, seed) for seed in seeds]
                shares = [sum(column) / len(seeds) for column in zip(*lessons, strict=True)]
                lately = f", lately {shares[1]:.3f}" if name == BETTER else ""
                said = f"present {shares[0]:.3f}{lately}, as if independent {shares[2]:.3f}"
                print(f"{rows} rows, {name}: {said}", flush=True)
    else:
        for name, drift in DRIFTS.items():
            two = [drifting(drift, seed) for seed in seeds]
            false, alone = (sum(column) / len(seeds) for column in zip(*two, strict=True))
            print(f"{name}: {false:.3f}, last run alone {alone:.3f}")


if __name__ == "__main__":
    main()
