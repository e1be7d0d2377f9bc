"""Teaching in notebooks: the pages inside JupyterLab and marimo, in a real browser."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import zoo_session
from browser_teacher import BrowserTeacher, log, write_zoo
from tellapart import CappedDFF, Correction, Table, teach
from tellapart.sessions import Event, Store
from tellapart.teachers import Recorded

TEACH = """import tellapart as ta
store = ta.Store("zoo.db")
session = ta.Session.new(store, "zoo", "zoo.csv", reading={"id": "name"}, order="file")
teaching = ta.widget(session, teacher="Ann")
teaching"""
JUPYTER = {
    "cells": [
        {"cell_type": "code", "id": "a", "metadata": {}, "source": TEACH, "outputs": []}
        | {"execution_count": None}
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
MARIMO = f"""import marimo
app = marimo.App()

@app.cell
def _():
{re.sub("^", "    ", TEACH.replace("teaching = ", "import marimo as mo; teaching = "), flags=re.M)}
    return

if __name__ == "__main__":
    app.run()
"""


@contextmanager
def running(folder: Path, address: str, *words: str) -> Iterator[None]:
    """A notebook server in a folder, ready to answer."""
    where = {"HOME": str(folder), "JUPYTER_CONFIG_DIR": str(folder / "config")}
    with (folder / "notebook.log").open("wb") as said:
        command = [sys.executable, "-m", *words]
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **where}, stdout=said, stderr=said
        )
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(address, timeout=5):
                    break
            except OSError:
                time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(30)


def open_jupyter(page: Any, place: str) -> None:
    page.goto(f"{place}/lab/tree/zoo.ipynb")
    page.locator(".jp-Notebook .cm-content").first.click()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(state="attached")
    page.keyboard.press("Shift+Enter")


def open_marimo(page: Any, place: str) -> None:
    page.goto(place)


class Framed:
    """The frame of the widget, and the keyboard of the page it is in."""

    def __init__(self, page: Any) -> None:
        self.keyboard = page.keyboard
        self._frame = page.locator("iframe[title=tellapart]").element_handle().content_frame()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)


class NotebookTeacher(BrowserTeacher):
    """A teacher in the widget of a notebook."""

    def __init__(self, page: Any) -> None:
        self.page = Framed(page)  # type: ignore[assignment]  # as much of a page as a teacher needs


def answers(events: list[Event]) -> list[Any]:
    """What was answered, without what differs between any two sessions: ids and times."""
    return [
        (one.type, {key: value for key, value in one.data.items() if key not in ("given", "seen")})
        for one in events
        if one.type not in ("opened", "given")
    ]


@pytest.mark.parametrize("notebook", ["jupyterlab", "marimo"])
def test_ten_rows_by_keys_are_the_log_of_the_page(
    notebook: str,
    browser: Any,
    begin: Callable[..., str],
    open_page: Callable[..., BrowserTeacher],
    server: Any,
    tmp_path: Path,
    needs: Callable[[str], None],
) -> None:
    needs(notebook)
    truth = write_zoo(tmp_path / "zoo.csv")
    (tmp_path / "zoo.ipynb").write_text(json.dumps(JUPYTER))
    (tmp_path / "zoo.py").write_text(MARIMO)
    port = 18_000 + os.getpid() % 10_000
    place = f"http://127.0.0.1:{port}"
    if notebook == "jupyterlab":
        words = ("jupyterlab", "--no-browser", "--allow-root", "--IdentityProvider.token=")
        words, ready = (*words, f"--port={port}"), f"{place}/api"
    else:
        words, ready = ("marimo", "run", "zoo.py", "--headless", f"--port={port}"), place
    with running(tmp_path, ready, *words):
        context = browser.new_context(viewport={"width": 1280, "height": 1100})
        page = context.new_page()
        page.set_default_timeout(60_000)
        (open_jupyter if notebook == "jupyterlab" else open_marimo)(page, place)
        page.frame_locator("iframe[title=tellapart]").locator("#ask").wait_for()
        inside = NotebookTeacher(page)
        inside.page.click("#ask")
        inside.teach(truth, 10)
        with Store(tmp_path / "zoo.db") as store:
            found = store.log("zoo")
        inside.page.click("#pages a >> nth=1")
        inside.page.wait_for_selector(".rule .count")
        context.close()
    teacher = open_page(begin(order="file"))
    teacher.teach(truth, 10)
    assert answers(found) == answers(log(server, teacher.page.url.split("/")[-2]))


def shown() -> list[Any]:
    """What a notebook shows as more than its `repr`."""
    pets = Table({"name": ["<b>bear</b>", "duck"], "wings": [False, True]}, id="name")
    bear, duck = pets.items
    said = [
        (bear, Correction("<i>mammal</i>")),
        (duck, Correction("<i>bird</i>", pets.parse("wings"))),
    ]
    learner = CappedDFF(m=2)
    lesson = teach(learner, Recorded(said), [bear, duck, bear, duck])
    return [pets, bear, learner.guess(bear), lesson, learner.model]


@pytest.mark.parametrize("thing", shown(), ids=lambda thing: type(thing).__name__)
def test_what_a_notebook_shows_is_escaped_and_whole(thing: Any) -> None:
    drawn = thing._repr_html_()
    parse = ElementTree.fromstring(f"<div>{drawn}</div>")
    words = " ".join(parse.itertext())
    assert "<b>bear</b>" in words or "<i>bird</i>" in words
    assert parse.find(".//b") is None
    assert parse.find(".//i") is None


def test_a_lesson_shows_its_curve() -> None:
    drawn = shown()[3]._repr_html_()
    assert '<svg viewBox="' in drawn
    assert "2 mistakes in 4 rounds" in drawn


def test_a_session_shows_how_far_it_is(store: Store) -> None:
    with zoo_session.zoo(store) as session:
        assert "0 of 6" in session._repr_html_()
        given = zoo_session.give(session, "Ann")
        session.answer("Ann", given.id, "wrong", "<mammal>")
        assert "1 of 6" in session._repr_html_()
        assert "&lt;mammal&gt;" in session._repr_html_()
