"""How pages are drawn: templates, what all pages show, and fragments of pages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Depends, Query
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tellapart.sessions import Given, Session, Summary
from tellapart.sessions.phrasing import (
    ASKED,
    COMMANDS,
    EXAMPLE_OF_OTHERS,
    HELP,
    SAY,
    a_label,
    called_by,
    lately,
    stop_hint,
    taught_so_far,
)
from tellapart.sessions.replies import RECENT
from tellapart.tables import Row
from tellapart.web.access import Caller
from tellapart.web.keys import read_keys
from tellapart.web.pages.comparison import in_prose

PAGES = (
    ("Teach", "/teach"),
    ("Rules", "/rules"),
    ("Answers", "/answers"),
    ("Progress", "/progress"),
    ("Data", "/data"),
    ("Export", "/export"),
)
OTHERS = {"sweep": "Many at once", "help": "Help", "take": "First answers"}
ADDRESSES = {path for _, path in PAGES} | {f"/{name}" for name in OTHERS}
"""Where a session is looked at."""
HUES = 8
"""So many colours tell labels apart; their names stand beside them."""
MAX_ROWS = 50
"""So many rows are drawn on a page (`pager` in marks.html leads to the others)."""
Start = Annotated[int, Query(ge=0, le=10_000_000_000)]
"""The first row to be drawn."""
Again = Annotated[int | None, Query(ge=0, le=10_000_000)]
"""An answer was changed, and so many others need a reason again."""


@cache
def _templates() -> Environment:
    folder = Path(__file__).parent.parent / "templates"
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        auto_reload=False,
    )
    made.filters["cond"] = reason_html
    made.filters["keyed"] = keys_html
    made.filters["reasons"] = reasons_html
    made.filters["prose"] = in_prose
    made.filters["with_article"] = a_label
    made.globals["say"] = SAY
    made.globals["help_parts"] = HELP
    return made


def prepare() -> None:
    """Compile what the first page of a session needs, before anybody waits for it."""
    for name in ("base.html", "card.html", "marks.html"):
        _templates().get_template(name)


_VALUE = re.compile(r'("[^"]*"|\u201c[^\u201d]*\u201d|(?<=[=<>] )-?[\d][\d.,:\-]*)')


def reason_html(text: str) -> Markup:
    """A reason, with what it looks for in bold.

    >>> print(reason_html('amount < -50'))
    <span class="cond" dir="auto">amount &lt; <b>-50</b></span>
    """
    runs = _VALUE.split(text)
    made = (Markup("<b>{}</b>").format(run) if n % 2 else run for n, run in enumerate(runs))
    return Markup('<span class="cond" dir="auto">{}</span>').format(Markup().join(made))


def keys_html(text: str) -> Markup:
    """Words of help in which keys stand in [brackets]; `+` between keys joins them.

    >>> print(keys_html("[Ctrl]+[Z]"))
    <kbd>Ctrl</kbd><kbd>Z</kbd>
    """
    runs = re.split(r"\[([^\]]+)\]", text.replace("]+[", "]["))
    made = (Markup("<kbd>{}</kbd>").format(run) if n % 2 else run for n, run in enumerate(runs))
    return Markup().join(made)


def reasons_html(text: str) -> Markup:
    """Words of help in which reasons stand in `ticks`, and keys in [brackets]."""
    runs = text.split("`")
    return Markup().join(reason_html(r) if n % 2 else keys_html(r) for n, r in enumerate(runs))


def home(session: str) -> str:
    """The address of a session's pages."""
    return f"/s/{quote(session, safe='')}"


def repair_address(session: Session, item: Row, came_from: str) -> str:
    """Where the answer about an item is repaired; `came_from` is the page to go back to, with its
    query."""
    written = quote(str(item.identity), safe="")
    return f"{home(session.name)}/repair/{written}?{urlencode({'from': came_from})}"


def with_query(page: str, asked: Mapping[str, object]) -> str:
    """A page with what was asked for, as far as anything was."""
    query = urlencode({name: value for name, value in asked.items() if value})
    return f"{page}?{query}" if query else page


def first_row(start: int, found: int) -> int:
    """The first row to draw: that of the last page, if there are fewer rows than there were."""
    return start if start < found else max(0, found - 1) // MAX_ROWS * MAX_ROWS


