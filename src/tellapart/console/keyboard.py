"""Keys, one at a time: from a terminal, or from a text that was piped in."""

from __future__ import annotations

import codecs
import os
import select
import sys
from importlib.util import find_spec
from typing import IO, Protocol

_NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x1b": "escape",
    " ": "space",
    "\t": "tab",
    "\x08": "backspace",
    "\x7f": "backspace",
}
_ENDS = ("", "\x00", "\x03", "\x04")  # a Ctrl-D typed while we print arrives as NUL
_LINE_ENDS = (b"\n", b"\r", b"", b"\x00", b"\x04")
_PAUSE = 0.03  # what a terminal sends for an arrow comes quicker than a hand types


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


class Lines:
    """A terminal that gives whole lines only, as on Windows: a key, then Enter.

    Enter alone is the key Enter; other keys without a letter are typed by name.

    >>> import io
    >>> keys = Lines(io.StringIO("2\\n\\nescape\\nlegs > 2\\n"))
    >>> keys.key(), keys.key(), keys.key(), keys.line("condition: "), keys.key()
    condition: ('2', 'enter', 'escape', 'legs > 2', None)
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def key(self) -> str | None:
        read = self._stream.readline()
        if not read:
            return None
        word = read.strip().lower() or "enter"
        return word if word in _NAMES.values() else word[0]

    def line(self, prompt: str) -> str | None:
        print(prompt, end="", flush=True)
        read = self._stream.readline()
        return read.rstrip("\n") if read else None


class Terminal:
    """Keys from a real terminal, without Enter after each. Ctrl-C and Ctrl-D end it."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._ahead = b""

    def key(self) -> str | None:
        import termios
        import tty

        before = termios.tcgetattr(self._number)
        try:
            # drain, not flush: whoever types ahead loses nothing
            tty.setcbreak(self._number, termios.TCSADRAIN)
            # Ctrl-C as a key: a signal that comes just before the reading begins is not seen
            mode = termios.tcgetattr(self._number)
            mode[6][termios.VINTR] = bytes([os.fpathconf(self._number, "PC_VDISABLE")])
            termios.tcsetattr(self._number, termios.TCSADRAIN, mode)
            read = self._character()
            if read == "\x1b" and self._is_sequence():
                return ""
        except KeyboardInterrupt:
            return None
        finally:
            termios.tcsetattr(self._number, termios.TCSADRAIN, before)
        if read in _ENDS:
            return None
        return _NAMES.get(read, read.lower())

    def _byte(self) -> bytes:
        read, self._ahead = self._ahead or os.read(self._number, 1), b""
        return read

    def _character(self) -> str:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while byte := self._byte():
            if text := decoder.decode(byte):
                return text
        return ""

    def _is_sequence(self) -> bool:
        """Whether Escape is the beginning of an arrow or the like, none of our keys; it is read."""
        if not select.select([self._number], [], [], _PAUSE)[0]:
            return False
        byte = self._byte()
        if byte not in (b"[", b"O"):
            self._ahead = byte
            return False
        while (byte := self._byte()) and not b"@" <= byte <= b"~":
            pass
        return True

    def line(self, prompt: str) -> str | None:
        print(prompt, end="", flush=True)
        # byte by byte: `input` takes all there is, and what is typed ahead would be lost
        read = b""
        while (byte := self._byte()) not in _LINE_ENDS:
            read += byte
        return read.decode(errors="replace") if read or byte in (b"\n", b"\r") else None


def keyboard(stream: IO[str] | None = None) -> Keyboard:
    """The keyboard at hand."""
    source = sys.stdin if stream is None else stream
    if not source.isatty():
        return Piped(source)
    if find_spec("termios") is None:
        return Lines(source)
    return Terminal(source.fileno())
