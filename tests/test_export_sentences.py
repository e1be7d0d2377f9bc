"""Sentences: they say what the model does, in its order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tellapart import And, Clause, DecisionList, Literal, Not, parse_feature
from tellapart.export import Words, sentences, to_svg, to_text

names = st.sampled_from(["eggs", "fins", "milk", "hair"])
clauses = st.builds(
    lambda literals, label: Clause(tuple(literals), label),
    st.lists(st.builds(Literal, names, st.booleans()), max_size=4),
    st.sampled_from(["bird", "fish", "mammal"]),
)


def read(said: list[str], item: frozenset[str]) -> str:
    """Do what the sentences say, to the letter."""
    for sentence in said:
        head, _, unless = sentence.removesuffix(".").partition(", unless ")
        head, _, wanted = head.partition(", if ")
        label = head.removeprefix("Otherwise it is").removeprefix("It is").removeprefix(":").strip()
        must = [name for name in wanted.replace(" and ", ", ").split(", ") if name]
        must_not = [name for name in unless.replace(" or ", ", ").split(", ") if name]
        if all(name in item for name in must) and not any(name in item for name in must_not):
            return label
    raise AssertionError("the last sentence fits everything")


@settings(derandomize=True, max_examples=200)
@given(st.lists(clauses, max_size=5), st.frozensets(names))
def test_a_reader_of_the_sentences_labels_as_the_model_does(
    rules: list[Clause], item: frozenset[str]
) -> None:
    model = DecisionList(tuple(rules), Clause((), "reptile"))
    assert read(sentences(model), item) == model.predict([item])[0]


def test_examples_commas_and_repeated_literals() -> None:
    three = (Literal("eggs"), Literal("eggs"), Literal("fins", False), Literal("milk", False))
    model = DecisionList((Clause((*three, Literal("hair", False)), "bird", "duck"),))
    assert sentences(model)[0] == "It is: bird, like duck, if eggs, unless fins, milk or hair."


def test_what_can_never_apply_is_left_out() -> None:
    model = DecisionList((Clause((), "bird", "duck"), Clause((Literal("milk"),), "mammal")))
    assert sentences(model) == ["It is: bird, like duck."]


def test_nothing_learnt() -> None:
    assert sentences(DecisionList()) == ["Nothing has been learnt yet."]


def test_words_of_a_world() -> None:
    said = {"eggs": "lays eggs", "milk": "gives milk"}
    words = Words(
        label=lambda label: f"a {label}",
        feature=lambda feature, wanted: said[str(feature)] if wanted else f"no {feature}",
        subject="it",
    )
    rule = Clause((Literal("eggs"), Literal("milk", False)), "bird", "duck")
    model = DecisionList((rule,), Clause((), "mammal", "bear"))
    assert to_text(model, words) == (
        "1. It is a bird, like duck, if it lays eggs, unless it gives milk.\n"
        "2. Otherwise it is a mammal, like bear."
    )


def test_compound_features_are_in_brackets() -> None:
    both = And("milk", Not("eggs"))
    model = DecisionList((Clause((Literal("hair", False), Literal(both, False)), "bird"),))
    assert sentences(model)[0] == "It is: bird, unless hair or (milk and not eggs)."


def test_conditions_are_in_words_and_not_in_sql():
    schema = {"subject": "text", "size": "integer"}
    cheap = parse_feature("subject ILIKE '%cheap%'", schema)
    small = parse_feature("size < 9 AND subject NOT ILIKE '%lunch%'", schema)
    model = DecisionList(
        (Clause((Literal(cheap), Literal(small, False)), "spam"),), Clause((), "ham")
    )
    assert to_text(model).splitlines() == [
        '1. It is: spam, if subject contains "cheap", unless size < 9 and subject does not contain'
        ' "lunch".',
        "2. Otherwise it is: ham.",
    ]
    assert "ILIKE" not in to_svg(model)


def test_a_label_that_may_need_an_article_stands_behind_a_colon() -> None:
    model = DecisionList((Clause((Literal("reset"),), "login problem"),), Clause((), None))
    assert sentences(model) == ["It is: login problem, if reset.", "Otherwise it is unknown."]
    named = Words(label=lambda label: f"a {label}" if label else "unknown")
    assert sentences(model, named)[0] == "It is a login problem, if reset."
