"""`tellapart demo` and `tellapart simulate`: a made world, or a table, is taught to learners.

The story and the rules are those of the first learner; the others are compared to it.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cyclopts import Parameter
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table

from tellapart import worlds
from tellapart.cli.options import Again, Amount, TomlSettings, Whole, say_finding, table_and_reading
from tellapart.errors import FormatError, MissingExtra, ParameterError
from tellapart.export import save_model
from tellapart.export.text import Words, name_of, plainly, sentences
from tellapart.features.phrasing import counted
from tellapart.lab.figures import draw_trials
from tellapart.lab.trial import Trial, run, told_parameters
from tellapart.learners import BaseLearner
from tellapart.learners.by_name import make_learner, world_facts
from tellapart.model import Not, describe
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.tables import read_table
from tellapart.teachers import Slip
from tellapart.worlds import World
from tellapart.worlds.zoo import say_feature, say_label

LEARNERS = ("AutoDFF", "CappedDFF", "AdaptiveDFF", "RobustDFF", "DFF")
"""Who is taught; the first one tells its story."""
LONG = 20_000
"""Items beyond which AutoDFF, who must be given every round, is taught only when asked for."""
SLIP_RATE = 0.03
_SHOWN = 10  # exceptions, slips and rules listed; --json has them all
_SIZES = {"items": 2000, "features": 100, "components": 8, "labels": 3, "exceptions": 0.02}
_TAKES: dict[str, dict[str, Any]] = {
    "tree": _SIZES,
    "dnf": _SIZES,
    "lower-bound": {"components": _SIZES["components"]},
    "single-exception": {"features": _SIZES["features"]},
    "zoo": {},
    "table": {"components": None},
}
"""The sizes each kind of world takes, and what they are when not given."""


def demo(
    *, seed: Whole = 0, picture: Path = Path("tellapart-demo.png"), json: bool = False
) -> None:
    """Teach 101 animals to several learners, and see what they learnt.

    A simulated teacher, who slips now and then, corrects every wrong guess and
    names a feature that tells the animal from the one shown. Prints a few rounds,
    the rules that came out and the mistakes of each learner against its bound,
    and draws the mistakes over time.

    Example:

        tellapart demo --seed 7 --picture zoo.png

    Parameters
    ----------
    seed
        The order of the animals, and where the teacher slips.
    picture
        Where to save the picture of the mistakes (PNG, SVG or PDF; needs the extra 'lab').
    json
        Print everything as one JSON object instead (docs/cli.md has its keys).
    """
    world = worlds.zoo(seed)
    platypus = [str(animal) for animal in world.items].index("platypus")
    introduction = (
        "The learner guesses what an animal is, and shows an earlier one as its reason. When it is"
        " wrong, the teacher says what it is, and one thing that tells the two apart. The teacher"
        " is simulated, and slips now and then."
    )
    trials = _run_trials(world, LEARNERS, SLIP_RATE, seed)
    report = _Report(
        "Teaching 101 animals", introduction, "animals", _words("zoo"), trials, [platypus]
    )
    report.give(picture, as_json=json)
    if not json:
        print("Next, teach one yourself: tellapart teach --sample bank")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What is taught, and to whom."""

    world: Literal["tree", "dnf", "lower-bound", "single-exception", "zoo"] | None = None
    """The kind of made world; tree if not given."""
    items: Whole | None = None
    """How many items there are (tree, dnf: 2000 if not given)."""
    features: Whole | None = None
    """How many features there are (tree, dnf, single-exception: 100)."""
    components: Whole | None = None
    """Groups in the teacher's mind (tree, dnf, lower-bound: 8); for a table the most there may
    be."""
    labels: Whole | None = None
    """How many different labels there are (tree, dnf: 3)."""
    exceptions: Amount | None = None
    """Items that defy their group: a rate with a point in it (tree, dnf: 0.02), or a count."""
    table: str | None = None
    """Teach the rows of this file, in their order, instead of a made world."""
    label: str | None = None
    """The column of the table that holds the labels."""
    id: str | None = None
    """The column that names the rows; if not given, the first whose texts all differ."""
    read: Again = None
    """KEY=VALUE: how the table is read, such as separator=tab (docs/tables.md). Again for more."""
    slips: float = 0.0
    """How often the teacher errs: a rate from 0 to 1."""
    learner: list[str] | None = None
    """Who is taught, as NAME or NAME:parameter=value,... (again for more); five if not given."""
    seed: Whole = 0
    """Makes the world, and settles where the teacher slips."""
    picture: Path | None = None
    """Save a picture of the mistakes here (PNG, SVG, PDF; needs the extra 'lab')."""
    model: Path | None = None
    """Save what the first learner learnt here, as a model file."""
    json: bool = False
    """Print everything as one JSON object instead (docs/cli.md has its keys)."""


