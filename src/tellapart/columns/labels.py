"""A small number, or a label, for every item, packed: plane b holds bit b of all numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tellapart.columns.bits import Words, clear_tail, pack, words_for
from tellapart.protocol import Label

_PART = 1 << 14  # words


class Codes(Sequence[int]):
    """A number for every item, one plane of bits for each binary digit.

    >>> codes = Codes.of([2, 0, 1, 3])
    >>> codes[3], len(codes.planes), codes.array().tolist()
    (3, 2, [2, 0, 1, 3])
    """

    def __init__(self, planes: Sequence[Words], length: int) -> None:
        self.planes = tuple(planes)
        self._length = length
        self._views = tuple((1 << b, plane.data) for b, plane in enumerate(self.planes))

    @classmethod
    def of(cls, numbers: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Codes:
        """Pack numbers >= 0."""
        array = np.asarray(numbers)
        digits = int(array.max()).bit_length() if len(array) else 0
        return cls([pack((array >> b & 1).astype(np.bool_)) for b in range(digits)], len(array))

    def map(self, images: Sequence[int], count: int) -> Codes:
        """Every number replaced by its image, with room for numbers below `count`."""
        size = words_for(self._length)
        planes = [np.zeros(size, dtype=np.uint64) for _ in range((count - 1).bit_length())]
        for part in self.parts():
            for number, image in enumerate(images):
                where = self.where(number, part)
                for b, plane in enumerate(planes):
                    if image >> b & 1:
                        plane[part] |= where
        return Codes(planes, self._length)

    def parts(self) -> Iterator[slice]:
        """The words of a column in parts, of which a few fit the cache."""
        words = words_for(self._length)
        return (slice(first, min(first + _PART, words)) for first in range(0, words, _PART))

    def __setitem__(self, index: int, code: int) -> None:
        word, bit = index >> 6, 1 << (index & 63)
        for weight, view in self._views:
            view[word] = view[word] | bit if code & weight else view[word] & ~bit

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(f"there are {self._length} items, asked for number {index}")
        return self.at(index % self._length)

    def at(self, index: int) -> int:
        """The number of item `index`, without a check."""
        word, bit, code = index >> 6, 1 << (index & 63), 0
        for weight, view in self._views:
            if view[word] & bit:
                code += weight
        return code

    def take(self, items: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The numbers of some items.

        >>> Codes.of([2, 0, 1, 3]).take(np.array([3, 0])).tolist()
        [3, 2]
        """
        codes = np.zeros(len(items), dtype=np.int64)
        words, places = items >> 6, (items & 63).astype(np.uint64)
        for b, plane in enumerate(self.planes):
            codes |= (plane[words] >> places & np.uint64(1)).astype(np.int64) << b
        return codes

    def where(self, code: int, part: slice | None = None) -> Words:
        """The items that have `code`, or a part of these words.

        >>> int(Codes.of([0, 0]).where(1)[0])
        0
        """
        whole = words_for(self._length)
        part = part or slice(0, whole)
        fill = np.uint64(0 if code >> len(self.planes) else (1 << 64) - 1)
        words = np.full(part.stop - part.start, fill)
        for b, plane in enumerate(self.planes):
            if code >> b & 1:
                words &= plane[part]
            else:  # and not the plane, without a copy of it
                words |= plane[part]
                words ^= plane[part]
        return clear_tail(words, self._length) if part.stop == whole else words

    def array(self) -> npt.NDArray[Any]:
        """All numbers, laid out."""
        octets = [
            _octets(self.planes[first : first + 8], self._length)
            for first in range(0, len(self.planes), 8)
        ]
        if len(octets) <= 1:
            return octets[0] if octets else np.zeros(self._length, dtype=np.uint8)
        codes = np.zeros(self._length, dtype=np.uint32)
        for number, octet in enumerate(octets):
            codes |= octet.astype(np.uint32) << np.uint32(8 * number)
        return codes


class Labels(Sequence[Label]):
    """A label for every item: its code, and a name for each code.

    >>> labels = Labels.of(["bird", "fish", "bird"])
    >>> labels[2], labels.names, labels.codes[2]
    ('bird', ('bird', 'fish'), 0)
    """

    def __init__(self, names: Sequence[Label], codes: Codes) -> None:
        self.names, self.codes = tuple(names), codes
        self._code = {name: code for code, name in enumerate(self.names)}

    @classmethod
    def of(cls, labels: Sequence[Label]) -> Labels:
        """Pack labels."""
        code: dict[Label, int] = {}
        numbers = [code.setdefault(label, len(code)) for label in labels]
        return cls(tuple(code), Codes.of(numbers))

    def code_or_other(self, label: Label) -> int:
        """The number of a label; for one that no item has, a number that no item has."""
        return self._code.get(label, 1 << len(self.codes.planes))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Label: ...
    @overload
    def __getitem__(self, index: slice) -> list[Label]: ...
    def __getitem__(self, index: int | slice) -> Label | list[Label]:
        if isinstance(index, slice):
            return [self.names[code] for code in self.codes[index]]
        return self.names[self.codes[index]]


def _octets(planes: Sequence[Words], length: int) -> npt.NDArray[np.uint8]:
    """A byte for every item, whose lowest bits are those of up to eight planes."""
    octets = np.zeros(words_for(length) * 8, dtype=np.uint64)  # eight items a word
    for first in range(0, len(octets), _PART):  # a part at a time, which fits the cache
        part = octets[first : first + _PART]
        for b, plane in enumerate(planes):
            part |= (_spread() << np.uint64(b))[plane.view(np.uint8)[first : first + _PART]]
    return octets.view(np.uint8)[:length]


@cache
def _spread() -> Words:
    """The eight bits of every byte as eight bytes of a word."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8), bitorder="little")
    return bits.view(np.uint64)