def frame(session: Session, call: Caller, here: str = "") -> dict[str, Any]:
    """What all pages of a session show."""
    summary = session.summary()
    several = len(call.app.people.all) > 1
    team = several or len(session.teachers) > 1
    title = None if session.missing else session.table.title
    mistakes = session.mistakes()
    return {
        "here": here,
        "shown": None,
        "fragment": False,
        "swaps": "",
        "hues": Hues.of(session),
        "articles": session.settings["articles"],
        "listed": listed_pages(session, summary),
        "saved": taught_so_far(summary),
        "ticks": [not wrong for wrong in mistakes[-RECENT:]],
        "lately": lately(mistakes),
        "title_column": title,
        "called_by": called_by(summary.items, title),
        "can_undo": session.can_undo(call.name),
        "menu_lines": menu_lines(session, call, home(session.name)),
        "other_keys": other_keys(call),
        "session": session.name,
        "team": team,
        "teacher": call.name,
        "owner": call.is_owner,
        "summary": summary,
        "stop_hint": stop_hint(summary),
        "troubles": session.trouble,
        "home": home(session.name),
    }


def listed_pages(session: Session, summary: Summary) -> list[tuple[str, str, str, bool]]:
    """The pages in the header, and what is counted beside their names."""
    odd = session.odd_known
    counts = {"Rules": str(summary.rules or ""), "Answers": f"{odd} odd" if odd else ""}
    return [(one, path, counts.get(one, ""), one == "Answers") for one, path in PAGES]


class Hues(dict[str, int]):
    """The hue of each label; that of a new one is the next."""

    @classmethod
    def of(cls, session: Session) -> Hues:
        """Those of the labels of a session."""
        return cls({label: n % HUES + 1 for n, label in enumerate(session.labels)})

    def __missing__(self, label: str) -> int:
        return len(self) % HUES + 1


class MenuLine(NamedTuple):
    """A command behind `/`: a link, a button, or one that asks for words."""

    name: str
    words: str
    href: str = ""
    path: str = ""
    field: str = "do"
    value: str = ""
    asks: str = ""
    key: str = ""
    off: str = ""


def menu_lines(
    session: Session,
    call: Caller,
    place: str,
    given: Given | None = None,
    example: str = "",
    many: str = "",
) -> list[MenuLine]:
    """What is behind `/` now; on pages without a question, what needs none."""
    ways: dict[str, dict[str, str]] = {
        "skip": {"path": "answer", "field": "answer", "value": "skipped"},
        "unsure": {"path": "answer", "field": "answer", "value": "unsure"},
        "undo": {"path": "turn", "value": "undo"},
        "redo": {"path": "turn", "value": "redo", "key": "Ctrl+Y"},
        "note": {"path": "note", "asks": ASKED["note"]},
        "find": {"path": "search", "asks": ASKED["find"]},
        "many": {"href": many},
        "example": {"href": example},
        "labels": {"href": f"{place}/progress#labels"},
        "rules": {"href": f"{place}/rules"},
        "answers": {"href": f"{place}/answers"},
        "progress": {"href": f"{place}/progress"},
        "data": {"href": f"{place}/data"},
        "export": {"href": f"{place}/export"},
    }
    hidden = set() if given else {"skip", "unsure", "note", "many", "example"}
    if not session.can_undo(call.name):
        hidden.add("undo")
    if not session.can_redo(call.name):
        hidden.add("redo")
    if given and not many:
        hidden.add("many")
    if given and not example:
        if given.guess.example is None:
            hidden.add("example")
        else:
            ways["example"] = {"off": EXAMPLE_OF_OTHERS}
    return [MenuLine(one, COMMANDS[one], **ways[one]) for one in COMMANDS if one not in hidden]


def other_keys(call: Caller) -> str:
    """The keys that a file gave to actions, as JSON; empty if there are none."""
    keys = call.app.pages.keys
    found = read_keys(None, call.pool.folder) if keys is None else keys
    return json.dumps(found) if found else ""


OUTSIDE: dict[str, Any] = {"session": "", "here": "", "other_keys": "", "title": "tellapart"}
"""What pages show that are of no session."""


def draw(template: str, **values: Any) -> str:
    return _templates().get_template(template).render(**values)


def page(session: Session, call: Caller, name: str, **values: Any) -> Response:
    """A whole page of a session."""
    if name != "answers":
        _ = session.table  # without it, there are only the answers
    title = next((title for title, path in PAGES if path == f"/{name}"), OTHERS.get(name, ""))
    values |= {"title": title, **frame(session, call, f"/{name}")}
    return HTMLResponse(draw(f"{name}.html", **values))


def redirect(session: Session, path: str) -> Response:
    """A change was made: show a page of the session anew."""
    return RedirectResponse(home(session.name) + path, 303)


async def _form(request: Request) -> dict[str, str]:
    body = (await request.body()).decode("utf-8", "replace")
    sent = dict(parse_qsl(body, keep_blank_values=True, max_num_fields=100))
    if not sent.get("id"):
        sent.pop("id", None)
    return sent


Form = Annotated[dict[str, str], Depends(_form)]
"""What a form sent."""
