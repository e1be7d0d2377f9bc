"""The keys of teaching, the same on the page and in the console; and reading them one at a time.

To change some, write them into `tellapart.toml` beside the table, such as

    [keys]
    right = "space"
    undo = "z"

A file `tellapart-keys.toml` of earlier versions is read, too. The digits 1 to 9 choose from the
list at hand, and cannot be changed.
"""

from __future__ import annotations

import codecs
import os
import select
import sys
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from tellapart.errors import ParameterError

FILE = "tellapart-keys.toml"
"""Where earlier versions kept keys."""

KEYS: dict[str, tuple[str, str]] = {
    "right": ("enter", "right, next"),
    "label": ("l", "type a label"),
    "feature": ("f", "find a feature"),
    "write": ("x", "write a feature"),
    "tag": ("t", "tag: a feature no column shows"),
    "yes": ("y", "yes, it has the tag"),
    "no": ("o", "no, it has not"),
    "none": ("0", "no single feature does"),
    "unsure": ("d", "don't know"),
    "skip": ("s", "skip, show later"),
    "note": ("n", "note"),
    "meaning": ("m", "meaning of a label"),
    "search": ("/", "look for items"),
    "undo": ("u", "undo"),
    "redo": ("r", "redo"),
    "back": ("escape", "back"),
    "help": ("h", "help"),
}
"""What can be done: its key, and the words on its button."""

PAGE_KEYS: dict[str, tuple[str, str]] = {
    "example": ("e", "the example is wrong: repair its answer"),
    "sweep": ("g", "many guesses at a glance"),
}
"""What can be done on the page only."""

_KEY_NAMES = ("enter", "escape", "space", "backspace", "delete", "tab")
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


class Piped:
    """Keys from a stream: each character is a key, a line ends at its end; None at the end of it.

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


class WindowsTerminal:
    """Keys from a terminal of Windows, without Enter after each. Ctrl-C and Ctrl-Z end it."""

    def key(self) -> str | None:
        import msvcrt  # only there

        read = self._character(msvcrt)
        if read in ("\x00", "\xe0"):  # an arrow, or another key without a letter: two characters
            self._character(msvcrt)
            return ""
        return None if read in (*_ENDS, "\x1a") else _NAMES.get(read, read.lower())

    def _character(self, msvcrt: Any) -> str:
        try:
            return str(msvcrt.getwch())
        except KeyboardInterrupt:
            return ""

    def line(self, prompt: str) -> str | None:
        try:
            return input(prompt)
        except (EOFError, KeyboardInterrupt):
            return None


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

    def line(self, prompt: str) -> str | None:
        print(prompt, end="", flush=True)
        # byte by byte: `input` takes all there is, and what is typed ahead would be lost
        read = b""
        while (byte := self._byte()) not in _LINE_ENDS:
            read += byte
        return read.decode(errors="replace") if read or byte in (b"\n", b"\r") else None


Keyboard = Piped | Terminal | WindowsTerminal


def keyboard() -> Keyboard:
    if not sys.stdin.isatty():
        return Piped(sys.stdin)
    if find_spec("termios") is None:
        return WindowsTerminal()
    return Terminal(sys.stdin.fileno())


def read_keys(source: Path | Mapping[str, object] | None = None) -> dict[str, str]:
    """What each action's key is: the usual ones, and those in `[keys]` of `tellapart.toml`, or in a
    file of earlier versions.

    >>> read_keys()["right"], read_keys({"undo": "z"})["undo"]
    ('enter', 'z')
    """
    if not isinstance(source, Path):
        return _changed("[keys] in tellapart.toml", source or {})
    try:
        return _changed(str(source), tomllib.loads(source.read_text(encoding="utf-8")))
    except OSError as error:
        raise ParameterError(f"{source}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f'{source}: not a list of keys such as undo = "z": {error}') from None


def _changed(where: str, changes: Mapping[str, object]) -> dict[str, str]:
    """The usual keys, with some changed."""
    keys = {action: key for action, (key, _) in (KEYS | PAGE_KEYS).items()}
    changed = _checked(where, changes)
    for action in PAGE_KEYS:  # who gave this key away can do without
        if action not in changed and keys[action] in changed.values():
            keys[action] = ""
    keys.update(changed)
    taken: dict[str, str] = {}
    for action, key in keys.items():
        if key and key in taken:
            raise ParameterError(
                f"{where}: {taken[key]!r} and {action!r} have the same key {key!r}"
            )
        taken[key] = action
    return keys


def _checked(where: str, changes: Mapping[str, object]) -> dict[str, str]:
    found = {}
    for action, key in changes.items():
        if action not in KEYS | PAGE_KEYS:
            known = ", ".join(KEYS | PAGE_KEYS)
            raise ParameterError(f"{where}: unknown action {action!r}; known are {known}")
        name = key.lower() if isinstance(key, str) else ""
        if name not in _KEY_NAMES and (
            len(name) != 1 or not name.isprintable() or name in "123456789"
        ):
            raise ParameterError(
                f"{where}: {action} = {key!r} is no key; use one letter, 0, a sign, or one of"
                f" {', '.join(_KEY_NAMES)}"
            )
        found[action] = name
    return found
