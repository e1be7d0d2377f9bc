"""The log of mistakes that only counted."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis.strategies import booleans, data, integers, lists, sampled_from, tuples

from tellapart.protocol import Guess
from tellapart.simulation.log import Log
from tellapart.simulation.tape import NUMBER


@given(data())
def test_a_log_keeps_rounds_and_guesses(data):
    """In parts, with steps of any size between rounds, and many or few different guesses."""
    shown = [Guess(f"y{n}", n) for n in range(data.draw(sampled_from([1, 2, 16, 17, 300])))]
    log, expected, last = Log(shown[0]), {}, -1
    log.shown += shown[1:]
    for largest in data.draw(lists(sampled_from([1, 255, 256, 70_000, 1 << 35]), max_size=4)):
        entry = tuples(integers(1, largest), integers(0, len(shown) - 1))
        part = data.draw(lists(entry, max_size=5))
        rounds = last + np.cumsum([step for step, _ in part], dtype=np.int64)
        guesses = np.array([guess for _, guess in part], dtype=np.int64)
        log.add(rounds | guesses - 1 << NUMBER)
        if data.draw(booleans()):  # packs what was loose
            assert len(log.numbers) == len(log)
        expected |= {n: shown[g] for n, g in zip(rounds.tolist(), guesses, strict=True)}
        last = max(expected, default=-1)
    assert log.numbers.tolist() == list(expected)
    assert {number: log.guess(number) for number in expected} == expected
    assert log.guess(last + 1) is None
