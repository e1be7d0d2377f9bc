"""The teaching page in a notebook: the same pages and keys, and no server.

The pages run in the notebook's own Python. What a page asks goes to it as a message of the widget,
and the answer comes back the same way, so that it also works where the notebook runs on another
machine than the browser.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import anywidget
import httpx
import traitlets

from tellapart.errors import ParameterError
from tellapart.sessions import Session, Store
from tellapart.sessions.config import FOR_PEOPLE, login
from tellapart.tables import Table
from tellapart.web.access import People, Person, new_token
from tellapart.web.app import create_app
from tellapart.web.pages.render import home
from tellapart.web.session_pool import SessionPool

T = TypeVar("T")
_ORIGIN = "http://localhost"
_SENT = ("content-type", "content-disposition", "x-swap")
"""Headers that a page looks at."""


def widget(
    session: Session | Table | str | Path, *, teacher: str | None = None, height: int = 720
) -> TeachingWidget:
    """Teach in a notebook, with the page and the keys of `tellapart teach`.

    The widget has the `session`, so that `widget.session.model` is what has been learnt so far. Its
    `close()` closes the session, too.

    Parameters
    ----------
    session : Session, Table or path
        What to teach. A file's answers are kept beside it, where `tellapart teach FILE` keeps them,
        and either goes on with the session of the other. Those of a `Table` are kept in the current
        folder, in `NAME.sessions.db`. The name of a session may also be that of one which is there:
        it goes on.
    teacher : str, default=None
        Your name in the log; None: your login.
    height : int, default=640
        Of the page, in pixels.
    """
    if not isinstance(session, Session):
        session = _session_of(session)
    return TeachingWidget(session, teacher or login(), height)


def _session_of(table: Table | str | Path) -> Session:
    """The session about a table: opened if there is one, and else begun."""
    if isinstance(table, Table):
        name, store = table.name, Store(f"{table.name}.sessions.db")
    elif isinstance(table, str | Path):
        name, store = Path(table).stem, Store.beside(table)
    else:
        raise ParameterError(
            f"widget wants a session, a table or a table's file, got a {type(table).__name__}"
        )
    try:
        if name not in {listed.name for listed in store.sessions()}:
            return Session.new(store, name, table, **FOR_PEOPLE)
        return Session.open(store, name, table if isinstance(table, Table) else None)
    except BaseException:
        store.close()
        raise


class TeachingWidget(anywidget.AnyWidget):
    """See `widget`, which makes one."""

    _esm = Path(__file__).with_suffix(".js")
    address = traitlets.Unicode(help="the page that comes first").tag(sync=True)
    height = traitlets.Int(help="in pixels").tag(sync=True)

    def __init__(self, session: Session, teacher: str, height: int = 720) -> None:
        self.session = session
        person = Person(teacher, new_token(), owner=True)
        pool = SessionPool(session.store, Path.cwd())
        pool.add(session)
        self._pool, self._pages = pool, _Pages()
        transport = httpx.ASGITransport(
            create_app(pool, People([person])), raise_app_exceptions=False
        )
        self._client = httpx.AsyncClient(
            transport=transport,
            base_url=_ORIGIN,
            headers={"authorization": f"Bearer {person.token}"},
            follow_redirects=True,
        )
        super().__init__(address=f"{home(session.name)}/teach", height=height)
        self.on_msg(self._answer)

    def _answer(self, _: Any, asked: dict[str, Any], buffers: list[Any]) -> None:
        """Answer what a page asks. The notebook's own thread answers: not every notebook lets
        another one send."""
        answer = self._pages.run(
            self._client.request(
                asked["method"], asked["url"], content=asked["body"], headers=asked["headers"]
            )
        )
        headers = {name: answer.headers[name] for name in _SENT if name in answer.headers}
        said = {
            "id": asked["id"],
            "status": answer.status_code,
            "headers": headers,
            "url": str(answer.url),
        }
        self.send(said, [answer.content])

    def close(self) -> None:
        """Close the widget, and its session."""
        if not self._client.is_closed:
            self._pages.run(self._client.aclose())
            self._pages.run(self._pool.close_all())
            self._pages.stop()
        super().close()


class _Pages:
    """A thread in which the pages run."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
