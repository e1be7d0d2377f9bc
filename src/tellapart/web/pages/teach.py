"""The teaching page: a row and a guess; right, or what it is and why; and what was learnt."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Query
from markupsafe import Markup
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response

from tellapart.errors import FeatureError, ParameterError, ProtocolError
from tellapart.features.candidates import Candidate
from tellapart.features.phrasing import joined, spoken
from tellapart.sessions import Ending, Given, Session, phrasing
from tellapart.sessions.learnt import AT_ONCE, Before, Learnt, learnt, moved
from tellapart.sessions.phrasing import (
    ALONE,
    CHECK_THEM,
    MILESTONE_LINKS,
    SAY,
    a_label,
    changed_notice,
    covers,
    decides,
    ending_text,
    may_stop,
    means,
    milestone,
    moves,
    name,
    news_of,
    next_file,
    notice,
    swept_notice,
    undone_notice,
    unread,
    why_again,
)
from tellapart.sessions.suggestions import check as check_expression
from tellapart.sessions.suggestions import opposite
from tellapart.sessions.tour import FILE as ZOO
from tellapart.sessions.tour import hint
from tellapart.web.access import Call, Caller
from tellapart.web.api.teaching import give_answer, given_to
from tellapart.web.errors import Refused
from tellapart.web.pages.comparison import Source, called, compare, in_prose, is_picture
from tellapart.web.pages.render import (
    Again,
    Form,
    Hues,
    draw,
    frame,
    home,
    menu_lines,
    reason_html,
    redirect,
    repair_address,
    with_query,
)
from tellapart.web.session_pool import in_session, reads_session

_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""An SVG that is opened by itself could run scripts; as an image it cannot."""

router = APIRouter(prefix="/s/{session}")
Count = Annotated[int | None, Query(ge=0, le=10_000_000)]
MOST_REASONS = 27
"""So many suggestions are listed, nine at a time."""
MILESTONE = 20
"""After so many answers it is said what has come of them."""


def _respond(call: Caller, values: dict[str, Any]) -> Response:
    """Parts of the page, each to take the place of the element with its id; or, without a script,
    the whole page."""
    if call.fragment:
        return HTMLResponse(
            draw("card.html", **{**values, "fragment": True}), headers={"x-swap": "1"}
        )
    return HTMLResponse(draw("base.html", **values))


@router.get("/teach")
@in_session
def teach(
    session: Session,
    call: Call,
    again: Again = None,
    accepted: Count = None,
    marked: Count = None,
) -> Response:
    """`again`: an answer was changed, and so many need a reason again. `accepted`, `marked`: what
    became of many answers at once."""
    said = changed_notice(again)
    if accepted is not None and marked is not None:
        said = swept_notice(accepted, marked)
    return HTMLResponse(draw("base.html", **_card(session, call, notices=_plain(said))))


@router.get("/card")
@in_session
def card(session: Session, call: Call) -> Response:
    """The row before the teacher, as a fragment."""
    return _respond(call, _card(session, call))


@router.get("/label")
@in_session
def label(
    session: Session,
    call: Call,
    given: Annotated[str, Query(max_length=100)],
    label: Annotated[str, Query(max_length=200)] = "",
    typed: Annotated[str, Query(max_length=210)] = "",
) -> Response:
    """The teacher says what it is: now, what tells it from the earlier row?"""
    shown = given_to(session, call, given)
    wanted = _label(session, call, {"label": label, "typed": typed})
    if wanted is None:
        return _respond(call, _card(session, call, notices=_plain(SAY.label_first)))
    # the rules may have changed since the page was drawn, and the guess with them
    now = session.next(call.name)
    if not isinstance(now, Given) or now.item.identity != shown.item.identity:
        values = _card(session, call, notices=_plain("Somebody else has that row now."))
    elif now.guess.example is None:  # there is nothing to tell it from
        values = _card(session, call)
    elif wanted == now.guess.label:
        values = _answer(session, call, {"given": now.id, "answer": "right"})
    else:
        values = _card(session, call, chosen=wanted)
    return _respond(call, values)


@router.post("/answer")
@in_session
def answer(session: Session, sent: Form, call: Call) -> Response:
    """An answer; then the next row."""
    return _respond(call, _answer(session, call, sent))


