"""`tellapart bench`: how fast tellapart is on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tellapart.lab.measurement import Limit, Measurement


def bench(*, quick: bool = False, json: bool = False) -> None:
    """Measure how fast simulate, teach, predict and updates are, as ratios.

    The yardsticks are measured in the same run: one AND pass over the columns that a
    simulation uses, the plain loop of teach, and, where they are installed,
    scikit-learn's decision tree and river's Hoeffding tree. A ratio above 1 means
    faster than the yardstick. Memory and start-up are measured too. All of it takes some
    minutes, --quick less than one.

    Examples:

        tellapart bench --quick
        tellapart bench --json > bench.json

    Parameters
    ----------
    quick
        Shorter streams. The bars are set for the long ones.
    json
        Print everything as one JSON object instead (docs/simulate.md has its keys).
    """
    from tellapart.lab.bench import bench as measure
    from tellapart.lab.measurement import Limit

    if json:
        from json import dumps

        print(dumps(measure(quick=quick).as_json(), ensure_ascii=False))
        return
    from rich.console import Console

    console = Console(highlight=False, markup=False, soft_wrap=True)

    def tell(one: Measurement | Limit) -> None:
        if isinstance(one, Limit):
            limit = "" if one.limit is None else f" (limit {one.limit:g}: {_word(one.reached)})"
            console.print(f"{one.what}: {one.value:.3g} {one.unit}{limit}")
            console.print(f"    {one.note}", style="dim")
            return
        bar = "" if one.bar is None else f" (bar {one.bar:g}: {_word(one.reached)})"
        console.print(f"{one.what}: {one.ratio:.3g} times as fast as {one.against}{bar}")
        times = f"{_time(one.seconds)} against {_time(one.yardstick_seconds)}"
        console.print(f"    {times}; {one.note}", style="dim")

    found = measure(quick=quick, told=tell)
    facts = ", ".join(f"{name} {value}" for name, value in found.machine.items())
    console.print(facts, style="dim")


def _word(reached: bool | None) -> str:
    return "yes" if reached else "no"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
