"""Does the wheel work by itself? A program for an environment with nothing else (`./release`)."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

DISTIL = "--task sort --labels a,b --endpoint http://127.0.0.1:9 --model m"
EXTRAS = {
    ("serve", "bank.csv"): "app",
    ("teach", "bank.csv"): "app",
    ("lab", "slope"): "lab",
    ("distil", "bank.csv", *DISTIL.split()): "distil",
    ("session", "list", "--db", "postgresql://host/name"): "postgres",
    ("predict", "bank.csv", "november.csv", "--engine", "duckdb", "-o", "out.csv"): "duckdb",
    ("teach", "book.xlsx", "--console"): "excel",
}


def run(folder: str, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """`python -m tellapart` in a folder."""
    command = [sys.executable, "-I", "-m", "tellapart", *words]
    return subprocess.run(
        command, input=typed, capture_output=True, text=True, cwd=folder, check=False
    )


def main() -> None:
    import tellapart as ta

    home = Path(ta.__file__).parent
    assert "site-packages" in home.parts, home
    model = ta.DecisionList((), ta.Clause((), "bird"))
    assert "'bird'" in ta.to_sql(model)
    with tempfile.TemporaryDirectory() as folder:
        for words, typed, said in [
            (("--version",), "", ta.__version__),
            (("demo",), "", "mistakes"),
            (("teach", "--sample", "bank", "--console"), "rent\n", "1 of 400 rows taught"),
            (("predict", "bank.csv", "november.csv"), "", "november-labelled.csv"),
            (("export", "bank", "--db", "bank.csv.sessions.db", "--to", "sql"), "", "'rent'"),
        ]:
            done = run(folder, *words, typed=typed)
            assert done.returncode == 0, (words, done)
            assert said in done.stdout + done.stderr, (words, done)
        with zipfile.ZipFile(Path(folder, "book.xlsx"), "w") as book:
            book.writestr("xl/workbook.xml", "<workbook/>")
        for words, extra in EXTRAS.items():
            done = run(folder, *words)
            told = " ".join((done.stdout + done.stderr).split())
            assert done.returncode != 0, (words, done)
            assert f"tellapart[{extra}]" in told, (words, done)
    print(f"Python {sys.version.split()[0]}: the wheel works")


if __name__ == "__main__":
    main()
