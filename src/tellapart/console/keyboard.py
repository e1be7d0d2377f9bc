"""Reading what is typed in a terminal."""

from __future__ import annotations

import codecs
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import IO

ENTER, ESCAPE = "\n", "\x1b"
"""Typed instead of a word."""
_BACK = ("\x08", "\x7f")
_ALL = "\x15"  # Ctrl-U takes back all that was typed
_PATIENCE = 0.2
_PAUSE = 0.03  # what a terminal sends for an arrow comes quicker than a hand types


class Piped:
    """Words from a stream, one a line; an empty line is Enter; None at the end of it.

    >>> import io
    >>> keys = Piped(io.StringIO("/undo\\n\\n2\\n"))
    >>> keys.word(""), keys.word("") == ENTER, keys.word(""), keys.word("")
    ('/undo', True, '2', None)
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def word(self, prompt: str, single: str = "") -> str | None:
        read = self._stream.readline()
        return (read.rstrip("\r\n") or ENTER) if read else None


class _Typed:
    """Words that are typed: a key of `single` acts at once where nothing is typed before it."""

    _prompt = _text = ""

    def word(self, prompt: str, single: str = "") -> str | None:
        """A word; or a single key, Enter or Esc where nothing is typed; None at the end."""
        self._prompt, self._text = prompt, ""
        print(prompt, end="", flush=True)
        with self._raw():
            while (read := self._character()) is not None:
                if read in ("\r", "\n"):
                    print()
                    return self._text or ENTER
                if read == ESCAPE and not self._text:
                    print()
                    return ESCAPE
                if not self._text and read and read in single:
                    print(read)
                    return read
                if read in _BACK or read in (ESCAPE, _ALL):
                    self._text = self._text[:-1] if read in _BACK else ""
                    self._show()
                elif read.isprintable() and read:
                    self._text += read
                    print(read, end="", flush=True)
        print()
        return None

    def _show(self) -> None:
        """The line again."""
        print(f"\r\x1b[K{self._prompt}{self._text}", end="", flush=True)

    def _raw(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _character(self) -> str | None:
        """The next character; empty for a key without one, None at the end."""
        raise NotImplementedError


class WindowsTerminal(_Typed):
    """A terminal of Windows. Ctrl-C and Ctrl-Z end it."""

    def _character(self) -> str | None:
        import msvcrt  # only there

        try:
            read = str(msvcrt.getwch())  # type: ignore[attr-defined,unused-ignore]
            if read in (
                "\x00",
                "\xe0",
            ):  # an arrow and the like: two characters
                msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]
                return ""
        except (KeyboardInterrupt, StopIteration):
            return None
        return None if read in ("\x03", "\x04", "\x1a") else read


class Terminal(_Typed):
    """A real terminal. Ctrl-C and Ctrl-D end it; Ctrl-Z is the shell's."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._ahead = b""

    @contextmanager
    def _raw(self) -> Iterator[None]:
        import termios

        before = termios.tcgetattr(self._number)
        went_on = signal.getsignal(signal.SIGCONT)
        self._by_character()
        signal.signal(signal.SIGCONT, self._go_on)
        try:
            yield
        finally:
            signal.signal(signal.SIGCONT, went_on)
            termios.tcsetattr(self._number, termios.TCSADRAIN, before)

    def _go_on(self, *_: object) -> None:
        """After Ctrl-Z and `fg`, when the shell has set the terminal its own way."""
        self._by_character()
        self._show()

    def _by_character(self) -> None:
        """Read each key as it is typed."""
        import termios
        import tty

        # drain, not flush: whoever types ahead loses nothing
        tty.setcbreak(self._number, termios.TCSADRAIN)
        # Ctrl-C as a key: a signal that comes just before the reading begins is not seen
        mode = termios.tcgetattr(self._number)
        mode[6][termios.VINTR] = bytes([os.fpathconf(self._number, "PC_VDISABLE")])
        termios.tcsetattr(self._number, termios.TCSADRAIN, mode)

    def _byte(self) -> bytes:
        # in small waits: a signal that another thread gets is heard between two of them
        while not self._ahead and not select.select([self._number], [], [], _PATIENCE)[0]:
            pass
        read, self._ahead = self._ahead or os.read(self._number, 1), b""
        return read

    def _character(self) -> str | None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = ""
        while not text:
            byte = self._byte()
            if not byte:
                return None
            text = decoder.decode(byte)
        if text in ("\x00", "\x03", "\x04"):  # a Ctrl-D typed while we print arrives as NUL
            return None
        return "" if text == ESCAPE and self._is_sequence() else text

    def _is_sequence(self) -> bool:
        """Whether Escape begins the sequence of a key such as an arrow, which is then skipped."""
        if not select.select([self._number], [], [], _PAUSE)[0]:
            return False
        byte = self._byte()
        if byte not in (b"[", b"O"):
            self._ahead = byte
            return False
        while (byte := self._byte()) and not b"@" <= byte <= b"~":
            pass
        return True


Keyboard = Piped | Terminal | WindowsTerminal


def keyboard() -> Keyboard:
    if not sys.stdin.isatty():
        return Piped(sys.stdin)
    if find_spec("termios") is None:
        return WindowsTerminal()
    return Terminal(sys.stdin.fileno())
