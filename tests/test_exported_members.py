"""The public names: one sorted list, each of them there, and the same for the type checker."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys

import pytest

import tellapart


def test_the_list_is_sorted_and_has_no_doubles() -> None:
    assert tellapart.__all__ == sorted(set(tellapart.__all__))


@pytest.mark.parametrize("name", tellapart.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(tellapart, name) is not None
    assert name in dir(tellapart)


def test_the_type_checker_sees_the_same_names_from_the_same_places() -> None:
    """The imports under TYPE_CHECKING say what `__getattr__` does."""
    tree = ast.parse(inspect.getsource(tellapart))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: statement.module
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if alias.asname == alias.name
    }
    assert sorted(seen) == tellapart.__all__
    for name, module in seen.items():
        assert getattr(importlib.import_module(module), name) is getattr(tellapart, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Oracle'"):
        _ = tellapart.Oracle


@pytest.mark.parametrize(
    ("module", "most", "without"),
    [
        ("tellapart", 1, {"numpy", "polars", "sqlglot", "cyclopts", "rich", "matplotlib"}),
        ("tellapart.learners.dff", 14, {"numpy"}),
        ("tellapart.worlds", 40, {"polars", "sqlglot", "http.client", "ssl", "socket", "httpx"}),
    ],
)
def test_an_import_brings_in_little(module: str, most: int, without: set[str]) -> None:
    """`most`: how many modules of ours, packages included."""
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & without
    assert len([one for one in loaded if one.partition(".")[0] == "tellapart"]) <= most
