"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """So many of something, as people write it.

    >>> counted(1, "rule"), counted(0, "mistake"), counted(2_000, "guess", "guesses")
    ('1 rule', '0 mistakes', '2,000 guesses')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
