"""A log that was exported as rows, its moments cut to microseconds, is still derived again."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.events import EVENTS, to_row
from anew.errors import ConfigError
from anew.lab.replay import replayed
from anew.lab.replay.log_file import event_of, read_rows
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text

JITTERED = """
workflow:
  - step: s
    tool:
      - get:
          kind: noop
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 5, delay: 0.1, backoff: exponential, jitter: true, set_ctx: {ms: "{{ outcome.meta.duration_ms }}", at: "{{ now() }}"}}}]}}
"""
DOWN = {"error": "down", "times": 3, "takes": 0.0123456789}


def rows_of(seed: int) -> tuple[object, list[e.Event], list[e.Event]]:
    program = load_text(JITTERED, "flow.yaml").program
    assert program is not None
    script = {"outcomes": {"get": [DOWN, {"result": 1}]}, "random": {"seed": seed}}
    log = simulate(program, script_of(script)).log
    lines = [json.dumps(to_row(event)) for event in log]
    return program, log, read_rows([*lines, ""], "log.jsonl")


@pytest.mark.parametrize("seed", range(12))
def test_waits_that_end_between_two_microseconds_are_derived_again(seed: int) -> None:
    program, log, read = rows_of(seed)
    assert read != log  # something was cut
    found = replayed(program, read, is_rounded=True)
    assert (found.difference, found.events) == (None, len(log))


def test_more_than_what_was_cut_is_a_difference() -> None:
    program, _, read = rows_of(0)
    index = next(n for n, event in enumerate(read) if isinstance(event, e.TaskRetryScheduled))
    read[index] = replace(read[index], not_before=read[index].not_before + 3_000)
    found = replayed(program, read, is_rounded=True)
    assert found.difference is not None
    assert found.difference.seq == index + 1


@pytest.mark.parametrize(
    "row",
    [
        *("", "[]", "{}", '{"name": "run.done", "data": {}}'),
        '{"seq": 1, "at": "2000-01-01T00:00:00Z", "name": "run.gone", "data": {}}',
        '{"seq": 1, "at": "today", "name": "run.done", "data": {}}',
        '{"seq": "x", "at": "2000-01-01T00:00:00Z", "name": "run.done", "data": {}}',
        '{"seq": 1, "at": "2000-01-01T00:00:00", "name": "run.done", "data": {}}',
    ],
)
def test_what_is_no_row_is_named_with_its_line(row: str) -> None:
    with pytest.raises(ConfigError, match=r"log\.jsonl(:2: this is not an event| holds no event)"):
        read_rows(["", row], "log.jsonl")


def test_every_event_is_read_as_it_was_told() -> None:
    for kind in EVENTS.values():
        required = {"run": "1", "program": "p", "digest": "d", "workload": {}, "entry": "s"}
        fields = {key: value for key, value in required.items() if key in kind.__struct_fields__}
        try:
            event = kind(seq=3, at=5_000, step="s", visit=1, **fields)
        except TypeError:  # has more that is required
            continue
        assert event_of(json.loads(json.dumps(to_row(event)))) == event
