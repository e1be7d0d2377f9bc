"""What the console shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tellapart.console.keyboard import KEYS
from tellapart.features.candidates import Candidate
from tellapart.features.phrasing import spoken
from tellapart.protocol import Label
from tellapart.sessions import Given, Summary
from tellapart.sessions.phrasing import covers, name, progress_facts, show, stop_hint, visible

_LONGEST = 400
_SIGNS = {"enter": "Enter", "escape": "Esc", "space": "Space"}


class Screen:
    """Prints items, guesses and choices."""

    def __init__(self, console: Console, keys: Mapping[str, str]) -> None:
        self.console, self.keys = console, keys

    def say(self, text: str, style: str = "") -> None:
        """A line."""
        self.console.print(_text(text, style))

    def item(self, given: Given) -> None:
        """The item beside its example, what differs first."""
        example = given.guess.example
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("", overflow="fold")
        table.add_column(_text(name(given.item), "bold"), overflow="fold")
        if example is not None:
            called = f"{name(example)} ({given.guess.label})"
            table.add_column(_text(called), overflow="fold")
        same = 0
        for column, value in given.item.items():
            if given.item.table is not None and column == given.item.table.id:
                continue
            if example is None:
                table.add_row(_text(column), _text(show(value)))
            elif example.get(column) != value:
                other = _text(show(example.get(column)))
                table.add_row(_text(f"\N{NOT EQUAL TO} {column}"), _text(show(value)), other)
            else:
                same += 1
        self.console.print()
        self.console.print(table)
        if same:
            self.say(f"{same} {'column' if same == 1 else 'columns'} the same", "dim")

    def guess(self, given: Given) -> None:
        """The question."""
        item, example = name(given.item), given.guess.example
        if example is None:
            self.say(f"What is {item}?", "bold")
        elif given.kept is not None:
            self.say(f"{item} is {given.kept}. What tells it from {name(example)}?", "bold")
        else:
            self.say(f"I think {given.guess.label}, because it is like {name(example)}.", "bold")

    def candidates(self, candidates: Sequence[Candidate]) -> None:
        """Up to nine features to choose from, with how many items they cover in a column."""
        texts = [spoken(one.feature) for one in candidates]
        wide = min(40, max(map(len, texts), default=0))
        for number, (text, one) in enumerate(zip(texts[:9], candidates, strict=False), 1):
            self.say(f"  {number}  {text:<{wide}}  {covers(one)}")
        if not candidates:
            self.say("  None of the columns. Write a condition, or set a tag.", "dim")

    def labels(self, labels: Sequence[str], guess: Label, meanings: Mapping[str, str]) -> None:
        """The labels, each with its key for good, and what it means."""
        for number, label in enumerate(labels[:9], 1):
            means = f": {meanings[label]}" if label in meanings else ""
            self.say(f"  {number}  {label}{means}{'  (the guess)' if label == guess else ''}")

    def actions(self, *actions: str) -> None:
        """The keys that do something now."""
        self.facts(f"{_SIGNS.get(self.keys[a], self.keys[a])} {KEYS[a][1]}" for a in actions)

    def facts(self, facts: Iterable[str]) -> None:
        """Short texts, none of them broken in two where a line ends."""
        line = ""
        for fact in facts:
            if line and len(line) + len(fact) + 5 > self.console.width:
                self.say(f"{line} ·", "dim")
                line = ""
            line = f"{line} · {fact}" if line else f"  {fact}"
        self.say(line, "dim")

    def progress(self, summary: Summary) -> None:
        """How far it is."""
        self.facts([fact[:1].upper() + fact[1:] for fact in progress_facts(summary)])
        if hint := stop_hint(summary):
            self.say(f"  {hint}", "green" if summary.may_stop else "dim")


def _text(text: str, style: str = "") -> Text:
    """A text that does nothing to the terminal, and does not fill it."""
    more = len(text) - _LONGEST
    shown = visible(text[:_LONGEST])
    return Text(shown if more <= 0 else f"{shown}... and {more:,} characters more", style)
