"""Our own learners and bounds: how mistakes grow with k and d, and the exact worst case."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import tellapart as ta
from tellapart.adversary import worst_case as search
from tellapart.bounds import capped_bound, robust_bound, unique_label_bound
from tellapart.lab.experiment import Claims, Row, Rows, experiment
from tellapart.lab.lessons import bounded_learners, lesson_row, simulate_all, teach_hostile
from tellapart.learners import BaseLearner
from tellapart.teachers import Hostile


@experiment(
    "Slope in k: quadratic for the paper's algorithm, linear for ours",
    m=4,
    s=1,
    k=[2**power for power in range(10)],
    repeat=range(3),
    quick={"k": [2**power for power in range(8)], "repeat": 0},
)
def slope(m: int, s: int, k: int, seed: int) -> Iterator[Row]:
    """How mistakes grow with the number k of exceptions, if the teacher turns an item into one
    whenever the learner falls back on its default."""
    yield from teach_hostile(bounded_learners(m, k, s), m, k, s, seed)


@slope.claims
def _(rows: Rows) -> Claims:
    # of the last octaves: at small k, terms in m alone dominate
    power = {n: group.power("k", "mistakes", last=3) for n, group in rows.by("learner").items()}
    seen = {name: f"like k^{found:.2f}" for name, found in power.items()}
    yield "mistakes of RobustDFF grow like k²", power["RobustDFF"] > 1.8, seen["RobustDFF"]
    yield "mistakes of CappedDFF grow like k", power["CappedDFF"] < 1.2, seen["CappedDFF"]
    for name in ("RobustDFF, patience 0", "AdaptiveDFF ruler"):
        yield f"{name}: hardly faster than k", power[name] < 1.3, seen[name]


slope.figure("k", "mistakes", line="learner", log="xy")

_TIGHT = ("CappedDFF", "RobustDFF, patience 0", "AdaptiveDFF growing")


@experiment(
    "The exact worst case of tiny worlds",
    world=("1,1", "1,2", "1,3", "2,0", "2,1", "2,2", "2,3", "3,0", "3,1", "3,2", "4,0"),
    learner=bounded_learners(1, 1, 1),
    quick={"world": ("1,1", "1,2", "1,3", "2,0", "2,1", "2,2", "3,0", "3,1")},
)
def worst_case(world: str, learner: str) -> Iterator[Row]:
    """The most mistakes under any teacher with m components and k bad rounds. Worlds are m,k, with
    s = 1. Every teacher is tried, so these numbers have no error. The figure has each learner's own
    bound; that of Theorem 3 is larger."""
    m, k = map(int, world.split(","))
    s = min(k, 1)
    told = bounded_learners(m, k, s)[learner]
    # only the bounds of RobustDFF need the same feature for the same pair of components
    same = learner.startswith("RobustDFF")
    worst = search(told, m, k, s if same else None, same_feature=same)
    theorem = robust_bound(m, k, s) if learner == "RobustDFF" else None
    bounds = {"bound": told.bound(m=m, k=k, s=s), "theorem 3": theorem}
    yield {"mistakes": worst.mistakes, "positions": worst.positions, **bounds}


@worst_case.claims
def _(rows: Rows) -> Claims:
    above = sum(row["mistakes"] > row["bound"] for row in rows)
    positions = sum(row["positions"] for row in rows)
    seen = f"{above} of {len(rows)} cases, {positions:,} positions searched"
    yield "no teacher exceeds a bound", not above, seen
    for name, group in rows.by("learner").items():
        met = sum(row["mistakes"] == row["bound"] for row in group)
        if name in _TIGHT:
            yield f"some teacher meets the bound of {name}", met == len(group), f"{met} times"
    robust = rows.where(learner="RobustDFF")
    met, own = (
        sum(row["mistakes"] == row[bound] for row in robust) for bound in ("theorem 3", "bound")
    )
    seen = f"met in {met} of {len(robust)} cases; our smaller bound of RobustDFF in {own}"
    yield "Theorem 3 leaves room in worlds this small", met < len(robust), seen


worst_case.figure("world", "mistakes", line="learner", panel="learner", limit="bound")


@experiment(
    "Independence of d: from ten features to a million",
    world=("one exception", "made tree"),
    d=[10**power for power in range(1, 7)],
    items=20_000,
    repeat=range(30),
    where=lambda world, d, repeat, **_: world == "made tree" or (repeat == 0 and d <= 10_000),
    quick={"d": [10**power for power in range(1, 5)], "items": 2_000, "repeat": range(10)},
)
def dimension(world: str, d: int, items: int, seed: int) -> Iterator[Row]:
    """If exceptions are explained away by more components (Theorem 1), mistakes grow with d. The
    bounds of robust learners do not contain d. In made trees m = 8, k = 50, s = 1."""
    if world == "made tree":
        tree = ta.worlds.tree(items, d, 8, 4, 50, seed, similar=1)
        yield from simulate_all(bounded_learners(8, 50, 1), tree)
        return
    explained = ta.worlds.single_exception(d, explained=True, seed=seed)
    yield lesson_row("DFF", ta.teach(ta.DFF(), explained.teacher(), explained.items))
    del explained  # frees memory before the next world is made
    plain = ta.worlds.single_exception(d, seed=seed)
    for name, learner in bounded_learners(plain.m, plain.k, plain.s).items():
        yield lesson_row(name, ta.teach(learner, plain.teacher(), plain.items))


@dimension.claims
def _(rows: Rows) -> Claims:
    one, trees = rows.where(world="one exception"), rows.where(world="made tree")
    naive = one.where(learner="DFF")
    seen = f"{naive[-1]['mistakes']:,} mistakes at d = {naive[-1]['d']:,}"
    yield "explained away, every feature costs DFF", naive.power("d", "mistakes") > 0.9, seen
    most = max(row["mistakes"] for row in one if row["learner"] != "DFF")
    yield "robust learners leave the exception alone", most <= 6, f"at most {most} mistakes"
    # with ten features exceptions must name the same ones, so the fit starts at d = 100
    last = len(trees.values("d")) - 1
    drift = max(group.power("d", "mistakes", last) for group in trees.by("learner").values())
    yield "they do not notice d in made trees", drift < 0.05, f"no faster than d^{drift:.3f}"


dimension.figure("d", "mistakes", line="learner", panel="world", log="xy")


@experiment(
    "The price of ignorance",
    world=("tree", "islands"),
    m=4,
    k=(0, 1, 4, 16, 64, 256),
    repeat=range(10),
    quick={"k": (0, 1, 4, 16), "repeat": range(3)},
)
def ignorance(world: str, m: int, k: int, seed: int) -> Iterator[Row]:
    """AdaptiveDFF and Guarded (here DFF guarded by AdaptiveDFF) are told nothing, and still have
    bounds. CappedDFF is told m, RobustDFF m, k and s. Exceptions fall at random (tree) or where
    they hurt (islands)."""
    s = min(k, 1)
    learners = bounded_learners(m, k, s) | {"Guarded": ta.Guarded(ta.DFF(), ta.AdaptiveDFF())}
    del learners["RobustDFF, patience 0"]
    if world == "islands":
        yield from teach_hostile(learners, m, k, s, seed)
    else:
        yield from simulate_all(learners, ta.worlds.tree(20_000, 100, m, m, k, seed, similar=s))


@ignorance.claims
def _(rows: Rows) -> Claims:
    above = sum(row["mistakes"] > row["bound"] for row in rows)
    yield "all stay within their bounds", not above, f"{above} of {len(rows):,} lessons above"
    means = {key: group.mean("mistakes") for key, group in rows.by("learner", "world", "k").items()}
    price = dict.fromkeys(("AdaptiveDFF ruler", "AdaptiveDFF growing", "Guarded"), 0.0)
    for (name, *where), mean in means.items():
        if name in price:
            price[name] = max(price[name], mean / means["CappedDFF", *where])
    seen = "at worst " + ", ".join(f"{worst:.1f} ({name})" for name, worst in price.items())
    claim = "some learner that is told nothing pays a factor below 4 against CappedDFF"
    yield claim, min(price.values()) < 4, seen


ignorance.figure("k", "mistakes", line="learner", panel="world", log="xy")


@experiment(
    "Unique labels: a constant number of mistakes an exception",
    m=(2, 3, 4, 5, 6),
    k=(0, 5, 20, 50),
    repeat=range(40),
    runs=50,
    quick={"m": (2, 6), "k": (0, 20), "repeat": range(3), "runs": 20},
)
def unique_labels(m: int, k: int, runs: int, seed: int) -> Iterator[Row]:
    """If every label has one component, UniqueLabelDFF (Sabato 2023, Algorithm 2) makes at most
    2m(m-1) + 6k mistakes on average. The teacher is hostile, and sees what was drawn. A row is the
    mean of some runs."""
    world = ta.worlds.islands(40 * m * m + 12 * k, m, seed)
    makers: dict[str, Callable[[int], BaseLearner]] = {
        "UniqueLabelDFF": lambda number: ta.UniqueLabelDFF(m, seed=seed + number),
        "UniqueLabelDFF without m": lambda number: ta.UniqueLabelDFF(seed=seed + number),
        "CappedDFF": lambda number: ta.CappedDFF(m),
    }
    for name, make in makers.items():
        drawn = range(runs if name != "CappedDFF" else 1)
        lessons = (
            ta.teach(make(number), Hostile(world.teacher(), k), world.items) for number in drawn
        )
        told = name != "UniqueLabelDFF without m"
        bound = capped_bound(m, k) if name == "CappedDFF" else None
        yield {
            "learner": name,
            "mistakes": sum(lesson.mistakes for lesson in lessons) / len(drawn),
            "bound": unique_label_bound(m, k, told=told) if bound is None else bound,
            "2m(m-1)+6k": 2 * m * (m - 1) + 6 * k,
        }


@unique_labels.claims
def _(rows: Rows) -> Claims:
    chance = rows.where(learner="UniqueLabelDFF")
    settings = chance.by("m", "k")
    runs = f"{len(settings)} settings, {sum(row['runs'] for row in chance) // len(settings):,} runs"
    shares = [group.mean("mistakes") / group[0]["2m(m-1)+6k"] for group in settings.values()]
    seen = f"at most {max(shares):.0%}; {runs}"
    yield "the mean stays within 2m(m-1) + 6k", max(shares) <= 1, seen
    above = [
        (group.mean("mistakes") - group[0]["bound"]) / max(group.error("mistakes"), 1e-9)
        for group in settings.values()
    ]
    seen = f"{max(above):+.1f} standard errors from it at worst"
    yield "and within our smaller bound, which some worlds meet", max(above) <= 3, seen
    guessing = rows.where(learner="UniqueLabelDFF without m").by("m", "k")
    most = max(group.mean("mistakes") / settings[key].mean("mistakes")
               for key, group in guessing.items())  # fmt: skip
    seen = f"at most {most:.2f} times as many mistakes"
    yield "without m it errs at most half as often again", most <= 1.5, seen
    m, k = max(settings)
    capped = rows.where(learner="CappedDFF", m=m, k=k).mean("mistakes")
    mine = settings[m, k].mean("mistakes")
    seen = f"{mine:.0f} mistakes against {capped:.0f} at m = {m}, k = {k}"
    yield "with many exceptions CappedDFF errs more", capped > mine, seen


unique_labels.figure("k", "mistakes", line="learner", panel="m", limit="2m(m-1)+6k")
