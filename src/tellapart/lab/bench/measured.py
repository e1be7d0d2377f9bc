"""A measurement, and everything it depends on."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tellapart import __version__

SEED = 1


@dataclass(frozen=True)
class Measurement:
    """How many times as fast as a yardstick something is."""

    what: str
    against: str
    ratio: float
    """The yardstick's time over ours: above 1, ours is faster."""
    bar: float | None
    """What it should reach; None where no promise was made."""
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
    """What it should not exceed; None where no promise was made."""
    note: str

    @property
    def reached(self) -> bool | None:
        """Whether it stays below its limit."""
        return None if self.limit is None else self.value <= self.limit


@dataclass(frozen=True)
class Bench:
    """All measurements of a run, and where it ran."""

    machine: dict[str, str | int]
    measurements: tuple[Measurement, ...]
    limits: tuple[Limit, ...]

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        return {
            "machine": self.machine,
            "measurements": [{**asdict(one), "reached": one.reached} for one in self.measurements],
            "limits": [{**asdict(one), "reached": one.reached} for one in self.limits],
        }


def machine() -> dict[str, str | int]:
    """What the numbers depend on."""
    found: dict[str, str | int] = {
        "tellapart": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "seed": SEED,
    }
    for package in ("numpy", "scikit-learn", "river"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line for line in lines if "model name" in line).split(": ", 1)[1].strip()
    except (OSError, StopIteration, IndexError):
        return platform.processor() or "unknown"
