"""What can happen in a session, as the lines of its log; and the checks before a line is written.

An event has a number (1, 2, 3 ...), an id made by whoever caused it, a time, a type, and the name
of the teacher, if one did it. The rest depends on the type: docs/sessions.md has it line by line.
Events are never changed or removed: undoing is one more event.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from tellapart import codec
from tellapart.errors import FeatureError, FormatError, ParameterError, ProtocolError

if TYPE_CHECKING:
    from tellapart.sessions.history import Question
    from tellapart.sessions.log import State

FORMAT = 1
"""The version of the log; it stands in its first line."""

NEEDS: dict[str, tuple[str, ...]] = {
    "opened": ("tellapart", "format", "version", "name", "table", "learner", "parameters", "seed"),
    "joined": (),
    "given": ("item", "label", "example", "asks", "until"),
    "answered": ("given", "item", "answer"),
    "settled": ("item",),
    "undone": ("event",),
    "redone": ("event",),
    "changed": ("event", "answer"),
    "label added": ("label",),
    "label described": ("label", "meaning"),
    "label renamed": ("label", "to"),
    "labels merged": ("label", "into"),
    "tag set": ("tag", "item", "value"),
    "rule dropped": ("example",),
    "rule edited": ("example", "if", "label"),
    "settings": (),
    "search": ("where",),
    "swept": ("label", "right", "wrong"),
    "note": ("text",),
    "rows added": ("rows", "table"),
}
"""The types of events, and what each must carry."""

AnswerWord: TypeAlias = Literal["right", "wrong", "unsure", "skipped"]
ANSWERS: tuple[AnswerWord, ...] = get_args(AnswerWord)
"""right: the guess stands. wrong: another label, and a feature or none. unsure: kept, not learnt.
skipped: the item comes back later."""

_OUTSIDE = ("n", "id", "at", "type", "by")
_OPENED: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "table": (dict,),
    "source": (dict, type(None)),
    "learner": (str,),
    "parameters": (dict,),
    "seed": (int,),
    "labels": (list,),
}
"""What the first event has, and of which type."""


@dataclass(frozen=True)
class Event:
    """One line of the log.

    >>> event = Event(3, "a1", "2026-11-16T08:00:00.000Z", "note", "Ann", {"text": "odd"})
    >>> event.line()
    '{"n":3,"id":"a1","at":"2026-11-16T08:00:00.000Z","type":"note","by":"Ann","text":"odd"}'
    >>> Event.read(event.line()) == event
    True
    """

    number: int
    id: str
    at: str
    type: str
    by: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        values = (self.number, self.id, self.at, self.type, self.by)
        return codec.dump({**dict(zip(_OUTSIDE, values, strict=True)), **self.data})

    def cells(self) -> tuple[int, str, str, str, str | None, str]:
        """The event as the columns of a database: number, id, at, type, teacher, data."""
        return self.number, self.id, self.at, self.type, self.by, codec.dump(self.data)

    @classmethod
    def read(cls, line: str) -> Event:
        """The inverse of `line`."""
        data = codec.parse(line)
        try:
            number, key, at, kind, by = (data.pop(name) for name in _OUTSIDE)
        except KeyError as error:
            raise FormatError(
                f"no event of a session: {error} is missing in {line[:80]!r}"
            ) from None
        event = cls(number, key, at, kind, by, data)
        event.check()
        return event

    def check(self) -> None:
        """Raise `FormatError` unless the event has all that its type needs."""
        where = f"event {self.number!r}"
        if not isinstance(self.number, int) or isinstance(self.number, bool) or self.number < 1:
            raise FormatError(f"{where}: the number of an event is 1 or more")
        if not isinstance(self.id, str) or not 1 <= len(self.id) <= 100:
            raise FormatError(f"{where}: an id is a text of 1 to 100 characters, got {self.id!r}")
        if self.type not in NEEDS:
            raise FormatError(
                f"{where}: unknown type {self.type!r}; this version knows {', '.join(NEEDS)}."
                " A newer tellapart may have written it"
            )
        if self.by is not None and not isinstance(self.by, str):
            raise FormatError(f"{where}: 'by' is the name of a teacher, got {self.by!r}")
        seconds(self.at)
        for name in NEEDS[self.type]:
            if name not in self.data:
                raise FormatError(f"{where}: {self.type!r} needs {name!r}")
        if self.type in ("answered", "changed") and self.data["answer"] not in ANSWERS:
            raise FormatError(
                f"{where}: an answer is {', '.join(ANSWERS)}, got {self.data['answer']!r}"
            )


def check_log(events: list[Event]) -> None:
    """Raise `FormatError` unless these are the events of a session from its first on."""
    if not events:
        raise FormatError("an empty log: a session begins with the event 'opened'")
    first = events[0]
    if first.type != "opened" or first.data.get("tellapart") != "session":
        raise FormatError(f"a session begins with the event 'opened', this with {first.type!r}")
    if first.data["format"] != FORMAT:
        raise FormatError(
            f"this session was written by tellapart {first.data['version']} (format"
            f" {first.data['format']}); this version reads format {FORMAT}. Upgrade tellapart"
        )
    for name, kinds in _OPENED.items():
        if not isinstance(first.data.get(name, kinds[0]()), kinds):
            raise FormatError(f"event 1 (opened): {name!r} cannot be {first.data[name]!r}")
    if not {"name", "id", "items", "columns", "sha256"} <= first.data["table"].keys():
        raise FormatError(f"event 1 (opened): no description of a table: {first.data['table']!r}")
    ids: set[str] = set()
    for number, event in enumerate(events, 1):
        if event.number != number:
            raise FormatError(f"event {number} is missing: after it comes {event.number}")
        if event.id in ids:
            raise FormatError(f"event {number}: the id {event.id!r} was used before")
        if number > 1 and event.type == "opened":
            raise FormatError(f"event {number}: a session is opened once")
        ids.add(event.id)


# -- hashes: the hash of an event is made of its columns and of the hash of the event before it,
# so that a changed, lost or exchanged event is noticed

Cells = tuple[int, str, str, str, str | None, str]
"""The columns of an event: number, id, at, type, teacher, data."""


def hash_event(before: str, cells: Cells) -> str:
    """The hash of an event; `before` is that of its predecessor, empty for the first.

    >>> hash_event("", (1, "a", "now", "opened", None, "{}"))
    '5a8e0c13e26f76092878b3c1f7d55bd9'
    """
    number, key, at, kind, teacher, data = cells
    # with lengths, nothing can move from one column to the next
    by = "-" if teacher is None else f"{len(teacher)}"
    text = f"{before} {number} {len(key)} {len(at)} {len(kind)} {by} {key}{at}{kind}{teacher}{data}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_event(cells: Any) -> Event:
    number, key, at, kind, teacher, text = cells
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise FormatError(f"event {number!r} cannot be read: its data are damaged")
    return Event(number, key, at, kind, teacher, data)


def read_log(
    rows: Iterable[Any],
    hashes: Mapping[Any, Any],
    after: int = 0,
    before: str = "",
    length: Any = 0,
) -> Iterator[tuple[Event, str]]:
    """The events of a log with their hashes, in order, up to the first that is not as written.

    Raises `FormatError` there, with its number. `hashes` are those kept, by number: all of them,
    none (an old log), or those of the first events (an old version went on writing); events without
    one are checked by themselves. `after` is how many events come before these, and `before` the
    hash of the last of them. `length` is how many there were at least.
    """
    last = max((number for number in hashes if isinstance(number, int)), default=0)
    number = after
    for number, cells in enumerate(rows, after + 1):
        if cells[0] != number:
            raise FormatError(f"event {number} is missing: after it comes {cells[0]!r}")
        try:
            found = hash_event(before, cells)
        except (TypeError, UnicodeEncodeError):
            found = ""  # a cell is no text
        known = hashes.get(number)
        if not found or (known is None and number <= last) or known not in (None, found):
            raise FormatError(
                f"event {number} is not as it was written: it was changed, or another one stands in"
                " its place"
            )
        event = read_event(cells)
        if known is None:
            event.check()
        yield event, found
        before = found
    if not isinstance(length, int):
        raise FormatError(f"the number of the last event is damaged: it is {length!r}")
    if number < (last := max(last, length)):
        raise FormatError(f"event {number + 1} is missing: there were {last:,}")


# -- small things


def new_id() -> str:
    return uuid.uuid4().hex


def stamp(moment: float) -> str:
    """A time as it stands in the log.

    >>> stamp(0.25), seconds(stamp(0.25))
    ('1970-01-01T00:00:00.250Z', 0.25)
    """
    text = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


def seconds(stamped: str) -> float:
    try:
        return datetime.fromisoformat(stamped).timestamp()
    except (TypeError, ValueError):
        raise FormatError(
            f"a time is written like 2026-11-16T08:00:00.000Z, got {stamped!r}"
        ) from None


def same(data: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return json.dumps(data, sort_keys=True) == json.dumps(other, sort_keys=True)


# -- what may be said, checked before it is written


def check_text(what: str, value: Any, longest: int = 200) -> None:
    """Raise unless a value is a text that can be written anywhere."""
    fine = isinstance(value, str) and value.strip() and len(value) <= longest
    if fine:
        try:
            value.encode()
            fine = longest > 200 or value.isprintable()
        except UnicodeEncodeError:
            fine = False
    if not fine:
        raise ParameterError(
            f"{what} is a text of 1 to {longest} printable characters, got {value!r}"
        )


def check_name(name: Any) -> None:
    """Raise unless a text can name a session: in an address, too."""
    check_text("the name of a session", name)
    if "/" in name or name in (".", ".."):
        raise ParameterError(
            f"the name of a session stands in addresses: it has no '/', and is not '.' or '..'. Got"
            f" {name!r}; choose another name"
        )


def write_answer(
    state: State, question: Question, answer: str, label: str | None, feature: str | None
) -> dict[str, Any]:
    """An answer as the log writes it."""
    if answer not in ANSWERS:
        raise ParameterError(f"an answer is {', '.join(ANSWERS)}, got {answer!r}")
    if answer != "wrong" and (label is not None or feature is not None):
        raise ParameterError(f"{answer!r} goes without label and feature")
    said: dict[str, Any] = {"answer": answer}
    if answer == "wrong":
        if label is None and question.kept is not None:
            label = state.history.labels.name(question.kept)
        check_text("a label", label)
        assert label is not None
        said["label"] = state.history.labels.spelled(label)
        if feature is not None:
            said["feature"] = str(state.items.feature(feature))
    return said


def check_answer(state: State, question: Question, said: Mapping[str, Any]) -> None:
    if said["answer"] == "right" and question.label is None:
        raise ProtocolError("the label was asked, and nothing guessed: answer with a label")
    if said["answer"] != "wrong":
        return
    guessed = None if question.label is None else state.history.labels.same(question.label)
    if guessed is not None and state.history.labels.find(said["label"]) == guessed:
        raise ProtocolError(
            f"the guess was {said['label']!r} already; answer 'right', or give another label"
        )
    if "feature" in said:
        _check_feature(state, question, said["feature"])


def _check_feature(state: State, question: Question, text: str) -> None:
    if question.example is None:
        raise ProtocolError("there was no example to tell the item from: leave the feature out")
    feature = state.items.feature(text)
    item, example = state.items.row(question.item), state.items.row(question.example)
    if not feature(item):
        raise FeatureError(
            f"the feature {feature} does not hold on the item {item}; name one that does, and does"
            f" not hold on {example}"
        )
    if feature(example):
        raise FeatureError(
            f"the feature {feature} does not tell {item} from the example {example}: it holds on"
            " both. Name one that holds on the item only"
        )


def check_rule(state: State, example: Any) -> None:
    """Raise unless there is a rule with this example, written as in the log."""
    row = state.items.row(state.items.place(example))
    rules = state.learning.model.clauses
    if all(clause.example.place != row.place for clause in rules):
        known = ", ".join(str(clause.example) for clause in rules[:20]) or "none"
        raise ParameterError(f"there is no rule with the example {row}; examples: {known}")


def check_tag(state: State, tag: str) -> None:
    table = state.items.table
    if tag in table.schema and tag not in table.tags:
        raise ParameterError(f"{table.name} has a column {tag!r}; give the tag another name")
