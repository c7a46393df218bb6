"""The auditor finds an engine that breaks its promises, each under the right name."""

import pytest
from msgspec.structs import replace

from anew.engine import decide as engine
from anew.engine import events as e
from anew.engine.boundaries import Due, Reported, Requested, Taken
from anew.engine.decide import Transition
from anew.engine.next_actions import Invoke, Wait
from anew.engine.record import Moment
from anew.errors import EngineBug
from anew.lab import world
from anew.lab.faults import INVARIANTS
from anew.lab.faults.audit import MEANINGS
from anew.lab.faults.campaign import NO_BUG, campaign_of
from anew.lab.script import script_of
from anew.program.policy import Retry
from tests.lab.faults.documents import FLAKY, RETRIED, broken, played, program_of

really = engine.decide


def found_with(monkeypatch, decide, *, script=FLAKY, faults=None):
    monkeypatch.setattr(world, "decide", decide)
    return broken(played(RETRIED, script, faults=faults, runs=20))


def test_an_engine_that_keeps_its_promises_is_not_accused():
    assert broken(played(RETRIED, FLAKY, runs=300)) == set()


def test_a_finished_task_that_is_called_again_is_found(monkeypatch):
    calls = {}

    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        if isinstance(made.ask, Invoke):
            calls[made.ask.key] = made.ask
        elif isinstance(boundary, Reported) and made.events and made.ask is None:
            return Transition(made.events, made.jobs, calls[boundary.key])
        return made

    assert "done-once" in found_with(monkeypatch, decide, faults={})


def test_two_workers_that_make_one_call_are_found(monkeypatch):
    calls = {}

    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        if isinstance(made.ask, Invoke):
            calls[made.ask.key] = made.ask
        elif isinstance(boundary, Taken) and not made.events and not state.is_final:
            return Transition([], [], calls.get(boundary.key))
        return made

    assert found_with(monkeypatch, decide, faults={"duplicate": 0.5}) == {"done-once"}


def test_a_finished_task_that_the_log_begins_again_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        run = state.step_run(boundary.key) if isinstance(boundary, Reported) else None
        if isinstance(made.ask, Wait) and run is not None:
            run.is_lost, run.resume_at = True, None
            again = really(program, state, Due(boundary.key), moment)
            return Transition(made.events + again.events, made.jobs, again.ask)
        return made

    assert {"done-once", "in-order"} <= found_with(monkeypatch, decide, faults={})


@pytest.mark.parametrize("failures", [3, 5])
def test_attempts_past_the_limit_are_found(monkeypatch, failures):
    def generous(program):
        step = program.steps["pay"]
        task = step.tasks[1]
        rules = tuple(
            replace(rule, then=replace(rule.then, attempts=9))
            if isinstance(rule.then, Retry)
            else rule
            for rule in task.policy.rules
        )
        task = replace(task, policy=replace(task.policy, rules=rules))
        steps = {**program.steps, "pay": replace(step, tasks=(step.tasks[0], task))}
        return replace(program, steps=steps)

    def decide(program, state, boundary, moment):
        return really(generous(program), state, boundary, moment)

    script = {"outcomes": {"charge": [{"error": {"kind": "timeout"}, "times": failures}, {}]}}
    assert "attempts" in found_with(monkeypatch, decide, script=script, faults={})


def test_an_attempt_that_starts_early_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        if not isinstance(made.ask, Wait):
            return made
        state.step_run(made.ask.key).resume_at = None
        early = really(program, state, Due(made.ask.key), moment)
        return Transition(made.events + early.events, made.jobs + early.jobs, early.ask)

    assert "not-early" in found_with(monkeypatch, decide, faults={})


def test_an_engine_that_believes_in_another_clock_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        return really(program, state, boundary, Moment(moment.now + 3600 * 10**9, moment.draw))

    assert "in-time" in found_with(monkeypatch, decide, faults={})


def test_a_step_run_that_is_lost_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        return replace(made, jobs=[key for key in made.jobs if key.step != "tell"])

    assert found_with(monkeypatch, decide, faults={}) == {"comes-to-an-end"}


def test_a_step_run_whose_worker_is_never_missed_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        if isinstance(boundary, engine.Lost):
            return Transition([], [], None)
        return really(program, state, boundary, moment)

    assert "comes-to-an-end" in found_with(monkeypatch, decide, faults={"kill": 0.5})


