"""predict(frame) gives label, rule, because, like and is_sure of every row of a pandas DataFrame.

None, NaN, NaT, pd.NA and infinity are unknown. Times with a zone are read in UTC.
"""

from __future__ import annotations

import operator
import re
from typing import Any

import numpy as np
import pandas as pd

RULES: dict[str, Any] = {"rules": []}
# end of the rules


def predict(frame: pd.DataFrame) -> pd.DataFrame:
    """The answer of the first rule that applies to each row."""
    reader = Reader(frame)
    found = np.zeros(len(frame), dtype=np.int64)
    undecided = np.ones(len(frame), dtype=bool)
    for number, rule in enumerate(RULES["rules"]):
        applies = undecided & reader.truth(rule["when"]).to_numpy(dtype=bool)
        found[applies] = number
        undecided &= ~applies
    columns = [name for name in RULES["rules"][0] if name != "when"]
    answers = pd.DataFrame(RULES["rules"], columns=columns, dtype=object).convert_dtypes()
    return answers.iloc[found].set_index(frame.index)


OPERATORS = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "+": operator.add, "-": operator.sub, "*": operator.mul,
    "/": operator.truediv,
}  # fmt: skip
TEXT = pd.StringDtype("python")


class Reader:
    """Conditions over the columns of a frame; what stands in several rules is computed once."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self.made: dict[str, Any] = {}

    def truth(self, part: Any) -> Any:
        """Where a condition is true, neither false nor unknown."""
        return self.column(part).fillna(False)

    def column(self, part: Any) -> Any:
        """A value or a condition for every row."""
        value = self.read(part)
        if isinstance(value, pd.Series):
            return value
        kinds = {bool: "boolean", int: "Int64", float: "Float64", str: TEXT}
        kind = kinds.get(type(value), "datetime64[us]")
        return pd.Series([value] * len(self.frame), index=self.frame.index, dtype=kind)

    def read(self, part: Any) -> Any:
        """The same; what needs no column is one value."""
        if not isinstance(part, list):
            return part
        name = repr(part)
        if name not in self.made:
            self.made[name] = self.make(*part)
        return self.made[name]

    def make(self, operation: str, *rest: Any) -> Any:
        match operation:
            case "column":
                return self.table_column(*rest)
            case "integer":
                return int(rest[0])
            case "date" | "datetime":
                return pd.Timestamp(rest[0]).as_unit("us")
            case "=" | "<>" | "<" | "<=" | ">" | ">=":
                one, two = self.column(rest[0]), self.read(rest[1])
                return known(OPERATORS[operation](one, two), one, two)
            case "+" | "-" | "*" | "/":
                return finite(OPERATORS[operation](self.column(rest[0]), self.column(rest[1])))
            case "in":
                one = self.column(rest[0])
                return known(one.isin([self.read(part) for part in rest[1:]]), one)
            case "matches":
                one = self.column(rest[0])
                shape = re.compile(rest[1], re.DOTALL)
                return known(one.map(lambda text: shape.fullmatch(text) is not None, "ignore"), one)
            case "and" | "or":
                joint = operator.and_ if operation == "and" else operator.or_
                made = self.column(rest[0])
                for part in rest[1:]:
                    made = joint(made, self.column(part))
                return made
            case "not":
                return ~self.column(rest[0])
            case "true":
                return self.truth(rest[0])
            case "unknown":
                return self.column(rest[0]).isna().astype("boolean")
            case "points":
                counted = [w * self.truth(part).astype("int64") for w, part in rest[1:]]
                return (sum(counted[1:], counted[0]) >= rest[0]).astype("boolean")
            case "coalesce":
                made = self.column(rest[0])
                for part in rest[1:]:
                    made = made.where(made.notna(), self.column(part))
                return made
            case "to_number":
                return self.column(rest[0]).astype("Float64")
            case "abs":
                return self.column(rest[0]).abs()
            case "negative":
                return -self.column(rest[0])
        return self.call(operation, self.column(rest[0]))

    def call(self, operation: str, made: Any) -> Any:
        match operation:
            case "midnight":
                return made
            case "lower" | "upper":
                old, new = ("upper", "lower") if operation == "lower" else ("lower", "upper")
                letters = str.maketrans(RULES["letters"][old], RULES["letters"][new])
                return made.map(lambda text: text.translate(letters), "ignore").astype(TEXT)
            case "trim":
                return made.str.strip(" ")
            case "length":
                return made.str.len().astype("Int64")
            case "weekday":
                return (made.dt.day_of_week + 1).astype("Int64")
            case "year" | "month" | "day":
                return getattr(made.dt, operation).astype("Int64")
        raise ValueError(f"the rules have an operation {operation!r}, which this program lacks")

    def table_column(self, name: str, kind: str) -> Any:
        """A column of the frame in the type that the rules want."""
        given = self.frame[name]
        types: dict[str, Any] = {"bool": "boolean", "integer": "Int64", "number": "Float64"}
        found = pd.api.types.infer_dtype(given, skipna=True)
        wrong = {"bool": ("string",), "text": ("integer", "floating", "boolean", "mixed-integer")}
        if found in wrong.get(kind, ("string", "boolean") if kind in types else ()):
            raise TypeError(f"column {name!r} should hold {kind}, but it holds {found}")
        if kind in ("text", "integer"):  # pandas casts whole numbers of Arrow by way of floats
            given = given.astype(object).where(given.notna(), None)
        if kind == "text":
            return given.astype(TEXT)
        if kind in types:
            made = pd.Series(pd.array(given, dtype=types[kind]), index=given.index)
            return finite(made) if kind == "number" else made
        made = pd.to_datetime(given)
        if made.dt.tz is not None:
            made = made.dt.tz_convert("UTC").dt.tz_localize(None)
        return made.dt.as_unit("us")


def known(made: Any, *parts: Any) -> Any:
    """A condition that is unknown where a part is."""
    made = made.astype("boolean")
    for part in parts:
        if isinstance(part, pd.Series):
            made = made.mask(part.isna())
    return made


def finite(numbers: Any) -> Any:
    """Numbers, unknown where they are not finite."""
    return numbers.mask(~np.isfinite(numbers.to_numpy(dtype=np.float64, na_value=np.nan)))
