"""How many corrections each learner needs, how long its rules are, and how right on fresh rows.

Rows are real tables and made worlds, each in one of two groups: tuned on, or kept apart. Only rows
kept apart decide a claim. Ours hear the reasons of a teacher; peers hear labels only, so they are
taught each row once (teacher "mute"), and once more where labels slip.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property, lru_cache
from math import exp, log
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart import worlds
from tellapart.columns import unpack
from tellapart.combinations import leaves
from tellapart.errors import ParameterError
from tellapart.lab import real_tables
from tellapart.lab.experiment import Claims, Row, Rows, experiment
from tellapart.lab.peers import PEERS, READABLE, Peer
from tellapart.lab.trial import slipping_teacher, told_parameters
from tellapart.learners.by_name import make_learner, parse_learner, takes, world_facts
from tellapart.learners.history import Columns
from tellapart.model import Compound, DecisionList, truth
from tellapart.protocol import Feature, Item, Label, Teacher, teach
from tellapart.teachers import Informed, LabelOf, Lazy, Silent

OURS = ("AutoDFF", "RobustDFF", "CappedDFF", "AdaptiveDFF", "DFF")
TEACHERS = ("tree", "informed", "lazy", "slipping", "half-silent", "mute")
"""tree: thinks in components, of a made world or of the tree that `worlds.grown` fits to a table.
informed: knows all labels, and names the feature that separates the two labels best. lazy: names
any true difference. slipping: as tree, and slips in 5 % of the rounds. half-silent: as tree, and
gives every other reason. mute: gives none."""
FRESH, FEWEST = 500, 50
"""The most rows beside the stream that a model is tested on, and the fewest."""


class Made(NamedTuple):
    """The size of a made world."""

    kind: str
    features: int
    components: int
    labels: int
    exceptions: float


MADE = {
    f"{kind}-{size[0]}-{size[3]:.0%}": (Made(kind, *size), group)
    for size, group in (
        ((30, 8, 3, 0.03), "tuned"),
        ((300, 10, 4, 0.0), "tuned"),
        ((100, 9, 3, 0.05), "kept"),
        ((1000, 11, 4, 0.0), "kept"),
    )
    for kind in ("tree", "dnf")
}
GROUPS = {
    **{name: "kept" if group == real_tables.KEPT else "tuned" for name, group in
       sorted(real_tables.TABLES.items())},
    "zoo": "tuned",
    **{name: group for name, (_, group) in MADE.items()},
}  # fmt: skip
"""Every row, and whether learners may be tuned on it or it is kept apart."""


def _is_run(group: str, row: str, teacher: str, learner: str, **_: Any) -> bool:
    if row not in GROUPS:
        raise ParameterError(f"unknown row {row!r}; known are {', '.join(GROUPS)}")
    if GROUPS[row] != group or (row in real_tables.TABLES and real_tables.missing(row)):
        return False
    if learner in PEERS:
        sees_numbers = PEERS[learner].sees != "columns"
        if row in MADE and (sees_numbers or learner not in READABLE):
            return False  # made worlds have no numbers, and unreadable peers take long there
        return teacher == "mute" or (teacher == "slipping" and learner in READABLE)
    if parse_learner(learner)[0] in OURS[1:]:
        return teacher == "tree"  # what their bounds are about
    # the items of a made world do not list their columns: nothing can be learnt from labels
    return not (row in MADE and teacher == "mute")


@experiment(
    "Corrections needed: ours with reasons, peers with labels only",
    group=("kept", "tuned"),
    row=GROUPS,
    teacher=TEACHERS,
    learner=(*OURS, *PEERS),
    seed=range(3),
    rounds=200,
    where=_is_run,
    quick={
        "row": ("ecoli2", "heart", "housevotes", "zoo", "tree-30-3%", "tree-100-5%"),
        "teacher": ("tree", "informed", "mute"),
        "learner": ("AutoDFF", "CappedDFF", "tree", "BernoulliNB"),
        "seed": range(2),
        "rounds": 60,
    },
)
def corrections(row: str, teacher: str, learner: str, seed: int, rounds: int) -> Iterator[Row]:
    """Every learner gets the same stream: 200 rounds of a table, five times as many of a made
    world. corrections: wrong guesses. terms: simple features printed in the rules at the end. own
    words: the share of them that the teacher named. fresh: the share of right labels on rows of
    the table that are not in the stream. Ours hear reasons, peers labels only. The best readable
    peer of a row is chosen after the fact; only rows kept apart from tuning decide a claim."""
    stream = open_stream(row, seed, rounds)
    fresh, labels = stream.fresh
    one: Any = Peer(learner, stream) if learner in PEERS else stream.make(learner, teacher)
    lesson = teach(one, stream.teacher(teacher), stream.world.items)
    found: Row = {"made": row in MADE, "corrections": lesson.mistakes}
    found["exceptions"] = stream.world.k
    if isinstance(one, Peer):
        yield found | {"terms": one.terms, "fresh": share_right(one.predict_rest(), labels)}
        return
    terms = printed_terms(one.model)
    reasons = [told.correction.feature for told in lesson.corrections]
    named = {leaf for reason in reasons if reason is not None for leaf in leaves(reason)}
    named |= {leaf.opposite for leaf in named if isinstance(leaf, Compound)}
    own = fmean(term in named for term in terms) if terms and named else None
    found |= {"terms": len(terms), "room": 8 + 4 * len(stream.labels), "own words": own}
    yield found | {"fresh": share_right(one.model.predict(fresh), labels)}


def printed_terms(model: DecisionList) -> list[Feature]:
    """The simple features somebody has to read; points and combinations have several."""
    literals = (literal for clause in model.clauses for literal in clause.literals)
    return [term for literal in literals for term in leaves(literal.feature)]


def share_right(guessed: Sequence[Label], labels: Sequence[Label]) -> float | None:
    """The share of right labels; None if there are too few."""
    if len(labels) < FEWEST:
        return None
    return round(fmean(map(lambda a, b: a == b, guessed, labels)), 4)


class Stream:
    """A row with a seed: items, a fresh teacher for each learner, and all columns for peers."""

    def __init__(self, row: str, seed: int, rounds: int) -> None:
        self.seed = seed
        self.fresh: tuple[list[Item], list[Label]] = [], []
        self._numbers: npt.NDArray[np.float64] | None = None
        self.world: worlds.World
        if row == "zoo":
            self.world = worlds.zoo(seed)
        elif row in MADE:
            kind, features, components, labels, exceptions = MADE[row][0]
            make = worlds.tree if kind == "tree" else worlds.dnf
            self.world = make(5 * rounds, features, components, labels, exceptions, seed=seed)
        else:
            table = real_tables.real_table(row, seed, rounds, FRESH)
            self.world = worlds.grown(table.items, table.labels, table.features, name=row)
            self.fresh, self._numbers = (list(table.fresh), table.fresh_labels), table.numbers
        self.labels = sorted({*self.world.labels, *self.fresh[1]}, key=str)

    def make(self, learner: str, teacher: str) -> Any:
        """A learner of ours by name, told m, k and s of the world; slips count as exceptions."""
        rate = 0.05 if teacher == "slipping" else 0.0
        told = told_parameters(self.world, rate, self.seed)
        known: dict[str, Any] = {}
        if self.fresh[0] and takes(parse_learner(learner)[0], "columns"):
            rows = [*self.world.items, *self.fresh[0]]
            known["columns"] = unlabelled(self.world.features, rows)
        return make_learner(learner, known, facts=world_facts(*told, len(self.world)))

    def teacher(self, kind: str) -> Teacher:
        """A fresh teacher, one of `TEACHERS`."""
        world, seed = self.world, self.seed
        if kind == "informed":
            return Informed(world.items, world.labels, world.features)
        if kind == "lazy":
            return Lazy(LabelOf(world.items, world.labels), world.features, seed=seed)
        if kind in ("half-silent", "mute"):
            return Silent(world.teacher(), 1.0 if kind == "mute" else 0.5, seed=seed)
        return slipping_teacher(world, 0.05 if kind == "slipping" else 0.0, seed)

    @cached_property
    def columns(self) -> npt.NDArray[np.bool_]:
        """The truth of every column on every item, and then on the fresh ones: rows by columns."""
        world = self.world
        truths: list[Any] = [unpack(world.truth(name), len(world)) for name in world.features]
        rows = np.stack(truths, axis=1).astype(np.bool_)
        more = [[name in item for name in world.features] for item in self.fresh[0]]
        return np.concatenate([rows, np.array(more, dtype=np.bool_)]) if more else rows

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The numbers of the table's rows, as of `columns`; elsewhere the columns as 0 and 1."""
        return self.columns.astype(np.float64) if self._numbers is None else self._numbers


