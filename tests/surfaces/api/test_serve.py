"""`anew serve` as a real process: it starts, serves, says what is wrong, and stops well."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.surfaces.api.processes import PATIENCE_SECONDS, command, ended, environment, server
from tests.surfaces.api.served import NOOP, TOKEN

# Marks that it began, so that the test can stop the server in the middle of the call.
SLOW = """\
metadata: {name: slow}
workflow:
  - step: only
    tool: {kind: shell, command: "touch began; while [ ! -e go ]; do sleep 0.05; done; echo ok", cwd: "{{ workload.folder }}"}
"""


def refused(folder: Path, *words: str, **env: str) -> tuple[int, str]:
    done = subprocess.run(
        command(*words),
        env=environment(**env),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_a_server_runs_a_document_and_stops_with_0(tmp_path: Path) -> None:
    with server(tmp_path, "--log") as site, site.client() as client:
        started = client.post("/api/v1/runs", json={"document": NOOP}).json()
        assert ended(client, started["run"])["status"] == "done"
        assert client.get("/api/v1/runs", headers={"Authorization": ""}).status_code == 401
        status, errors = site.stop()
    assert status == 0
    assert "POST /api/v1/runs 201" in errors
    assert TOKEN not in errors


def test_a_server_that_is_asked_to_log_nothing_logs_nothing(tmp_path: Path) -> None:
    with server(tmp_path) as site, site.client() as client:
        client.get("/api/v1/runs?secret=1")
        status, errors = site.stop(signal.SIGINT)
    assert (status, errors) == (0, "anew: stopping\n")


def test_a_run_that_a_stopping_server_hands_back_is_gone_on_with(tmp_path: Path) -> None:
    with server(tmp_path) as site, site.client() as client:
        body = {"document": SLOW, "workload": {"folder": str(tmp_path)}}
        run = client.post("/api/v1/runs", json=body).json()["run"]
        with client.stream("GET", f"/api/v1/runs/{run}/events/stream") as answer:
            for line in answer.iter_lines():
                if '"task.started"' in line:
                    break
        # The first asks it to stop, the second not to wait for the call.
        site.process.send_signal(signal.SIGTERM)
        assert site.process.stderr is not None
        assert site.process.stderr.readline() == "anew: stopping; running calls have 5 s to end\n"
        status, _ = site.stop()
        assert status == 0
    (tmp_path / "go").touch()
    with server(tmp_path) as site, site.client() as client:
        shown = ended(client, run)
        assert shown["status"] == "done"
        # The attempt was not its author's to lose.
        assert shown["steps"]["only"]["attempts"] <= 2
        assert site.stop()[0] == 0


def test_a_stopping_server_lets_a_call_at_work_finish(tmp_path: Path) -> None:
    with server(tmp_path) as site, site.client() as client:
        body = {"document": SLOW, "workload": {"folder": str(tmp_path)}}
        run = client.post("/api/v1/runs", json=body).json()["run"]
        with client.stream("GET", f"/api/v1/runs/{run}/events/stream") as answer:
            for line in answer.iter_lines():
                if '"task.started"' in line:
                    break
        site.process.send_signal(signal.SIGTERM)
        assert site.process.stderr is not None
        assert site.process.stderr.readline() == "anew: stopping; running calls have 5 s to end\n"
        (tmp_path / "go").touch()
        assert site.process.wait(PATIENCE_SECONDS) == 0
    with server(tmp_path) as site, site.client() as client:
        assert ended(client, run)["steps"]["only"]["attempts"] == 1
        assert site.stop()[0] == 0


def test_without_auth_it_serves_on_loopback_only(tmp_path: Path) -> None:
    with server(tmp_path, "--no-auth", HOME=str(tmp_path)) as site, site.client(None) as client:
        assert client.get("/api/v1/runs").status_code == 200
        assert client.get("/api/v1/runs", headers={"Host": "evil.example"}).status_code == 421
        status, errors = site.stop()
    assert status == 0
    assert "every user of this machine can run code as you" in errors
    assert not (tmp_path / "anew.db.token").exists()
    status, errors = refused(tmp_path, "--no-auth", "--host", "0.0.0.0")
    assert status == 2
    assert "can be reached by others" in errors


@pytest.mark.parametrize("token", ["", "with space and long enough", "fifteen-letters"])
def test_with_a_token_that_cannot_be_used_it_does_not_start(tmp_path: Path, token: str) -> None:
    status, errors = refused(tmp_path, "--port", "0", ANEW_TOKEN=token)
    assert status == 2
    assert "at least 16 characters" in errors
    assert "token_urlsafe" in errors
    assert not list(tmp_path.iterdir())


def test_a_server_without_a_token_makes_one_and_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "anew.db.token"
    with server(tmp_path, HOME=str(tmp_path)) as site:
        assert site.process.stdout is not None
        said = site.process.stdout.readline()
        token = file.read_text(encoding="ascii").strip()
        # Standard output is a pipe here: what a log may keep has the file, and not the token.
        assert f"its token is in {file}" in said
        assert token not in said
        assert file.stat().st_mode & 0o777 == 0o600
        with site.client(None) as client:
            assert client.get("/api/v1/runs").status_code == 401
        with site.client(token) as client:
            assert client.get("/api/v1/runs").status_code == 200
        assert site.stop() == (0, "anew: stopping\n")
    with server(tmp_path, HOME=str(tmp_path)) as site, site.client(token) as client:
        assert client.get("/api/v1/runs").status_code == 200  # a tab that is open goes on
        assert site.stop()[0] == 0


def test_at_a_terminal_the_address_with_the_token_is_printed_once(tmp_path: Path) -> None:
    reader, terminal = os.openpty()
    words = command("--port", "0", "--db", str(tmp_path / "anew.db"))
    with subprocess.Popen(
        words, env=environment(), cwd=tmp_path, stdout=terminal, stderr=terminal
    ) as process:
        os.close(terminal)
        with os.fdopen(reader, encoding="utf-8") as screen:
            lines = [screen.readline().strip() for _ in range(3)]
            process.terminate()
            with suppress(OSError):  # how a terminal ends
                lines += [line.strip() for line in screen]
        assert process.wait(PATIENCE_SECONDS) == 0
    token = (tmp_path / "anew.db.token").read_text(encoding="ascii").strip()
    url = lines[0].split()[2]
    assert lines[0] == f"anew: serving {url} with 32 slots for pool default"
    assert lines[1] == f"anew: open {url}/#token={token}"
    assert str(lines).count(token) == 1


def test_what_cannot_be_had_is_said(tmp_path: Path) -> None:
    env = {"ANEW_TOKEN": TOKEN}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, errors = refused(tmp_path, "--port", port, **env)
        assert (status, "is in use" in errors) == (2, True)
    status, errors = refused(tmp_path, "--host", "203.0.113.7", **env)
    assert (status, "not an address of this machine" in errors) == (2, True)
    status, errors = refused(tmp_path, "--host", "no.such.host.invalid", **env)
    assert (status, "is not known" in errors) == (2, True)
    status, errors = refused(tmp_path, "--db", str(tmp_path), "--port", "0", **env)
    assert (status, "is a folder" in errors) == (4, True)
    status, errors = refused(tmp_path, "--db", "oracle://x", "--port", "0", **env)
    assert status == 2
    status, _ = refused(tmp_path, "--port", "70000", **env)
    assert status == 2
    status, _ = refused(tmp_path, "--token", "x", "--no-auth", **env)
    assert status == 2
    status, _ = refused(tmp_path, "--token-file", "x", "--no-auth", **env)
    assert status == 2


def test_a_file_has_one_server(tmp_path: Path) -> None:
    with server(tmp_path) as site:
        status, errors = refused(
            tmp_path, "--port", "0", "--db", str(tmp_path / "anew.db"), ANEW_TOKEN=TOKEN
        )
        assert status == 4
        assert str(site.process.pid) in errors
        assert site.stop()[0] == 0


def test_a_server_without_workers_starts_runs_and_leaves_them(tmp_path: Path) -> None:
    with server(tmp_path, "--no-workers") as site, site.client() as client:
        run = client.post("/api/v1/runs", json={"document": NOOP}).json()["run"]
        shown = client.get(f"/api/v1/runs/{run}").json()
        assert shown["steps"]["only"]["attempts"] == 0
        assert site.stop()[0] == 0


def test_the_command_line_reaches_a_run_of_the_server_through_the_file(tmp_path: Path) -> None:
    with server(tmp_path) as site, site.client() as client:
        run = client.post("/api/v1/runs", json={"document": NOOP}).json()["run"]
        ended(client, run)
        said = subprocess.run(
            [
                sys.executable,
                "-m",
                "anew",
                "show",
                run,
                "--json",
                "--db",
                str(tmp_path / "anew.db"),
            ],
            capture_output=True,
            text=True,
            env=environment(),
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        assert json.loads(said.stdout) == client.get(f"/api/v1/runs/{run}").json()
        assert site.stop()[0] == 0


def test_whoever_has_not_sent_all_when_a_server_stops_is_told_to_ask_again(tmp_path: Path) -> None:
    with server(tmp_path) as site:
        host, _, port = site.url.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as line:
            lines = ["POST /api/v1/runs HTTP/1.1", "Host: x", f"Authorization: Bearer {TOKEN}"]
            head = "\r\n".join([*lines, "Expect: 100-continue", "Content-Length: 9", "", ""])
            line.sendall(head.encode())
            assert line.recv(1000).startswith(b"HTTP/1.1 100 ")  # it waits for the body now
            status, errors = site.stop()
            answer = b"".join(iter(lambda: line.recv(10_000), b""))
    assert (status, errors) == (0, "anew: stopping\n")
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"application/problem+json" in answer
    assert b"retry-after: 1" in answer


def test_headers_without_end_do_not_fill_the_memory_of_a_server(tmp_path: Path) -> None:
    with server(tmp_path) as site:
        host, _, port = site.url.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\n")
            sent = 0
            with suppress(ConnectionError):
                while sent < 200_000_000:
                    sent += line.send(b"A: b\r\n" * 10_000)
        assert sent < 100_000_000  # it was cut off
        assert site.stop() == (0, "anew: stopping\n")
