"""Packed columns: 64 items a word."""

from tellapart.columns.bits import Words, bit, clear_tail, pack, unpack, words_for

__all__ = ["Words", "bit", "clear_tail", "pack", "unpack", "words_for"]
