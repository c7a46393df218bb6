"""Whatever is wrong with a log, replay says so, or it is one of the things it cannot know."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import json
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.events import Event
from anew.engine.outcome import Outcome
from anew.lab.replay import Derivation, Difference, replay, replayed
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.program.program import Program
from tests.engine.test_chaos import Chaos
from tests.test_conformance import CASES, source, suffix
from tests.views.graphs import ASK, RACE, RACED, drawn

# What comes from outside: a log with another one of these is another true log, unless something
# was decided by it.
FROM_OUTSIDE = {
    "run.requested": {"run", "workload", "file", "entry", "continues", "generation", "dialect"},
    "run.paused": {"reason", "shared_with", "decided_by", "later_by"},
    "run.cancelled": {"reason"},
    "step.redelivered": {"delivery"},
    "task.processed": {"outcome", "draws"},
    "task.started": {"draws"},
    "task.retry_scheduled": {"draw"},
    "task.retry_exhausted": {"draws"},
    "loop.started": {"draws"},
    "next.evaluated": {"draws"},
    "gate.checked": {"draws"},
    "human.answered": {"answer", "by"},
    "signal.received": {"signal", "payload", "id", "by"},
    "wait.skipped": {"by"},
}
SIGNALS = """
workflow:
  - step: both
    tool:
      - paid: {kind: wait, signal: paid}
      - late: {kind: wait, signal: late, timeout: 5, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
"""
WAITS = """
workflow:
  - step: s
    tool:
      - {name: nap, kind: sleep, seconds: 90}
      - {name: call, kind: noop, spec: {policy: {rules: [{else: {then: {do: retry, attempts: 9, delay: 90}}}]}}}
"""
LOST = """
workload: {items: [1, 2, 3]}
workflow:
  - step: start
    loop: {in: "{{ workload.items }}", iterator: item, spec: {mode: parallel}}
    tool: {kind: noop, x: "{{ rand() }}"}
    next: [{step: end, when: "{{ rand() < 2 }}"}]
  - step: end
    tool: {kind: noop}
"""


@cache
def logs() -> tuple[tuple[Program, tuple[Event, ...]], ...]:
    """Logs of both languages, with every kind of thing that can happen."""
    found = []
    for case in CASES[::23]:
        program = load_text(source(case), f"doc{suffix(case)}").program
        assert program is not None
        runs = simulate(program, script_of(case["script"])).runs
        found += [(program, tuple(log)) for log in runs if replay(program, log) is None]
    asked = drawn(ASK % "timeout=5 timeout_action=first", outcomes={"h": [{"answer": "n"}]})
    raced = drawn(RACE, outcomes=RACED)
    found += [(run.program, tuple(run.log)) for run in (asked, raced)]
    program = load_text(SIGNALS, "d.yaml").program
    assert program is not None
    script = {"outcomes": {"paid": {"signal": 1}}, "signals": [{"signal": "paid", "payload": 2}]}
    found.append((program, tuple(simulate(program, script_of(script)).log)))
    program = load_text(LOST, "d.yaml").program
    waits = load_text(WAITS, "d.yaml").program
    for seed in range(12):
        for chaos in (Chaos(program, script_of({}), seed), Chaos(waits, script_of({}), seed)):
            chaos.play()
            found.append((chaos.program, tuple(chaos.log)))
    return tuple(found)


def test_the_logs_have_what_can_be_damaged() -> None:
    names = {event.name for _, log in logs() for event in log}
    assert len(logs()) > 20
    assert names >= FROM_OUTSIDE.keys() - {"gate.checked"}


def is_alone(program: Program, log: Sequence[Event], event: Event) -> bool:
    """Whether an event is all that a decision wrote: its moment is told nowhere else."""
    turns = Derivation(program, log).turns()
    return any(turn.transition.events == [event] for turn in turns)


def other(value: Any, chance: random.Random) -> Any:
    """A value that is not this one; of its kind, or of none that fits."""
    wrong = [None, "x", -1, 10**15, True, 2.5, [], {}, ["x"], {"x": 1}]
    match value:
        case bool():
            near = [not value]
        case int() | float():
            near = [value + 1, value - 1, -value]
        case str():
            near = [f"{value}x", value[:-1]]
        case list():
            near = [value[1:], [*value, None], [*value, 1]]
        case dict():
            near = [{**value, "x": 1}, dict(list(value.items())[1:])]
        case Outcome():
            return replace(value, result={"other": 1})
        case _:
            near = []
    pool = near if near and chance.random() < 0.7 else wrong
    return chance.choice([one for one in pool if one != value or type(one) is not type(value)])


def stored(value: Any) -> bytes:
    return json.encode(value, enc_hook=str)


@settings(max_examples=300)
@example(seed=3291)
@given(seed=st.integers(0, 2**32))
def test_a_changed_field_is_found_or_comes_from_outside(seed: int) -> None:
    chance = random.Random(seed)
    program, log = chance.choice(logs())
    index = chance.randrange(len(log))
    event = log[index]
    field = chance.choice(event.__struct_fields__)
    value = getattr(event, field)
    changed = other(value, chance)
    if changed == value or stored(changed) == stored(value):  # 1 and True, [] and (): no other log
        return
    damaged = [*log[:index], replace(event, **{field: changed}), *log[index + 1 :]]
    if replay(program, damaged) is None:
        is_moment = field == "at" and is_alone(program, log, event)
        assert is_moment or field in FROM_OUTSIDE.get(event.name, ()), (event, field, changed)


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32))
def test_events_that_are_missing_double_or_in_another_order_are_found(seed: int) -> None:
    chance = random.Random(seed)
    program, log = chance.choice(logs())
    index = chance.randrange(len(log) - 1)
    match chance.choice(("drop", "double", "swap")):
        case "drop":
            damaged = [*log[:index], *log[index + 1 :]]
        case "double":
            damaged = [*log[: index + 1], log[index], *log[index + 1 :]]
        case _:
            damaged = [*log[:index], log[index + 1], log[index], *log[index + 2 :]]
    assert isinstance(replay(program, damaged), Difference)


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32))
def test_nothing_made_of_events_raises(seed: int) -> None:
    """Cut, mixed and numbered anew, with the program of another log."""
    chance = random.Random(seed)
    program, _ = chance.choice(logs())
    pool = [event for _, log in chance.sample(logs(), 3) for event in log]
    mixed = chance.sample(pool, min(len(pool), chance.randint(0, 40)))
    numbered = [replace(event, seq=number) for number, event in enumerate(mixed, 1)]
    for log in (mixed, numbered, pool):
        found = replayed(program, log)
        assert found.events <= len(log)


def test_a_log_that_ends_within_a_decision_is_found() -> None:
    program, log = logs()[0]
    assert replay(program, log[:1]) == Difference(2, None, log[1])


@pytest.mark.parametrize("kind", [e.RunStarted, e.TaskStarted, e.StepDone])
def test_the_difference_has_what_the_engine_derives(kind: type[Event]) -> None:
    program, log = logs()[0]
    index = next(n for n, event in enumerate(log) if type(event) is kind)
    damaged = [*log[:index], replace(log[index], task="other"), *log[index + 1 :]]
    found = replay(program, damaged)
    assert found is not None
    assert (found.recorded, found.derived) == (damaged[index], log[index])
