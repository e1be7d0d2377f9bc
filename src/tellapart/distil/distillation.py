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
from concurrent.futures import Future, ThreadPoolExecutor, wait

from tellapart.distil.endpoint import MOMENT
from tellapart.distil.model_teacher import Model, Said
from tellapart.errors import BudgetUsed, check
from tellapart.sessions.replies import Ending, Given
from tellapart.sessions.session import Session
from tellapart.tables import Row

ROWS, BATCH, PARALLEL = 500, 10, 2
"""So many rows are asked about, so many in a call, and so many calls are on their way at a time."""
LEARNER = "ShortList"
"""Who learns, unless another is named. A guard of the number of mistakes costs the rules: after
many mistakes AutoDFF shows a learner that has seen few of the answers."""
WORDS = 600
"""So many words of every column of texts the rules may use, named or not."""


class Distillation:
    """A model, and the session it teaches.

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
        say: Callable[[str], object] = lambda text: None,
    ) -> None:
        for name, value in (("rows", rows), ("batch", batch), ("parallel", parallel)):
            check("Distillation", name, value, "an integer >= 1", lambda n: n >= 1)
        self.session, self.model = session, model
        self.teacher = teacher or model.endpoint.model
        self.rows, self.batch, self.parallel, self.reasons = rows, batch, parallel, reasons
        self._say = say
        self._calls: Sequence[Future[dict[int, Said]]] = ()

    def run(self) -> str:
        """Teach until the error is low enough, the rows or the budget are used up; returns which.

        Raises `EndpointError` if the server cannot be used; what it answered is kept.
        """
        self.session.join(self.teacher, model=self.model.endpoint.model)
        try:
            self._catch_up()
            with ThreadPoolExecutor(self.parallel) as pool:
                try:
                    return self._teach(pool)
                except KeyboardInterrupt:  # replies on their way are kept
                    self.model.endpoint.stop()
                    self._say("waiting for replies on their way; interrupt again to leave them")
                    try:
                        _finish(self._calls)
                    except KeyboardInterrupt:
                        self.model.endpoint.stop(now=True)
                    raise
        except BudgetUsed as error:
            return str(error)

    def _teach(self, pool: ThreadPoolExecutor) -> str:
        ended = None
        while ended is None:
            if self.session.summary().may_stop:
                ended = "the error is low enough"
            elif len(self.told) >= self.rows:
                ended = f"{self.rows:,} rows were asked about"
            elif items := self.coming():
                self._round(items, pool)
            else:
                ended = "no rows are left"
        return ended

    def coming(self) -> list[Row]:
        """The rows of the next round of calls; first those that two teachers are to be asked about
        (the session's `overlap`), and another model has answered."""
        count = min(max(0, self.rows - len(self.told)), self.batch * self.parallel)
        items = self.session.table.items
        shared = self.session.free([items[place] for place in sorted(self._others())], self.teacher)
        return [*shared, *self.session.coming(self.teacher, count)][:count]

    def _others(self) -> set[int]:
        """The places of the rows that other models have answered about."""
        names = self.session.models.keys() - {self.teacher}
        return {place for name in names for place in self.session.answered_by(name)}

    def batches(self, items: Iterable[Row]) -> list[list[Row]]:
        """The rows of each call: one of those with equal cells, and none that is known."""
        new = {self.model.key(item): item for item in reversed(list(items))}
        asked = [item for item in reversed(new.values()) if self.model.known(item) is None]
        return [asked[n : n + self.batch] for n in range(0, len(asked), self.batch)]

    @property
    def told(self) -> frozenset[int]:
        """The places of the rows that the model has answered about."""
        return self.session.answered_by(self.teacher)

    # -- what came before

    def _catch_up(self) -> None:
        """Tell what the model answered and nobody was told; put off what never got a reply."""
        for item in self._untold("answered"):
            if (said := self.model.known(item)) is not None:
                self._tell(item, said)
        put_off = {one.item.place for one in self.session.history(teacher=self.teacher)}
        for item in self._untold("sent"):
            if item.place not in put_off and self.model.known(item) is None:
                self._tell(item, Said(None, "", None, lost=True))

    def _untold(self, state: str) -> list[Row]:
        """Rows of the table in requests of a state, as they were asked about, without an answer."""
        table = self.session.table
        asked = self.model.asked_about(state)
        wanted = {place: cells for place, cells in asked if place < len(table)}
        items = self.session.free([table.items[place] for place in wanted], self.teacher)
        return [item for item in items if self.model.key(item) == wanted[item.place]]

    # -- a round of calls

    def _round(self, items: Sequence[Row], pool: ThreadPoolExecutor) -> None:
        alike: dict[str, list[Row]] = {}
        for item in items:
            alike.setdefault(self.model.key(item), []).append(item)
        for item in items:
            if (known := self.model.known(item)) is not None:
                self._tell(item, known)
        batches = self.batches(items)
        calls = [pool.submit(self.model.label, _numbered(batch)) for batch in batches]
        self._calls = calls
        failed: list[Exception] = []
        for batch, call in zip(batches, calls, strict=True):
            _finish([call])
            try:
                said = call.result()
            except Exception as error:  # the others may have answers, which are paid for
                failed.append(error)
                continue
            for item in batch:
                for same in alike[self.model.key(item)]:
                    self._tell(same, said[item.place])
        self._say(self._progress())
        full = all(isinstance(error, BudgetUsed) for error in failed)
        if failed and not (full and len(failed) < len(calls)):
            raise failed[0]  # but calls on their way may have left some of what was kept for them

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
            asked = self.reasons and item.place not in self._others()  # only the first one teaches
            if given.guess.label is not None and asked:
                feature, why = self._reason(given, said.label)
                source |= why
            self.session.answer(self.teacher, given.id, "wrong", said.label, feature, source=source)

    def _is_guess(self, given: Given, label: str) -> bool:
        """Whether a label is the one guessed; people may have renamed or merged it."""
        guess = given.guess.label
        return label == guess or (guess is not None and self.session.label_named(label) == guess)

    def _reason(self, given: Given, label: str) -> tuple[str | None, dict[str, object]]:
        """The difference that the model chooses, and where that came from."""
        example = given.guess.example
        found = [one.feature for one in self.session.candidates(given.id, label)]
        item, other = (given.item.place, given.item), (example.place, example)
        try:
            chosen = self.model.reason(item, label, other, str(given.guess.label), found)
        except BudgetUsed:  # the label is paid for, and is learnt without a reason
            return None, {}
        feature = None if chosen.feature is None else str(chosen.feature)
        return feature, {"reason call": chosen.call, "reason reply": chosen.reply}


def _finish(calls: Iterable[Future[dict[int, Said]]]) -> None:
    """Wait until all calls are done; an interrupt is noticed soon."""
    while wait(calls, timeout=MOMENT).not_done:
        pass


def _numbered(items: Sequence[Row]) -> list[tuple[int, Row]]:
    """Rows with the ids they are sent with: their places in the table."""
    return [(item.place, item) for item in items]
