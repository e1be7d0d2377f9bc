"""Label-only learners to compare with: trees, naive Bayes, a forest, logistic regression and more.

A peer sees every column of an item, or the numbers of its row, and every label, but no features.
The example it shows is the first item it saw with the guessed label, because the teacher needs one.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import log2
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.errors import MissingExtra
from tellapart.lab.experiment import Row
from tellapart.lab.streams import Stream, share_right, stream
from tellapart.protocol import Correction, Guess, Item, Label

_Counts = npt.NDArray[np.int32]
_TIE = 1e-7  # splits whose bits differ by less are ties


class Peer(ABC):
    """A classifier that learns the labels of a stream, item by item, in order."""

    def __init__(self, stream: Stream) -> None:
        self.rows, self.labels = stream.rows, stream.labels
        self._code = {label: code for code, label in enumerate(self.labels)}
        self._examples: dict[Label, Item] = {}
        self.round = 0

    def guess(self, item: Item) -> Guess:
        """The predicted label of the next item, and the first item that had it."""
        if not self._examples:
            return Guess(None, None)
        label = self.labels[self._predict(self.round)]
        return Guess(label, self._examples[label])

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Learn the label of the next item."""
        label = guess.label if correction is None else correction.label
        self._examples.setdefault(label, item)
        self._learn(self.round, self._code[label], wrong=correction is not None)
        self.round += 1

    def accuracy(self, labels: Sequence[Label]) -> float | None:
        """The share of the rows after the stream that it labels correctly; None if there are few.

        `labels` are the right ones.
        """
        return share_right(
            [self.labels[self._predict(self.round + n)] for n in range(len(labels))], labels
        )

    @abstractmethod
    def _predict(self, number: int) -> int:
        """The predicted code of the label of row `number`."""

    @abstractmethod
    def _learn(self, number: int, code: int, *, wrong: bool) -> None:
        """Learn the label of row `number`; `wrong` if the guess was wrong or missing."""


class Tree(Peer):
    """A decision tree, fitted to the whole history after every mistake."""

    def __init__(self, stream: Stream, *, pruning: float) -> None:
        super().__init__(stream)
        columns, labels = self.rows.shape[1], len(self.labels)
        self.tree = Cart(columns, labels, pruning=pruning, seed=stream.seed)

    def _predict(self, number: int) -> int:
        return self.tree.predict(self.rows[number])

    def _learn(self, number: int, code: int, *, wrong: bool) -> None:
        self.tree.add(self.rows[number], code)
        if wrong:
            self.tree.fit()


class Node(NamedTuple):
    """A split by `column`; a leaf has column -1."""

    column: int
    yes: int
    no: int
    counts: _Counts
    """Rows of each label."""
    bits: float
    """Their number times the entropy of their labels."""


