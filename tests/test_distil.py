"""`tellapart distil`: a scripted server as the model; budgets, crashes, privacy, the report."""

from __future__ import annotations

import json
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer, Cut, serving
from tellapart.cli import main
from tellapart.distil import Distillation, KeptLedger, Model
from tellapart.sessions import Given, Session, Store, export_log

COLUMNS = "legs,wings,size"


def truth(cells: dict[str, Any]) -> str:
    if cells["legs"] == 6:
        return "bug"
    return "bird" if cells["legs"] == 2 and cells["wings"] == "yes" else "beast"


def write_table(folder: Path, rows: int = 300) -> Path:
    chance = random.Random(1)
    lines = ["name,legs,wings,size,secret"]
    lines += [
        f"x{n},{chance.choice([2, 4, 6])},{chance.choice(['yes', 'no'])},"
        f"{chance.random():.4f},hidden{n}"
        for n in range(rows)
    ]
    path = folder / "pets.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def arguments(table: Path, url: str, *more: str, **settings: Any) -> list[str]:
    """The words of a command; what stands in `tellapart.toml` is written beside the table."""
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in settings.items()]
    (table.parent / "tellapart.toml").write_text("[distil]\n" + "".join(lines))
    return [
        "distil", str(table), "--labels", "bird,bug,beast", "--task", "What is it?",
        "--endpoint", url, "--model", "m1", "--columns", COLUMNS, "--until", "0.001", *more,
    ]  # fmt: skip


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_rules_sql_report_and_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, server = write_table(tmp_path), ChatServer(truth)
    sql = tmp_path / "rules.sql"
    with serving(server) as url:
        words = arguments(table, url, "--rows", "60", "-o", str(sql), "--json")
        with (tmp_path / "tellapart.toml").open("a") as file:
            file.write('[distil.meaning]\nbird = "it flies"\n')
        assert main(words) == 0
        made = report(capsys)
        assert made["asked"] == 60
        assert made["calls"] == len(server.bodies)
        assert made["tokens_sent"] == sum(len(body) // 4 for body in server.bodies)
        assert "'bug'" in sql.read_text()
        assert sql.read_text().strip() == made["sql"].strip()
        sent = len(server.bodies)
        assert main(words) == 0  # nothing is left to do
        assert len(server.bodies) == sent
    documents = server.documents
    assert documents[0]["labels"] == {"bird": "it flies", "bug": "", "beast": ""}
    assert sum(len(d["items"]) for d in documents if d["ask"] == "labels") == 60
    with Store(tmp_path / "pets.csv.sessions.db") as store:
        events = [json.loads(line) for line in export_log(store, "pets")]
    answers = [event for event in events if event["type"] == "answered"]
    assert len(answers) == 60
    for event in answers:
        assert event["by"] == "m1"
        assert len(event["source"]["call"]) == 64
        assert event["source"]["reply"]["label"] in ("bird", "bug", "beast")
    wrong = [event for event in answers if event.get("feature")]
    assert all(event["source"]["reason reply"] == {"difference": 1} for event in wrong)
    assert wrong


def test_the_schema_allows_the_labels_and_the_differences_offered(tmp_path: Path) -> None:
    table, server = write_table(tmp_path), ChatServer(truth)
    with serving(server) as url:
        assert main(arguments(table, url, "--rows", "40")) == 0
    for body, document in zip(map(json.loads, server.bodies), server.documents, strict=True):
        form = body["response_format"]
        assert form["type"] == "json_schema"
        properties = form["json_schema"]["schema"]["properties"]
        if document["ask"] == "labels":
            entry = properties["answers"]["items"]["properties"]
            assert entry["label"]["enum"] == ["bird", "bug", "beast", "unsure"]
            assert entry["id"]["enum"] == [one["id"] for one in document["items"]]
        else:
            offered = [one["id"] for one in document["differences"]]
            assert properties["difference"]["enum"] == [*offered, None]
            assert document["label"] != document["example_label"]


def test_only_named_columns_leave_and_the_key_stays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-very-secret-0123456789"
    monkeypatch.setenv("TELLAPART_API_KEY", key)
    monkeypatch.setenv("OPENAI_API_KEY", "another")

    def echo(number: int, *_: Any) -> Any:  # a server that repeats the key
        if number == 1:
            return f"you are {key}"  # a reply, which is kept
        return (500, f"trouble with {key}", {}) if number == 0 else None

    table, server = write_table(tmp_path), ChatServer(truth, script=echo)
    with serving(server) as url:
        more = ("-o", str(tmp_path / "m.json"))
        assert main(arguments(table, url, "--rows", "60", *more)) == 0

        def refuse(*_: Any) -> Any:
            return 401, f"wrong key {key}", {}

        words = arguments(table, url, "--rows", "70")
        del words[words.index("--columns") : words.index("--columns") + 2]
        assert main(words) == 0  # the session knows its columns
        server.script = refuse
        assert main(arguments(table, url, "--rows", "80")) == 1
    assert all(header["Authorization"] == f"Bearer {key}" for header in server.headers)
    for document in server.documents:
        shown = document.get("items") or [document["item"], document["example"]]
        assert all(list(one["cells"]) == COLUMNS.split(",") for one in shown)
    everything = "\n".join(server.bodies)
    assert "hidden" not in everything
    assert "secret" not in everything
    assert '"x' not in everything
    printed = capfd.readouterr()
    assert key not in printed.out + printed.err
    assert "401" in printed.err
    for path in tmp_path.iterdir():
        assert key.encode() not in path.read_bytes(), path


def test_a_dry_run_sends_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, server = write_table(tmp_path), ChatServer(truth)
    with serving(server) as url:
        assert main(arguments(table, url, "--rows", "50", "--dry-run")) == 0
        shown = capsys.readouterr().out
        assert not server.bodies
        assert sorted(path.name for path in tmp_path.iterdir()) == ["pets.csv", "tellapart.toml"]
        assert main(arguments(table, url, "--rows", "50")) == 0
    first = shown[shown.index("{") : shown.index("\n\n")]
    # exactly what is sent; two calls are on their way at a time, and either may arrive first
    assert json.loads(first) in [json.loads(body) for body in server.bodies[:2]]
    calls = shown_at_most(shown)
    tokens = int(shown.split("Tokens, at most: ")[1].split()[0].replace(",", ""))
    assert len(server.bodies) <= calls
    assert sum(map(len, server.bodies)) <= tokens


def shown_at_most(shown: str) -> int:
    return int(shown.split("Calls, at most: ")[1].split(maxsplit=1)[0].replace(",", ""))


@pytest.mark.parametrize("parallel", [1, 8])
def test_equal_rows_are_asked_about_once_and_a_dry_run_shows_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], parallel: int
) -> None:
    chance, server = random.Random(2), ChatServer(truth)
    table = tmp_path / "pets.csv"
    table.write_text(
        "name,legs,wings,size\n"
        + "".join(f"x{n},{chance.choice([2, 4, 6])},yes,1\n" for n in range(100))
    )
    with serving(server) as url:
        words = arguments(table, url, "--rows", "60", parallel=parallel)
        assert main([*words, "--dry-run"]) == 0
        shown = capsys.readouterr().out
        assert main(words) == 0
    assert server.bodies[0] in shown  # byte for byte
    asked = [document for document in server.documents if document["ask"] == "labels"]
    assert [len(document["items"]) for document in asked] == [3]


