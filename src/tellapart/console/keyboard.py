"""Reading what is typed in a terminal; and keys of one's own, on the page.

Letters are text there and here. To give an action a key (a letter is then pressed with Alt), write
it into `tellapart.toml` beside the table, such as

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
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import IO

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

ENTER, ESCAPE = "\n", "\x1b"
"""Typed instead of a word."""
_KEY_NAMES = ("enter", "escape", "space", "backspace", "delete", "tab")
_BACK = ("\x08", "\x7f")
_ALL = "\x15"  # Ctrl-U takes back all that was typed
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

    def word(self, prompt: str, single: str = "") -> str | None:
        """A word; or a single key, Enter or Esc where nothing is typed; None at the end."""
        text = ""
        print(prompt, end="", flush=True)
        with self._raw():
            while (read := self._character()) is not None:
                if read in ("\r", "\n"):
                    print()
                    return text or ENTER
                if read == ESCAPE and not text:
                    print()
                    return ESCAPE
                if not text and read and read in single:
                    print(read)
                    return read
                if read in _BACK or read in (ESCAPE, _ALL):
                    text = text[:-1] if read in _BACK else ""
                    print(f"\r\x1b[K{prompt}{text}", end="", flush=True)
                elif read.isprintable() and read:
                    text += read
                    print(read, end="", flush=True)
        print()
        return None

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
            ):  # an arrow, or another key without a letter: two characters
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
        import tty

        before = termios.tcgetattr(self._number)
        try:
            # drain, not flush: whoever types ahead loses nothing
            tty.setcbreak(self._number, termios.TCSADRAIN)
            # Ctrl-C as a key: a signal that comes just before the reading begins is not seen
            mode = termios.tcgetattr(self._number)
            mode[6][termios.VINTR] = bytes([os.fpathconf(self._number, "PC_VDISABLE")])
            termios.tcsetattr(self._number, termios.TCSADRAIN, mode)
            yield
        finally:
            termios.tcsetattr(self._number, termios.TCSADRAIN, before)

    def _byte(self) -> bytes:
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
