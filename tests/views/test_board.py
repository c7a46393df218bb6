"""The board: a bounded choice of what a live view shows."""

from __future__ import annotations

from anew.engine import events as e
from anew.views.board import ENDED_ROWS, board_of
from anew.views.progress import progress_of
from tests.play import simulated
from tests.views.recorded import BUSY, DOWN, LOOP, RETRY, SECOND, upto


def shown(run, log, *, after: float = 0.0, rows_max: int = 20):
    now = log[-1].at + round(after * SECOND)
    return board_of(progress_of(log, run.program), now, rows_max=rows_max)


def texts(board) -> list[tuple[str, str, str]]:
    return [(row.step, row.status.value, row.text) for row in board.rows]


def test_a_retry_counts_down_with_its_reason() -> None:
    run = simulated(RETRY, outcomes={"page": [BUSY, {"result": 1}]})
    board = shown(run, upto(run, e.TaskRetryScheduled), after=19.04)
    (row,) = texts(board)
    assert row[:2] == ("fetch", "retrying")
    assert row[2].startswith("attempt 2 of 4 in 41 s · HTTP 429: slow down, Retry-After 1 min")


def test_work_names_its_task_and_attempt() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    board = shown(run, upto(run, e.TaskStarted, 2), after=3)
    assert texts(board) == [("fetch", "running", "task page · attempt 2")]
    assert board.rows[0].seconds == 3.0


def test_steps_that_ended_stand_above_those_that_are_live() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    board = shown(run, upto(run, e.TaskStarted, 3))
    assert texts(board) == [("fetch", "done", "2 attempts"), ("store", "running", "task store")]
    assert board.summary == "1 step ended · 1 retry"


def test_a_loop_has_one_row_with_its_progress() -> None:
    run = simulated(LOOP % 500, outcomes={"one": [{"result": 1, "takes": 1}]})
    (row,) = shown(run, upto(run, e.LoopIterationDone, 312)).rows
    assert row.text == "312 of 500: 312 done, 3 running"
    assert row.loop is not None
    assert (row.loop.ended, row.loop.total) == (312, 500)


def chain(length: int) -> str:
    steps = [
        f"  - step: s{n}\n    tool: {{kind: noop}}\n    next: [s{n + 1}]" for n in range(length)
    ]
    return "workflow:\n" + "\n".join([*steps, f"  - step: s{length}"])


def test_only_the_last_few_that_ended_are_shown() -> None:
    run = simulated(chain(40))
    assert [row.step for row in shown(run, run.log).rows] == [
        f"s{n}" for n in range(41 - ENDED_ROWS, 41)
    ]


def test_a_board_is_no_taller_than_asked() -> None:
    names = [f"b{n}" for n in range(30)]
    steps = "".join(f"\n  - step: {name}\n    tool: {{kind: noop}}" for name in names)
    document = f"workflow:\n  - step: start\n    next: [{', '.join(names)}]{steps}\n"
    run = simulated(document, outcomes={name: [{"result": 1, "takes": 9}] for name in names})
    board = shown(run, upto(run, e.TaskStarted, 31), rows_max=8)
    assert len(board.rows) == 8
    assert board.hidden == 22


def test_what_is_kept_does_not_grow_with_the_iterations() -> None:
    run = simulated(LOOP % 2000, outcomes={"one": [DOWN, {"result": 1}]})
    progress = progress_of(run.log, run.program)
    assert [len(step.open) + len(step.loops) for step in progress.steps.values()] == [0]
    most = max(len(progress_of(run.log[:n]).steps["each"].open) for n in range(100, 140))
    assert most <= 5
