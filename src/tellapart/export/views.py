"""A model as one SELECT that a reviewer can read: label, rule, because, like, is_sure of each row.

Its parts: `numbers` has the columns of numbers without NaN and infinity; `conditions` names every
condition once; `points` adds up what they count; `matches` has the number of the first rule that
applies; `rules` is the list of rules, as a table.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import tellapart
from tellapart.errors import ExportError, ParameterError
from tellapart.export import feature_trees
from tellapart.export.sql import Dialect, label_values
from tellapart.export.text import Answer, answers, reachable
from tellapart.features import Expression, canonical, tree
from tellapart.features.expression import zoned
from tellapart.features.phrasing import counted, spoken
from tellapart.features.tree import Node
from tellapart.model import Clause, DecisionList

if TYPE_CHECKING:
    from sqlglot import exp

    from tellapart.export.lowering import Lowering

OURS = Answer._fields
"""The columns of the SELECT, after those that are kept."""

_BREAK = "\0"
"""Stands for the end of a line inside a text or a name, which must not be indented."""
_WIDEST = 100
_LONGEST_NAME = 40
_WORDS = {
    ">=": "at least", "<=": "at most", "<>": "is not", ">": "above", "<": "below", "=": "is",
    "*": "times", "/": "by", "+": "plus",
}  # fmt: skip


def to_select(
    model: DecisionList,
    dialect: Dialect = "duckdb",
    *,
    table: str,
    keep: Sequence[str] = (),
    schema: Mapping[str, Any] | None = None,
    clean: bool = False,
    error: float = 0.05,
    about: Sequence[str] = (),
) -> str:
    """The model as one SELECT over a table.

    It gives every row the columns that are kept and then `label`, `rule` (the number of the clause
    that applied, from 1, as in `to_text`), `because` (its sentence), `like` (its example) and
    `is_sure`: whether the error of the clause is at most `error`, by its record; NULL for a model
    without records. Labels are those of `model.predict`, as in `to_sql`.

    Parameters
    ----------
    model : DecisionList
    dialect : str, default="duckdb"
    table : str
        What to read: a name, or several with dots between them (`zoo.animals`). A name with other
        signs stands in double quotes.
    keep : sequence of str
        Columns of the table to give as well.
    schema, clean
        As in `to_sql`.
    error : float, default=0.05
    about : sequence of str
        Lines of comment, such as `Session.about` writes: who taught the model, and what is known of
        its error.

    Examples
    --------
    >>> import tellapart as ta
    >>> walks = ta.parse_feature("legs >= 4", {"legs": "integer"})
    >>> model = DecisionList(
    ...     (Clause((ta.Literal("milk"), ta.Literal(walks, False)), "whale", "orca"),),
    ...     default=Clause((), "duck"))
    >>> print(to_select(model, table="animals", keep=["id"]))
    -- A label for every row of animals, by 2 rules: the first that applies wins.
    --   1. It is whale, like orca, if milk, unless legs >= 4.
    --   2. Otherwise it is duck.
    -- Written by tellapart 0.1.0.
    WITH conditions AS (
      SELECT
        id,
        milk IS TRUE AS milk_is_true,
        (legs >= 4) IS TRUE AS legs_at_least_4
      FROM animals
    ),
    matches AS (
      SELECT
        id,
        CASE
          WHEN milk_is_true AND NOT legs_at_least_4 THEN 1
          ELSE 2
        END AS rule
      FROM conditions
    ),
    rules AS (
      SELECT
        1 AS rule,
        'whale' AS label,
        'orca' AS "like",
        CAST(NULL AS BOOLEAN) AS is_sure,
        'It is whale, like orca, if milk, unless legs >= 4.' AS because
      UNION ALL SELECT 2, 'duck', NULL, NULL, 'Otherwise it is duck.'
    )
    SELECT
      matches.id,
      rules.label,
      rules.rule,
      rules.because,
      rules."like",
      rules.is_sure
    FROM matches
    JOIN rules ON rules.rule = matches.rule
    """
    made = Select(model, dialect, keep, schema or {}, clean, error)
    return made.head(table, about) + made.query(made.place(table), avoid=table_names(table))


def to_view(
    model: DecisionList,
    dialect: Dialect = "duckdb",
    *,
    name: str,
    table: str,
    keep: Sequence[str] = (),
    schema: Mapping[str, Any] | None = None,
    clean: bool = False,
    error: float = 0.05,
    about: Sequence[str] = (),
) -> str:
    """The statement that makes, or replaces, a view of what `to_select` gives.

    >>> model = DecisionList((), Clause((), "duck"))
    >>> print(to_view(model, "sqlite", name="labels", table="animals"))
    -- A label for every row of animals, by 1 rule.
    --   1. It is duck.
    -- Written by tellapart 0.1.0.
    DROP VIEW IF EXISTS labels;
    CREATE VIEW labels AS
    WITH matches AS (
      SELECT
        1 AS rule
      FROM animals
    ),
    ...
    """
    made = Select(model, dialect, keep, schema or {}, clean, error)
    create = made.language.create_view(made.place(name, "name")).replace(_BREAK, "\n")
    query = made.query(made.place(table), avoid=table_names(table))
    return f"{made.head(table, about)}{create}\n{query};"


class Select:
    """The SELECT of a model, still without its table."""

    def __init__(
        self,
        model: DecisionList,
        dialect: str,
        keep: Sequence[str],
        schema: Mapping[str, Any],
        clean: bool,
        error: float,
    ) -> None:
        from tellapart.export.dialects import lowering

        feature_trees.check_reading(model)
        if isinstance(keep, str):
            raise ParameterError(f"keep is a list of columns, got the text {keep!r}")
        self.model, self.clauses = model, reachable(model)
        self.answers = answers(model, error)
        self.keep = list(dict.fromkeys(keep))
        taken = [name for name in self.keep if name.lower() in OURS]
        if taken:
            raise ParameterError(
                f"the SELECT has a column {taken[0]!r} of its own, so it cannot keep the table's."
                " Rename that column in a view, and read the view"
            )
        made = partial(lowering(dialect), clean=clean, zoned=zoned(schema))
        self.table_language: Lowering = made()
        types = feature_trees.types_of(model, schema)
        trees = [self.literals(clause, types) for clause in self.clauses[:-1]]
        read = [column for parts in trees for part in parts for column in tree.columns(part)]
        self.read = list(dict.fromkeys(read))
        """The columns that the model reads."""
        self.taken = {
            name.lower() for name in (*self.keep, *(one.name for one in self.read), *OURS)
        }
        self.finite = {
            column.name: self.free(slug(f"finite {column.name}"))
            for column in self.read
            if self.table_language.may_hold_nan(column)
        }
        self.new_language = partial(made, finite_columns=self.finite)
        self.language: Lowering = self.new_language()
        self.conditions: dict[Node, str] = {}
        """Every condition by its tree, in order of appearance, with its name."""
        self.sums: dict[tuple[tuple[Node, int], ...], str] = {}
        """Points by their terms, with the name of the sum."""
        self.branches = [self.applies(parts) for parts in trees]

    def literals(self, clause: Clause, types: feature_trees.Types) -> list[Node]:
        try:
            return [feature_trees.literal_tree(literal, types) for literal in clause.literals]
        except ExportError as error:
            name = self.table_language.name
            raise ExportError(f"cannot write '{clause}' for {name}: {error}") from None

    # -- what a clause asks, in the names of its conditions

    def applies(self, parts: Sequence[Node]) -> str:
        from sqlglot import exp

        return self.sql(self.language.chain(exp.And, [self.truth(part) for part in parts]))

    def truth(self, node: Node, *, counted: bool = False) -> exp.Expr:
        """Whether a condition is true, said by named conditions, which are never unknown.

        Points inside points (`counted`) have no name for their sum.
        """
        from sqlglot import exp

        match node:
            case tree.And() | tree.Or():
                kind = exp.And if isinstance(node, tree.And) else exp.Or
                parts = [self.truth(part, counted=counted) for part in node.parts]
                return self.language.chain(kind, parts)
            case tree.IsTrue():
                return self.unless(node.negated, self.truth(node.operand, counted=counted))
            case tree.IsNull(negated=True):
                return self.unless(True, self.truth(canonical.negate(node)))
            case tree.Points():
                terms = self.terms(node.terms)
                if counted:
                    total = self.language.chain(exp.Add, terms)
                else:
                    if node.terms not in self.sums:
                        self.sums[node.terms] = self.free(f"points_{len(self.sums) + 1}")
                    total = _column(self.sums[node.terms])
                op = "<" if node.negated else ">="
                return self.language.operator(op, total, _whole(node.at_least))
            case tree.Value():
                return self.language.condition(node)
        if node not in self.conditions:
            self.conditions[node] = self.free(condition_name(node))
        return self.language.named(_column(self.conditions[node]))

    def terms(self, terms: Sequence[tuple[Node, int]]) -> list[exp.Expr]:
        """What every condition counts."""
        from sqlglot import exp

        truths = [(self.truth(part, counted=True), weight) for part, weight in terms]
        return [
            exp.Case(ifs=[exp.If(this=made, true=_whole(weight))], default=_whole(0))
            for made, weight in truths
        ]

    def unless(self, negated: bool, made: exp.Expr) -> exp.Expr:
        from tellapart.export.sql_nodes import opposite

        return opposite(made) if negated else made

    def free(self, name: str) -> str:
        """A name that nothing has: no column that is read or kept, as some engines would then take
        the one for the other."""
        number, first = 1, name
        while name in self.taken:
            number += 1
            name = f"{first}_{number}"
        self.taken.add(name)
        return name

    # -- texts

    def place(self, table: str, what: str = "table") -> str:
        """The name of a table or a view as SQL."""
        return ".".join(self.quoted(part) for part in table_names(table, what))

    def quoted(self, name: str) -> str:
        from tellapart.export.sql_nodes import identifier

        return self.sql(identifier(name))

    def ours(self, name: str) -> str:
        """One of our own columns."""
        from sqlglot import exp

        return self.sql(exp.to_identifier(name, quoted=name in self.language.reserved))

    def sql(self, made: exp.Expr) -> str:
        return self.escaped(self.language.sql(made).replace("\n", _BREAK))

    def escaped(self, sql: str) -> str:
        """SQL as it stands in the file; `dbt` has signs that mean something else there."""
        return sql

    def head(self, table: str, about: Sequence[str]) -> str:
        many = len(self.clauses) > 1
        lines = [
            f"A label for every row of {table}, by {counted(len(self.clauses), 'rule')}"
            + (": the first that applies wins." if many else "."),
            *(f"  {answer.rule}. {answer.because}" for answer in self.answers),
            *about,
            f"Written by tellapart {tellapart.__version__}.",
        ]
        return "".join(f"{comment(line)}\n" for line in lines)

    def query(self, table: str, *, avoid: Sequence[str] = ()) -> str:
        """The SELECT, from a table as SQL writes it; no part of it gets a name in `avoid`."""
        parts, kept = [], self.kept()
        names = {one: one for one in ("numbers", "conditions", "points", "matches", "rules")}
        while {name.lower() for name in avoid} & set(names.values()):
            names = {one: f"{name}_" for one, name in names.items()}
        source = table
        if self.finite:
            parts.append((names["numbers"], _select(self.numbers(), source)))
            source = names["numbers"]
        if self.conditions:
            lines = [*kept, *(self.condition(*pair) for pair in self.conditions.items())]
            parts.append((names["conditions"], _select(lines, source)))
            source = names["conditions"]
        if self.sums:
            sums = [
                "\n+ ".join(map(self.sql, self.terms(terms))) + f" AS {name}"
                for terms, name in self.sums.items()
            ]
            parts.append((names["points"], _select([f"{source}.*", *sums], source)))
            source = names["points"]
        parts.append((names["matches"], _select([*kept, self.rule()], source)))
        parts.append((names["rules"], self.rules()))
        matches, rules = names["matches"], names["rules"]
        given = self.kept(f"{matches}.")
        given += [f"{rules}.{self.ours(name)}" for name in OURS]
        rule = self.ours("rule")
        last = _select(given, f"{matches}\nJOIN {rules} ON {rules}.{rule} = {matches}.{rule}")
        whole = ",\n".join(f"{name} AS (\n{_indent(made)}\n)" for name, made in parts)
        return f"WITH {whole}\n{last}".replace(_BREAK, "\n")

    def kept(self, before: str = "", also: Sequence[str] = ()) -> list[str]:
        """The columns that are kept, and others unless they are among them."""
        names = dict.fromkeys([*self.keep, *also])
        return [f"{before}{self.quoted(name)}" for name in names]

    def numbers(self) -> list[str]:
        """The columns that are kept or read, numbers as doubles that are finite or unknown."""
        guarded = [one for one in self.read if self.table_language.may_hold_nan(one)]
        lines = self.kept(also=[one.name for one in self.read if one not in guarded])
        finite = []
        for column in guarded:
            made = self.wrapped(self.table_language, self.table_language.guarded(column))
            finite.append(f"{made} AS {self.quoted(self.finite[column.name])}")
        finite[0] = f"{comment('NaN and infinity count as unknown')}\n{finite[0]}"
        return [*lines, *dict.fromkeys(finite)]

    def wrapped(self, language: Lowering, made: exp.Expr) -> str:
        """SQL on several lines, if it is long."""
        written = self.sql(made)
        if len(written) > _WIDEST and _BREAK not in written:
            return self.escaped(language.sql(made, pretty=True))
        return written

    def condition(self, node: Node, name: str) -> str:
        """A condition and its name; its own text stands above where the SQL hides it."""
        language, text = self.new_language(), tree.text(node)
        try:
            made = language.condition(node)
        except ExportError as error:
            raise ExportError(f"cannot write {text!r} for {language.name}: {error}") from None
        bare = self.sql(made)
        column = language.certain(made, canonical.is_true(node) is node)
        written = self.wrapped(language, column)
        above = "" if len(bare) <= len(text) + 20 else f"{self.escaped(comment(text))}\n"
        return f"{above}{written} AS {self.quoted(name)}"

    def rule(self) -> str:
        if not self.branches:
            return f"1 AS {self.ours('rule')}"
        lines = [f"  WHEN {made} THEN {n}" for n, made in enumerate(self.branches, 1)]
        return "\n".join(
            ["CASE", *lines, f"  ELSE {len(self.clauses)}", f"END AS {self.ours('rule')}"]
        )

    def rules(self) -> str:
        from tellapart.export.sql_nodes import string

        language, given = self.language, self.answers
        labels = label_values(self.clauses, language)
        columns: dict[str, list[str]] = {
            "rule": [str(one.rule) for one in given],
            "label": [self.escaped(cell.replace("\n", _BREAK)) for cell in labels],
            "like": ["NULL" if o.like is None else self.sql(string(o.like)) for o in given],
            "is_sure": [
                "NULL" if o.is_sure is None else self.sql(language.truth(o.is_sure)) for o in given
            ],
            "because": [self.sql(string(one.because)) for one in given],
        }
        kinds = {"like": "text", "is_sure": "bool", "label": self.label_type()}
        for name, kind in kinds.items():
            if columns[name][0] == "NULL":  # the first row says which type a column has
                columns[name][0] = self.sql(language.unknown(kind))
        rows = list(zip(*columns.values(), strict=True))
        first = [
            f"{cell} AS {self.ours(name)}" for name, cell in zip(columns, rows[0], strict=True)
        ]
        more = [f"UNION ALL SELECT {', '.join(row)}" for row in rows[1:]]
        return "\n".join([_select(first), *more])

    def label_type(self) -> str:
        from tellapart.export.sql import label_kind

        kind = label_kind([clause.label for clause in self.clauses])
        return {str: "text", bool: "bool", int: "integer", float: "number"}[kind]


def _column(name: str) -> exp.Expr:
    from sqlglot import exp

    from tellapart.export.sql_nodes import identifier

    return exp.Column(this=identifier(name))


def _whole(number: int) -> exp.Expr:
    from tellapart.export.sql_nodes import whole

    return whole(number)


def _select(lines: Sequence[str], source: str | None = None) -> str:
    listed = ",\n".join(_indent(line) for line in lines)
    return f"SELECT\n{listed}" + ("" if source is None else f"\nFROM {source}")


def _indent(text: str) -> str:
    return "  " + text.replace("\n", "\n  ")


def comment(text: str, sign: str = "--") -> str:
    """Lines of comment; signs that would end a line are spaces.

    >>> comment("two\\nlines"), comment("two\\nlines", "#")
    ('-- two lines', '# two lines')
    """
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    deep = " " * (len(plain) - len(plain.lstrip()) + 3)
    return "\n".join(
        textwrap.wrap(
            plain, _WIDEST, initial_indent=f"{sign} ", subsequent_indent=f"{sign}{deep}",
            break_long_words=False, break_on_hyphens=False,
        )
    )  # fmt: skip


def condition_name(node: Node) -> str:
    """A name that tells what a condition says.

    >>> from tellapart.features import parse_feature
    >>> schema = {"price": "number", "sold": "bool", "größe": "integer"}
    >>> for said in ("price >= 2.5", "NOT sold", "größe IS NULL", "price * größe < -1"):
    ...     print(condition_name(parse_feature(said, schema).tree))
    price_at_least_2_5
    sold_is_false
    grosse_is_unknown
    grosse_times_price_below_minus_1
    """
    if isinstance(node, tree.Column):
        said = f"{node.name} is true"
    elif isinstance(node, tree.Not) and isinstance(node.operand, tree.Column):
        said = f"{node.operand.name} is false"
    else:
        said = spoken(Expression(node)).replace("(case matters)", "")
    return slug(said)


def slug(said: str) -> str:
    """A text as a name of plain letters."""
    said = re.sub(r"(?<=\d),(?=\d{3})", "", said.replace("ß", "ss"))
    said = re.sub(r"(?<![^\s(])-(?=[\s\d])", " minus ", said)
    said = re.sub("|".join(map(re.escape, _WORDS)), lambda sign: f" {_WORDS[sign[0]]} ", said)
    plain = unicodedata.normalize("NFKD", said).encode("ascii", "ignore").decode().lower()
    words = [word for word in re.split("[^a-z0-9]+", plain) if word]
    while len(words) > 1 and len("_".join(words)) > _LONGEST_NAME:
        words.pop()
    name = "_".join(words)[:_LONGEST_NAME]
    return name if name and name[0].isalpha() else f"c_{name}".rstrip("_")


def labels_of(table: str) -> str:
    """What a view of a table's labels is called: it stands beside the table.

    >>> labels_of("animals"), labels_of('zoo."old.animals"')
    ('animals_labels', 'zoo."old.animals_labels"')
    """
    *places, last = table_names(table)
    parts = [*places, f"{last}_labels"]
    plain = re.compile(r'[^".]+')
    return ".".join(
        part if plain.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts
    )


def table_names(table: str, what: str = "table") -> list[str]:
    """The parts of a name with dots; in double quotes, a dot is a dot.

    >>> table_names('zoo."old.animals"')
    ['zoo', 'old.animals']
    """
    if not re.fullmatch(r'(?:"(?:[^"]|"")+"|[^".]+)(?:\.(?:"(?:[^"]|"")+"|[^".]+))*', table):
        raise ParameterError(
            f'{what} is a name such as animals, zoo.animals or zoo."old.animals", got {table!r}'
        )
    found = re.findall(r'"((?:[^"]|"")+)"|([^".]+)', table)
    return [quoted.replace('""', '"') or plain for quoted, plain in found]
