"""A PostgreSQL server of our own, in a temporary folder, for as long as the tests run."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"  # the server does not run as root


def program(name: str) -> str | None:
    """Where a program of PostgreSQL is; Debian keeps most of them out of the way."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name) or next((str(p / name) for p in places if (p / name).exists()), None)


def available() -> bool:
    return program("initdb") is not None and program("pg_ctl") is not None


@contextmanager
def server(*, durable: bool = False) -> Iterator[str]:
    """Start a server and give the address to connect to; it listens on a socket file only.

    `durable`: what is committed is on the disk, as on a server that matters.
    """
    folder = Path(tempfile.mkdtemp(prefix="tellapart-pg-"))
    root = os.geteuid() == 0
    prefix = ["runuser", "-u", USER, "--"] if root else []
    if root:
        shutil.chown(folder, USER)
    try:
        _run([*prefix, program("initdb"), "-D", folder / "data", "-A", "trust", "-U", "test",
              "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"], folder)  # fmt: skip
        options = f"-k {folder} -c listen_addresses= -c fsync={'on' if durable else 'off'}"
        _run([*prefix, program("pg_ctl"), "-D", folder / "data", "-l", folder / "log", "-w",
              "-o", options, "start"], folder)  # fmt: skip
        stop = [*prefix, program("pg_ctl"), "-D", folder / "data", "-m", "immediate", "stop"]
        guard = watch(stop, folder)
        try:
            yield f"host={folder} user=test dbname=postgres"
        finally:
            guard.terminate()
            guard.wait()
            _run(stop, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def watch(stop: list[object], folder: Path) -> subprocess.Popen[bytes]:
    """Stop the server even if we are killed and cannot."""
    words = shlex.join(str(word) for word in stop)
    alive = f"kill -0 {os.getpid()} 2>/dev/null"
    script = f"while {alive}; do sleep 1; done; {words}; rm -rf {shlex.quote(str(folder))}"
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        ["sh", "-c", script], stdout=quiet, stderr=quiet, start_new_session=True
    )


def _run(command: list[object], folder: Path) -> None:
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} as {getpass.getuser()}: {done.stdout}{done.stderr}")
