"""The API for programs: names of operations, media types, a generated client, new rows."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api_clients import write_tables
from test_web_schema import TOKEN, Served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tables(tmp_path)


def test_operations_have_names_that_people_would_choose(app: Any) -> None:
    operations = {
        operation["operationId"]: operation
        for methods in app.openapi()["paths"].values()
        for operation in methods.values()
    }
    wanted = {"list_sessions", "create_session", "next_item", "answer", "undo", "export_model",
              "download_predictions", "predict", "add_rows", "list_rules", "health", "get_me",
              "list_sweep_items", "accept_guesses", "stream_events"}  # fmt: skip
    assert wanted <= operations.keys()
    assert all(name.isidentifier() and "_api_" not in name for name in operations)
    kinds = operations["download_predictions"]["responses"]["200"]["content"].keys()
    assert kinds == {"text/csv", "application/x-ndjson", "application/vnd.apache.parquet"}
    assert "image/svg+xml" in operations["export_model"]["responses"]["200"]["content"]
    assert not any("*/*" in json.dumps(operation) for operation in operations.values())


@pytest.mark.slow
def test_new_rows_are_labelled(tmp_path: Path) -> None:
    import httpx

    with Served(tmp_path) as served:
        client = httpx.Client(base_url=served.address, headers={"Authorization": f"Bearer {TOKEN}"})
        rows = [{"name": "elk", "milk": True, "legs": 4}, {"milk": False}, {}]
        answer = client.post("/api/sessions/zoo/predict", json={"rows": rows})
        assert answer.status_code == 200, answer.text
        model = served.session.model
        assert [one["label"] for one in answer.json()] == model.predict(rows)
        first = answer.json()[0]
        assert first.keys() == {"label", "rule", "because", "like"}
        assert first["because"].startswith(("It is: ", "Otherwise it is: "))
        for wrong, reason in (
            ({"hooves": 4}, "no column 'hooves'; columns are: name, milk, legs"),
            ({"milk": "perhaps"}, "column 'milk' should hold bool"),
        ):
            answer = client.post("/api/sessions/zoo/predict", json={"rows": [{}, wrong]})
            assert answer.status_code == 422
            assert reason in answer.text
            assert "row 1 (counted from 0)" in answer.text
        assert client.post("/api/sessions/no/predict", json={"rows": []}).status_code == 404
        client.close()


@pytest.mark.slow
def test_a_generated_client_teaches_and_downloads(
    tmp_path: Path, needs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("openapi-python-client")
    with Served(tmp_path) as served:
        schema = tmp_path / "openapi.json"
        schema.write_text(json.dumps(served.app.openapi()))
        command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(schema)]
        command += ["--output-path", str(tmp_path / "client"), "--meta", "none"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        printed = done.stdout + done.stderr
        assert done.returncode == 0, printed
        assert "unable to" not in printed.lower(), printed
        # it knows no JSON lines: those are in `content` alone
        assert printed.count("WARNING") == printed.count("content_type application/x-ndjson") == 1
        monkeypatch.syspath_prepend(tmp_path)
        client = importlib.import_module("client").AuthenticatedClient(
            base_url=served.address, token=TOKEN
        )
        models = importlib.import_module("client.models")

        def call(part: str, name: str, *arguments: Any, **more: Any) -> Any:
            module = importlib.import_module(f"client.api.{part}.{name}")
            return module.sync_detailed(*arguments, client=client, **more)

        assert call("sessions", "list_sessions").parsed
        given = call("teaching", "next_item", "zoo", body=models.Begin()).parsed.given
        body = models.Said(given.id, models.SaidAnswer("wrong"), label="fish", feature="legs = 0")
        said = call("teaching", "answer", "zoo", body=body)
        assert said.status_code == 200, said.content
        assert said.parsed.saved.number == served.session.number
        assert served.session.history()[-1].label == "fish"
        new = models.AddRowsRowsItem.from_dict({"name": "elk", "milk": True, "legs": 4})
        added = call("sessions", "add_rows", "zoo", body=models.AddRows(rows=[new]))
        assert (added.parsed.rows, added.parsed.items) == (1, 6), added.content
        row = models.NewRowsRowsItem.from_dict({"milk": True})
        said = call("downloads", "predict", "zoo", body=models.NewRows(rows=[row]))
        assert said.parsed[0].label == served.session.model.predict([{"milk": True}])[0]
        sql = call("downloads", "export_model", "zoo", to=models.ExportModelTo("sql"))
        assert "WHEN" in sql.parsed
        table = call("downloads", "download_predictions", "zoo")
        assert len(table.parsed.splitlines()) == 7
        log = call("downloads", "download_log", "zoo").content.decode().splitlines()
        events = call("events", "stream_events", "zoo", follow=False).parsed
        assert events.count("data: ") == len(log) == served.session.number
        wrong = call("downloads", "export_model", "nothing").parsed
        assert wrong.error == "there is no session 'nothing'"
        client.get_httpx_client().close()