def test_requests_are_deleted_as_the_page_on_privacy_says(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "serve.md").read_text()
    table, server = write_table(tmp_path), ChatServer(truth)
    place = tmp_path / "pets.csv.sessions.db"
    with serving(server) as url:
        assert main(arguments(table, url, "--rows", "40")) == 0
        assert b"You label rows" in place.read_bytes()
        statement = re.findall(r'"(DROP TABLE tellapart_requests.*?)"', page)[0]
        database = sqlite3.connect(place)
        database.execute("PRAGMA secure_delete = OFF")  # as SQLite is by default
        database.executescript(statement)
        database.close()
        assert b"You label rows" not in place.read_bytes()
        assert main(arguments(table, url, "--rows", "40")) == 0  # the log has the answers


def test_a_model_that_reasons_takes_other_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = ChatServer(truth)

    def hosted(number: int, *_: Any) -> Any:
        refused = {"max_tokens", "temperature"} & json.loads(server.bodies[number]).keys()
        return (400, f"unsupported: {sorted(refused)}", {}) if refused else None

    server.script = hosted
    table = write_table(tmp_path)
    with serving(server) as url:
        more, prices = ("--rows", "20", "--spend", "1", "--json"), {"price_in": 1, "price_out": 1}
        assert main(arguments(table, url, *more, **prices)) == 1
        assert "reasoning = true in [distil]" in capsys.readouterr().err
        sent = len(server.bodies)
        assert main(arguments(table, url, *more, **prices, reasoning=True)) == 0
    assert report(capsys)["asked"] == 20
    limits = [json.loads(body)["max_completion_tokens"] for body in server.bodies[sent:]]
    assert all(4000 < limit < 5000 for limit in limits)


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 8])
def test_the_budget_of_calls_is_never_exceeded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], parallel: int
) -> None:
    table, server = write_table(tmp_path), ChatServer(truth, slips=0.2)
    with serving(server) as url:
        for calls in (3, 11, 12):
            more = ("--calls", str(calls), "--json")
            assert main(arguments(table, url, *more, parallel=parallel, batch=3)) == 0
            assert report(capsys)["calls"] == len(server.bodies) == calls


