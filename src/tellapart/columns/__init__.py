"""Packed columns: 64 items a word."""

from tellapart.columns.bits import Words, bit, blank, clear, clear_tail, pack, unpack, words_for
from tellapart.columns.codes import Codes, Labels
from tellapart.columns.jump import simulate
from tellapart.columns.mind import Mind
from tellapart.columns.plain import Plain
from tellapart.columns.said import Said
from tellapart.columns.source import Source, column
from tellapart.columns.whole import fired, predict, predict_chunks

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
