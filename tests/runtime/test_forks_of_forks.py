"""A run that shares a log with another program's decisions is forked inside what it shares."""

import pytest

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.fork_points import fork_point
from anew.engine.state import RunStatus
from anew.lab.fork_preview import fork_preview
from anew.runtime.forks import ForkPoint, ForkRequest, Unfit
from tests.runtime.test_forks import in_a_world

FIRST = """
metadata: {name: shop}
workflow:
  - step: a
    tool: {kind: noop}
    next: [{step: x}]
  - step: x
    tool: {kind: shell, command: "echo x >> {{ workload.out }}"}
    next: [{step: y}]
  - step: y
    tool: {kind: shell, command: "echo y >> {{ workload.out }}; exit 1"}
"""
SECOND = """
metadata: {name: shop}
workflow:
  - step: a
    tool: {kind: noop}
    next: [{step: y}]
  - step: y
    tool: {kind: http, method: PUT, url: "http://127.0.0.1:9/never", timeout: 0.01}
"""
GRAPH = """
digraph shop {
  dialect=docs
  start [shape=ellipse]; end [shape=ellipse]
  x [shape=component tool_command="true"]
  y [shape=component tool_command="exit 1" max_retries=0]
  start -> x; x -> y; y -> end
}
"""
PLAIN_GRAPH = """
digraph shop {
  dialect=docs
  start [shape=ellipse]; end [shape=ellipse]
  y [shape=component tool_command="true"]
  start -> y; y -> end
}
"""


async def moved(world, first, second):
    """A run of `second` that shares the log of a run of `first` up to the step y."""
    old = await world.start(first)
    await world.ended(old)
    run = (
        await world.engine.fork(ForkRequest(old, ForkPoint(step="y"), world.document(second)))
    ).run
    await world.ended(run)
    return run


@pytest.mark.parametrize(
    ("first", "second"), [(FIRST, SECOND), (GRAPH, PLAIN_GRAPH)], ids=["playbook", "graph"]
)
def test_a_moved_run_is_forked_at_any_event_or_refused(tmp_path, first, second):
    async def work(world):
        run = await moved(world, first, second)
        log = await world.log(run)
        cut = next(one.seq for one in log if isinstance(one, e.RunPaused))
        missing = []
        for at in range(2, cut):
            if fold(log[: fork_point(log, at)]).is_stopping:
                continue
            try:
                own = (await world.engine.fork(ForkRequest(run, ForkPoint(at)))).run
            except Unfit as unfit:
                missing += [found.step for found in unfit.misfits]
            else:
                await world.ended(own)
                assert await world.replays(own) is None, at
            order = ForkRequest(run, ForkPoint(at), world.document(first))
            back = (await world.engine.fork(order)).run  # they are its own decisions
            await world.ended(back)
            assert await world.replays(back) is None, at
        assert len(missing) > 1
        assert set(missing) == {"x"}

    in_a_world(work, tmp_path)


def test_a_step_that_only_the_first_program_has_can_be_named(tmp_path):
    async def work(world):
        run = await moved(world, FIRST, SECOND)
        order = ForkRequest(
            run, ForkPoint(step="x"), world.document(FIRST.replace("exit 1", "exit 0"))
        )
        again = (await world.engine.fork(order)).run
        assert await world.ended(again) is RunStatus.DONE
        assert world.left() == ["x", "y", "x", "y"]

    in_a_world(work, tmp_path)


def test_the_preview_knows_each_call_by_the_program_that_made_it(tmp_path):
    async def work(world):
        run = await moved(world, FIRST, SECOND)
        plan = await world.engine.forks.plan(run, ForkPoint(step="x"), world.document(FIRST))
        told = [(one.step, one.kind) for one in fork_preview(plan).effects]
        assert told == [("x", "shell"), ("y", "http")]

    in_a_world(work, tmp_path)


def test_the_preview_tells_where_the_run_s_own_program_would_have_decided_otherwise(tmp_path):
    async def work(world):
        run = await moved(world, FIRST, SECOND)
        log = await world.log(run)
        cut = next(one.seq for one in log if isinstance(one, e.RunPaused))
        plan = await world.engine.forks.plan(run, ForkPoint(cut - 1))
        assert (plan.misfits, plan.is_moved) == ([], False)
        arc = next(one.seq for one in log if isinstance(one, e.NextEvaluated))
        assert fork_preview(plan).differs_at == arc
        assert fork_preview(await world.engine.forks.plan(run, ForkPoint(4))).differs_at is None

    in_a_world(work, tmp_path)
