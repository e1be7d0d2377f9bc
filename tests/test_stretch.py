"""Long stretches, which two threads share: nobody may see that they do."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import tellapart as ta
from tellapart.simulation import blank, pack, unpack, words_for
from tellapart.simulation.desk import WORTH, alone, company, desk
from tellapart.simulation.plain import Plain
from tellapart.simulation.tape import DESK, Tape

ITEMS = 2_500_000


@pytest.fixture(scope="module")
def columns():
    generator = np.random.default_rng(3)
    return [pack(generator.random(ITEMS) < share) for share in (0.5, 0.3, 0.1, 0.001, 1e-5)]


@pytest.fixture
def both(needs):
    """The address of the desk with a second thread at it, or skip."""
    needs("numba")
    address, cells = company(), desk()[1]
    if not address:
        pytest.skip("this machine has one core")
    before, cells[WORTH] = cells[WORTH], 1  # everything long enough is shared
    yield address
    cells[WORTH] = before


def made(kind, planes, columns, seed, ordinary=None, noted=None):
    """A random list that leaves few items uncovered."""
    chance = random.Random(seed)
    rules = kind(planes, 0, ordinary, noted)
    for code in chance.sample(range(8), 3):
        slot = rules.append(code & (1 << len(planes)) - 1)
        wanted = [*chance.sample(range(3), 1), *chance.sample((3, 4), chance.randrange(2))]
        for number in wanted:
            rules.require(slot, rules.hold(columns[number]), False)
    slot = rules.append(1)
    rules.require(slot, rules.hold(columns[3 + seed % 2]), False)
    return rules


@pytest.mark.parametrize("seed", range(24))
def test_two_threads_find_what_one_finds(seed, both, columns):
    chance = random.Random(seed)
    words, digits = words_for(ITEMS), chance.choice([1, 2, 3])
    planes = [blank(words) for _ in range(digits)]
    made(Tape, planes, columns, seed).say(ITEMS)
    for _ in range(chance.choice([0, 1, 3, 30])):  # where the list will be wrong
        item = chance.randrange(ITEMS)
        planes[0][item >> 6] ^= np.uint64(1 << (item & 63))
    for start in (0, 77, chance.randrange(ITEMS)):
        for quiet in (-1, 0, 40, 10_000, ITEMS):
            found = []
            for kind in (Plain, Tape):
                noted = np.zeros(words, dtype=np.uint64)
                rules = made(kind, planes, columns, seed, pack(np.ones(ITEMS, bool)), noted)
                assert kind is Plain or rules.cells[DESK] == both
                event = rules.find(start, ITEMS, True, quiet, wrong_only=quiet == 40)
                noted[rules.written :] = 0  # there may be anything
                found.append((event, noted.tobytes()))
            assert found[0] == found[1]


@pytest.mark.usefixtures("both")
def test_all_is_looked_at_however_fast_the_other_is(columns):
    """The room may run out in one part when later ones are done already."""
    planes = [~columns[2]]
    rules = Tape(planes, 0, pack(np.ones(ITEMS, bool)))
    rules.require(rules.append(1), rules.hold(columns[2]), False)
    places = np.flatnonzero(unpack(columns[2], ITEMS))
    for quiet in range(len(places) // 2, len(places), len(places) // 800):
        assert rules.find(0, ITEMS, True, quiet) == (places[quiet], -1, quiet)


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("quiet", [0, 10, 70_000, 500_000])
@pytest.mark.parametrize("late", [300_000, 1_600_000, 2_400_000])
def test_what_was_covered_so_far_need_not_be_so_in_the_end(quiet, late, columns):
    nowhere, everywhere = np.zeros_like(columns[0]), pack(np.arange(ITEMS) < late)
    rules = Tape([nowhere], 0, pack(np.ones(ITEMS, bool)))
    rules.require(rules.append(0), rules.hold(everywhere), True)
    event = min(late + quiet, ITEMS)
    assert rules.find(0, ITEMS, True, quiet) == (event, -1, event - late)


@pytest.mark.parametrize(
    "make",
    [
        ta.CappedDFF,
        lambda m: ta.RobustDFF(m, 9, 3),
        lambda m: ta.StRoDFF(m, 0.001, 0.001, 0.1, scale=0.01),
        lambda m: ta.StRoDFF(m, 0.001, 0.001, 0.1),
    ],
)
@pytest.mark.parametrize("exceptions", [0, 1e-6, 1e-5])
@pytest.mark.usefixtures("both")
def test_lessons_are_the_same(make, exceptions):
    world = ta.worlds.tree(3_000_000, 40, 6, 3, exceptions, seed=5)
    seen = []
    for way in (nullcontext(), alone()):
        learner = make(world.m)
        with way:
            lesson = ta.simulate(learner, world)
        numbers = [correction.number for correction in lesson.corrections[:1000]]
        seen.append((lesson.rounds, lesson.mistakes, numbers, learner.to_json()))
    assert seen[0] == seen[1]


@pytest.mark.usefixtures("both")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # a fork beside threads
def test_a_child_goes_on_alone():
    child = os.fork()
    if child == 0:  # no second thread here: offers are taken back, and a new one is made
        world = ta.worlds.tree(3_000_000, 40, 6, 3, seed=5)
        os._exit(0 if ta.simulate(ta.CappedDFF(6), world).rounds == 3_000_000 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_one_core_can_be_left_alone(needs):
    needs("numba")
    program = "from tellapart.simulation.desk import company; print(company())"
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, check=True
    )
    assert done.stdout.strip() == b"0"
