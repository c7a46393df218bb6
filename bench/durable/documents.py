"""The playbooks of the durable workloads. Nothing in them works, so that only the engine costs."""

from __future__ import annotations

RUN_STEPS = 5
# Two failures and a success: the tool of bench/durable/ours.py decides which call is which.
FLAKY = """
workflow:
- step: call
  tool:
    kind: noop
    spec:
      policy:
        rules:
        - when: "{{ outcome.status == 'error' }}"
          then: {do: retry, attempts: 3, backoff: fixed, delay: SECONDS}
"""
LOOP = """
workflow:
- step: work
  loop: {in: "{{ workload.items }}", iterator: item, spec: {mode: parallel}}
  tool: {kind: noop, args: {x: "{{ iter.item }}"}}
"""


def chain(steps: int) -> str:
    """Steps that do nothing, one after the other."""
    lines = [f"- {{step: s{n}, tool: {{kind: noop}}, next: s{n + 1}}}" for n in range(steps - 1)]
    return "\n".join(["workflow:", *lines, f"- {{step: s{steps - 1}, tool: {{kind: noop}}}}", ""])


def code_chain(steps: int) -> str:
    """Python tasks that compute next to nothing, one after the other."""
    tool = "tool: {kind: python, args: {n: 1}, code: 'return n + 1'}"
    lines = [f"- {{step: s{n}, {tool}, next: s{n + 1}}}" for n in range(steps - 1)]
    return "\n".join(["workflow:", *lines, f"- {{step: s{steps - 1}, {tool}}}", ""])


def graph(nodes: int) -> str:
    """A DOT chain of nodes that an agent answers; no backend is named, so it is `simulate`."""
    names = [f"n{number}" for number in range(nodes)]
    boxes = "\n".join(f'{name} [label="{name}", prompt="Do part {name}"]' for name in names)
    ends = "start [shape=Mdiamond]\nexit [shape=Msquare]"
    return f'digraph bench {{\ngoal="measure"\n{ends}\n{boxes}\n{_arrows(names)}\n}}\n'


def _arrows(names: list[str]) -> str:
    return " -> ".join(["start", *names, "exit"])


def ticking(steps: int, file: str) -> str:
    """Steps that each note their number in a file."""
    tool = "tool: {kind: tick, file: FILE, number: N}".replace("FILE", f"'{file}'")
    lines = [
        f"- {{step: s{n}, {tool.replace('N', str(n))}, next: s{n + 1}}}" for n in range(steps - 1)
    ]
    last = f"- {{step: s{steps - 1}, {tool.replace('N', str(steps - 1))}}}"
    return "\n".join(["workflow:", *lines, last, ""])


def flaky(delay_seconds: float) -> str:
    return FLAKY.replace("SECONDS", f"{delay_seconds:g}")
