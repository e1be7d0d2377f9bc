"""No file is read in silence as something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import messy_exports
import messy_files
import tellapart as ta
from tellapart.errors import FormatError

FILES = {**messy_files.FILES, **messy_exports.FILES}


def check_values(table: ta.Table, values: dict[str, list[Any]]) -> None:
    for name, wanted in values.items():
        found = table.values(name)
        assert found == wanted, name
        assert [type(cell) for cell in found] == [type(cell) for cell in wanted], name


@pytest.mark.parametrize("what", FILES)
def test_a_messy_file_is_read_right_or_refused_or_warned_of(what: str, tmp_path: Path) -> None:
    messy = FILES[what]
    place = messy.write(tmp_path)
    if messy.refused:
        with pytest.raises(FormatError) as caught:
            ta.read_table(place)
        assert messy.refused in str(caught.value)
        assert "\n" not in str(caught.value)
        for name, value in (messy.remedy or {}).items():
            if name in caught.value.advice and name != "query":
                assert caught.value.advice[name] == value
        assert set(messy.remedy or ()) <= set(caught.value.advice)
    else:
        table = ta.read_table(place)
        check_values(table, messy.values)
        said = dict.fromkeys(messy.warns, "")
        options: dict[str, Any] = {}
        for finding in table.findings:
            options |= finding.option
            if finding.column in said:
                said[finding.column] += f"{finding}\n"
        for column, words in messy.warns.items():
            assert words in said[column]
        assert {f.column for f in table.findings} == set(messy.warns)
        if messy.remedy is not None:
            assert messy.remedy.items() <= options.items()
        assert all(str(finding) in table.summary() for finding in table.findings)
    if messy.remedy is not None:
        check_values(ta.read_table(place, **messy.remedy), messy.then)


def test_there_are_enough_of_them() -> None:
    assert len(FILES) == len(messy_files.FILES) + len(messy_exports.FILES) >= 150


def test_every_finding_says_what_to_do_or_is_no_warning(tmp_path: Path) -> None:
    """Which of them a command shows."""
    for what, shown in {"yes and no": True, "a total": True, "times of day": False}.items():
        folder = tmp_path / what
        folder.mkdir()
        [finding] = ta.read_table(FILES[what].write(folder)).findings
        assert finding.is_warning is shown
        assert bool(finding.option or finding.advice) is shown