@pytest.mark.slow
def test_the_budget_to_spend_is_never_exceeded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, server = write_table(tmp_path), ChatServer(truth, slips=0.1)
    how = {"price_in": 2, "price_out": 8, "parallel": 8, "batch": 4}
    with serving(server) as url:
        for limit in (0.02, 0.05):
            assert main(arguments(table, url, "--spend", str(limit), "--json", **how)) == 0
            made = report(capsys)
            dearest = 2 * sum(map(len, server.bodies)) / 4e6 + 8 * 200 * len(server.bodies) / 4e6
            assert 0 < made["spend"] <= limit
            assert made["spend"] <= dearest
            spent, next_call = re.findall(r"up: ([\d.]+) of .* may cost ([\d.]+)", made["ended"])[0]
            assert float(spent) == pytest.approx(made["spend"], rel=1e-4)
            assert made["spend"] + float(next_call) > limit  # what calls did not need is used


def failing(kind: str) -> Any:
    """A script in which every third request goes wrong."""

    def script(number: int, _: Any, reply: Any) -> Any:
        if number % 3 != 1:
            return None
        if kind == "refusal":
            return {"content": None, "refusal": "I cannot help with that."}
        if kind == "nonsense":
            return "I think it is a bird."
        if kind == "wrong ids" and "answers" in reply:
            return json.dumps({"answers": [{**a, "id": a["id"] + 1000} for a in reply["answers"]]})
        if kind == "wrong label" and "answers" in reply:
            return json.dumps({"answers": [{**a, "label": "fish"} for a in reply["answers"]]})
        if kind == "deep":
            return "[" * 100_000
        if kind == "503":
            return 503, "busy", {}
        if kind == "cut":
            raise Cut
        if kind == "slow":
            time.sleep(0.6)
        if kind == "long":
            return "x" * 50_000_000
        return None

    return script


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    ["refusal", "nonsense", "wrong ids", "wrong label", "deep", "503", "cut", "slow", "long"],
)
def test_whatever_the_server_does_the_rest_is_learnt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    table, server = write_table(tmp_path), ChatServer(truth, script=failing(kind))
    with serving(server) as url:
        how = {"batch": 5, "timeout": 0.3 if kind == "slow" else 20}
        assert main(arguments(table, url, "--rows", "60", "--json", **how)) == 0
    made = report(capsys)
    assert made["asked"] == 60
    assert made["calls"] == len(server.bodies)
    if kind != "503":
        assert len(set(server.bodies)) == len(server.bodies)  # nothing is sent twice
    lost = kind in ("cut", "slow")
    assert (made["no_reply"] > 0) == lost
    with Store(tmp_path / "pets.csv.sessions.db") as store, Session.open(store, "pets") as session:
        right = [truth(dict(row)) for row in session.table.items]
        said = [str(label) for label in session.model.predict(session.table.items)]
        assert sum(map(str.__eq__, said, right)) > 270


def test_a_model_that_never_answers_is_unsure_of_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = ChatServer(truth, script=lambda number, document, reply: "no")
    with serving(server) as url:
        assert main(arguments(write_table(tmp_path), url, "--rows", "20", "--json")) == 0
    made = report(capsys)
    assert (made["asked"], made["unsure_answers"], made["calls"]) == (20, 20, 4)
    assert (made["outside_schema"], made["last_misfit"]) == (4, "no")
    assert [document.get("again") is not None for document in server.documents].count(True) == 2


