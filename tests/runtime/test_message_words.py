"""Conditions on messages, as authors write them, hold for real failures of every tool."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from anew.surfaces.cli.main import main
from tests.postgres_server import Database, a_database, server  # noqa: F401


class Refusing(BaseHTTPRequestHandler):
    """Answers with the status in the path; `/silent` never answers at all."""

    def do_GET(self) -> None:
        if self.path == "/silent":
            self.rfile.read(1)  # until the client hangs up
            return
        self.send_response(int(self.path[1:]), "a phrase of its own")
        self.end_headers()

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    refusing = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    Thread(target=refusing.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{refusing.server_port}"
    refusing.shutdown()
    refusing.server_close()


@pytest.fixture(scope="module")
def closed() -> Iterator[int]:
    """A port where connecting is refused: it is bound, and nobody listens."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


# One step each: what it is called with, and what its author looks for in the message.
STEPS = """
- {step: http_timeout, tool: http, url: "URL/silent", timeout: 0.1, RETRY 'timeout' in (error|lower) }}"}}
- {step: http_read_timeout, tool: http, url: "URL/silent", timeout: {connect: 5, read: 0.1}, RETRY 'timeout' in (error|lower) }}"}}
- {step: http_refused, tool: http, url: "http://127.0.0.1:CLOSED/", RETRY 'connection' in error }}"}}
- {step: http_unknown_host, tool: http, url: "http://nowhere.invalid/", RETRY 'connection' in error }}"}}
- {step: http_429, tool: http, url: "URL/429", RETRY attempt <= 2 and 'rate limit' in (error|lower) }}"}}
- {step: http_503, tool: http, url: "URL/503", RETRY error.startswith('HTTP 503 Service Unavailable') }}"}}
- {step: http_529, tool: http, url: "URL/529", RETRY error.startswith('HTTP 529 Server Error') }}"}}
- {step: python_timeout, tool: python, code: "raise TimeoutError('too slow')", RETRY 'timeout' in (error|lower) }}"}}
- {step: python_lost, tool: python, code: "raise ConnectionResetError('gone')", RETRY 'connection' in (error|lower) }}"}}
- {step: shell_timeout, tool: shell, command: "sleep 60", timeout: 0.1, RETRY 'timeout' in (error|lower) }}"}}
- {step: no_signal, tool: wait, signal: never, timeout: 0, RETRY 'timeout' in (error|lower) }}"}}
- {step: postgres_refused, tool: postgres, auth: {host: 127.0.0.1, port: CLOSED, user: a}, command: SELECT 1, RETRY 'connection' in (error|lower) }}"}}
"""
POSTGRES = """
- {step: deadlock, tool: postgres, auth: AUTH, command: "DO $$ BEGIN RAISE SQLSTATE '40001' USING MESSAGE = 'could not serialize access'; END $$", RETRY 'deadlock' in (error|lower) }}"}}
- {step: lost, tool: postgres, auth: AUTH, command: "SELECT pg_terminate_backend(pg_backend_pid())", RETRY 'connection' in (error|lower) }}"}}
- {step: statement_timeout, tool: postgres, auth: AUTH, timeout: 0.1, command: "SELECT pg_sleep(600)", RETRY 'timeout' in (error|lower) }}"}}
"""
RETRY = 'retry: {max_attempts: 2, initial_delay: 0, retry_when: "{{'


def attempts_of(
    steps: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, list[str]]:
    """The messages of each step's attempts, run for real, all steps side by side."""
    lines = [line.replace("RETRY", RETRY) for line in steps.strip().splitlines()]
    names = [line.split(",")[0].removeprefix("- {step: ") for line in lines]
    text = "\n".join(["workflow:", f"- {{step: start, next: [{', '.join(names)}]}}", *lines])
    policy = "executor: {spec: {policy: {failure: {mode: best_effort}}}}"
    (folder / "words.yaml").write_text(f"{policy}\n{text}\n")
    monkeypatch.chdir(folder)
    main(["run", "words.yaml", "--quiet", "--db", "sqlite:///words.db"])
    capsys.readouterr()
    assert main(["events", "last", "--json", "--db", "sqlite:///words.db"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found: dict[str, list[str]] = {name: [] for name in names}
    for row in rows:
        if row["name"] == "task.processed" and row["step"] in found:
            found[row["step"]].append(row["data"]["outcome"]["error"]["message"])
    return found


def test_what_authors_look_for_is_in_the_messages_of_real_failures(
    url: str,
    closed: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps = STEPS.replace("URL", url).replace("CLOSED", str(closed))
    found = attempts_of(steps, tmp_path, monkeypatch, capsys)
    assert {name: len(told) for name, told in found.items()} == dict.fromkeys(found, 2), found


def test_what_authors_look_for_is_in_the_messages_of_a_real_database(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps = POSTGRES.replace("AUTH", json.dumps(database.auth))
    found = attempts_of(steps, tmp_path, monkeypatch, capsys)
    assert {name: len(told) for name, told in found.items()} == dict.fromkeys(found, 2), found
