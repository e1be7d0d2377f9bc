"""A decision list as sentences a person can check.

The rules a teacher makes are mostly things an item must *not* be, so a sentence puts what is wanted
after "if" and what is forbidden after "unless": "It is a bird, like duck, unless it gives milk."
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from tellapart import codec
from tellapart.features import And, Or
from tellapart.features.phrasing import counts_points, spoken
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Feature, Item, Label

_LONGEST = 60  # characters of an item before it is cut
_MOST_TERMS = 5
"""Of the features of a clause that count points, so many terms are said where space is short."""


def name_of(item: Item) -> str:
    """An item in a few words: its own text, or its contents in sorted order, cut when long.

    >>> name_of("duck"), name_of(frozenset({"milk", "hair"}))
    ('duck', '{hair, milk}')
    """
    if isinstance(item, set | frozenset):
        text = "{" + ", ".join(sorted(map(str, item))) + "}"
    elif type(item) is dict:
        text = ", ".join(f"{key} = {value}" for key, value in item.items())
    else:
        text = str(item)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def example_text(example: Any) -> str | None:
    """An example in a cell of a table: by its own name, or as JSON where it has none.

    >>> example_text("duck"), example_text(frozenset({"milk", "hair"})), example_text(None)
    ('duck', '["hair","milk"]', None)
    """
    if example is None:
        return None
    if isinstance(example, set | frozenset):
        return codec.dump(sorted(codec.encode(part) for part in example))
    if type(example) in (dict, list, tuple, bool, int, float):
        return codec.dump(codec.encode(example))
    return str(example)


def plainly(feature: Feature, wanted: bool = True, most: int | None = None) -> str:
    """A feature by its name, in brackets where it says several things; `most` as in `spoken`.

    >>> plainly("milk", False), plainly(And("milk", "eggs"))
    ('not milk', '(eggs and milk)')
    """
    text = spoken(feature, wanted, most)
    return f"({text})" if wanted and isinstance(feature, And | Or) else text


@dataclass(frozen=True)
class Words:
    """The words for labels, features and items of one world.

    Parameters
    ----------
    label : label -> text, default=str
        With its article, where labels are nouns: "a bird". A bare label has a colon before it:
        nobody knows whether it needs an article.
    feature : (feature, wanted) -> text
        What an item is when the feature holds, or does not: "gives milk", "gives no milk". By
        default the feature's name, with "not" before it.
    item : item -> text
        What an example is called.
    subject : str, default=""
        What stands before features that are verbs: "it".
    """

    label: Callable[[Label], str] = str
    feature: Callable[[Feature, bool], str] = plainly
    item: Callable[[Item], str] = name_of
    subject: str = ""

    def when(self, features: Iterable[Feature], joint: str) -> str:
        """Some features, all spoken of as holding: "it lays eggs or has fins"."""
        given = list(features)
        said = [self.feature(feature, True) for feature in given]
        if len(given) == 1 and isinstance(given[0], And | Or) and said[0].startswith("("):
            said = [said[0][1:-1]]
        text = f" {joint} ".join([", ".join(said[:-1]), said[-1]] if said[1:] else said)
        return f"{self.subject} {text}".strip()


def reachable(model: DecisionList) -> list[Clause]:
    """The clauses down to the first that always applies, which is the default at the latest.

    >>> from tellapart.model import Literal
    >>> always = Clause((), "fish")
    >>> len(reachable(DecisionList((Clause((Literal("milk"),), "bear"), always, always), always)))
    2
    """
    clauses = []
    for clause in model:
        clauses.append(clause)
        if not clause.literals:
            break
    return clauses


def sentences(model: DecisionList, words: Words | None = None) -> list[str]:
    """One sentence per clause, in order; the first matching one wins.

    A clause without literals labels everything that reaches it; what stands after it can never
    apply and is left out.

    >>> from tellapart.model import Literal
    >>> zoo = DecisionList(
    ...     (Clause((Literal("eggs"), Literal("fins", False), Literal("milk", False)), "bird",
    ...             "duck"),),
    ...     default=Clause((), "mammal", "bear"))
    >>> for sentence in sentences(zoo):
    ...     print(sentence)
    It is: bird, like duck, if eggs, unless fins or milk.
    Otherwise it is: mammal, like bear.
    >>> sentences(DecisionList((Clause((Literal("eggs"),), "bird"),)))[1]
    'Otherwise it is unknown.'
    """
    words = words or Words()
    return _sentences(model, lambda clause: words)


def _sentences(model: DecisionList, words: Callable[[Clause], Words]) -> list[str]:
    clauses = reachable(model)
    if all(clause.label is None and clause.record is None for clause in clauses):
        return ["Nothing has been learnt yet."]
    return [
        ("Otherwise it is" if number and not clause.literals else "It is")
        + _body(clause, words(clause))
        for number, clause in enumerate(clauses)
    ]


def brief_words(clause: Clause) -> Words:
    """Words for a clause where space is short: of many points, the heaviest are said."""
    counting = sum(counts_points(literal.feature) for literal in clause.literals)
    return Words(feature=partial(plainly, most=max(1, _MOST_TERMS // max(1, counting))))


def brief_sentences(model: DecisionList) -> list[str]:
    """`sentences` with `brief_words`, for the cells of a table.

    >>> from tellapart.features import Points
    >>> from tellapart.model import Literal
    >>> many = Points({letter: 1 for letter in "abcdefgh"}, 4)
    >>> brief_sentences(DecisionList((Clause((Literal(many),), "bird"),), Clause((), "fish")))[0]
    'It is: bird, if at least 4 of (a, b, c, d, e, and 3 more).'
    """
    return _sentences(model, brief_words)


class _Columns(NamedTuple):
    label: Label
    rule: int
    """Its number, from 1."""
    because: str
    like: str | None
    is_sure: bool | None


class Answer(_Columns):
    """What a clause gives the rows to which it applies: the columns of a view."""

    example: Item = None
    """The item that the clause shows, which `like` names."""


def answers(model: DecisionList, error: float = 0.05) -> list[Answer]:
    """What each clause of `reachable` answers; it is sure if its error is at most `error`, by its
    record.

    >>> answers(DecisionList((), Clause((), "bird", "duck")))[0]
    Answer(label='bird', rule=1, because='It is: bird, like duck.', like='duck', is_sure=None)
    """
    clauses, said = reachable(model), brief_sentences(model)
    if len(said) != len(clauses):  # nothing is learnt yet
        said *= len(clauses)
    judged = any(clause.record is not None for clause in model)
    made = []
    for n, clause in enumerate(clauses):
        sure = (clause.record is not None and clause.record.high <= error) if judged else None
        one = Answer(clause.label, n + 1, said[n], example_text(clause.example), sure)
        one.example = clause.example
        made.append(one)
    return made


def to_text(model: DecisionList, words: Words | None = None) -> str:
    """The sentences, numbered.

    >>> print(to_text(DecisionList((), Clause((), "bird", "duck"))))
    1. It is: bird, like duck.
    """
    return "\n".join(f"{n}. {said}" for n, said in enumerate(sentences(model, words), start=1))


def _body(clause: Clause, words: Words) -> str:
    wanted = dict.fromkeys(feature for feature, wanted in clause.literals if wanted)
    forbidden = dict.fromkeys(feature for feature, wanted in clause.literals if not wanted)
    label = " unknown" if clause.label is None else f" {words.label(clause.label)}"
    parts = [f":{label}" if words.label is str and clause.label is not None else label]
    if clause.example is not None:
        parts.append(f"like {words.item(clause.example)}")
    if wanted:
        parts.append(f"if {words.when(wanted, 'and')}")
    if forbidden:
        parts.append(f"unless {words.when(forbidden, 'or')}")
    return ", ".join(parts) + "."
