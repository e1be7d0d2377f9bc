"""Which item comes next: every one once, whatever the order, however it is switched."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellapart import worlds
from tellapart.errors import ParameterError
from tellapart.features import Points
from tellapart.sessions import Given, Session, Store
from tellapart.sessions.config import ORDERS
from tellapart.sessions.phrasing import how_sure
from tellapart.sessions.queue import POOL, Order
from tellapart.tables import Table


@pytest.mark.parametrize("kind", ORDERS)
@pytest.mark.parametrize("length", [0, 1, POOL - 1, POOL, 3 * POOL + 1, 500])
def test_every_item_comes_once(kind: str, length: int) -> None:
    line, seen, came = Order(length, kind, seed=3), set[int](), []

    def doubts(pool: list[int]) -> list[float]:
        assert len(set(pool)) == len(pool)
        return [place % 7 for place in pool]

    while (place := line.next(seen, doubts)) is not None:
        came.append(place)
        seen.add(place)
    assert sorted(came) == list(range(length))
    if kind == "file":
        assert came == sorted(came)
    if kind == "random" and length > 10:
        again, seen = Order(length, kind, seed=3), set[int]()
        for place in came:
            assert again.next(seen) == place
            seen.add(place)
        other = Order(length, kind, seed=4)
        assert [other.next(set(came[:n])) for n in range(3)] != came[:3]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(ORDERS), min_size=1, max_size=6), st.integers(0, 3))
def test_switching_loses_nothing(kinds: list[str], seed: int) -> None:
    seen: set[int] = set()
    for kind in [*kinds, "file"]:
        line = Order(100, kind, seed)
        for _ in range(15 if kind != "file" else 100):
            place = line.next(seen, lambda pool: [0.0] * len(pool))
            if place is not None:
                assert place not in seen
                seen.add(place)
    assert len(seen) == 100


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ParameterError, match="file, random, mixed"):
        Order(3, "alphabet", 0)


def came_in_mixed_order(length: int, worst: int) -> tuple[list[int], list[bool]]:
    """All places in the order they come when the worst are those below a number."""
    line, seen, came = Order(length, "mixed", seed=5), set[int](), []
    while (place := line.next(seen, lambda pool: [float(p < worst) for p in pool])) is not None:
        came.append(place)
        seen.add(place)
    return came, [line.picks(place) for place in came]


def test_in_mixed_order_one_in_four_is_drawn() -> None:
    came, picked = came_in_mixed_order(400, 40)
    assert not any(picked[:8])
    assert picked[8:40] == [False, True, True, True] * 8
    assert sum(picked) == 294
    assert sum(place < 40 for place in came[:80]) > 20  # 8 would be chance


@pytest.mark.parametrize("kinds", [["mixed"], ["mixed", "random"], ["random", "mixed"]])
@pytest.mark.parametrize("low", [True, False])
def test_every_item_left_is_as_likely_to_be_drawn(kinds: list[str], low: bool) -> None:
    """Whatever was picked before: the estimate of the error assumes it."""
    expected = variance = 0.0
    found = 0
    for seed in range(60):
        seen: set[int] = set()
        for kind in kinds:
            line = Order(200, kind, seed, began=kinds[0])
            for _ in range(90 if len(kinds) > 1 else 180):
                unsure = sum(place < 100 for place in range(200) if place not in seen)
                place = line.next(seen, lambda pool: [float((p < 100) == low) for p in pool])
                assert place is not None
                if not line.picks(place):
                    share = unsure / (200 - len(seen))
                    expected, variance = expected + share, variance + share * (1 - share)
                    found += place < 100
                seen.add(place)
    assert abs(found - expected) < 4 * variance**0.5


def zoo_in_mixed_order(store: Store, table: Table, **settings: Any) -> Session:
    return Session.new(store, "zoo", table, learner="CappedDFF:m=7", order="mixed", **settings)


def animals_table() -> tuple[Table, dict[str, str]]:
    world = worlds.zoo()
    names = [f"{item['name']} {n}" for n, item in enumerate(world.items)]
    columns = {name: [item[name] for item in world.items] for name in world.items[0]}
    table = Table({**columns, "name": names}, id="name")
    return table, dict(zip(names, world.labels, strict=True))


def one_round(session: Session, labels: dict[str, str], teacher: str = "Ann") -> Given:
    given = session.next(teacher)
    assert isinstance(given, Given)
    label = labels[str(given.item)]
    if given.guess.label == label and given.asks == "answer":
        session.answer(teacher, given.id, "right")
    else:
        tells = given.guess.example is not None and session.candidates(given.id, label)
        session.answer(teacher, given.id, "wrong", label, str(tells[0].feature) if tells else None)
    return given


def test_only_items_drawn_at_random_count_for_the_estimate(tmp_path: Path) -> None:
    table, labels = animals_table()
    with Store(tmp_path / "zoo.db") as store:
        with zoo_in_mixed_order(store, table, seed=2) as session:
            for number in range(40):
                one_round(session, labels, teacher="Ann" if number % 3 else "Bob")
            for _ in range(3):
                session.undo("Ann")
            one_round(session, labels)
            skipped = session.next("Ann")
            session.answer("Ann", skipped.id, "skipped")
            summary = session.summary()
            given = [event.data for event in store.log("zoo") if event.type == "given"]
        picked = {data["item"] for data in given if data.get("picked")}
        drawn = {data["item"] for data in given} - picked
        assert 12 <= len(drawn) <= 18
        assert summary.drawn is not None
        assert len(drawn) - 4 <= summary.drawn < len(drawn)  # the first had no guess
        assert summary.guesses == 37
        if summary.error.high <= 0.99:
            used = summary.draws_used
            said = summary.error.sentence
            assert re.search(f"from the (last )?{used} items drawn at random", said)
            since = used < summary.drawn and " if the rules got no worse" not in said
            assert since == ("since the rules last changed" in said)
            were = "row was" if used == 1 else "rows were"
            assert f"{used} {were} drawn at random" in how_sure(summary)
        with Session.open(store, "zoo", table) as session:  # a log tells it all
            assert session.summary() == summary
            came_back = [one_round(session, labels) for _ in range(30)]
        again = [event.data for event in store.log("zoo") if event.type == "given"][len(given) :]
        for data in again:  # one that comes back is what it was
            if data["item"] in picked | drawn:
                assert bool(data.get("picked")) == (data["item"] in picked)
        assert skipped.item in [one.item for one in came_back]


@pytest.mark.slow
def test_while_most_guesses_are_wrong_all_items_are_drawn(tmp_path: Path) -> None:
    """Rules that know nothing cannot say what they are unsure of."""
    dice = random.Random(3)
    table = Table({f"sign {n}": [dice.random() < 0.5 for _ in range(200)] for n in range(5)})
    labels = {
        "nonsense": {str(row): f"label {dice.randrange(6)}" for row in table.items},
        "sense": {str(row): str(row["sign 0"]) for row in table.items},
    }
    picked = {}
    with Store(tmp_path / "a.db") as store:
        for name, said in labels.items():
            with Session.new(store, name, table, order="mixed", seed=1) as session:
                for _ in range(100):
                    one_round(session, said)
                coming = session.coming("Ann", 10)
            given = [event.data for event in store.log(name) if event.type == "given"]
            picked[name] = [bool(data.get("picked")) for data in given]
            assert len(coming) == 10
    assert sum(picked["nonsense"][:60]) > 20
    assert sum(picked["nonsense"][70:]) == 0
    assert sum(picked["sense"][70:]) > 20


def test_items_close_to_a_decision_come_first(tmp_path: Path) -> None:
    """Rules that count points are least sure of items with few points more or fewer than needed."""
    signs = [[bool(number >> sign & 1) for number in range(256)] for sign in range(8)]
    table = Table({f"sign {n}": column for n, column in enumerate(signs)})
    count = [sum(column[row] for column in signs) for row in range(256)]
    with (
        Store(tmp_path / "a.db") as store,
        Session.new(store, "a", table, order="mixed", seed=4) as session,
    ):
        held_by = dict(zip(map(str, table.items), count, strict=True))
        labels = {row: "many" if held >= 4 else "few" for row, held in held_by.items()}
        for _ in range(40):
            one_round(session, labels)
        [counts] = session.model.features  # one rule, which counts nearly all signs
        assert isinstance(counts, Points)
        close = [one_round(session, labels) for _ in range(40)]
    picked = [held_by[str(given.item)] for given in close]
    assert sum(held in (3, 4) for held in picked) > 28  # 20 would be chance


def answers_until(share: float, session: Session, labels: dict[str, str]) -> int:
    """How many answers it takes until this share of the table is right."""
    items = list(session.table.items)
    for number in range(1, len(items) + 1):
        one_round(session, labels)
        said = zip(items, session.model.predict(items), strict=True)
        right = sum(
            session.label_of(item) is not None or label == labels[str(item)] for item, label in said
        )
        if right >= share * len(items):
            return number
    return len(items)


def tree_table(components: int, exceptions: float) -> tuple[Table, dict[str, str]]:
    world = worlds.tree(200, 25, components, 3, exceptions=exceptions, seed=2)
    names = [f"i{n}" for n in range(200)]
    columns = {f"f{n}": [f"f{n}" in item for item in world.items] for n in range(25)}
    labels = dict(zip(names, map(str, world.labels), strict=True))
    return Table({"name": names, **columns}, id="name"), labels


@pytest.mark.slow
def test_mixed_order_needs_fewer_answers_than_random_order(tmp_path: Path) -> None:
    """Until 95 % of a table is right: the zoo and two made worlds, four orders each."""
    needed = {"random": 0, "mixed": 0}
    for table, labels in (animals_table(), tree_table(8, 0.0), tree_table(12, 0.03)):
        for order in needed:
            for seed in range(4):
                path = tmp_path / f"{sum(needed.values())}.db"
                with (
                    Store(path) as store,
                    Session.new(store, "a", table, order=order, seed=seed) as session,
                ):
                    needed[order] += answers_until(0.95, session, labels)
    assert needed["mixed"] < 0.95 * needed["random"]


def test_only_draws_in_random_order_count(tmp_path: Path) -> None:
    """What came in the order of the file, or by its name, says nothing about the others."""
    table, labels = animals_table()
    with (
        Store(tmp_path / "a.db") as store,
        Session.new(store, "a", table, order="file") as session,
    ):
        for _ in range(40):
            one_round(session, labels)
        assert session.summary().error.high < 1
        session.set("Ann", order="random")
        assert session.summary().error.sentence == "nothing is known about the error yet"
        drawn = one_round(session, labels)
        session.undo("Ann")  # learns anew
        assert session.summary().error.sentence == "nothing is known about the error yet"
        others = [row for row in table.items if session.label_of(row) is None and row != drawn.item]
        named = session.next("Ann", item=others[-1])
        assert isinstance(named, Given)
        event = next(event for event in store.log("a") if event.id == named.id)
        assert event.data["picked"]
        summary = session.summary()
    with Store(tmp_path / "a.db") as store, Session.open(store, "a", table) as session:
        assert session.summary() == summary
