"""`anew signal`, and what `anew run` does while a run waits for a signal."""

from __future__ import annotations

import base64
import os

import pytest

from tests.surfaces.cli.terminals import Desk, Opened, a_desk  # noqa: F401

PAY = """\
metadata: {name: pay}
workflow:
  - step: gate
    tool: {kind: wait, signal: paid}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: "{{ gate.amount }} by {{ gate.who }}"}
"""


def waiting(desk: Desk, text: str = PAY) -> str:
    """The id of a run that waits."""
    told = desk.call("run", desk.write("pay.yaml", text), "--json")
    assert told.status == 3, told.err
    assert told.json["status"] == "waiting"
    run: str = told.json["run"]
    return run


def test_a_run_that_waits_for_a_signal_ends_the_command_with_3_and_says_what_to_send(
    desk: Desk,
) -> None:
    told = desk.call("run", desk.write("pay.yaml", PAY))
    [row] = desk.runs("--status", "waiting")
    assert told.status == 3
    assert "Waiting for the signal paid in gate for" in told.out
    assert f"`anew signal {row['run']} paid` sends it" in told.out
    assert told.err == ""
    shown = desk.call("show", row["run"])
    assert f"`anew signal {row['run']} paid` sends it" in shown.out


def test_a_signal_is_kept_and_the_run_goes_on_with_it(desk: Desk) -> None:
    run = waiting(desk)
    sent = desk.call("signal", "last", "paid", "--payload", '{"amount": 12, "who": "ann"}')
    assert sent.status == 0
    assert sent.out.startswith(f"sent paid to run {run}; if no process is working on the run")
    assert f"`anew resume {run}` resumes it" in sent.out
    resumed = desk.call("resume", run, "--json")
    assert (resumed.status, resumed.json["result"]) == (0, "12 by ann")


def test_the_same_id_counts_once(desk: Desk) -> None:
    run = waiting(desk)
    assert desk.call("signal", run, "paid", "--id", "p-1", "--json").json == {
        "run": run,
        "signal": "paid",
        "accepted": True,
    }
    again = desk.call("signal", run, "paid", "--id", "p-1")
    assert (again.status, again.out) == (
        0,
        f"run {run} has had this signal already; nothing changed\n",
    )
    desk.call("resume", run)
    late = desk.call("signal", run, "paid", "--id", "p-1", "--json")
    assert (late.status, late.json["accepted"]) == (0, False)
    ended = desk.call("signal", run, "paid")
    assert (ended.status, "has ended (done)" in ended.err) == (2, True)
    assert ended.is_one_clear_line()


def test_two_signals_without_an_id_are_two(desk: Desk) -> None:
    run = waiting(desk)
    for _ in range(2):
        assert desk.call("signal", run, "other", "--json").json["accepted"] is True


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("a b",), "'a b' cannot be the name of a signal"),
        (("paid", "--payload", "{"), "--payload is not JSON"),
        (("paid", "--payload", "NaN"), "--payload is not JSON: NaN is not a JSON number"),
        (("paid", "--payload", "@none.json"), "cannot read none.json"),
        (("paid", "--id", " "), "the id of a signal is a text"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_a_line(
    desk: Desk, words: tuple[str, ...], why: str
) -> None:
    run = waiting(desk)
    told = desk.call("signal", run, *words)
    assert (told.status, why in told.err) == (2, True), told.err
    assert told.is_one_clear_line()


def test_a_payload_may_be_in_a_file(desk: Desk) -> None:
    run = waiting(desk)
    file = desk.write("payload.json", '{"amount": 1, "who": "a file"}')
    assert desk.call("signal", run, "paid", "--payload", f"@{file}").status == 0
    assert desk.call("resume", run, "--json").json["result"] == "1 by a file"


def test_a_second_terminal_sends_what_the_first_one_waits_for(desk: Desk) -> None:
    first = desk.open("run", desk.write("pay.yaml", PAY), "--wait", "--json")
    run = running(desk, first)
    sent = desk.open("signal", run, "paid", "--payload", '{"amount": 3, "who": "b"}', "--by", "bob")
    assert sent.wait().status == 0
    told = first.wait()
    assert (told.status, told.json["result"]) == (0, "3 by b")
    assert '"by": "bob"' in desk.call("events", run, "--json").out


def running(desk: Desk, opened: Opened) -> str:
    """The run of another terminal, once it is there and waits."""
    while opened.process.poll() is None:
        rows = desk.runs("--status", "waiting")
        if rows:
            run: str = rows[0]["run"]
            return run
    raise AssertionError(opened.wait().err)


def test_an_address_for_others_is_printed_and_sends_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_KEY", base64.b64encode(os.urandom(32)).decode())
    run = waiting(desk)
    told = desk.call("signal", run, "paid", "--url")
    assert told.status == 0
    assert told.out.startswith(f"/hooks/{run}/paid/")
    assert "anew serve" in told.err
    shown = desk.call("signal", run, "paid", "--url", "--json")
    assert shown.json == {"run": run, "signal": "paid", "path": told.out.strip()}
    assert desk.runs("--status", "waiting")
