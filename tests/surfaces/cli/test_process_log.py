"""`--log-format`: what servers and workers write about the runs they work on."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.servers import TOKEN, Served, server, worker
from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

FLAKY = """\
metadata: {name: flaky}
workflow:
  - step: fetch
    tool:
      - fetch:
          kind: shell
          command: "test -e tried || { touch tried; exit 3; }"
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 2, delay: 0.01}
    next: [{step: stop}]
  - step: stop
    tool: {kind: shell, command: "exit 4"}
"""


def lines_of(process: Served) -> list[dict[str, Any]]:
    process.send(signal.SIGTERM)
    assert process.ended() == 0
    return [json.loads(line) for line in process.printed.splitlines() if line.startswith("{")]


def worked(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    keys = ("event", "level", "step", "attempt")
    return [tuple(row.get(key) for key in keys) for row in rows if row["logger"] == "anew.runs"]


ATTEMPTS = [
    ("task.processed", "warning", "fetch", 1),
    ("task.processed", "info", "fetch", 2),
    ("task.processed", "warning", "stop", 1),
    ("step.failed", "error", "stop", None),
    ("run.failed", "error", None, None),
]


def test_a_server_writes_json_for_each_attempt_failure_and_end(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    with server(tmp_path, "--log-format", "json") as one:
        told = desk.call("run", desk.write("flaky.yaml", FLAKY), "--server", one.url, "--json")
        assert told.status == 1
        rows = lines_of(one)
    assert worked(rows) == ATTEMPTS
    assert {row["run"] for row in rows if "run" in row} == {told.json["run"]}
    assert all(row["time"].endswith("Z") and row["message"] for row in rows)
    assert not any("/api/" in row["message"] for row in rows)


def test_a_worker_writes_json_for_its_attempts(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    with server(tmp_path, "--no-workers") as one:
        monkeypatch.setenv("ANEW_SERVER", one.url)
        with worker(desk.folder, "--log-format", "json") as at_work:
            assert desk.call("run", desk.write("flaky.yaml", FLAKY), "--quiet").status == 1
            assert worked(lines_of(at_work)) == ATTEMPTS


def test_plain_lines_have_the_time_and_requests_are_logged_when_asked(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    with server(tmp_path, "--log-format", "plain", "--log") as one:
        desk.call("run", desk.write("flaky.yaml", FLAKY), "--server", one.url, "--quiet")
        one.said(r"\d{4}-\d\d-\d\dT[\d:.]+Z warning run \d+ fetch\S*: task fetch error")
        one.said(r"T[\d:.]+Z error   run \d+ run: failed")
        one.said(r"Z info    POST /\S+ 200 [\d.]+ ms")
