"""The shapes of requests and answers, for the schema in /api/openapi.json."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
Answer = Literal["right", "wrong", "unsure", "skipped"]


class Sent(BaseModel):
    """What clients send: nothing unknown in it."""

    model_config = ConfigDict(extra="forbid")


class NewSession(Sent):
    """A session to begin."""

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^/\\?#%]+$")]
    table: Annotated[str, Field(min_length=1, max_length=500, examples=["zoo.csv"])]
    id: str | None = Field(None, description="The column that names an item.")
    types: dict[str, str] | None = Field(None, description="Types of columns, for CSV.")
    separator: Annotated[str, Field(pattern=r"^[\t !#-~]$")] | None = None
    encoding: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,40}$")] | None = None
    nulls: list[str] | None = None
    learner: str | None = None
    parameters: dict[str, Any] = {}
    labels: list[Label] = []
    order: Literal["file", "random", "least sure"] = "file"
    overlap: Annotated[float, Field(ge=0, le=1)] = 0.0
    lease: Annotated[float, Field(gt=0, le=1e8)] = 600.0
    until: dict[str, Any] | None = None
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0


class Wish(Sent):
    """How the next item is wanted."""

    candidates: Annotated[
        bool, Field(description="False: no candidate features; quicker. GET candidates has them.")
    ] = True


class Begin(Wish):
    """A wish for the next item."""

    id: Id | None = None


class Said(Wish):
    """An answer to what was given."""

    id: Id | None = None
    given: Id
    answer: Answer
    label: Label | None = None
    feature: Text | None = None
    next: bool = Field(False, description="Send the next item with the answer.")


class Changed(Sent):
    """Another answer in place of an earlier one."""

    id: Id | None = None
    event: Id
    answer: Answer
    label: Label | None = None
    feature: Text | None = None


class Turn(Wish):
    """What to undo or redo: the latest, or an event of one's own."""

    id: Id | None = None
    event: Id | None = None
    next: bool = False


class Try(Sent):
    """An expression to check, on what was given or on two items."""

    feature: Annotated[str, Field(max_length=10_000)]
    given: Id | None = None
    item: ItemId | None = None
    example: ItemId | None = None


class AddLabel(Sent):
    id: Id | None = None
    label: Label


class RenameLabel(Sent):
    id: Id | None = None
    label: Label
    to: Label


class MergeLabels(Sent):
    id: Id | None = None
    label: Label
    into: Label


class DescribeLabel(Sent):
    id: Id | None = None
    label: Label
    meaning: Annotated[str, Field(max_length=200, description="A line; empty: none.")]


class Search(Sent):
    id: Id | None = None
    text: Annotated[
        str | None,
        Field(max_length=2_000, description="A condition, or words; null: as they come."),
    ]


class SetTag(Sent):
    id: Id | None = None
    tag: Label
    item: ItemId
    value: bool | None


class WriteNote(Sent):
    id: Id | None = None
    text: Text
    item: ItemId | None = None


class DropRule(Sent):
    id: Id | None = None
    example: ItemId


class EditRule(Sent):
    id: Id | None = None
    example: ItemId
    condition: Text
    label: Label


class Settings(Sent):
    id: Id | None = None
    order: Literal["file", "random", "least sure"] | None = None
    overlap: Annotated[float, Field(ge=0, le=1)] | None = None
    lease: Annotated[float, Field(gt=0, le=1e8)] | None = None
    until: dict[str, Any] | None = Field(
        None, description="A stopper, such as {'no mistake in': 40}; {} for none."
    )


# -- answers


class Saved(BaseModel):
    """An event that is safely in the log."""

    number: int
    id: str
    outcome: str | None
    event: str | None


class Named(BaseModel):
    id: Any
    name: str


class Item(Named):
    cells: dict[str, Any]


class Difference(BaseModel):
    column: str
    item: Any
    example: Any


class Candidate(BaseModel):
    feature: str
    items: int
    exact: bool
    yes: int
    no: int
    score: float


class Given(BaseModel):
    id: str
    asks: Literal["answer", "label", "feature"]
    kept: str | None
    until: str
    item: Item
    guess: str | None
    example: Item | None
    differs: list[Difference]
    candidates: list[Candidate]


class Recent(BaseModel):
    mistakes: int
    guesses: int


class Error(BaseModel):
    low: float
    likely: float
    high: float
    sentence: str


class Progress(BaseModel):
    items: int
    labelled: int
    waiting: int
    unsure: int
    skipped: int
    left: int
    mistakes: int
    guesses: int
    recent: Recent
    rules: int
    teachers: int
    error: Error
    may_stop: bool
    stop: str | None


class Point(BaseModel):
    guess: int
    mistakes: int


class Bound(BaseModel):
    mistakes: float | None
    m: int | None
    k: int


class Course(Progress):
    curve: list[Point]
    last: list[bool]
    bound: Bound


class Next(BaseModel):
    """The next item; or that there is none."""

    done: bool
    message: str | None
    busy: int
    given: Given | None
    labels: list[str]
    progress: Progress
    can_undo: bool
    can_redo: bool
    saved: int


class SavedNext(BaseModel):
    saved: Saved
    next: Next | None


class Checked(BaseModel):
    valid: bool
    message: str
    spot: list[int] | None
    feature: str | None
    here: bool | None
    there: bool | None
    tells: bool
    items: int | None


class Table(BaseModel):
    name: str
    items: int
    id: str | None
    columns: dict[str, str]


class Session(BaseModel):
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
    progress: Progress
    saved: int


class Listed(BaseModel):
    name: str
    events: int
    table: str
    items: int
    opened: str
    last: str
    open: bool


class Sessions(BaseModel):
    sessions: list[Listed]


class Tables(BaseModel):
    tables: list[str]


class Me(BaseModel):
    name: str
    owner: bool
    csrf: str | None


class Answered(BaseModel):
    event: str
    number: int
    at: str
    teacher: str
    item: Named
    guess: str | None
    example: Named | None
    answer: Answer
    label: str | None
    feature: str | None
    outcome: str | None
    undone: bool
    changes: list[str]


class History(BaseModel):
    answers: list[Answered]
    before: int | None


class Literals(BaseModel):
    feature: str
    wanted: bool


class Rule(BaseModel):
    number: int
    sentence: str | None
    literals: list[Literals]
    label: str | None
    example: Named | None
    by_hand: bool
    teacher: str | None
    right: int
    wrong: int
    items: int | None
    is_default: bool


class Rules(BaseModel):
    rules: list[Rule]
    saved: int


class Items(BaseModel):
    total: int
    items: list[Item]


class Candidates(BaseModel):
    candidates: list[Candidate]


class Labels(BaseModel):
    labels: list[str]
    meanings: dict[str, str]


class Tags(BaseModel):
    tags: list[str]


class Note(BaseModel):
    event: str
    number: int
    at: str
    teacher: str | None
    text: str
    item: Named | None


class Notes(BaseModel):
    notes: list[Note]


class Odd(Answered):
    expected: str | None
    expected_feature: str | None
    score: float
    why: str


class OddOnes(BaseModel):
    odd: list[Odd]
    by_teacher: dict[str, int]


class Health(BaseModel):
    status: Literal["ok", "failing"]
    version: str
    uptime: float
    sessions: int


class Dispute(BaseModel):
    item: Named
    answers: list[Answered]


class Agreement(BaseModel):
    items: int
    labels: float | None
    alpha: float | None
    reasons: int
    features: float | None


class Disputes(BaseModel):
    disagreements: list[Dispute]
    agreement: Agreement
