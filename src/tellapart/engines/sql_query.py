"""The query that an SQL engine runs: columns cleaned, the clause by CASE, its label and example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from tellapart.engines.predict import Answers
from tellapart.export.dialects import lowering
from tellapart.export.sql import Dialect, to_sql
from tellapart.export.sql_nodes import string
from tellapart.features.tree import Type, Value
from tellapart.model import DecisionList


class Query:
    """SQL in one dialect (duckdb or spark), over columns of `types`."""

    def __init__(self, dialect: Dialect, types: Mapping[str, Type]) -> None:
        self.dialect, self.types = dialect, types
        self.language = lowering(dialect)()

    def name(self, name: str) -> str:
        return self.language.sql(exp.Identifier(this=name, quoted=True))

    def text(self, text: str) -> str:
        return self.language.sql(string(text))

    def select(
        self,
        model: DecisionList,
        names: Sequence[str],
        source: str,
        cleaned: Mapping[str, str],
        keep: Sequence[str],
    ) -> str:
        """`cleaned` and `keep` are the SQL of the columns the model reads, and of those to keep,
        over the columns of `source`; `names` are the columns of the result."""
        answers = Answers.of(model)
        kept = [self.name(f"kept {n}") for n in range(len(keep))]
        inner = [f"{made} AS {self.name(name)}" for name, made in cleaned.items()]
        inner += [f"{made} AS {here}" for made, here in zip(keep, kept, strict=True)]
        case = to_sql(model, self.dialect, value="clause", schema=self.types)
        outer = [f"{here} AS {self.name(n)}" for n, here in zip(names, kept, strict=False)]
        label, clause, example = (self.name(name) for name in names[-3:])
        labels = [self._label(answers, label) for label in answers.labels]
        examples = ["NULL" if e is None else self.text(e) for e in answers.examples]
        outer += [f"{self._pick(labels)} AS {label}", f"clause AS {clause}"]
        outer += [f"{self._pick(examples)} AS {example}"]
        middle = ", ".join([*kept, f"CAST({case} AS INT) AS clause"])
        return (
            f"SELECT {', '.join(outer)} FROM (SELECT {middle}"
            f" FROM (SELECT {', '.join(inner) or '1 AS nothing'} FROM {source}) AS items) AS found"
        )

    def _label(self, answers: Answers, label: object) -> str:
        if label is None:
            return "NULL"
        if answers.type is Type.INTEGER:
            return f"CAST({label} AS BIGINT)"
        return self.language.sql(self.language.literal(Value(label, answers.type), answers.type))

    def _pick(self, values: Sequence[str]) -> str:
        """The value of a clause by its number."""
        if all(value == "NULL" for value in values):
            return self.language.sql(exp.cast(exp.null(), exp.DType.TEXT))
        cases = " ".join(f"WHEN {n} THEN {value}" for n, value in enumerate(values, 1))
        return f"CASE clause {cases} END"
