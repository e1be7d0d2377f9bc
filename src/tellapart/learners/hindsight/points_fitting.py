"""Fits points to a history: whole weights on columns, a sum for each label; the largest sum wins.

Some concepts have no short list of conjunctions, because many weak signs add up. Points are fitted
by least squares: the target of an item is 1 for its label and 0 for the others, and large weights
cost (a ridge penalty). Reasons say which columns may have large weights, and for which labels
(`_weigh_reasons`). How much weights cost, and how far reasons are believed, is chosen by what the
sums would have said of each item had it been left out. There is a closed form for that, so a fit is
two decompositions of a matrix, and nothing is random.

Then the weights are rounded to whole numbers up to `MOST`. Where few columns do as well as all,
left-out items again being the judge, there is a short version.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tellapart.learners.hindsight.history import History

MOST = 10
"""The largest weight."""

_ITEMS = 1024  # the latest items, to which points are fitted
_COLUMNS = 256  # the most columns that are weighed, those that tell most by themselves
_COSTS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # of large weights,
_LEANS = (0.0, 0.3, 0.6)  # the weight that reasons alone give to a column
_USUAL = 3.0, True, 0.3  # cost, belief and lean; each other one must get an item more right
_SHORT = (8, 16, 32, 64)  # columns of the short version
_CLOSE = 1e-9

_Floats: TypeAlias = npt.NDArray[np.float64]
_Whole: TypeAlias = npt.NDArray[np.int64]


class Card(NamedTuple):
    """Points for every label (rows) and column; the label with the most points is the guess."""

    columns: npt.NDArray[np.intp]
    points: _Whole
    start: _Whole
    """What each label has to begin with."""

    def sums(self, truths: npt.NDArray[np.bool_]) -> _Whole:
        """The points of every label, given the truth of `columns` on some items."""
        sums: _Whole = self.points @ truths.astype(np.int64) + self.start[:, None]
        return sums


class _Reasons(NamedTuple):
    """What the reasons say of each column."""

    scale: _Floats
    """How easily it gets a weight: more than 1 if it was named more often than by chance."""
    lean: _Floats
    """For which labels it speaks, between -1 and 1: labels by columns."""

    def of(self, some: npt.NDArray[np.intp]) -> _Reasons:
        """Of some columns only."""
        return _Reasons(self.scale[some], self.lean[:, some])


class _Solution(NamedTuple):
    weights: _Floats  # labels by columns
    start: _Floats
    wrong: float  # of the items left out in turn; squares break ties


def fit_cards(history: History) -> tuple[Card, Card]:
    """The points of all columns, and the short version."""
    first = max(0, len(history) - _ITEMS)
    items = np.arange(first, len(history))
    codes = np.array(history.codes[first:], dtype=np.intp)
    target = np.zeros((len(items), len(history.labels)))
    target[np.arange(len(items)), codes] = 1.0
    columns, truths = _candidates(history, items, target)
    reasons = _weigh_reasons(history, columns) if history.pairs else None
    whole = _solve(truths, target, reasons)
    spread = np.sqrt(truths.mean(1) * (1 - truths.mean(1)))
    best_first = np.argsort(-np.abs(whole.weights).max(0, initial=0.0) * spread, kind="stable")
    short, used = whole, np.arange(len(columns))
    for size in _SHORT:
        if size >= len(columns):
            break
        some = np.sort(best_first[:size])
        found = _solve(truths[some], target, reasons and reasons.of(some))
        if found.wrong <= whole.wrong:
            short, used = found, some
            break
    return _rounded(columns, whole), _rounded(columns[used], short)


def _candidates(
    history: History, items: npt.NDArray[np.intp], target: _Floats
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """The columns to weigh, by their texts, and their truth on the items."""
    truths = history.truths(items)
    held = truths.sum(1)
    varied = np.flatnonzero((held > 0) & (held < len(items))).tolist()
    columns = np.array(sorted(varied, key=history.texts.__getitem__), dtype=np.intp)
    if len(columns) > _COLUMNS:
        share = held[columns, None] / len(items)
        expected = share * target.sum(0)
        apart = (truths[columns] @ target - expected) ** 2 / (target.sum(0) + 1)
        tells = apart.sum(1) / (share * (1 - share))[:, 0]
        tells[np.isin(columns, list(history.named))] = np.inf
        columns = columns[np.sort(np.argsort(-tells, kind="stable")[:_COLUMNS])]
    return columns, truths[columns]


def _weigh_reasons(history: History, columns: npt.NDArray[np.intp]) -> _Reasons:
    """What was named, compared with all that could have been.

    An item and its example differ in some columns, and the teacher chose one of them. What it did
    not choose is told as well: a column that is often different and never named matters less.
    """
    on_item, on_example = history.pair_truths()
    differs = on_item != on_example
    chance = 1 / np.maximum(1, differs.sum(0))
    by_chance = differs[columns] * chance
    named = columns[:, None] == np.array([pair.column for pair in history.pairs])
    scale = np.sqrt((named.sum(1) + 0.5) / (by_chance.sum(1) + 0.5))
    codes = np.array(history.codes, dtype=np.intp)
    labels = np.eye(len(history.labels))
    items, examples = (labels[codes[[pair[side] for pair in history.pairs]]] for side in (0, 1))
    speaks = (named - by_chance) * np.where(on_item[columns], 1.0, -1.0)
    told = (items + examples).sum(0) + 2
    return _Reasons(scale, (speaks @ (items - examples) / told).T)


def _solve(truths: npt.NDArray[np.bool_], target: _Floats, reasons: _Reasons | None) -> _Solution:
    """The best weights for all costs, with reasons believed or not, and all leans."""
    usual, share = truths.mean(1), target.mean(0)
    centred, wanted = truths.T - usual, target - share
    codes = target.argmax(1)
    best: _Solution | None = None
    for believed in (True, False) if reasons else (True,):
        scale = reasons.scale if reasons and believed else np.ones(len(truths))
        scaled = centred * scale
        values, vectors = decompose(scaled)
        for lean in _LEANS if reasons else _USUAL[2:]:
            leaning = lean * reasons.lean if reasons else np.zeros((target.shape[1], len(truths)))
            rest = wanted - centred @ leaning.T
            for cost in _COSTS:
                missed = left_out(values, vectors, rest, cost)
                wrong = np.count_nonzero((target - missed).argmax(1) != codes)
                score = wrong + 1e-3 * float((missed**2).sum())
                score += sum(a != b for a, b in zip((cost, believed, lean), _USUAL, strict=True))
                if best is None or score < best.wrong - _CLOSE:
                    shares = vectors.T @ rest / (values + cost)[:, None]
                    weights = (scaled.T @ (vectors @ shares)).T * scale + leaning
                    best = _Solution(weights, share - weights @ usual, score)
    assert best is not None
    return best


def left_out(values: _Floats, vectors: _Floats, wanted: _Floats, cost: float) -> _Floats:
    """By how much each item is missed when weights and start are fitted without it.

    `wanted` and the rows that were decomposed are centred. The fit is linear in what is wanted, so
    an item that is left out is missed by its residual over one minus its own influence.
    """
    kept = values / (values + cost)
    fitted = vectors @ (vectors.T @ wanted * kept[:, None])
    influence = vectors**2 @ kept + 1 / len(wanted)
    missed: _Floats = (wanted - fitted) / np.maximum(1 - influence, 1e-6)[:, None]
    return missed


def decompose(rows: _Floats) -> tuple[_Floats, _Floats]:
    """The squared singular values of `rows`, and their left vectors; by the smaller product."""
    n, columns = rows.shape
    if columns >= n:
        values, vectors = np.linalg.eigh(rows @ rows.T)
        return np.maximum(values, 0.0), vectors
    values, turned = np.linalg.eigh(rows.T @ rows)
    kept = values > 1e-9 * max(1.0, float(values.max(initial=0.0)))
    values = values[kept]
    return values, rows @ turned[:, kept] / np.sqrt(values)


def _rounded(columns: npt.NDArray[np.intp], found: _Solution) -> Card:
    """As whole points; columns without any are left out."""
    weights = found.weights - found.weights.mean(0)
    start = found.start - found.start.mean()
    factor = MOST / max(float(np.abs(weights).max(initial=0.0)), 1e-9)
    points = np.rint(weights * factor + _CLOSE).astype(np.int64)
    used = points.any(0)
    begin = np.rint(np.clip(start * factor, -1e6, 1e6) + _CLOSE).astype(np.int64)
    return Card(columns[used], points[:, used], begin)
