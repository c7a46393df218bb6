"""`anew worker`: real processes that work beside others, are killed, and stop when they are told."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kit import url_of
from tests.postgres_server import Database, a_database  # noqa: F401
from tests.surfaces.cli.servers import TOKEN, Served, Server, server, worker
from tests.surfaces.cli.terminals import HELD, HELLO, Desk, a_desk, wait_until_gone  # noqa: F401

POOLED = """\
metadata: {name: pooled}
workflow:
  - step: draw
    spec: {pool: gpu}
    tool: {kind: noop, result: drawn}
"""


@pytest.fixture(name="idle")
def a_server_that_does_not_work(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    with server(tmp_path, "--no-workers") as one:
        monkeypatch.setenv("ANEW_SERVER", one.url)
        yield one


def arguments_of(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def test_a_worker_does_the_work_of_a_server_and_stops_when_told(desk: Desk, idle: Server) -> None:
    bell, gate = desk.pipe("bell"), desk.pipe("gate")
    with worker(desk.folder) as at_work:
        terminal = desk.open("run", desk.write("held.yaml", HELD), "--json")
        bell.read()
        gate.write("go")
        told = terminal.wait()
        assert (told.status, told.json["result"]) == (0, {"word": "go"}), told.err
        at_work.send(signal.SIGTERM)
        assert at_work.ended() == 0
    assert "worker stopped" in at_work.printed


def test_a_worker_that_drains_ends_its_call_and_takes_no_new_work(desk: Desk, idle: Server) -> None:
    bell, gate = desk.pipe("bell"), desk.pipe("gate")
    with worker(desk.folder, "--drain", "10m") as first:
        terminal = desk.open("run", desk.write("held.yaml", HELD), "--json")
        bell.read()
        first.send(signal.SIGTERM)
        first.said("running calls have 600 s to end")
        gate.write("go")
        assert first.ended() == 0
    [row] = desk.runs()
    assert row["status"] == "running"
    with worker(desk.folder):
        told = terminal.wait()
    assert (told.status, told.json["result"]) == (0, {"word": "go"}), told.err
    assert told.json["steps"]["hold"]["attempts"] == 1
    assert (desk.folder / "done.txt").read_text().split() == ["first", "hold"]


def test_a_server_that_drains_ends_its_call(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    bell, gate = desk.pipe("bell"), desk.pipe("gate")
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    with server(tmp_path, "--drain", "10m") as one:
        command = ("run", desk.write("held.yaml", HELD), "--server", one.url)
        terminal = desk.open(*command)
        bell.read()
        one.send(signal.SIGTERM)
        one.said("running calls have 600 s to end")
        gate.write("go")
        assert one.ended() == 0
        terminal.stop()
    assert desk.call("resume", "--db", "served.db", "--quiet").status == 0
    assert (desk.folder / "done.txt").read_text().split() == ["first", "hold"]


def test_what_a_stopped_worker_had_at_work_goes_to_another(desk: Desk, idle: Server) -> None:
    bell, gate = desk.pipe("bell"), desk.pipe("gate")
    with worker(desk.folder) as first:
        terminal = desk.open("run", desk.write("held.yaml", HELD), "--json")
        shell = int(bell.read())
        first.send(signal.SIGTERM)
        first.said("running calls have 5 s to end")
        first.send(signal.SIGTERM)  # at once
        assert first.ended() == 0
        wait_until_gone(shell)
    with worker(desk.folder):
        bell.read()
        gate.write("go")
        told = terminal.wait()
    assert (told.status, told.json["result"]) == (0, {"word": "go"}), told.err


def test_a_worker_takes_jobs_of_its_pools_only(desk: Desk, idle: Server) -> None:
    with worker(desk.folder):
        terminal = desk.open("run", desk.write("pooled.yaml", POOLED))
        while not desk.runs("--program", "pooled"):
            assert terminal.process.poll() is None
        assert desk.call("run", desk.write("hello.yaml", HELLO)).status == 0
        assert [row["status"] for row in desk.runs("--program", "pooled")] == ["running"]
        with worker(desk.folder, "--pool", "gpu") as drawing:
            assert terminal.wait().status == 0
            assert "pools gpu" in drawing.printed


def test_a_worker_says_when_it_loses_the_server_and_has_it_again(desk: Desk, idle: Server) -> None:
    with worker(desk.folder) as at_work:
        idle.send(signal.SIGKILL)
        idle.close()
        at_work.said("lost http://")
        with server(desk.folder, "--no-workers", port=idle.port):
            at_work.said("is there again")
            at_work.send(signal.SIGINT)
            assert at_work.ended() == 0


def test_a_worker_stops_with_its_standard_input_if_asked_to(desk: Desk, idle: Server) -> None:
    at_work = Served(desk.folder, "worker", "--until-eof")  # its input is /dev/null
    assert at_work.ended() == 0
    assert "worker stopped" in at_work.printed


@pytest.fixture(name="fleet")
def a_fleet(desk: Desk, database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("ANEW_DB", url_of(database.dsn))
    with worker(desk.folder, "--processes", "2") as one:
        one.said("worker ready")
        yield one


def test_a_killed_process_of_a_fleet_is_replaced(desk: Desk, fleet: Served) -> None:
    first, second = fleet.children
    os.kill(first, signal.SIGKILL)
    fleet.said("worker process . was killed by SIGKILL; starting another")
    fleet.said("worker ready")
    assert len(fleet.children) == 2
    assert second in fleet.children


def test_a_fleet_passes_signals_on_and_ends_when_all_have(desk: Desk, fleet: Served) -> None:
    members = fleet.children
    fleet.send(signal.SIGTERM)
    assert fleet.ended() == 0
    assert fleet.printed.count("worker stopped") == 2
    for member in members:
        wait_until_gone(member)


def test_a_fleet_dies_with_the_process_that_keeps_it(desk: Desk, fleet: Served) -> None:
    members = fleet.children
    fleet.send(signal.SIGKILL)
    for member in members:
        wait_until_gone(member)


def test_the_list_of_processes_shows_no_token_and_no_address(
    desk: Desk, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = url_of(database.dsn)
    words = ("--db", url, "--token", "typed-token", "--processes", "2")
    with worker(desk.folder, *words) as fleet:
        told = [arguments_of(member) for member in fleet.children]
    assert len(told) == 2
    for line in told:
        assert "worker" in line
        assert url not in line
        assert "token" not in line


def test_a_fleet_goes_on_with_what_a_terminal_leaves(desk: Desk, fleet: Served) -> None:
    bell, gate = desk.pipe("bell"), desk.pipe("gate")
    terminal = desk.open("run", desk.write("held.yaml", HELD))
    bell.read()
    assert "Another worker resumes it, or `anew resume " in terminal.stop().err
    gate.write("go")
    assert desk.call("watch", "last").status == 0
