"""The report of `demo` and `simulate` on a terminal."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tellapart.cli.report import Report, Told, count, coverage, exceptions, reason, slip_line, story
from tellapart.export.text import Words, sentences
from tellapart.lab.trial import Trial
from tellapart.learners import BaseLearner
from tellapart.worlds import World

_SHOWN = 10  # exceptions, slips and rules listed; --json has them all


def show(console: Console, report: Report) -> None:
    """Story, rules, mistakes, exceptions, slips."""
    first, words = report.first, report.words
    name = type(first.learner).__name__
    told = story(first, report.rounds)
    _section(console, report.title, Text(report.introduction))
    _section(console, f"A few rounds with {name}", _story(told, first, words))
    _section(console, f"What {name} learnt: the first that fits, decides", _rules(first, words))
    _section(console, "Mistakes, and the most there could be", _table(report))
    scene = first.scene
    if isinstance(scene, World):
        _list(console, "Exceptions: no rule explains them", exceptions(scene, words))
    slips = [slip_line(slip, first, words) for slip in first.slips]
    _list(console, f"Slips of the teacher, in front of {name}", slips)


def _section(console: Console, title: str, body: RenderableType) -> None:
    console.print(Text(title, style="bold"))
    console.print(Padding(body, (0, 0, 1, 2)))


def _list(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        more = [f"... and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        _section(console, title, Group(*map(Text, [*lines[:_SHOWN], *more])))


def _columns(*names: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in names:
        table.add_column(name, justify="right" if name in right else "left")
    return table


def _story(told: Sequence[Told], trial: Trial, words: Words) -> Table:
    table = _columns("round", "item", "guess, and why", "the teacher says", right=["round"])
    last = -1
    for one in told:
        between = range(last + 1, one.round)
        if between:
            wrong = sum(number in between for number in trial.lesson.mistake_rounds)
            gone = f"{count(len(between), 'round')}, {count(wrong, 'mistake')}"
            table.add_row("...", "", Text(gone, style="dim"), "")
        guess = Text("?")
        if one.guess.label is not None:
            guess = Text(words.label(one.guess.label), style="cyan")
            guess.append(f", like {words.item(one.guess.example)}", style="default")
        item = Text(words.item(one.item), style="bold")
        table.add_row(str(one.round), item, guess, _answer(one, words))
        last = one.round
    return table


def _answer(one: Told, words: Words) -> Text:
    text = Text()
    if one.answer is None:
        text.append("Right.", style="green")
    else:
        asked = one.guess.label is None
        text.append("It is " if asked else "No, ", style="default" if asked else "red")
        text.append(words.label(one.answer.label), style="cyan")
        if one.answer.feature is not None:
            said = reason(one.answer.feature, words)
            text.append(f": {said}, unlike {words.item(one.guess.example)}")
        text.append(".")
    if one.slip:
        slip = one.answer is not None and one.answer.label != one.truth
        text.append(" A slip: " if slip else " A slip.", style="yellow")
        text.append(f"it is {words.label(one.truth)}." if slip else "", style="yellow")
    elif one.exception:
        text.append(" An exception.", style="yellow")
    return text


def _rules(trial: Trial, words: Words) -> Table:
    table = _columns("", "rule", "covers", "wrong", right=["", "covers", "wrong"])
    said = sentences(trial.learner.model, words)
    left_out = range(_SHOWN - 1, len(said) - 1) if len(said) > _SHOWN else range(0)
    for number, (labelled, wrong) in enumerate(coverage(trial)):
        if number not in left_out:
            count = f"{wrong:,}" if wrong else ""
            table.add_row(f"{number + 1}.", Text(said[number]), f"{labelled:,}", count)
        elif number == left_out[0]:
            table.add_row("", Text(f"... {len(left_out)} more", style="dim"), "", "")
    return table


def _table(report: Report) -> RenderableType:
    after = f"right of {len(report.first.scene.items):,}"
    names = ("learner", "is told", "mistakes", "bound", "rules", "dropped", after)
    table = _columns(*names, right=names[2:])
    for trial in report.trials:
        lesson = trial.lesson
        table.add_row(
            type(trial.learner).__name__,
            told_to(trial.learner),
            Text(f"{lesson.mistakes:,}", style="bold"),
            "none" if trial.bound is None else f"{trial.bound:,.0f}",
            f"{lesson.rules_created:,}",
            f"{lesson.rules_deleted:,}",
            f"{trial.right:,}",
        )
    notes = [
        f"{after}: {report.what} its rules label rightly when the lesson is over",
        "m: groups in the teacher's mind; k: exceptions and slips; s: how many say the same",
    ]
    if any(trial.bound is None for trial in report.trials):
        notes.append("none: its guarantee does not reach this far")
    return Group(table, *(Text(note, style="dim") for note in notes))


def told_to(learner: BaseLearner) -> str:
    """The parameters of a learner that are not left alone.

    >>> from tellapart import AdaptiveDFF, RobustDFF
    >>> told_to(RobustDFF(7, 4, 1)), told_to(AdaptiveDFF())
    ('m=7 k=4 s=1', 'nothing')
    """
    parameters = inspect.signature(type(learner)).parameters
    values = {name: getattr(learner, name) for name in learner.parameters}
    shown = [f"{k}={_short(v)}" for k, v in values.items() if v != parameters[k].default]
    return " ".join(shown) or "nothing"


def _short(value: object) -> str:
    if isinstance(value, BaseLearner):
        return type(value).__name__
    return f"{value:.2g}" if isinstance(value, float) else str(value)
