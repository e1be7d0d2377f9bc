"""What clients are told."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from tellapart.web.schemas.sent import Answer


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
