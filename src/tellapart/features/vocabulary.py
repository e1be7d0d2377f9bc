"""The common words of a text column, and which of them hold on a text.

A word holds on a text that contains it, also inside a longer word, as in `text ILIKE '%word%'`. A
word has only letters, digits and _, so it lies within one run of those: for each run, the words
in it are computed once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tellapart.features import letter_case

Counts = npt.NDArray[np.int64]

MOST = 2_000
"""The size of a vocabulary."""
RARE = 0.005
"""A word in a smaller share of the texts, or in a single one, is left out."""
LONGEST = 30
"""A longer word is left out, too."""
READ = 20_000
"""The characters of a text that are read."""
ALL = 2_000_000
"""The characters of all texts that are read; some texts are left out, evenly, if there are more."""
_RUN = re.compile(r"\w+")
_KEPT = 20_000  # texts whose words are cached


class Vocabulary:
    """The common words of some texts.

    >>> known = Vocabulary(["A cat", "the cat", "catfish", None])
    >>> known.words, known.times.tolist(), known.count(["Concatenate", "dog"]).tolist()
    (['cat'], [3], [1])
    """

    def __init__(self, texts: Iterable[str | None]) -> None:
        some = [text[:READ] for text in texts if text is not None]
        step = 1 + sum(map(len, some)) // ALL
        known = [runs(text) for text in some[::step]]
        self.texts = len(known)
        """How many texts were read, the unknown left out."""
        seen = Counter(run for found in known for run in set(found) if 1 < len(run) <= LONGEST)
        least = max(2, RARE * self.texts)
        common = sorted((-times, word) for word, times in seen.items() if times >= least)
        self.words = sorted(word for _, word in common[:MOST])
        self._number = {word: n for n, word in enumerate(self.words)}
        self._inside: dict[str, list[int]] = {}
        self._kept: dict[str, Counts] = {}
        self.times = _sum((self._of(found) for found in known), len(self.words))
        """On how many of the texts each word holds."""

    def __contains__(self, word: str) -> bool:
        return word in self._number

    def holds(self, text: str) -> Counts:
        """The numbers of the words that hold on a text."""
        found = self._kept.get(text)
        if found is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            found = self._kept[text] = self._of(runs(text))
        return found

    def count(self, texts: Sequence[str | None]) -> Counts:
        """On how many of some texts each word holds."""
        known = (text for text in texts if text is not None)
        return _sum((self.holds(text) for text in known), len(self.words))

    def _of(self, found: Sequence[str]) -> Counts:
        numbers: set[int] = set()
        for run in found:
            inside = self._inside.get(run)
            if inside is None:
                inside = self._inside[run] = self._parts(run)
            numbers.update(inside)
        return np.fromiter(numbers, dtype=np.int64, count=len(numbers))

    def _parts(self, run: str) -> list[int]:
        """The words in a run; of a very long one, those in its front."""
        run, number = run[: 2 * LONGEST], self._number
        ends = len(run) + 1
        return [
            number[run[start:end]]
            for start in range(ends - 2)
            for end in range(start + 2, min(ends, start + LONGEST + 1))
            if run[start:end] in number
        ]


def runs(text: str) -> list[str]:
    """The runs of letters, digits and _ in a text, in lower case.

    >>> runs("Don't panic")
    ['don', 't', 'panic']
    """
    return _RUN.findall(letter_case.lower(text[:READ]))


def _sum(rows: Iterable[Counts], length: int) -> Counts:
    """How often each number comes."""
    found = list(rows)
    if not found or not length:
        return np.zeros(length, dtype=np.int64)
    return np.bincount(np.concatenate(found), minlength=length).astype(np.int64)
