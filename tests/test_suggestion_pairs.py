"""Pairs of suggestions beyond doubt, and what the first nine of five tables are like."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta

import pytest

from suggestion_pairs import TABLES, Pairs, tickets
from tellapart import Session, Store, Table
from tellapart.sessions import Given

Made = Callable[[], tuple[Table, str, str, Pairs]]


def first_nine(store: Store, made: Made) -> list[str]:
    table, one, other, _ = made()
    with Session.new(store, made.__name__, table, order="file") as session:
        given = session.next("Ann")
        assert isinstance(given, Given)
        session.answer("Ann", given.id, "wrong", one)
        given = session.next("Ann")
        assert isinstance(given, Given)
        return [str(found.feature) for found in session.candidates(given.id, other, limit=9)]


@pytest.mark.parametrize("made", TABLES)
def test_the_order_is_right_where_it_is_beyond_doubt(store: Store, made: Made) -> None:
    found = first_nine(store, made)

    def place(pattern: str) -> int:
        return next((n for n, text in enumerate(found) if re.search(pattern, text)), len(found))

    wrong = [pair for pair in made()[3] if place(pair[0]) >= min(place(pair[1]), len(found))]
    assert not wrong, found


@pytest.mark.parametrize("made", TABLES)
def test_the_first_nine_have_no_number_of_the_row_and_few_limits_of_a_column(
    store: Store, made: Made
) -> None:
    found = first_nine(store, made)
    keys = ("id ", "rownames", "ticket", "product_id", "member")
    assert not [text for text in found if text.startswith(keys)], found
    limits = Counter(text.split()[0] for text in found if re.search(" [<>]=? ", text))
    assert all(times <= 3 for times in limits.values()), found


def test_two_rows_of_one_payee_are_not_told_apart_by_nine_limits_of_the_amount(
    store: Store,
) -> None:
    day = date(2026, 3, 1)

    def made() -> tuple[Table, str, str, Pairs]:
        rows = range(60)
        columns = {
            "id": [10001 + n for n in rows],
            "booked": [day + timedelta(days=2 * n) for n in rows],
            "payee": ["REWE MARKT", "REWE MARKT", "SHELL", "NETFLIX"] * 15,
            "amount": [-17.89, -62.10, *(-3.5 * n for n in rows[2:])],
        }
        return Table(columns), "groceries", "gifts", []

    found = first_nine(store, made)
    assert sum("amount" in text for text in found) <= 4, found
    assert found[0] in ("amount < -20", "amount < -50", "amount < -40"), found
    assert not [text for text in found if text.startswith("id ")], found


def test_the_code_of_a_ticket_is_not_suggested(store: Store) -> None:
    def made() -> tuple[Table, str, str, Pairs]:
        table, one, other, pairs = tickets()
        return Table(table.frame(table.columns), id="ticket"), one, other, pairs

    found = first_nine(store, made)
    assert not [text for text in found if "ticket" in text], found


def test_a_number_of_the_row_is_suggested_where_nothing_else_tells(store: Store) -> None:
    def made() -> tuple[Table, str, str, Pairs]:
        return Table({"id": range(40), "kind": ["ball"] * 40}), "red", "blue", []

    assert first_nine(store, made) == ["id >= 1"]
