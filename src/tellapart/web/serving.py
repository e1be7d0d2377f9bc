"""One session, one teacher, one page: what `tellapart teach` starts."""

from __future__ import annotations

import logging
import os
import threading
import webbrowser
from collections.abc import Mapping
from pathlib import Path

from tellapart.sessions import Session, Store
from tellapart.web import json_logging
from tellapart.web.app import create_app
from tellapart.web.auth import People, Person, new_token
from tellapart.web.limits import Limits
from tellapart.web.manner import Manner
from tellapart.web.pages.render import home
from tellapart.web.server import listen, run
from tellapart.web.session_pool import Shelf


def serve_one(
    store: Store,
    session: Session,
    *,
    folder: Path,
    name: str,
    port: int,
    browser: bool,
    keys: Mapping[str, str],
    known: tuple[Path, str] | None,
    tour: bool,
) -> None:
    """Serve the pages of a session on this machine, and open the browser.

    With the same port and TELLAPART_TOKEN, pages that are open go on after a restart.
    """
    json_logging.start(level=logging.WARNING)
    person = Person(name, os.environ.get("TELLAPART_TOKEN") or new_token(), owner=True)
    shelf = Shelf(store, folder)
    shelf.adopt(session)
    manner = Manner(dict(keys), known, tour)
    app = create_app(shelf, People([person]), Limits(loopback=True), manner)
    listening = listen("127.0.0.1", port)  # last: who reaches us is answered at once
    place = f"http://127.0.0.1:{listening.getsockname()[1]}"
    address = f"{place}{home(session.name)}/teach?token={person.token}"

    def ready() -> None:
        print(f"Teach {session.name} at {address}", flush=True)
        print("Stop with Ctrl-C; nothing is lost.", flush=True)
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    try:
        run(app, listening, ready=ready)
    finally:
        listening.close()
