"""The state of a session as bytes, so that opening it replays only what came after.

A snapshot is kept beside the log, with the hash of the event it was made after. It belongs to one
version of this code: another one throws it away, and replays the log. What is large (acts,
questions, rounds) is written in columns, and made into objects when it is asked for.

Between two snapshots, what the learner came to is kept more often (`write_results`): to take in the
events after a snapshot is quick, to learn from them is not.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import tellapart
from tellapart import codec
from tellapart.errors import FormatError
from tellapart.learners import BaseLearner
from tellapart.model import Literal
from tellapart.protocol import Correction, Guess
from tellapart.review import Progress
from tellapart.review.progress import Told
from tellapart.sessions.config import Settings, read_stopper
from tellapart.sessions.events import Event
from tellapart.sessions.lazy import Lazy, LazyEvents, LazyQuestions
from tellapart.sessions.replay import EditedLearner, EditedRule, Replay, Snapshot
from tellapart.sessions.search import Search
from tellapart.sessions.state import Act, Answer, Question, State, Teacher

if TYPE_CHECKING:
    from tellapart.sessions.items import Items

LEAST = 2_000
"""A snapshot is worth it after so many events."""
COST = 0.15
"""Seconds of learning after which it is worth it to keep the learner."""
_COPIES = 4_000_000  # characters of earlier copies that are kept for those who undo
_DATA = ("tag set", "label renamed", "labels merged")  # acts whose data are needed
_OUTCOMES = (None, "label", "right", "mistake", "again", "opinion", "unsure", "skipped")
_ANSWERS = (None, "right", "wrong", "unsure", "skipped")
_ASKS = ("answer", "label", "feature")


@cache
def code_version() -> str:
    """What a snapshot depends on beside the log: every line of this package."""
    digest = hashlib.sha256(tellapart.__version__.encode())
    for path in sorted(Path(tellapart.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


# -- values


def _write(value: Any) -> Any:
    """Plain values, progress, and large containers of numbers, as JSON; `_read` is the inverse."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_write(part) for part in value]}
    if isinstance(value, dict):
        keys, values = list(value), list(value.values())
        return {"dict": [_write(keys), _write(values)]}
    if isinstance(value, set | frozenset):
        return {"set": _write(sorted(value))}
    if isinstance(value, deque):
        return {"deque": _write(list(value))}
    if isinstance(value, bytearray):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, list):
        if len(value) > 20 and all(type(part) is int for part in value):
            return _numbers(value)
        if len(value) > 20 and all(type(part) is tuple for part in value):
            lengths = {len(part) for part in value}
            if len(lengths) == 1:
                return {"rows": [_write(list(column)) for column in zip(*value, strict=True)]}
        return [_write(part) for part in value]
    if isinstance(value, Progress):
        return {"progress": _write(vars(value))}
    raise FormatError(f"a snapshot cannot hold {type(value).__name__}")


def _read(written: Any) -> Any:
    if isinstance(written, list):
        return [_read(part) for part in written]
    if not isinstance(written, dict):
        return written
    ((kind, inside),) = written.items()
    if kind == "tuple":
        return tuple(_read(part) for part in inside)
    if kind == "dict":
        return dict(zip(_read(inside[0]), _read(inside[1]), strict=True))
    if kind == "set":
        return set(_read(inside))
    if kind == "deque":
        return deque(_read(inside))
    if kind == "bytes":
        return bytearray(base64.b64decode(inside))
    if kind == "rows":
        return list(zip(*(_read(column) for column in inside), strict=True))
    if kind == "progress":
        made = Progress.__new__(Progress)
        made.__dict__.update(_read(inside))
        return made
    return _array(written).tolist()


