r"""Every bound of the paper, and of our own learners, as a plain function.

Symbols: `m` components, at most `k` bad rounds, at most `s` exceptions that name the same feature
against the same component; `epsilon` and `sigma` are the rates that take the place of k and s in
the stochastic setting, `delta` the confidence, `n` the length of the stream. All logarithms are
natural. "Paper" is Dasgupta and Sabato, *Robust Learning from Discriminative Feature Feedback*,
AISTATS 2020 (its lemmas and theorems share one count; what is called Theorem 4 here, the stochastic
one, is printed as Theorem 9); docs/theory.md has the proofs' ideas of what is not in it.
"""

from __future__ import annotations

from math import comb, inf, log, sqrt
from typing import NamedTuple

from tellapart.errors import ParameterError, check

__all__ = [
    "StochasticBound", "adaptive_bound", "capped_bound", "capped_rules", "dff_bound", "gamma",
    "guarded_bound", "lower_bound", "optimal_bound", "patient_bound", "q", "reduction_size",
    "robust_bound", "robust_mistakes_per_rule", "robust_rules", "ruler_rules", "srdff_bound",
    "stochastic_bound", "stochastic_rules", "unique_label_bound",
]  # fmt: skip


def q(
    epsilon: float, t: float, delta: float, *, now: float | None = None, scale: float = 1.0
) -> float:
    r"""How many exceptions `t` rounds may hold at rate `epsilon` (paper, Eq. 3).

    $q(\epsilon, t) = \epsilon t + \frac23 \log(8t^3/\delta)
    + \sqrt{2\epsilon t\log(8t^3/\delta)}$.

    The union bound of the proof runs over all windows that end in the current round, so the
    logarithm must use that round: pass it as `now` (erratum; without it, the text as printed).
    `scale` multiplies the two deviation terms; 1 is the paper.

    >>> round(q(0.05, 100, 0.1), 2), round(q(0.05, 100, 0.1, now=1000), 2)
    (30.62, 37.58)
    """
    logarithm = log_over(8 * (t if now is None else now) ** 3, delta)
    return epsilon * t + scale * (2 / 3 * logarithm + sqrt(2 * epsilon * t * logarithm))


def log_over(number: float, delta: float) -> float:
    """log(number / delta), also where that quotient is no float.

    >>> round(log_over(8, 0.1), 3), round(log_over(10**10, 1e-300), 1)
    (4.382, 713.8)
    """
    quotient = number / delta
    return log(quotient) if quotient < inf else log(number) - log(delta)


def gamma(epsilon: float, r: float, t: float, delta: float, *, scale: float = 1.0) -> float:
    r"""How many uncovered rounds make a new rule, after `r - 1` covered ones (paper, Eq. 4).

    $\gamma(\epsilon, r, t) = \frac1{1-2\epsilon}(r + 4\sqrt r\,\log^{3/2}(8t^2/\delta)) - r + 1$.

    >>> gamma(0, 1, 241, 0.1) > 241 and gamma(0, 1, 242, 0.1) <= 242
    True
    """
    deviation: float = 4 * sqrt(r) * log_over(8 * t**2, delta) ** 1.5
    return (r + scale * deviation) / (1 - 2 * epsilon) - r + 1


def dff_bound(m: int) -> int:
    """Mistakes of `DFF` under a perfect teacher: (m-1)(m+2)/2 (docs/theory.md).

    >>> dff_bound(3)
    5
    """
    _check(m=m)
    return (m - 1) * (m + 2) // 2


def optimal_bound(m: int) -> int:
    """Mistakes of `OptimalDFF`, and of the best learner, under a perfect teacher: m(m-1)/2.

    >>> optimal_bound(3)
    3
    """
    _check(m=m)
    return comb(m, 2)


def robust_bound(m: int, k: int, s: int) -> int:
    """Mistakes of `RobustDFF`: (m+k)((s+1)(m-1)+k+2) (paper, Theorem 3).

    >>> robust_bound(7, 4, 1)
    198
    """
    _check(m=m, k=k, s=s)
    return (m + k) * ((s + 1) * (m - 1) + k + 2)


def robust_mistakes_per_rule(m: int, k: int, s: int) -> int:
    """Mistakes of `RobustDFF` on one rule: (s+1)(m-1)+k+1 (paper, Lemma 8).

    >>> robust_mistakes_per_rule(7, 4, 1)
    17
    """
    _check(m=m, k=k, s=s)
    return (s + 1) * (m - 1) + k + 1


