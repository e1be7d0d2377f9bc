"""Upper and lower case, the same on every engine.

Engines disagree about case: SQLite knows A-Z only, Java turns İ into two characters, some look at
the end of a word before they lower a Σ. Here case means pairs of single letters, one upper and one
lower, each the other's only partner: the Latin, Greek, Cyrillic, Armenian and full-width letters
that have such a partner. Every other character (ß, İ, ı, ς, digits, other scripts) stays as it is.
"""

from __future__ import annotations

_RANGES = ((0x41, 0x587), (0x1E00, 0x1FFF), (0xFF21, 0xFF5A))


def _pairs() -> list[tuple[str, str]]:
    letters = (chr(code) for first, last in _RANGES for code in range(first, last + 1))
    lowered = ((letter, letter.lower()) for letter in letters)
    return [(u, low) for u, low in lowered if low != u and len(low) == 1 and low.upper() == u]


PAIRS = _pairs()
"""(upper, lower), in the order of the upper letter's number."""

_LOWER = str.maketrans(dict(PAIRS))
_UPPER = str.maketrans({low: up for up, low in PAIRS})
_PARTNER = {letter: up + low for up, low in PAIRS for letter in (up, low)}


def lower(text: str) -> str:
    """`text` with every upper letter of a pair replaced by its partner.

    >>> lower("Ärger ΣΟΦΟΣ"), lower("ß İ 7")
    ('ärger σοφοσ', 'ß İ 7')
    """
    return text.translate(_LOWER)


def upper(text: str) -> str:
    """The other way round.

    >>> upper("straße")
    'STRAßE'
    """
    return text.translate(_UPPER)


def both(letter: str) -> str:
    """A letter and its partner, or the character alone.

    >>> both("é"), both("7")
    ('Éé', '7')
    """
    return _PARTNER.get(letter, letter)