def simulate(*, asked: Options | None = None, settings: TomlSettings = None) -> None:
    """Teach learners a made world, or a table with a label column.

    A simulated teacher corrects every wrong guess, as in 'tellapart demo'.

    For example:

        tellapart simulate --world dnf --components 12 --exceptions 0.03
        tellapart simulate --table animals.csv --label class --model animals.json
    """
    asked = asked or Options()
    table, how = table_and_reading(asked.table, asked.read, settings)
    made = _from_table(table, how, asked) if table or asked.label else _made(asked)
    names = asked.learner or (LEARNERS if len(made) <= LONG else LEARNERS[1:])
    trials = _run_trials(made, names, asked.slips, asked.seed)
    first = trials[0]
    if asked.model is not None:
        save_model(first.learner.model, asked.model)
    odd = [number for number in first.lesson.mistake_rounds if number in set(made.exceptions)]
    introduction = (
        f"{counted(len(made), 'item').capitalize()}. The teacher has"
        f" {counted(made.m, 'component')} in mind. Exceptions: {made.k or 'none'}."
    )
    words = Words() if table else _words(asked.world or "tree")
    report = _Report(f"Teaching {made.name}", introduction, "items", words, trials, odd[:1])
    report.give(asked.picture, as_json=asked.json)


# -- what is taught


def _made(asked: Options) -> World:
    kind, seed = asked.world or "tree", asked.seed
    take = _sizes(kind, asked)
    if asked.labels is None and "labels" in take:
        take["labels"] = min(take["labels"], take["components"])
    if kind == "lower-bound":
        return worlds.lower_bound(take["components"], seed)
    if kind == "single-exception":
        return worlds.single_exception(take["features"], seed=seed)
    if kind == "zoo":
        return worlds.zoo(seed)
    return (worlds.tree if kind == "tree" else worlds.dnf)(**take, seed=seed)


def _from_table(path: str | None, how: Mapping[str, Any], asked: Options) -> World:
    label = asked.label
    if path is None or label is None:
        raise ParameterError("give both --table FILE and --label COLUMN, or neither")
    if asked.world is not None:
        raise ParameterError(f"give --table or --world, not both (got --world {asked.world})")
    take = _sizes("table", asked)
    table = read_table(path, id=asked.id, **how)
    labels = table.labels(label)
    if not labels:
        raise FormatError(f"{path}: there are no items, only the names of the columns")
    if None in labels:
        raise FormatError(
            f"{path}: row {labels.index(None)} (counted from 0) has no label in column"
            f" {label!r}; fill it in, or drop the row"
        )
    alone = table.columns == [label]
    table = table if alone else table.without([label])
    features = [] if alone else table.features()
    if not features:
        raise FormatError(f"{path}: no column but {label!r} can be a feature; see docs/tables.md")
    for finding in table.findings:
        say_finding(finding)
    if table.id is None:
        table.id = table.names()
    return worlds.grown(
        table.items[:], labels, features, take["components"], name=table.name, truths=table.truth
    )


def _sizes(kind: str, asked: Options) -> dict[str, Any]:
    """The sizes a kind takes, given or not; a size it does not take is refused."""
    takes, given = _TAKES[kind], {name: getattr(asked, name) for name in _SIZES}
    for name, value in given.items():
        if value is not None and name not in takes:
            known = ", ".join(f"--{size}" for size in takes) or "no sizes"
            what = "a table" if kind == "table" else f"the world {kind!r}"
            raise ParameterError(f"{what} takes {known}, got --{name} {value}")
    return {name: takes[name] if given[name] is None else given[name] for name in takes}


def _run_trials(world: World, names: Iterable[str], slip_rate: float, seed: int) -> list[Trial]:
    facts = world_facts(*told_parameters(world, slip_rate, seed), len(world))
    learners = [make_learner(name, facts=facts) for name in names]
    return [run(world, learner, slip_rate=slip_rate, seed=seed) for learner in learners]


def _words(kind: str) -> Words:
    """How labels and features of a made world are said."""
    if kind == "zoo":
        return Words(say_label, say_feature, subject="it")

    def has(feature: Feature, wanted: bool) -> str:
        lacks = isinstance(feature, str) and not wanted
        return f"has no {feature}" if lacks else f"has {plainly(feature, wanted)}"

    return Words(feature=has, subject="it")


# -- what is told of it


class _Round(NamedTuple):
    """One round of a story: the item, the guess, the teacher's answer, and what to know of it."""

    number: int
    item: Item
    guess: Guess
    answer: Correction | None
    truth: Label
    slip: bool
    exception: bool


