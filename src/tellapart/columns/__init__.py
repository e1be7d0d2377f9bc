"""Packed columns: 64 items a word."""

from tellapart.columns.bits import Words, bit, blank, clear, clear_tail, pack, unpack, words_for
from tellapart.columns.codes import Codes, Labels
from tellapart.columns.jump import simulate
from tellapart.columns.plain import Plain
from tellapart.columns.source import Source, column

__all__ = [
    "Codes",
    "Labels",
    "Plain",
    "Source",
    "Words",
    "bit",
    "blank",
    "clear",
    "clear_tail",
    "column",
    "pack",
    "simulate",
    "unpack",
    "words_for",
]