class _Pool:
    """Rows that a learner sees without their labels."""

    def __init__(self, rows: Sequence[Item], columns: Sequence[Feature]) -> None:
        self.ids: list[Hashable] = [*rows]
        held = [[name in row for row in rows] for name in columns]
        self._bits = dict(zip(columns, np.array(held, dtype=np.bool_), strict=True))

    def truths(self, features: Sequence[Feature]) -> npt.NDArray[np.bool_]:
        """The truth of features on all these rows: features by rows."""
        known = [
            self._bits[feature]
            if feature in self._bits
            else np.array([truth(feature, row) for row in self.ids], dtype=np.bool_)
            for feature in features
        ]
        return np.array(known, dtype=np.bool_).reshape(len(features), len(self.ids))


def unlabelled(columns: Sequence[Feature], rows: Sequence[Item]) -> Columns:
    """Columns that a learner may look at in these rows without their labels, as in a session."""
    return Columns(columns, _Pool(rows, columns))


open_stream = lru_cache(maxsize=4)(Stream)
"""The stream of a row; the last few are kept for the next learner."""


# -- claims: on rows kept apart

_BARS = {
    "tables": {"informed": 0.95, "tree": 0.95, "lazy": 1.10, "mute": 1.05},
    "made worlds": {"tree": 0.50, "informed": 0.80},
}
"""By teacher: AutoDFF's corrections for each one of the best readable peer, at most."""


