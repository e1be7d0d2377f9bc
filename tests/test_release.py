"""The wheel, in environments with nothing else, in every Python of this machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import tellapart

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_a_release_is_made_from_a_clean_checkout_and_works(tmp_path: Path) -> None:
    clone = ["git", "clone", "--quiet", str(ROOT), str(tmp_path / "clone")]
    if subprocess.run(clone, check=False, capture_output=True).returncode:
        pytest.skip("this is no git checkout, and a release is made from one")
    made = subprocess.run(
        ["./release", "--try"], cwd=tmp_path / "clone", capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    assert "Python 3.11" in made.stdout, "at least the Python that the tests run in"
    assert made.stdout.count("the wheel works") == len(re.findall(r"^Python 3", made.stdout, re.M))


def test_one_version_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {tellapart.__version__}\n" in citation
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE)[1] == tellapart.__version__  # type: ignore[index]