def robust_rules(m: int, k: int) -> int:
    """Rules that `RobustDFF` creates: m+k (paper, Lemma 7).

    >>> robust_rules(7, 4)
    11
    """
    _check(m=m, k=k)
    return m + k


def patient_bound(m: int, k: int, s: int, patience: int) -> int:
    """Mistakes of `RobustDFF(m, ., s, patience)` (docs/theory.md).

    (m-1) + (s+1) m(m-1)/2 + k((s+1)(m-1) + patience + 2), where `s` is the witness threshold the
    learner uses, true or not, and `k` the true number of bad rounds. With `s` = 0 the counters are
    never used, so patience costs nothing and the bound is `capped_bound`.

    >>> patient_bound(7, 4, 1, patience=0), robust_bound(7, 4, 1)
    (104, 198)
    """
    _check(m=m, k=k, s=s, patience=patience)
    if s == 0:
        return capped_bound(m, k)
    return (m - 1) + (s + 1) * comb(m, 2) + k * ((s + 1) * (m - 1) + patience + 2)


def capped_bound(m: int, k: int, cap: int | None = None) -> int:
    """Mistakes of `CappedDFF`: (m-1)(m+2)/2 + k(cap+1), tight at cap = m (docs/theory.md).

    >>> capped_bound(7, 4)
    59
    """
    _check(m=m, k=k)
    cap = m if cap is None else cap
    check("capped_bound", "cap", cap, f"an integer >= m = {m}", lambda c: c >= m)
    return dff_bound(m) + k * (cap + 1)


def srdff_bound(m: int, k: int) -> int:
    """Mistakes of SR-DFF as its author counts them, repaired: m² + k(m+1).

    Theorem 1 of Sabato 2023, m(m-1) + mk, leaves out the wrong default guesses; there are at most
    as many as rules, m+k (its Lemma 6). `CappedDFF` is the same algorithm, and `capped_bound` is
    smaller.

    >>> srdff_bound(7, 4), capped_bound(7, 4)
    (81, 59)
    """
    _check(m=m, k=k)
    return m * m + k * (m + 1)


def unique_label_bound(
    m: int,
    k: int,
    p: float | None = None,
    l: int | None = None,  # noqa: E741  (the paper's name)
    *,
    told: bool = True,
) -> float:
    """Mistakes that are expected of `UniqueLabelDFF`, if labels are unique (docs/theory.md).

    (m-1)(1/p + m-1) + k max(2 + 2(1/p + m-1)/l, 1 + p(m+l-1)); with p = 1/m and l = 2m, which are
    taken if they are not given, (m-1)(2m-1) + k(4 - 1/m). If the learner is not `told` m,
    (m-1)(20m' + 1 + 3 log2 m') + 17k, m' the least power of two >= m. The label of the first item
    must be that of a component; if it is not, take one component more.

    >>> unique_label_bound(10, 100), capped_bound(10, 100)
    (561.0, 1154)
    """
    _check(m=m, k=k)
    if not told:
        power = (m - 1).bit_length()
        return (m - 1) * (20 * (1 << power) + 1 + 3 * power) + 17 * k
    p, more = 1 / m if p is None else p, 2 * m if l is None else l
    component = 1 / p + m - 1
    exception = max(2 + 2 * component / more, 1 + p * (m + more - 1))
    return (m - 1) * component + k * exception


def capped_rules(m: int, k: int) -> int:
    """Rules that `CappedDFF` creates: m+k-1 (docs/theory.md).

    >>> capped_rules(7, 4)
    10
    """
    _check(m=m, k=k)
    return m + k - 1


def adaptive_bound(m: int, k: int, schedule: str = "growing") -> int:
    """Mistakes of `AdaptiveDFF`, which knows neither m nor k (docs/theory.md).

    "growing": (m-1)(m+2)/2 + (m+k)(m+k+1)/2 - 1, tight. "ruler": the sum over n <= N of
    1 + (n & -n), with N = m'(m+k-1) and m' the least power of two >= m.

    >>> adaptive_bound(7, 4), adaptive_bound(7, 4, "ruler")
    (92, 384)
    """
    _check(m=m, k=k)
    if schedule == "growing":
        return dff_bound(m) + (m + k) * (m + k + 1) // 2 - 1
    if schedule == "ruler":
        rules = ruler_rules(m, k)
        # among 1..N, N >> i multiples of 2^i: each doubles the ruler's value there
        total = rules + sum((1 << i >> 1 or 1) * (rules >> i) for i in range(rules.bit_length()))
        return total
    raise ParameterError(f"schedule must be 'growing' or 'ruler', got {schedule!r}")