def _story(trial: Trial, also: Iterable[int]) -> Iterator[_Round]:
    """The first rounds of each sort, and some others; in round 0 the first label is asked."""
    world, mistakes = trial.world, {one.number: one for one in trial.lesson.corrections}
    slips = {slip.round: slip.said for slip in trial.slips}
    odd, default = set(world.exceptions), trial.learner.model.default
    early = (n for n in range(1, min(30, trial.lesson.rounds)) if n not in mistakes)
    right = (n for n in early if trial.guess_at(n).label not in (None, default.label))
    first_right = [n for n, _ in zip(right, range(1), strict=False)]  # of a learnt rule
    for number in sorted({0, *[*mistakes][:4], *first_right, *[*slips][:1], *also}):
        truth, answer = world.labels[number], None
        if number in mistakes:
            guess, answer = mistakes[number].guess, mistakes[number].correction
        else:
            guess = trial.guess_at(number)
            if guess.label is None:
                answer = slips.get(number, Correction(truth))
        item = world.items[number]
        yield _Round(number, item, guess, answer, truth, number in slips, number in odd)


@dataclass(frozen=True)
class _Report:
    """Trials in one world, and how to speak of them."""

    title: str
    introduction: str
    what: str
    """What items are called: "animals"."""
    words: Words
    trials: Sequence[Trial]
    also: Iterable[int]
    """Rounds of the first trial to tell, besides those that are always told."""

    @property
    def first(self) -> Trial:
        return self.trials[0]

    def give(self, picture: Path | None, *, as_json: bool) -> None:
        """Save the picture, if one is wanted and can be drawn, and print the rest."""
        saved = None
        if picture is not None:
            try:
                draw_trials(self.trials, picture, self.title)
                saved = str(picture)
            except MissingExtra as error:
                print(f"tellapart: going on without a picture: {error}", file=sys.stderr)
        if as_json:
            print(dumps(self.to_json(saved), ensure_ascii=False))
            return
        self._print()
        if saved is not None:
            print(f"Picture of the mistakes: {saved}")

    def to_json(self, picture: str | None) -> dict[str, Any]:
        """Everything, under the keys that docs/cli.md documents."""
        first, world = self.first, self.first.world
        return {
            "tellapart": "simulation",
            "format": 1,
            "world": world.name,
            "items": len(world.items),
            "labels": len(set(world.labels)),
            "components": world.m,
            "exceptions": [
                {"round": n, "item": name_of(world.items[n]), "label": str(world.labels[n])}
                for n in world.exceptions
            ],
            "slip_rate": first.slip_rate,
            "seed": first.seed,
            "learners": [_trial_json(trial) for trial in self.trials],
            "story": [_round_json(one) for one in _story(first, self.also)],
            "picture": picture,
        }

    def _print(self) -> None:
        """Story, rules, mistakes, exceptions."""
        console, name = Console(highlight=False, markup=False), type(self.first.learner).__name__
        world = self.first.world
        sections: dict[str, RenderableType] = {
            self.title: self.introduction,
            f"A few rounds with {name}": self._rounds(),
            f"What {name} learnt: the first matching rule wins": self._rules(),
            "Mistakes, and the most there could be": self._mistakes(),
            "Exceptions: no rule explains them": _some(map(self._exception, world.exceptions)),
            f"Slips of the teacher, in front of {name}": _some(map(self._slip, self.first.slips)),
        }
        for title, told in sections.items():
            if told:
                console.print(title, style="bold")
                console.print(Padding(told, (0, 0, 1, 2)))

    def _rounds(self) -> Table:
        table = _columns("round", "item", "guess, and why", "the teacher says", right=["round"])
        words, last = self.words, -1
        for one in _story(self.first, self.also):
            between = range(last + 1, one.number)
            if between:
                wrong = sum(n in between for n in self.first.lesson.mistake_rounds)
                gone = f"{counted(len(between), 'round')}, {counted(wrong, 'mistake')}"
                table.add_row("...", "", gone, "")
            guess = "?"
            if one.guess.label is not None:
                guess = f"{words.label(one.guess.label)}, like {words.item(one.guess.example)}"
            table.add_row(str(one.number), words.item(one.item), guess, self._answer(one))
            last = one.number
        return table

    def _answer(self, one: _Round) -> str:
        words, said = self.words, "Right."
        if one.answer is not None:
            said = (
                f"{'It is' if one.guess.label is None else 'No,'} {words.label(one.answer.label)}"
            )
            if one.answer.feature is not None:
                example = words.item(one.guess.example)
                said += f": {self._reason(one.answer.feature)}, unlike {example}"
            said += "."
        if one.slip and one.answer is not None and one.answer.label != one.truth:
            said += f" A slip: it is {words.label(one.truth)}."
        elif one.slip or one.exception:
            said += " A slip." if one.slip else " An exception."
        return said

    def _reason(self, feature: Feature) -> str:
        """What a teacher says of the item by naming a feature: "it lays eggs"."""
        inner, wanted = (feature.feature, False) if isinstance(feature, Not) else (feature, True)
        return f"{self.words.subject} {self.words.feature(inner, wanted)}".strip()

    def _rules(self) -> Table:
        """Each sentence of the model: how many items it labels, and how many of them wrong."""
        table = _columns("", "rule", "covers", "wrong", right=["", "covers", "wrong"])
        trial = self.first
        model, said = trial.learner.model, sentences(trial.learner.model, self.words)
        place = {id(clause): number for number, clause in enumerate(model)}
        labelled, wrong = Counter[int](), Counter[int]()
        for item, label in zip(trial.world.items, trial.world.labels, strict=True):
            clause = model.match(item)
            labelled[place[id(clause)]] += 1
            wrong[place[id(clause)]] += clause.label != label
        for n, sentence in enumerate(said[:_SHOWN]):
            count = f"{wrong[n]:,}" if wrong[n] else ""
            table.add_row(f"{n + 1}.", sentence, f"{labelled[n]:,}", count)
        if len(said) > _SHOWN:
            table.add_row("", f"... and {len(said) - _SHOWN} more", "", "")
        return table

    def _mistakes(self) -> RenderableType:
        after = f"right of {len(self.first.world):,}"
        names = ("learner", "is told", "mistakes", "bound", "rules", "dropped", after)
        table = _columns(*names, right=names[2:])
        for trial in self.trials:
            lesson, useless = trial.lesson, "*" if _is_useless(trial) else ""
            table.add_row(
                type(trial.learner).__name__,
                chosen_parameters(trial.learner),
                f"{lesson.mistakes:,}",
                "none" if trial.bound is None else f"{trial.bound:,.0f}{useless}",
                f"{lesson.rules_created:,}",
                f"{lesson.rules_deleted:,}",
                f"{trial.right:,}",
            )
        notes = [
            f"{after}: {self.what} its rules label rightly when the lesson is over",
            "m: groups in the teacher's mind; k: exceptions and slips; s: how many say the same",
        ]
        if any(trial.bound is None for trial in self.trials):
            notes.append("none: its guarantee does not reach this far")
        if any(map(_is_useless, self.trials)):
            notes.append("*: no useful bound: as many mistakes as rounds, or more")
        return Group(table, *notes)

    def _exception(self, number: int) -> str:
        """An item whose label is not its component's."""
        world, words = self.first.world, self.words
        component = world.teacher().component_of(world.items[number])
        assert component is not None
        other = world.representation.components[component]
        line = f"{words.item(world.items[number])} is {words.label(world.labels[number])}"
        line += f", yet by its features {words.label(other.label)}"
        if 0 < len(other.literals) <= 5:
            said = ", ".join(words.feature(feature, wanted) for feature, wanted in other.literals)
            line += f": {words.subject} {said}".replace("  ", " ")
        return line

    def _slip(self, slip: Slip) -> str:
        """What the teacher said and did not mean."""
        words, truth = self.words, self.first.world.labels[slip.round]
        line = f"round {slip.round}: {words.item(slip.item)} is {words.label(truth)}"
        if slip.said.label != truth:
            line += f", and was called {words.label(slip.said.label)}"
        elif slip.said.feature is not None:
            line += f", but not because {self._reason(slip.said.feature)}"
        return line


