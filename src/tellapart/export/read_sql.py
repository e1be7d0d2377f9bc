"""A CASE WHEN as a model: one that was exported by its line of comment, others by rewriting.

sqlglot parses the SQL; conditions are rewritten until the parser of features (`grammar`) reads
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from tellapart.errors import FeatureError, ParameterError
from tellapart.export.sql import stamp_of
from tellapart.features import Expression, grammar, tree
from tellapart.features.canonical import negate
from tellapart.features.expression import types as read_types
from tellapart.features.tree import Node, Type
from tellapart.model import Clause, DecisionList, Literal

if TYPE_CHECKING:
    from sqlglot import exp

_DIGITS = 400
"""A label with more is no number that anybody means."""
_SLACK = 4  # what was rewritten may be longer

_BACKSLASH = ("bigquery", "clickhouse", "databricks", "mysql", "postgres", "redshift", "spark")
"""The dialects in which a backslash in a pattern is an escape."""
_PLAIN = frozenset(
    (
        "EQ", "NEQ", "LT", "LTE", "GT", "GTE", "And", "Or", "Not", "Paren", "Like", "ILike",
        "Escape", "In", "Between", "Is", "Null", "Boolean", "Literal", "Column", "Identifier",
        "Neg", "Add", "Sub", "Mul", "Div", "Abs", "Lower", "Upper", "Trim", "Length", "Coalesce",
        "Contains", "StartsWith", "EndsWith", "Year", "Month", "Day", "Introducer", "Var",
        "Weekday",
    )
)  # fmt: skip
"""The kinds of sqlglot's nodes that features have, too."""
_TEXTS = ("Lower", "Upper", "Trim")
_NUMBERS = ("Add", "Sub", "Mul", "Div", "Abs")
_TAKES = {
    **dict.fromkeys(("Like", "ILike", "Contains", "StartsWith", "EndsWith", "Length"), Type.TEXT),
    **dict.fromkeys(_TEXTS, Type.TEXT),
    **dict.fromkeys(("Extract", "Year", "Month", "Day", "Weekday"), Type.DATETIME),
    **dict.fromkeys((*_NUMBERS, "Neg", "Nullif"), Type.NUMBER),
    **dict.fromkeys(("Case", "If", "And", "Or", "Not"), Type.BOOL),
}
"""The types of what stands in a node."""
_GIVES = {
    **dict.fromkeys((*_TEXTS, "Literal"), Type.TEXT),
    **dict.fromkeys((*_NUMBERS, "Length"), Type.NUMBER),
    "Boolean": Type.BOOL,
}
"""The types of nodes."""


def from_sql(
    text: str,
    dialect: str = "duckdb",
    *,
    schema: Mapping[str, Any] | None = None,
    column: str | None = None,
) -> DecisionList:
    """The model that a CASE WHEN says, as our feature language understands it.

    Parameters
    ----------
    text : str
        A CASE expression; or a SELECT, a view or a query with such a column, also what tellapart
        wrote.
    dialect : str, default="duckdb"
        Any dialect that sqlglot parses.
    schema : mapping from column to type
        What the columns hold. For columns that are not in it, the SQL says so: `legs > 3` reads a
        number, `name LIKE 'a%'` a text, `milk AND ...` a bool.
    column : str
        The column that is the label, where a SELECT has several with a CASE.

    Returns
    -------
    DecisionList
        A clause for every WHEN. What cannot be read is a `FeatureError` that names its place.

    Examples
    --------
    >>> print(from_sql('''
    ...     CASE WHEN milk AND legs >= 4 THEN 'bear'
    ...          WHEN name LIKE 'd%' OR wings = 2 THEN 'duck' END'''))
    if legs >= 4 and milk: bear
    else if name LIKE 'd%' OR wings = 2: duck
    else: unknown
    >>> from_sql("CASE WHEN soundex(name) = 'B6' THEN 'bear' END")
    Traceback (most recent call last):
    ...
    tellapart.errors.FeatureError: SOUNDEX cannot be read: SOUNDEX(name) (line 1, column ...)
    """
    model = stamp_of(text)
    if model is not None:
        return model
    try:
        case = _case(_parse(text, dialect), column)
        _unqualify(case)
        types = infer_types(case, read_types(schema or {}))
        return _model(case, _Rewriter(types, dialect, frozenset(schema or {})))
    except RecursionError:
        raise FeatureError("the SQL is nested too deeply; use fewer brackets") from None


def _model(case: exp.Case, rewriter: _Rewriter) -> DecisionList:
    from sqlglot import exp

    clauses = []
    last: exp.Expr | None = case
    while isinstance(last, exp.Case):  # ELSE CASE goes on
        for branch in last.args["ifs"]:
            asked = branch.this
            if last.this is not None:
                asked = exp.EQ(this=last.this.copy(), expression=asked.copy())
            literals = _literals(rewriter.condition(asked))
            if literals is not None:
                clauses.append(Clause(literals, _label(branch.args["true"]), None, "sql"))
        last = last.args.get("default")
        last = last if last is None else _bare(last)
    return DecisionList(tuple(clauses), Clause((), _label(last), None, "sql"))


