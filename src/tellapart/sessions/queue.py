"""Who is asked about which item next: leases, items that come back, searches, order.

An item is leased to one teacher at a time. A lease ends with the answer, or when its time is up;
the clock is read only when somebody wants an item, so that the same log gives the same queue.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from itertools import islice
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.combinations import margin
from tellapart.errors import ParameterError, ProtocolError
from tellapart.features import Points
from tellapart.model import DecisionList
from tellapart.protocol import Guess
from tellapart.sessions.config import ORDERS
from tellapart.sessions.events import Event
from tellapart.sessions.history import LEAST_SURE, Act, Question, is_column
from tellapart.sessions.wishes import Assignments, Search

if TYPE_CHECKING:
    from tellapart.sessions.log import State

LATER = 20
"""A skipped item comes back after so many acts, then after twice as many, and so on."""
_ENOUGH = 12  # guesses on drawn items that show whether most are wrong
_RECORD = 256  # so many of the last items taught make the record of a rule, in mixed order
_FIRST = 50  # so many returning items are looked at while there are unseen ones
_PASSED = 200  # so many items that cannot be given are passed by
_SKEW = 5.0  # seconds that a clock may differ from itself
POOL = 32
"""So many items are compared to find the one the learner is least sure of."""
_LEAVE = 4  # so many of them make room before every choice
DRAWN = 4
"""In mixed order, one item in so many is drawn at random,"""
DRAWN_FIRST = 8
"""and so are the first ones: there are no rules yet to be unsure of."""


class Queue:
    """What is asked next in a session.

    A teacher gets, in this order: an item they took an answer back on; one of theirs that waits for
    a feature; one they search for; for a person, one that language models answered about and that
    is to be settled; one that came back (skipped a while ago, or its lease ended); one that wants a
    second opinion; one nobody has seen; and at the end whatever is left.
    """

    def __init__(self, state: State) -> None:
        self._state, self.history, self.items = state, state.history, state.items
        self.leases: dict[int, Question] = {}
        self.held: dict[str, Question] = {}
        """What each teacher has before them."""
        self.seen: set[int] = set()
        self.returning: dict[int, int] = {}
        """Items that come back, and after how many acts."""
        self._searches: dict[str, tuple[str, Search | None]] = {}
        self.sought: set[int] = set()
        """Items that were given because of a search."""
        self.marked: set[int] = set()
        """Items whose guess was marked as wrong in a sweep."""
        self.picked: set[int] = set()
        """Items that were given because the learner was unsure of them, in mixed order."""
        self._skips: dict[int, int] = {}
        self._taken_back: dict[str, list[int]] = {}
        self._second: dict[str, dict[int, None]] = {}
        """Items that want a second opinion, by who gave the first."""
        self._ends: list[tuple[float, int, str, int]] = []
        self._given = 0
        self._order: Order | None = None
        self._assignments: Assignments | None = None
        self.reviews: list[int] = []
        """What people should settle of what language models said; see `teams.reviews`."""
        self.reviewed = 0
        """How many answers of models there were when that was worked out."""
        self._doubts = Doubts()

    @property
    def order(self) -> Order:
        """The items nobody has seen, in their order."""
        if self._order is None:
            opened, kind = self.history.opened.data, self.history.settings.order
            began = str(opened.get("order"))
            self._order = Order(len(self.items), kind, opened["seed"], began=began)
        return self._order

    @property
    def assignments(self) -> Assignments | None:
        """Who gets which rows, if that was said."""
        settings = self.history.settings
        if self._assignments is None and settings.assignments:
            where = {
                name: self.items.feature(one["where"])
                for name, one in settings.assignments.items()
                if "where" in one  # older versions assigned labels, too
            }
            places: Any = range(len(self.items))
            if settings.order != "file":
                places = _shuffled(len(places), self.history.opened.data["seed"])
            self._assignments = Assignments(self.items.table, where, Line(places))
        return self._assignments

    # -- what happens

    def take(self, event: Event, changed: bool) -> None:
        """Take in an event that the history has taken in; `changed`: see `History.take`."""
        history = self.history
        if event.type == "given":
            self.give(history.questions[event.id])
        elif event.type == "answered":
            act = history.acts[-1]
            assert act.question is not None
            held = self.held.get(act.question.teacher)
            if held is not None and held.item == act.item:
                del self.held[held.teacher]
                if self.leases.get(act.item) is held:
                    del self.leases[act.item]
            self._requeue(act)
        elif event.type == "settled":
            lease = self.leases.get(history.acts[-1].item)
            if lease is not None:
                self.release(lease.teacher)
        elif event.type == "changed" and changed:
            act = history.acts[history.acts[-1].target]
            lease = self.leases.get(act.item)
            if lease is not None and lease.asks == "feature":  # for the label that it had
                self.release(lease.teacher)
            self.release(str(event.by))  # what comes back because of the change comes first
            self._requeue(act)
        elif event.type in ("undone", "redone"):
            self._turn(event, history.acts[history.act_of[event.data["event"]]], changed)
        elif event.type in ("opened", "settings", "rows added"):
            self.reorder()
            if "overlap" in event.data:
                for item in history.answers:
                    if item not in self.leases:
                        self.enqueue(item)
        elif event.type == "search" and event.data["where"] is not None:
            self.release(str(event.by))  # what they have before them can wait
        elif event.type == "swept":
            # they come next; they were looked for, and are no random draw
            wrong, teacher = [history.key(item) for item in event.data["wrong"]], str(event.by)
            self.release(teacher)  # what they have before them can wait
            self.sought.update(wrong)
            self.marked.update(wrong)
            self._taken_back.setdefault(teacher, []).extend(reversed(wrong))

    def _turn(self, event: Event, act: Act, changed: bool) -> None:
        """An act was undone or redone."""
        if act.kind == "changed" and changed:
            self._requeue(self.history.acts[act.target])
        if act.kind != "answered":
            return
        whose = str(event.data.get("teacher", event.by))
        if event.type == "redone":
            self.release(whose, act.item)  # it is answered again
            self._requeue(act)
            return
        self.release(whose)  # what they have before them can wait
        if "sweep" in event.data:  # many at once: none of them is what they look at
            self.enqueue(act.item)
        else:
            # to them the item comes first, to others a little later
            self._taken_back.setdefault(whose, []).append(act.item)
            self.returning.setdefault(act.item, len(self.history.acts) + LATER)

    def _requeue(self, act: Act) -> None:
        """Put the item of an answer where it belongs now."""
        if self.history.raw_answer(act.number).answer == "skipped":
            self.put_off(act.item)
        elif act.item not in self.leases:
            self.enqueue(act.item)

    def reorder(self) -> None:
        """The settings `order` and `assignments` may have changed, or the table has grown."""
        self._order = self._assignments = None

    def give(self, question: Question) -> None:
        self.release(question.teacher)
        before = self.leases.get(question.item)
        if before is not None:  # its time was up
            self.release(before.teacher)
        self.seen.add(question.item)
        if question.sought:
            self.sought.add(question.item)
        if question.picked:
            self.picked.add(question.item)
        self.returning.pop(question.item, None)
        self.leases[question.item] = self.held[question.teacher] = question
        self._given += 1  # leases that end together end in the order they began
        heapq.heappush(self._ends, (question.until, self._given, question.id, question.item))

    def release(self, teacher: str, place: int | None = None) -> None:
        question = self.held.get(teacher)
        if question is None or place not in (None, question.item):
            return
        del self.held[teacher]
        if self.leases.get(question.item) is question:
            del self.leases[question.item]
            self.enqueue(question.item)

    def expire(self, now: float) -> None:
        """End the leases whose time is up, or that begin in the future: the clock was put back."""
        for early in list(self.leases.values()):
            if now < early.since - _SKEW:
                self.release(early.teacher)
        while self._ends and self._ends[0][0] <= now:
            _, _, given, place = heapq.heappop(self._ends)
            question = self.leases.get(place)
            if question is not None and question.id == given:
                self.release(question.teacher)

    def put_off(self, place: int) -> None:
        """An item was skipped: it comes back later."""
        for stack in self._taken_back.values():  # also one whose answer was taken back
            if place in stack:
                stack.remove(place)
        times = self._skips[place] = self._skips.get(place, 0) + 1
        self.returning[place] = len(self.history.acts) + (LATER << min(times - 1, 20))

    def enqueue(self, place: int) -> None:
        opinions = self.history.opinions(place)
        if not opinions:
            self.returning.setdefault(place, 0)
            return
        self.returning.pop(place, None)
        if len(opinions) == 1 and self._wants_second(place, opinions):
            self._second.setdefault(next(iter(opinions)), {})[place] = None

    # -- who may have what

    def _wants_second(self, place: int, opinions: Mapping[str, str]) -> bool:
        if len(opinions) >= 2:
            return False
        unsure = all(said == "unsure" for said in opinions.values())
        return self.is_shared(place, opinions) or unsure

    def is_shared(self, place: int, opinions: Mapping[str, str]) -> bool:
        """Whether two teachers are asked about an item; a column that has answered is none."""
        share = self.history.settings.overlap
        if share <= 0:
            return False
        if share < 1:
            text = f"{self.history.opened.data['seed']} {place}"
            digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
            if int.from_bytes(digest, "big") >= share * 2**64:
                return False
        return not any(map(is_column, opinions))

    def is_free(self, place: int, teacher: str) -> bool:
        """Whether an item may be given to a teacher."""
        if place in self.leases:
            return False
        if not self._is_theirs(place, teacher):
            return False
        opinions = self.history.opinions(place)
        return not opinions or (teacher not in opinions and self._wants_second(place, opinions))

    def _is_theirs(self, place: int, teacher: str) -> bool:
        return self.assignments is None or bool(self.assignments.rows(teacher)[place])

    def is_due(self, place: int) -> bool:
        return self.returning.get(place, 0) <= len(self.history.acts)

    # -- which item is next

    def choose(self, teacher: str, settle: Callable[[int], None]) -> Choice | None:
        """The next item for a teacher.

        `settle` is called with items that need not be asked about any more: the guess has come to
        agree with the label that was kept.
        """

        def by_search() -> int | None:
            search = self.search_of(teacher)
            return None if search is None else search.next(self)

        assignments = self.assignments

        def unseen() -> int | None:
            if assignments is not None:
                return assignments.next(teacher, self.seen)
            return self.order.next(self.seen, self._in_doubt, errs=self._errs())

        ways: tuple[Callable[[], int | None], ...] = (
            lambda: self._next_taken_back(teacher),
            lambda: self._next_waiting(settle, teacher),
            by_search,
            lambda: self._next_review(teacher),
            lambda: self._next_returning(teacher, first=_FIRST),
            lambda: self._next_second(teacher),
            unseen,
            lambda: self._next_returning(teacher),
            lambda: self._next_waiting(settle),
        )
        for way in ways:
            if (place := way()) is not None:
                return self._choice(place, way is by_search, assigned=assignments is not None)
        return None

    def _choice(self, place: int, searched: bool = False, *, assigned: bool = False) -> Choice:
        sought = searched or place in self.sought
        if sought or place in self.seen:
            return Choice(place, sought, place in self.picked)
        picked = assigned or self.order.picks(place)
        by_hand = assigned or (picked and not self.order.is_unsure_of(place))
        return Choice(place, by_hand, picked)

    def search_of(self, teacher: str) -> Search | None:
        event = self.history.searches.get(teacher)
        if event is None:
            return None
        if self._searches.get(teacher, ("",))[0] != event.id:
            where, text = event.data["where"], event.data.get("text", "")
            found = self._state.safely("searches", lambda: self.searched(where, text), None)
            self._searches[teacher] = event.id, found
        return self._searches[teacher][1]

    def searched(self, where: str, text: str = "") -> Search:
        return Search(self.items.table, self.items.feature(where), text or where)

    def wanted(self, teacher: str, place: int) -> Choice:
        if not self.is_free(place, teacher):
            item = self.items.row(place)
            raise ProtocolError(f"{item} is not free: it was answered about, or another has it")
        return self._choice(place)

    def coming(self, teacher: str, count: int) -> list[int]:
        """The next few items: those that came back, then unseen ones, then those put off."""
        found = [p for p in self.returning if self.is_due(p) and self.is_free(p, teacher)][:count]
        seen = self.seen | set(found)
        errs = self._errs()
        while len(found) < count:
            place = self.order.next(seen, self._in_doubt, errs=errs)
            if place is None:
                break
            found.append(place)
            seen.add(place)
        for place in self.returning:
            if len(found) < count and place not in found and self.is_free(place, teacher):
                found.append(place)
        return found

    # -- what people settle of what models said

    def wants_review(self, teacher: str) -> bool:
        """Whether it is to be worked out what this teacher should settle."""
        models = self.history.models
        return bool(models) and teacher not in models and self.model_answers() != self.reviewed

    def model_answers(self) -> int:
        """How many acts there are of language models."""
        models = self.history.models
        return sum(len(self.history.teachers[name].done) for name in models)

    def _next_review(self, teacher: str) -> int | None:
        while self.reviews and self.history.is_settled_by_person(self.reviews[0]):
            self.reviews.pop(0)
        return next((place for place in self.reviews if self._may_settle(place, teacher)), None)

    def _may_settle(self, place: int, teacher: str) -> bool:
        """Whether a teacher may settle what models said about an item."""
        models = self.history.models
        return (
            place not in self.leases
            and teacher not in models
            and bool(models & self.history.voices(place).keys())
            and not self.history.is_settled_by_person(place)
        )

    def _next_taken_back(self, teacher: str) -> int | None:
        stack = self._taken_back.get(teacher, [])
        while stack:
            if self.is_free(stack[-1], teacher) or self._may_settle(stack[-1], teacher):
                return stack[-1]
            stack.pop()
        return None

    def _next_waiting(
        self, settle: Callable[[int], None], teacher: str | None = None
    ) -> int | None:
        """An item whose label is known and whose feature is asked; first a teacher's own."""
        learning, passed = self._state.learning, 0
        for place, number in list(learning.waiting.items()):
            if place in self.leases:
                continue
            if teacher is not None and (
                self.history.acts[number].by != teacher or not self.is_due(place)
            ):
                passed += 1
                if passed > _PASSED:
                    return None
            elif learning.is_settled(place):
                settle(place)
            else:
                return int(place)
        return None

    def _next_returning(self, teacher: str, first: int | None = None) -> int | None:
        """An item that came back; with `first`, one of the first few, and only if it is time."""
        for place in islice(self.returning, first):
            if (first is None or self.is_due(place)) and self.is_free(place, teacher):
                return place
        return None

    def _next_second(self, teacher: str) -> int | None:
        for first, places in self._second.items():
            for place in [] if first == teacher else list(islice(places, _PASSED)):
                if not self._is_theirs(place, teacher):
                    continue
                if self.is_free(place, teacher) and self.is_due(place):
                    return place
                del places[place]  # if it is leased or put off, it comes back by other ways
        return None

    def _errs(self) -> bool:
        progress = self._state.learning.mind.progress
        mistakes, rounds = self._state.safely("mistakes", lambda: progress.recent, (0, 0))
        return rounds >= _ENOUGH and 2 * mistakes > rounds

    def _in_doubt(self, pool: list[int]) -> list[float]:
        """How unsure the rules are of each of some items; all alike where that fails."""
        state = self._state
        return state.safely("doubts", lambda: self._doubts.of(state, pool), [0.0] * len(pool))

    # -- what is asked about it

    def ask(self, place: int) -> tuple[Guess, str, str | None]:
        """The guess on an item (in keys), what is asked, and the label if only a feature is."""
        learning = self._state.learning
        taught = learning.taught.get(place)
        if taught is not None:
            # A second opinion is asked as the first was: nothing learnt since shows through.
            question = self.history.acts[taught].question
            assert question is not None
            label = question.label and self.history.labels.same(question.label)
            example = None if question.example is None else self.items.row(question.example)
            return Guess(label, example), "answer" if label else "label", None
        guess = learning.guess(place)
        number = learning.waiting.get(place)
        if number is not None:
            return guess, "feature", self.history.answer(number).label
        return guess, "label" if guess.label is None else "answer", None

    def is_current(self, held: Question, asked: tuple[Guess, str, str | None], now: float) -> bool:
        """Whether what a teacher has before them would be asked now, with time left to answer."""
        guess, asks, kept = asked
        example = None if guess.example is None else guess.example.place
        label = None if held.label is None else self.history.labels.same(held.label)
        return (
            held.until - now > self.history.settings.lease / 2
            and (label, held.example) == (guess.label, example)
            and (held.asks, held.kept) == (asks, kept)
        )


