"""Following a run that a server's workers do: interrupted, over a restart, and when it stays away."""

from __future__ import annotations

import functools
import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from anew.stores.remote import RemoteDatabase
from anew.surfaces.cli.screen import Screen
from anew.views import verdict
from tests.surfaces.cli.servers import TOKEN, Server, server
from tests.surfaces.cli.terminals import HELD, HELLO, Desk, a_desk  # noqa: F401

CHILD = """\
metadata: {name: parent}
workflow:
  - step: call
    tool: {kind: playbook, file: child.yaml}
"""
POOLED = """\
metadata: {name: pooled}
workflow:
  - step: draw
    spec: {pool: gpu}
    tool: {kind: noop}
"""


@pytest.fixture(name="served")
def a_server(tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    with server(tmp_path) as one:
        monkeypatch.setenv("ANEW_SERVER", one.url)
        yield one


def test_who_stops_watching_does_not_stop_the_run(desk: Desk, served: Server) -> None:
    bell, gate = desk.pipe("bell"), desk.pipe("gate")
    terminal = desk.open("run", desk.write("held.yaml", HELD), "--server", served.url)
    bell.read()
    run = desk.runs()[0]["run"]
    terminal.interrupt()
    told = terminal.wait()
    assert told.status == 130
    assert told.err == (
        f"anew: stopped watching; the run continues at the server. `anew cancel {run}` ends it\n"
    )
    gate.write("go")
    assert desk.call("watch", run).status == 0


def test_a_server_that_starts_again_costs_a_watcher_no_line(desk: Desk, served: Server) -> None:
    bell, gate = desk.pipe("bell"), desk.pipe("gate")
    following_one = desk.open("run", desk.write("held.yaml", HELD))
    bell.read()
    watching = desk.open("watch", "last", "--json")
    while not watching.printed.endswith("\n"):
        assert watching.process.poll() is None
    served.send(signal.SIGKILL)
    served.close()
    with server(desk.folder, port=served.port):
        bell.read()
        gate.write("go")
        gate.write("go")  # for the shell of the server that was killed, if it still reads
        told, followed = watching.wait(), following_one.wait()
        assert (told.status, told.err) == (0, "")
        rows = [json.loads(line) for line in told.out.splitlines()]
        assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
        assert rows[-1]["name"] == "run.done"
    assert (followed.status, followed.err) == (0, "")
    assert followed.out.count("first: started") == 1


def test_a_server_that_stays_away_ends_the_following(
    desk: Desk, served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = functools.partial(RemoteDatabase.open, patience_seconds=0.5)
    monkeypatch.setattr(RemoteDatabase, "open", impatient)
    bell = desk.pipe("bell")
    desk.pipe("gate")

    def kill_it() -> None:
        bell.read()
        served.send(signal.SIGKILL)

    killing = threading.Thread(target=kill_it)
    killing.start()
    told = desk.call("run", desk.write("held.yaml", HELD), "--server", served.url)
    killing.join()
    assert told.status == 4
    first, second = told.err.splitlines()
    assert first.startswith(f"anew: the server {served.url} cannot be reached")
    assert second.startswith("anew: the run continues at the server; `anew watch ")


@pytest.mark.parametrize("words", [["runs"], ["run", "hello.yaml"], ["cancel", "1"], ["worker"]])
def test_a_wrong_token_is_one_clear_line(
    desk: Desk, served: Server, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    desk.write("hello.yaml", HELLO)
    monkeypatch.setenv("ANEW_TOKEN", "")
    told = desk.call(*words, "--token-file", desk.secret("not-the-token"))
    assert (told.status, told.is_one_clear_line()) == (2, True), told.err
    assert "does not accept the token" in told.err
    assert "not-the-token" not in told.err


def test_files_that_do_not_travel_are_told(desk: Desk, served: Server) -> None:
    desk.write("child.yaml", HELLO)
    told = desk.call("run", desk.write("parent.yaml", CHILD))
    assert told.status == 0  # the server is on this machine, so it finds the file
    assert "the files that tasks name (child.yaml)" in told.err
    assert str(desk.folder) in told.err
    assert desk.call("run", desk.write("hello.yaml", HELLO)).err == ""


def test_a_job_that_no_worker_takes_is_told(
    desk: Desk, served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdict, "UNATTENDED_SECONDS", 0)
    noticed, cancelling = Screen.notice, []

    def cancel_it(screen: Screen, text: str) -> None:
        noticed(screen, text)
        if text and not cancelling:
            cancelling.append(desk.open("cancel", "last"))

    monkeypatch.setattr(Screen, "notice", cancel_it)
    ran = desk.call("run", desk.write("pooled.yaml", POOLED))
    assert ran.status == 130
    assert "no worker of pool gpu takes it; `anew worker --pool gpu` starts one" in ran.out
