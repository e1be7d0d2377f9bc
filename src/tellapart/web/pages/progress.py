"""The progress page: one sentence and the table as squares; labels and what comes next."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response

from tellapart.errors import ParameterError
from tellapart.sessions import Session
from tellapart.sessions.config import ORDERS
from tellapart.sessions.phrasing import ORDER_WORDS, how_sure, progress_sentence
from tellapart.web.access import Call
from tellapart.web.pages.render import Form, page, redirect
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")
SQUARES = 400
"""So many squares are drawn at most; in a larger table each stands for several rows."""
_ACROSS = 40
_STRIP = 120  # of the guesses, so many of the last are drawn


@router.get("/progress")
@reads_session
def progress(session: Session, call: Call) -> Response:
    """How far it is, and how it went."""
    summary, mistakes = session.summary(), session.mistakes()
    error = summary.error
    taught = summary.items - error.rows_left
    wrong = min(error.wrong_left, error.rows_left) if error.high <= 0.99 else None
    each = max(1, -(-summary.items // SQUARES))
    return page(
        session,
        call,
        "progress",
        taught=taught,
        rest=error.rows_left,
        wrong=wrong,
        sentence=progress_sentence(summary, taught, wrong),
        waffle=squares(taught, error.rows_left, wrong, each),
        each=each,
        wrong_guesses=sum(mistakes),
        strip=strip(mistakes[-_STRIP:]),
        recent=summary.recent,
        how_sure=how_sure(summary),
        settings=session.settings,
        meanings=session.meanings,
        slip_rates=session.slip_rates(),
        **_tally(session, call.viewer),
        orders=[(order, ORDER_WORDS[order]) for order in ORDERS if order in ORDER_WORDS],
        overlaps=_overlaps(session) if len(call.app.people.all) > 1 else [],
    )


def squares(taught: int, rest: int, wrong: int | None, each: int = 1) -> Markup:
    """The table as squares: taught, right by the rules, perhaps wrong; one for each few rows.

    >>> print(squares(1, 2, 1).count("<rect"))
    3
    """
    kinds = [("t", taught)]
    kinds += [("n", rest)] if wrong is None else [("s", rest - wrong), ("u", wrong)]
    drawn, n = [], 0
    for kind, rows in kinds:
        for _ in range(-(-rows // each)):
            x, y = n % _ACROSS * 14 + 1, n // _ACROSS * 14 + 1
            drawn.append(f'<rect class="{kind}" x="{x}" y="{y}" width="11" height="11" rx="2"/>')
            if kind == "u":
                drawn.append(f'<path class="x" d="M{x + 3} {y + 8}l5-5"/>')
            n += 1
    told = f"Of {taught + rest:,} rows, {taught:,} are taught"
    if wrong is not None:
        told += (
            f", at least {rest - wrong:,} are right by the rules, and at most {wrong:,} are wrong"
        )
    box = f"0 0 {_ACROSS * 14} {-(-n // _ACROSS) * 14}"
    return Markup(  # made of numbers alone
        f'<svg class="waffle" viewBox="{box}" role="img" aria-label="{told}">{"".join(drawn)}</svg>'
    )


def strip(mistakes: list[bool]) -> Markup:
    """The last guesses in order: a wrong one is a tall mark."""
    marks = []
    for n, wrong in enumerate(mistakes):
        x = n * 11
        if wrong:
            marks.append(f'<rect class="u" x="{x + 0.5}" y="0.5" width="8" height="17" rx="2"/>')
            marks.append(f'<path class="x" d="M{x + 2.5} 11l4-5"/>')
        else:
            marks.append(f'<rect class="t" x="{x}" y="10" width="8" height="8" rx="2"/>')
    told = f"{len(mistakes)} guesses in order; {sum(mistakes)} were wrong"
    wide = max(650, len(mistakes) * 11)
    return Markup(
        f'<svg class="strip waffle" viewBox="0 0 {wide} 19" role="img" aria-label="{told}">'
        f"{''.join(marks)}</svg>"
    )


def _tally(session: Session, viewer: str | None) -> dict[str, Any]:
    """How often each label was said, and mistaken; and what each teacher did.

    Said is, as under Rules, the label that each item was taught with; second opinions teach
    nothing. Where there was no guess, none was right or wrong.
    """
    labels = {label: Counter[str]() for label in session.labels}
    for label in session.taught(viewer=viewer).values():
        labels.setdefault(label, Counter())["said"] += 1
    teachers: dict[str, Counter[str]] = {}
    for one in session.history(viewer=viewer):
        if one.undone:
            continue
        if one.outcome == "mistake":
            labels.setdefault(str(one.label), Counter())["missed"] += 1
            labels.setdefault(str(one.guess), Counter())["mistaken"] += 1
        done = teachers.setdefault(one.teacher, Counter())
        done["answers"] += 1
        done["label" if one.answer == "wrong" and one.guess is None else one.answer] += 1
    return {"said": labels, "teachers": teachers}


@router.post("/labels")
@in_session
def rename(session: Session, sent: Form, call: Call) -> Response:
    """Call a label something else; the owner makes one of two with the name of another."""
    label, to = sent.get("label", ""), sent.get("to", "").strip()
    merge = to in session.labels
    if merge:
        call.must_own()
    act = session.merge_labels if merge else session.rename_label
    act(call.name, label, to, id=sent.get("id"))
    return redirect(session, "/progress#labels")


_OVERLAPS = {0.0: "none", 0.1: "a tenth", 0.25: "a quarter", 0.5: "half", 1.0: "all"}


def _overlaps(session: Session) -> list[tuple[float, str]]:
    """Shares of the items that two teachers may be asked about, the present one among them."""
    now = session.settings["overlap"]
    return sorted({now: f"{100 * now:.0f} %", **_OVERLAPS}.items())


_BACK = ("/teach", "/export", "/answers?tab=disputed")


@router.post("/meaning")
@in_session
def describe(session: Session, sent: Form, call: Call) -> Response:
    """Say what a label means."""
    label, meaning = sent.get("label", ""), sent.get("meaning", "").strip()
    session.describe_label(call.name, label, meaning, id=sent.get("id"))
    return redirect(session, "/progress#labels")


@router.post("/settings")
@in_session
def settings(session: Session, sent: Form, call: Call) -> Response:
    """Switch the order of rows, the share that two people are asked about, what is said where a
    rule is not sure, who gets which rows, or what rows are called by (which anybody may)."""
    if "title" not in sent:
        call.must_own()
    wanted: dict[str, Any] = {"order": sent.get("order", "")}
    if "title" in sent:
        wanted = {"title": sent["title"]}
    elif "overlap" in sent:
        try:
            wanted = {"overlap": float(sent["overlap"])}
        except ValueError:
            raise ParameterError(
                f"overlap is a number from 0 to 1, got {sent['overlap']!r}"
            ) from None
    elif "unsure" in sent:
        wanted = {"unsure": sent["unsure"]}
    elif "teacher" in sent:
        own = {"where": sent.get("where", "").strip()}
        wanted = {"assignments": {**session.settings["assignments"], sent["teacher"]: own}}
    session.set(call.name, **wanted, id=sent.get("id"))
    back = sent.get("back", "")
    return redirect(session, back if back in _BACK else "/progress")
