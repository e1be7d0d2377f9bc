"""What clients send."""

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


class Act(Sent):
    """Something to be written to the log."""

    id: Id | None = None


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


class Changed(Act):
    """Another answer in place of an earlier one."""

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


class AddLabel(Act):
    label: Label


class RenameLabel(Act):
    label: Label
    to: Label


class MergeLabels(Act):
    label: Label
    into: Label


class DescribeLabel(Act):
    label: Label
    meaning: Annotated[str, Field(max_length=200, description="A line; empty: none.")]


class Search(Act):
    text: Annotated[
        str | None,
        Field(max_length=2_000, description="A condition, or words; null: as they come."),
    ]


class SetTag(Act):
    tag: Label
    item: ItemId
    value: bool | None


class WriteNote(Act):
    text: Text
    item: ItemId | None = None


class DropRule(Act):
    example: ItemId


class EditRule(Act):
    example: ItemId
    condition: Text
    label: Label


class Settings(Act):
    order: Literal["file", "random", "least sure"] | None = None
    overlap: Annotated[float, Field(ge=0, le=1)] | None = None
    lease: Annotated[float, Field(gt=0, le=1e8)] | None = None
    until: dict[str, Any] | None = Field(
        None, description="A stopper, such as {'no mistake in': 40}; {} for none."
    )