@router.post("/turn")
@in_session
def turn(session: Session, sent: Form, call: Call) -> Response:
    """Undo or redo; then the row that it was about, or the one at hand."""
    redo = sent.get("do") == "redo"
    if not (session.can_redo if redo else session.can_undo)(call.name) and not sent.get("id"):
        said = f"There is nothing to {'redo' if redo else 'undo'}."
        return _respond(call, _card(session, call, notices=_plain(said)))
    saved = (session.redo if redo else session.undo)(call.name, id=sent.get("id"))
    if sent.get("from") == "sweep":
        asked = {"label": sent.get("label", ""), "undone": saved.acts}
        return redirect(session, f"/sweep?{urlencode(asked)}")
    item = None
    with suppress(ProtocolError):  # it was no answer
        item = session.question_of(saved.event or "").item
    label = None if item is None else session.label_of(item, viewer=call.viewer)
    said = undone_notice(saved, item, label, redo=redo)
    return _respond(call, _card(session, call, notices=_plain(said)))


@router.post("/note")
@in_session
def note(session: Session, sent: Form, call: Call) -> Response:
    """Keep a note about the row at hand."""
    item = given_to(session, call, sent.get("given", "")).item
    session.note(call.name, sent.get("text", ""), item, id=sent.get("id"))
    return _respond(call, _card(session, call, notices=_plain("Note saved.")))


@router.post("/search")
@in_session
def search(session: Session, sent: Form, call: Call) -> Response:
    """Look for rows; then the first of them."""
    session.search(call.name, sent.get("text", ""), id=sent.get("id"))
    if sent.get("from") == "data":
        return redirect(session, "/teach")
    return _respond(call, _card(session, call))


@router.post("/tag")
@in_session
def tag(session: Session, sent: Form, call: Call) -> Response:
    """A tag that the row has and the earlier row has not, and the answer it makes."""
    shown = given_to(session, call, sent.get("given", ""))
    name = sent.get("tag", "").strip().removeprefix("#").strip()
    feature = session.tag_apart(call.name, shown, name, id=sent.get("id"))
    values = _answer(session, call, {**sent, "answer": "wrong", "feature": feature})
    return _respond(call, values)


@router.post("/tagged")
@in_session
def tagged(session: Session, sent: Form, call: Call) -> Response:
    """Whether the row has a tag that the guess asks for; then the guess anew."""
    item = given_to(session, call, sent.get("given", "")).item
    tag, value = sent.get("tag", ""), sent.get("value") == "yes"
    if sent.get("value") == "unknown":
        return _respond(call, _answer(session, call, {**sent, "answer": "skipped"}))
    session.set_tag(call.name, tag, item, value, id=sent.get("id"))
    said = f"{tag}: {'yes' if value else 'no'}."
    return _respond(call, _card(session, call, notices=_plain(said)))


@router.get("/check")
@reads_session
def check(
    session: Session,
    call: Call,
    given: Annotated[str, Query(max_length=100)],
    feature: Annotated[str, Query(max_length=20_000)],
) -> Response:
    """What is to be said of a reason while it is picked or typed; `valid`: whether it is one."""
    shown = session.given(given) if call.is_owner else given_to(session, call, given)
    try:
        found = check_expression(session.table, feature, shown.item, shown.guess.example)
    except FeatureError as error:
        said, meant = _not_read(session, error, feature, shown)
        return JSONResponse({"says": said, "tells": False, "valid": False, "meant": meant})
    says = means(found, opposite(session.table, feature) if found.on_item is False else None)
    return JSONResponse({"says": says, "tells": found.tells, "valid": True})


def _not_read(
    session: Session, error: FeatureError, text: str, shown: Given
) -> tuple[str, str | None]:
    """Why a text is no reason, and the nearest one, if that tells the two rows apart."""
    meant, table = error.meant, session.table
    if meant is None or not check_expression(table, meant, shown.item, shown.guess.example).tells:
        return unread(error, text), None
    return unread(error, text, spoken(table.parse(meant))), meant


@router.get("/moved")
@reads_session
def count_moved(session: Session, event: int) -> Response:
    """The second line of a notice, where it takes long: which rows an answer moved."""
    known = _LATER.get(session)
    if known is None or known[0] != event:
        return HTMLResponse("")
    return HTMLResponse(moved_html(session, known[1]))


@router.get("/file")
async def picture(call: Call, path: Annotated[str, Query(max_length=1000)]) -> Response:
    """A picture that a cell names, if it lies beside the table or beneath."""
    found = _picture_file(call, path)
    if found is None:
        raise Refused(404, "NoPicture", "there is no such picture beside the table")
    kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    headers = {"content-security-policy": _PICTURE_POLICY}
    return FileResponse(found, media_type=kind, headers=headers)


def _picture_file(call: Caller, name: str) -> Path | None:
    found = call.pool.file(name)
    return found if found is not None and is_picture(found.name) else None


def _picture_address(session: Session, call: Caller, picture: str) -> str | None:
    """Where the page gets a picture that a cell names; None if there is none."""
    if not is_picture(picture) or _picture_file(call, picture) is None:
        return None
    return f"{home(session.name)}/file?{urlencode({'path': picture})}"


