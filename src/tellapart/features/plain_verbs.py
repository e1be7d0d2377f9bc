"""The verbs of conditions in plain words: what `plain_words` reads between a column and a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_NOT = r"(?P<not>(?:do|does|did|is|are|was|has|can)(?:n['’]?t| not)|not|never|cannot)\s+"
_IS = r"(?:is|are|was|were|(?:must |should |has to |can |will )?be|being|has been|equals?)"
KNOWN = "known|given|present|there|set|filled(?: in| out)?|available|non-?empty|specified|provided"
UNKNOWN = "unknown|empty|missing|blank|null|absent|unset|none|nothing|n/a|left out|not there|isnull"
_THAN = r"(?:\s+(?:than|to))?"


def _verbs() -> Iterator[tuple[str, str]]:
    """(what it means, the words) of every verb; longer ones first."""
    maybe = f"(?:{_NOT})?"
    contain = (
        "contains?|contain(?:ing|ed)|includes?|including|mentions?|has the words?|have the words?"
    )
    contain += (
        "|says?|matches|(?:has|have|with) the text|(?:has|have) in it|(?:is|talks?|speaks?) about"
    )
    named = "(?: the(?= \\w))?(?: (?:words?|phrase|text|string|term)(?= ))?"
    yield (
        "contains",
        f"{maybe}(?:{contain})(?: both)?{named}",
    )
    lack = "lacks|is without|without|excludes|(?:has|have) no(?= [\"'“])"
    yield "lacks", f"(?:{lack})(?: the(?= \\w))?(?: (?:words?|text)(?= ))?"
    edge = r"(?: (?:with|by|in|on)|(?= [^\w\s]))(?: the words?(?= ))?"
    yield "starts", f"{maybe}(?:starts?|begins?|starting|beginning){edge}"
    yield "ends", f"{maybe}(?:ends?|ending|finishes){edge}"
    end = r"\b(?! (?!and |or |but )\w)(?: or (?:unknown|empty|missing|blank|null))?"
    yield (
        "known",
        rf"{_IS}(?P<not> not|n['’]?t)? (?:{KNOWN}){end}|exists|(?:has|have) (?:a|any|some) value",
    )
    yield "unknown", rf"{_IS}(?P<not> not|n['’]?t)? (?:{UNKNOWN}){end}|(?:has|have) no value"
    yield "<>", rf"{_IS} (?:anything|everything|all) (?:but|except)"
    yield "known", rf"{_IS} (?:anything|something)"
    yield "unknown", r"does(?:n['’]?t| not) exist|(?:has|have) nothing"
    isn = rf"(?:(?:{_IS})(?P<not> not|n['’]?t)?\s+|(?P<not2>not )?)"
    yield "zero", rf"{isn}zero\b(?! \w)"
    yield "positive", rf"{isn}positive\b"
    yield "negative", rf"{isn}negative\b"
    yield (
        "between",
        rf"(?:{isn}|(?:lies|ranges|falls) )(?:between|from|in the range(?: of)?|within)",
    )
    most = "at most|no (?:more|greater|larger|higher|later|longer) than|up to|until|till|not above"
    most += "|not over|not more than|(?:a )?maximum(?: of)?|max"
    most += "|(?:less|smaller|lower|earlier)(?: than)? or equal(?: to)?"
    least = "at least|no (?:less|fewer|smaller|lower|earlier|shorter) than|since|starting from"
    least += "|not below|not under|not less than|(?:a )?minimum(?: of)?|from|min"
    least += "|(?:greater|more|larger|bigger|higher|later)(?: than)? or equal(?: to)?"
    isn = rf"(?:{isn}|(?:has|have) )?(?:strictly )?"
    yield "<=", rf"{isn}(?:{most}){_THAN}"
    yield ">=", rf"{isn}(?:{least}){_THAN}"
    more = "greater|more|larger|bigger|higher|later|above|over|after|older|longer|exceeding|beyond"
    less = "less|fewer|smaller|lower|earlier|below|under|before|younger|shorter"
    yield ">", rf"{isn}(?:{more}){_THAN}|exceeds"
    yield "<", rf"{isn}(?:{less}){_THAN}"
    yield "neither", rf"{_IS} (?:neither|none of|not (?:one|any|either) (?:of|in)|not in)"
    yield "neither", rf"{_IS}n['’]?t (?:one|any|either) of|not in"
    yield "one of", rf"(?:{_IS} )?(?:one of|any of|either(?: of)?|among|in(?= \()|in the list)"
    yield "in", rf"{isn}(?:in|during|on|at)(?: the)?(?: year| month)?(?: of)?"
    yield (
        "<>",
        rf"{_IS}(?: not|n['’]?t)(?: equal to| the same as| exactly)?|does(?:n['’]?t| not) equal",
    )
    yield "<>", r"(?:must|should|can|may)(?:n['’]?t| not) be"
    yield (
        "<>",
        r"differs from|(?:is )?different (?:from|than|to)|is other than|other than|not equal to",
    )
    yield "=", rf"(?:{_IS} |on )?the same(?: day| date)? as|{_IS} (?:equal to|exactly|called|named)"
    yield "=", rf"equal to|same as|{_IS}"


@cache  # compiled when first needed: that takes a while
def patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(means, re.compile(rf"(?:{verb})(?=\W|$)", re.IGNORECASE)) for means, verb in _verbs()]