@corrections.claims
def _(rows: Rows) -> Claims:
    kept = rows.where(group="kept")
    tables, ours = kept.where(made=False), kept.where(learner="AutoDFF")
    for what, bars in _BARS.items():
        for teacher, bar in bars.items():
            claim = f"{what}, {teacher}: {bar:.2f} of the corrections of the best readable peer"
            yield claim, *_at_most(bar, kept.where(made=what != "tables"), teacher, READABLE)
    claim = "tables: reasons of an informed teacher save 0.03 of the corrections without reasons"
    yield claim, *_at_most(0.97, tables, "informed", ("AutoDFF",))
    above, most = sum(row["terms"] > row["room"] for row in ours), max([0, *ours.column("terms")])
    seen = f"above in {above} of {len(ours)} lessons; at most {most}"
    yield "rules stay within 8 + 4 · labels terms", (not above if ours else None), seen
    named = ours.where(made=False, teacher="informed").column("own words")
    own = fmean(named) if named else None
    claim, seen = (
        "tables, informed: 0.7 of the terms are the teacher's own words",
        f"{own or 0:.2f}",
    )
    yield claim, (None if own is None else own >= 0.7), seen
    missing = list(filter(None, map(real_tables.missing, real_tables.TABLES)))
    seen = f"{len(missing)} left out: {', '.join(set(missing))}" if missing else "all"
    yield "every table is installed", (None if missing else True), seen


def _at_most(
    bar: float, rows: Rows, teacher: str, others: Sequence[str]
) -> tuple[bool | None, str]:
    """Corrections of AutoDFF for each one of the best of `others` without reasons, chosen after the
    fact for each row: the geometric mean over rows. No corrections count as half of one."""
    ratios = {}
    for row, group in rows.by("row").items():
        ours = group.where(learner="AutoDFF", teacher=teacher)
        theirs = [group.where(learner=name, teacher="mute") for name in others]
        means = [found.mean("corrections") for found in theirs if found]
        if ours and means:
            ratios[row] = max(ours.mean("corrections"), 0.5) / max(min(means), 0.5)
    if not ratios:
        return None, "no such rows"
    mean, worst = exp(fmean(map(log, ratios.values()))), max(ratios, key=lambda row: ratios[row])
    return (
        mean <= bar,
        f"{mean:.2f} over {len(ratios)} rows; at worst {ratios[worst]:.2f} ({worst})",
    )


corrections.figure("teacher", "corrections", line="learner", panel="group", where={"made": False})
corrections.figure("row", "corrections", line="learner", panel="group", where={"teacher": "mute"})
