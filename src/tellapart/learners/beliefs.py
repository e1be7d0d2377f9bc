"""What a smooth model believes of every row: ridge regression over all columns that hears reasons.

A short list fitted to sixty labels is poor because it is unstable, not because it is short. So a
smooth model looks at everything first, and a short list imitates it. This one is never shown.

Named columns share a part of the kernel of their own, and their weights lean the way the teacher
said. How much, and how strongly all weights are held back, is chosen by leaving each row out, which
has a closed form: one eigendecomposition serves all costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.learners.short_trees import Floats, Numbers

SHARES = (0.3, 0.6)  # of the kernel, for the named columns
SQUARED = 2.0  # the weight of pairs of columns beside the columns themselves, where they help
LEANS = (0.0, 0.1, 0.3)
COSTS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
SHARPNESS = (2, 4, 8, 16)
_SCALE = 10.0  # the kernel of a row with itself, about


class Said(NamedTuple):
    """A reason: the item, of one label, has (sign 1) or lacks (-1) what its example, of the other
    label, lacks or has."""

    column: int
    sign: int
    label: int
    other: int


class Beliefs(NamedTuple):
    """Chances of the labels."""

    of_rows: npt.NDArray[Any]
    left_out: npt.NDArray[Any]
    """Of the labelled rows, each by a model that was not told its label."""
    slopes: npt.NDArray[Any]
    """How far each column speaks for each label."""


class _Fit(NamedTuple):
    error: float
    kernel: npt.NDArray[Any]
    lean: float
    alpha: npt.NDArray[Any]
    left: npt.NDArray[Any]
    """What each labelled row differs from what the others say of it."""


def believe(
    bits: Floats,
    rows: Numbers,
    codes: Numbers,
    labels: int,
    named: npt.NDArray[np.bool_],
    said: Sequence[Said],
) -> Beliefs:
    """Beliefs about all rows of `bits`, of which `rows` have the labels `codes`.

    Parameters
    ----------
    named : a bool for each column
    said : reasons, about named columns
    """
    signs = 2 * bits - 1
    centred = signs - signs[rows].mean(0)
    known = centred[rows]
    truth = np.eye(labels)[codes]
    share = (truth.sum(0) + 0.5) / (len(rows) + 0.5 * labels)
    kernels = _kernels(centred, known, named)
    leaning = _leaning(centred, named, said, labels)
    fits = [_fit(kernel, rows, truth - share, leaning, bool(said)) for kernel in kernels]
    best = min(fits, key=lambda found: found.error)
    kernel = best.kernel + SQUARED / _SCALE * best.kernel**2
    best = min(best, _fit(kernel, rows, truth - share, leaning, bool(said)), key=lambda f: f.error)
    left_out = truth - best.left
    scores = share + best.kernel @ best.alpha + (best.lean * leaning if best.lean else 0)
    slopes = (known.T @ best.alpha) * signs.std(0)[:, None]
    each = np.arange(len(rows))
    sharp = max(SHARPNESS, key=lambda b: np.log(_soft(left_out, b)[each, codes] + 1e-12).sum())
    return Beliefs(_soft(scores, sharp), _soft(left_out, sharp), slopes)


def _fit(
    kernel: npt.NDArray[Any],
    rows: Numbers,
    truth: npt.NDArray[Any],
    leaning: npt.NDArray[Any],
    leans: bool,
) -> _Fit:
    """The best of all costs and leanings, by leaving each row out."""
    values, vectors = np.linalg.eigh(kernel[rows].astype(np.float64))
    values = np.maximum(values, 0)
    best: _Fit | None = None
    for lean in LEANS if leans else LEANS[:1]:
        target = truth - lean * leaning[rows] if lean else truth
        for cost in COSTS:
            left = left_out(values, vectors, target, cost)
            error = float((left**2).sum())
            if best is None or error < best.error - 1e-9:
                alpha = vectors @ (vectors.T @ target / (values + cost)[:, None])
                best = _Fit(error, kernel, lean, alpha, left)
    assert best is not None
    return best


def left_out(
    values: npt.NDArray[Any], vectors: npt.NDArray[Any], wanted: npt.NDArray[Any], cost: float
) -> npt.NDArray[Any]:
    """By how much each row is missed when weights and start are fitted without it.

    `wanted`, and the rows whose products were decomposed into values and vectors, are centred. The
    fit is linear in what is wanted, so a row that is left out is missed by its residual over one
    minus its own influence.
    """
    kept = values / (values + cost)
    fitted = vectors @ (vectors.T @ wanted * kept[:, None])
    influence = vectors**2 @ kept + 1 / len(wanted)
    missed: npt.NDArray[Any] = (wanted - fitted) / np.maximum(1 - influence, 1e-3)[:, None]
    return missed


def _kernels(
    centred: Floats, known: Floats, named: npt.NDArray[np.bool_]
) -> list[npt.NDArray[Any]]:
    """All rows by the labelled ones: for each share of the named columns."""
    columns, own_columns = centred.shape[1], int(named.sum())
    whole = centred @ known.T * np.float32(_SCALE / max(1, columns))
    found = [whole]
    if own_columns:
        own = centred[:, named] @ known[:, named].T * np.float32(_SCALE / own_columns)
        other = (whole * columns - own * own_columns) / max(1, columns - own_columns)
        found += [(1 - share) * other + share * own for share in SHARES]
    return found


def _leaning(
    centred: Floats, named: npt.NDArray[np.bool_], said: Sequence[Said], labels: int
) -> npt.NDArray[Any]:
    """How far reasons alone speak for each label, for all rows."""
    ways = np.zeros((centred.shape[1], labels), np.float32)
    for column, sign, label, other in said:
        ways[column, label] += sign
        ways[column, other] -= sign
    found: npt.NDArray[Any] = centred @ np.sign(ways) / np.sqrt(max(1, int(named.sum())))
    return found


def _soft(scores: npt.NDArray[Any], sharp: float) -> npt.NDArray[Any]:
    powers = np.exp(sharp * (scores - scores.max(1, keepdims=True)))
    found: npt.NDArray[Any] = powers / powers.sum(1, keepdims=True)
    return found
