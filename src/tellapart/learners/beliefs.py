"""What a smooth model believes of every row: ridge regression over all columns that hears reasons.

A short list fitted to sixty labels is poor because it is unstable, not because it is short. So a
smooth model looks at everything first, and a short list imitates it. This one is never shown.

Named columns share a part of the kernel of their own, and their weights lean the way the teacher
said. How much, and how strongly all weights are held back, is chosen by leaving each row out, which
has a closed form: one eigendecomposition serves all costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.learners.history import Bits
from tellapart.learners.short_trees import Floats, Numbers

SHARES = (0.3, 0.6)  # of the kernel, for the named columns
SQUARED = 0.2  # the weight of pairs of columns beside the columns themselves, where they help
LEANS = (0.0, 0.1, 0.3)
COSTS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
SHARPNESS = (2, 4, 8, 16)
_SCALE = 10.0  # the kernel of a row with itself, about

Array = npt.NDArray[Any]


class Said(NamedTuple):
    """A reason: the item, of one label, has (sign 1) or lacks (-1) what its example, of the other
    label, lacks or has."""

    column: int
    sign: int
    label: int
    other: int


class Beliefs(NamedTuple):
    """Chances of the labels."""

    of_rows: Array
    left_out: Array
    """Of the labelled rows, each by a model that was not told its label."""
    slopes: Array
    """How far each column speaks for each label."""


class _Fit(NamedTuple):
    missed: Array
    """By how much the others miss each labelled row."""
    values: Array
    vectors: Array
    turned: Array
    """What is wanted of the labelled rows beyond the start, by vectors."""
    cost: float
    kernel: Array
    start: Array
    """What is believed of all rows before any label is known."""

    @property
    def alpha(self) -> Array:
        found: Array = self.vectors @ (self.turned / (self.values + self.cost)[:, None])
        return found


def believe(
    bits: Floats, rows: Numbers, codes: Numbers, labels: int, named: Bits, said: Sequence[Said]
) -> Beliefs:
    """Beliefs about all rows of `bits`, of which `rows` have the labels `codes`; `named` and `said`
    are the columns that were named, and the reasons."""
    signs = 2 * bits - 1
    centred = signs - signs[rows].mean(0)
    known, columns, own_columns = centred[rows], bits.shape[1], int(named.sum())
    truth = np.eye(labels)[codes]
    share = (truth.sum(0) + 0.5) / (len(rows) + 0.5 * labels)
    ways = np.zeros((columns, labels), np.float32)
    for column, sign, label, other in said:
        ways[column, [label, other]] += sign, -sign
    leaning = centred @ np.sign(ways) / np.sqrt(max(1, own_columns))
    starts = [share + lean * leaning for lean in (LEANS if said else LEANS[:1])]
    whole = centred @ known.T * np.float32(_SCALE / max(1, columns))
    kernels = [whole]
    if own_columns:
        own = centred[:, named] @ known[:, named].T * np.float32(_SCALE / own_columns)
        other = (whole * columns - own * own_columns) / max(1, columns - own_columns)
        kernels += [(1 - part) * other + part * own for part in SHARES]
    best = min((fit for k in kernels for fit in _fits(k, rows, truth, starts)), key=_squares)
    pairs = best.kernel + SQUARED * best.kernel**2
    best = min(best, *_fits(pairs, rows, truth, starts), key=_squares)
    left_out = truth - best.missed
    sharp = max(SHARPNESS, key=lambda s: np.log((_soft(left_out, s) * truth).sum(1) + 1e-12).sum())
    alpha = best.alpha
    return Beliefs(
        _soft(best.start + best.kernel @ alpha, sharp),
        _soft(left_out, sharp),
        (known.T @ alpha) * signs.std(0)[:, None],
    )


def _fits(kernel: Array, rows: Numbers, truth: Array, starts: Sequence[Array]) -> Iterator[_Fit]:
    values, vectors = np.linalg.eigh(kernel[rows].astype(np.float64))
    values = np.maximum(values, 0)
    for start in starts:
        wanted = truth - start[rows]
        turned = vectors.T @ wanted
        for cost in COSTS:
            missed = left_out(values, vectors, wanted, turned, cost)
            yield _Fit(missed, values, vectors, turned, cost, kernel, start)


def left_out(values: Array, vectors: Array, wanted: Array, turned: Array, cost: float) -> Array:
    """By how much each row is missed when weights and start are fitted without it.

    `wanted`, and the rows whose products were decomposed into values and vectors, are centred;
    `turned` is `wanted` by vectors. The fit is linear in what is wanted, so a row that is left out
    is missed by its residual over one minus its own influence.
    """
    kept = values / (values + cost)
    fitted = vectors @ (turned * kept[:, None])
    influence = vectors**2 @ kept + 1 / len(wanted)
    missed: Array = (wanted - fitted) / np.maximum(1 - influence, 1e-3)[:, None]
    return missed


def _squares(fit: _Fit) -> float:
    return float((fit.missed**2).sum())


def _soft(scores: Array, sharp: float) -> Array:
    powers = np.exp(sharp * (scores - scores.max(1, keepdims=True)))
    found: Array = powers / powers.sum(1, keepdims=True)
    return found
