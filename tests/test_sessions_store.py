"""Where logs are kept: nothing is lost, and what goes wrong is said clearly."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teaching import animals, fill_disk, teach
from tellapart.errors import (
    FormatError,
    ParameterError,
    ProtocolError,
    SessionError,
    StoreError,
    TellapartError,
)
from tellapart.sessions import Event, Given, Session, Store, export_log, import_log
from tellapart.sessions.events import NEEDS, check_log
from tellapart.tables import Table, read_table
from zoo_session import ZOO


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "a.db", patience=0.2) as made:
        yield made


def begin(store: Store, name: str = "zoo", **options: Any) -> Session:
    return Session.new(store, name, animals(), learner="AdaptiveDFF", **options)


def test_an_answer_is_committed_before_it_is_acknowledged(store: Store) -> None:
    with begin(store) as session:
        teach(session, "Ann", 5)
        with sqlite3.connect(store.where) as other:
            rows = other.execute("SELECT number, type FROM tellapart_events").fetchall()
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        other.close()
        assert len(rows) == session.number
        assert [kind for _, kind in rows].count("answered") == 5
    with store.connected() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def events_on_disk(store: Store) -> list[str]:
    other = sqlite3.connect(store.where)
    try:
        found = other.execute("SELECT type FROM tellapart_events ORDER BY number").fetchall()
    finally:
        other.close()
    return [kind for (kind,) in found]


def test_what_is_done_together_is_committed_once_and_as_a_whole(store: Store) -> None:
    with begin(store) as session:
        with session.together():
            given = session.next("Ann")
            assert isinstance(given, Given)
            with session.together():
                session.answer("Ann", given.id, "wrong", "bird", id="one")
            session.next("Ann")
            assert events_on_disk(store) == ["opened"]
        assert events_on_disk(store) == ["opened", "joined", "given", "answered", "given"]
        # what is refused takes nothing along
        with pytest.raises(ProtocolError):
            note_and_answer(session, "no such id")
        assert events_on_disk(store)[-1] == "note"
        assert session.answer("Ann", given.id, "wrong", "bird", id="one").id == "one"


def note_and_answer(session: Session, given: str) -> None:
    with session.together():
        session.note("Ann", "before")
        session.answer("Ann", given, "right")


def test_what_is_done_together_is_lost_together(store: Store) -> None:
    """Nobody is told that something was saved which then was not."""
    with begin(store) as session:
        teach(session, "Ann", 2)
        before, on_disk = session.number, events_on_disk(store)

        def note_twice(trouble: Callable[[], object]) -> None:
            with session.together():
                session.note("Ann", "one")
                with suppress(StoreError):
                    trouble()
                session.note("Ann", "two")

        def break_off() -> None:
            session._log.writer._connect().close()
            session.note("Ann", "between")

        for trouble in (break_off, lambda: session._log.fail(StoreError("gone"))):
            with pytest.raises(StoreError):
                note_twice(trouble)
            assert (session.number, events_on_disk(store)) == (before, on_disk)
        note_twice(lambda: None)
        assert events_on_disk(store) == [*on_disk, "note", "note"]


def test_export_and_import_are_the_identity(store: Store, tmp_path: Path) -> None:
    with begin(store, labels=["bird", "fish"], until={"no mistake in": 5}) as session:
        teach(session, "Ann", 8)
        session.undo("Ann")
        session.undo("Ann")
        session.redo("Ann")
        session.rename_label("Ann", "bird", "fowl \N{BIRD}")
        session.note("Ann", "two lines\nand a \u2028 separator, a \x00 and a tab\t", "animal 3")
        session.set_tag("Bob", "odd", "animal 1", True)
        session.set("Bob", order="random", overlap=0.5)
        model, summary = session.model, session.summary()
    lines = list(export_log(store, "zoo"))
    assert all(line.count("\n") == 1 for line in lines)
    with Store(tmp_path / "b.db") as other:
        assert import_log(other, lines) == "zoo"
        assert list(export_log(other, "zoo")) == lines
        assert other.log("zoo") == store.log("zoo")
        with Session.open(other, "zoo", animals()) as again:
            assert (again.model, again.summary()) == (model, summary)
        with pytest.raises(SessionError, match=r"there is a session 'zoo' .* already"):
            import_log(other, lines)
        assert import_log(other, lines, "copy") == "copy"
        assert list(export_log(other, "copy")) == lines
        assert {listed.name for listed in other.sessions()} == {"zoo", "copy"}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_any_event_is_its_line(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(NEEDS)))
    contents = {name: data.draw(JSON) for name in NEEDS[kind]}
    if "answer" in contents:
        contents["answer"] = "unsure"
    text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9)
    event = Event(
        data.draw(st.integers(1, 2**60)),
        data.draw(text),
        "2026-11-16T08:00:00.000Z",
        kind,
        data.draw(st.none() | text),
        contents,
    )
    assert Event.read(event.line()) == event
    assert Event.read(event.line()).line() == event.line()


def test_a_damaged_export_is_refused_with_its_line(store: Store, tmp_path: Path) -> None:
    with begin(store) as session:
        teach(session, "Ann", 2)
    lines = list(export_log(store, "zoo"))
    newer = lines[0].replace('"format":1', '"format":9')
    cases = [
        ([], "empty log"),
        (lines[1:], "begins with the event 'opened'"),
        ([lines[0], *lines[2:]], "event 2 is missing"),
        ([*lines, lines[-1].replace(f'"n":{len(lines)}', f'"n":{len(lines) + 1}')], "used before"),
        ([lines[0], "{"], "line 2: not JSON"),
        ([lines[0], lines[1].replace('"joined"', '"danced"')], "line 2: .*unknown type 'danced'"),
        ([lines[0], lines[1].replace('"by"', '"bye"')], "line 2: .*'by' is missing"),
        ([newer, *lines[1:]], "format 9.*Upgrade"),
        ([line.replace('"asks"', '"tasks"') for line in lines], "line 3: .*needs 'asks'"),
    ]
    with Store(tmp_path / "b.db") as other:
        for damaged, message in cases:
            with pytest.raises(FormatError, match=message):
                import_log(other, damaged)
        assert other.sessions() == []


def test_a_log_that_makes_no_sense_names_the_event(store: Store, tmp_path: Path) -> None:
    with begin(store) as session:
        teach(session, "Ann", 3)
    lines = [event.line() + "\n" for event in store.log("zoo")]
    wrong = [line.replace('"item":"animal 1"', '"item":"unicorn"') for line in lines]
    with Store(tmp_path / "b.db") as other:
        import_log(other, wrong)
        with pytest.raises(
            FormatError, match=r"event \d+ \(given\): animals has no item 'unicorn'"
        ):
            Session.open(other, "zoo", animals())
        assert [
            event.line() + "\n" for event in other.log("zoo")
        ] == wrong  # nothing is lost by trying


def test_sessions_are_listed_and_an_unknown_one_is_named(store: Store) -> None:
    assert store.sessions() == []
    with pytest.raises(SessionError, match=r"no session 'zoo' in .*; there are: none"):
        store.log("zoo")
    begin(store).close()
    begin(store, "farm").close()
    listed = {one.name: one.events for one in store.sessions()}
    assert listed == {"zoo": 1, "farm": 1}
    with pytest.raises(SessionError, match=r"there are: .*'farm'"):
        Session.open(store, "sea", animals())
    with pytest.raises(SessionError, match=r"there is a session 'zoo' .* already; choose"):
        begin(store)
    with pytest.raises(ParameterError, match="the name of a session is a text"):
        begin(store, "\x00")


@pytest.mark.parametrize("name", ["a/b", "/", ".", ".."])
def test_a_name_that_no_address_can_hold(store: Store, name: str) -> None:
    with pytest.raises(ParameterError, match=r"stands in addresses.* choose another name"):
        begin(store, name)
    begin(store).close()
    with pytest.raises(ParameterError, match="stands in addresses"):
        import_log(store, export_log(store, "zoo"), name)
    assert [one.name for one in store.sessions()] == ["zoo"]


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with Store(tmp_path / "new.db") as store, begin(store) as session:
            teach(session, "Ann", 1)
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("new.db", "new.db-wal", "new.db-shm", "new.db.lock"), 0o600)


def test_two_servers_on_one_file(store: Store) -> None:
    session = begin(store)
    with pytest.raises(SessionError, match="open here already"):
        Session.open(store, "zoo", animals())
    with Store(store.where) as other:
        with pytest.raises(
            SessionError, match=f"written by another program .process {os.getpid()}"
        ):
            Session.open(other, "zoo", animals())
        with pytest.raises(SessionError, match="Close that one first"):
            begin(other, "farm")
        assert len(list(export_log(other, "zoo"))) == 1  # to read is allowed
        assert [one.name for one in other.sessions()] == ["zoo"]
    assert teach(session, "Ann", 3) == 3
    session.close()
    store.close()
    with Store(store.where) as other, Session.open(other, "zoo", animals()) as again:
        assert teach(again, "Ann", 1) == 1


def test_two_writers_that_passed_the_lock_do_no_harm(store: Store) -> None:
    with begin(store) as session, Store(store.where) as other:
        events = store.log("zoo")
        intruder = Event(2, "x", events[0].at, "joined", "Eve", {})
        with other.connected() as connection:
            other.insert(connection, "zoo", [intruder])
            connection.commit()
        with pytest.raises(StoreError, match="another program has written to the session 'zoo'"):
            session.join("Ann")
        assert session.teachers == ["Eve"]  # the log is read again, and the session goes on
        session.join("Ann")
        assert session.teachers == ["Eve", "Ann"]
        check_log(store.log("zoo"))


def test_a_locked_database(store: Store) -> None:
    with begin(store) as session:
        teach(session, "Ann", 2)
        given = session.next("Ann")
        other = sqlite3.connect(store.where, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"another program has it locked. Close that one"):
            session.answer("Ann", given.id, "unsure", id="a1")
        other.execute("ROLLBACK")
        other.close()
        saved = session.answer("Ann", given.id, "unsure", id="a1")
        assert saved == session.answer("Ann", given.id, "unsure", id="a1")
        assert [a.event for a in session.history()].count("a1") == 1


def fill(session: Session, acknowledged: list[int]) -> None:
    for _ in range(200):
        acknowledged.append(session.note("Ann", "x" * 5000).number)


def test_a_full_disk(store: Store) -> None:
    with begin(store) as session:
        teach(session, "Ann", 2)
        acknowledged = [session.number]
        connection = session._log.writer._connect()
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages + 20}")
        connection.commit()
        with pytest.raises(StoreError, match=r"the disk is full. Make room, then try again"):
            fill(session, acknowledged)
        # room was made: the writer's new connection has no limit
        assert [session.number] == acknowledged[-1:]
        session.note("Ann", "there is room again")
        assert teach(session, "Ann", 3) == 3
    check_log(store.log("zoo"))


def test_a_really_full_disk(small_disk: Path) -> None:
    with Store(small_disk / "a.db", patience=0.2) as store, begin(store) as session:
        teach(session, "Ann", 2)
        acknowledged = [session.number]
        session.check_store()
        with pytest.raises(StoreError, match=r"the disk is full. Make room, then try again"):
            fill(session, acknowledged)
        for _ in range(3):  # each is refused, and none is half there
            with pytest.raises(StoreError, match="the disk is full"):
                session.note("Ann", "x" * 5000, id="big")
        ballast = fill_disk(small_disk)
        with pytest.raises(StoreError, match="the disk is full"):
            session.note("Ann", "x" * 5000, id="big")
        with pytest.raises(StoreError, match="the disk is full"):
            session.check_store()
        assert session.number == acknowledged[-1]
        ballast.unlink()
        shutil.copy(small_disk / "a.db", small_disk.parent / "elsewhere.db")
        lines = list(export_log(store, "zoo"))
        assert len(lines) == acknowledged[-1]
    with Store(small_disk.parent / "big.db") as store:
        import_log(store, lines)
        with Session.open(store, "zoo", animals()) as session:
            assert session.note("Ann", "x" * 5000, id="big").number == acknowledged[-1] + 1
            assert teach(session, "Ann", 3) == 3


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write anywhere: be somebody else for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_read_only_folder() -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # one that nobody may look into
    try:
        with Store(folder / "a.db") as store:
            begin(store).close()
        folder.chmod(0o555)
        (folder / "a.db").chmod(0o444)
        denied = pytest.raises(StoreError, match=r"cannot be written: Permission denied. Choose")
        with as_nobody(), Store(folder / "b.db") as store, denied:
            begin(store)
        denied = pytest.raises(StoreError, match=r"may not be written. Allow writing to the file")
        with as_nobody(), Store(folder / "a.db") as store, denied:
            Session.open(store, "zoo", animals())
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_file_that_may_not_be_written(store: Store) -> None:
    with begin(store) as session:
        teach(session, "Ann", 1)
        connection = session._log.writer._connect()
        connection.execute("PRAGMA query_only=ON")
        connection.commit()
        with pytest.raises(StoreError, match="it may not be written"):
            session.join("Bob")
        session.join("Bob")  # over a new connection


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("{folder}/none/a.db", "No such file or directory. Choose a folder"),
        ("mysql://host/name", "SQLite or PostgreSQL, not in 'mysql'"),
        ("://", "no address of a database"),
    ],
)
def test_a_place_that_is_none(place: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=message):
        begin(Store(place.format(folder=tmp_path)))


@pytest.mark.parametrize(
    "address", ["sqlite:///{path}", "sqlite+pysqlite:///{path}?timeout=3", "{path}"]
)
def test_an_address_of_a_file(address: str, tmp_path: Path) -> None:
    """Also as SQLAlchemy writes it; a path in an address has its signs escaped."""
    path = tmp_path / "my zoo.db"
    written = str(path).replace(" ", "%20") if "://" in address else str(path)
    with Store(address.format(path=written)) as store:
        assert store.where == str(path)
        begin(store).close()
    assert path.exists()


def test_a_folder_in_the_place_of_a_database_is_called_one_that_cannot_be_opened(
    tmp_path: Path,
) -> None:
    """A folder has several links, too, and they are no second names."""
    (tmp_path / "a.db").mkdir()
    with Store(tmp_path / "a.db") as store, pytest.raises(StoreError, match="cannot be opened"):
        Session.new(store, "zoo", animals())


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("dear diary, " * 100)
    with Store(tmp_path / "a.db") as store, pytest.raises(StoreError, match="no SQLite file"):
        begin(store)
    assert (tmp_path / "a.db").read_text().startswith("dear diary")


def test_a_table_that_changed(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "zoo.csv"
    path.write_text("name,legs\nbear,4\nduck,2\n")
    with Session.new(store, "zoo", path, learner="DFF", reading={"id": "name"}) as session:
        session.answer("Ann", session.next("Ann").id, "wrong", "mammal")
    Session.open(store, "zoo").close()
    for text, message in (
        ("name,legs\nbear,4\nbass,0\nduck,2\n", "it had 2 items and now has 3, and they do not"),
        ("name,legs\nbear,4\n", "it had 2 items and now has 1"),
        ("name,legs\nbear,4\nduck,3\n", "some cells are different"),
        ("name,legs\nduck,2\nbear,4\n", "the rows stand in another order"),
        ("name,feet\nbear,4\nduck,2\n", "other columns, .*: legs, feet"),
        ("name,legs\nbear,4\nduck,\n", "some cells are different"),
    ):
        path.write_text(text)
        with pytest.raises(
            SessionError, match=f"'zoo.csv' has changed .*{message}.*Nothing is lost"
        ):
            Session.open(store, "zoo")
    path.write_text("name,legs\nbear,4\nduck,2\n")
    with pytest.raises(SessionError, match="items were named by name, now by their rows"):
        Session.open(store, "zoo", read_table(path))
    with Session.open(store, "zoo") as session:
        assert session.label_of("bear") == "mammal"


def test_a_session_without_a_file_wants_its_table(store: Store) -> None:
    begin(store).close()
    with pytest.raises(SessionError, match="has no file to read: give its table"):
        Session.open(store, "zoo")


def test_the_fingerprint_knows_what_is_unknown() -> None:
    from tellapart.sessions.items import fingerprint

    one, other = Table({"a": ["", None]}), Table({"a": [None, ""]})
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(one) == fingerprint(Table({"a": ["", None]}))


def test_every_version_opens_the_logs_of_all_before(store: Store) -> None:
    """tests/archive has a log of every format there was, with events of all its types."""
    path = Path(__file__).parent / "archive" / "session-1.jsonl"
    with path.open(encoding="utf-8", newline="\n") as lines:
        text = lines.readlines()
    import_log(store, text)
    assert [event.line() + "\n" for event in store.log("zoo")] == text
    later = {"rows added", "swept"}
    assert {event.type for event in store.log("zoo")} == set(NEEDS) - later
    with Session.open(store, "zoo", Table(ZOO, id="name", name="zoo")) as session:
        assert [str(clause) for clause in session.model] == [
            "if fins OR legs = 0: fish, like lion",
            "always: mammal, like bear",
        ]
        labels = ["mammal", "bird", "bird", "bird", "fish", "fish"]
        assert [session.label_of(name) for name in ZOO["name"]] == labels
        assert session.labels == ["mammal", "bird", "fish"]
        summary = session.summary()
        assert (summary.labelled, summary.mistakes, summary.guesses) == (6, 3, 5)
        assert session.settings["order"] == "random"
        assert session.meanings == {"fish": "has gills for life"}


# -- the file goes away under a running server


def delete(path: Path) -> None:
    for name in path.parent.glob(path.name + "*"):
        name.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy.db"))
    path.with_name("copy.db").replace(path)


def move_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


def delete_log(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


@pytest.mark.parametrize("attack", [delete, move, replace, move_folder, delete_log])
def test_nothing_is_acknowledged_into_nowhere(
    tmp_path: Path, attack: Callable[[Path], None]
) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "a.db"
    with Store(path) as store, begin(store) as session:
        teach(session, "Ann", 3)
        attack(path)
        for _ in range(3):
            with pytest.raises(StoreError, match="deleted, moved or replaced while it was open"):
                session.note("Ann", "into nowhere")
            if attack is delete_log:  # the rest of the database is as it was, and is used again
                break
        if attack is not delete_log:
            with pytest.raises(StoreError, match="deleted, moved or replaced"):
                store.ping()
            if attack not in (replace, move_folder):
                assert not path.exists(), "no empty database in its place"


def test_a_file_that_is_put_back_goes_on(store: Store) -> None:
    path = Path(store.where)
    with begin(store) as session:
        teach(session, "Ann", 3)
        number = session.number
        path.rename(path.with_name("elsewhere.db"))
        with pytest.raises(StoreError, match="put it back"):
            session.note("Ann", "one", id="one")
        path.with_name("elsewhere.db").rename(path)
        assert session.note("Ann", "one", id="one").number == number + 1
    check_log(store.log("zoo"))


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_two_servers_on_one_file_through_a_link(
    store: Store, tmp_path: Path, link: Callable[[str, Path], None]
) -> None:
    with begin(store) as session:
        link(store.where, tmp_path / "link.db")
        with (
            Store(tmp_path / "link.db") as other,
            pytest.raises(TellapartError, match=r"being written by another|several names"),
        ):
            Session.open(other, "zoo", animals())
        assert teach(session, "Ann", 3) == 3


def test_a_session_is_read_while_another_program_writes_to_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store(path) as store, Session.new(store, "s", animals(), learner="DFF") as session:
        teach(session, "Ann", 5)
        with Store(path) as other, Session.open(other, "s", animals(), writes=False) as read:
            assert read.history() == session.history()
            assert read.model == session.model
            with pytest.raises(SessionError, match="opened to be read"):
                read.note("Bob", "hello")
            assert len(read.history()) == 5
        teach(session, "Ann", 1)
        assert len(session.history()) == 6
