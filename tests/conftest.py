"""What all tests share."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable

import pytest

PARTS: dict[str, tuple[Callable[[], bool], str]] = {
    "matplotlib": (lambda: _module("matplotlib"), "pip install -e '.[lab]'"),
    "scikit-learn": (lambda: _module("sklearn"), "pip install -e '.[compare]'"),
}
"""What a test may need: whether it is here, and how to get it. Add a line for a new part."""


def _module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def require(part: str) -> None:
    """Skip the test when `part` is missing; in CI (TELLAPART_CI=1) fail it: nothing is missing."""
    here, how = PARTS[part]
    if here():
        return
    if os.environ.get("TELLAPART_CI") == "1":
        pytest.fail(f"{part} is missing, and CI must have it ({how})", pytrace=False)
    pytest.skip(f"{part} is not installed: {how}")


@pytest.fixture
def needs() -> Callable[[str], None]:
    """`needs("matplotlib")` at the top of a test that cannot run without it."""
    return require
