"""Worlds that answer the n-th execution of a task alike whatever the policy, and runs in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from anew.engine import events as e
from anew.lab.script import Script, script_of
from anew.lab.simulate import Simulation, simulate
from anew.lab.whatif import PastRun
from anew.languages import load_text
from anew.program.program import Program

DOWN = {"error": {"kind": "server_error", "message": "503"}, "takes": 0.5}
BUSY = {"error": {"kind": "rate_limit", "message": "429", "retry_after": 7}, "takes": 0.25}
FINE = {"result": {"x": 1}, "takes": 1}
ON_ERROR = "outcome.status == 'error'"


def compiled(document: str, name: str = "new.yaml") -> Program:
    program = load_text(document, name).program
    assert program is not None, load_text(document, name).findings
    return program


def retrying(then: str, *first: str, arcs: str = "[]", command: str = "x") -> Program:
    """One step with one task that on errors does `then`, unless one of the `first` rules fits."""
    rules = ", ".join([*first, f'{{when: "{ON_ERROR}", then: {then}}}'])
    return compiled(f"""
metadata: {{name: flow}}
workflow:
- step: fetch
  tool:
  - page: {{kind: shell, command: "{command}", spec: {{policy: {{rules: [{rules}]}}}}}}
  next: {{arcs: {arcs}}}
- step: other
  tool: {{kind: shell, command: x}}
""")


def graph(attributes: str, more: str = "") -> Program:
    return compiled(
        "digraph flow { s [shape=ellipse] x [shape=ellipse] plan [shape=box]"
        f" work [shape=box {attributes}] s -> plan -> work -> x {more} }}",
        "new.dot",
    )


def failing(times: int, **tasks: list[dict[str, Any]]) -> Script:
    """`page` and `work` fail so often, then succeed for ever."""
    outcomes: list[dict[str, Any]] = [DOWN | {"times": times}] if times else []
    return script_of({"outcomes": {"page": [*outcomes, FINE], "work": [*outcomes, FINE], **tasks}})


def past(program: Program, scripts: Iterable[Script]) -> list[PastRun]:
    """What the program really made of these worlds, as runs 1, 2, …"""
    played = (simulate(program, script) for script in scripts)
    return [PastRun(str(n), program, one.log) for n, one in enumerate(played, 1)]


def chancy(seed: int, *, runs: int, after: dict[str, float], length: int) -> list[Script]:
    """Worlds in which an execution succeeds with a probability that depends on the error before."""
    chance = Random(seed)
    return [_chancy(chance, after, length) for _ in range(runs)]


def _chancy(chance: Random, after: dict[str, float], length: int) -> Script:
    said: list[dict[str, Any]] = []
    kind = ""
    for _ in range(length):
        if chance.random() < after[kind]:
            said.append(FINE)
        else:
            said.append(chance.choice((DOWN, BUSY)) if "rate_limit" in after else DOWN)
            kind = str(said[-1]["error"]["kind"])
    return script_of({"outcomes": {"page": said}})


def calls(log: Sequence[e.Event]) -> int:
    return sum(isinstance(event, e.TaskStarted) for event in log)


def status(played: Simulation) -> str:
    return played.status.value
