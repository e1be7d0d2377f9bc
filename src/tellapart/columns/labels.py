"""A label for every item: a small number, and a name for each number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tellapart.protocol import Label


class Labels(Sequence[Label]):
    """A label for every item: its code, and a name for each code.

    >>> labels = Labels.of(["bird", "fish", "bird"])
    >>> labels[2], labels.names, labels.codes
    ('bird', ('bird', 'fish'), array([0, 1, 0], dtype=uint8))
    """

    def __init__(self, names: Sequence[Label], codes: npt.NDArray[Any]) -> None:
        self.names, self.codes = tuple(names), codes
        self._code = {name: code for code, name in enumerate(self.names)}

    @classmethod
    def of(cls, labels: Sequence[Label]) -> Labels:
        """Number labels as they appear."""
        code: dict[Label, int] = {}
        numbers = [code.setdefault(label, len(code)) for label in labels]
        return cls(tuple(code), np.array(numbers, dtype=np.min_scalar_type(len(code))))

    def other_than(self, label: Label, part: slice = slice(None)) -> npt.NDArray[np.bool_]:
        """Which items have another label; all of them, if no item has this one.

        >>> Labels.of(["bird", "fish", "bird"]).other_than("fish").tolist()
        [True, False, True]
        """
        other: npt.NDArray[np.bool_] = self.codes[part] != self._code.get(label, len(self.names))
        return other

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Label: ...
    @overload
    def __getitem__(self, index: slice) -> list[Label]: ...
    def __getitem__(self, index: int | slice) -> Label | list[Label]:
        if isinstance(index, slice):
            return [self.names[code] for code in self.codes[index]]
        return self.names[int(self.codes[index])]