def _parse(text: str, dialect: str) -> exp.Expr:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        known = sqlglot.Dialect.get_or_raise(dialect)
    except ValueError:
        raise ParameterError(f"sqlglot knows no dialect {dialect!r}") from None
    try:
        found = [one for one in sqlglot.parse(text, dialect=known) if one is not None]
    except SqlglotError as error:
        where = getattr(error, "errors", None) or [{}]
        line, place = where[0].get("line"), where[0].get("col")
        at = "" if line is None else f" at line {line}, column {place}"
        said = where[0].get("description") or str(error).partition("\n")[0]
        raise FeatureError(f"this is no SQL of {dialect}{at}: {said}") from None
    found = [one for one in found if not isinstance(one, exp.Drop | exp.Semicolon)]
    if len(found) != 1:
        raise FeatureError(f"one statement is wanted, and there are {len(found)}")
    for node in found[0].walk():
        node.comments = None
    return found[0]


def _label(node: exp.Expr | None) -> Any:
    """A text, a number, a bool or NULL."""
    from sqlglot import exp

    match node:
        case None | exp.Null():
            return None
        case exp.Paren():
            return _label(node.this)
        case exp.Cast() | exp.TryCast():
            found, kind = _label(node.this), node.args["to"].this
            if isinstance(found, int) and kind in (exp.DType.BIT, exp.DType.BOOLEAN):
                return bool(found)
            number = isinstance(found, int | float) and kind in exp.DataType.REAL_TYPES
            return float(found) if number else found
        case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -_label(node.this)
        case exp.Boolean():
            return bool(node.this)
        case exp.National():
            return node.name
        case exp.Literal(is_string=True):
            return node.this
        case exp.Literal() if len(node.this) < _DIGITS:
            return int(node.this) if node.this.isdigit() else float(node.this)
    _refuse("a label must be a text, a number, a bool or NULL", node)


def _refuse(what: str, node: exp.Expr) -> NoReturn:
    """Say what cannot be read, and where it stands."""
    shown = grammar.short(node.sql())
    where: exp.Expr | None = node
    while where is not None:
        places = [one.meta for one in where.walk() if "line" in one.meta]
        if places:
            first = min((place["line"], place["col"]) for place in places)
            raise FeatureError(f"{what}: {shown} (line {first[0]}, column {first[1]})")
        where = where.parent
    raise FeatureError(f"{what}: {shown}")


