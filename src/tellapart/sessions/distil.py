"""A language model teaches a session: it labels rows, several in a call, and corrects the guesses.

    ledger = KeptLedger(store, "mails", calls=200)
    model = Model("http://127.0.0.1:8080/v1", "smol", "Is it spam?", ["spam", "ham"], ledger=ledger)
    Distillation(session, model, rows=500).run()

Every answer goes through the log of the session like a person's. What a request costs is written
before it is sent, so a run can be killed at any moment; the next one goes on. Answers that came but
were not told yet are told first. A request without a reply may have been paid: it counts, it is not
sent again, and its rows come back later in other requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from tellapart.errors import BudgetUsed, ParameterError, check
from tellapart.features.phrasing import spoken
from tellapart.sessions.events import AnswerWord
from tellapart.sessions.replies import Ending, Given
from tellapart.sessions.session import Session
from tellapart.tables import Row
from tellapart.teachers.model import Model, Said

ROWS, BATCH, PARALLEL = 500, 10, 2
"""So many rows are asked about, so many in a call, and so many calls are on their way at a time."""
WORDS = 600
"""So many words of every column of texts the rules may use, named or not."""


class Distillation:
    """A model, or two, and the session they teach.

    Parameters
    ----------
    session : Session
    model : Model
    teacher : str, optional
        The name of the model as a teacher; by default the model's name.
    rows : int
        The most rows to ask about, in all runs together.
    batch, parallel : int
        How many rows are in a call, and how many calls for labels are sent at the same time.
    reasons : bool
        Whether the model is asked for a difference after a wrong guess.
    second, second_teacher : Model, str
        Another model that labels a share of the rows, too (the session's `overlap`).
    say : (text) -> None
        Called with the progress after every round of calls.
    """

    def __init__(
        self,
        session: Session,
        model: Model,
        teacher: str | None = None,
        *,
        rows: int = ROWS,
        batch: int = BATCH,
        parallel: int = PARALLEL,
        reasons: bool = True,
        second: Model | None = None,
        second_teacher: str | None = None,
        say: Callable[[str], object] = lambda text: None,
    ) -> None:
        for name, value in (("rows", rows), ("batch", batch), ("parallel", parallel)):
            check("Distillation", name, value, "an integer >= 1", lambda n: n >= 1)
        self.session, self.model, self.second = session, model, second
        self.teacher = teacher or model.endpoint.model
        self.second_teacher = second_teacher or (second and second.endpoint.model) or ""
        if self.second_teacher == self.teacher:
            raise ParameterError(
                f"both models are called {self.teacher!r}; give one of them another name"
            )
        self.rows, self.batch, self.parallel, self.reasons = rows, batch, parallel, reasons
        self._say = say

    def run(self) -> str:
        """Teach until the error is low enough, the rows or the budget are used up; returns which.

        Raises `EndpointError` if the server cannot be used; what it answered is kept.
        """
        self.session.join(self.teacher, model=self.model.endpoint.model)
        if self.second is not None:
            self.session.join(self.second_teacher, model=self.second.endpoint.model)
        try:
            self._catch_up()
            with ThreadPoolExecutor(self.parallel) as pool:
                try:
                    return self._teach(pool)
                except KeyboardInterrupt:  # replies on their way are kept, but nobody waits longer
                    self.model.endpoint.stop()
                    raise
        except BudgetUsed as error:
            return str(error)

    def _teach(self, pool: ThreadPoolExecutor) -> str:
        while True:
            if self.session.summary().may_stop:
                return "the error is low enough"
            left = self.rows - len(self.told)
            if left <= 0:
                return f"{self.rows:,} rows were asked about"
            items = self.session.coming(self.teacher, min(left, self.batch * self.parallel))
            if not items:
                return "no rows are left"
            self._round(items, pool)

    @property
    def told(self) -> frozenset[int]:
        """The places of the rows that the model has answered about."""
        return self.session.answered_by(self.teacher)

    # -- what came before

    def _catch_up(self) -> None:
        """Tell what the model answered and nobody was told; put off what never got a reply."""
        for item in self._untold(self.model.answered()):
            if (said := self.model.known(item)) is not None:
                self._tell(item, said)
        if self.second is not None:
            self._ask_second([self.session.table.items[place] for place in sorted(self.told)])
        untold = self._untold(self.model.lost())
        put_off = {one.item.place for one in self.session.history(teacher=self.teacher)}
        for item in untold:
            if item.place not in put_off and self.model.known(item) is None:
                self._tell(item, Said(None, "", None, lost=True))

    def _untold(self, asked: Iterable[tuple[int, str]]) -> list[Row]:
        """Rows of the table, as they were asked about, that nobody has answered."""
        table = self.session.table
        wanted = {place: cells for place, cells in asked if place < len(table)}
        items = self.session.free([table.items[place] for place in wanted], self.teacher)
        return [item for item in items if self.model.is_of(wanted[item.place], item)]

    # -- a round of calls

    def _round(self, items: Sequence[Row], pool: ThreadPoolExecutor) -> None:
        batches = [items[n : n + self.batch] for n in range(0, len(items), self.batch)]
        calls = [pool.submit(self.model.label, _numbered(batch)) for batch in batches]
        failed = None
        for batch, call in zip(batches, calls, strict=True):
            try:
                said = call.result()
            except Exception as error:  # the others may have answers, which are paid for
                failed = failed or error
                continue
            for item in batch:
                self._tell(item, said[item.place])
            self._ask_second(batch)
        self._say(self._progress())
        if failed is not None:
            raise failed

    def _progress(self) -> str:
        summary, ledger = self.session.summary(), self.model.ledger
        return (
            f"{summary.labelled:,} rows labelled, {ledger.calls:,} calls, {summary.mistakes:,}"
            f" mistakes in {summary.guesses:,} guesses, {summary.rules:,} rules"
        )

    # -- one row

    def _tell(self, item: Row, said: Said) -> None:
        """Give what the model said to the session, with a reason if the guess was wrong."""
        given = self.session.next(self.teacher, item=item)
        if isinstance(given, Ending):
            return
        source = {"call": said.call, "reply": said.reply}
        if said.lost:
            self.session.answer(self.teacher, given.id, "skipped", source=source)
        elif said.label is None:
            self.session.answer(self.teacher, given.id, "unsure", source=source)
        elif self._is_guess(given, said.label):
            self.session.answer(self.teacher, given.id, "right", source=source)
        else:
            feature = None
            if given.guess.label is not None and self.reasons:
                feature, why = self._reason(given, said.label)
                source |= why
            self.session.answer(self.teacher, given.id, "wrong", said.label, feature, source=source)

    def _is_guess(self, given: Given, label: str) -> bool:
        """Whether a label is the one guessed; people may have renamed or merged it."""
        return given.guess.label is not None and self.session.same_label(
            str(given.guess.label), label
        )

    def _reason(self, given: Given, label: str) -> tuple[str | None, dict[str, object]]:
        """The difference that the model chooses, and where that came from."""
        example = given.guess.example
        found = [one.feature for one in self.session.candidates(given.id, label)]
        offered = [feature for feature in found if self.model.may_send(feature)]
        offered = offered[: self.model.offered]
        try:
            chosen = self.model.difference(
                (given.item.place, given.item),
                label,
                (example.place, example),
                str(given.guess.label),
                [spoken(feature) for feature in offered],
            )
        except BudgetUsed:  # the label is paid for, and is learnt without a reason
            return None, {}
        feature = None if chosen.number is None else str(offered[chosen.number])
        return feature, {"reason call": chosen.call, "reason reply": chosen.reply}

    # -- a second model

    def _ask_second(self, items: Sequence[Row]) -> None:
        """The second model labels the rows that two teachers are to be asked about."""
        if self.second is None:
            return
        shared = self.session.free(items, self.second_teacher)
        for n in range(0, len(shared), self.batch):
            batch = shared[n : n + self.batch]
            said = self.second.label(_numbered(batch))
            for item in batch:
                self._tell_second(item, said[item.place])

    def _tell_second(self, item: Row, said: Said) -> None:
        if said.lost:
            return
        given = self.session.next(self.second_teacher, item=item)
        if isinstance(given, Ending):
            return
        answer: AnswerWord = "wrong"
        label = said.label
        if label is None:
            answer = "unsure"
        elif self._is_guess(given, label):
            answer, label = "right", None
        source = {"call": said.call, "reply": said.reply}
        self.session.answer(self.second_teacher, given.id, answer, label, source=source)


def _numbered(items: Sequence[Row]) -> list[tuple[int, Row]]:
    """Rows with the ids they are sent with: their places in the table."""
    return [(item.place, item) for item in items]
