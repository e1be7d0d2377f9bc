"""What `demo` and `simulate` found: on the terminal, as JSON (`--json`), and as a picture.

The first trial is the one whose story and rules are told; the others are compared to it.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tellapart.errors import MissingExtra
from tellapart.export.text import Words, name_of, sentences
from tellapart.features.phrasing import counted
from tellapart.lab.figures import draw_trials
from tellapart.lab.trial import InformedWorld, Trial, run, told_parameters
from tellapart.learners import BaseLearner
from tellapart.learners.by_name import make_learner, world_facts
from tellapart.model import Not, describe
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.teachers import Slip
from tellapart.worlds import World

LEARNERS = ("AutoDFF", "CappedDFF", "AdaptiveDFF", "RobustDFF", "DFF")
"""Who is taught; the first one tells its story."""
FORMAT = 1
"""The version of the JSON object; its keys stand in docs/cli.md."""
_SHOWN = 10  # exceptions, slips and rules listed; --json has them all


@dataclass(frozen=True)
class Report:
    """Trials in one world, and how to speak of them."""

    title: str
    introduction: str
    what: str
    """What items are called: "animals"."""
    words: Words
    trials: Sequence[Trial]
    also: Iterable[int]
    """Rounds of the first trial to tell, besides those that are always told."""

    def give(self, picture: Path | None, *, as_json: bool) -> None:
        """Save the picture, if one is wanted and can be drawn, and print the rest."""
        saved = None
        if picture is not None:
            try:
                draw_trials(self.trials, picture, title=self.title, name=self.words.item)
                saved = str(picture)
            except MissingExtra as error:
                print(f"tellapart: going on without a picture: {error}", file=sys.stderr)
        if as_json:
            print(json.dumps(self.to_json(saved), ensure_ascii=False))
            return
        console = Console(highlight=False)
        self._print(console)
        if saved is not None:
            console.print(f"Picture of the mistakes: {saved}", soft_wrap=True, markup=False)

    def to_json(self, picture: str | None) -> dict[str, Any]:
        """Everything, under the keys that docs/cli.md documents."""
        first, scene = self.trials[0], self.trials[0].world
        world = scene if isinstance(scene, World) else None
        return {
            "tellapart": "simulation",
            "format": FORMAT,
            "world": scene.name,
            "items": len(scene.items),
            "labels": len(set(scene.labels)),
            "components": None if world is None else world.m,
            "exceptions": None
            if world is None
            else [
                {"round": n, "item": name_of(world.items[n]), "label": str(world.labels[n])}
                for n in world.exceptions
            ],
            "slip_rate": first.slip_rate,
            "seed": first.seed,
            "learners": [_trial_json(trial) for trial in self.trials],
            "story": [_round_json(one) for one in story(first, self.also)],
            "picture": picture,
        }

    def _print(self, console: Console) -> None:
        """Story, rules, mistakes, exceptions, slips."""
        first, words = self.trials[0], self.words
        name, told = type(first.learner).__name__, story(first, self.also)
        _section(console, self.title, Text(self.introduction))
        _section(console, f"A few rounds with {name}", _story_table(told, first, words))
        _section(
            console, f"What {name} learnt: the first matching rule wins", _rule_table(first, words)
        )
        _section(console, "Mistakes, and the most there could be", _mistake_table(self))
        if isinstance(first.world, World):
            _list(console, "Exceptions: no rule explains them", exceptions(first.world, words))
        slips = [slip_line(slip, first, words) for slip in first.slips]
        _list(console, f"Slips of the teacher, in front of {name}", slips)


def run_trials(
    world: World, names: Iterable[str], *, slip_rate: float, seed: int, informed: bool = False
) -> list[Trial]:
    """Teach a world to learners; `informed`: by a teacher who knows every label."""
    facts = world_facts(*told_parameters(world, slip_rate, seed), len(world))
    learners = [make_learner(name, facts=facts) for name in names]
    scene = InformedWorld(world) if informed else world
    return [run(scene, learner, slip_rate=slip_rate, seed=seed) for learner in learners]


# -- what is told of a trial


@dataclass(frozen=True)
class StoryRound:
    """One round of a story: the item, the guess, the teacher's answer, and what to know of it."""

    round: int
    item: Item
    guess: Guess
    answer: Correction | None
    truth: Label
    slip: bool
    exception: bool


def story(trial: Trial, also: Iterable[int]) -> list[StoryRound]:
    """The first rounds of each sort, and some others; in round 0 the first label is asked."""
    mistakes = {corrected.number: corrected for corrected in trial.lesson.corrections}
    slips = {slip.round: slip.said for slip in trial.slips}
    scene = trial.world
    odd = set(scene.exceptions) if isinstance(scene, World) else set[int]()
    told = []
    rounds = {0, *trial.lesson.mistake_rounds[:4], *first_right(trial), *[*slips][:1], *also}
    for number in sorted(rounds):
        item, truth, answer = scene.items[number], scene.labels[number], None
        if number in mistakes:
            guess, answer = mistakes[number].guess, mistakes[number].correction
        else:
            guess = trial.guess_at(number)
            if guess.label is None:
                answer = slips.get(number, Correction(truth))
        told.append(StoryRound(number, item, guess, answer, truth, number in slips, number in odd))
    return told


def first_right(trial: Trial) -> list[int]:
    """The first round in which a learnt rule was right, if there is one among the early rounds."""
    wrong = set(trial.lesson.mistake_rounds)
    default = trial.learner.model.default.label
    early = range(1, min(30, trial.lesson.rounds))
    rounds = (number for number in early if number not in wrong)
    return [n for n in rounds if trial.guess_at(n).label not in (None, default)][:1]