class _Rewriter:
    """Conditions of a dialect as features write them."""

    def __init__(self, types: Mapping[str, Type], dialect: str, given: frozenset[str]) -> None:
        self.types, self.dialect, self.given = types, dialect, given
        self.names = grammar.Names(types)

    def condition(self, node: exp.Expr) -> Node:
        from sqlglot import exp

        made = self.plain(node.copy())
        bare = made
        while isinstance(bare, exp.Paren):
            bare = bare.this
        if isinstance(bare, exp.Boolean):
            return tree.Value(bool(bare.this), Type.BOOL)
        for one in made.walk():
            if type(one).__name__ not in _PLAIN:
                _refuse(f"{one.key.upper()} cannot be read", one)
        for one in made.find_all(exp.Column):
            if self.type_of(one) is None:
                what = f"nothing says what the column {one.name!r} holds"
                raise FeatureError(f"{what}: give its type in the schema")
        text = made.sql("duckdb")
        try:
            return grammar.parse(text, self.types, slack=_SLACK)
        except FeatureError as error:
            said = str(error).partition("\n")[0].partition(". Allowed")[0]
            _refuse(said.rstrip("."), node)

    def type_of(self, node: exp.Expr) -> Type | None:
        """The type of a column; None for anything else."""
        from sqlglot import exp

        while isinstance(node, exp.Paren):
            node = node.this
        if not isinstance(node, exp.Column):
            return None
        quoted = bool(node.this.args.get("quoted"))
        found = self.names.find(node.name, quoted=quoted)
        return None if found is None else self.types[found]

    def plain(self, node: exp.Expr) -> exp.Expr:
        """A node with everything below it rewritten, in place."""
        for child in list(node.iter_expressions()):
            made = self.plain(child)
            if made is not child:
                child.replace(made)
        rewrite: Callable[[Any], exp.Expr] | None = getattr(self, f"_{node.key}", None)
        return node if rewrite is None else rewrite(node)

    def _eq(self, node: exp.EQ) -> exp.Expr:
        """1 = 1 is true; a bool that is 1 is true."""
        from sqlglot import exp

        left, right = node.this, node.expression
        if isinstance(left, exp.Literal) and isinstance(right, exp.Literal):
            return exp.true() if left == right else exp.false()
        if self.type_of(left) is Type.BOOL and right.sql() in ("0", "1"):
            return exp.EQ(this=left, expression=exp.true() if right.sql() == "1" else exp.false())
        return node

    def _like(self, node: exp.Expr) -> exp.Expr:
        from sqlglot import exp

        escaped = self.dialect in _BACKSLASH and "\\" in node.expression.name
        if escaped and not isinstance(node.parent, exp.Escape):
            return exp.Escape(this=node, expression=exp.Literal.string("\\"))
        return node

    _ilike = _like

    def _nullif(self, node: exp.Nullif) -> exp.Expr:
        """x / NULLIF(y, 0): a division by zero is unknown anyway."""
        if node.expression.sql() in ("0", "0.0"):
            operand: exp.Expr = node.this
            return operand
        _refuse("NULLIF cannot be read", node)

    def _div(self, node: exp.Div) -> exp.Expr:
        from sqlglot import exp

        return exp.Div(this=node.this, expression=node.expression)

    def _national(self, node: exp.National) -> exp.Expr:
        from sqlglot import exp

        return exp.Literal.string(node.name)

    def _extract(self, node: exp.Extract) -> exp.Expr:
        from sqlglot import exp

        part = node.name.upper()
        made = {"YEAR": exp.Year, "MONTH": exp.Month, "DAY": exp.Day}.get(part)
        if made is None:
            _refuse(f"EXTRACT({part} ...) cannot be read", node)
        return made(this=node.expression)

    def _case(self, node: exp.Case) -> exp.Expr:
        """CASE WHEN a THEN 2 ELSE 0 END counts 2 points for a."""
        from sqlglot import exp

        ifs, default = node.args["ifs"], node.args.get("default")
        if node.this is None and len(ifs) == 1 and default is not None and default.sql() == "0":
            weight = ifs[0].args["true"]
            if weight.sql().lstrip("-").isdigit():
                return exp.Mul(this=weight, expression=exp.Paren(this=ifs[0].this))
        _refuse("a CASE inside a condition cannot be read", node)

    def _cast(self, node: exp.Expr) -> exp.Expr:
        """A cast that changes nothing is left out; a cast text is a date or a time."""
        from sqlglot import exp

        operand: exp.Expr = node.this
        kind, known = node.args["to"].this, self.type_of(operand)
        whole = kind in exp.DataType.INTEGER_TYPES
        if kind in exp.DataType.TEMPORAL_TYPES and operand.is_string:
            word = "DATE" if kind == exp.DType.DATE else "TIMESTAMP"
            return exp.Introducer(this=exp.var(word), expression=operand)
        if whole and isinstance(operand, exp.Column) and operand.name not in self.given:
            _refuse("whether this cast changes a value is said by the type of the column", node)
        same = (
            kind in exp.DataType.REAL_TYPES
            or (whole and known is Type.INTEGER)
            or (kind in exp.DataType.TEXT_TYPES and known is Type.TEXT)
            or (kind == exp.DType.DATE and known is Type.DATE)
        )
        if node.args["to"].expressions or not same:
            _refuse("a cast that may change a value cannot be read", node)
        return operand

    _trycast = _cast


def _literals(condition: Node) -> tuple[Literal, ...] | None:
    """A condition as literals: None if it is never true."""
    if isinstance(condition, tree.Value):
        return () if condition.value else None
    parts = condition.parts if isinstance(condition, tree.And) else (condition,)
    return tuple(map(_literal, parts))


def _literal(part: Node) -> Literal:
    """`x IS NOT TRUE` forbids x."""
    if isinstance(part, tree.IsTrue) and part.negated:
        return Literal(Expression(part.operand), False)
    if isinstance(part, tree.Points) and part.negated:
        return Literal(Expression(negate(part)), False)
    return Literal(Expression(part.operand if isinstance(part, tree.IsTrue) else part))


# -- the CASE of a query


def _case(root: exp.Expr, column: str | None) -> exp.Case:
    """The CASE that gives the label."""
    from sqlglot import exp

    if isinstance(root, exp.Create):
        root = root.expression
    while isinstance(root, exp.Paren | exp.Subquery):
        root = root.this
    made = _bare(root.this if isinstance(root, exp.Alias) else root)
    if isinstance(made, exp.Case):
        return made
    if isinstance(made, exp.Literal | exp.Null | exp.Boolean | exp.Cast | exp.Neg):
        return exp.Case(ifs=[], default=made)
    if not isinstance(root, exp.Query):
        raise FeatureError(f"a CASE or a SELECT is wanted, not {root.key.upper()}")
    given = [one for select in root.find_all(exp.Select) for one in select.expressions]
    bare = {one.alias_or_name: _bare(one.unalias()) for one in given}
    found = {name: one for name, one in bare.items() if isinstance(one, exp.Case)}
    if column is not None and column not in found:
        raise FeatureError(f"the SELECT has no CASE called {column!r}, only {sorted(found)}")
    if column is None and len(found) != 1:
        raise FeatureError(
            f"the SELECT has {len(found)} columns with a CASE"
            + (f" ({', '.join(found)}): name the one that is the label" if found else "")
        )
    case = found[column or next(iter(found))]
    _refuse_computed(case, root)
    return case


