"""A teacher who uses a real browser with nothing but a keyboard."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from server_process import Server
from tellapart.samples import animals
from tellapart.sessions import Event
from tellapart.sessions.log import parse_log

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

TIMEOUT = 25_000  # a busy machine is no failure
TEAM = {"Ann": "token-of-the-owner-1", "Bob": "token-of-bob-000001"}
LOOK = 300  # milliseconds: sooner, nobody has looked at a page, and keys record nothing on it
PAGES = (
    "sweep",
    "rules",
    "rules?by=order",
    "progress",
    "answers",
    "answers?tab=odd",
    "answers?tab=disputed",
    "data",
    "export",
    "help",
)
"""Where a session is looked at."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def write_zoo(path: Path) -> dict[str, str]:
    """The zoo without its labels; returns these. Names are unique: there are two frogs."""
    by_name = {animal["name"]: (animal, label) for animal, label in animals()}
    columns = [name for name in by_name["bear"][0] if name != "name"]
    lines = [",".join(["name", *columns])]
    for name, (animal, _) in by_name.items():
        lines.append(",".join([name, *(str(animal[column]).lower() for column in columns)]))
    path.write_text("\n".join(lines) + "\n")
    return {name: label for name, (_, label) in by_name.items()}


class BrowserTeacher:
    """One teacher's browser on one session, and the errors it logged."""

    def __init__(self, browser: Browser, server: Server, who: str, **how: Any) -> None:
        self.server, self.who = server, who
        how.setdefault("reduced_motion", "reduce")  # what is measured or judged stands still
        self.context: BrowserContext = browser.new_context(**how)
        self.context.set_default_timeout(TIMEOUT)
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._log)
        self.page.on("dialog", lambda dialog: self.errors.append(f"dialog {dialog.message}"))

    def _log(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def open(self, session: str, path: str = "/teach") -> BrowserTeacher:
        """Open a page of a session with the teacher's token."""
        token = self.server.tokens[self.who]
        query = "&" if "?" in path else "?"
        self.page.goto(f"{self.server.address}/s/{session}{path}{query}token={token}")
        return self

    def press(self, *keys: str) -> None:
        """Press keys; each makes a new card."""
        for key in keys:
            with self.new_card():
                self.page.keyboard.press(key)

    @contextmanager
    def new_card(self) -> Iterator[None]:
        """What is done inside makes a new card."""
        self.page.evaluate("document.getElementById('card').dataset.old = 1")
        yield
        self.page.wait_for_selector("#card:not([data-old])")

    def type(self, text: str) -> None:
        """Type a label or a reason, and Enter."""
        self.page.keyboard.type(text)
        self.press("Enter")

    def command(self, text: str) -> None:
        """A command behind `/`, with its words."""
        with self.new_card():
            self.page.keyboard.press("/")
            self.page.keyboard.type(text)
            self.page.keyboard.press("Enter")

    def undo(self) -> None:
        self.press("Control+z")

    def redo(self) -> None:
        self.press("Control+y")

    @property
    def heading(self) -> str:
        """The sentence on top."""
        return " ".join(self.page.inner_text("#ask").split())

    @property
    def item(self) -> str:
        """The row at hand."""
        return self.page.inner_text("#ask b >> nth=0")

    @property
    def guess(self) -> str | None:
        """The label that is guessed; None where none is."""
        if self.page.get_attribute("#card", "data-asks") != "answer":
            return None
        return self.page.inner_text("#ask .label >> nth=0")

    @property
    def asks_why(self) -> bool:
        return self.page.get_attribute("#card", "data-asks") == "reason"

    @property
    def screen(self) -> tuple[str, str, str]:
        """What is seen: the sentence, the two rows, and how far it is."""
        return self.heading, self.page.inner_text(".pair"), self.page.inner_text("#foot")

    def label_key(self, label: str) -> str | None:
        """The digit on the button of a label."""
        button = self.page.locator(f'#labels button[value="{label}"]')
        if not button.count():
            return None
        return button.get_attribute("data-key")

    def say(self, label: str) -> None:
        """The right answer for the row at hand, by keys alone: the first reason that is listed."""
        if self.guess == label:
            self.press("Enter")
            return
        if not self.asks_why:  # else the rules changed meanwhile, and the label is kept
            key = self.label_key(label)
            if key is None:
                self.type(label)
            else:
                self.press(key)
        if self.asks_why:
            self.press("1" if self.page.locator("#reasons li:not(.new)").count() else "0")

    def teach(self, truth: dict[str, str], items: int) -> None:
        """The right answers for some rows."""
        for _ in range(items):
            self.say(truth[self.item])

    def close(self) -> None:
        """Leave; nothing may have gone wrong in the browser."""
        self.context.close()
        assert self.errors == [], self.errors


def history(server: Server, session: str) -> list[dict[str, Any]]:
    with server.client("Ann") as client:
        return client.get(f"/api/sessions/{session}/history?limit=500").json()["answers"][::-1]


def narrow(page: Any) -> bool:
    """Whether the page does not scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def violations(page: Any, axe: str) -> list[str]:
    """What is serious or critical, light and dark."""
    page.add_script_tag(content=axe)
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        told = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        for one in told["violations"]:
            if one["impact"] in ("serious", "critical"):
                where = [node["html"][:150] for node in one["nodes"][:2]]
                found.append(f"{scheme} {one['id']}: {where}")
    page.emulate_media(color_scheme="light")
    return found


def go(teacher: BrowserTeacher, path: str) -> Any:
    """Another page of the session."""
    session = teacher.page.url.split("/s/")[1].split("/")[0]
    teacher.page.goto(f"{teacher.server.address}/s/{session}/{path}")
    return teacher.page


def log(server: Server, session: str) -> list[Event]:
    with server.client("Ann") as client:
        lines = client.get(f"/api/sessions/{session}/log").text.splitlines()
    return parse_log(lines)


def disagree(teacher: BrowserTeacher) -> str:
    """Say that the guess is wrong; returns the label that was chosen."""
    button = teacher.page.locator("#labels li:not([data-guess], .new) button").first
    label = button.get_attribute("value") or ""
    teacher.press(button.get_attribute("data-key") or "")
    assert teacher.asks_why
    assert f"Why is {teacher.item} {label}, unlike" in teacher.heading
    return label
