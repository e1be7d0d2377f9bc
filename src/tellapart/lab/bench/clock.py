"""Taking the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def turns(
    ours: Callable[[], object], yardstick: Callable[[], object], repeats: int
) -> tuple[float, float, float]:
    """The ratio of the best times, taken turn about, and these times: ours, the yardstick's."""
    times = [(seconds(ours), seconds(yardstick)) for _ in range(repeats)]
    mine, theirs = map(min, zip(*times, strict=True))
    return theirs / mine, mine, theirs


def seconds(do: Callable[[], object]) -> float:
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def worked(do: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """The seconds that the processor works to do something, and what comes of it."""
    start = time.process_time()
    result = do(*arguments)
    return time.process_time() - start, result
