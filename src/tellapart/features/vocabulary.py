"""What the texts of a column are made of, as people would name it.

Words and phrases, elements of lists (`role::program`, `google-cloud-sdk`), and, where texts are
names or codes, beginnings and endings (`python3-`, `.pdf`), each with the number of texts that
have it. Stopwords, fragments of less than three characters, and what a single text has are left
out. Everything is in lower case.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tellapart.features import letter_case

LONGEST = 40
"""A longer part is left out."""
SHORTEST = 3
"""A shorter one is left out, too."""
READ = 2_000
"""The characters of a text that are read."""
ALL = 1_000_000
"""The characters of all texts that are read; texts are cut if there are more."""
PARTS = 100
"""The most parts of a text that are named."""
PROSE = 4
"""Texts of more words are prose: they have no endings worth naming."""
STOPWORDS = frozenset(
    re.findall(
        r"\w+",
        """about after all also and any are because been before being between both but can could
    does down each else every for from get had has have her here him his how http https into its
    just like made make many may more most much must nor not now off once one only other our out
    over own per same she should since some such than that the their them then there these they this
    those through too two under until upon use used uses using very via was way were what when where
    which while who whose why will with within without would you your com edu net org www
    aber auf aus bei das dem den der des die durch ein eine einem einen einer eines für hat ich ist
    kann mit nach nicht noch oder sein sich sie sind und vom von vor war wie wird zum zur
    aux avec ces dans elle est les leur mais nous par pas plus pour que qui sans ses son sont sur
    une vous como con del ella esta este las los más muy para pero por sin sobre sus una
    che dei della delle gli nel non per sono""",
    )
)
"""Words that say nothing of what a text is about."""

_RUN = re.compile(r"\w+")
_HUMP = re.compile(r"[^\W\d_]+?(?=[A-Z][a-z])|[^\W\d_]+?(?=\d)|[^\W_]+?(?=_)|\d+|[^\W_]+")
_ELEMENT = re.compile(r"[^\s,;|()<>\"'/]+")
_PATH = re.compile(r"[^\s,;|()<>\"']+")
_SEPARATOR = re.compile(r"::|[./](?=\w)")
_EXTENSION = re.compile(r"\.[^\W\d_]{1,8}(?=(?:\.\d+)*$|\.[^\W\d_]{2,3}$)")
_MOSTLY = 0.98
_WAYS = 8
_SIGNS = "-_.:/+ "
_EDGE = " \t\n\r.,;:!?|()[]{}<>\"'/*"


class Part(NamedTuple):
    """A part of a text: where it stands, and what it is."""

    where: str
    """word, phrase, element, start or end."""
    text: str


class Vocabulary:
    """The parts that two or more of some texts have.

    >>> known = Vocabulary(["lib-cat", "lib-dog", "Cat and dog", "concatenate", None])
    >>> known.words["cat"], "and" in known.words, known.texts
    (2, False, 4)
    >>> [part.text for part in known.parts("lib-mouse")]
    ['lib-', 'lib']
    """

    def __init__(self, texts: Iterable[str | None]) -> None:
        some = [text for text in texts if text is not None]
        self.texts = len(some)
        """How many texts there were, the unknown left out."""
        self.read = min(READ, max(200, ALL // max(len(some), 1)))
        """The characters of each text that were read."""
        cut = list(map(self._cut, some))
        self.values = Counter(text for text in some if len(text) <= 2 * LONGEST)
        """The short texts themselves."""
        lengths = sorted(len(_RUN.findall(text)) for text in cut)
        spaced = sum(" " in text for text in cut)
        self._spaced = spaced > 0.2 * len(cut)
        self.prose = bool(cut) and lengths[len(cut) // 2] >= PROSE and spaced * 2 > len(cut)
        """Whether most texts are sentences."""
        words, repeated, elements, starts, ends = (Counter[str]() for _ in range(5))
        for text, texts_alike in Counter(cut).items():
            lowered = letter_case.lower(text)
            for word, times in Counter(_words(text)).items():
                words[word] += texts_alike
                repeated[word] += texts_alike * times
            for piece in dict.fromkeys(_elements(lowered)):
                elements[piece] += texts_alike
            for front in _fronts(lowered, self.prose):
                starts[front] += texts_alike
            for front in () if self.prose else _fronts(lowered[::-1], False):
                ends[front] += texts_alike
        ways = Counter(front[:-1] for front in starts)
        self._after_start = Counter({front: many for front, many in ways.items() if many >= _WAYS})
        """In how many ways each front goes on."""
        self.words, self._elements, self._starts, self._ends = (
            Counter({part: times for part, times in counts.items() if times > 1})
            for counts in (words, elements, starts, ends)
        )
        self._repeated = {word: repeated[word] for word in self.words}

    def parts(self, text: str) -> list[Part]:
        """The parts of a text that others have, too; beginnings first."""
        cut = self._cut(text)
        lowered = letter_case.lower(cut)
        found = {part: self._count(part) for part in self._edges(cut, lowered)}
        for part, longer in pairwise(list(found)):  # up to the sign, if that says the same
            if part.where == longer.where and found[part] == found[longer]:
                del found[part]
        # what a beginning, an ending or an element says is not said again by a word in it
        said: Counter[str] = Counter()
        if not self._spaced:
            for part, times in found.items():
                said |= Counter(dict.fromkeys((part.text.strip(_SIGNS), *_words(part.text)), times))
        for piece in _elements(lowered):
            if times := self._elements[piece]:
                found.setdefault(Part("element", piece), times)
                said |= Counter(dict.fromkeys(_RUN.findall(piece), times))
        for word in _words(cut):
            for form in (word, *_stems(word)):
                times = self.words[form]
                if times and said[form] < _MOSTLY * times:
                    found.setdefault(Part("phrase" if " " in form else "word", form), times)
        if len(found) <= PARTS:
            return list(found)
        return sorted(found, key=lambda part: -found[part])[:PARTS]

    def rare(self, text: str) -> list[Part]:
        """The words of a text that no other has."""
        new = dict.fromkeys(word for word in _words(self._cut(text)) if not self.words[word])
        return [Part("word", word) for word in new][:PARTS]

    def topic(self, part: Part) -> float:
        """How much a part tells what texts are about: those on the topic repeat it. The logarithm
        of how often a text that has it has it."""
        times = self.words.get(part.text)
        return math.log(self._repeated[part.text] / times) if times else 0.0

    def _count(self, part: Part) -> int:
        if part.where == "start":
            return self._starts[part.text]
        return self._ends[part.text[::-1]]

    def _cut(self, text: str) -> str:
        """The front of a text that is read, without half a word at its end."""
        if len(text) <= self.read:
            return text
        return re.sub(r"\w+$", "", text[: self.read])

    def _edges(self, text: str, lowered: str) -> Iterator[Part]:
        """Beginnings, up to a sign, a capital or number inside a word, or where many ways lead on;
        and endings, down to a sign. Of a sentence, the first word."""
        after = self._after_start
        for where, counts, letters, cased in (
            ("start", self._starts, lowered, text),
            ("end", self._ends, lowered[::-1], text[::-1]),
        ):
            for size in range(1, min(len(letters), LONGEST + 1)):
                front, last, following = letters[:size], cased[size - 1], cased[size]
                parted = not last.isalnum()
                humped = last.islower() and (following.isupper() or following.isdigit())
                wide = not self._spaced and after[front] >= max(_WAYS, 1.5 * after[front[:-1]])
                if not (parted or (where == "start" and (humped or wide))):
                    continue
                bare = front.strip(_SIGNS)
                word = len(bare) >= SHORTEST and bare not in STOPWORDS
                code = parted and not self._spaced and (bare or where == "start")  # get_, /, -1
                if 2 <= counts[front] < self.texts and (word or code):
                    front = front.rstrip() or front
                    yield Part(where, front if where == "start" else front[::-1])


def words_of(text: str) -> set[str]:
    """The words of a text, in lower case; no phrases."""
    return {word for word in _words(text) if " " not in word}


def _words(text: str) -> Iterator[str]:
    """The words of a text, and two that stand side by side."""
    before = None
    for run in _RUN.finditer(text):
        whole, *humps = _word_forms(run[0])
        fine = bool(whole)
        if fine:
            yield whole
            if before is not None and text[before.end() : run.start()] == " ":
                phrase = f"{letter_case.lower(before[0])} {whole}"
                if len(phrase) <= LONGEST:
                    yield phrase
        before = run if fine else None
        yield from humps


@lru_cache(20_000)
def _word_forms(run: str) -> list[str]:
    """A run of letters and digits in lower case, empty if it is no word; then the words it is made
    of: `set`, `item` and `name` for `setItem_name`."""
    humps = _HUMP.findall(run[: 2 * LONGEST])
    whole = letter_case.lower(run)
    parts = map(letter_case.lower, humps) if len(humps) > 1 else ()
    return [whole if _is_word(whole) else "", *filter(_is_word, parts)]


def _is_word(word: str) -> bool:
    return (
        SHORTEST <= len(word) <= LONGEST
        and word not in STOPWORDS
        and not (word.isdigit() and len(word) < 4)
    )


def _stems(word: str) -> Iterator[str]:
    """What a word may be a form of: game for games and gamers, the shortest first."""
    if " " not in word:
        for ending in ("ers", "ing", "ed", "er", "es", "s", "d"):
            if word.endswith(ending) and len(word) - len(ending) > SHORTEST:
                yield word.removesuffix(ending)


def _elements(text: str) -> Iterator[str]:
    """Pieces with signs inside (`node.js`, `use::gaming`), and what they begin or end with."""
    for piece in (found.strip(_EDGE) for found in _ELEMENT.findall(text)):
        signs = any(not (letter.isalnum() or letter == "_") for letter in piece)
        if SHORTEST < len(piece) <= LONGEST and signs and any(map(str.isalpha, piece)):
            yield piece
            yield from _prefixes(piece)
        yield from _EXTENSION.findall(piece)
    for path in (found.strip(_EDGE) for found in _PATH.findall(text) if "/" in found):
        if SHORTEST < len(path) <= LONGEST and "/" in path:
            yield path
        yield from _prefixes(path)


def _prefixes(piece: str) -> Iterator[str]:
    """`role::` of `role::program`; `os.path` of `os.path.join`; `usr/lib` of `usr/lib/perl5`."""
    found = list(_SEPARATOR.finditer(piece, SHORTEST, LONGEST))
    for n, sign in enumerate(found):
        if sign[0] == "::":
            yield piece[: sign.end()]
        elif n or sign[0] == "/":
            yield piece[: sign.start()]


def _fronts(text: str, prose: bool) -> Iterator[str]:
    """The beginnings of a text; of a sentence, up to the first sign."""
    for size in range(1, min(len(text), LONGEST) + 1):
        yield text[:size]
        if prose and not text[size - 1].isalnum():
            break
