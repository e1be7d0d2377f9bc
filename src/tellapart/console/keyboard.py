"""Keys, one at a time: from a terminal, or from a text that was piped in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Protocol

_NAMES = {"\r": "enter", "\n": "enter", "\x1b": "escape", " ": "space", "\x7f": "backspace"}


class Keyboard(Protocol):
    """Where keys and lines come from; None when there are no more."""

    def key(self) -> str | None:
        """The next key: a character, or a name such as enter."""

    def line(self, prompt: str) -> str | None:
        """A line of text; empty for none."""


class Piped:
    """Keys from a stream: each character is a key, a line ends at its end.

    >>> import io
    >>> keys = Piped(io.StringIO("u2legs > 2\\n"))
    >>> keys.key(), keys.key(), keys.line(""), keys.key()
    ('u', '2', 'legs > 2', None)
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def key(self) -> str | None:
        read = self._stream.read(1)
        return _NAMES.get(read, read.lower()) if read else None

    def line(self, prompt: str) -> str | None:
        read = self._stream.readline()
        return read.rstrip("\n") if read else None


class Terminal:
    """Keys from a real terminal, without Enter after each."""

    def key(self) -> str | None:
        import termios
        import tty

        number = sys.stdin.fileno()
        before = termios.tcgetattr(number)
        try:
            tty.setcbreak(number)
            read = sys.stdin.read(1)
        finally:
            termios.tcsetattr(number, termios.TCSADRAIN, before)
        if read in ("", "\x04"):
            return None
        return _NAMES.get(read, read.lower())

    def line(self, prompt: str) -> str | None:
        try:
            return input(prompt)
        except EOFError:
            return None


@contextmanager
def keyboard(stream: IO[str] | None = None) -> Iterator[Keyboard]:
    """The keyboard at hand."""
    source = sys.stdin if stream is None else stream
    if stream is None and source.isatty():
        try:
            import termios  # noqa: F401
        except ImportError:  # not on Windows: keys then need Enter
            pass
        else:
            yield Terminal()
            return
    yield Piped(source)