def test_a_key_that_changes_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        if isinstance(made.ask, Invoke):
            key = f"{made.ask.idempotency_key}:{made.ask.started}"
            return replace(made, ask=replace(made.ask, idempotency_key=key))
        return made

    assert found_with(monkeypatch, decide, faults={"kill": 0.3}) == {"one-key"}


def test_a_key_that_several_tasks_share_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        if isinstance(made.ask, Invoke):
            return replace(made, ask=replace(made.ask, idempotency_key="same"))
        return made

    assert found_with(monkeypatch, decide, faults={}) == {"one-key"}


@pytest.mark.parametrize("script", [FLAKY, {}], ids=["differing", "alike"])
def test_a_duplicate_report_that_is_accepted_is_found(monkeypatch, script):
    def decide(program, state, boundary, moment):
        run = state.step_run(boundary.key) if isinstance(boundary, Reported) else None
        if run is not None:
            boundary = replace(boundary, started=run.started_seq)
        return really(program, state, boundary, moment)

    faults = {"duplicate": 0.5}
    assert "true-outcomes" in found_with(monkeypatch, decide, script=script, faults=faults)


def test_a_gap_in_the_log_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        if isinstance(boundary, Requested):
            state.version += 1
        return really(program, state, boundary, moment)

    assert "gap-free" in found_with(monkeypatch, decide, faults={})


def test_what_happens_after_the_end_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        if state.is_final and not made.events:
            late = e.StepDone(step="tell", visit=1, seq=state.version + 1, at=moment.now)
            return replace(made, events=[late])
        return made

    assert "end-is-last" in found_with(monkeypatch, decide, faults={"duplicate": 0.9})


def test_a_state_that_the_log_does_not_give_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        state.ctx = {**state.ctx, "secretly": True}
        return made

    assert "folds" in found_with(monkeypatch, decide, faults={})


def test_a_decision_that_follows_from_nothing_is_found(monkeypatch):
    def decide(program, state, boundary, moment):
        return really(program, state, boundary, Moment(moment.now, lambda: 0.25))

    chance = RETRIED.replace("honor_retry_after", "jitter: true, honor_retry_after")
    monkeypatch.setattr(world, "decide", decide)
    assert broken(played(chance, FLAKY, faults={}, runs=3)) == set()  # the log has what was drawn

    def forgetful(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        for event in made.events:
            if isinstance(event, e.TaskRetryScheduled):
                event.draw = 0.9
        return made

    monkeypatch.setattr(world, "decide", forgetful)
    assert "replays" in broken(played(chance, FLAKY, faults={}, runs=3))


def test_a_bug_of_the_engine_is_a_finding_and_no_crash(monkeypatch):
    def decide(program, state, boundary, moment):
        if isinstance(boundary, Reported) and boundary.key.step == "tell":
            raise EngineBug("the tables forbid it")
        return really(program, state, boundary, moment)

    campaign = campaign_of(program_of(RETRIED), script_of({}), rates={})
    monkeypatch.setattr(world, "decide", decide)
    assert [one.invariant for one in campaign.play(1).broken] == [NO_BUG]


@pytest.mark.parametrize("name", INVARIANTS)
def test_every_invariant_says_what_it_means(name):
    assert MEANINGS[name]


COOLED = """
executor: {spec: {dependencies: {api: {cooldown: true}}}}
workflow:
  - step: fetch
    tool:
      - call:
          kind: http
          url: http://api/x
          spec:
            dependency: api
            policy: {rules: [{when: "{{ outcome.error }}", then: {do: retry, attempts: 2, delay: 1, honor_retry_after: true}}]}
"""
BUSY = {
    "outcomes": {
        "call": [
            {
                "error": {"kind": "rate_limit"},
                "http": {"status": 429, "headers": {"retry-after": "5"}},
                "times": 3,
            },
            {"result": 1},
        ]
    }
}


def test_attempts_that_end_in_a_wait_of_all_calls_cost_none_and_need_one_who_asked(monkeypatch):
    script = BUSY
    assert broken(played(COOLED, script, faults={}, runs=20)) == set()

    def decide(program, state, boundary, moment):
        made = really(program, state, boundary, moment)
        events = [
            replace(event, retry_after_seconds=None)
            if isinstance(event, e.TaskRetryScheduled)
            else event
            for event in made.events
        ]
        return replace(made, events=events)

    monkeypatch.setattr(world, "decide", decide)
    assert "attempts" in broken(played(COOLED, script, faults={}, runs=20))
