"""Every decision of a log can be derived again, of graphs, of secrets and of shared beginnings."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace as changed

from anew.engine import events as e
from anew.engine.boundaries import Paused, Reported, Requested, Resumed, Taken
from anew.engine.decide import decide
from anew.engine.fold import fold
from anew.engine.next_actions import Invoke
from anew.engine.outcome import outcome_of
from anew.engine.record import Moment
from anew.engine.state import RunState, StepRunKey
from anew.lab.replay import replay, replayed
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.program.program import Program
from tests.credentials.rings import keychain_of, program_of
from tests.test_conformance import CASES
from tests.views.graphs import ASK, RACE, RACED, RESTARTS, drawn

GRAPHS = [case for case in CASES if "dot" in case]


@pytest.mark.parametrize("case", GRAPHS, ids=lambda case: case["id"])
def test_the_log_of_a_graph_is_derived_again(case) -> None:
    run = drawn(case["dot"], **case["script"])
    assert [replay(run.program, log) for log in run.runs] == [None]


def test_each_run_of_a_line_is_derived_by_itself() -> None:
    failing = {"status": "fail", "error": {"type": "TERMINAL"}}
    run = drawn(RESTARTS, outcomes={"b": [failing, failing, {"status": "success"}]})
    assert [replay(run.program, log) for log in run.runs] == [None, None, None]


@pytest.mark.parametrize(
    ("graph", "outcomes", "kind", "wrong"),
    [
        (ASK % "", {"h": [{"answer": "n"}]}, e.HumanAnswered, {"label": "[Y] Yes"}),
        (ASK % "timeout=5 timeout_action=first", {}, e.HumanTimedOut, {"label": "[N] No"}),
        (RACE, RACED, e.BranchJoined, {"cancelled": []}),
        (RACE, RACED, e.BranchForked, {"join": "x"}),
    ],
)
def test_a_log_that_was_tampered_with_is_found_out(graph, outcomes, kind, wrong) -> None:
    run = drawn(graph, outcomes=outcomes)
    log = [changed(event, **wrong) if type(event) is kind else event for event in run.log]
    found = replay(run.program, log)
    assert found is not None
    assert type(found.derived) is kind


PRIVATE = """
keychain: [{name: api}]
workflow:
  - step: use
    tool:
      - show:
          kind: noop
          header: "Bearer {{ keychain.api.token }}"
          spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {again: "{{ keychain.api.token }}"}}}}]}}
      - pass_on: {kind: noop, x: "{{ ctx.again }}"}
    next:
      arcs: [{step: long, when: "{{ %s }}"}, {step: short}]
  - step: long
    tool: {kind: noop}
  - step: short
    tool: {kind: noop}
"""
SECRET = "open-sesame-0123456789-0123456789-0123456789"


def private_log(when: str) -> tuple[Program, list[e.Event]]:
    """A run that was given a credential, as the engine writes it down."""
    program = program_of(PRIVATE % when)
    secrets = asyncio.run(keychain_of({"api": {"token": SECRET}}).secrets_for(program))
    state, log, todo, at = RunState(), [], [Requested("1", {})], 0
    while todo:
        at += 1
        transition = decide(program, state, todo.pop(0), Moment(at, lambda: 0.5, secrets))
        log += transition.events
        todo += [Taken(key) for key in transition.jobs]
        if isinstance(transition.ask, Invoke):
            ask = transition.ask
            todo.append(Reported(ask.key, outcome_of({}), ask.started))
    return program, log


def test_what_only_passes_a_secret_on_is_derived_without_it() -> None:
    program, log = private_log("(keychain.api.token | length) > 10")
    assert SECRET not in str(log)
    assert "api.token" in str(log)
    found = replayed(program, log)
    assert (found.difference, found.trusted, found.events) == (None, 0, len(log))


@pytest.mark.parametrize(
    "when",
    [
        "(keychain.api.token | length) > 40",
        "(ctx.again | length) > 40",
        f"keychain.api.token == '{SECRET}'",
        "'sesame' in keychain.api.token",
    ],
)
def test_what_is_decided_by_a_secret_is_taken_as_the_log_has_it(when: str) -> None:
    program, log = private_log(when)
    found = replayed(program, log)
    assert (found.difference, found.trusted) == (None, 1)
    assert found.events < len(log)
    assert log[-1].name == "run.done"


def test_a_difference_beside_a_secret_is_still_found() -> None:
    program, log = private_log("(keychain.api.token | length) > 40")
    index = next(n for n, event in enumerate(log) if event.step == "long" and event.task)
    log[index] = changed(log[index], task_visit=7)
    found = replay(program, log)
    assert found is not None
    assert found.seq == index + 1


def test_a_difference_in_a_decision_that_only_passes_a_secret_on_is_found() -> None:
    program, log = private_log("true")
    for kind, wrong in ((e.TaskStarted, {"task_visit": 7}), (e.TaskProcessed, {"rule": 5})):
        index = next(n for n, event in enumerate(log) if type(event) is kind)
        damaged = [*log[:index], changed(log[index], **wrong), *log[index + 1 :]]
        found = replay(program, damaged)
        assert found is not None
        assert found.seq == index + 1


def test_the_events_a_run_shares_are_derived_under_the_id_they_were_decided_with() -> None:
    document = "workflow: [{step: a, tool: {kind: noop, x: '{{ run_id }}'}, next: [{step: b}]}, {step: b, tool: {kind: noop, x: '{{ run_id }}'}}]"
    program = program_of(document)
    log = simulate(program, script_of({})).log
    cut = next(n for n, event in enumerate(log) if event.step == "b")
    state = fold(log[:cut])
    state.run = "2"
    shared = [changed(log[0], run="2"), *log[1:cut]]
    for boundary in (Paused("again", "1"), Resumed(), Taken(StepRunKey("b", 1))):
        shared += decide(program, state, boundary, Moment(log[-1].at, lambda: 0.5)).events
    inputs = [event.inputs for event in shared if isinstance(event, e.TaskStarted)]
    assert inputs == [{"x": "1"}, {"x": "2"}]
    assert replay(program, shared) is None


def test_events_that_another_program_decided_are_not_derived() -> None:
    program = program_of(
        "workflow: [{step: a, tool: {kind: noop}, next: [{step: b}]}, {step: b, tool: {kind: noop}}]"
    )
    edited = program_of(
        "workflow: [{step: a, tool: {kind: noop, x: 1}, next: [{step: b}]}, {step: b, tool: {kind: noop}}]"
    )
    log = simulate(program, script_of({})).log
    cut = next(n for n, event in enumerate(log) if event.step == "b")
    state, shared = fold(log[:cut]), [changed(log[0], digest=edited.digest), *log[1:cut]]
    for boundary in (Paused("again", "1", program.digest), Resumed(), Taken(StepRunKey("b", 1))):
        shared += decide(edited, state, boundary, Moment(log[-1].at, lambda: 0.5)).events
    found = replayed(edited, shared)
    assert (found.difference, found.shared) == (None, cut)
