"""A run that waits for signals, in every view: what it waits for, since when, and who helps."""

from __future__ import annotations

import json
import re

import pytest

from anew.engine import events as e
from anew.engine.state import RunStatus
from anew.engine.statuses import ActivityKind, BarKind
from anew.store import RunId, RunRow
from anew.views.board import board_of
from anew.views.export.changes import Write
from anew.views.export.directory import RunDirectory, Subject
from anew.views.graph import graph_of
from anew.views.lanes import lanes_of
from anew.views.log_lines import LogLines
from anew.views.progress import progress_of
from anew.views.timeline import timeline_lines
from tests.play import simulated
from tests.views.recorded import SECOND, START, told, upto

PAY = """
workflow:
  - step: pay
    tool: {kind: wait, signal: paid, timeout: 10m}
    next: [{step: last}]
  - step: last
    tool: {kind: noop}
"""
ENDLESS = PAY.replace(", timeout: 10m", "")
TWO = """
workflow:
  - step: start
    tool: {kind: noop}
    next: [{step: one}, {step: two}]
  - step: one
    tool: {kind: wait, signal: first, timeout: 60}
  - step: two
    tool: {kind: wait, signal: "second:2"}
"""
LOOP = """
workflow:
  - step: each
    loop: {in: [0, 1, 2], iterator: n, spec: {mode: parallel}}
    tool: {kind: wait, signal: paid}
"""


def test_the_verdict_says_what_it_waits_for_and_what_sends_it() -> None:
    run = simulated(ENDLESS)
    assert told(run, run.log, after=30) == [
        "Waiting for the signal paid in pay for 30 s",
        "`anew signal 1 paid` sends it.",
    ]


def test_the_verdict_says_until_when() -> None:
    run = simulated(PAY)
    log = upto(run, e.SignalWaiting)
    assert told(run, log, after=60)[0] == "Waiting for the signal paid in pay, times out in 9 min"
    late = told(run, log, after=700)
    assert late == ["Waiting for the signal paid in pay, times out, due now"]


def test_the_verdict_names_every_signal_once() -> None:
    run = simulated(TWO)
    _, *details = told(run, upto(run, e.SignalWaiting, 2))
    assert details == [
        "Waiting for the signal first in one, times out in 1 min.",
        "`anew signal 1 first` sends it.",
        "`anew signal 1 second:2` sends it.",
    ]
    run = simulated(LOOP)
    lines = told(run, run.log)
    assert lines[0] == "Loop each over 3 items: 0 done, 3 waiting for a signal"
    assert lines.count("`anew signal 1 paid` sends it.") == 1


def test_a_run_that_waits_for_a_signal_is_waiting() -> None:
    run = simulated(ENDLESS)
    progress = progress_of(run.log, run.program)
    assert progress.status is RunStatus.WAITING
    assert progress.steps["pay"].status.value == "waiting"
    [activity] = progress.activities()
    assert (activity.doing, activity.reason) == (ActivityKind.SIGNAL, "paid")


def test_a_signal_that_came_makes_the_step_wait_for_a_worker() -> None:
    run = simulated(PAY, outcomes={"pay": [{"signal": 1, "takes": 3}]})
    [activity] = progress_of(upto(run, e.SignalReceived), run.program).activities()
    assert (activity.doing, activity.until) == (ActivityKind.QUEUED, None)


def test_a_signal_that_nobody_waits_for_changes_no_step() -> None:
    run = simulated(ENDLESS, signals=[{"signal": "other"}])
    progress = progress_of(run.log, run.program)
    assert (progress.status, list(progress.steps)) == (RunStatus.WAITING, ["pay"])


def test_the_board_counts_down() -> None:
    run = simulated(PAY)
    log = upto(run, e.SignalWaiting)
    board = board_of(progress_of(log, run.program), log[-1].at + 60 * SECOND, rows_max=9)
    assert [(row.step, row.status.value, row.text) for row in board.rows] == [
        ("pay", "waiting", "waits for a signal · paid · 9 min left")
    ]


def test_the_lanes_have_a_bar_for_the_wait() -> None:
    run = simulated(PAY, outcomes={"pay": [{"signal": 1, "takes": 3}]})
    lanes = lanes_of(run.program, run.log, now=run.log[-1].at).lanes
    pay = next(lane for lane in lanes if lane.step == "pay")
    bars = [(bar.kind, (bar.end - bar.begin) // SECOND) for bar in pay.bars]
    assert (BarKind.SIGNAL, 3) in bars


@pytest.mark.parametrize(
    ("event", "line", "row"),
    [
        (
            e.SignalWaiting(step="pay", signal="paid", deadline=START + 90 * SECOND),
            "pay: waits for a signal: paid · within 1 min 30 s",
            ["waits for a signal", "paid · within 1 min 30 s"],
        ),
        (
            e.SignalReceived(step="pay", signal="paid", by="ann"),
            "pay: signal came: paid · ann",
            ["signal came", "paid · ann"],
        ),
        (
            e.SignalReceived(signal="paid", payload={"secret": "thing"}),
            "run: signal kept: paid",
            ["signal kept", "paid"],
        ),
        (
            e.SignalReceived(step="pay", signal="paid", kept=3),
            "pay: signal taken up: paid",
            ["signal taken up", "paid"],
        ),
    ],
)
def test_the_log_is_told_in_words(event: e.Event, line: str, row: list[str]) -> None:
    event.at = START
    began = e.RunStarted(entry="pay", at=START)
    assert LogLines().line(event) == line
    shown = list(timeline_lines([began, event]))[1]
    assert re.split(r"\s{2,}", shown.strip())[2:] == row


def test_the_export_says_what_is_waited_for() -> None:
    run = simulated(PAY)
    log = upto(run, e.SignalWaiting)
    row = RunRow(RunId(1), "p", "d", RunStatus.WAITING, 1, 0, 0, None, None, None, {}, None, 0)
    directory = RunDirectory(Subject(row, None, run.program))
    for event in log:
        list(directory.feed(event))
    files = {one.path: one.data for one in directory.finish() if isinstance(one, Write)}
    [status] = [json.loads(data) for data in files.values() if b"waiting_for" in data]
    assert status["waiting_for"] == [
        {"node": "pay", "signal": "paid", "deadline": "2000-01-01T00:10:00.000000Z"}
    ]


def test_the_graph_names_the_kind() -> None:
    graph = graph_of(simulated(PAY).program)
    assert next(node for node in graph.nodes if node.name == "pay").lines == ("wait",)