class Cart:
    """A decision tree on 0/1 columns, for many fits to a growing history.

    It is the tree of scikit-learn's `DecisionTreeClassifier(criterion="entropy", ccp_alpha=...)`,
    with ties broken at random as there. With many columns it is much faster: it scores all columns
    of a node at once, counts only the smaller of two children, and updates the counts of the root
    as rows are added.

    Parameters
    ----------
    columns, labels : int
        How many there are.
    pruning : float, default=0
        `ccp_alpha`: the entropy, over all rows, that a leaf must save to be worth having.
    seed : int, default=0
        Breaks ties.

    >>> tree = Cart(columns=2, labels=2)
    >>> for row, label in (([1, 0], 0), ([1, 1], 1), ([0, 0], 1), ([0, 1], 1)):
    ...     tree.add(np.array(row), label)
    >>> tree.fit()
    >>> [tree.predict(np.array(row)) for row in ([1, 0], [1, 1], [0, 1])], len(tree.nodes)
    ([0, 1, 1], 5)
    """

    def __init__(self, columns: int, labels: int, *, pruning: float = 0.0, seed: int = 0) -> None:
        self.pruning = pruning
        self._rows = np.zeros((64, columns), dtype=np.float32)
        self._is = np.zeros((64, labels), dtype=np.float32)
        self._held = np.zeros((columns, labels), dtype=np.int32)
        self._nlogn = np.zeros(1)
        self._random = np.random.default_rng([seed, 13])
        self.size = 0
        self.nodes: list[Node] = []

    def add(self, row: npt.NDArray[Any], label: int) -> None:
        """Add one more row."""
        if self.size == len(self._rows):
            self._rows, self._is = (
                np.concatenate([array, np.zeros_like(array)]) for array in (self._rows, self._is)
            )
        self._rows[self.size] = row
        self._is[self.size, label] = 1
        self._held[:, label] += row.astype(np.int32)
        self.size += 1

    def fit(self) -> None:
        """Fit the tree to all rows, and prune it."""
        if self.size >= len(self._nlogn):
            self._nlogn = np.array([n * log2(n or 1) for n in range(2 * self.size)])
        self.nodes = []
        whole: _Counts = self._is[: self.size].sum(axis=0).astype(np.int32)
        self._grow(np.arange(self.size), whole, self._held)
        if self.pruning:
            self._prune()

    def predict(self, row: npt.NDArray[Any]) -> int:
        """The label of a row; of labels equally frequent in its leaf, the first one."""
        node = self.nodes[0]
        while node.column >= 0:
            node = self.nodes[node.yes if row[node.column] else node.no]
        return int(node.counts.argmax())

    def _grow(self, members: npt.NDArray[np.intp], counts: _Counts, held: _Counts) -> int:
        """The number of the new node for `members`; `held` counts their labels by true column."""
        number = len(self.nodes)
        bits = float(self._nlogn[len(members)] - self._nlogn[counts].sum())
        self.nodes.append(Node(-1, -1, -1, counts, bits))
        if bits <= self.pruning * self.size:  # no split below could survive pruning
            return number
        column = self._best(counts, held)
        if column < 0:
            return number
        inside = self._rows[members, column] > 0
        parts = members[inside], members[~inside]
        totals = held[column].copy(), counts - held[column]
        own = [held, held]
        if max(map(np.count_nonzero, totals)) > 1:  # else both are leaves and need no counts
            smaller = int(len(parts[1]) < len(parts[0]))
            part = parts[smaller]
            own[smaller] = (self._rows[part].T @ self._is[part]).astype(np.int32)
            own[1 - smaller] = held - own[smaller]
        yes, no = (self._grow(*half) for half in zip(parts, totals, own, strict=True))
        self.nodes[number] = Node(column, yes, no, counts, bits)
        return number

    def _best(self, counts: _Counts, held: _Counts) -> int:
        """The column that saves most bits, ties broken at random; -1 if none splits."""
        inside = held.sum(axis=1)
        size = int(counts.sum())
        bits = self._nlogn[inside] + self._nlogn[size - inside]
        for label in np.flatnonzero(counts):
            bits -= self._nlogn[held[:, label]]
            bits -= self._nlogn[counts[label] - held[:, label]]
        bits[(inside == 0) | (inside == size)] = np.inf
        least = bits.min()
        if np.isinf(least):
            return -1
        ties = np.flatnonzero(bits <= least + _TIE)
        return int(ties[self._random.integers(len(ties))])

    def _prune(self) -> None:
        """Undo splits that save less than `pruning` for each leaf, the weakest first."""
        nodes = self.nodes
        allowed = self.pruning * self.size
        while True:
            below, leaves = [node.bits for node in nodes], [1] * len(nodes)
            for number in reversed(range(len(nodes))):  # children come after their parents
                node = nodes[number]
                if node.column >= 0:
                    below[number] = below[node.yes] + below[node.no]
                    leaves[number] = leaves[node.yes] + leaves[node.no]
            saved = [
                ((node.bits - below[number]) / (leaves[number] - 1), number)
                for number, node in enumerate(nodes)
                if node.column >= 0
            ]
            least, weakest = min(saved, default=(np.inf, -1))
            if least > allowed:
                return
            self._cut(weakest)

    def _cut(self, number: int) -> None:
        """Make a node and all nodes below it leaves."""
        node = self.nodes[number]
        if node.column >= 0:
            self._cut(node.yes)
            self._cut(node.no)
            self.nodes[number] = node._replace(column=-1)