def coverage(trial: Trial) -> list[tuple[int, int]]:
    """For each sentence of the model: how many items it labels, and how many of them wrong."""
    model = trial.learner.model
    place = {id(clause): number for number, clause in enumerate(model)}
    labelled, wrong = Counter[int](), Counter[int]()
    for item, label in zip(trial.world.items, trial.world.labels, strict=True):
        clause = model.match(item)
        labelled[place[id(clause)]] += 1
        wrong[place[id(clause)]] += clause.label != label
    return [(labelled[number], wrong[number]) for number in range(len(sentences(model)))]


# -- in words


def reason(feature: Feature, words: Words) -> str:
    """What a teacher says of the item by naming `feature`: "it lays eggs"."""
    inner, wanted = (feature.feature, False) if isinstance(feature, Not) else (feature, True)
    return f"{words.subject} {words.feature(inner, wanted)}".strip()


def exceptions(world: World, words: Words) -> list[str]:
    """The items whose label is not their component's."""
    component_of = world.teacher().component_of
    lines = []
    for number in world.exceptions:
        component = component_of(world.items[number])
        assert component is not None
        other = world.representation.components[component]
        line = f"{words.item(world.items[number])} is {words.label(world.labels[number])}"
        line += f", yet by its features {words.label(other.label)}"
        if 0 < len(other.literals) <= 5:
            said = (words.feature(feature, wanted) for feature, wanted in other.literals)
            line += f": {words.subject} {', '.join(said)}".replace("  ", " ")
        lines.append(line)
    return lines


def slip_line(slip: Slip, trial: Trial, words: Words) -> str:
    """What the teacher said and did not mean, and whether the learner noticed."""
    truth = trial.world.labels[slip.round]
    line = f"round {slip.round}: {words.item(slip.item)} is {words.label(truth)}"
    if slip.said.label != truth:
        line += f", and was called {words.label(slip.said.label)}"
    elif slip.said.feature is not None and slip.meant is not None:
        line += f", but not because {reason(slip.said.feature, words)}"
    noticed = {odd.round for odd in trial.lesson.inconsistencies}
    return line + (" (noticed, and not learnt from)" if slip.round in noticed else "")


# -- on the terminal


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


def _story_table(told: Sequence[StoryRound], trial: Trial, words: Words) -> Table:
    table = _columns("round", "item", "guess, and why", "the teacher says", right=["round"])
    last = -1
    for one in told:
        between = range(last + 1, one.round)
        if between:
            wrong = sum(number in between for number in trial.lesson.mistake_rounds)
            gone = f"{counted(len(between), 'round')}, {counted(wrong, 'mistake')}"
            table.add_row("...", "", Text(gone, style="dim"), "")
        guess = Text("?")
        if one.guess.label is not None:
            guess = Text(words.label(one.guess.label), style="cyan")
            guess.append(f", like {words.item(one.guess.example)}", style="default")
        item = Text(words.item(one.item), style="bold")
        table.add_row(str(one.round), item, guess, _answer(one, words))
        last = one.round
    return table


def _answer(one: StoryRound, words: Words) -> Text:
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


def _rule_table(trial: Trial, words: Words) -> Table:
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


def _mistake_table(report: Report) -> RenderableType:
    after = f"right of {len(report.trials[0].world.items):,}"
    names = ("learner", "is told", "mistakes", "bound", "rules", "dropped", after)
    table = _columns(*names, right=names[2:])
    for trial in report.trials:
        lesson = trial.lesson
        table.add_row(
            type(trial.learner).__name__,
            chosen_parameters(trial.learner),
            Text(f"{lesson.mistakes:,}", style="bold"),
            _bound(trial),
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
    if any(_is_useless(trial) for trial in report.trials):
        notes.append("*: no useful bound: as many mistakes as rounds, or more")
    return Group(table, *(Text(note, style="dim") for note in notes))


def _bound(trial: Trial) -> str:
    if trial.bound is None:
        return "none"
    return f"{trial.bound:,.0f}{'*' if _is_useless(trial) else ''}"


def _is_useless(trial: Trial) -> bool:
    """Whether a bound allows a mistake in every round."""
    return trial.bound is not None and trial.bound >= trial.lesson.rounds


def chosen_parameters(learner: BaseLearner) -> str:
    """The parameters of a learner that differ from the defaults.

    >>> from tellapart import AdaptiveDFF, RobustDFF
    >>> chosen_parameters(RobustDFF(7, 4, 1)), chosen_parameters(AdaptiveDFF())
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


# -- as JSON


def _trial_json(trial: Trial) -> dict[str, Any]:
    lesson = trial.lesson
    return {
        "learner": repr(trial.learner),
        "rounds": lesson.rounds,
        "mistakes": lesson.mistakes,
        "mistake_rounds": list(lesson.mistake_rounds),
        "bound": trial.bound,
        "rules_created": lesson.rules_created,
        "rules_deleted": lesson.rules_deleted,
        "right_afterwards": trial.right,
        "rules": sentences(trial.learner.model),
        "inconsistencies": [odd._asdict() for odd in lesson.inconsistencies],
        "slips": [
            {
                "round": slip.round,
                "item": name_of(slip.item),
                "meant": _correction_json(slip.meant),
                "said": _correction_json(slip.said),
            }
            for slip in trial.slips
        ],
    }


def _round_json(one: StoryRound) -> dict[str, Any]:
    label, example = one.guess
    return {
        "round": one.round,
        "item": name_of(one.item),
        "guess": None if label is None else {"label": str(label), "example": name_of(example)},
        "correction": _correction_json(one.answer),
        "slip": one.slip,
        "exception": one.exception,
    }


def _correction_json(said: Correction | None) -> dict[str, str | None] | None:
    if said is None:
        return None
    feature = None if said.feature is None else describe(said.feature)
    return {"label": str(said.label), "feature": feature}
