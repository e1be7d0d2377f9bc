"""Which reasons are suggested first, and what is said of an answer at once."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

from tellapart import Session, Store, Table
from tellapart.samples import write_bank
from tellapart.sessions import Given
from tellapart.sessions.learnt import Before, learnt, moved
from tellapart.sessions.phrasing import show_cell
from tellapart.sessions.picks import offers, parts
from tellapart.tables import read_table


def bank(folder: Path) -> Table:
    return read_table(write_bank(folder))


def suggested(session: Session, given: Given, label: str) -> list[str]:
    return [str(one.feature) for one in session.candidates(given.id, label, limit=9)]


def next_of(session: Session) -> Given:
    given = session.next("Ann")
    assert isinstance(given, Given)
    return given


def test_words_come_before_limits_and_dates_last_while_little_is_known(
    store: Store, tmp_path: Path
) -> None:
    table = bank(tmp_path)
    with Session.new(store, "bank", table) as session:
        session.answer("Ann", next_of(session).id, "wrong", "rent")
        found = suggested(session, next_of(session), "transport")
        dates = [n for n, text in enumerate(found) if "date" in text]
        assert all("payee" in text or "type" in text for text in found[:2]), found
        assert not [n for n in dates if n < 3], found


def test_no_two_suggestions_are_true_of_the_same_rows(store: Store, tmp_path: Path) -> None:
    table = bank(tmp_path)
    with Session.new(store, "bank", table, order="random", seed=3) as session:
        for n in range(12):
            given = next_of(session)
            if given.guess.label is not None:
                said = session.candidates(given.id, f"label {n % 3}", limit=27)
                held = [table.truth(one.feature).tobytes() for one in said]
                assert len(set(held)) == len(held)
            label = f"label {n % 3}"
            if given.asks == "answer" and given.guess.label == label:
                session.answer("Ann", given.id, "right")
            else:
                session.answer("Ann", given.id, "wrong", label)


def test_a_key_or_a_constant_is_not_suggested_first(store: Store) -> None:
    day = date(2026, 1, 1)
    rows = 40
    table = Table(
        {
            "entered": [day + timedelta(days=n) for n in range(rows)],
            "number": list(range(1000, 1000 + rows)),
            "kind": ["red ball", "blue cube"] * (rows // 2),
            "always": ["yes"] * rows,
        }
    )
    with Session.new(store, "things", table) as session:
        session.answer("Ann", next_of(session).id, "wrong", "ball")
        found = suggested(session, next_of(session), "cube")
        assert "kind" in found[0]
        assert not any("always" in text for text in found)


def test_whatever_can_be_picked_is_true_of_the_row_and_not_of_the_other(tmp_path: Path) -> None:
    table = bank(tmp_path)
    picked = 0
    for a, b in ((3, 250), (40, 399), (120, 7), (300, 301), (77, 210)):
        row, other = table.items[a], table.items[b]
        for column in table.columns:
            found = [one.reason for one in offers(row, other, column)]
            if isinstance(row[column], str):
                found += [
                    one.reason for one in parts(column, row[column], other[column]) if one.reason
                ]
            for reason in found:
                feature = table.parse(str(reason))
                assert feature(row), reason
                assert not feature(other), reason
                picked += 1
    assert picked > 20


def test_a_cell_is_shown_with_the_decimals_of_its_column_and_without_empty_seconds() -> None:
    table = Table(
        {
            "amount": [-7.5, 1204.25, None, 250000.0],
            "weight": [7.5, 3.0, 2.125, 1.0],
            "at": [datetime(2026, 5, 4, 9, 30, second) for second in (0, 7, 0, 0)],
        }
    )
    shown = [[show_cell(row, column) for column in table.columns] for row in table.items]
    assert shown[:2] == [
        ["-7.50", "7.5", "2026-05-04 09:30"],
        ["1204.25", "3", "2026-05-04 09:30:07"],
    ]
    assert [cells[0] for cells in shown[2:]] == ["nothing known", "250,000.00"]
    later = Table({"at": [datetime(2026, 5, 6, 7), datetime(2026, 5, 5, 5, 9)]})
    found = offers(later.items[0], later.items[1], "at")
    assert [one.text for one in found] == [">= 2026-05-06 00:00"]


def test_what_was_learnt_is_said_in_her_words_with_the_rows_it_moved(
    store: Store, tmp_path: Path
) -> None:
    table = bank(tmp_path)
    with Session.new(store, "bank", table, order="file") as session:
        session.answer("Ann", next_of(session).id, "wrong", "rent")
        given = next_of(session)
        before = Before(session.model, given.item, "transport", "payee ILIKE '%vertrieb%'")
        saved = session.answer("Ann", given.id, "wrong", "transport", before.feature)
        found = learnt(session, saved, before)
        assert found is not None
        assert (found.kind, found.label) == ("new", "transport")
        assert found.reason == 'payee contains "vertrieb"'
        feature = table.parse("payee contains vertrieb")
        said = moved(session, before)
        assert said.counts == [("rent", "transport", table.count(feature) - 1)]
        assert all("DB VERTRIEB" in str(row) for row in said.some)
        # a right guess teaches nothing that is to be said
        given = next_of(session)
        before = Before(session.model, given.item, None, None)
        saved = session.answer("Ann", given.id, "right")
        assert learnt(session, saved, before) is None
