"""What one task transition costs inside the engine, with nothing durable around it.

A transition is one outcome judged and the next task started. CPU time of this process, medians.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections import deque
from collections.abc import Iterator

from anew.engine.boundaries import Reported, Requested, Taken
from anew.engine.decide import decide
from anew.engine.next_actions import Invoke
from anew.engine.outcome import outcome_of
from anew.engine.record import Moment
from anew.engine.state import RunState
from anew.languages import load_text
from anew.program.program import Program
from anew.values import Object
from bench.figures import Row, row

ROUNDS = 5
LOOP_ITEMS = 50_000
WINDOW = 5_000
TRANSITIONS_PER_SECOND_TARGET = 20_000
GROWTH_TARGET = 1.3

_PIPELINE = """
workflow:
- step: work
  tool:
  - fetch:
      kind: noop
      spec:
        policy:
          rules:
          - when: "{{ outcome.status == 'error' and outcome.http.status in [429, 503] }}"
            then: {do: retry, attempts: 3, backoff: exponential, delay: 0}
          - when: "{{ outcome.status == 'error' }}"
            then: {do: fail}
          - else: {then: {do: continue, set_ctx: {n: "{{ (ctx.n | default(0)) + 1 }}"}}}
  - again:
      kind: noop
      spec: {policy: {rules: [{when: "{{ ctx.n < 5000 }}", then: {do: jump, to: fetch}}]}}
"""
_STEPS = "workflow:\n" + "".join(
    f"- {{step: s{n}, tool: {{kind: noop}}, next: s{n + 1}}}\n" for n in range(999)
)
_LOOP = """
workflow:
- step: work
  loop: {in: "{{ workload.items }}", iterator: item, spec: {mode: MODE}}
  tool: {kind: noop, args: {x: "{{ iter.item }}"}}
"""


def measure() -> list[Row]:
    """Rows for `make bench`."""
    rows = [
        _rate("engine: pipeline with rules", _program(_PIPELINE), {}),
        _rate("engine: 1,000 steps of one task", _program(_STEPS + "- {step: s999}\n"), {}),
    ]
    return [*rows, *(_growth(mode) for mode in ("sequential", "parallel"))]


def _program(text: str) -> Program:
    program = load_text(text, "bench.yaml").program
    assert program is not None
    return program


def _rate(name: str, program: Program, workload: Object) -> Row:
    rates = []
    for _ in range(ROUNDS):
        gc.collect()
        before = time.process_time()
        transitions = sum(1 for _ in _outcomes(program, workload))
        rates.append(transitions / (time.process_time() - before))
    is_met = statistics.median(rates) >= TRANSITIONS_PER_SECOND_TARGET
    target = f"≥ {TRANSITIONS_PER_SECOND_TARGET:,} transitions/s"
    return row(name, rates, "transitions/s", target=target, met=is_met)


def _growth(mode: str) -> Row:
    """The cost of the last transitions of a long loop beside that of the first ones."""
    program = _program(_LOOP.replace("MODE", mode))
    workload = {"items": list(range(LOOP_ITEMS))}
    ratios = []
    for _ in range(ROUNDS):
        gc.collect()
        marks = [time.process_time() for _ in _outcomes(program, workload)]
        first = marks[100 + WINDOW] - marks[100]
        last = marks[-1] - marks[-1 - WINDOW]
        ratios.append(last / first)
    name = f"engine: {mode} loop, iteration {LOOP_ITEMS:,} against 100"
    is_met = statistics.median(ratios) <= GROWTH_TARGET
    return row(name, ratios, "times", target=f"≤ {GROWTH_TARGET:g} times", met=is_met)


def _outcomes(program: Program, workload: Object) -> Iterator[None]:
    """Play a run in which everything succeeds at once; yields after each outcome."""
    state, moment, ok = RunState(), Moment(0, _half), outcome_of({})
    todo = deque(decide(program, state, Requested("1", workload), moment).jobs)
    while todo:
        key = todo.popleft()
        transition = decide(program, state, Taken(key), moment)
        todo.extend(transition.jobs)
        while isinstance(transition.ask, Invoke):
            report = Reported(key, ok, transition.ask.started)
            transition = decide(program, state, report, moment)
            todo.extend(transition.jobs)
            yield


def _half() -> float:
    return 0.5