class Bernoulli(Peer):
    """river's `BernoulliNB` with counts in arrays: the same guesses, a hundred times as fast."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self._held = np.zeros((len(self.labels), self.rows.shape[1]))
        self._counts = np.zeros(len(self.labels))
        self._logs = np.zeros((2, *self._held.shape))  # for a false and for a true column
        self._order: list[int] = []  # codes by first appearance; river breaks ties so

    def _predict(self, number: int) -> int:
        row, codes = self.rows[number], self._order
        prior = np.log(self._counts[codes] / self._counts.sum())
        score = prior + self._logs[1][codes] @ row + self._logs[0][codes] @ ~row
        return codes[int(score.argmax())]

    def _learn(self, number: int, code: int, *, wrong: bool) -> None:
        if not self._counts[code]:
            self._order.append(code)
        self._counts[code] += 1
        self._held[code] += self.rows[number]
        share = (self._held[code] + 1) / (self._counts[code] + 2)
        self._logs[:, code] = np.log(1e-9 + 1 - share), np.log(1e-9 + share)


class Hoeffding(Peer):
    """river's `HoeffdingTreeClassifier`, with nominal columns and early splits."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        try:
            from river.tree import HoeffdingTreeClassifier
        except ImportError:
            raise MissingExtra("HoeffdingTree", "compare") from None
        self._names = [str(name) for name in stream.world.features]
        self.tree: Any = HoeffdingTreeClassifier(
            grace_period=20, delta=0.05, tau=0.1, nominal_attributes=self._names
        )

    def _item(self, number: int) -> dict[str, bool]:
        return dict(zip(self._names, self.rows[number].tolist(), strict=True))

    def _predict(self, number: int) -> int:
        code = self.tree.predict_one(self._item(number))
        return 0 if code is None else int(code)

    def _learn(self, number: int, code: int, *, wrong: bool) -> None:
        self.tree.learn_one(self._item(number), code)


class Refitted(Peer):
    """A classifier of scikit-learn, fitted to the whole history after every mistake.

    After `_EVERY` rounds it is fitted again only when the history has grown by 3 %, or a long
    stream of a classifier that errs often would take longer than all others together.

    Parameters
    ----------
    kind : str
        The module and the class, like "naive_bayes.GaussianNB".
    points : {"columns", "numbers", "standardised"}
        What it sees of a row.
    always : bool, default=False
        Whether it is fitted again after right guesses, too.
    settings
        Those of the class.
    """

    def __init__(
        self, stream: Stream, kind: str, points: str, *, always: bool = False, **settings: Any
    ) -> None:
        super().__init__(stream)
        module, _, name = kind.partition(".")
        try:
            make = getattr(import_module(f"sklearn.{module}"), name)
        except ImportError:
            raise MissingExtra(name, "compare") from None
        self._model = make(**settings)
        if "random_state" in self._model.get_params():
            self._model.set_params(random_state=stream.seed)
        self._points = _POINTS[points](stream)
        self._always = always
        self._known: list[int] = []
        self._fitted = 0
        self._guesses = np.zeros(len(self._points), dtype=np.intp)

    def _predict(self, number: int) -> int:
        return int(self._guesses[number])

    def _learn(self, number: int, code: int, *, wrong: bool) -> None:
        self._known.append(code)
        now = len(self._known)
        if not (wrong or self._always) or _EVERY < now < 1.03 * self._fitted:
            return
        self._fitted = now
        if len(set(self._known)) < 2:
            self._guesses[:] = code
        elif now < len(self._points):  # else nothing is left to predict
            with warnings.catch_warnings():  # early in a stream, most labels have one row
                warnings.filterwarnings("ignore", "The number of unique classes")
                self._model.fit(self._points[:now], self._known)
            self._guesses[now:] = self._model.predict(self._points[now:])