def _numbers(values: Iterable[float], kind: str = "i8") -> dict[str, str]:
    """Numbers in as few bytes as they need."""
    column = np.fromiter(values, dtype=f"<{kind}")
    if kind == "i8":
        low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
        kinds = ("i1", "i2", "i4", "i8")
        kind = next(k for k in kinds if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
    raw = column.astype(f"<{kind}").tobytes()
    return {kind: base64.b64encode(raw).decode("ascii")}


def _array(written: dict[str, str]) -> Any:
    ((kind, raw),) = written.items()
    return np.frombuffer(base64.b64decode(raw), dtype=f"<{kind}")


class _Names:
    """Texts by number, each written once; None is -1."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.texts = list(known)
        self._number = {text: n for n, text in enumerate(self.texts)}

    def number(self, text: str | None) -> int:
        if text is None:
            return -1
        known = self._number.get(text)
        if known is None:
            known = self._number[text] = len(self.texts)
            self.texts.append(text)
        return known

    def text(self, number: int) -> str | None:
        return None if number < 0 else self.texts[number]


# -- the learner, with what is counted beside it


def _write_learner(learner: EditedLearner) -> Any:
    with codec.compactly():
        inner = learner.inner.to_dict()
    edits = [
        [
            rule.example.place,
            rule.at,
            rule.by,
            rule.label,
            None
            if rule.literals is None
            else [[str(literal.feature), literal.wanted] for literal in rule.literals],
        ]
        for rule in learner.edits.values()
    ]
    return {"inner": inner, "edits": edits}


def _read_learner(items: Items, written: Any) -> EditedLearner:
    inner = BaseLearner.from_dict(written["inner"], codec.Context(items=_ByPlace(items)))
    learner = EditedLearner(inner)
    for place, at, by, label, literals in written["edits"]:
        made = None
        if literals is not None:
            made = [Literal(items.feature(text), wanted) for text, wanted in literals]
        learner.edits[place] = EditedRule(items.row(place), at, by, label, made)
    return learner


class _ByPlace(Sequence[Any]):
    """The rows of a session's table."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: Any) -> Any:
        return self._items.row(place)

    def many(self, places: list[int]) -> list[Any]:
        return self._items.late(places)


def _write_copy(copy: Snapshot) -> dict[str, Any]:
    rest = [field.name for field in fields(Snapshot) if field.name != "learner"]
    return {
        "learner": _write_learner(copy.learner),
        **{name: _write(getattr(copy, name)) for name in rest},
    }


def _read_copy(items: Items, written: dict[str, Any]) -> Snapshot:
    rest = {name: _read(value) for name, value in written.items() if name != "learner"}
    return Snapshot(_read_learner(items, written["learner"]), **rest)


class PackedCopy:
    """A copy of a learner that is unpacked when somebody undoes so far."""

    def __init__(self, items: Items, text: str) -> None:
        self._items, self.text = items, text

    def copy(self) -> Snapshot:
        return _read_copy(self._items, json.loads(self.text))


def _packed_copies(replay: Replay) -> list[Any]:
    """Some of the earlier copies, the latest first, as long as there is room."""
    found: list[Any] = []
    room = _COPIES
    for acts, rounds, guesses, copy in reversed(replay._copies):
        packed: Any = copy
        text = packed.text if isinstance(packed, PackedCopy) else codec.dump(_write_copy(packed))
        room -= len(text)
        if found and room < 0:
            break
        found.append([acts, rounds, guesses, text])
        if len(found) == 3:
            break
    return found[::-1]


# -- the state


def write_state(state: State) -> bytes:
    """A state as bytes; raises `FormatError` if it holds what a snapshot cannot."""
    replay, queue, labels = state.replay, state.queue, state.labels
    names, features = _Names(), _Names()
    questions = list(state.questions.values())
    place_of = {question.id: n for n, question in enumerate(questions)}
    acts = list(state.acts)
    told = list(replay.history.rounds)

    def feature(one: Any) -> int:
        return features.number(None if one is None else str(one))

    columns = {
        "questions": [
            *(
                _numbers(column)
                for column in (
                    (names.number(q.teacher) for q in questions),
                    (state.ids.index[q.id] for q in questions),
                    (q.place for q in questions),
                    (names.number(q.label) for q in questions),
                    (-1 if q.example is None else q.example for q in questions),
                    (_ASKS.index(q.asks) for q in questions),
                    (names.number(q.kept) for q in questions),
                    (int(q.sought) for q in questions),
                    (int(q.picked) for q in questions),
                )
            ),
            _numbers((q.until for q in questions), "f8"),
            _numbers((q.since for q in questions), "f8"),
        ],
        "acts": [
            [act.at for act in acts],
            *(
                _numbers(column)
                for column in (
                    (names.number(act.kind) for act in acts),
                    (names.number(act.by) for act in acts),
                    (act.number for act in acts),
                    (act.place for act in acts),
                    (-1 if a.question is None else place_of[a.question.id] for a in acts),
                    (_ANSWERS.index(a.answer.answer if a.answer else None) for a in acts),
                    (names.number(a.answer.label) if a.answer else -1 for a in acts),
                    (feature(a.answer.feature) if a.answer else -1 for a in acts),
                    (act.target for act in acts),
                    (int(act.alive) for act in acts),
                    (_OUTCOMES.index(act.outcome) for act in acts),
                )
            ),
        ],
        "rounds": _write_rounds(told, names, features),
    }
    data = {
        "number": state.number,
        "ids": list(state.ids.index),
        "names": names.texts,
        "features": features.texts,
        **columns,
        "act data": [[n, act.data] for n, act in enumerate(acts) if act.kind in _DATA],
        "labels": _write([labels._name, labels._key, labels._into]),
        "listed": sorted(state.listed),
        "meanings": _write(state.meanings),
        "settings": vars(state.settings),
        "teachers": [
            [n, _write(t.done), _write(t.undone), t.model] for n, t in state.teachers.items()
        ],
        "notes": [event.line() for event in state.notes],
        "unsure": _write(state.unsure),
        "skipped": _write(state.skipped),
        "uses": _write(state._uses),
        "tags": list(state.items.table.tags),
        "queue": {
            "leases": [question.id for question in queue.leases.values()],
            "held": [question.id for question in queue.held.values()],
            "searches": [[n, str(s.where), s.text] for n, s in queue.searches.items()],
            **{name: _write(getattr(queue, name)) for name in _QUEUE},
        },
        "now": _write_copy(replay.now),
        "copies": _packed_copies(replay),
        "mistakes": _numbers(map(int, replay.mistakes)),
        "sizes": _write(replay.sizes),
        "learnt by": _write(replay.rounds),
        "grown": sorted(replay.grown),
    }
    return zlib.compress(codec.dump(data).encode(), 1)


def _write_rounds(told: Sequence[Told], names: _Names, features: _Names) -> list[dict[str, str]]:
    def example(row: Any) -> int:
        return -1 if row is None else int(row.place)

    def feature(one: Correction | None) -> int:
        return features.number(None if one is None or one.feature is None else str(one.feature))

    columns = (
        (one.item.place for one in told),
        (names.number(_key(one.guess.label)) if one.guess else -1 for one in told),
        (example(one.guess.example) if one.guess else -1 for one in told),
        (names.number(_key(one.label)) for one in told),
        (int(one.correction is not None) for one in told),
        (feature(one.correction) for one in told),
    )
    return [_numbers(column) for column in columns]


def _round_reader(
    items: Items, columns: list[Any], names: _Names, features: _Names, who: Callable[[int], Any]
) -> Callable[[int], Told]:
    """A function that makes the rounds of `_write_rounds`; `who` says who taught one."""
    item, guess, example, label, corrected, feature = map(_array, columns)

    def told(n: int) -> Told:
        shown = None if example[n] < 0 else items.row(int(example[n]))
        said, why = names.text(label[n]), features.text(feature[n])
        correction = None
        if corrected[n]:
            correction = Correction(said, None if why is None else items.feature(why))
        return Told(
            items.row(int(item[n])), said, Guess(names.text(guess[n]), shown), correction, who(n)
        )

    return told


# -- what came after a snapshot


def write_results(replay: Replay) -> bytes | None:
    """What the learner came to since the last snapshot; None if it concerns what was before."""
    if replay.kept is None:
        return None
    acts, rounds, guesses = replay.kept
    names, features = _Names(), _Names()
    changed = [*sorted(replay.settled), *range(acts, len(replay.acts))]
    data = {
        "rounds": _write_rounds(replay.history.rounds[rounds:], names, features),
        "names": names.texts,
        "features": features.texts,
        "learnt by": replay.rounds[rounds:],
        "mistakes": replay.mistakes[guesses:],
        "sizes": replay.sizes[guesses:],
        "changed": changed,
        "outcomes": [replay.acts[number].outcome for number in changed],
        "now": codec.dump(_write_copy(replay.now)),
    }
    return zlib.compress(codec.dump(data).encode(), 1)


def take_results(state: State, events: Sequence[Event], packed: bytes) -> None:
    """Take events after a snapshot, with what they came to instead of learning it anew."""
    data = json.loads(zlib.decompress(packed))
    replay, items = state.replay, state.items

    def resume() -> None:
        for number, outcome in zip(data["changed"], data["outcomes"], strict=True):
            replay.acts[number].outcome = outcome
        learnt_by: list[int] = data["learnt by"]
        names, features = _Names(data["names"]), _Names(data["features"])
        told = _round_reader(
            items, data["rounds"], names, features, lambda n: replay.acts[learnt_by[n]].by
        )
        for n in range(len(learnt_by)):
            replay.history.rounds.append(told(n))
        replay.rounds += learnt_by
        replay.mistakes += data["mistakes"]
        replay.sizes += data["sizes"]
        replay.resume(PackedCopy(items, data["now"]))

    state.take_all(events, resume)


_QUEUE = ("seen", "sought", "marked", "picked", "returning", "_skips", "_taken_back", "_second")
"""What is kept of the queue as it is."""


def _key(label: Any) -> str | None:
    """The key of a label, as the learner has it."""
    return None if label is None else str(label)


def _grouped(keys: list[Any], members: list[int]) -> dict[Any, list[int]]:
    """The members of each key, in order."""
    found = {key: [member] for key, member in zip(keys, members, strict=True)}
    if len(found) < len(keys):
        found = {}
        for key, member in zip(keys, members, strict=True):
            found.setdefault(key, []).append(member)
    return found


def read_state(
    items: Items,
    opened: Event,
    packed: bytes,
    read_event: Callable[[int], Event],
    now: bool = True,
) -> State:
    """The inverse of `write_state`; `read_event` reads an event of the log by its number.

    Without `now` the learner is left out: `take_results` brings a later one.
    """
    data = json.loads(zlib.decompress(packed))
    state = State(items, opened)
    state.number = data["number"]
    ids: list[str] = data["ids"]
    names, features = _Names(data["names"]), _Names(data["features"])
    state.ids = LazyEvents(dict(zip(ids, range(1, len(ids) + 1), strict=True)), read_event)
    state.ids[opened.id] = opened

    def feature(number: int) -> Any:
        return None if number < 0 else items.feature(features.texts[number])

    def place(number: int) -> int | None:
        return None if number < 0 else number

    columns = [_array(column) for column in data["questions"]]
    by_q, number_q, place_q, label_q, example_q, asks_q, kept_q, *columns = columns
    sought_q, picked_q, until_q, since_q = columns

    def question(n: int) -> Question:
        return Question(
            ids[number_q[n] - 1],
            cast(str, names.text(by_q[n])),
            int(place_q[n]),
            names.text(label_q[n]),
            place(int(example_q[n])),
            _ASKS[asks_q[n]],
            names.text(kept_q[n]),
            float(until_q[n]),
            bool(sought_q[n]),
            bool(picked_q[n]),
            float(since_q[n]),
        )

    known = [ids[number - 1] for number in number_q.tolist()]
    questions = LazyQuestions({one: n for n, one in enumerate(known)}, question)
    state.questions = questions

    at, *numbers = data["acts"]
    kind_a, by_a, *columns = [_array(column) for column in numbers]
    kinds = [names.texts[number] for number in kind_a.tolist()]
    number_a, place_a, question_a, answer_a, label_a, feature_a, target_a, alive_a, outcome_a = (
        columns
    )
    act_data = dict(map(tuple, data["act data"]))
    targets = target_a.tolist()
    changes: dict[int, list[int]] = {}
    for n in np.flatnonzero(target_a >= 0).tolist():
        changes.setdefault(targets[n], []).append(n)

    def act(n: int) -> Act:
        asked, kind, answer = int(question_a[n]), _ANSWERS[answer_a[n]], None
        if kind is not None:
            answer = Answer(kind, names.text(label_a[n]), feature(feature_a[n]))
        return Act(
            ids[number_a[n] - 1],
            int(number_a[n]),
            at[n],
            kinds[n],
            names.text(by_a[n]),
            int(place_a[n]),
            None if asked < 0 else questions[known[asked]],
            answer,
            targets[n],
            list(changes.get(n, ())),
            dict(act_data.get(n, {})),
            bool(alive_a[n]),
            _OUTCOMES[outcome_a[n]],
        )

    replay = state.replay
    acts: Lazy[Act] = Lazy(len(kinds), act)
    state.acts = replay.acts = acts
    state.act_of = {ids[number - 1]: n for n, number in enumerate(number_a.tolist())}
    answered = [n for n, kind in enumerate(kinds) if kind == "answered"]
    state.answers = _grouped(place_a[answered].tolist(), answered)
    state.answers_to = _grouped([known[n] for n in question_a[answered].tolist()], answered)

    learnt_by = replay.rounds = _read(data["learnt by"])
    told = _round_reader(
        items, data["rounds"], names, features, lambda n: names.text(by_a[learnt_by[n]])
    )
    replay.history.rounds = Lazy(len(learnt_by), told)
    replay.mistakes = [bool(one) for one in _read(data["mistakes"])]
    replay.sizes = _read(data["sizes"])
    replay.grown = set(data["grown"])
    if now:
        replay.now = _read_copy(items, data["now"])
    replay._copies = [
        (acts, rounds, guesses, PackedCopy(items, text))
        for acts, rounds, guesses, text in data["copies"]
    ]

    labels = state.labels
    labels._name, labels._key, labels._into = _read(data["labels"])
    state.listed = set(data["listed"])
    state.meanings = _read(data["meanings"])
    state.settings = Settings(**data["settings"])
    state.stopper = read_stopper(state.settings.until)
    state.teachers = {
        name: Teacher(_read(done), _read(undone), model)
        for name, done, undone, model in data["teachers"]
    }
    replay.models |= {name for name, one in state.teachers.items() if one.model is not None}
    state.notes = [Event.read(line) for line in data["notes"]]
    state.unsure, state.skipped = _read(data["unsure"]), _read(data["skipped"])
    state._uses = _read(data["uses"])
    for tag in data["tags"]:
        items.table.tag(tag)
    for (tag, item), value in replay.now.tags.items():
        items.table.tag(tag).set(items.row(item), value)

    queue, kept = state.queue, data["queue"]
    for name in _QUEUE:
        setattr(queue, name, _read(kept[name]))
    for one in kept["leases"]:
        queue.restore_lease(questions[one])
    queue.held = {questions[one].teacher: questions[one] for one in kept["held"]}
    for name, where, text in kept["searches"]:
        queue.searches[name] = Search(state, where, text)
    return state
