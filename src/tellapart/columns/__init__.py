"""Packed columns, 64 items a word, and a model run over them."""

from tellapart.columns.bits import (
    Source,
    Words,
    bit,
    clear_tail,
    column,
    pack,
    unpack,
    words_for,
)
from tellapart.columns.labels import Codes, Labels
from tellapart.columns.predict import (
    clause_codes,
    clause_numbers,
    fired,
    predict,
)

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
    "unpack",
    "words_for",
]
