"""`tellapart teach` as people start it: in a pipe, in a real terminal, and with the page."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tellapart.cli import main
from tellapart.sessions import Session, Store
from tellapart.tables import read_table
from tellapart.web.pages.answers import against_column

ZOO = "name,milk,legs,kind\nbear,true,4,mammal\nduck,false,2,bird\nlion,true,4,mammal\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zoo.csv").write_text(ZOO)
    return tmp_path


class Typist:
    """Runs the command here, with keys piped in."""

    def __init__(self, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.patch, self.capsys = patch, capsys

    def __call__(self, keys: str, *words: str, code: int = 0) -> tuple[str, str]:
        """What was printed, and what was complained about."""
        import io

        self.patch.setattr("sys.stdin", io.StringIO(keys))
        assert main(["teach", *words, "--console", "--name", "Ann"]) == code
        out, err = self.capsys.readouterr()
        return out, err


@pytest.fixture
def typist(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typist:
    monkeypatch.setenv("COLUMNS", "200")
    return Typist(monkeypatch, capsys)


def answers(name: str = "zoo") -> list[tuple[str, str | None]]:
    """Items and labels in the session of a table here."""
    with Store(f"{name}.csv.sessions.db") as store, Session.open(store, name) as session:
        return [(str(one.item), one.label) for one in session.history() if not one.undone]


# -- the console


def test_it_begins_goes_on_and_compares(typist: Typist) -> None:
    words = ("zoo.csv", "--label", "kind", "--order", "file", "--learner", "CappedDFF:m=3")
    out, err = typist("mammal\n", *words)
    assert "What is bear?" in out
    assert "kind" not in out
    assert err == "1 of 1 of your labels are those of column 'kind'.\n"
    out, err = typist("fish\n1\n", *words)  # the same command goes on
    assert "What is bear?" not in out
    assert err == "1 of 2 of your labels are those of column 'kind'; not so: duck.\n"
    out, err = typist("\n", "zoo.csv")  # and so does one that says less
    assert "That was the last row." in out
    assert err == ""
    assert [item for item, _ in answers()] == ["bear", "duck", "lion"]


def test_nothing_answered(typist: Typist) -> None:
    assert typist("", "zoo.csv", "--label", "kind")[1].startswith("No answers yet")


def test_the_order_can_be_switched(typist: Typist) -> None:
    typist("", "zoo.csv", "--order", "file")
    typist("", "zoo.csv", "--order", "least sure")
    with Store("zoo.csv.sessions.db") as store, Session.open(store, "zoo") as session:
        assert session.settings["order"] == "mixed"
    typist("", "zoo.csv")
    with Store("zoo.csv.sessions.db") as store, Session.open(store, "zoo") as session:
        assert session.settings["order"] == "mixed"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nope.csv", "nope.csv: cannot be read: No such file"),
        (".", ". is a folder; name a table in it"),
        ("zoo.doc", "cannot tell what kind of file this is"),
        ("zoo.csv --label nope", "zoo.csv has no column 'nope'. Columns: name, milk, legs, kind"),
        ("zoo.csv --id nope", "zoo.csv has no column 'nope'"),
        ("zoo.csv --id legs", "legs"),
        ("zoo.csv --learner Nope", "unknown learner 'Nope'"),
        ("zoo.csv --learner CappedDFF:m", "parameters are written m=7,k=2"),
        ("zoo.csv --learner CappedDFF", "CappedDFF must be told m, as in CappedDFF:m=...;"),
        ("zoo.csv --learner CappedDFF:q=1", "CappedDFF has no parameter 'q'; it has m, "),
        ("zoo.csv --learner AutoDFF:columns=3", "columns must be a list of features, got 3"),
        ("zoo.csv --order up", "an order is one of file, random, mixed, got 'up'"),
        ("zoo.csv --session nowhere/a.db", "nowhere/a.db cannot be written"),
        ("zoo.csv --session /proc/a.db", "/proc/a.db cannot be written"),
        ("zoo.csv --session zoo.csv", "zoo.csv cannot be"),
        ("zoo.csv --session .", "cannot be opened. Is the folder there, and may it be written to?"),
        ("--label kind", "--label, --id and --start-from are columns of a table: name the table"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(typist: Typist, words: str, message: str) -> None:
    _, err = typist("", *re.split(r" (?=--)| (?=\S+$)", words), code=1)
    assert message in err
    assert len(err.splitlines()) == 1
    assert Path("zoo.csv").read_text() == ZOO


def test_of_a_damaged_file_nothing_is_promised(typist: Typist, folder: Path) -> None:
    typist("mammal\n", "zoo.csv")
    whole = (folder / "zoo.csv.sessions.db").read_bytes()
    for content, message in ((whole[: len(whole) // 2], "damaged"), (b"x" * 200, "no SQLite file")):
        (folder / "bad.db").write_bytes(content)
        _, err = typist("", "zoo.csv", "--session", "bad.db", code=1)
        assert message in err
        assert "acknowledged" not in err
        assert (folder / "bad.db").read_bytes() == content


def test_usage_is_another_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["teach", "zoo.csv", "--sesion", "a.db"]) == 2
    assert "--sesion" in capsys.readouterr().err


def test_what_is_chosen_at_the_beginning_stays(typist: Typist) -> None:
    typist("", "zoo.csv")
    for words, message in (
        (("--label", "kind"), "begun with that column in sight"),
        (("--id", "legs"), "begun with name"),
        (("--learner", "DFF"), "has another learner"),
    ):
        _, err = typist("", "zoo.csv", *words, code=1)
        assert message in err
        assert "--session FILE" in err
        assert "Leave it out to go on" in err
    typist("", "zoo.csv", "--learner", "AutoDFF", "--id", "name")
    typist("", "zoo.csv", "--label", "kind", "--session", "other.db")


def test_a_port_that_cannot_be_begins_nothing(typist: Typist, folder: Path) -> None:
    _, err = typist("", "zoo.csv", "--port", "70000", code=1)
    assert "port 70000: a port is a number from 0 to 65535. Choose another" in err
    assert not (folder / "zoo.csv.sessions.db").exists()


def test_a_session_of_another_table(typist: Typist, folder: Path) -> None:
    typist("mammal\n", "zoo.csv", "--session", "s.db")
    (folder / "b").mkdir()
    (folder / "b" / "zoo.csv").write_text(ZOO.replace("4", "5"))
    _, err = typist("", "b/zoo.csv", "--session", "s.db", code=1)
    assert "changed" in err or "other" in err
    # the same table in another place is the same table
    (folder / "b" / "zoo.csv").write_text(ZOO)
    (folder / "zoo.csv").unlink()
    assert "Saved. 1 of 3" in typist("", "b/zoo.csv", "--session", "s.db")[0]


def test_a_table_in_another_encoding(typist: Typist, folder: Path) -> None:
    (folder / "tiere.csv").write_bytes("name,art\nBär,Säuger\nMöwe,Vogel\n".encode("cp1252"))
    _, err = typist("", "tiere.csv", code=1)
    assert "likely --read encoding=cp1252" in err
    words = ("tiere.csv", "--label", "art", "--order", "file", "--read")
    assert "unknown encoding" in typist("", *words, "encoding=cp9999", code=1)[1]
    out, err = typist("Säuger\n", *words, "encoding=cp1252")
    assert "What is Bär?" in out
    assert err == "1 of 1 of your labels are those of column 'art'.\n"
    assert "Möwe" in typist("", "tiere.csv")[0]  # the session knows
    assert (
        "begun with --read encoding=cp1252. Leave"
        in (typist("", *words, "encoding=latin1", code=1)[1])
    )


def test_labels_are_compared_where_the_table_lies_now(typist: Typist, folder: Path) -> None:
    typist("mammal\n", "zoo.csv", "--label", "kind", "--order", "file", "--session", "s.db")
    (folder / "b").mkdir()
    moved = (folder / "zoo.csv").rename(folder / "b" / "zoo.csv")
    table = read_table(moved, id="name", without=["kind"])
    with Store("s.db") as store, Session.open(store, "zoo", table) as session:
        found = against_column(session, (moved, "kind"), None)
        assert found == {"column": "kind", "right": 1, "odd": {}}


def test_bad_keys_are_named_before_anything_begins(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "tellapart.toml").write_text('[keys]\nfly = "j"\n')
    assert main(["teach", "zoo.csv", "--no-browser"]) == 1
    assert "[keys] in tellapart.toml: unknown action 'fly'" in capsys.readouterr().err
    assert not (folder / "zoo.csv.sessions.db").exists()


# -- the first run


def test_the_tour(typist: Typist) -> None:
    """What the hints ask for can be done, and each says what comes of what was done."""
    out, _ = typist("a mammal\n" + "a bird\n")
    assert "the zoo is in" in out
    assert "What is a bear? Type a mammal" in out
    offered = re.search(r"^ +([1-9])  eggs ", out, re.MULTILINE)
    assert offered, out[-1500:]
    out, err = typist("bird\n" + offered[1] + "\n" + "\n" + "a fish\nfins\n")
    told = " ".join(out.split())
    assert "A duck is no mammal: type a bird" in told
    assert "Now say why: press the digit of eggs." in told
    assert "New rule: bird if" in told
    assert "The guess is right: press Enter." in told  # the lion
    assert "A new label is welcome at any time: type a fish" in told
    assert err.startswith("4 of 4 of your labels")


def test_the_tour_notices_a_slip(typist: Typist) -> None:
    out, _ = typist("a mammal\n" + "\n")  # a duck is called a mammal
    told = " ".join(out.split())
    assert "You called the duck a mammal. If that was a slip, type /undo." in told


def test_the_zoo_is_not_written_over(typist: Typist, folder: Path) -> None:
    typist("")
    zoo = folder / "tellapart-zoo.csv"
    unicorn = "unicorn,true" + ",false" * 11 + ",4,true,false,true,mammal\n"
    zoo.write_text(zoo.read_text() + unicorn)
    typist("")  # a row more is taken on
    assert zoo.read_text().endswith(unicorn)
    header, _, rows = zoo.read_text().partition("\n")
    zoo.write_text(f"{header}\n{unicorn.replace('unicorn', 'griffin')}{rows}")
    assert "had 102 items and now has 103" in typist("", code=1)[1]


def test_the_zoo_where_nothing_may_be_written(
    typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/proc")
    _, err = typist("", code=1)
    assert err.startswith("tellapart: /proc/tellapart-zoo.csv: ")


def test_a_label_column_without_labels(typist: Typist, folder: Path) -> None:
    (folder / "none.csv").write_text("name,legs,kind\nbear,4,\nduck,2,\n")
    _, err = typist("", "none.csv", "--label", "kind", code=1)
    assert "column 'kind' is empty in every row" in err
    assert "leave out --label" in err
    assert not (folder / "none.csv.sessions.db").exists()
    (folder / "none.csv").write_text("name,legs,kind\nbear,4,\nduck,2,bird\n")
    _, err = typist("mammal\n", "none.csv", "--label", "kind", "--order", "file")
    assert err == "No answers yet where column 'kind' has a label.\n"


def test_it_starts_from_existing_labels(typist: Typist, folder: Path) -> None:
    (folder / "zoo.csv").write_text(ZOO.replace("lion,true,4,mammal", "lion,true,4,"))
    out, err = typist("", "zoo.csv", "--start-from", "kind")
    assert "2 labels of column 'kind' are the first answers." in err
    assert "kind" not in out.replace("kind of", "")
    assert answers() == [("bear", "mammal"), ("duck", "bird")] or answers() == [
        ("duck", "bird"),
        ("bear", "mammal"),
    ]
    assert "0 labels" in typist("", "zoo.csv", "--start-from", "kind")[1]
    _, err = typist("", "zoo.csv", "--start-from", "legs", code=1)
    assert "--start-from legs: the session was begun with that column in sight" in err
    _, err = typist("", "zoo.csv", "--start-from", "kind", "--label", "kind", code=1)
    assert "cannot be both" in err
    _, err = typist("", "--start-from", "kind", code=1)
    assert "name the table, too" in err


def test_the_bank_statement_of_the_package(typist: Typist, folder: Path) -> None:
    out, _ = typist("rent\n", "--sample", "bank", "--order", "file")
    assert "What is HAUSVERWALTUNG MEIER (2026-01-01)?" in out
    assert (folder / "bank.csv").exists()
    assert len((folder / "november.csv").read_text().splitlines()) == 61
    assert "1 of 400 rows taught" in out
    _, err = typist("", "zoo.csv", "--sample", "bank", code=1)
    assert "--sample bank is a table itself: leave out zoo.csv" in err


def test_a_table_without_rows(typist: Typist, folder: Path) -> None:
    (folder / "head.csv").write_text("name,legs\n")
    assert "head.csv has columns, and no rows" in typist("", "head.csv", code=1)[1]


@pytest.mark.parametrize("printed", ["row", "reasons", "progress"])
def test_ctrl_c_while_it_prints(
    typist: Typist, monkeypatch: pytest.MonkeyPatch, printed: str
) -> None:
    """It stops kindly, and what was answered is there."""
    from tellapart.console.conversation import Screen as Shown

    real = getattr(Shown, printed)
    calls = []

    def interrupted(*given: object) -> None:
        real(*given)
        calls.append(given)
        if len(calls) == (1 if printed == "reasons" else 2):
            raise KeyboardInterrupt

    monkeypatch.setattr(Shown, printed, interrupted)
    out, _ = typist("mammal\nbird\n1\n", "zoo.csv", "--order", "file")
    assert "Stopped. Every answer is saved." in out
    assert answers() == [("bear", "mammal")]


# -- a real terminal


class Screen:
    """The command in a pseudo-terminal."""

    def __init__(self, *words: str) -> None:
        self.said = ""
        self.pid, self.number = pty.fork()
        if self.pid == 0:
            environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
            environment.pop("PYTHONUNBUFFERED", None)  # users have it not, and it mends much
            command = [sys.executable, "-m", "tellapart", "teach", *words, "--console"]
            os.execve(sys.executable, command, environment)

    def type(self, keys: str) -> None:
        os.write(self.number, keys.encode())

    def wait_for(self, words: str) -> None:
        """Read until something is said; what was said before counts no more."""
        end = time.monotonic() + 120
        while words not in self.said:
            assert time.monotonic() < end, self.said
            assert self.read(), self.said
        self.said = self.said.partition(words)[2]

    def read(self) -> bool:
        if not select.select([self.number], [], [], 120)[0]:
            return False
        try:
            read = os.read(self.number, 10_000)
        except OSError:  # the other side is closed
            return False
        self.said += read.decode(errors="replace")
        return bool(read)

    def end(self) -> int:
        """Wait for the end; returns the exit code."""
        while self.read():
            pass
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.number)
        return code


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # a fork beside threads
def test_a_real_terminal() -> None:
    screen = Screen("zoo.csv", "--order", "file")
    screen.wait_for("What is bear?")
    screen.type("mamal\x7f\x7fmal\n")  # with the usual editing
    screen.wait_for("Is duck mammal, like bear?")
    screen.type("\x1b[A")  # an arrow is no Escape, and no A
    screen.type("bird\r")
    screen.wait_for("Why is duck bird, unlike bear?")
    screen.type("\x1b")
    screen.wait_for("Is duck mammal, like bear?")
    screen.type("bird\nlegs < 3\n")  # typed ahead
    screen.wait_for("Is lion")
    screen.type("xy")
    cooked = termios.tcgetattr(screen.number)
    cooked[3] |= termios.ICANON | termios.ECHO
    os.kill(screen.pid, signal.SIGSTOP)
    termios.tcsetattr(screen.number, termios.TCSANOW, cooked)  # as a shell does after Ctrl-Z
    os.kill(screen.pid, signal.SIGCONT)
    screen.wait_for("> xy")
    screen.type("\x7f\x7fé\x04")  # a letter alone is nothing; Ctrl-D ends
    screen.wait_for("Saved. 2 of 3 rows taught")
    assert screen.end() == 0
    assert answers() == [("bear", "mammal"), ("duck", "bird")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # a fork beside threads
def test_ctrl_c_and_kill_lose_nothing() -> None:
    screen = Screen("zoo.csv", "--order", "file", "--label", "kind")
    screen.wait_for("What is bear?")
    screen.type("mammal\n")
    screen.wait_for("1 of 3 rows taught")
    screen.type("\x03")
    screen.wait_for("1 of 1 of your labels are those of column 'kind'.")
    assert screen.end() == 0
    screen = Screen("zoo.csv")
    screen.wait_for("Is duck mammal")
    screen.wait_for("? help")
    screen.type("\r")
    screen.wait_for("Is lion mammal")
    os.kill(screen.pid, signal.SIGKILL)
    assert screen.end() == -signal.SIGKILL
    assert answers() == [("bear", "mammal"), ("duck", "mammal")]


# -- the page


@contextmanager
def page(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command with its server; the process and the address it prints."""
    command = [sys.executable, "-m", "tellapart", "teach", *words, "--no-browser", "--name", "Ann"]
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    assert started.stdout is not None
    try:
        lines = []
        while not lines or "Stop with Ctrl-C" not in lines[-1]:
            lines.append(started.stdout.readline())
            assert lines[-1], started.communicate()[1]
        found = re.search(r"http://\S+", "".join(lines))
        assert found
        yield started, found[0]
    finally:
        started.kill()
        started.communicate()


