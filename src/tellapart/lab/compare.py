"""`tellapart compare`: how many corrections each learner needs on the same streams.

A cell is one contestant on one row with one seed, run by the lab's own sweep. Cells of peers do not
depend on our learners, so a changed learner runs only our cells again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from operator import eq
from pathlib import Path

from tellapart.errors import LabError, MissingExtra, ParameterError, check
from tellapart.features import And, Or, Points
from tellapart.lab import peers
from tellapart.lab.cell_store import CellStore, write_atomic
from tellapart.lab.experiment import Cell, Experiment, Row
from tellapart.lab.figures import render
from tellapart.lab.peers import MOST_COLUMNS, PEERS, READABLE
from tellapart.lab.report import as_csv
from tellapart.lab.standings import Standings
from tellapart.lab.streams import KINDS, QUICK, ROWS, choose, share_right, stream
from tellapart.lab.sweep import sweep
from tellapart.learners.by_name import format_learner, make_learner, parse_learner, world_facts
from tellapart.model import Not
from tellapart.protocol import Feature

OURS_BY_NAME = ("AutoDFF", "Hindsight", "RobustDFF", "CappedDFF", "AdaptiveDFF", "DFF")
LEARNERS = (*OURS_BY_NAME, *PEERS)
"""Every learner and peer, in the order of the report."""
SEEDS = 3
"""Streams of each row."""
_QUICK_SEEDS, _QUICK_ROUNDS, _QUICK_MADE_ROUNDS = 2, 100, 300
_LOOKS = 40  # how often the model labels all items of a stream
_DEPENDS_ON = (
    *("codec.py", "lab/real_tables.py", "lab/streams.py", "lab/trial.py", "model.py"),
    *("protocol.py", "simulation", "theory", "worlds"),
)


def run(_: int, row: str, learner: str, seed: int, rounds: int) -> list[Row]:
    """Teach one learner of ours, or a peer, one stream; the seed makes the same one for all.

    From time to time the model labels all items of the stream: how many answers until 90 and 95 %
    of them are right?
    """
    if learner in PEERS:
        return peers.run(_, row, learner, seed, rounds)
    on = stream(row, seed, rounds)
    items, labels = on.world.items, list(on.world.labels)
    one = make_learner(learner, facts=world_facts(*on.told, len(on.world)))
    teacher = on.teacher()
    mistakes, until = 0, dict.fromkeys((90, 95))
    step = max(5, len(items) // _LOOKS)
    for number, item in enumerate(items, 1):
        guess = one.guess(item)
        answer = teacher.answer(item, guess)
        one.learn(item, guess, answer)
        mistakes += answer is not None and guess.label is not None
        if number % step == 0 and None in until.values():
            right = sum(map(eq, one.model.predict(items), labels))
            for share in until:
                if until[share] is None and 100 * right >= share * len(labels):
                    until[share] = number
    fresh, fresh_labels = on.fresh
    model = one.model
    return [
        {
            "items": len(items),
            "mistakes": mistakes,
            "exceptions": on.world.k,
            "fresh": share_right(model.predict(fresh), fresh_labels),
            "until_90": until[90],
            "until_95": until[95],
            "clauses": len(model.clauses),
            "literals": sum(
                _size(feature) for clause in model.clauses for feature, _ in clause.literals
            ),
        }
    ]


def _size(feature: Feature) -> int:
    """How many simple features somebody has to read; points have one for each term."""
    if isinstance(feature, Not):
        return _size(feature.feature)
    if isinstance(feature, And | Or):
        return sum(map(_size, feature.parts))
    return sum(_size(term) for term, _ in feature.terms) if isinstance(feature, Points) else 1


def plan(
    rows: Sequence[str] = (),
    learners: Sequence[str] = (),
    seeds: int | None = None,
    *,
    quick: bool = False,
) -> list[Cell]:
    """The cells of the rows and learners whose names match, or of all that are available.

    Peers hear labels only: the rows of a table with different teachers share their cells.

    >>> cells = plan(["zoo", "zoo-mute"], ["AutoDFF", "tree, s*"], seeds=1)
    >>> [(cell.parameters["row"], cell.parameters["learner"]) for cell in cells]
    [('zoo', 'AutoDFF'), ('zoo', 'tree, strong'), ('zoo-mute', 'AutoDFF')]
    """
    seeds = (_QUICK_SEEDS if quick else SEEDS) if seeds is None else seeds
    check("compare", "seeds", seeds, "an integer >= 1", lambda v: v >= 1)
    named = _learners(learners) if learners else LEARNERS
    cells: dict[str, Cell] = {}
    for row in _rows(rows, quick):
        if ROWS[row].missing is not None:
            continue
        for name in named:
            if not learners and not _by_default(name, row):
                continue
            if ROWS[row].features > MOST_COLUMNS.get(name, 10**9):
                continue
            for seed in range(seeds):
                cell = _cell(row, name, seed, quick)
                cells.setdefault(cell.name, cell)
    return list(cells.values())


def _by_default(name: str, row: str) -> bool:
    """Whether a learner is taught a row if nobody asks for it by name."""
    teacher = ROWS[row].teacher
    if name == "Hindsight":
        return False
    if name in OURS_BY_NAME and name != "AutoDFF":
        return teacher == "tree"
    return name not in PEERS or name in READABLE or teacher != "slipping"


def _cell(row: str, name: str, seed: int, quick: bool) -> Cell:
    spec = ROWS[row]
    rounds = spec.rounds
    if quick:
        rounds = _QUICK_MADE_ROUNDS if spec.made else _QUICK_ROUNDS
    return Cell(
        f"tellapart.lab.compare:{'THEIRS' if name in PEERS else 'OURS'}",
        {
            "row": spec.of_peers if name in PEERS else row,
            "learner": name,
            "seed": seed,
            "rounds": rounds,
        },
        weight=rounds * (1 + spec.features / 100),
    )


def _learners(names: Sequence[str]) -> list[str]:
    """Those of `LEARNERS` that match, and other learners of ours, such as "capped:m=7".

    >>> _learners(["capped:m=7", "tree, [ls]*", "capped"])
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
    if patterns:
        return choose(patterns, list(ROWS), "row", KINDS)
    return list(QUICK if quick else ROWS)


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
        names = [row for row in _rows(rows, quick) if row not in missing]
        standings = Standings([row for cell in cells for row in found[cell.name]], names, missing)
        write_atomic(folder / "compare.csv", as_csv(standings.rows))
        text = json.dumps(standings.as_json(), indent=1, ensure_ascii=False, allow_nan=False)
        write_atomic(folder / "compare.json", text.encode())
        for kind, content in render(standings.picture()).items():
            write_atomic(folder / f"compare.{kind}", content)
    return standings