def _standardised(stream: Stream) -> npt.NDArray[np.float64]:
    numbers = stream.numbers
    spread = numbers.std(axis=0)
    found: npt.NDArray[np.float64] = (numbers - numbers.mean(axis=0)) / np.where(spread, spread, 1)
    return found


_POINTS: dict[str, Callable[[Stream], Any]] = {
    "columns": lambda stream: stream.rows.astype(np.float32),
    "numbers": lambda stream: stream.numbers,
    "standardised": _standardised,
}
_EVERY = 200


class Nearest(Peer):
    """1-nearest-neighbour on standardised numbers; of neighbours equally near, the first."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self._points = _standardised(stream)
        self._known: list[int] = []

    def _predict(self, number: int) -> int:
        history = self._points[: len(self._known)]
        return self._known[int(((history - self._points[number]) ** 2).sum(axis=1).argmin())]

    def _learn(self, number: int, code: int, *, wrong: bool) -> None:
        self._known.append(code)


PEERS: dict[str, Callable[[Stream], Peer]] = {
    "tree, light": partial(Tree, pruning=0.01),
    "tree, strong": partial(Tree, pruning=0.025),
    "tree, unpruned": partial(Tree, pruning=0.0),
    "tree on numbers": partial(
        Refitted,
        kind="tree.DecisionTreeClassifier",
        points="numbers",
        criterion="entropy",
        ccp_alpha=0.04,
    ),
    "HoeffdingTree": Hoeffding,
    "BernoulliNB": Bernoulli,
    "GaussianNB": partial(
        Refitted,
        kind="naive_bayes.GaussianNB",
        points="standardised",
        always=True,
        var_smoothing=0.1,
    ),
    "forest": partial(Refitted, kind="ensemble.RandomForestClassifier", points="numbers"),
    "LogisticRegression": partial(
        Refitted, kind="linear_model.LogisticRegression", points="columns", max_iter=1000
    ),
    "logistic on numbers": partial(
        Refitted, kind="linear_model.LogisticRegression", points="standardised", max_iter=1000
    ),
    "boosting": partial(
        Refitted,
        kind="ensemble.HistGradientBoostingClassifier",
        points="numbers",
        learning_rate=0.2,
        max_iter=25,
        max_leaf_nodes=4,
        min_samples_leaf=2,
        early_stopping=False,
    ),
    "1-NN": Nearest,
}
"""By name: makes a fresh peer for a stream. Their settings were chosen on the tables tuned on."""

OTHERS = ("forest", "LogisticRegression", "logistic on numbers", "boosting", "1-NN")
"""Peers whose models nobody can read."""
READABLE = tuple(name for name in PEERS if name not in OTHERS)
"""Peers whose models a person can read."""

MOST_COLUMNS = {"HoeffdingTree": 300} | dict.fromkeys(("tree on numbers", "GaussianNB", *OTHERS), 0)
"""Peers left out of made worlds with more columns than this: made worlds have no numbers to read,
and the peers that nobody can read take long there and err most."""


def _one_thread() -> Any:
    """On little data, threads that wait for each other take longer than one."""
    if find_spec("threadpoolctl") is None:  # it comes with scikit-learn
        return nullcontext()
    return import_module("threadpoolctl").threadpool_limits(1)


def run(_: int, row: str, learner: str, seed: int, rounds: int) -> list[Row]:
    """Teach one peer one stream; the stream's seed is the same for all learners."""
    on = stream(row, seed, rounds)
    peer, teacher = PEERS[learner](on), on.teacher()
    mistakes = 0
    with _one_thread():
        for item in on.world.items:
            guess = peer.guess(item)
            answer = teacher.answer(item, guess)
            peer.learn(item, guess, answer)
            mistakes += answer is not None and guess.label is not None
    found: Row = {"items": len(on.world), "mistakes": mistakes, "exceptions": on.world.k}
    return [found | {"fresh": peer.accuracy(on.fresh[1])}]
