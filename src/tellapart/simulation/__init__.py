"""Packed columns: 64 items a word."""

from tellapart.simulation.bits import Words, bit, blank, clear, clear_tail, pack, unpack, words_for
from tellapart.simulation.codes import Codes, Labels
from tellapart.simulation.jump import simulate
from tellapart.simulation.mind import Mind
from tellapart.simulation.plain import Plain
from tellapart.simulation.said import Said
from tellapart.simulation.source import Source, column
from tellapart.simulation.whole import clause_numbers, fired, predict, predict_chunks

__all__ = [
    "Codes",
    "Labels",
    "Mind",
    "Plain",
    "Said",
    "Source",
    "Words",
    "bit",
    "blank",
    "clause_numbers",
    "clear",
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
