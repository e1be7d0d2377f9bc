"""What leaves the server: the model, the log, and a label for every item."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from fastapi import APIRouter, Query
from polars import selectors
from starlette.responses import Response, StreamingResponse

from tellapart.errors import FeatureError, ParameterError
from tellapart.export import languages
from tellapart.export.feature_trees import columns_of
from tellapart.export.sql import Dialect
from tellapart.export.text import brief_sentences, example_text
from tellapart.features.expression import types as read_types
from tellapart.features.tree import Type
from tellapart.model import DecisionList
from tellapart.sessions import Session, export_log
from tellapart.sessions.rules import clause_of_items
from tellapart.sessions.session import read_again
from tellapart.tables import Table
from tellapart.web.access import Call, SessionName
from tellapart.web.api import schemas
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/sessions/{session}", tags=["downloads"])

LANGUAGES = {
    "json": ("application/json", "json"),
    "sql": ("text/plain; charset=utf-8", "sql"),
    "python": ("text/plain; charset=utf-8", "py"),
    "javascript": ("text/plain; charset=utf-8", "mjs"),
    "json-rules": ("application/json", "rules.json"),
    "text": ("text/plain; charset=utf-8", "txt"),
    "svg": ("image/svg+xml", "svg"),
}
"""The languages of a model: media type and ending."""
Language = Literal["json", "sql", "python", "javascript", "json-rules", "text", "svg"]
FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
_ANSWER = ("item", "label", "feature", "answer", "guess", "example", "teacher", "at", "outcome")
OURS = ("label", "clause", "example")
_FORMULA = r"^[ \ufeff\u3000]*[=+\-@\t\r\n]"

Unsure = Literal["label", "null"]
"""What a rule gives whose error may be above `error`."""
Share = Annotated[float, Query(ge=0, le=1)]


def write_model(
    session: Session,
    language: str,
    dialect: Dialect = "duckdb",
    unsure: str | None = None,
    error: float | None = None,
) -> str:
    """The model of a session in some language."""
    made, whole = session.chosen_model(unsure, error), session.missing is None
    text = languages.write_model(
        made,
        language,
        dialect=dialect,
        schema=session.table.schema if whole else {},
        clean=language == "sql" and whole and session.table.is_clean(columns_of(made)),
        meanings=session.meanings,
    )
    if language == "sql":
        return "".join(f"-- {line}\n" for line in session.about()) + text
    return text


def answers_csv(session: Session, viewer: str | None) -> bytes:
    """The answers in force as CSV, in the order of their coming."""
    rows = [
        (
            str(one.item.identity),
            one.guess if one.answer == "right" else one.label,
            one.feature,
            one.answer,
            one.guess,
            None if one.example is None else str(one.example),
            one.teacher,
            one.at,
            one.outcome,
        )
        for one in session.history(viewer=viewer)
        if not one.undone
    ]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(_ANSWER, pl.String), orient="row")
    return without_formulas(frame).write_csv(line_terminator="\r\n").encode()


def predict_table(table: Table, model: DecisionList, columns: list[str]) -> pl.DataFrame:
    """A label for every item, with the number of the rule and its example.

    It is made once, at one moment of the session; teaching may go on while it is read.
    """
    for name in columns:
        table.check(name)
    kept = list(dict.fromkeys(columns))
    if table.id is not None and table.id not in kept:
        kept.insert(0, table.id)
    numbers, clauses = clause_of_items(table, model), list(model)
    labels = pl.Series([one.label for one in clauses], dtype=pl.String, strict=False)
    examples = pl.Series([example_text(one.example) for one in clauses], dtype=pl.String)
    made = [labels.gather(numbers), pl.Series(numbers + 1, dtype=pl.UInt32)]
    made.append(examples.gather(numbers))
    taken = {*kept, "item"}
    made = [one.alias(_free(name, taken)) for name, one in zip(OURS, made, strict=True)]
    rows = [pl.Series("item", np.arange(len(numbers)))] if table.id is None else []
    return pl.DataFrame([*rows, *table.frame(kept).get_columns(), *made])


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a ' before each text, and each name, that a spreadsheet would run.

    >>> without_formulas(pl.DataFrame({"=a": ["=1+1", "bear"], "n": [-4, 1]})).rows()
    [("'=1+1", -4), ('bear', 1)]
    """
    texts = [pl.col(name) for name, kind in frame.schema.items() if kind == pl.String]
    guarded = [
        pl.when(one.str.contains(_FORMULA)).then(pl.lit("'") + one).otherwise(one).name.keep()
        for one in texts
    ]
    names = {name: f"'{name}" for name in frame.columns if re.match(_FORMULA, name)}
    return frame.with_columns(guarded).rename(names)


def _stream(frame: pl.DataFrame, format: str) -> Iterator[bytes]:
    """A frame in one of `FORMATS`."""
    as_text = frame.with_columns(selectors.datetime().dt.to_string("iso:strict"))
    with tempfile.TemporaryFile() as file:
        if format == "parquet":
            frame.write_parquet(file)
        elif format == "jsonl":
            as_text.write_ndjson(file)
        else:
            as_text.write_csv(file, line_terminator="\r\n")
        file.seek(0)
        while chunk := file.read(1 << 18):
            yield chunk


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