def test_retry_after_is_honoured(tmp_path: Path) -> None:
    server = ChatServer(
        truth, script=lambda n, document, reply: (429, "", {"Retry-After": "1"}) if n == 0 else None
    )
    with serving(server) as url:
        assert main(arguments(write_table(tmp_path), url, "--rows", "10", parallel=1)) == 0
    assert server.times[1] - server.times[0] >= 1
    assert server.bodies[0] == server.bodies[1]


def test_odd_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, server = (
        tmp_path / "odd.csv",
        ChatServer(lambda cells: ["a=b", "c, d"][cells["n, m"] > 4]),
    )
    table.write_text('x,"n, m"\n' + "".join(f"{n},{n % 10}\n" for n in range(40)))
    with serving(server) as url:
        words = [
            "distil", str(table), "--labels", 'a, "c, d",a=b', "--task", "Which?", "--columns",
            '"n, m"', "--endpoint", url, "--model", "m1", "--rows", "20", "--json",
        ]  # fmt: skip
        meaning = '[distil.meaning]\n"a=b" = "is = it"\na = "first"\n"c, d" = "both"\n'
        (tmp_path / "tellapart.toml").write_text(meaning)
        assert main(words) == 0
    assert server.documents[0]["labels"] == {"a": "first", "c, d": "both", "a=b": "is = it"}
    assert list(server.documents[0]["items"][0]["cells"]) == ["n, m"]
    assert "'c, d'" in report(capsys)["sql"]


def test_a_column_that_the_session_does_not_have_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, server = write_table(tmp_path), ChatServer(truth)
    with serving(server) as url:
        words = arguments(table, url, "--rows", "10")
        assert main(words) == 0
        words[words.index("--columns") + 1] = "legs,secret"
        assert main(words) == 1
    assert "was begun without that column" in capsys.readouterr().err


@pytest.mark.slow
def test_no_server_and_bad_options_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_table(tmp_path)
    good = arguments(table, "http://127.0.0.1:9/v1")
    for more, message in (
        ((), "there is no connection to http://127.0.0.1:9/v1"),
        (("--endpoint", "127.0.0.1:9"), "the endpoint is the address"),
        (("--endpoint", "http://me:sesame@host/v1"), "without name, password"),
        (("--spend", "1"), "price_in"),
        (("--calls", "0"), "calls must be an integer >= 1"),
        (("--until", "5"), "--until is a share"),
        (("--labels", "bird,unsure"), "'unsure' is what a model says"),
        (("--labels", "bird"), "two or more different names"),
        (("--labels", "bird,,bug"), "different names with commas"),
        (("--columns", "legs,feet"), "feet"),
        (("-o", str(tmp_path / "none" / "rules.sql")), "name a file in a folder that exists"),
    ):
        words = list(good)
        for name, value in zip(more[::2], more[1::2], strict=True):
            if name in words:
                words[words.index(name) + 1] = value
            else:
                words += [name, value]
        assert main(words) == 1, more
        said = capsys.readouterr().err
        assert message in said
        assert "sesame" not in said
    for settings, message in (
        ({"batch": 0}, "batch must be an integer >= 1"),
        ({"teacher": "x" * 300}, "the name of a teacher"),
        ({"meaning": "x"}, "meaning"),
        ({"bach": 3}, "bach"),
    ):
        assert main([*arguments(table, "http://127.0.0.1:9/v1", **settings)]) in (1, 2)
        assert message in capsys.readouterr().err
    good = arguments(table, "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TELLAPART_API_KEY", "sk-se\ncret")
    assert main(good) == 1
    assert "cret" not in capsys.readouterr().err