def _refuse_computed(case: exp.Case, root: exp.Expr) -> None:
    """Refuse a CASE over what another SELECT of the query computes or renames."""
    from sqlglot import exp

    own = case.find_ancestor(exp.Select)
    others = [select for select in root.find_all(exp.Select) if select is not own]
    made = {
        one.alias.lower()
        for select in others
        for one in select.expressions
        if isinstance(one, exp.Alias)
        and not (isinstance(one.this, exp.Column) and one.this.name.lower() == one.alias.lower())
    }
    renamed = (alias.args.get("columns") or () for alias in root.find_all(exp.TableAlias))
    made |= {name.name.lower() for names in renamed for name in names}
    for one in case.find_all(exp.Column):
        if one.name.lower() in made:
            _refuse("what an inner query computes cannot be read: put it into the CASE", one)


def _bare(node: exp.Expr) -> exp.Expr:
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.If):
        branch = exp.If(this=node.this, true=node.args["true"])
        return exp.Case(ifs=[branch], default=node.args.get("false"))
    return node


def _unqualify(case: exp.Expr) -> None:
    """n for t.n, if there is only one such t."""
    from sqlglot import exp

    columns = [one for one in case.find_all(exp.Column) if one.table]
    if len({one.table.lower() for one in columns}) == 1:
        for one in columns:
            one.set("table", None)


# -- the types of columns


def infer_types(case: exp.Case, given: Mapping[str, Type]) -> dict[str, Type]:
    """The types of columns, by how the SQL uses them; those that are given come first."""
    from sqlglot import exp

    found = dict(given)
    folded = {name.lower() for name in given}
    unknown: dict[str, list[exp.Column]] = {}
    for node in case.find_all(exp.Column):
        plain = not node.this.args.get("quoted")
        if node.name not in found and not (plain and node.name.lower() in folded):
            unknown.setdefault(node.name, []).append(node)
    for _ in range(len(unknown) + 1):
        for name, nodes in unknown.items():
            kinds = [kind for node in nodes if (kind := _use(node, found)) is not None]
            for wanted in (Type.NUMBER, Type.DATETIME):
                if wanted in kinds and not (wanted is Type.NUMBER and Type.INTEGER in kinds):
                    kinds = [wanted]
            if kinds:
                found.setdefault(name, kinds[0])
    return found


def _use(column: exp.Column, types: Mapping[str, Type]) -> Type | None:
    """The type that the SQL around a column asks of it."""
    from sqlglot import exp

    node: exp.Expr = column
    while isinstance(node.parent, exp.Paren | exp.Coalesce | exp.Collate):
        node = node.parent
    above = node.parent
    match above:
        case exp.Cast() | exp.TryCast():
            return _cast_to(above)
        case exp.Case() if above.this is node:
            beside: list[exp.Expr] = [branch.this for branch in above.args["ifs"]]
        case exp.Is():
            return None if above.find(exp.Null) else Type.BOOL
        case exp.Predicate() if type(above).__name__ not in _TAKES:  # a comparison
            beside = [other for other in above.iter_expressions() if other is not node]
        case _:
            return _TAKES.get(type(above).__name__)
    kinds = (_kind(other, types) for other in beside)
    return next((kind for kind in kinds if kind is not None), None)


def _kind(node: exp.Expr, types: Mapping[str, Type]) -> Type | None:
    """The type of what a column is compared with."""
    from sqlglot import exp

    while isinstance(node, exp.Paren | exp.Neg | exp.Collate):
        node = node.this
    match node:
        case exp.Literal(is_string=False):
            exact = node.this.isdigit() and 2**53 < float(node.this) < 2**64
            return Type.INTEGER if exact else Type.NUMBER
        case exp.Column():
            return types.get(node.name)
        case exp.Cast() | exp.TryCast():
            return _cast_to(node)
    return _GIVES.get(type(node).__name__)


def _cast_to(node: exp.Expr) -> Type:
    from sqlglot import exp

    kind = node.args["to"].this
    if kind in exp.DataType.NUMERIC_TYPES:
        return Type.NUMBER
    if kind in exp.DataType.TEMPORAL_TYPES:
        return Type.DATE if kind == exp.DType.DATE else Type.DATETIME
    return Type.TEXT
