"""Packed columns, 64 items a word, and a model run over them."""

from tellapart.columns.bits import Source, Words, bit, clear_tail, column, pack, unpack, words_for
from tellapart.columns.labels import Labels
from tellapart.columns.predict import clause_numbers, fired, predict

__all__ = [
    "Labels", "Source", "Words", "bit", "clause_numbers", "clear_tail", "column", "fired", "pack",
    "predict", "unpack", "words_for",
]  # fmt: skip