def _some(lines: Iterable[str]) -> str:
    """The first of some lines, and how many more there are."""
    told = [*lines]
    more = [f"... and {len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
    return "\n".join([*told[:_SHOWN], *more])


def _is_useless(trial: Trial) -> bool:
    """Whether a bound allows a mistake in every round."""
    return trial.bound is not None and trial.bound >= trial.lesson.rounds


def chosen_parameters(learner: BaseLearner) -> str:
    """The parameters of a learner that differ from the defaults.

    >>> from tellapart import AdaptiveDFF, RobustDFF
    >>> chosen_parameters(RobustDFF(7, 4, 1)), chosen_parameters(AdaptiveDFF())
    ('m=7 k=4 s=1', 'nothing')
    """
    usual = inspect.signature(type(learner)).parameters
    shown = []
    for name, value in learner.parameters().items():
        said = type(value).__name__ if isinstance(value, BaseLearner) else str(value)
        if value != usual[name].default:
            shown.append(f"{name}={f'{value:.2g}' if isinstance(value, float) else said}")
    return " ".join(shown) or "nothing"


def _columns(*names: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in names:
        table.add_column(name, justify="right" if name in right else "left")
    return table


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


def _round_json(one: _Round) -> dict[str, Any]:
    label, example = one.guess
    return {
        "round": one.number,
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
