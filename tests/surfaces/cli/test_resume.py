"""`anew resume`, and what a run that was stopped goes on from."""

from __future__ import annotations

import signal

import pytest

from tests.surfaces.cli.terminals import (  # noqa: F401
    HELD,
    HELLO,
    Desk,
    Held,
    a_desk,
    a_held_run,
    is_alive,
)

WAITS = """\
metadata: {name: waits}
workflow:
  - step: try
    tool:
      - ask:
          kind: shell
          command: "echo $ATTEMPT >> done.txt; test $ATTEMPT -ge 2"
          env: {ATTEMPT: "{{ _attempt }}"}
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 2, delay: 1.5}
"""


def test_ctrl_c_stops_the_command_and_resume_goes_on(desk: Desk, held: Held) -> None:
    held.terminal.interrupt()
    stopped = held.terminal.wait()
    run = desk.runs()[0]["run"]
    assert stopped.status == 130
    assert stopped.err.splitlines() == [
        "anew: stopping; running calls have 5 s to end. Ctrl-C stops them now",
        f"anew: stopped; nothing is lost. `anew resume {run}` resumes it",
    ]
    assert not is_alive(held.shell)

    held.gate.write("go")
    resumed = desk.call("resume", run, "--json")
    assert resumed.status == 0
    assert resumed.json["run"] == run
    assert resumed.json["result"] == {"word": "go"}
    # What had ended before is not done again; what was at work is.
    assert desk.done() == ["first", "hold", "hold"]


def test_a_second_ctrl_c_waits_for_nothing_and_loses_nothing(
    desk: Desk,
    held: Held,
) -> None:
    stopped = held.terminal.stop()
    assert stopped.status == 130
    assert [line.partition(";")[0] for line in stopped.err.splitlines()] == [
        "anew: stopping",
        "anew: stopped",
    ]
    assert not is_alive(held.shell)
    # It was handed back in good order, and not just dropped.
    assert desk.names()[-1] == "step.redelivered"
    held.gate.write("go")
    assert desk.call("resume", "--json").json["result"] == {"word": "go"}


def test_a_call_that_ends_in_time_is_not_done_again(desk: Desk, held: Held) -> None:
    held.terminal.interrupt()
    held.terminal.read_error()
    held.gate.write("go")
    assert held.terminal.wait().status == 130
    assert desk.call("resume", "--json").json["result"] == {"word": "go"}
    assert desk.done() == ["first", "hold"]


def test_a_stop_costs_no_attempt(desk: Desk, held: Held) -> None:
    held.terminal.stop()
    held.gate.write("go")
    assert desk.call("resume", "--json").status == 0
    attempts = [
        event["attempt"]
        for event in desk.log()
        if event["name"] == "task.started" and event["step"] == "hold"
    ]
    assert attempts == [1, 1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_goes_on_after_its_process_was_ended(
    desk: Desk,
    held: Held,
    number: signal.Signals,
) -> None:
    held.terminal.process.send_signal(number)
    if number is signal.SIGTERM:
        held.terminal.read_error()
        held.terminal.process.send_signal(number)
    assert held.terminal.wait().status == (130 if number is signal.SIGTERM else -9)
    held.gate.write("go")
    held.gate.write("go")  # a killed process leaves its shell behind, which may read one
    resumed = desk.call("resume", "--json")
    assert (resumed.status, resumed.json["status"]) == (0, "done")
    assert desk.done().count("first") == 1


def test_without_a_run_every_unfinished_one_goes_on(desk: Desk) -> None:
    bell, gate = desk.pipe("bell"), desk.pipe("gate")
    file = desk.write("held.yaml", HELD)
    for _ in range(2):
        terminal = desk.open("run", file)
        bell.read()
        terminal.stop()
    # One is let go once both have come so far again: they run side by side.
    gate.write("go")
    gate.write("go")
    resumed = desk.call("resume")
    assert resumed.status == 0
    assert resumed.out.count("Done in") == 2
    assert [row["status"] for row in desk.runs()] == ["done", "done"]


def test_nothing_to_resume_is_no_failure(desk: Desk) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO))
    resumed = desk.call("resume")
    assert (resumed.status, resumed.out) == (0, "")
    assert resumed.err == "nothing to resume: every run has ended or is paused\n"


def test_a_run_that_has_ended_is_told_and_not_run_again(desk: Desk) -> None:
    first = desk.call("run", desk.write("hello.yaml", HELLO), "--json").json
    resumed = desk.call("resume", "last", "--json")
    assert (resumed.status, resumed.json) == (0, first)


def test_a_paused_run_goes_on_only_when_it_is_named(desk: Desk, held: Held) -> None:
    assert desk.call("pause", "last").status == 0
    held.terminal.stop()
    assert "nothing to resume" in desk.call("resume").err
    held.gate.write("go")
    assert desk.call("resume", "last", "--json").json["status"] == "done"


def test_a_delay_goes_on_where_it_was(desk: Desk) -> None:
    """The wait is a moment in the log, so a stop in the middle of it changes nothing."""
    terminal = desk.open("run", desk.write("waits.yaml", WAITS))
    while "task.retry_scheduled" not in desk.names():
        assert terminal.process.poll() is None
    terminal.interrupt()
    stopped = terminal.wait()
    # Nothing is at work in a wait, so there is nothing to wait for.
    assert (stopped.status, stopped.err.count("\n")) == (130, 1)
    assert desk.call("resume", "--json").json["status"] == "done"
    assert desk.done() == ["1", "2"]
    log = desk.log()
    scheduled = next(event for event in log if event["name"] == "task.retry_scheduled")
    started = [event for event in log if event["name"] == "task.started"][-1]
    assert started["at"] >= scheduled["data"]["not_before"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("abc", "is not a run id. `anew runs` lists the runs."),
        ("12345", "there is no run 12345. `anew runs` lists the runs."),
        ("9" * 30, "there is no run"),
    ],
)
@pytest.mark.parametrize("word", ["resume", "cancel", "pause", "retry"])
def test_a_run_that_is_not_there_is_one_clear_line(
    desk: Desk, word: str, said: str, told: str
) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO))
    answer = desk.call(word, said)
    assert answer.status == 2
    assert answer.is_one_clear_line(), answer.err
    assert told in answer.err


@pytest.mark.parametrize("word", ["resume", "cancel", "pause", "retry"])
def test_without_a_database_there_is_no_run_to_order_about(desk: Desk, word: str) -> None:
    answer = desk.call(word, "last")
    assert answer.status == 4
    assert answer.is_one_clear_line(), answer.err
    assert "does not exist. Start a run to create it" in answer.err
