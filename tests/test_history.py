"""What a log says, read without table and learner: as the versions that wrote it understood it."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from teaching import animals, words
from tellapart.errors import FormatError, TellapartError
from tellapart.sessions import Event, Given, Session, Store
from tellapart.sessions.history import History
from tellapart.sessions.items import MissingItems
from tellapart.sessions.log import State
from test_archive import ARCHIVE, LOGS, events

KEPT = json.loads((ARCHIVE / "0.1" / "histories.json").read_text(encoding="utf-8"))


def said(history: History) -> dict[str, Any]:
    """What a history says, in the words of the log."""

    def ids(numbers: list[int]) -> list[str]:
        return [history.acts[number].id for number in numbers]

    return {
        "answers": [
            [
                act.id,
                act.by,
                act.event.data["item"],
                history.answer(act.number).answer,
                history.name(history.answer(act.number).label),
                history.answer(act.number).feature,
                not act.alive,
                [change.id for change in history.changes_of(act.number)],
            ]
            for act in history.acts
            if act.kind == "answered"
        ],
        "labels": [history.labels.name(key) for key in history.label_keys()],
        "meanings": {history.labels.name(key): said for key, said in history.meanings.items()},
        "stacks": {
            name: [ids(teacher.done), ids(teacher.undone)]
            for name, teacher in history.teachers.items()
        },
        "unsure": sorted(history.unsure),
        "skipped": sorted(history.skipped),
        # what rows are called came later
        "settings": {
            name: value
            for name, value in vars(history.settings).items()
            if name not in ("title", "articles")
        },
    }


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_an_old_log_says_what_it_said(log: Path) -> None:
    """Answers, labels, undo stacks: as version 0.1 had them, which needed table and learner."""
    kept = {name: value for name, value in KEPT[log.stem].items() if name != "leases"}
    if kept["settings"]["order"] == "least sure":  # it is read as "mixed"
        kept["settings"] = {**kept["settings"], "order": "mixed"}
    found = said(History.of(events(log)))
    # a label that came again after undo has its later place now
    found["labels"], kept["labels"] = sorted(found["labels"]), sorted(kept["labels"])
    assert found == kept


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_an_old_log_has_the_leases_it_had(log: Path) -> None:
    read = events(log)
    items = MissingItems("the table is gone", read[0].data["table"])
    held = State(items, read).queue.held.values()
    found = {one.teacher: [items.row(one.item).identity, one.id] for one in held}
    assert found == KEPT[log.stem]["leases"]


@pytest.mark.parametrize("seed", range(4))
def test_a_session_says_what_its_log_says(seed: int, store: Store) -> None:
    """Several teachers, one of them a model; undo, redo, changes, other names, mergers."""
    dice, log = random.Random(seed), Log(store, seed)
    for _ in range(250):
        with suppress(TellapartError, IndexError, ValueError):
            log.step(dice)
    history = History.of(store.log("s"))
    assert said(history)["answers"] == [
        [
            one.event,
            one.teacher,
            one.item.identity,
            one.answer,
            one.label,
            one.feature,
            one.undone,
            list(one.changes),
        ]
        for one in log.session.history()
    ]
    assert said(history)["labels"] == log.session.labels
    assert len(history.acts) > 60
    for name, teacher in history.teachers.items():
        assert bool(teacher.done) == log.session.can_undo(name)
        assert bool(teacher.undone) == log.session.can_redo(name)


class Log:
    """A session in which much happens."""

    def __init__(self, store: Store, seed: int) -> None:
        self.session = Session.new(
            store, "s", animals(80, seed), learner="CappedDFF:m=6", order="mixed", overlap=0.3
        )
        self.session.join("bot", model="m1")

    def step(self, dice: random.Random) -> None:
        session, who = self.session, dice.choice(["Ann", "Bob", "bot"])
        luck = dice.random()
        if luck < 0.6:
            given = session.next(who)
            if isinstance(given, Given):
                label = dice.choice([*session.labels, "bear", "bird", "fish"])
                session.answer(who, given.id, *words(session, given, label))
        elif luck < 0.7:
            session.undo(who)
        elif luck < 0.77:
            session.redo(who)
        elif luck < 0.9:
            answer = dice.choice([("unsure",), ("right",), ("wrong", dice.choice(session.labels))])
            session.change(who, dice.choice(session.history()).event, *answer)
        elif luck < 0.95:
            session.rename_label(who, dice.choice(session.labels), f"L{session.number}")
        else:
            session.merge_labels(who, *dice.sample(session.labels, 2))


def test_an_event_that_refers_to_none_is_a_damaged_log() -> None:
    log = events(LOGS[0])
    answered = next(event for event in log if event.type == "answered")
    history = History.of(log[: answered.number - 1])
    odd = Event(answered.number, "x", answered.at, "answered", answered.by, {"given": "none"})
    with pytest.raises(FormatError, match=rf"event {answered.number} \(answered\) does not fit"):
        history.take(odd)