class Doubts:
    """How unsure the rules are of items; what is found stands while the rules are the same."""

    def __init__(self) -> None:
        self._model: DecisionList | None = None
        self._margins: dict[int, float] = {}
        """How near each item is to another decision, where rules count points."""
        self._rules: dict[int, int] = {}
        """Which clause decides each item, by its id: the model keeps it alive."""
        self._records: dict[int, tuple[int, int]] = {}
        """How often each clause is right, and wrong, about the last items taught."""
        self._counted = 0

    def of(self, state: State, pool: list[int]) -> list[float]:
        """How unsure the rules are of each of some items.

        If they count points, an item with few points more, or fewer, than needed is in doubt. If
        not, it is how much an answer may change: the chance that its rule is wrong, by the record
        that the rule has on the last items taught, times the root of how many of the items have
        this rule. Without the latter, rules of few items take all the time; with the number itself,
        they get none.
        """
        model = self._follow(state)
        points = any(isinstance(feature, Points) for feature in model.features)
        new = [place for place in pool if place not in self._rules]
        for place, item in zip(new, state.items.fetch(new), strict=True):
            self._rules[place] = id(model.match(item))
            self._margins[place] = margin(model, item) if points else inf
        if any(self._margins[place] < inf for place in pool):
            return [-self._margins[place] for place in pool]
        share = Counter(self._rules[place] for place in pool)
        doubts = {}
        for rule, items in share.items():
            right, wrong = self._records.get(rule, (0, 0))
            doubts[rule] = (wrong + 1) / (right + wrong + 2) * sqrt(items)
        return [doubts[self._rules[place]] for place in pool]

    def _follow(self, state: State) -> DecisionList:
        """Count what was taught since, or everything anew if the rules have changed."""
        model, taught = state.learning.model, state.learning.taught
        if self._model is not model or len(taught) < self._counted:
            self._model, self._margins, self._rules, self._records = model, {}, {}, {}
            self._counted = max(0, len(taught) - _RECORD)
        new = list(islice(taught.items(), self._counted, None))
        self._counted = len(taught)
        for (_, number), item in zip(new, state.items.fetch([n for n, _ in new]), strict=True):
            clause = model.match(item)
            right, wrong = self._records.get(id(clause), (0, 0))
            fine = clause.label == state.history.answer(number).label
            self._records[id(clause)] = (right + fine, wrong + (not fine))
        return model


