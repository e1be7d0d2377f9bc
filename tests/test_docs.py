"""Documentation that cannot go stale: code runs, commands and pages are all there."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclopts.argument import Argument

import tellapart
from tellapart import codec
from tellapart.cli import COMMANDS, build, place_of

ROOT = Path(__file__).parents[1]
GUIDES = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *GUIDES]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


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
            assert not anchor or target.suffix == ".png" or anchor in anchors(target), (
                f"{link}#{anchor}"
            )


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


def test_the_file_of_a_model_is_described() -> None:
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    for module in ("features", "learners.auto", "learners.by_name", "tables", "worlds"):
        importlib.import_module(f"tellapart.{module}")
    with pytest.raises(tellapart.TellapartError, match="known are") as raised:
        codec.decode({"$nobody": 1})
    tags = re.findall(r"\$\w+", str(raised.value).partition("known are")[2])
    assert [tag for tag in tags if f'"{tag}"' not in page] == []


def test_every_public_name_is_on_some_page() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [one for one in tellapart.__all__ if not re.search(rf"\b{one}\b", pages)] == []


def test_the_list_of_commands_is_complete() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^tellapart (\w+)  ", page, re.M)) == set(COMMANDS)


def help_of(command: str) -> str:
    """What docs/cli.md says of a command: a line an option, and one a setting."""
    found = build(command)[command].assemble_argument_collection(parse_docstring=True)
    module, function = place_of(command)
    told = inspect.getdoc(getattr(importlib.import_module(module), function)) or ""
    told = told.partition("\n\nParameters\n")[0].replace("For example:", "Example:")
    text, _, examples = told.partition("\n\nExample")
    lines = [*textwrap.wrap(" ".join(text.split()), 120), "", "```text"]
    lines += [line[4:] for line in examples.splitlines()[2:]]
    for shown, title in ((True, "option"), (False, f"in `[{command}]` of `tellapart.toml`")):
        rows = [
            row_of(one) for one in found if one.show == shown and one.parse and one.names != ("*",)
        ]
        if rows:
            lines += ["```" if shown else "", "", f"| {title} | |", "|---|---|", *rows]
    return "\n".join(line for n, line in enumerate(lines) if line or lines[n - 1]) + "\n"


def row_of(one: Argument) -> str:
    """An option: its name, what it takes, what it means, and what it is if it is not given."""
    name = one.names[0] if one.index is None else one.names[0].lstrip("-").upper()
    name = ", ".join([name, *(short for short in one.names if re.fullmatch("-.", short))])
    if not one.show:
        name = name.lstrip("-").replace("-", "_")
    means = one.parameter.help or ""
    assert means, f"{name} has no words"
    if choices := one.get_choices():
        means += f" One of {', '.join(choices)}."
    default = one.field_info.default
    if default and default is not one.field_info.empty and default is not True:
        means += f" Default: {default}."
    required = "; required" if one.required and one.index is None else ""
    return f"| `{name}`{required} | {' '.join(means.split())} |"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_documented(command: str) -> None:
    """docs/cli.md has every option of every command; TELLAPART_UPDATE=1 writes them there anew."""
    page = ROOT / "docs" / "cli.md"
    text = page.read_text(encoding="utf-8")
    block = re.search(rf"(?<=<!-- help of {command} -->\n).*?(?=<!-- end -->)", text, re.DOTALL)
    assert block is not None, f"docs/cli.md has no block '<!-- help of {command} -->'"
    if os.environ.get("TELLAPART_UPDATE"):
        changed = text[: block.start()] + help_of(command) + text[block.end() :]
        page.write_text(changed, encoding="utf-8")
        return
    assert block[0] == help_of(command), "run it again with TELLAPART_UPDATE=1"


def test_there_are_few_options() -> None:
    """A new one is a decision; what is rarely needed stands in `tellapart.toml`."""
    found = [
        one.names[0]
        for command in COMMANDS
        for one in build(command)[command].assemble_argument_collection()
        if one.show and one.index is None
    ]
    assert len(found) <= 115


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
