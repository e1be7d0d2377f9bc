"""How pages are drawn: templates, what all pages show, and fragments of pages."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Depends, Query
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tellapart import codec
from tellapart.console.keyboard import FILE, read_keys
from tellapart.sessions import Session
from tellapart.sessions.history import is_column
from tellapart.sessions.phrasing import progress_facts, stop_hint
from tellapart.tables import Row
from tellapart.web.auth import Caller

PAGES = (
    ("Teach", "/teach"),
    ("Sweep", "/sweep"),
    ("Rules", "/rules"),
    ("Progress", "/progress"),
    ("Answers", "/history"),
    ("Tags", "/tags"),
    ("Data", "/data"),
    ("Export", "/export"),
    ("Help", "/help"),
)
TABS = (("All", "/history"), ("Odd ones", "/odd"), ("Disagreements", "/disagreements"))
"""The parts of the page Answers."""
TEAM_PAGES = ("/disagreements",)
"""What one teacher alone has no use for."""
MAX_ROWS = 50
"""So many rows are drawn on a page (`pager` in marks.html leads to the others)."""
Start = Annotated[int, Query(ge=0, le=10_000_000_000)]
"""The first row to be drawn."""
Again = Annotated[int | None, Query(ge=0, le=10_000_000)]
"""An answer was changed, and so many others need a reason again."""
_LONG = 20_000  # characters from which on a page is compressed
SOON = 10
"""After so many mistakes, what needs all answers replayed takes a while: it is asked for."""


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
    made.filters["key"] = shown_key
    made.filters["written_id"] = lambda encoded: str(
        codec.decode(encoded)
    )  # as `find_item` reads it
    return made


def prepare() -> None:
    """Compile what the first page of a session needs, before anybody waits for it."""
    for name in ("base.html", "teach.html", "card.html", "status.html", "marks.html"):
        _templates().get_template(name)


def keys_of(call: Caller) -> dict[str, str]:
    """The keys of this server: a file in its folder may change some."""
    if call.app.pages.keys is not None:
        return call.app.pages.keys
    path = call.pool.folder / FILE
    return read_keys(path if path.is_file() else None)


_SIGNS = {"enter": "Enter", "escape": "Esc", "space": "Space", "backspace": "Backspace"}
_SIGNS |= {"delete": "Del", "tab": "Tab"}


def shown_key(key: str) -> str:
    """A key as it is printed. A letter is typed; as a key it needs Alt.

    >>> shown_key("enter"), shown_key("u"), shown_key("/")
    ('Enter', 'Alt+u', '/')
    """
    return f"Alt+{key}" if len(key) == 1 and key.isalpha() else _SIGNS.get(key, key)


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


def frame(session: Session, call: Caller) -> dict[str, Any]:
    """What all pages of a session show."""
    summary = session.summary()
    several = len(call.app.people.all) > 1
    team = several or len(session.teachers) > 1
    several |= sum(not is_column(one) for one in session.teachers) > 1
    return {
        "session": session.name,
        "team": team,
        "teacher": call.name,
        "owner": call.is_owner,
        "summary": summary,
        "facts": progress_facts(summary),
        "stop_hint": stop_hint(summary),
        "troubles": session.trouble,
        "home": home(session.name),
        "pages": PAGES,
        "tabs": [one for one in TABS if several or one[1] not in TEAM_PAGES],
        "keys": keys_of(call),
    }


def draw(template: str, **values: Any) -> str:
    return _templates().get_template(template).render(**values)


def page(session: Session, call: Caller, name: str, **values: Any) -> Response:
    """A whole page of a session."""
    if name != "history":
        _ = session.table  # without it, there are only the answers
    title = next(title for title, path in (*PAGES, *TABS) if path == f"/{name}")
    values |= {"title": title, "here": f"/{name}", **frame(session, call)}
    drawn = draw(f"{name}.html", **values)
    if not call.gzip or len(drawn) < _LONG:
        return HTMLResponse(drawn)
    headers = {"content-encoding": "gzip", "vary": "accept-encoding"}
    return HTMLResponse(gzip.compress(drawn.encode(), 5, mtime=0), headers=headers)


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
