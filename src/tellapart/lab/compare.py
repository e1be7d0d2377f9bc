"""`tellapart compare`: how many corrections each learner needs on the same streams.

A cell is one contestant on one row with one seed, run by the lab's own sweep. Cells of peers do not
depend on our learners, so a changed learner runs only our cells again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tellapart.errors import LabError, MissingExtra, ParameterError, check
from tellapart.lab.cell_store import CellStore, write_atomic
from tellapart.lab.experiment import Cell, Experiment, Row
from tellapart.lab.figures import render
from tellapart.lab.peers import MOST_COLUMNS, PEERS
from tellapart.lab.report import as_csv
from tellapart.lab.standings import Standings
from tellapart.lab.streams import QUICK, ROUNDS, ROWS, Stream, choose, stream
from tellapart.lab.sweep import sweep
from tellapart.learners.by_name import format_learner, make_learner, parse_learner, world_facts

LEARNERS = ("AutoDFF", "Hindsight", "RobustDFF", "CappedDFF", "AdaptiveDFF", "DFF", *PEERS)
"""Every contestant, in the order of the report."""
SEEDS = 5
"""Streams of each row."""
_QUICK_SEEDS, _QUICK_ROUNDS = 2, 300
_DEPENDS_ON = (
    *("codec.py", "features", "lab/real_tables.py", "lab/streams.py", "lab/trial.py"),
    *("model.py", "protocol.py", "simulation", "teachers", "theory", "worlds"),
)


def contestant(name: str, on: Stream) -> Any:
    """A fresh learner or peer by name, told the parameters of the stream that it needs."""
    if name in PEERS:
        return PEERS[name](on)
    return make_learner(name, facts=world_facts(*on.told, len(on.world)))


def run(_: int, row: str, learner: str, seed: int, rounds: int) -> list[Row]:
    """Teach one contestant one stream; the stream's seed is the same for all contestants."""
    on = stream(row, seed, rounds)
    one, teacher = contestant(learner, on), on.teacher()
    mistakes = 0
    for item in on.world.items:
        guess = one.guess(item)
        answer = teacher.answer(item, guess)
        one.learn(item, guess, answer)
        mistakes += answer is not None and guess.label is not None
    return [{"items": len(on.world), "mistakes": mistakes, "exceptions": on.world.k}]


def plan(
    rows: Sequence[str] = (),
    learners: Sequence[str] = (),
    seeds: int | None = None,
    *,
    quick: bool = False,
) -> list[Cell]:
    """The cells of the rows and learners whose names match, or of all that are available.

    >>> [cell.parameters["learner"] for cell in plan(["zoo"], ["tree*"], seeds=1)]
    ['tree, light', 'tree, strong']
    """
    seeds = (_QUICK_SEEDS if quick else SEEDS) if seeds is None else seeds
    check("compare", "seeds", seeds, "an integer >= 1", lambda v: v >= 1)
    named = _learners(learners) if learners else LEARNERS
    rounds = _QUICK_ROUNDS if quick else ROUNDS
    return [
        Cell(
            f"tellapart.lab.compare:{'THEIRS' if name in PEERS else 'OURS'}",
            {"row": row, "learner": name, "seed": seed, "rounds": rounds},
            weight=1 + ROWS[row].features / 100,
        )
        for row in _rows(rows, quick)
        if ROWS[row].missing is None
        for name in named
        if ROWS[row].features <= MOST_COLUMNS.get(name, ROWS[row].features)
        for seed in range(seeds)
    ]


def _learners(names: Sequence[str]) -> list[str]:
    """Those of `LEARNERS` that match, and other learners of ours, such as "capped:m=7".

    >>> _learners(["capped:m=7", "tree*", "capped"])
    ['CappedDFF', 'tree, light', 'tree, strong', 'CappedDFF:m=7']
    """
    found: list[str] = []
    for name in names:
        try:
            found += choose([name], LEARNERS, "learner")
        except ParameterError as unknown:
            try:
                found.append(format_learner(*parse_learner(name)))
            except ParameterError as error:
                more = f"{unknown}, or a learner with parameters, such as CappedDFF:m=7"
                raise error if ":" in name else ParameterError(more) from None
    others = [name for name in found if name not in LEARNERS]
    return [*(name for name in LEARNERS if name in found), *dict.fromkeys(others)]


def skipped(rows: Sequence[str] = (), *, quick: bool = False) -> dict[str, str]:
    """The rows that are not available, and the command that installs what they need."""
    missing = {row: ROWS[row].missing for row in _rows(rows, quick)}
    return {row: command for row, command in missing.items() if command is not None}


def _rows(patterns: Sequence[str], quick: bool) -> list[str]:
    return choose(patterns, list(ROWS), "row") if patterns else list(QUICK if quick else ROWS)


def compare(
    folder: Path | str,
    rows: Sequence[str] = (),
    learners: Sequence[str] = (),
    seeds: int | None = None,
    *,
    quick: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    on_cell: Callable[[Cell, bool], None] = lambda cell, ran: None,
) -> Standings:
    """Run the comparison into `folder`, which keeps finished cells to resume from.

    Parameters
    ----------
    rows, learners : patterns, default all
        Names from `streams.ROWS` and `LEARNERS`, where `*` matches anything; also learners with
        parameters, such as "capped:m=7".
    seeds : int, default=5
        Streams of each row.
    quick : bool, default=False
        Few rows, short streams, two seeds: under a minute.
    workers, dask, on_cell
        As for `sweep`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = compare(folder, ["zoo"], ["CappedDFF", "tree, light"], 2, workers=1)
    >>> found.mean("zoo", "CappedDFF"), found.mean("zoo", "tree, light")
    (23.0, 13.5)
    """
    folder = Path(folder)
    cells, missing = plan(rows, learners, seeds, quick=quick), skipped(rows, quick=quick)
    if not cells:
        told = "; ".join(f"for {row}: {command}" for row, command in missing.items())
        raise LabError(f"there is nothing to compare; {told or 'choose other rows or learners'}")
    _check_extras({cell.parameters["learner"] for cell in cells})
    with CellStore(folder) as store:
        found = sweep(cells, store, workers=workers, dask=dask, on_cell=on_cell)
        standings = Standings([row for cell in cells for row in found[cell.name]], missing)
        write_atomic(folder / "compare.csv", as_csv(standings.rows))
        text = json.dumps(standings.as_json(), indent=1, ensure_ascii=False, allow_nan=False)
        write_atomic(folder / "compare.json", text.encode())
        for kind, content in render(standings.picture()).items():
            write_atomic(folder / f"compare.{kind}", content)
    return standings


def _check_extras(learners: Iterable[str]) -> None:
    """Report missing packages before the work, not after it."""
    needed = {"HoeffdingTree": "river", "LogisticRegression": "sklearn"}
    for package in sorted(needed[name] for name in learners if name in needed):
        if find_spec(package) is None:
            raise MissingExtra("tellapart compare", "compare")
    for package in ("joblib", "matplotlib"):
        if find_spec(package) is None:
            raise MissingExtra("tellapart compare", "lab")


def _experiment(name: str, depends_on: Sequence[str]) -> Experiment:
    return Experiment(
        name,
        title="Corrections needed",
        claim="The learner that needs the fewest corrections wins.",
        cells=lambda quick: [cell for cell in plan(quick=quick) if cell.experiment.endswith(name)],
        run=run,
        read=lambda rows: Standings(rows).finding(),
        depends_on=depends_on,
    )


OURS = _experiment("OURS", (*_DEPENDS_ON, "learners"))
THEIRS = _experiment("THEIRS", (*_DEPENDS_ON, "lab/peers.py"))
