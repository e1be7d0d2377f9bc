"""Rows are called as a person would call them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tellapart import Session, Store, Table
from tellapart.errors import FormatError
from tellapart.tables.row_names import titles

BANK = {
    "date": ["2026-01-02", "2026-01-03", "2026-01-03", "2026-02-01"] * 5,
    "iban": [f"DE{n}9 3704 0044 {n}" for n in range(20)],
    "payee": ["REWE KOELN", "SUSHI BAR", "ARAL AG", "REWE KOELN"] * 5,
    "type": ["CARD"] * 20,
    "amount": [-9.5 - n for n in range(20)],
}


def test_a_row_is_called_by_a_name_though_names_repeat() -> None:
    table = Table(BANK)
    assert titles(table) == []  # three payees in twenty rows are categories
    more = {**BANK, "payee": [f"{payee} {n // 2}" for n, payee in enumerate(BANK["payee"])]}
    table = Table(more)
    assert titles(table) == ["payee"]
    assert table.called(1) == ("SUSHI BAR 0", None)
    more["payee"][3] = more["payee"][1]
    assert [str(Table(more).items[n]) for n in (1, 2, 3)] == [
        "SUSHI BAR 0 (-10.5)",
        "ARAL AG 1",
        "SUSHI BAR 0 (-12.5)",
    ]


def test_a_code_names_no_row_where_something_else_does() -> None:
    codes = {"id": [f"TX-{n:05}" for n in range(30)], "text": [f"a thing {n}" for n in range(30)]}
    assert str(Table(codes, id="id").items[3]) == "a thing 3"
    assert str(Table({"id": codes["id"], "n": range(30)}, id="id").items[3]) == "TX-00003"


def test_rows_without_a_name_have_a_number_and_say_what_kind_they_are() -> None:
    birds = Table({"island": ["Dream", "Biscoe"] * 9, "sex": ["f", "m", None] * 6, "g": range(18)})
    assert [str(birds.items[n]) for n in (0, 1, 2)] == [
        "row 0 (Dream, f)",
        "row 1 (Biscoe, m)",
        "row 2 (Dream)",
    ]


def test_namesakes_that_nothing_tells_apart_have_their_number() -> None:
    table = Table({"name": ["Ann", "Bob", "Ann", "Cid", "Ann"], "age": [1, 2, 1, 4, 5]})
    assert [str(row) for row in table.items] == [
        "Ann (1, row 0)",
        "Bob",
        "Ann (1, row 2)",
        "Cid",
        "Ann (5)",
    ]


def test_what_rows_are_called_is_switched_and_kept(store: Store) -> None:
    films = Table({"name": ["Jaws", "Alien", "Up"], "maker": ["Ann", "Bob", "Cid"]}, id="name")
    with Session.new(store, "films", films) as session:
        assert str(session.table.items[0]) == "Jaws"
        session.set("Ann", title="maker")
        assert str(session.table.items[0]) == "Ann"
        with pytest.raises(FormatError, match="no column 'nope'"):
            session.set("Ann", title="nope")
    again = Table({"name": ["Jaws", "Alien", "Up"], "maker": ["Ann", "Bob", "Cid"]}, id="name")
    with Session.open(store, "films", again) as session:
        assert str(session.table.items[0]) == "Ann"


def test_a_count_says_not_which_row_is_meant() -> None:
    subjects = ["password reset", "invoice is missing", "app crashes", "refund"]
    opened = [datetime(2026, 5, 4, 9, 30) + timedelta(hours=n) for n in range(40)]
    tickets = {
        "subject": [f"{subjects[n % 4]} {n // 8}" for n in range(40)],
        "replies": [6 if n == 4 else n % 3 for n in range(40)],
    }
    assert str(Table(tickets).items[4]) == "password reset 0 (row 4)"
    placed = tickets | {"office": ["Berlin", "Köln", "Berlin", "Ulm", "Bonn"] * 8}
    assert str(Table(placed).items[4]) == "password reset 0 (Bonn)"
    assert str(Table(placed | {"opened": opened}).items[4]) == "password reset 0 (2026-05-04 13:30)"


def test_an_amount_has_its_two_decimals_in_a_name() -> None:
    bank = Table({"payee": ["Rewe", "Sushi Bar", "Rewe"], "amount": [-7.5, -31.25, -12.0]})
    assert [str(row) for row in bank.items] == ["Rewe (-7.50)", "Sushi Bar", "Rewe (-12.00)"]