def _check_extras(learners: Iterable[str]) -> None:
    """Report missing packages before the work, not after it."""
    plain = ("tree, light", "tree, strong", "tree, unpruned", "BernoulliNB", "1-NN")
    theirs = [name for name in learners if name in PEERS and name not in plain]
    for package in {"river" if name == "HoeffdingTree" else "sklearn" for name in theirs}:
        if find_spec(package) is None:
            raise MissingExtra("tellapart compare", "compare")
    for package in ("joblib", "matplotlib"):
        if find_spec(package) is None:
            raise MissingExtra("tellapart compare", "lab")


def _experiment(name: str, run: Callable[..., list[Row]], depends_on: Sequence[str]) -> Experiment:
    return Experiment(
        name,
        title="Corrections needed",
        claim="The learner that needs the fewest corrections wins.",
        cells=lambda quick: [cell for cell in plan(quick=quick) if cell.experiment.endswith(name)],
        run=run,
        read=lambda rows: Standings(rows).finding(),
        depends_on=depends_on,
    )


OURS = _experiment("OURS", run, (*_DEPENDS_ON, "features", "learners", "teachers"))
THEIRS = _experiment(
    "THEIRS",
    peers.run,
    (*_DEPENDS_ON, "features/thresholds.py", "teachers/informed.py", "teachers/slipping.py"),
)
