"""A server under load, to be killed: several teachers answer as fast as they can.

    python session_writer.py STORE SESSION SEED

Every answer is announced on the standard output before it is sent ("try"), with its id, and again
when it was acknowledged ("ack"). What the database refuses ("refused") is sent again with its id.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from teaching import animals, words
from tellapart.errors import StoreError, TellapartError
from tellapart.sessions import Given, Session, Store, log

TEACHERS = 4
log._WORTH = 0.0  # it is killed while it keeps what was learnt, too


def work(session: Session, teacher: str, seed: str) -> None:
    number = 0
    while True:
        given = insist(lambda: session.next(teacher))
        if not isinstance(given, Given):
            return
        number += 1
        event = f"{seed}-{teacher}-{number}"
        said = words(session, given)
        say("try", event, teacher, given.id, said)
        saved = insist(partial(session.answer, teacher, given.id, *said, id=event))
        say("ack", event, saved.number)
        if number % 10 == 0:
            session.keep()
        if number % 7 == 0:
            undone = insist(partial(session.undo, teacher, id=f"{event}-undo"))
            say("ack", undone.id, undone.number)


def insist(act: Callable[[], Any]) -> Any:
    """Do it again until the database takes it."""
    while True:
        try:
            return act()
        except StoreError as error:
            say("refused", str(error))
            time.sleep(0.02)


def say(*what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main(place: str, name: str, seed: str) -> None:
    with Store(place) as store:
        try:
            session = Session.open(store, name, animals(3000))
        except TellapartError:
            session = Session.new(store, name, animals(3000), learner="AdaptiveDFF", overlap=0.1)
        say("ready")
        threads = [
            threading.Thread(target=work, args=(session, f"teacher {n}", seed), daemon=True)
            for n in range(TEACHERS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
