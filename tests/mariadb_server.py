"""A MariaDB server of our own, in a temporary folder, for as long as the tests run."""

from __future__ import annotations

import getpass
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from postgres_server import watch


def available() -> bool:
    return bool(shutil.which("mariadb-install-db") and shutil.which("mariadbd", path=_places()))


def _places() -> str:
    return "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin"


@contextmanager
def server() -> Iterator[str]:
    """Start a server and give the socket file that it listens on."""
    folder = Path(tempfile.mkdtemp(prefix="tellapart-maria-"))
    socket, user = folder / "socket", f"--user={getpass.getuser()}"
    try:
        made = subprocess.run(
            ["mariadb-install-db", f"--datadir={folder / 'data'}", user, "--no-defaults",
             "--auth-root-authentication-method=normal", "--skip-test-db"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if made.returncode:
            raise RuntimeError(f"mariadb-install-db: {made.stdout}{made.stderr}")
        program = shutil.which("mariadbd", path=_places())
        options = [f"--datadir={folder / 'data'}", f"--socket={socket}", user, "--skip-networking",
                   "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0",
                   "--max-allowed-packet=256M", f"--pid-file={folder / 'pid'}"]  # fmt: skip
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [str(program), "--no-defaults", *options], stdout=log, stderr=log
            )
        guard = watch(["kill", str(process.pid)], folder)
        try:
            for _ in range(600):
                if socket.exists():
                    break
                if process.poll() is not None:
                    raise RuntimeError(f"mariadbd: {(folder / 'log').read_text()[-2000:]}")
                time.sleep(0.1)
            yield str(socket)
        finally:
            guard.terminate()
            guard.wait()
            process.kill()
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