def ruler_rules(m: int, k: int) -> int:
    """Rules that `AdaptiveDFF("ruler")` creates: N = m'(m+k-1) (docs/theory.md).

    >>> ruler_rules(7, 4)
    80
    """
    _check(m=m, k=k)
    return (1 << (m - 1).bit_length()) * (m + k - 1)


def guarded_bound(guaranteed: float) -> float:
    """Mistakes of `Guarded` when the guaranteed learner makes at most `guaranteed`: 2B+1.

    >>> guarded_bound(capped_bound(7, 4))
    119
    """
    return 2 * guaranteed + 1


def lower_bound(m: int) -> float:
    """Mistakes no learner escapes on average in the world of Theorem 2: |P_m|/8 = m(m-1)/16.

    >>> lower_bound(8)
    3.5
    """
    _check(m=m)
    return comb(m, 2) / 8


def reduction_size(m: int, k: int, d: int, shared: int = 1) -> int:
    """Components that are enough to absorb `k` exceptions over `d` features (`theory.absorb`).

    m + k(1 + shared (d-1)), where no exception satisfies more than `shared` components of its
    component's label. At shared = 1 (all labels different, or a tree) it is m + dk. The paper's
    Theorem 1(a) claims m + dk always, which is false (docs/theory.md, errata); `shared` is at most
    the number of components with the same label.

    >>> reduction_size(7, 4, 16), reduction_size(7, 4, 16, shared=2)
    (71, 131)
    """
    _check(m=m, k=k)
    check("reduction_size", "d", d, "an integer >= 0", lambda v: v >= 0)
    check(
        "reduction_size", "shared", shared, f"an integer from 1 to m = {m}", lambda v: 1 <= v <= m
    )
    return m + k * (1 + shared * (d - 1))


class StochasticBound(NamedTuple):
    """The explicit terms in the proof of Theorem 4; their sum bounds the mistakes."""

    uncovered: float
    """On items no rule covers: 8 epsilon n + 8 sqrt(R n) log^{3/2}(8 n² / delta)."""
    covered: float
    """On items a rule covers: R((m-1)(q(sigma, n) + 2) + q(epsilon, n) + 1)."""

    @property
    def total(self) -> float:
        return self.uncovered + self.covered


def stochastic_rules(m: int, delta: float) -> float:
    """Rules that `StRoDFF` creates: R(m, delta) = 4 m log(4/delta) (paper, Lemma 14).

    As printed the lemma is false (docs/theory.md, errata): rules are made by *wrong* default
    guesses, which are no random uncovered items.

    >>> round(stochastic_rules(2, 0.1), 1)
    29.5
    """
    _check(m=m)
    return 4 * m * log_over(4, delta)


def stochastic_bound(m: int, epsilon: float, sigma: float, delta: float, n: int) -> StochasticBound:
    """Theorem 4 with the constants of its proof: mistakes in `n` rounds, with probability 1-delta.

    >>> terms = stochastic_bound(4, 0.01, 0.001, 0.1, 10**7)
    >>> f"{terms.total / 10**7:.2f}"
    '5.24'
    """
    _check(m=m)
    rules = stochastic_rules(m, delta) + 1
    uncovered = 8 * epsilon * n + 8 * sqrt(rules * n) * log_over(8 * n**2, delta) ** 1.5
    per_rule = (m - 1) * (q(sigma, n, delta) + 2) + q(epsilon, n, delta) + 1
    return StochasticBound(uncovered, rules * per_rule)


def _check(*, m: int = 1, k: int = 0, s: int = 0, patience: int = 0) -> None:
    if type(m) is type(k) is type(s) is type(patience) is int and m > 0 <= min(k, s, patience):
        return
    check("a bound", "m", m, "an integer >= 1", lambda v: v >= 1)
    for name, value in (("k", k), ("s", s), ("patience", patience)):
        check("a bound", name, value, "an integer >= 0", lambda v: v >= 0)
