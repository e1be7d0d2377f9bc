"""Documentation that cannot go stale: code runs, commands and pages are all there."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import tellapart
from tellapart import codec
from tellapart.cli import COMMANDS, FUNCTIONS, main
from tellapart.cli.options import Reading

ROOT = Path(__file__).parents[1]
GUIDES = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *GUIDES]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def words(text: str) -> str:
    """The text without boxes and layout."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_without_prompts_runs_too(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks with >>> are doctests, which pytest collects itself (--doctest-glob)."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    known: dict[str, object] = {}
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if ">>>" not in block[1]:
            line = text[: block.start()].count("\n") + 1
            exec(compile("\n" * line + block[1], name(page), "exec"), known)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", text):
        if not link.startswith(("http://", "https://")):
            target = page.parent / link if link else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), f"{link}#{anchor}"


def anchors(page: Path) -> set[str]:
    """What its headings are called in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_are_named_exist(page: Path) -> None:
    """Paths from the root of the repository, or of the package, that a page names."""
    text = re.sub(r"https?://\S+", "", page.read_text(encoding="utf-8"))
    roots = [ROOT, ROOT / "src", ROOT / "src" / "tellapart", page.parent]
    paths = re.findall(r"\b(?:[\w.]+/)+\w+\.(?:py|js|html|css|svg)\b", text)
    if page.name in ("design.md", "CONTRIBUTING.md"):  # everything that looks like a path
        paths += re.findall(r"`([\w.-]+/[\w./-]*)`", text)
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []


def test_the_walk_names_what_is_in_the_files() -> None:
    """In the tables of the walk, a row names a file and functions or classes that are in it."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| `([\w/]+\.py)` \| (.*) \|$", page, re.MULTILINE)
    assert len(steps) > 40
    for path, sentence in steps:
        source = (ROOT / "src" / "tellapart" / path).read_text(encoding="utf-8")
        for named in re.findall(r"`([A-Za-z_.]+)`", sentence):
            name = named.rpartition(".")[2]
            assert re.search(rf"\b{name}\b", source), (path, name)


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in GUIDES:
        assert page.name == "index.md" or f"({page.name})" in index, page.name


def test_design_names_every_room() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    with open(ROOT / "pyproject.toml", "rb") as file:
        [contract] = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    rooms = [set(floor.split(" | ")) for floor in reversed(contract["layers"])]
    shown = [set(re.findall(r"`(\w+)`", row)) for row in re.findall(r"^\| (`.*?) \|", page, re.M)]
    assert [room for row in shown for room in sorted(row)] == [
        room for floor in rooms for room in sorted(floor)
    ]


def test_the_picture_of_the_rooms_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "rooms.py"), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not checked.returncode, checked.stderr


def test_the_file_of_a_model_is_described() -> None:
    page = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
    for room in ("features", "learners", "tables", "worlds"):
        importlib.import_module(f"tellapart.{room}")
    assert [tag for tag in codec._readers if f'"{tag}"' not in page] == []


def test_every_public_name_is_on_some_page() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [one for one in tellapart.__all__ if not re.search(rf"\b{one}\b", pages)] == []


def test_the_list_of_commands_is_complete() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^tellapart (\w+)  ", page, re.M)) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_documented(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/cli.md shows the help of every command; TELLAPART_UPDATE=1 writes it there anew."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main([command, "--help"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    page = ROOT / "docs" / "cli.md"
    text = page.read_text(encoding="utf-8")
    block = re.search(rf"(?<=<!-- help of {command} -->\n```text\n).*?(?=```\n)", text, re.DOTALL)
    assert block is not None, f"docs/cli.md has no block '<!-- help of {command} -->'"
    if os.environ.get("TELLAPART_UPDATE"):
        page.write_text(
            text[: block.start()] + "\n".join(lines) + "\n" + text[block.end() :], encoding="utf-8"
        )
        return
    shown = words(block[0])
    function = FUNCTIONS.get(command, command)
    target = getattr(importlib.import_module(f"tellapart.cli.{function}"), function)
    parameters = dict(inspect.signature(target).parameters)
    if parameters.pop("reading", None):  # the options that say how a table is read
        named = {one.name: one.name.replace("_", "-") for one in dataclasses.fields(Reading)}
        assert all(f"--{one} " in shown for one in (named | {"source": "from"}).values())
    options = {  # the others stand by themselves, under "Arguments"
        f"--{option.replace('_', '-')}"
        for option, parameter in parameters.items()
        if parameter.kind is not parameter.VAR_POSITIONAL
    }
    assert set(re.findall(r"(?<= )--[a-z-]+", shown.partition("Parameters")[2])) >= options
    # what the docstring says of each option stands on the page, word for word
    described = re.findall(r"^(\w+)\n((?:    .*\n?)+)", inspect.getdoc(target) or "", re.MULTILINE)
    assert {option for option, _ in described} == set(parameters)
    for option, text in described:
        assert words(text) in shown, option


def test_the_readme_and_ci_run_the_same_tests() -> None:
    assert "\n./test\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert ci.splitlines()[-1] == "./test"
    assert "export TELLAPART_CI=1" in ci
    assert os.access(ROOT / "test", os.X_OK)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_a_missing_part_is_skipped_here_and_fails_in_ci(
    needs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = needs.__globals__["PARTS"]
    monkeypatch.setitem(parts, "a moon", (lambda: False, "wait for night"))
    monkeypatch.delenv("TELLAPART_CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="a moon is not installed: wait for night"):
        needs("a moon")
    monkeypatch.setenv("TELLAPART_CI", "1")
    with pytest.raises(pytest.fail.Exception, match="a moon is missing, and CI must have it"):
        needs("a moon")
