"""What is said while a large table is read."""

from __future__ import annotations

import io
import sys

import pytest

from tellapart.cli.open_session import reading_notice


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_what_is_going_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with reading_notice("Reading [red] pets.csv"):
        pass
    assert "Reading [red] pets.csv" in shown.getvalue()


def test_a_file_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    with reading_notice("Reading pets.csv"):
        pass
    assert told.getvalue() == ""
