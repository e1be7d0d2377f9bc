"""Measurements, and how time is taken."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tellapart import __version__

SEED = 1
"""Of all worlds that are measured."""


@dataclass(frozen=True)
class Measurement:
    """How many times as fast as a yardstick something is."""

    what: str
    against: str
    ratio: float
    """The yardstick's time over ours: above 1, ours is faster."""
    bar: float | None
    """What it should reach, if anything."""
    seconds: float
    yardstick_seconds: float
    repeats: int
    note: str

    @property
    def reached(self) -> bool | None:
        """Whether it reaches its bar."""
        return None if self.bar is None else self.ratio >= self.bar


@dataclass(frozen=True)
class Limit:
    """Something that should stay small."""

    what: str
    value: float
    unit: str
    limit: float | None
    """What it should not exceed, if anything."""
    note: str

    @property
    def reached(self) -> bool | None:
        """Whether it stays within its limit."""
        return None if self.limit is None else self.value <= self.limit


def compare_times(
    what: str,
    against: str,
    ours: Callable[[], object],
    yardstick: Callable[[], object],
    note: str,
    *,
    repeats: int = 3,
    bar: float | None = None,
    parts: tuple[int, int] = (1, 1),
) -> Measurement:
    """Time ours and the yardstick alternately, and compare the best times.

    Times depend on the machine and its load; ratios of times taken in turns depend on them much
    less. `parts` divides the two times, to compare single updates.
    """
    times = [(seconds(ours), seconds(yardstick)) for _ in range(repeats)]
    mine, theirs = (min(column) for column in zip(*times, strict=True))
    mine, theirs = mine / parts[0], theirs / parts[1]
    return Measurement(what, against, theirs / mine, bar, mine, theirs, repeats, note)


def seconds(do: Callable[[], object]) -> float:
    """The wall-clock time of a call."""
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def cpu_seconds(do: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """The processor time of a call, and its result."""
    start = time.process_time()
    result = do(*arguments)
    return time.process_time() - start, result


def machine() -> dict[str, str | int]:
    """What the numbers depend on."""
    facts: dict[str, str | int] = {
        "tellapart": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "seed": SEED,
    }
    packages = versions("numpy", "scikit-learn", "river")
    return facts | {name: found or "not installed" for name, found in packages.items()}


def versions(*packages: str) -> dict[str, str | None]:
    """The versions of packages; None if not installed."""
    found: dict[str, str | None] = dict.fromkeys(packages)
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line for line in lines if "model name" in line).split(": ", 1)[1].strip()
    except (OSError, StopIteration, IndexError):
        return platform.processor() or "unknown"


@dataclass(frozen=True)
class Bench:
    """All measurements of a run, and the machine it ran on."""

    measurements: tuple[Measurement, ...]
    limits: tuple[Limit, ...]
    machine: dict[str, str | int] = field(default_factory=machine)

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        return {
            "machine": self.machine,
            "measurements": [{**asdict(one), "reached": one.reached} for one in self.measurements],
            "limits": [{**asdict(one), "reached": one.reached} for one in self.limits],
        }
