"""`tellapart simulate`: the demo for a made world, or for a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tellapart.cli.options import (
    Amount,
    Sampling,
    Whole,
    say_finding,
    table_arguments,
    table_place,
)
from tellapart.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from tellapart.export.text import Words
    from tellapart.protocol import Feature
    from tellapart.worlds import World

LONG = 20_000
"""Items beyond which AutoDFF, who must be given every round, is taught only when asked for."""

Kind = Literal["tree", "dnf", "lower-bound", "single-exception", "zoo"]
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


def simulate(
    *,
    world: Kind | None = None,
    items: Whole | None = None,
    features: Whole | None = None,
    components: Whole | None = None,
    labels: Whole | None = None,
    exceptions: Amount | None = None,
    table: str | None = None,
    label: str | None = None,
    id: str | None = None,
    reading: Sampling | None = None,
    teacher: Literal["components", "informed"] = "components",
    slips: float = 0.0,
    learner: list[str] | None = None,
    seed: Whole = 0,
    picture: Path | None = None,
    model: Path | None = None,
    json: bool = False,
) -> None:
    """Teach learners a made world, or a table with a label column.

    A simulated teacher corrects every wrong guess, as in 'tellapart demo'.

    Examples:

        tellapart simulate --world dnf --components 12 --exceptions 0.03
        tellapart simulate --table animals.csv --label class --slips 0.02
        tellapart simulate --table animals.csv --label class --model animals.json

    Parameters
    ----------
    world
        The kind of made world; tree if not given.
    items
        How many items there are (tree, dnf: 2000 if not given).
    features
        How many features there are (tree, dnf, single-exception: 100).
    components
        Groups in the teacher's mind (tree, dnf, lower-bound: 8). For a table
        the most there may be; if not given, as many as pay for themselves.
    labels
        How many different labels there are (tree, dnf: 3).
    exceptions
        Items that defy their group: a rate with a point in it (tree, dnf: 0.02),
        or a count.
    table
        Teach the rows of this file (CSV, JSON lines, Parquet, Arrow), in their order,
        instead of a made world. The teacher has a decision tree in mind that fits them.
    label
        The column of the table that holds the labels.
    id
        The column that names the rows; if not given, the first whose texts all differ.
    teacher
        What the teacher goes by: the components, or all the labels at once, to
        name the most telling feature ('informed'; then no bound applies).
    slips
        How often the teacher errs: a rate from 0 to 1.
    learner
        Who is taught, as NAME or NAME:parameter=value,... (again for more). The
        first one tells its story. By default five of them; beyond 20 000 items
        without AutoDFF, who looks at every one.
    seed
        Makes the world, and settles where the teacher slips.
    picture
        Save a picture of the mistakes here (PNG, SVG, PDF; needs the extra 'lab').
    model
        Save what the first learner learnt here, as a model file.
    json
        Print everything as one JSON object instead (docs/cli.md has its keys).
    """
    from tellapart.cli.trial_report import LEARNERS, Report, run_trials

    sizes = {
        "items": items,
        "features": features,
        "components": components,
        "labels": labels,
        "exceptions": exceptions,
    }
    table = table_place(reading, table)
    how = table_arguments(reading, table)
    if table or label:
        made = _from_table(table, label, {"id": id, **how}, world, sizes)
    else:
        made = _made(world, sizes, seed)
    usual = LEARNERS if len(made) <= LONG else LEARNERS[1:]
    informed = teacher == "informed"
    trials = run_trials(made, learner or usual, slip_rate=slips, seed=seed, informed=informed)
    if model is not None:
        from tellapart.export import save_model

        save_model(trials[0].learner.model, model)
    mistakes, odd = trials[0].lesson.mistake_rounds, set(made.exceptions)
    report = Report(
        title=f"Teaching {made.name}",
        introduction=_introduction(made, informed=informed),
        what="items",
        words=_words(world or "tree", from_table=table is not None),
        trials=trials,
        also=[number for number in mistakes if number in odd][:1],
    )
    report.give(picture, as_json=json)


def _made(kind: Kind | None, sizes: Mapping[str, Any], seed: int) -> World:
    from tellapart import worlds

    kind = kind or "tree"
    take = _fill(kind, sizes)
    if sizes["labels"] is None and "labels" in take:
        take["labels"] = min(take["labels"], take["components"])
    match kind:
        case "lower-bound":
            return worlds.lower_bound(take["components"], seed)
        case "single-exception":
            return worlds.single_exception(take["features"], seed=seed)
        case "zoo":
            return worlds.zoo(seed)
        case "tree" | "dnf":
            return (worlds.tree if kind == "tree" else worlds.dnf)(**take, seed=seed)


def _from_table(
    path: str | None,
    label: str | None,
    reading: Mapping[str, Any],
    kind: Kind | None,
    sizes: Mapping[str, Any],
) -> World:
    from tellapart import worlds
    from tellapart.tables import read_table

    if path is None or label is None:
        raise ParameterError("give both --table FILE and --label COLUMN, or neither")
    if kind is not None:
        raise ParameterError(f"give --table or --world, not both (got --world {kind})")
    take = _fill("table", sizes)
    table = read_table(path, **reading)
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


def _fill(kind: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The sizes a kind takes, given or not; a size it does not take is refused."""
    takes = _TAKES[kind]
    for name, value in sizes.items():
        if value is not None and name not in takes:
            known = ", ".join(f"--{size}" for size in takes) or "no sizes"
            what = "a table" if kind == "table" else f"the world {kind!r}"
            raise ParameterError(f"{what} takes {known}, got --{name} {value}")
    return {name: takes[name] if sizes[name] is None else sizes[name] for name in takes}


def _introduction(made: World, *, informed: bool) -> str:
    from tellapart.features.phrasing import counted

    items = counted(len(made), "item").capitalize()
    if informed:
        return f"{items}. The teacher knows every label, and names the feature that tells most."
    components = counted(made.m, "component")
    return f"{items}. The teacher has {components} in mind. Exceptions: {made.k or 'none'}."


def _words(kind: str, *, from_table: bool) -> Words:
    from tellapart.export.text import Words, plainly
    from tellapart.features import Points
    from tellapart.worlds.zoo import say_feature, say_label

    if from_table:
        return Words()
    if kind == "zoo":
        return Words(say_label, say_feature, subject="it")

    def has(feature: Feature, wanted: bool) -> str:
        if isinstance(feature, str):
            return f"has {feature}" if wanted else f"has no {feature}"
        if isinstance(feature, Points):
            return f"has {plainly(feature, wanted)}"
        return plainly(feature, wanted)

    return Words(feature=has, subject="it")
