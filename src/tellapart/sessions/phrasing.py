"""Items and values as people read them, the same on the page and in the console."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from tellapart.features.candidates import Candidate
from tellapart.features.phrasing import counted, shown_number
from tellapart.protocol import Guess
from tellapart.sessions.replies import (
    AT_RANDOM,
    Answered,
    AskedAgain,
    Ending,
    Given,
    Saved,
    Summary,
)
from tellapart.tables import Row

_NOTICES = {
    "again": "Saved. The rules changed meanwhile: the label is kept, but what tells it now?",
    "unsure": "Saved as unsure: kept, not learnt from.",
    "skipped": "Skipped: it comes back later.",
}


def notice(outcome: str | None) -> str | None:
    """What to say after an answer, where the next item does not say it all.

    >>> notice("skipped"), notice("right")
    ('Skipped: it comes back later.', None)
    """
    return _NOTICES.get(outcome or "")


_OUTCOMES = {"label": "learnt", "again": "needs a reason again", "opinion": "second opinion"}


def outcome_text(outcome: str | None) -> str:
    """What became of an answer.

    >>> outcome_text("opinion"), outcome_text("mistake"), outcome_text(None)
    ('second opinion', 'mistake', '')
    """
    return _OUTCOMES.get(outcome or "", outcome or "")


def changed_notice(again: int | None) -> str | None:
    """What to say when an answer was changed; None if none was.

    >>> changed_notice(1)
    'Changed. 1 answer needs a reason: it comes next.'
    """
    if again is None:
        return None
    if not again:
        return "Changed."
    needs, comes = ("needs", "it comes") if again == 1 else ("need", "they come")
    return f"Changed. {counted(again, 'answer')} {needs} a reason: {comes} next."


def kept_notice(answer: Answered) -> str:
    """What to say when an odd answer was confirmed."""
    return f"{name(answer.item)} stays {answer.label}; it is not listed again."


def swept_notice(accepted: int, marked: int) -> str:
    """What to say after a sweep.

    >>> swept_notice(48, 2)
    'Accepted 48 items. The 2 you marked come now.'
    """
    come = "one you marked comes" if marked == 1 else f"{marked:,} you marked come"
    return f"Accepted {counted(accepted, 'item')}. The {come} now."


def undone_notice(saved: Saved, *, redo: bool = False) -> str:
    """What to say after undo or redo.

    >>> undone_notice(Saved(9, "u", None, "a")), undone_notice(Saved(9, "u", None, "a", 31))
    ('Undone.', 'Undone: 31 answers of a sweep.')
    """
    done = "Redone" if redo else "Undone"
    return f"{done}." if saved.acts == 1 else f"{done}: {saved.acts:,} answers of a sweep."


def why_marked(given: Given) -> str | None:
    """Why an item is asked about, if it was marked in a sweep.

    >>> bear, duck = Row("bear", {}), Row("duck", {})
    >>> why_marked(Given("g", "Ann", bear, Guess("bird", duck), "answer", None, 0.0, (), True))
    'You marked it in a sweep: is it not bird?'
    """
    return f"You marked it in a sweep: is it not {given.guess.label}?" if given.marked else None


def why_again(again: AskedAgain | None, guess: Guess) -> str | None:
    """Why an item is asked again.

    >>> duck, bear = Row("duck", {}), Row("bear", {})
    >>> why_again(AskedAgain("fish", None, duck, "Ann"), Guess("mammal", bear))
    'It was called fish. Then the answer about duck was changed: now it is like bear.'
    >>> why_again(AskedAgain("fish", None, None, None, itself=True), Guess("mammal", bear))
    'Its answer was changed to fish. Now it is like bear: a reason is wanted.'
    >>> why_again(AskedAgain("fish", None, duck, "Ann", duck), Guess("bird", duck))
    'It was called fish, like duck. Then the answer about duck was changed: duck is bird now.'
    """
    if again is None or guess.example is None:
        return None
    if again.itself:
        now = f"Now it is like {name(guess.example)}: a reason is wanted."
        return f"Its answer was changed to {again.label}. {now}"
    told = "" if again.example is None else f" and told from {name(again.example)}"
    told = told if again.like is None else f", like {name(again.like)}"
    then, now = "the rules changed", f"now it is like {name(guess.example)}"
    if again.changed is not None:
        then = f"the answer about {name(again.changed)} was changed"
        if again.changed.identity == guess.example.identity:
            now = f"{name(again.changed)} is {guess.label} now"
    return f"It was called {again.label}{told}. Then {then}: {now}."


def name(item: Row) -> str:
    """What an item is called: its title, with what tells it from its namesakes.

    >>> name(Row("bear", {})), name(Row(7, {}))
    ('bear', 'row 7')
    """
    return f"row {item}" if item.table is None and isinstance(item.identity, int) else str(item)


def show(value: Any) -> str:
    """A value as people write it.

    >>> show(True), show(None), show(2.50), show(1_000_000), show(1984)
    ('yes', 'unknown', '2.5', '1,000,000', '1984')
    """
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return shown_number(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


def covers(candidate: Candidate) -> str:
    """How many items a candidate holds on."""
    return f"{'' if candidate.exact else 'about '}{counted(candidate.covers, 'item')}"


def effect(candidate: Candidate, label: str) -> str:
    """What a candidate would do: how many items it holds on, and how many of the answers so far.

    >>> from tellapart.features import parse_feature
    >>> feature = parse_feature("legs = 2", {"legs": "integer"})
    >>> effect(Candidate(feature, 0.9, 7, 0, 90, True, 0, 73), "bird")
    '90 items; 6 bird, 0 others'
    """
    mine = candidate.yes - 1  # the item itself is not answered yet
    return f"{covers(candidate)}; {mine:,} {label}, {counted(candidate.others, 'other')}"


def counted_in(candidates: Sequence[Candidate]) -> str:
    """What the numbers of `effect` are counted in.

    >>> counted_in([])
    ''
    """
    if not candidates or not candidates[0].known:
        return ""
    return f" (of {counted(candidates[0].known, 'answer')})"


def progress_facts(summary: Summary) -> list[str]:
    """What is always in sight: saved, done and left, mistakes, rules, the error."""
    saved = f"saved up to item {summary.labelled:,}"
    done = [f"{summary.labelled:,} done", f"{summary.left:,} left"]
    needs = "needs a reason" if summary.waiting == 1 else "need a reason"
    others = ((summary.waiting, needs), (summary.skipped, "skipped"), (summary.unsure, "unsure"))
    done += [f"{count:,} {word}" for count, word in others if count]
    facts = [saved if summary.labelled else "every answer is saved at once", ", ".join(done)]
    if summary.guesses:
        facts += [_lately(*summary.recent), counted(summary.rules, "rule"), _error(summary)]
    return facts


def _lately(wrong: int, among: int) -> str:
    last = "guess" if among == 1 else f"{among} guesses"
    return f"{counted(wrong, 'mistake') if wrong else 'no mistake'} in the last {last}"


def _error(summary: Summary) -> str:
    """How many rows may be wrong of those left."""
    if not summary.rows_left:
        return "no rows left"
    if summary.error[2] > 0.99:
        return "error not known yet"
    drawn = "" if summary.drawn is None else f", from {summary.draws_used:,} drawn at random"
    return f"at most {summary.wrong_left:,} of {summary.rows_left:,} rows left wrong{drawn}"


def ending_text(ending: Ending) -> str:
    """What to say when there is nothing left."""
    summary = ending.summary
    told = [f"{counted(summary.labelled, 'item')} taught"]
    if summary.unsure:
        told.append(f"{summary.unsure:,} unsure")
    if ending.busy:
        told.append(f"{ending.busy:,} with other teachers, and some may come back")
    told += [left_to(name, count) for name, count in ending.others.items()]
    said = ", ".join(told)
    if summary.guesses:
        guesses = counted(summary.guesses, "guess", "guesses")
        said += f"; {counted(summary.mistakes, 'mistake')} in {guesses}"
        said += f", {counted(summary.rules, 'rule')}. {_big(summary.estimate)}"
    return said


def left_to(teacher: str | None, count: int) -> str:
    """Which rows are assigned to whom.

    >>> left_to("Bob", 8), left_to(None, 1)
    ('8 rows are left for Bob', '1 row is left for teachers without a condition')
    """
    whom = "teachers without a condition" if teacher is None else teacher
    return f"{counted(count, 'row')} {'is' if count == 1 else 'are'} left for {whom}"


def _big(text: str) -> str:
    return text[:1].upper() + text[1:]


def stop_hint(summary: Summary) -> str | None:
    """Whether it is time to stop, and if not, when it may be."""
    if summary.stop is None or not summary.guesses or not (summary.left or summary.may_stop):
        return None
    facts = summary.stop.split("; ")
    if summary.may_stop:
        assumed = AT_RANDOM if summary.stop.endswith(AT_RANDOM) else ""
        return f"You may stop: {facts[0]}{assumed}"
    return _big(facts[-1])


def visible(text: str) -> str:
    """A text without characters that do something instead of being seen.

    A terminal obeys escape sequences, wherever they come from; and marks of direction can turn a
    line around. Joiners stay, for scripts and emoji need them.

    >>> visible("\\x1b[2J red\\tlight\\r\\n"), visible("a\\u202eb")
    ('␛[2J red light␍␊', 'a\\\\u202eb')
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    number = ord(character)
    if character == "\t":
        return " "
    if number < 32:
        return chr(0x2400 + number)  # the picture of a control character
    if number == 127:
        return "\N{SYMBOL FOR DELETE}"
    kind = unicodedata.category(character)
    if character in "\u200c\u200d" or kind in ("Zs", "Co", "Cn"):
        return character
    return character.encode("unicode_escape").decode() if kind[0] in "CZ" else character
