"""How much time a fork has: all that was left at an old event, and no more than its run has now."""

import asyncio

import pytest

from anew.engine import events as e
from anew.errors import ConfigError
from anew.lab.fork_preview import fork_preview
from anew.runtime.forks import ForkPoint, ForkRequest
from tests.runtime.test_forks import ASKED, in_a_world

ASKED_IN_TIME = ASKED.replace("choices:", "timeout: 1000, choices:")
SLEEPS = """
metadata: {name: sleeps}
workflow:
  - step: nap
    tool: {kind: sleep, seconds: 1000}
"""
AWAITS = """
metadata: {name: awaits}
workflow:
  - step: hear
    tool: {kind: wait, signal: go, timeout: 1000}
"""


async def started(world, text, kind):
    """A run, once an event of this kind is in its log."""
    run, found = await world.start(text), asyncio.Event()
    world.engine.listen(
        lambda of, events: found.set() if any(isinstance(one, kind) for one in events) else None
    )
    if not any(isinstance(one, kind) for one in await world.log(run)):
        await asyncio.wait_for(found.wait(), 20)
    return run


async def forked(world, order):
    """How the new run stood right after the cut, and the cut."""
    log = await world.log((await world.engine.fork(order)).run)
    cut = next(one for one in log if isinstance(one, e.RunPaused))
    live = await world.engine.ledger.live.get(int(log[0].run))
    (run,) = live.state.live_step_runs()
    return run, cut


CASES = [
    (ASKED_IN_TIME, e.HumanWaiting),
    (AWAITS, e.SignalWaiting),
    (SLEEPS, e.TaskStarted),
]


@pytest.mark.parametrize(("text", "kind"), CASES, ids=["question", "signal", "sleep"])
def test_a_move_adds_no_time(tmp_path, text, kind):
    async def work(world):
        old = await started(world, text, kind)
        (was,) = (await world.engine.ledger.live.get(old)).state.live_step_runs()
        before = (was.asked_at, was.resume_at, was.question, was.awaited)
        plan = await world.engine.forks.plan(old, ForkPoint())
        assert fork_preview(plan).notes == ["deadlines and sleeps end when they were to end"]
        run, cut = await forked(world, ForkRequest(old, cancels=True))
        assert cut.later_by == 0
        assert (run.asked_at, run.resume_at, run.question, run.awaited) == before

    in_a_world(work, tmp_path)


@pytest.mark.parametrize(("text", "kind"), CASES, ids=["question", "signal", "sleep"])
def test_a_fork_at_an_old_event_has_the_time_that_was_left_then(tmp_path, text, kind):
    async def work(world):
        old = await started(world, text, kind)
        (was,) = (await world.engine.ledger.live.get(old)).state.live_step_runs()
        asked_at, resume_at = was.asked_at, was.resume_at
        await world.engine.cancel(old)
        log = await world.log(old)
        plan = await world.engine.forks.plan(old, ForkPoint(len(log) - 1))
        told = f"deadlines and sleeps have the time left that they had at event {plan.at}"
        assert fork_preview(plan).notes == [told]
        run, cut = await forked(world, ForkRequest(old, ForkPoint(len(log) - 1)))
        assert cut.later_by == cut.at - log[plan.at - 1].at > 0
        assert run.asked_at == asked_at + cut.later_by
        if resume_at is not None:
            assert run.resume_at == resume_at + cut.later_by

    in_a_world(work, tmp_path)


def test_a_run_that_moved_on_since_it_was_looked_at_is_not_cancelled(tmp_path):
    async def work(world):
        old = await started(world, ASKED, e.HumanWaiting)
        seen = len(await world.log(old))
        await world.engine.signals.signal(old, "news", 1)
        with pytest.raises(ConfigError, match=f"moved on meanwhile, from event {seen} to event"):
            await world.engine.fork(ForkRequest(old, ForkPoint(seen=seen), cancels=True))
        assert not (await world.engine.ledger.live.get(old)).state.is_final
        # A copy is made of what was seen.
        new = (await world.engine.fork(ForkRequest(old, ForkPoint(seen=seen)))).run
        cut = (await world.log(new))[seen]
        assert (type(cut), cut.later_by) == (e.RunPaused, 0)

    in_a_world(work, tmp_path)


def test_a_retry_begins_where_it_was_seen_to_begin(tmp_path):
    text = """
metadata: {name: again}
workflow:
  - step: one
    tool: {kind: noop}
    next: [{step: two}]
  - step: two
    tool: {kind: noop}
    next: [{step: three}]
  - step: three
    tool: {kind: shell, command: "exit 1"}
"""

    async def work(world):
        old = await world.start(text)
        await world.ended(old)
        log = await world.log(old)
        (at,) = (x.seq - 1 for x in log if isinstance(x, e.StepScheduled) and x.step == "two")
        new = (await world.engine.retry(old, "three", at=at)).run
        await world.ended(new)
        cut = next(one for one in await world.log(new) if isinstance(one, e.RunPaused))
        assert (cut.seq, cut.reason) == (at + 1, "retried from step three")

    in_a_world(work, tmp_path)


def test_a_retry_that_is_due_is_an_effect_for_certain_and_told_once(tmp_path):
    text = """
metadata: {name: flaky}
workflow:
  - step: send
    tool:
      kind: http
      method: POST
      url: "http://127.0.0.1:9/never"
      idempotency_key: true
      spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}",
                               then: {do: retry, attempts: 2, delay: 0.01}}]}}
"""

    async def work(world):
        old = await world.start(text)
        await world.ended(old)
        log = await world.log(old)
        at = next(x.seq for x in log if isinstance(x, e.TaskRetryScheduled))
        preview = fork_preview(await world.engine.forks.plan(old, ForkPoint(at)))
        (effect,) = preview.effects
        assert (effect.task, effect.times, effect.key.value) == ("send", 1, "new")
        assert effect.is_certain
        assert [one.does for one in preview.again] == ["retries task send: attempt 2"]

    in_a_world(work, tmp_path)
