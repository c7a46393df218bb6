"""Several terminals on one database: one owns it, the others have it work for them."""

from __future__ import annotations

import json

import pytest

from tests.surfaces.cli.terminals import (  # noqa: F401
    HELLO,
    Desk,
    Held,
    Second,
    a_desk,
    a_held_run,
)


def test_a_second_run_is_worked_on_by_the_first_terminal(desk: Desk, held: Held) -> None:
    second = desk.call("run", desk.write("hello.yaml", HELLO), "--json")
    assert (second.status, second.err) == (0, "")
    assert second.json["result"] == {"who": "world"}
    assert held.terminal.process.poll() is None
    held.gate.write("go")
    assert held.terminal.wait().status == 0


def test_a_second_terminal_shows_its_run_as_it_happens(desk: Desk, held: Held) -> None:
    second = desk.call("run", desk.write("hello.yaml", HELLO))
    assert "greet: started" in second.out
    assert "Done in" in second.out


def test_a_key_names_one_run_from_every_terminal(desk: Desk, held: Held) -> None:
    file = desk.write("hello.yaml", HELLO)
    runs = {desk.call("run", file, "--json", "--key", "one").json["run"] for _ in range(2)}
    held.gate.write("go")
    held.terminal.wait()
    runs.add(desk.call("run", file, "--json", "--key", "one").json["run"])
    assert len(runs) == 1


def test_a_second_terminal_takes_over_when_the_first_is_killed(desk: Desk, held: Held) -> None:
    second = Second(desk, "--json")
    held.terminal.process.kill()
    held.terminal.wait()
    # The killed owner's shell still reads; the one that goes on reads the next word.
    assert second.bell.read()
    second.gate.write("go")
    second.gate.write("go")
    taken = second.terminal.wait()
    assert (taken.status, taken.err) == (0, "")
    assert taken.json["result"] == {"word": "go"}
    attempts = [x for x in desk.log(taken.json["run"]) if x["name"] == "step.redelivered"]
    assert len(attempts) == 1


def test_the_run_of_a_killed_terminal_waits_for_resume(desk: Desk, held: Held) -> None:
    held.terminal.process.kill()
    held.terminal.wait()
    desk.call("run", desk.write("hello.yaml", HELLO))
    by_program = {row["program"]: row["status"] for row in desk.runs()}
    assert by_program == {"held": "running", "hello": "done"}
    held.gate.write("go")
    held.gate.write("go")
    assert desk.call("resume", "--json").json["status"] == "done"


def test_a_guest_that_stops_does_not_stop_its_run(desk: Desk, held: Held) -> None:
    second = Second(desk)
    second.terminal.interrupt()
    stopped = second.terminal.wait()
    run = next(row["run"] for row in desk.runs() if row["program"] == "second")
    assert stopped.status == 130
    assert stopped.err == (
        "anew: stopped watching; the run continues in the terminal that works on it. "
        f"`anew cancel {run}` ends it\n"
    )
    second.gate.write("go")
    assert desk.open("watch", run).wait().status == 0
    assert held.terminal.process.poll() is None


def test_the_first_terminal_stops_and_the_second_goes_on(desk: Desk, held: Held) -> None:
    second = Second(desk, "--json")
    assert held.terminal.stop().status == 130
    second.bell.read()  # handed back, and begun again by the second terminal
    second.gate.write("go")
    taken = second.terminal.wait()
    assert (taken.status, taken.json["result"]) == (0, {"word": "go"})


@pytest.mark.parametrize("word", ["runs", "show", "events", "timeline"])
def test_reading_beside_the_owner(desk: Desk, held: Held, word: str) -> None:
    words = [word] if word == "runs" else [word, "last"]
    told = desk.call(*words)
    assert (told.status, told.err) == (0, "")
    assert told.out


def test_a_bad_order_to_the_owner_is_one_clear_line(desk: Desk, held: Held) -> None:
    answer = desk.call("retry", "last", "--from", "nine")
    assert answer.status == 2
    assert answer.is_one_clear_line(), answer.err


def test_credentials_can_be_added_while_a_run_is_at_work(desk: Desk, held: Held) -> None:
    file = desk.write("api.json", json.dumps({"type": "bearer", "data": {"token": "long-enough"}}))
    added = desk.call("credential", "add", "api", "--file", file)
    assert (added.status, added.err) == (0, ""), added.err
    assert "api" in desk.call("credential", "list").out
    assert desk.call("credential", "remove", "api").status == 0


def test_resume_beside_an_owner_follows_every_run_and_takes_over(desk: Desk, held: Held) -> None:
    held.terminal.process.kill()
    held.terminal.wait()
    second = Second(desk)
    resuming = desk.open("resume")
    held.bell.read()  # the second terminal has begun it again
    second.gate.write("go")
    while next(row for row in desk.runs() if row["program"] == "second")["status"] != "done":
        assert resuming.process.poll() is None
    for _ in range(2):  # one for the shell that the killed terminal left behind
        held.gate.write("go")
    assert second.terminal.wait().status == 0
    resumed = resuming.wait()
    assert (resumed.status, resumed.err) == (0, "")
    assert {row["status"] for row in desk.runs()} == {"done"}