def picture_of(session: Session, call: Caller) -> Source:
    """Where pictures that cells name can be had."""
    return lambda picture: _picture_address(session, call, picture)


NOT_ASKED = "Not saved: that row was asked before this one. Did you answer it in another tab?"
_LATER: WeakKeyDictionary[Session, tuple[int, Before]] = WeakKeyDictionary()
"""Of each session, the last answer that taught something, and the rules before it."""


def _answer(session: Session, call: Caller, sent: dict[str, str]) -> dict[str, Any]:
    given, answer = sent.get("given", ""), sent.get("answer", "")
    label = _label(session, call, sent) if answer == "wrong" else None
    if answer == "wrong" and label is None:
        return _card(session, call, notices=_plain(SAY.label_first))
    feature = sent.get("feature", "").strip() or None
    if "none" in sent or answer != "wrong":
        feature = None
    elif "feature" in sent and feature is None and given_to(session, call, given).guess.label:
        raise ParameterError("write a reason first, or choose one of the list")
    item = session.given(given).item
    before = Before(session.model, item, label, feature)
    could_stop = session.summary().may_stop
    number = session.number
    try:
        done = give_answer(session, call, given, answer, label, feature, id=sent.get("id"))
    except FeatureError as error:
        said, _ = _not_read(session, error, feature or "", session.given(given))
        return _card(session, call, chosen=label, written=feature, wrong=said)
    except ProtocolError:
        now = session.next(call.name)
        if isinstance(now, Given) and now.id == given:
            raise
        return _card(session, call, notices=_plain(NOT_ASKED))
    told = notice(done.outcome, name(item))
    notices = [] if told is None else _plain(told)
    found = learnt(session, done, before) if done.number > number else None
    if found is not None:
        notices = [_learnt_notice(session, found, before)]
    summary = session.summary()
    if done.number > number and done.outcome in ("label", "right", "mistake"):
        if summary.labelled == MILESTONE:
            notices.append(_notice(milestone(summary), moved=_milestone_links(session)))
        if summary.may_stop and not could_stop:
            notices.append(_notice(may_stop(summary)))
    return _card(session, call, notices=notices)


def _notice(
    news: str | Markup, *, plain: bool = True, moved: str | Markup = "", **more: Any
) -> dict[str, Any]:
    return {"news": news, "plain": plain, "moved": moved, "later": "", "undo": False, **more}


def _plain(said: str | None) -> list[dict[str, Any]]:
    return [] if said is None else [_notice(said)]


def _milestone_links(session: Session) -> Markup:
    place = home(session.name)
    return Markup(MILESTONE_LINKS).format(
        *(f"{place}/{one}" for one in ("progress", "rules", "export"))
    )


def _learnt_notice(session: Session, found: Learnt, before: Before) -> dict[str, Any]:
    """What an answer taught, as the page says it at once."""
    hues, articles = Hues.of(session), session.settings["articles"]
    shown = Markup('<span class="label hue{}" dir="auto">{}</span>')
    parts = {
        "row": Markup("<b dir=auto>{}</b>").format(called(found.item).title),
        "label": shown.format(hues[found.label], a_label(found.label, articles)),
        "wanted": shown.format(hues[found.wanted], a_label(found.wanted, articles)),
        "reason": reason_html(found.reason),
        "event": found.event,
    }
    news = Markup(news_of(found.kind, found.reason)).format(**parts)
    told, later = Markup(), ""
    if found.kind in ("new", "changed", "without", "known"):
        if len(session.table) > AT_ONCE:
            keep_for_later(session, found.event, before)
            later = f"{home(session.name)}/moved?event={found.event}"
        else:
            told = moved_html(session, before)
    return _notice(news, plain=found.kind in ("known", "fault"), moved=told, later=later, undo=True)


def keep_for_later(session: Session, event: int, before: Before) -> None:
    """Keep the rules before an event: the page asks afterwards which rows it moved."""
    _LATER[session] = event, before


def moved_html(session: Session, before: Before) -> Markup:
    """Which rows an answer moved, from which label; and where to check them."""
    found = moved(session, before)
    mine = [(a, rows) for a, b, rows in found.counts if b == before.label]
    others = [(a, b, rows) for a, b, rows in found.counts if b != before.label]
    total = sum(rows for _, rows in mine)
    if not total and not others:
        return Markup.escape(ALONE if before.feature else "")
    told = Markup.escape(decides(total, [a for a, _ in mine])) if total else Markup()
    if total:
        names = [in_prose(name(one)) for one in found.some[:total]]
        more = [f"{total - len(names):,} others"] if total > len(names) else []
        told += Markup('<span class="wide">: {}</span>.').format(joined([*names, *more]))
    for a, b, rows in others[:2]:
        told += Markup(" {}").format(moves(rows, a, b))
    if total:
        address = with_query(f"{home(session.name)}/sweep", {"label": before.label})
        told += Markup(' <a href="{}">{}</a>').format(address, CHECK_THEM)
    return told


