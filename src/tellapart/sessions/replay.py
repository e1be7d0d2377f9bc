"""What the acts of a session have taught its learner, in their order, undone ones left out.

The learner is where it would be had the undone acts never been. To get there without starting from
the beginning each time, copies of the learner are kept from time to time: to undo something, take
the latest copy made before it and tell the rest again.

Only the first answer about an item teaches; others are opinions, to be compared. What an answer
comes to depends on what the learner guesses when it is told, which need not be what the teacher was
shown (somebody else answered meanwhile, or something earlier was undone):

- the guess agrees with the label that was said: the guess was right;
- it is the same guess, with the same example: the answer counts as given;
- otherwise the label is kept, and the item waits for a feature that tells it from the new example.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tellapart.learners import BaseLearner
from tellapart.protocol import Correction, Guess
from tellapart.review import Progress, Transcript
from tellapart.review.stoppers import says
from tellapart.sessions.acts import Act, Said, Shown
from tellapart.sessions.edited_rules import Edited
from tellapart.sessions.items import Items
from tellapart.sessions.labels import Labels
from tellapart.tables import Row

_WORTH = 3  # a copy is made when telling what came since took so many times what a copy takes
_URGENT = 6  # and this is not left for later any more
_COPIES = 24
_LEAST = 0.002  # seconds


@dataclass
class Standing:
    """Where a learner stands, and what was counted on the way."""

    learner: Edited
    taught: dict[int, int] = field(default_factory=dict)
    """The items learnt from, and the act that taught each."""
    waiting: dict[int, int] = field(default_factory=dict)
    """The items whose label is known, but not what tells them from the example shown now."""
    records: dict[int, tuple[int, int]] = field(default_factory=dict)
    """How often the rule with an example was right, and wrong."""
    tags: dict[tuple[str, int], bool | None] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)

    def copy(self) -> Standing:
        """Another one, independent."""
        return Standing(
            copy.deepcopy(self.learner),
            dict(self.taught),
            dict(self.waiting),
            dict(self.records),
            dict(self.tags),
            copy.deepcopy(self.progress),
        )


class Course:
    """A learner taught by acts.

    Outcomes of an answer: "label" (it was asked for), "right", "mistake" (learnt), "again" (waits
    for another feature), "opinion", "unsure", "skipped".
    """

    def __init__(self, items: Items, learner: BaseLearner, labels: Labels) -> None:
        self.items, self.labels = items, labels
        self._fresh = learner
        self.acts: list[Act] = []
        self.mistakes: list[bool] = []
        """Of every guess, whether it was a mistake."""
        self.sizes: list[int] = []
        """How many rules there were after it."""
        self.history = Transcript()
        """What was learnt from, round by round, in keys of labels."""
        self.rounds: list[int] = []
        """The act of each round."""
        self.now = Standing(Edited(learner.clone()))
        self._copies: list[tuple[int, int, int, Standing]] = []
        self._spent, self._price = 0.0, _LEAST
        self._listening = self._is_caught_up = True
        self._foreseen: dict[tuple[int, Correction], tuple[Edited, float]] = {}

    # -- what is known

    def said(self, number: int) -> Said:
        """What an answer says after all changes."""
        said = self.words(number)
        if said.label is None:
            return said
        label = self.labels.same(said.label)
        return said if label is said.label else said._replace(label=label)

    def words(self, number: int) -> Said:
        """The same, before any labels were merged."""
        act = self.acts[number]
        for change in reversed(act.changes):
            if self.acts[change].alive:
                act = self.acts[change]
                break
        assert act.said is not None
        return act.said

    def guess(self, place: int) -> Guess:
        """What the learner guesses now."""
        return self.now.learner.guess(self.items.row(place))

    # -- telling

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Take in a whole log; the learner is told at the end, what was undone left out."""
        self._listening = False
        yield
        self._listening = True
        self.items.ahead(act.place for act in self.acts if act.alive and act.place >= 0)
        self.again(0)

    def add(self, act: Act) -> None:
        """One more act."""
        if self._listening:
            self.keep(_URGENT)
        self.acts.append(act)
        if not self._listening:
            return
        started = time.perf_counter()
        self._tell(len(self.acts) - 1)
        self._spent += time.perf_counter() - started
        self._is_caught_up, self._foreseen = False, {}

    def catch_up(self) -> None:
        """Do what the last acts left for later; nothing that can be seen changes.

        Some act will do it, if nobody does before: better when nobody waits.
        """
        if self._is_caught_up:
            return
        self._is_caught_up = True
        started = time.perf_counter()
        self.now.learner.catch_up()
        self._spent += time.perf_counter() - started
        self.keep()

    def keep(self, worth: int = _WORTH) -> None:
        """Make a copy for those who undo, if it is worth it."""
        if self._spent > worth * max(self._price, _LEAST):
            self._keep_copy(len(self.acts))

    def foresee(self, shown: Shown, said: Said) -> bool:
        """Learn beforehand what may be said next, aside: if it is, it is learnt already.

        Whether there was anything to do.
        """
        correction = Correction(said.label, said.feature)
        if (shown.place, correction) in self._foreseen or shown.place in self.now.taught:
            return False
        self.catch_up()
        guess, started = self.guess(shown.place), time.perf_counter()
        if guess.label == said.label or not self._is_same(guess, shown):
            return False
        learner = copy.deepcopy(self.now.learner)
        learner.learn(self.items.row(shown.place), guess, correction)
        _ = learner.model
        self._foreseen[shown.place, correction] = learner, time.perf_counter() - started
        return True

    def again(self, number: int) -> None:
        """Tell everything from an act on anew: it was undone, redone or changed."""
        self._foreseen = {}
        if not self._listening:
            return
        while self._copies and self._copies[-1][0] > number:
            self._copies.pop()
        before = self.now
        start, rounds, guesses = 0, 0, 0
        if self._copies:
            start, rounds, guesses, kept = self._copies[-1]
            self.now = kept.copy()
        else:
            self.now = Standing(Edited(self._fresh.clone()))
        del self.history.rounds[rounds:], self.rounds[rounds:]
        del self.mistakes[guesses:], self.sizes[guesses:]
        for tag, place in before.tags.keys() | self.now.tags.keys():
            said = self.now.tags.get((tag, place))
            if before.tags.get((tag, place)) is not said:
                self.items.table.tag(tag).set(self.items.row(place), said)
        self._spent, self._is_caught_up = 0.0, False
        left = len(self.acts) - start
        marks = {len(self.acts) - (left >> power) for power in range(1, left.bit_length() + 1)}
        for later in range(start, len(self.acts)):
            started = time.perf_counter()
            self._tell(later)
            self._spent += time.perf_counter() - started
            if later + 1 in marks and self._spent > self._price:  # half way, and half way again
                self._keep_copy(later + 1)

    def _keep_copy(self, number: int) -> None:
        started = time.perf_counter()
        self._copies.append((number, len(self.rounds), len(self.mistakes), self.now.copy()))
        self._price, self._spent = time.perf_counter() - started, 0.0
        if len(self._copies) > _COPIES:
            self._thin()

    def _thin(self) -> None:
        """Let the copy go that is missed least: many of late, few of long ago."""
        at = [0, *(kept[0] for kept in self._copies)]
        end = at[-1] + 1

        def missed(n: int) -> float:
            return (at[n + 1] - at[n - 1]) / (end - at[n - 1])

        del self._copies[min(range(1, len(at) - 1), key=missed) - 1]

    def _tell(self, number: int) -> None:
        act = self.acts[number]
        if not act.alive:
            return
        now = self.now
        if act.kind == "answered":
            act.outcome = self._answer(number, act)
        elif act.kind == "settled":
            self._settle(act)
        elif act.kind == "tag set":
            now.tags[act.data["tag"], act.place] = act.data["value"]
            self.items.table.tag(act.data["tag"]).set(self.items.row(act.place), act.data["value"])
        elif act.kind == "rule dropped":
            now.learner.drop(self.items.row(act.place))
        elif act.kind == "rule edited":
            assert act.said is not None
            assert act.said.label is not None
            label = self.labels.same(act.said.label)
            now.learner.edit(self.items.row(act.place), act.said.feature, label)

    def _answer(self, number: int, act: Act) -> str:
        said, shown, place = self.said(number), act.shown, act.place
        assert shown is not None
        if said.label is None:
            waits = self.now.waiting.get(place)
            if said.answer == "unsure" and waits is not None and self.acts[waits].by == act.by:
                del self.now.waiting[place]  # the label is no longer vouched for
            return said.answer
        if place in self.now.taught:
            return "opinion"
        guess = self.guess(place)
        if guess.label is None:
            correction: Correction | None = Correction(said.label)
        elif guess.label == said.label:
            correction = None
        elif self._is_same(guess, shown):
            correction = Correction(said.label, said.feature)
        else:
            self.now.waiting[place] = number
            return "again"
        self._learn(number, guess, correction)
        if guess.label is None:
            return "label"
        return "right" if correction is None else "mistake"

    def _settle(self, act: Act) -> None:
        """The guess on an item that waits may have come to agree with its label."""
        number = self.now.waiting.get(act.place)
        if number is not None:
            guess = self.guess(act.place)
            if guess.label == self.said(number).label:
                self._learn(number, guess, None)
                self.acts[number].outcome = "right"

    def _is_same(self, guess: Guess, shown: Shown) -> bool:
        if shown.label is None or guess.label != self.labels.same(shown.label):
            return False
        return isinstance(guess.example, Row) and guess.example.place == shown.example

    def _learn(self, number: int, guess: Guess, correction: Correction | None) -> None:
        now, act = self.now, self.acts[number]
        item = self.items.row(act.place)
        before = now.learner.model
        foreseen = None if correction is None else self._foreseen.get((act.place, correction))
        if foreseen is None:
            now.learner.learn(item, guess, correction)
        else:
            now.learner, seconds = foreseen
            self._spent += seconds
        now.taught[act.place] = number
        now.waiting.pop(act.place, None)
        self.history.add(item, guess, correction, who=act.by)
        self.rounds.append(number)
        if guess.label is None:
            now.progress.ask()
            return
        mistake = correction is not None
        after = now.learner.model
        changed = after is not before and says(after) != says(before)
        if act.shown is not None and act.shown.sought:
            now.progress.pick(mistake, changed)
        else:
            now.progress.add(mistake, changed)
        self.mistakes.append(mistake)
        self.sizes.append(len(after.clauses))
        rule = guess.example.place
        right, wrong = now.records.get(rule, (0, 0))
        now.records[rule] = (right + (not mistake), wrong + mistake)