RUN = """
import sys
from tellapart.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("batch", "rows"), [(4, "200"), (1, "100")])
def test_killed_ten_times_nothing_is_sent_twice_and_no_answer_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], batch: int, rows: str
) -> None:
    table = write_table(tmp_path)

    def slowly(*_: Any) -> None:
        time.sleep(0.05)

    server = ChatServer(truth, slips=0.1, script=slowly)
    chance = random.Random(batch)
    with serving(server) as url:
        words = arguments(table, url, "--rows", rows, "--json", batch=batch, parallel=4)
        for _ in range(10):
            before = len(server.bodies)
            process = subprocess.Popen(
                [sys.executable, "-c", RUN, *words], stdout=subprocess.DEVNULL
            )
            deadline = time.monotonic() + 120
            more_calls = chance.randrange(1, 8)
            while len(server.bodies) < before + more_calls and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.005)
            time.sleep(chance.random() * 0.1)
            process.kill()  # SIGKILL
            process.wait()
        assert main(words) == 0
    made = report(capsys)
    assert len(set(server.bodies)) == len(server.bodies)  # no request is sent twice
    assert made["calls"] >= len(server.bodies)  # one that was about to be sent counts
    assert made["asked"] == int(rows)
    database = sqlite3.connect(tmp_path / "pets.csv.sessions.db")
    kept = database.execute("SELECT body, reply, state FROM tellapart_requests").fetchall()
    database.close()
    assert {body for body, _, _ in kept} >= set(server.bodies)
    answered = {
        one["id"]: one["label"]
        for _, reply, state in kept
        if state == "answered"
        for one in json.loads(json.loads(reply)["choices"][0]["message"]["content"]).get(
            "answers", ()
        )
    }
    with Store(tmp_path / "pets.csv.sessions.db") as store, Session.open(store, "pets") as session:
        for place, label in answered.items():  # every answer that came is in the session
            assert session.label_of(session.table.items[place]) == label


@pytest.mark.slow
def test_a_second_interrupt_does_not_wait_for_replies(tmp_path: Path) -> None:
    over = threading.Event()
    server = ChatServer(truth, script=lambda *_: over.wait(60))
    with serving(server) as url:
        words = arguments(write_table(tmp_path), url, timeout=60)
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, *words], stderr=subprocess.PIPE, text=True
        )
        while len(server.bodies) < 2:
            time.sleep(0.01)
        for _ in range(2):
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        over.set()
    assert process.returncode == 130
    assert "what was saved is kept" in said


@pytest.mark.slow
def test_another_model_is_another_teacher(tmp_path: Path) -> None:
    """What two models call differently comes first to a person."""
    table, server = write_table(tmp_path), ChatServer(truth)

    def worse(number: int, _: Any, reply: Any) -> str | None:
        if json.loads(server.bodies[number])["model"] == "m2" and "answers" in reply:
            return json.dumps({"answers": [{**a, "label": "bug"} for a in reply["answers"]]})
        return None

    server.script = worse
    with serving(server) as url:
        words = arguments(table, url, "--rows", "40", parallel=1)
        assert main(words) == 0
        place = tmp_path / "pets.csv.sessions.db"
        with Store(place) as store, Session.open(store, "pets") as session:
            session.set("Ann", overlap=1.0)
        words[words.index("--model") + 1] = "m2"
        assert main(words) == 0
    with Store(place) as store, Session.open(store, "pets") as session:
        assert session.models == {"m1": "m1", "m2": "m2"}
        disputed = {one.item.identity for one in session.disagreements()}
        assert disputed
        given = session.next("Ann")
        assert given.item.identity in disputed


def test_sessions_in_postgres(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], postgres: str
) -> None:
    table, server = write_table(tmp_path), ChatServer(truth)
    with serving(server) as url:
        parts = dict(part.split("=", 1) for part in postgres.split())
        place = f"postgresql://{parts['user']}@/{parts['dbname']}?host={parts['host']}"
        more = ("--rows", "30", "--db", place, "--session", "distilled", "--json")
        assert main(arguments(table, url, *more)) == 0
        sent = len(server.bodies)
        assert main(arguments(table, url, *more)) == 0
    assert len(server.bodies) == sent
    made = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert made[0]["calls"] == made[1]["calls"] == sent


def test_paid_answers_are_learnt_but_not_where_a_person_was_first(tmp_path: Path) -> None:
    table, server = write_table(tmp_path), ChatServer(truth)
    with (
        serving(server) as url,
        Store(tmp_path / "s.db") as store,
        Session.new(store, "pets", table, order="mixed") as session,
    ):
        ledger = KeptLedger(store, "pets", 1)
        labels = ["bird", "bug", "beast"]
        model = Model(url, "m1", "What is it?", labels, ledger=ledger)
        items = session.coming("m1", 8)
        model.label([(item.place, item) for item in items])  # paid, and the program is killed
        given = session.next("Ann", item=items[2])
        assert isinstance(given, Given)
        session.answer("Ann", given.id, "wrong", "bug")
        ended = Distillation(session, model, rows=20).run()
        assert "budget is used up" in ended
        assert [session.label_of(item) for item in items if item is not items[2]] == [
            truth(dict(item)) for item in items if item is not items[2]
        ]
        assert session.label_of(items[2]) == "bug"
    assert len(server.bodies) == 1
