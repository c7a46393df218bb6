"""`anew watch`: follows a run that another process moves."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading

import pytest

from anew.engine import events as e
from anew.engine.state import StepRunKey
from anew.store import NewJob
from anew.surfaces.cli import watch as command
from anew.surfaces.cli.live import PlainView
from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, played
from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

WAITS = """\
metadata: {name: waiter}
workflow:
  - step: pay
    tool: {kind: wait, signal: paid}
"""


@pytest.mark.parametrize(
    ("outcome", "status"), [({"result": 1}, 0), ({"error": {"kind": "auth", "message": "no"}}, 1)]
)
def test_the_exit_status_is_that_of_the_run(shelf, anew, outcome, status: int) -> None:
    shelf.put(played(RETRIES, outcomes={"page": [outcome]}))
    assert anew("watch", "last").status == status


def test_plain_lines_tell_retries_in_the_words_of_the_seed(shelf, anew) -> None:
    shelf.put(played(RETRIES, outcomes={"page": [DOWN, {"result": 1}]}))
    told = anew("watch", "last")
    line = "fetch.page: attempt 1 failed: HTTP 503; will retry after 2.00 s (attempt 2/3)"
    assert any(said.endswith(line) for said in told.lines)
    assert told.lines[-1] == f"run {RUN}  Done in 2.4 s: 2 steps, 1 retry"


def test_what_happens_while_watching_is_told(shelf, anew, monkeypatch) -> None:
    simulation = played(RETRIES)
    shelf.put(simulation, upto=7)
    looked = threading.Event()
    follow = command.follow

    async def seen(database, run, tell, **more):
        def told(events: list[e.Event]) -> None:
            tell(events)
            looked.set()

        return await follow(database, run, told, **more)

    monkeypatch.setattr(command, "follow", seen)

    def go_on() -> None:
        assert looked.wait(30)
        shelf.add(RUN, simulation.log[7:])

    other = threading.Thread(target=go_on)
    other.start()
    rows = anew("watch", "last", "--json").lines
    other.join()
    assert [json.loads(row)["seq"] for row in rows] == list(range(1, len(simulation.log) + 1))


def test_a_cancelled_run_ends_the_watch_as_cancelled(shelf, anew) -> None:
    simulation = played(RETRIES)
    shelf.put(simulation, upto=7)
    last = simulation.log[6]
    shelf.add(RUN, [e.RunCancelled(seq=8, at=last.at, reason="enough")])
    told = anew("watch", "last")
    assert told.status == 130
    assert told.lines[-1].endswith("Cancelled after 0 s: enough")


def test_a_run_nobody_works_on_is_said_to_be_left_alone(shelf, anew, monkeypatch) -> None:
    simulation = played(RETRIES)
    shelf.put(simulation, upto=7, jobs=[NewJob(StepRunKey("store", 1), due_at=0)])
    monkeypatch.setattr(command, "LOOKS_PER_CHECK", 1)
    noticed = PlainView.notice

    def end_it(view: PlainView, text: str) -> None:
        noticed(view, text)
        if text:
            at = simulation.log[6].at
            threading.Thread(target=shelf.add, args=(RUN, [e.RunCancelled(seq=8, at=at)])).start()

    monkeypatch.setattr(PlainView, "notice", end_it)
    told = anew("watch", "last")
    assert told.status == 130
    assert (
        f"no worker takes it; if no process is working on this run, `anew resume {RUN}`" in told.out
    )


def test_stopping_to_watch_gives_the_terminal_back(shelf) -> None:
    """A real process on a real terminal, interrupted as by Ctrl-C once it has drawn something."""
    shelf.put(played(RETRIES), upto=5)
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "anew", "watch", "last", "--db", shelf.url]
    with subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(theirs)
        output = read_until(ours, b"task page")
        process.send_signal(signal.SIGINT)
        output += read_until(ours, None)
        assert process.wait(30) == 130
    os.close(ours)
    assert output.index(b"\x1b[?25l") < output.rindex(b"\x1b[?25h")
    assert b"stopped watching; the run continues" in output


def read_until(terminal: int, wanted: bytes | None) -> bytes:
    """What a terminal shows, up to a text or to its end."""
    output = b""
    while wanted is None or wanted not in output:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so when the last writer has closed it
            break
        if not piece:
            break
        output += piece
    return output


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_watching_until_a_run_waits_ends_with_3_when_a_person_or_signal_is_needed(
    desk: Desk, more: tuple[str, ...]
) -> None:
    assert desk.call("run", desk.write("waits.yaml", WAITS), "--quiet").status == 3
    told = desk.call("watch", "last", "--until", "waiting", *more)
    assert told.status == 3
    if not more:
        assert " paid` sends it." in told.out.splitlines()[-1]
    assert desk.call("signal", "last", "paid").status == 0
    assert desk.call("resume", "last", "--quiet").status == 0
    assert desk.call("watch", "last", "--until", "waiting", *more).status == 0


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_watching_ends_with_124_when_its_time_is_over(shelf, anew, more) -> None:
    shelf.put(played(RETRIES), upto=7)
    told = anew("watch", "last", "--timeout", "200ms", *more)
    assert told.status == 124
    assert told.err.endswith("anew: stopped watching after 0.2 s; the run continues\n")
    assert anew("watch", "last", "--timeout", "soon").status == 2