class Choice(NamedTuple):
    """An item that is given next, and whether it is no random draw."""

    place: int
    sought: bool
    """It came from a search, or somebody chose it: it was assigned, or asked for by its name."""
    picked: bool
    """The learner was unsure of it, or, with `sought`, somebody chose it."""


class Order:
    """Places in the order in which they are given out.

    - "file": as they stand in the table.
    - "random": shuffled by the session's seed. The estimates of the error assume it.
    - "mixed": one in four at random, and all of the first eight; the others are picked: of 32, one
      whose rule is doubtful and has many of the 32. Before every choice some leave these 32 and
      others come in; those passed by come at the end. While most of the later guesses on drawn
      items are wrong, all are drawn: such rules cannot tell what they are unsure of.

    Draws and picks come from two shuffled lines that know nothing of each other. So whatever was
    picked, in this order or before it, a draw is any of the items left with the same chance, and
    the estimates of the error hold if only the draws count.

    Draws are shuffled by the session's seed, picks by one made from it; the other way round where a
    session `began` with the order "least sure" of older versions, which picked by the seed. The
    shuffling is done once; every request looks at a few places, never at the whole table.

    >>> order = Order(5, "file", seed=0)
    >>> order.next({0, 1}), order.next({0, 1, 2})
    (2, 3)
    >>> Order(3, "file", seed=0).next({0, 1, 2}) is None
    True
    """

    def __init__(self, length: int, kind: str, seed: int, *, began: str = "random") -> None:
        if kind not in ORDERS:
            raise ParameterError(f"an order is one of {', '.join(ORDERS)}, got {kind!r}")
        self.kind = kind
        draws, picks = ([seed, 1], seed) if began == LEAST_SURE else (seed, [seed, 1])
        self._pool: list[int] = []
        self._draws = Line(range(length) if kind == "file" else _shuffled(length, draws))
        self._picks = Line(_shuffled(length, picks) if kind == "mixed" else ())
        self._drawn: set[int] = set()
        self._unsure: set[int] = set()

    def is_unsure_of(self, place: int) -> bool:
        return place in self._unsure

    def picks(self, place: int) -> bool:
        """Whether an item that nobody has seen is no draw: the learner is unsure of it, or somebody
        asked for it by its name."""
        return place not in self._drawn

    def next(
        self,
        seen: Collection[int],
        doubt: Callable[[list[int]], list[float]] | None = None,
        *,
        errs: bool = False,
    ) -> int | None:
        """A place not in `seen`, or None. `doubt` says how unsure the learner is of some; `errs`,
        whether most of its later guesses on drawn items are wrong."""
        first = len(seen) < DRAWN_FIRST or len(seen) % DRAWN == 0
        if self.kind == "mixed" and not errs and not first:
            return self._pick(seen, doubt)
        drawn = self._draws.first(seen)
        if drawn is not None:
            self._drawn.add(drawn)
            self._unsure.discard(drawn)
        return drawn

    def _pick(
        self, seen: Collection[int], doubt: Callable[[list[int]], list[float]] | None
    ) -> int | None:
        pool = [place for place in self._pool[_LEAVE:] if place not in seen]
        pool += self._picks.some(seen, POOL - len(pool), {*pool})
        if len(pool) < POOL:  # at the end: once more over those passed by
            self._picks.sweep(seen)
            pool += self._picks.some(seen, POOL - len(pool), {*pool})
        self._pool = pool
        if not pool:
            return None
        doubts = [0.0] * len(pool) if doubt is None else doubt(pool)
        place = pool[max(range(len(pool)), key=lambda n: (doubts[n], -n))]
        self._drawn.discard(place)
        self._unsure.add(place)
        return place


