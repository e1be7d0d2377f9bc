"""The documentation site: it builds without a network, nothing in it is broken, all is found."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import tellapart
from browser_teacher import narrow, violations
from tellapart.cli import COMMANDS

ROOT = Path(__file__).parents[1]
JUDGED = (
    "index.html",
    "measurements.html",
    "tutorials/bank.html",
    "api/index.html",
    "api/lab.html",
)
"""Pages of every kind; axe-core takes seconds for each. TELLAPART_SITE=all judges all."""
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, needs: Any) -> Path:
    """The built site; a warning of the builder fails."""
    needs("zensical")
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "src"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "zensical.toml", folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    assert "griffe" not in built.stdout + built.stderr, built.stderr[-3000:]
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, str]:
    """Path to text of every page."""
    found = {str(one.relative_to(site)): one.read_text("utf-8") for one in site.rglob("*.html")}
    del found["404.html"]
    return found


def links(page: str, text: str, by: str = "href|src") -> set[str]:
    """Where a page leads to in the site, as paths from its root with their anchors."""
    found = set()
    for link in re.findall(rf'(?:{by})="?([^"\s>]+)', text):
        if not re.match(r"[a-z]+:", link):
            path, _, anchor = link.partition("#")
            here = (Path("/") / page).parent / path if path else Path("/") / page
            clean = str(Path(*_without_dots(here)))
            found.add(f"{clean}#{anchor}" if anchor else clean)
    return found


def _without_dots(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts[1:]:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return parts


def test_every_link_leads_somewhere(site: Path, pages: dict[str, str]) -> None:
    broken = []
    for page, text in pages.items():
        for link in links(page, text):
            path, _, anchor = link.partition("#")
            target = site / path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                broken.append(f"{page} -> {link}")
            elif anchor and target.suffix == ".html":
                ids = re.findall(r'(?:id|name)="?([^"\s>]+)', target.read_text("utf-8"))
                if anchor not in ids and not anchor.startswith("__"):
                    broken.append(f"{page} -> {link}")
    assert broken == []


def test_every_page_is_two_clicks_away(pages: dict[str, str]) -> None:
    once = links("index.html", pages["index.html"])
    near = {link.partition("#")[0] for link in once} | {"index.html"}
    near |= {
        link.partition("#")[0] for page in near & set(pages) for link in links(page, pages[page])
    }
    assert set(pages) - near == set()


def test_pages_are_small(site: Path, pages: dict[str, str]) -> None:
    """With all that a page asks for, as a server sends it."""
    for page, text in pages.items():
        sheets = {link for link in links(page, text) if link.endswith(".css")}
        sent = [gzip.compress(text.encode())]
        for part in sheets | links(page, text, by="src"):
            read = (site / part.partition("#")[0]).read_bytes()
            if ".png" not in part:
                sent.append(gzip.compress(read))
            elif "-dark" not in part:  # one of the two pictures is shown
                sent.append(read)
        assert len(text) < 300_000, page
        assert sum(map(len, sent)) < 300_000, page


def test_search_knows_every_command_and_name(site: Path) -> None:
    known = json.loads((site / "search.json").read_text("utf-8"))
    titles = " ".join(one["title"] for one in known["items"])
    assert [one for one in COMMANDS if not re.search(rf"\b{one}\b", titles)] == []
    assert [one for one in tellapart.__all__ if not re.search(rf"\b{one}\b", titles)] == []


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_pages_are_for_everybody_and_ask_nobody_else(
    browser: Any, address: str, pages: dict[str, str], axe: str
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url))
    trouble = []
    for name in pages:
        page.goto(f"{address}/{name}")
        if name in JUDGED or os.environ.get("TELLAPART_SITE") == "all":
            trouble += [f"{name}: {one}" for one in violations(page, axe)]
        page.set_viewport_size({"width": 390, "height": 800})
        if not narrow(page):
            trouble.append(f"{name} scrolls sideways at 390 px")
        page.set_viewport_size({"width": 1280, "height": 800})
    context.close()
    assert trouble == []
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


@pytest.mark.parametrize("word", ["AutoDFF", "predict", "RobustDFF"])
def test_search_finds(browser: Any, address: str, word: str) -> None:
    page = browser.new_page()
    page.goto(address)
    page.keyboard.press("/")
    page.keyboard.type(word, delay=20)
    page.get_by_text(re.compile(r"\d+ results?")).wait_for()
    assert page.get_by_text(word, exact=True).count()
    page.close()
