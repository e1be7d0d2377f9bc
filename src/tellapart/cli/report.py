"""What `demo` and `simulate` found out, before anybody shows it; `--json` prints it as it is.

The first trial is the one whose story and rules are told; the others are compared to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tellapart.export.text import Words, name_of, sentences
from tellapart.lab.trial import Trial
from tellapart.model import Not, describe
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.teachers import Slip
from tellapart.worlds import World

FORMAT = 1
"""The version of the JSON object; its keys stand in docs/cli.md."""


@dataclass(frozen=True)
class Report:
    """Trials in one world, and how to speak of them."""

    title: str
    introduction: str
    what: str
    """What items are called: "animals"."""
    words: Words
    trials: Sequence[Trial]
    rounds: Iterable[int]
    """Which rounds of the first trial to tell."""

    @property
    def first(self) -> Trial:
        return self.trials[0]


@dataclass(frozen=True)
class Told:
    """One round of a story: the item, the guess, the teacher's answer, and what to know of it."""

    round: int
    item: Item
    guess: Guess
    answer: Correction | None
    truth: Label
    slip: bool
    exception: bool


def story(trial: Trial, rounds: Iterable[int]) -> list[Told]:
    """Those rounds of a trial, in order; in round 0 the first label is asked."""
    mistakes = {corrected.number: corrected for corrected in trial.lesson.corrections}
    slips = {slip.round: slip.said for slip in trial.slips}
    scene = trial.scene
    exceptions = set(scene.exceptions) if isinstance(scene, World) else set[int]()
    told = []
    for number in sorted(set(rounds)):
        item, truth, answer = scene.items[number], scene.labels[number], None
        if number in mistakes:
            guess, answer = mistakes[number].guess, mistakes[number].correction
        else:
            guess = trial.guess_at(number)
            if guess.label is None:
                answer = slips.get(number, Correction(truth))
        odd = number in exceptions
        told.append(Told(number, item, guess, answer, truth, number in slips, odd))
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
    for item, label in zip(trial.scene.items, trial.scene.labels, strict=True):
        clause = model.match(item)
        labelled[place[id(clause)]] += 1
        wrong[place[id(clause)]] += clause.label != label
    return [(labelled[number], wrong[number]) for number in range(len(sentences(model)))]


# -- in words


def count(number: int, noun: str) -> str:
    """ "1 round", "2 rounds"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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
    truth = trial.scene.labels[slip.round]
    line = f"round {slip.round}: {words.item(slip.item)} is {words.label(truth)}"
    if slip.said.label != truth:
        line += f", and was called {words.label(slip.said.label)}"
    elif slip.said.feature is not None and slip.meant is not None:
        line += f", but not because {reason(slip.said.feature, words)}"
    noticed = {odd.round for odd in trial.lesson.inconsistencies}
    return line + (" (noticed, and not learnt from)" if slip.round in noticed else "")


# -- for machines


def as_json(report: Report, picture: str | None) -> dict[str, Any]:
    """Everything, under the keys that docs/cli.md documents."""
    first = report.first
    scene = first.scene
    world = scene if isinstance(scene, World) else None
    return {
        "tellapart": "simulation",
        "format": FORMAT,
        "world": scene.name,
        "items": len(scene.items),
        "labels": len(set(scene.labels)),
        "components": world and world.m,
        "exceptions": None if world is None else _exceptions(world),
        "slip_rate": first.slip_rate,
        "seed": first.seed,
        "learners": [_learner(trial) for trial in report.trials],
        "story": [_told(one) for one in story(first, report.rounds)],
        "picture": picture,
    }


def _learner(trial: Trial) -> dict[str, Any]:
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
                "meant": _correction(slip.meant),
                "said": _correction(slip.said),
            }
            for slip in trial.slips
        ],
    }


def _exceptions(world: World) -> list[dict[str, Any]]:
    return [
        {"round": n, "item": name_of(world.items[n]), "label": str(world.labels[n])}
        for n in world.exceptions
    ]


def _told(one: Told) -> dict[str, Any]:
    label, example = one.guess
    asked = label is None
    return {
        "round": one.round,
        "item": name_of(one.item),
        "guess": None if asked else {"label": str(label), "example": name_of(example)},
        "correction": _correction(one.answer),
        "slip": one.slip,
        "exception": one.exception,
    }


def _correction(said: Correction | None) -> dict[str, str | None] | None:
    if said is None:
        return None
    feature = None if said.feature is None else describe(said.feature)
    return {"label": str(said.label), "feature": feature}
