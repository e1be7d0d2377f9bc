"""What clients send and what they are answered: the shapes of /api/openapi.json.

Requests are pydantic models, which check what comes in. Responses are plain dataclasses: what a
session replies (`sessions.replies`) is returned as it is, and what only the server says is here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from tellapart.sessions import Agreement, Answered, Disagreement, OddOne, Saved, Summary
from tellapart.sessions.events import AnswerWord
from tellapart.sessions.replies import NamedRow, WholeRow

# -- requests

Id = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=r"^[!-~]+$",
        description="Made by the client, new for every change: to send the same again is harmless.",
    ),
]
Label = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(min_length=1, max_length=10_000)]
ItemId = Annotated[
    str | int | float | bool | dict[str, Any],
    Field(description="The id of an item, as `item.id` has it."),
]


class Request(BaseModel):
    """What clients send. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Change(Request):
    """Something to be written to the log."""

    id: Id | None = None


class NewSession(Request):
    """A session to begin."""

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^/\\?#%]+$")]
    table: Annotated[str, Field(min_length=1, max_length=500, examples=["zoo.csv"])]
    id: str | None = Field(None, description="The column that names an item.")
    types: dict[str, str] | None = Field(None, description="Types of columns, for CSV.")
    separator: Annotated[str, Field(pattern=r"^[\t !#-~]$")] | None = None
    encoding: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,40}$")] | None = None
    nulls: list[str] | None = None
    dates: Literal["day-first", "month-first", "iso"] | None = None
    decimal: Literal[".", ","] | None = None
    thousands: Literal[".", ",", " ", "'"] | None = None
    true: list[str] | None = None
    false: list[str] | None = None
    header: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    comment: Annotated[str, Field(min_length=1, max_length=10)] | None = None
    sheet: str | None = None
    sample: Annotated[int, Field(ge=1, le=2**31)] | None = None
    sample_seed: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    learner: str | None = None
    parameters: dict[str, Any] = {}
    labels: list[Label] = []
    order: Literal["file", "random", "least sure", "mixed"] = "file"
    overlap: Annotated[float, Field(ge=0, le=1)] = 0.0
    lease: Annotated[float, Field(gt=0, le=1e8)] = 600.0
    until: dict[str, Any] | None = None
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0


class Begin(Change):
    """A wish for the next item."""

    candidates: Annotated[
        bool, Field(description="False: no candidate features; quicker. GET candidates has them.")
    ] = True


class Said(Begin):
    """An answer to what was given."""

    given: Id
    answer: AnswerWord
    label: Label | None = None
    feature: Text | None = None
    next: bool = Field(False, description="Send the next item with the answer.")


class Changed(Change):
    """Another answer in place of an earlier one."""

    event: Id
    answer: AnswerWord
    label: Label | None = None
    feature: Text | None = None


class Turn(Begin):
    """What to undo or redo: the latest, or an event; one's own, or, for the owner, a teacher's."""

    event: Id | None = None
    teacher: Annotated[str | None, Field(max_length=200)] = None
    next: bool = False


class Try(Request):
    """An expression to check, on what was given or on two items."""

    feature: Annotated[str, Field(max_length=10_000)]
    given: Id | None = None
    item: ItemId | None = None
    example: ItemId | None = None


class AddRows(Change):
    """Rows to write at the end of the table; without any, those that others wrote are taken on."""

    rows: Annotated[list[dict[str, Any]], Field(max_length=1000)] = []


class NewRows(Request):
    """Rows to be labelled, as mappings from column to value."""

    rows: Annotated[list[dict[str, Any]], Field(max_length=1000)]


class AddLabel(Change):
    label: Label


class RenameLabel(Change):
    label: Label
    to: Label


class MergeLabels(Change):
    label: Label
    into: Label


class DescribeLabel(Change):
    label: Label
    meaning: Annotated[str, Field(max_length=200, description="A line; empty: none.")]


class Search(Change):
    text: Annotated[
        str | None,
        Field(max_length=2_000, description="A condition, or words; null: as they come."),
    ]


class Accept(Change):
    """Which guesses of a sweep are right; the wrong ones come next."""

    label: Label
    right: Annotated[list[ItemId], Field(max_length=1000)]
    wrong: Annotated[list[ItemId], Field(max_length=1000)] = []


class SetTag(Change):
    tag: Label
    item: ItemId
    value: bool | None


class WriteNote(Change):
    text: Text
    item: ItemId | None = None


class DropRule(Change):
    example: ItemId


class EditRule(Change):
    example: ItemId
    condition: Text
    label: Label


class Assignment(Request):
    """What a teacher is asked about: rows where a condition holds."""

    where: Annotated[str, Field(max_length=10_000)] = ""


