"""The open sessions of a server, each with a thread of its own.

Whatever is done to a session is done in its thread, one thing after another: a slow learner delays
nobody but those who teach it. When too many are open, the one not used for longest is closed; it
opens again from its log. `in_session` makes a route of a function that works with a session.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import shlex
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tellapart.errors import FormatError, ParameterError, SessionError, as_options
from tellapart.sessions import Listed, Session, Store
from tellapart.sessions.events import check_name
from tellapart.tables import read_apart
from tellapart.tables.files import KINDS, has_kind, is_table
from tellapart.web.access import Call, Caller, SessionName
from tellapart.web.errors import Refused
from tellapart.web.json_logging import describe_error, log_event

T = TypeVar("T")
QUIET = 1.0
"""Seconds without a request after which a session keeps what it came to."""
MAX_OPEN = 32
"""So many sessions are open at a time, each with its table in memory."""
MAX_LOOKED = 20_000
"""After so many files, those in further folders are not listed."""


class SessionPool:
    """Sessions in a store, opened when first asked for.

    Parameters
    ----------
    store : Store
    folder : Path
        Tables for new sessions lie here, or in a folder beneath.
    max_open : int
        So many sessions are kept open.
    """

    def __init__(self, store: Store, folder: Path, max_open: int = MAX_OPEN) -> None:
        self.store, self.folder, self.max_open = store, folder.resolve(), max_open
        self._open: dict[str, _OpenSession] = {}  # the one used last is the last
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._leaving: dict[str, asyncio.Task[None]] = {}
        self._closing = False
        self.uses: Counter[str] = Counter()
        """How often something may have been written to the log of a session."""

    # -- using a session

    async def run(self, name: str, work: Callable[[Session], T]) -> T:
        """Do something with a session, in its thread.

        What it writes is committed at once, before this returns.
        """

        def commit_together(session: Session) -> T:
            try:
                with session.together():
                    return work(session)
            finally:  # also when whoever asked has gone
                self.uses[name] += 1

        opened = await self._get(name)
        try:
            return await opened.run(lambda: commit_together(opened.session))
        finally:
            self._make_room()

    async def read(self, name: str, work: Callable[[Session], T]) -> T:
        """Do something long that changes nothing, beside the session's thread.

        Tags change while they are read: a table with tags is read in the session's thread.
        """
        opened = await self._get(name)
        if opened.session.missing is not None or opened.session.table.tags:
            return await opened.run(lambda: work(opened.session))
        with opened.used():
            return await asyncio.to_thread(work, opened.session)

    def add(self, session: Session) -> None:
        """Take in a session that is open already."""
        self._open[session.name] = _OpenSession(session)
        self.uses[session.name] += 1

    async def create(
        self, name: str, table: Path, reading: Mapping[str, Any], **settings: Any
    ) -> None:
        """Begin a session with the table in a file; `settings` are arguments of `Session.new`."""
        if name in self._open or name in self._opening:
            raise SessionError(f"there is a session {name!r} already; choose another name")
        await self._start(
            name, lambda: Session.new(self.store, name, table, reading=dict(reading), **settings)
        )

    async def close(self, name: str) -> None:
        """Close a session, so that another program may open it."""
        if name in self._opening:
            await asyncio.wait([self._opening[name]])
        if name in self._open:
            self._leave(name)
        if name in self._leaving:
            await asyncio.shield(self._leaving[name])

    async def close_all(self) -> None:
        """Close everything, the store last."""
        self._closing = True
        for name in {*self._open, *self._opening, *self._leaving}:
            await self.close(name)
        await asyncio.to_thread(self.store.close)

    async def check(self) -> None:
        """Raise unless the database answers, and every open session could save an answer."""

        def ask() -> None:
            self.store.ping()
            for opened in list(self._open.values()):
                opened.session.check_store()

        await asyncio.to_thread(ask)

    def is_open(self, name: str) -> bool:
        return name in self._open

    @property
    def open_count(self) -> int:
        return len(self._open)

    async def list_sessions(self) -> list[Listed]:
        """All sessions in the store, the latest first."""
        return await asyncio.to_thread(self.store.sessions)

    async def _get(self, name: str) -> _OpenSession:
        """A session that is open when this returns, and stays so until the next `await`."""
        if name in self._open and self._open[name].session.missing is not None:
            await self.close(name)  # its table may be back
        while name not in self._open:
            try:
                await self._start(name, lambda: Session.open(self.store, name, needs_table=False))
            except SessionError as error:
                if name in {listed.name for listed in await self.list_sessions()}:
                    raise
                raise Refused(404, "NoSession", f"there is no session {name!r}") from error
        opened = self._open[name] = self._open.pop(name)
        return opened

    def _leave(self, name: str) -> None:
        """Close a session when what is under way in it is done."""
        opened = self._open.pop(name)
        self._leaving[name] = asyncio.create_task(opened.end())
        self._leaving[name].add_done_callback(lambda _: self._leaving.pop(name))

    def _make_room(self, coming: int = 0) -> None:
        """Close those not used for longest, if there are too many."""
        too_many = len(self._open) + coming - self.max_open
        if too_many > 0:
            idle = [name for name, opened in self._open.items() if not opened.users]
            for name in idle[:too_many]:
                self._leave(name)

    async def _start(self, name: str, make: Callable[[], Session]) -> None:
        if self._closing:
            raise SessionError("the server is stopping; try again when it is back")
        if name not in self._opening:
            self._opening[name] = asyncio.create_task(self._make(name, make))
        # whoever asked first may go away: those who wait for the same session do not
        await asyncio.shield(self._opening[name])

    async def _make(self, name: str, make: Callable[[], Session]) -> None:
        try:
            if name in self._leaving:
                await asyncio.shield(self._leaving[name])
            session = await asyncio.to_thread(make)
            await asyncio.to_thread(session.prepare)
            self._make_room(coming=1)
            self.add(session)
        finally:
            del self._opening[name]

    # -- files

    def tables(self) -> list[str]:
        """The tables that a session may be begun with."""
        found: list[str] = []
        looked = 0
        for folder, folders, files in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            looked += len(files) + 1
            for name in files:
                path = Path(folder, name)
                if not name.startswith(".") and is_table(name) and path.is_file():
                    found.append(path.relative_to(self.folder).as_posix())
            if looked > MAX_LOOKED:
                break
        return sorted(found)[:1000]

    def add_table(self, name: str, content: bytes) -> str:
        """Write a table into our folder, if it can be read; returns its name. Nothing is written
        over.
        """
        path = self.folder / name
        plain = path.parent == self.folder and name.isprintable() and not name.startswith(".")
        if not plain:
            raise ParameterError(
                f"a table's name begins with no point and has no folder before it, got {name!r}:"
                " give the file another name, and add it again"
            )
        if not has_kind(name):
            raise ParameterError(
                f"a table's name ends in {', '.join(KINDS)}, got {name!r}: save it as one of these,"
                " such as CSV, and add it again"
            )
        check_name(path.stem)  # the session will be called so
        with tempfile.TemporaryDirectory() as made:
            new = Path(made, name)
            new.write_bytes(content)
            try:
                read = read_apart(new)
            except FormatError as error:
                raise FormatError(_for_page(error, name)) from error
        if not len(read):
            raise ParameterError(f"{name} has columns, and no rows to teach about")
        try:
            with open(path, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(content)
        except FileExistsError:
            raise SessionError(
                f"there is a table {name!r} already; give the file another name, or begin a session"
                " with the table that is there"
            ) from None
        except OSError as error:
            path.unlink(missing_ok=True)  # half a table is none
            raise SessionError(f"{name} cannot be kept: {error.strerror}") from error
        return name

    def file(self, name: str) -> Path | None:
        """A file in our folder or beneath; nothing outside of it."""
        try:
            path = (self.folder / name).resolve()
            return path if path.is_relative_to(self.folder) and path.is_file() else None
        except (OSError, ValueError):
            return None

    def table(self, name: str) -> Path:
        """The path of a table in our folder."""
        path = self.file(name)
        if path is None or not has_kind(path.name):
            raise ParameterError(
                f"there is no table {name!r} in the folder of this server; GET /api/tables names"
                " those there are"
            )
        return path


def _for_page(error: FormatError, name: str) -> str:
    """Why a table cannot be read, for somebody who has only a page."""
    said = error.said(as_options).removesuffix(".") + ". Mend the file, and add it again"
    for one in error.advice.items():
        option = as_options(*one)
        command = f"tellapart teach {shlex.quote(name)} {option}"
        return f"{said}. Options such as {option} are for the command line: {command}"
    return said


class _OpenSession:
    """An open session and its thread."""

    def __init__(self, session: Session) -> None:
        self.session, self.users = session, 0
        self._calls = 0
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="session")

    @contextmanager
    def used(self) -> Iterator[None]:
        """While somebody uses it, it is not the one to be closed."""
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1

    async def run(self, work: Callable[[], T]) -> T:
        """Do something in the session's thread; when it is quiet, keep what it came to."""
        loop = asyncio.get_running_loop()
        with self.used():
            try:
                return await loop.run_in_executor(self._pool, work)
            finally:
                self._calls += 1
                loop.call_later(QUIET, self._rest, self._calls)

    def _rest(self, calls: int) -> None:
        if calls == self._calls and not self.users:
            self._pool.submit(self._keep)

    def _keep(self) -> None:
        try:
            self.session.keep()
        except Exception as error:  # nobody asked for it, and nothing depends on it
            log_event("keep", logging.WARNING, **describe_error(error))

    async def end(self) -> None:
        await self.run(self.session.close)
        self._calls += 1  # nothing is kept any more
        self._pool.shutdown(wait=False)


# -- routes


def in_session(function: Callable[..., T]) -> Callable[..., Awaitable[T]]:
    """A route of a function that works with an open session, in its thread.

    The function takes the session first; the request names it in its path.
    """
    return _route(function, SessionPool.run)


def reads_session(function: Callable[..., T]) -> Callable[..., Awaitable[T]]:
    """The same for a function that takes long and changes nothing: beside the session's thread."""
    return _route(function, SessionPool.read)


def _route(function: Callable[..., T], run: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function, eval_str=True)
    first, *others = signature.parameters.values()
    wants_call = "call" in signature.parameters

    async def endpoint(session: str, call: Caller, **arguments: Any) -> Any:
        if wants_call:
            arguments["call"] = call
        return await run(call.pool, session, lambda whole: function(whole, **arguments))

    if not wants_call:
        others.append(inspect.Parameter("call", inspect.Parameter.KEYWORD_ONLY, annotation=Call))
    endpoint.__name__, endpoint.__doc__ = function.__name__, function.__doc__
    endpoint.__signature__ = signature.replace(  # type: ignore[attr-defined]  # FastAPI reads it
        parameters=[first.replace(annotation=SessionName), *others]
    )
    return endpoint