def _shuffled(length: int, seed: Any) -> npt.NDArray[np.intp]:
    return np.random.default_rng(seed).permutation(length)


class Line:
    """Places in a row; those handed out are passed."""

    def __init__(self, places: Sequence[int] | npt.NDArray[np.intp]) -> None:
        self._places, self._at = places, 0

    def some(self, seen: Container[int], count: int, known: Container[int] = ()) -> list[int]:
        """The next few places neither seen nor known, and past them."""
        found: list[int] = []
        while len(found) < count and self._at < len(self._places):
            place = int(self._places[self._at])
            self._at += 1
            if place not in seen and place not in known:
                found.append(place)
        return found

    def first(self, seen: Container[int]) -> int | None:
        """The next place not seen."""
        found = self.some(seen, 1)
        if not found:
            return None
        self._at -= 1  # it may come to nothing: then it is next again
        return found[0]

    def among(self, mask: npt.NDArray[np.bool_]) -> Line:
        """Those of them that are in a mask, from the first on."""
        places = np.asarray(self._places, dtype=np.intp)
        return Line(places[mask[places]])

    def sweep(self, seen: Container[int]) -> None:
        """Begin anew with what was passed by."""
        left = [place for place in map(int, self._places) if place not in seen]
        self._places, self._at = np.array(left, dtype=np.intp), 0