class Settings(Change):
    order: Literal["file", "random", "least sure", "mixed"] | None = None
    overlap: Annotated[float, Field(ge=0, le=1)] | None = None
    lease: Annotated[float, Field(gt=0, le=1e8)] | None = None
    until: dict[str, Any] | None = Field(
        None, description="A stopper, such as {'no mistake in': 40}; {} for none."
    )
    unsure: Literal["label", "null"] | None = Field(
        None, description="null: rules, exports and predictions say nothing where unsure."
    )
    error: Annotated[float, Field(ge=0, le=1)] | None = None
    assignments: dict[str, Assignment] | None = Field(
        None, description="Who gets which rows; {} for none."
    )


# -- responses


@dataclass
class Difference:
    column: str
    item: Any
    example: Any


@dataclass
class Candidate:
    feature: str
    items: int
    exact: bool
    yes: int
    no: int
    score: float


@dataclass
class Given:
    id: str
    asks: Literal["answer", "label", "feature"]
    kept: str | None
    until: str
    item: WholeRow
    guess: str | None
    example: WholeRow | None
    differs: list[Difference]
    candidates: list[Candidate]


@dataclass
class Point:
    guess: int
    mistakes: int


@dataclass
class Bound:
    mistakes: Annotated[Any, WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]})]
    """Any: pydantic would write a whole number as 21.0."""
    m: int | None
    k: int


@dataclass(frozen=True)
class Course(Summary):
    curve: list[Point]
    last: list[bool]
    bound: Bound


@dataclass
class Next:
    """The next item; or that there is none."""

    done: bool
    message: str | None
    busy: int
    given: Given | None
    labels: list[str]
    progress: Summary
    can_undo: bool
    can_redo: bool
    saved: int


@dataclass
class SavedNext:
    saved: Saved
    next: Next | None


@dataclass(kw_only=True)
class Checked:
    valid: bool
    message: str
    spot: list[int] | None = None
    feature: str | None = None
    here: bool | None = None
    there: bool | None = None
    tells: bool = False
    items: int | None = None


@dataclass
class Predicted:
    """What the rules say of a row."""

    label: str | None
    rule: int
    """The number of the rule that applied, from 1."""
    because: str
    """The rule as a sentence."""
    like: str | None
    """Its example."""


@dataclass
class RowsAdded:
    rows: int
    """How many were taken on."""
    items: int
    """How many there are now."""


@dataclass
class Finding:
    """What could have been read in another way."""

    column: str | None
    what: str
    assumed: str
    option: dict[str, Any]
    """What to send to begin a session that reads it otherwise."""
    text: str


@dataclass
class Table:
    name: str
    items: int
    id: str | None
    columns: dict[str, str]
    whole: int | None
    """How many rows there are, if these are a random sample of them."""
    findings: list[Finding]


@dataclass
class Session:
    name: str
    learner: str
    parameters: dict[str, Any]
    seed: int
    version: str
    table: Table
    settings: dict[str, Any]
    labels: list[str]
    tags: list[str]
    teachers: list[str]
    progress: Summary
    saved: int
    trouble: list[str]
    """What went wrong without stopping anybody; nothing of the table is in it."""


@dataclass
class Listed:
    name: str
    events: int
    table: str
    items: int
    opened: str
    last: str
    open: bool


@dataclass
class Sessions:
    sessions: list[Listed]


@dataclass
class Tables:
    tables: list[str]


@dataclass
class Me:
    name: str
    owner: bool
    csrf: None = None
    """Nothing any more: a page of another site is known by its headers."""


@dataclass
class History:
    answers: list[Answered]
    before: int | None
    note: str | None = None
    """Why these are only what the log has."""


@dataclass
class Literals:
    feature: str
    wanted: bool


@dataclass
class SinceChanged:
    """What a rule did on items drawn at random since it last changed."""

    right: int
    wrong: int
    last: int | None
    """The round in which it was last seen."""
    high: float
    """Its error is at most this, with 95 % confidence."""


@dataclass
class Rule:
    number: int
    sentence: str | None
    literals: list[Literals]
    label: str | None
    example: NamedRow | None
    by_hand: bool
    teacher: str | None
    right: int
    """So many answers, of all there are, about the items it labels agree with it."""
    wrong: int
    items: int | None
    is_default: bool
    since_changed: SinceChanged | None


@dataclass
class Rules:
    rules: list[Rule]
    saved: int


@dataclass
class Items:
    total: int
    items: list[WholeRow]


@dataclass
class Candidates:
    candidates: list[Candidate]


@dataclass
class Labels:
    labels: list[str]
    meanings: dict[str, str]


@dataclass
class Tags:
    tags: list[str]


@dataclass
class Note:
    event: str
    number: int
    at: str
    teacher: str | None
    text: str
    item: NamedRow | None


@dataclass
class Notes:
    notes: list[Note]


@dataclass
class OddOnes:
    odd: list[OddOne]
    by_teacher: dict[str, int]


@dataclass
class Health:
    status: Literal["ok", "failing"]
    version: str
    uptime: float
    sessions: int


@dataclass
class Disputes:
    disagreements: list[Disagreement]
    agreement: Agreement