def _label(session: Session, call: Caller, sent: dict[str, str]) -> str | None:
    """The label that was chosen, or else the one that was typed; its article is kept."""
    typed, chosen = sent.get("typed", "").strip(), sent.get("label", "").strip()
    article, bare = ("", typed) if typed in session.labels else phrasing.split_article(typed)
    label = chosen or phrasing.match_label(bare, session.labels)
    articles = session.settings["articles"]
    if label is not None and article and articles.get(label) != article:
        session.set(call.name, articles={**articles, label: article})
    return label


def _card(session: Session, call: Caller, **more: Any) -> dict[str, Any]:
    found = session.next(call.name)
    values: dict[str, Any] = {
        **dict.fromkeys(("chosen", "written", "wrong", "why", "hint", "looking", "other_label")),
        "notices": [],
        "reasons": [],
        "labels": [],
        "guess_key": "",
        **frame(session, call, here="/teach"),
        "swaps": Markup(" data-swap"),
    }
    values |= more
    if isinstance(found, Ending):
        values |= _ending(session, call, found)
    else:
        _fill(session, call, found, values)
    return values


def _ending(session: Session, call: Caller, found: Ending) -> dict[str, Any]:
    """What comes after the last row."""
    source = session.opened.data.get("source") or {}
    file = Path(str(source.get("path", session.table.name))).name
    other = next_file(file)
    return {
        "title": "What next?",
        "ending": ending_text(found),
        "kept_in": SAY.kept_in.format(call.pool.store.where),
        "odd": len(session.odd_ones(viewer=call.viewer)) if found.summary.labelled else 0,
        "take_with": SAY.take_with.format(file),
        "predict": f"tellapart predict {file} {other}" if source.get("path") else "",
    }


def _fill(session: Session, call: Caller, given: Given, values: dict[str, Any]) -> None:
    if given.asks == "feature":
        values["chosen"] = given.kept
        if session.history(viewer=call.viewer, item=given.item):
            values["other_label"] = repair_address(session, given.item, "teach")
    chosen = values["chosen"]
    values["shown"] = compare(given, picture_of(session, call), picking=chosen is not None)
    earlier = given.guess.example
    example = many = ""
    # an answer that the caller may change
    if earlier is not None and session.history(viewer=call.viewer, item=earlier):
        example = repair_address(session, earlier, "teach")
    if given.asks == "answer":
        many = f"{home(session.name)}/sweep?{urlencode({'item': given.item.identity})}"
    values["menu_lines"] = menu_lines(session, call, home(session.name), given, example, many)
    again = why_again(session.asked_again(given.id), given.guess)
    values["why"] = again or (SAY.marked if given.marked else None)
    if call.app.pages.tour or session.name == Path(ZOO).stem:
        said = session.history(viewer=call.viewer, last=1)
        last = str(said[0].label or said[0].guess) if said and not said[0].undone else None
        green = any(not one["plain"] for one in values["notices"])
        values["hint"] = hint(given, chosen, last=last, learnt=green)
    if (search := session.search_of(call.name)) is not None:
        values["looking"] = SAY.looking_for.format(*search)
    if chosen is not None:
        found = session.candidates(given.id, chosen, limit=MOST_REASONS)
        values["reasons"] = reason_choices(found)
        values["title"] = "Why?"
    else:
        values["title"] = f"Is it {given.guess.label}?" if earlier is not None else "What is it?"
    values["labels"] = label_choices(session)
    key = next((one["key"] for one in values["labels"] if one["label"] == given.guess.label), None)
    values["guess_key"] = f" {key}" if key else ""


def reason_choices(found: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Suggestions as the page lists them, with how many of the answers they are true of agree."""
    return [
        {
            "text": str(one.feature),
            "said": spoken(one.feature),
            "rows": covers(one),
            "agree": one.yes - 1,
            "of": one.yes - 1 + one.others,
        }
        for one in found
    ]


def label_choices(session: Session) -> list[dict[str, str | None]]:
    """The labels as the page lists them: each has its key for good, by the order of its coming."""
    meanings = session.meanings
    return [
        {"label": label, "key": str(n) if n < 10 else None, "means": meanings.get(label)}
        for n, label in enumerate(session.labels, 1)
    ]
