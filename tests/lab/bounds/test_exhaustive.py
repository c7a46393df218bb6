"""No run exceeds a bound, and the worst run reaches it: compared with everything that can happen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from anew.lab.bounds import Bounds, bounds_of
from tests.lab.bounds.exploring import Options, Worst, explore
from tests.lab.bounds.making import (
    TIMEOUT,
    answers,
    forks,
    graphs,
    playbooks,
    program_of,
    statuses,
    tangles,
)

_SECOND_PARTS = 1e-6
# One example is hundreds of runs. Those that must reach their bounds are always the same: a bound
# may be too high where conditions depend on each other, and that is no mistake.
FEW = max(1, settings().max_examples // 30)


def assert_sound(bounds: Bounds, worst: Worst, seconds: float) -> None:
    """`seconds` is the bound that the explored runs are about: of waits, or of all time."""
    most = {(task.step, task.task): task.in_run.at_most for task in bounds.tasks}
    for task, count in worst.executions.items():
        assert count <= most[task], task
    assert worst.all_executions <= bounds.executions.at_most
    assert worst.seconds <= seconds + _SECOND_PARTS


def assert_reached(bounds: Bounds, worst: Worst, seconds: float) -> None:
    assert_sound(bounds, worst, seconds)
    if not worst.is_whole:
        return
    most = {(task.step, task.task): task.in_run.at_most for task in bounds.tasks}
    assert {task: worst.executions[task] for task in most} == most
    assert worst.all_executions == bounds.executions.at_most
    assert worst.seconds == pytest.approx(seconds)


def assert_worst(document: object, *, is_reached: bool = True, runs_max: int = 500) -> None:
    """Calls that take no time show the waits; calls that take all of theirs show the total."""
    is_graph = isinstance(document, str)
    program = program_of(document, "made.dot" if is_graph else "made.yaml")
    bounds = bounds_of(program)

    def options(*takes: float) -> Options:
        return statuses(takes) if is_graph else answers(document, takes)

    judge = assert_reached if is_reached and bounds.is_bounded else assert_sound
    judge(bounds, explore(program, options(0.0), runs_max=runs_max), bounds.waits.at_most)
    times = (TIMEOUT,) if is_reached else (TIMEOUT, 0.0)
    judge(bounds, explore(program, options(*times), runs_max=runs_max), bounds.time.at_most)


@settings(max_examples=4 * FEW, derandomize=True)
@given(playbooks())
def test_the_worst_run_of_a_playbook_reaches_its_bounds(document: dict[str, object]) -> None:
    assert_worst(document)


@settings(max_examples=2 * FEW, derandomize=True)
@given(forks("wait_all"))
def test_the_worst_run_of_a_fork_reaches_its_bounds(document: dict[str, object]) -> None:
    assert_worst(document)


@settings(max_examples=FEW)
@given(forks("quorum"))
def test_no_run_of_a_fork_that_may_be_cut_short_exceeds_its_bounds(
    document: dict[str, object],
) -> None:
    assert_worst(document, is_reached=False)


@settings(max_examples=3 * FEW)
@given(playbooks(with_elapsed=True))
def test_no_run_with_deadlines_exceeds_its_bounds(document: dict[str, object]) -> None:
    assert_worst(document, is_reached=False, runs_max=400)


@settings(max_examples=3 * FEW)
@given(tangles())
def test_no_run_of_steps_that_lead_back_exceeds_its_bounds(document: dict[str, object]) -> None:
    assert_worst(document, is_reached=False, runs_max=60)


@settings(max_examples=2 * FEW)
@given(forks("wait_all", can_return=True))
def test_no_run_of_branches_that_lead_back_exceeds_its_bounds(document: dict[str, object]) -> None:
    assert_worst(document, is_reached=False, runs_max=60)


@settings(max_examples=2 * FEW)
@given(graphs(can_restart=True))
def test_no_run_that_begins_anew_exceeds_its_bounds(graph: str) -> None:
    assert_worst(graph, is_reached=False, runs_max=60)


@settings(max_examples=4 * FEW, derandomize=True)
@given(graphs())
def test_the_worst_run_of_a_graph_reaches_its_bounds(graph: str) -> None:
    assert_worst(graph)
