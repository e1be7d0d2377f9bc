"""Polars' own packed bits as words of 64, without a copy where the offsets allow.

Polars keeps a Boolean column as one bit an item and hands it out through the Arrow C data interface
(https://arrow.apache.org/docs/format/CStreamInterface.html), which needs no package: the structures
below are that interface.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from tellapart.simulation import Words, clear_tail, words_for

if TYPE_CHECKING:
    import polars as pl


class _Array(ctypes.Structure):
    """struct ArrowArray."""


class _Stream(ctypes.Structure):
    """struct ArrowArrayStream."""


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    (
        "get_next",
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array)),
    ),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Column:
    """A Boolean column lent by Polars; given back when nobody looks at it any more."""

    def __init__(self, series: pl.Series) -> None:
        self.array: Any = _Array()
        if series.n_chunks() > 1:
            series = series.rechunk()
        capsule = series.__arrow_c_stream__()
        stream: Any = _Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
        failed = stream.get_next(ctypes.byref(stream), ctypes.byref(self.array))
        if failed or not self.array.release:
            raise RuntimeError(f"Polars did not hand out its bits (error {failed})")

    def __del__(self) -> None:
        if self.array.release:
            self.array.release(ctypes.byref(self.array))

    def bitmap(self, buffer: int) -> Words:
        """A buffer of bits as words; bits beyond the last item are zero."""
        items, offset = self.array.length, self.array.offset
        address = self.array.buffers[buffer] + offset // 8
        shift = offset % 8
        if shift == 0 and items % 64 == 0 and address % 8 == 0:
            lent = (ctypes.c_uint64 * (items // 64)).from_address(address)
            lent.owner = self
            return np.frombuffer(lent, dtype=np.uint64)
        raw = (ctypes.c_uint8 * -(-(shift + items) // 8)).from_address(address)
        octets = np.frombuffer(raw, dtype=np.uint8)
        padded = np.zeros(8 * words_for(items), dtype=np.uint8)
        size = -(-items // 8)
        padded[:size] = octets[:size] >> shift
        if shift:
            above = octets[1 : size + 1] << (8 - shift)
            padded[: len(above)] |= above
        return clear_tail(padded.view(np.uint64), items)


def words(series: pl.Series) -> Words:
    """Where a Boolean column is true, 64 items a word, lowest bit first; null is not true.

    The words are read-only, and may be the column's own memory.

    >>> import polars as pl
    >>> words(pl.Series([True, None, False, True]))
    array([9], dtype=uint64)
    """
    if not len(series):
        return np.zeros(0, dtype=np.uint64)
    column = _Column(series)
    packed = column.bitmap(1)
    if column.array.null_count and column.array.buffers[0]:
        packed = packed & column.bitmap(0)
    packed.flags.writeable = False
    return packed


def unknown(series: pl.Series) -> Words:
    """Where a column of any kind is null: Polars keeps that as bits, so nothing is worked out.

    >>> import polars as pl
    >>> unknown(pl.Series(["a", None, "b", None]))
    array([10], dtype=uint64)
    """
    nothing = np.zeros(words_for(len(series)), dtype=np.uint64)
    if not series.null_count():
        return nothing
    column = _Column(series)
    if not column.array.buffers[0]:  # a column of nothing but null has no bits
        return clear_tail(~nothing, len(series))
    return clear_tail(~column.bitmap(0), len(series))