# -- routes


def _file(kinds: Iterable[str], description: str) -> dict[int | str, dict[str, Any]]:
    """A download in one of several media types. JSON stands last: generated clients read every
    download as the first."""
    found = dict.fromkeys(kind.partition(";")[0] for kind in kinds)
    plain = sorted(found, key=lambda kind: kind == "application/json")
    schemas: dict[str, dict[str, str]] = {"application/json": {"type": "object"}}
    binary = {"type": "string", "format": "binary"}
    content = {
        kind: {
            "schema": {"type": "string"} if kind.startswith("text/") else schemas.get(kind, binary)
        }
        for kind in plain
    }
    return {200: {"description": description, "content": content}}


_MODEL = _file((kind for kind, _ in LANGUAGES.values()), "The model.")


@router.get("/export", response_class=Response, responses=_MODEL)
@in_session
def export_model(
    session: Session,
    to: Language = "json",
    dialect: Dialect = "duckdb",
    unsure: Unsure | None = None,
    error: Share | None = None,
) -> Response:
    """The model: JSON, SQL in a dialect, a program, JSON rules, sentences, or a picture.

    With `unsure=null` it says nothing (NULL, "unknown") where a rule's error may be above `error`.
    Without these, the settings of the session decide.
    When the table has changed or is gone, the model as it was last kept; the header X-Note says so.
    """
    kind, ending = LANGUAGES[to]
    way = dialect if to == "sql" else to
    name = f"{session.name[:80]}-{way}" if ending in ("sql", "py") else session.name
    text = write_model(session, to, dialect, unsure, error)
    return _download(text.encode(), kind, name, ending, session.model_note)


@router.get(
    "/log", response_class=StreamingResponse, responses=_file([FORMATS["jsonl"]], "Lines of JSON.")
)
async def download_log(session: SessionName, call: Call) -> Response:
    """The whole session, an event a line; `tellapart session import` reads it. For the owner."""
    call.must_own()
    await call.pool.run(session, lambda s: s.number)  # it is there, and so is every answer
    lines = export_log(call.pool.store, session)
    return _download(lines, FORMATS["jsonl"], f"{session[:80]}-log", "jsonl")


@router.get(
    "/predictions",
    response_class=StreamingResponse,
    responses=_file(FORMATS.values(), "A row an item."),
)
@reads_session
def download_predictions(
    session: Session,
    column: Annotated[list[str], Query(max_length=500, default_factory=list)],
    format: Literal["csv", "jsonl", "parquet"] = "csv",
    exact: bool = False,
    unsure: Unsure | None = None,
    error: Share | None = None,
) -> Response:
    """A label for every item, with the rule and its example; `column` for more of the table.

    With `unsure=null` there is none where a rule's error may be above `error`; without these, the
    settings of the session decide.

    In CSV, a text that a spreadsheet would run as a formula gets a ' before it, unless `exact`.
    When the table has changed: the items that it has now, by the model as it was last kept; the
    header X-Note says so.
    """
    model, note = session.chosen_model(unsure, error), session.model_note
    table = session.table if note is None else read_again(session.name, session.opened)
    frame = predict_table(table, model, column)
    if format == "csv" and not exact:
        frame = without_formulas(frame)
    name = f"{session.name[:80]}-predictions"
    return _download(_stream(frame, format), FORMATS[format], name, format, note)


@router.post("/predict")
@reads_session
def predict(session: Session, body: schemas.NewRows) -> list[schemas.Predicted]:
    """What the rules say of rows that need not be in the table: mappings from column to value.

    A column that is left out, or null, is unknown. Dates are texts, such as 2024-12-31.
    """
    model, types = session.chosen_model(), read_types(session.table.schema)
    said = brief_sentences(model)
    number = {id(clause): n for n, clause in enumerate(model)}
    found = []
    for place, row in enumerate(body.rows):
        try:
            clause = model.match({name: _value(types, name, value) for name, value in row.items()})
        except FeatureError as error:
            raise ParameterError(f"row {place} (counted from 0): {error}") from None
        n = number[id(clause)]
        because = said[min(n, len(said) - 1)]
        label = None if clause.label is None else str(clause.label)
        found.append(schemas.Predicted(label, n + 1, because, example_text(clause.example)))
    return found


def _value(types: Mapping[str, Type], name: str, value: Any) -> Any:
    """A cell of a row in JSON."""
    if name not in types:
        known = ", ".join(list(types)[:20])
        raise FeatureError(f"the table has no column {name!r}; columns are: {known}")
    if types[name].temporal and isinstance(value, str):
        kind = date if types[name] is Type.DATE else datetime
        try:
            return kind.fromisoformat(value)
        except ValueError:
            raise FeatureError(f"column {name!r}: {value!r} is no {types[name].value}") from None
    return value


def _download(content: Any, kind: str, name: str, ending: str, note: str | None = None) -> Response:
    """A file to be saved, never shown: what is in it came from a table."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "session"
    headers = {"content-disposition": f'attachment; filename="{safe[:100]}.{ending}"'}
    if note is not None:
        headers["x-note"] = note.encode("ascii", "replace").decode()
    made = Response if isinstance(content, bytes) else StreamingResponse
    return made(content, headers=headers, media_type=kind)
