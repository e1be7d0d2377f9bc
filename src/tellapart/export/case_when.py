"""An existing CASE WHEN as a model: rules that somebody wrote in SQL, or that were exported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tellapart.errors import FeatureError, ParameterError
from tellapart.features import Expression, tree
from tellapart.features.canonical import negate
from tellapart.features.expression import types as read_types
from tellapart.features.tree import Node, Type
from tellapart.model import Clause, DecisionList, Literal

if TYPE_CHECKING:
    from sqlglot import exp

    from tellapart.export.sql_reader import SqlReader

_Found = TypeVar("_Found")
_Rules: TypeAlias = dict[Any, tuple[Any, Any]]
"""The label and the example of each rule, by its number."""


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
        A CASE expression; or a SELECT, a view or a query with such a column, also one that
        `to_select` wrote.
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
    from tellapart.export.dialects import DIALECTS
    from tellapart.export.sql_reader import SqlReader

    case, rules = _case(_parse(text, dialect), column)
    _unqualify(case)
    types = infer_types(case, read_types(schema or {}))
    language = DIALECTS[dialect]() if dialect in DIALECTS else None
    reader = SqlReader(types, dialect, language, given=frozenset(schema or {}))
    clauses = []
    for branch in case.args["ifs"]:
        if case.this is None:
            condition = reader.condition(branch.this)
        else:
            condition = reader.comparison("=", case.this, branch.this, branch)
        literals = _literals(condition)
        if literals is not None:
            clauses.append(_clause(literals, branch.args["true"], rules, reader))
    default = _clause((), case.args.get("default"), rules, reader)
    return DecisionList(tuple(clauses), default)


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


def _clause(
    literals: tuple[Literal, ...],
    then: exp.Expr | None,
    rules: Mapping[Any, tuple[Any, Any]],
    reader: SqlReader,
) -> Clause:
    label = _constant(then, reader)
    label, example = rules.get(label, (label, None)) if rules else (label, None)
    return Clause(literals, label, example, "sql")


def _constant(node: exp.Expr | None, reader: SqlReader) -> Any:
    """A label: a text, a number, a bool or NULL."""
    from sqlglot import exp

    while isinstance(node, exp.Paren | exp.Cast | exp.TryCast):
        whole = node.args.get("to")
        node = node.this
        if whole is not None and whole.this in exp.DataType.REAL_TYPES:
            number = _constant(node, reader)
            return None if number is None else float(number)
    if node is None or isinstance(node, exp.Null):
        return None
    made = reader.read(node)
    if not isinstance(made, tree.Value):
        reader.fail("a label must be a text, a number, a bool or NULL", node)
    if made.type is Type.NUMBER and isinstance(made.value, int):
        return float(made.value)
    return made.value


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


def _case(root: exp.Expr, column: str | None) -> tuple[exp.Case, _Rules]:
    """The CASE that gives the label, with the columns of inner queries put in; and the label and
    example that each number stands for, if it gives numbers of rules."""
    from sqlglot import exp

    if isinstance(root, exp.Create):
        root = root.expression
    while isinstance(root, exp.Paren | exp.Subquery):
        root = root.this
    root = _bare(root.this if isinstance(root, exp.Alias) else root)
    if isinstance(root, exp.Case):
        return root, {}
    if isinstance(root, exp.Literal | exp.Null | exp.Boolean | exp.Cast | exp.Neg):
        return exp.Case(ifs=[], default=root), {}
    if not isinstance(root, exp.Select):
        raise FeatureError(f"a CASE or a SELECT is wanted, not {root.key.upper()}")
    with_ = root.args.get("with_")
    parts = {one.alias: one.this for one in (with_.expressions if with_ else ())}
    for one in with_.expressions if with_ else ():
        _refuse_renamed(one)
    known: dict[str, dict[str, exp.Expr]] = {}
    for name, part in parts.items():
        if isinstance(part, exp.Select):
            known[name] = _columns(part, known)
    cases = {name: _bare(made) for name, made in _columns(root, known).items()}
    found = {name: made for name, made in cases.items() if isinstance(made, exp.Case)}
    numbered = _numbered_rules(parts, known)
    if numbered is not None:
        return numbered
    if column is not None:
        if column not in found:
            raise FeatureError(f"the SELECT has no CASE called {column!r}, only {sorted(found)}")
        return found[column], {}
    if len(found) != 1:
        raise FeatureError(
            f"the SELECT has {len(found)} columns with a CASE"
            + (f" ({', '.join(found)}): name the one that is the label" if found else "")
        )
    return next(iter(found.values())), {}


def _numbered_rules(
    parts: Mapping[str, exp.Expr], known: Mapping[str, Mapping[str, exp.Expr]]
) -> tuple[exp.Case, _Rules] | None:
    """The CASE that gives the number of a rule, as `to_select` writes it, and the rules."""
    from sqlglot import exp

    rules = next((_rules(part) for part in parts.values() if isinstance(part, exp.Union)), {})
    for source in known.values():
        if "rule" in source and (rules or isinstance(_bare(source["rule"]), exp.Literal)):
            constants = rules or (_rules(parts["rules"]) if "rules" in parts else {})
            chosen = _bare(source["rule"])
            if isinstance(chosen, exp.Case):
                return chosen, constants
            if source is not known.get("rules"):
                return exp.Case(ifs=[], default=chosen), constants
    return None


def _bare(node: exp.Expr) -> exp.Expr:
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.If):
        branch = exp.If(this=node.this, true=node.args["true"])
        return exp.Case(ifs=[branch], default=node.args.get("false"))
    return node


def _columns(
    select: exp.Select, known: Mapping[str, Mapping[str, exp.Expr]]
) -> dict[str, exp.Expr]:
    """The columns of a SELECT by name, with those of earlier parts put in."""
    from sqlglot import exp

    from tellapart.export.sql_nodes import wrap

    below: dict[str, exp.Expr] = {}
    for source in _sources(select):
        if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Select):
            _refuse_renamed(source)
            below |= _columns(source.this, known)
        elif isinstance(source, exp.Table):
            below |= _named(known, source.this) or {}

    def put_in(node: exp.Expr) -> exp.Expr:
        made = _named(below, node.this) if isinstance(node, exp.Column) else None
        return node if made is None else wrap(_without_guard(made).copy())

    found = dict(below) if any(one.is_star for one in select.expressions) else {}
    for one in select.expressions:
        if not one.is_star:
            bare = one.this if isinstance(one, exp.Alias) else one
            found[one.alias_or_name] = bare.copy().transform(put_in)
    return found


def _sources(select: exp.Select) -> list[exp.Expr]:
    """What a SELECT reads from."""
    first = select.args.get("from_")
    return [*([first.this] if first else []), *(one.this for one in select.args.get("joins") or ())]


def _named(known: Mapping[str, _Found], name: exp.Expr) -> _Found | None:
    """What a name stands for; without quotes, upper and lower case are alike."""
    if name.name in known or name.args.get("quoted"):
        return known.get(name.name)
    return next((found for one, found in known.items() if one.lower() == name.name.lower()), None)


def _unqualify(case: exp.Expr) -> None:
    """n for t.n, if there is only one such t."""
    from sqlglot import exp

    columns = [one for one in case.find_all(exp.Column) if one.table]
    if len({one.table.lower() for one in columns}) == 1:
        for one in columns:
            one.set("table", None)


def _refuse_renamed(part: exp.Expr) -> None:
    alias = part.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise FeatureError(
            f"names of columns behind {alias.name} cannot be read: give them in its SELECT, with AS"
        )


def _without_guard(node: exp.Expr) -> exp.Expr:
    """x for CASE WHEN ABS(x) <= 1.7976931348623157e308 THEN x END."""
    from sqlglot import exp

    if isinstance(node, exp.Case) and len(node.args["ifs"]) == 1 and not node.args.get("default"):
        condition = node.args["ifs"][0].this
        then: exp.Expr = node.args["ifs"][0].args["true"]
        if isinstance(condition, exp.LTE) and condition.this == exp.Abs(this=then.copy()):
            return then
    return node


def _rules(node: exp.Expr) -> _Rules:
    """A table of rules in SELECTs of constants: number -> label, example."""
    from sqlglot import exp

    from tellapart.export.sql_reader import SqlReader

    rows = list(node.find_all(exp.Select))
    names: list[str] = next(
        ([one.alias for one in row.expressions] for row in rows if row.expressions[0].alias), []
    )
    if not {"rule", "label"} <= set(names):
        return {}
    reader, found = SqlReader({}, "", None), {}
    for row in rows:
        bare = [one.this if isinstance(one, exp.Alias) else one for one in row.expressions]
        cells = dict(zip(names, bare, strict=True))
        values = [_constant(cells.get(name), reader) for name in ("rule", "label", "like")]
        found[values[0]] = (values[1], values[2])
    return found


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
    if isinstance(above, exp.Cast | exp.TryCast):
        kind = above.args["to"].this
        if kind in exp.DataType.NUMERIC_TYPES:
            return Type.NUMBER
        return Type.TEXT if kind in exp.DataType.TEXT_TYPES else Type.DATE
    texts = (exp.Like, exp.ILike, exp.Glob, exp.Lower, exp.Upper, exp.Trim, exp.Length)
    more = (exp.Translate, exp.RegexpFullMatch, exp.Contains, exp.StartsWith, exp.EndsWith)
    if isinstance(above, (*texts, *more, exp.Replace)):
        return Type.TEXT
    if isinstance(above, exp.Extract | exp.Year | exp.Month | exp.Day):
        return Type.DATETIME
    if isinstance(above, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Neg | exp.Abs | exp.Nullif):
        return Type.NUMBER
    if isinstance(above, exp.Case) and above.this is node:
        found = (_kind(branch.this, types) for branch in above.args["ifs"])
        return next((kind for kind in found if kind is not None), None)
    if isinstance(above, exp.Case | exp.If | exp.And | exp.Or | exp.Not):
        return Type.BOOL
    if isinstance(above, exp.Is):
        return None if isinstance(above.expression, exp.Null) or above.find(exp.Null) else Type.BOOL
    if isinstance(above, exp.NullSafeEQ | exp.NullSafeNEQ):
        return Type.BOOL
    if isinstance(
        above, exp.EQ | exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE | exp.In | exp.Between
    ):
        for other in above.iter_expressions():
            if other is not node and (kind := _kind(other, types)) is not None:
                return kind
    return None


def _kind(node: exp.Expr, types: Mapping[str, Type]) -> Type | None:
    """The type of what a column is compared with."""
    from sqlglot import exp

    while isinstance(node, exp.Paren | exp.Neg | exp.Collate):
        node = node.this
    match node:
        case exp.Literal() if node.is_string:
            return Type.TEXT
        case exp.Literal():
            exact = node.this.isdigit() and int(node.this) > 2**53
            return Type.INTEGER if exact else Type.NUMBER
        case exp.Boolean():
            return Type.BOOL
        case exp.Column():
            return types.get(node.name)
        case exp.Cast() | exp.TryCast():
            kind = node.args["to"].this
            if kind in exp.DataType.TEMPORAL_TYPES:
                return Type.DATE if kind == exp.DType.DATE else Type.DATETIME
            return Type.NUMBER if kind in exp.DataType.NUMERIC_TYPES else Type.TEXT
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Abs() | exp.Length():
            return Type.NUMBER
        case exp.Lower() | exp.Upper() | exp.Trim():
            return Type.TEXT
    return None