@pytest.mark.slow
def test_the_page_goes_on_after_ctrl_c_and_kill(typist: Typist) -> None:
    with page("zoo.csv", "--order", "file", "--label", "kind") as (started, address):
        client = httpx2.Client(follow_redirects=True)
        shown = client.get(address)
        assert shown.status_code == 200
        assert "What is" in shown.text
        given = re.search(r'data-given="([^"]+)"', shown.text)
        assert given
        answered = client.post(
            re.sub(r"/teach\?.*", "/answer", address),
            data={"given": given[1], "answer": "wrong", "label": "mammal"},
            headers={"Origin": re.sub(r"(?<=\d)/.*", "", address)},
        )
        assert answered.status_code == 200, answered.text
        assert "Is <b" in answered.text
        client.close()
        # a second one is refused, whatever it is
        assert "being written by another program" in typist("", "zoo.csv", code=1)[1]
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=120)
        assert started.returncode == 0
        assert "1 of 1 of your labels are those of column 'kind'." in err
    with page("zoo.csv") as (started, address):
        with httpx2.Client(follow_redirects=True) as client:
            assert "Is <b" in client.get(address).text
        started.kill()
        started.wait()
    assert "mammal, like bear?" in typist("", "zoo.csv")[0]
    assert answers() == [("bear", "mammal")]


@pytest.mark.slow
def test_a_page_that_is_open_goes_on_after_a_restart(folder: Path) -> None:
    """The last port and the last token are used again; another port if that one is taken."""
    with httpx2.Client(follow_redirects=True) as tab:
        with page("zoo.csv") as (_, address):
            assert tab.get(address).status_code == 200
        kept = folder / "zoo.csv.sessions.db.page"
        assert kept.stat().st_mode & 0o777 == 0o600
        with page("zoo.csv") as (_, again):
            assert again == address
            assert tab.get(address.partition("?")[0]).status_code == 200  # by its cookie
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", int(kept.read_text().split()[0])))
            taken.listen()
            with page("zoo.csv") as (_, elsewhere):
                assert elsewhere.partition("/s/")[0] != address.partition("/s/")[0]
                assert elsewhere.partition("?")[2] == address.partition("?")[2]  # the token
                assert tab.get(elsewhere).status_code == 200


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["teach", "zoo.csv", "--no-browser", "--port", port]) == 1
    err = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1 port {port}" in err
    assert "0 for a free one" in err
    assert answers() == []
