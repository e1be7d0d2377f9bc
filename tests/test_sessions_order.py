"""Which item comes next: every one once, whatever the order, however it is switched."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellapart.errors import ParameterError
from tellapart.sessions.config import ORDERS
from tellapart.sessions.queue import POOL, Order


@pytest.mark.parametrize("kind", ORDERS)
@pytest.mark.parametrize("length", [0, 1, POOL - 1, POOL, 3 * POOL + 1, 500])
def test_every_item_comes_once(kind: str, length: int) -> None:
    line, seen, came = Order(length, kind, seed=3), set[int](), []
    while (place := line.next(seen, lambda pool: [place % 7 for place in pool])) is not None:
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


def test_the_least_sure_come_first() -> None:
    line, seen, came = Order(2000, "least sure", seed=0), set[int](), []
    for _ in range(200):
        place = line.next(seen, lambda pool: [float(place < 200) for place in pool])
        assert place is not None
        came.append(place)
        seen.add(place)
    assert sum(place < 200 for place in came) > 90  # 20 would be chance


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
    with pytest.raises(ParameterError, match="file, random, least sure"):
        Order(3, "alphabet", 0)
