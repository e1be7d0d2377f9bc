"""Packed columns, 64 items a word: `predict` on whole tables, `simulate` on long streams."""

from tellapart.simulation.packed_columns import (
    Source,
    Words,
    bit,
    clear_tail,
    column,
    pack,
    unpack,
    words_for,
)
from tellapart.simulation.packed_labels import Codes, Labels
from tellapart.simulation.predict import (
    clause_codes,
    clause_numbers,
    fired,
    predict,
    predict_chunks,
)
from tellapart.simulation.simulator import simulate

__all__ = [
    "Codes",
    "Labels",
    "Source",
    "Words",
    "bit",
    "clause_codes",
    "clause_numbers",
    "clear_tail",
    "column",
    "fired",
    "pack",
    "predict",
    "predict_chunks",
    "simulate",
    "unpack",
    "words_for",
]
