"""The playbooks of the curves. Their tools do nothing, so that only the engine costs."""

from __future__ import annotations

from anew.values import Object
from bench.durable.documents import LOOP, chain

__all__ = ["LOOP", "MANNERS", "SEQUENTIAL", "WRITING", "carrying", "chain", "circle", "records"]

SEQUENTIAL = LOOP.replace("mode: parallel", "mode: sequential")
# One step that is visited again and again, until it leads on to the others of the program.
CIRCLE = """
workflow:
- step: s0
  tool:
    kind: noop
    spec:
      policy:
        rules: [{else: {then: {do: continue, set_ctx: {n: "{{ (ctx.n | default(0)) + 1 }}"}}}}]
  next:
    spec: {mode: exclusive}
    arcs:
    - {step: s0, when: "{{ ctx.n < workload.rounds }}"}
    - {step: s1}
"""
FILLED = """
workflow:
- step: filled
  tool:
    kind: noop
    spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {big: "{{ workload.big }}"}}}}]}}
  next: s0
"""
# What the steps of `carrying` do with the large value that lies in `ctx`.
MANNERS = {
    "carried": "{kind: noop}",
    "read": "{kind: noop, args: {rows: '{{ ctx.big | length }}'}}",
    "passed": "{kind: noop, args: {rows: '{{ ctx.big }}'}}",
    "changed": "{kind: noop, spec: {policy: {rules: [{else: "
    "{then: {do: continue, set_ctx: {small: '{{ ctx.big | length }}'}}}}]}}}",
    "rewritten": "{kind: noop, spec: {policy: {rules: [{else: "
    "{then: {do: continue, set_ctx: {big: '{{ ctx.big }}'}}}}]}}}",
}
# Those with which each step writes the whole of it into the log.
WRITING = frozenset({"passed", "rewritten"})


def circle(steps: int) -> str:
    """A program of so many steps, the first of which is visited `workload.rounds` times."""
    return CIRCLE + _chained(1, max(steps, 2), "{kind: noop}")


def carrying(manner: str, steps: int) -> str:
    """Puts `workload.big` into `ctx`; then so many steps, which do with it what MANNERS says."""
    return FILLED + _chained(0, steps, MANNERS[manner])


def records(size: int) -> list[Object]:
    """Rows as a query gives them, about `size` bytes of JSON."""
    rows = size // len('{"id":100000,"name":"row 100000","amount":100000.5},')
    return [
        {"id": 100_000 + n, "name": f"row {100_000 + n}", "amount": 100_000.5 + n}
        for n in range(max(rows, 1))
    ]


def _chained(first: int, end: int, tool: str) -> str:
    lines = [f"- {{step: s{n}, tool: {tool}, next: s{n + 1}}}" for n in range(first, end - 1)]
    return "\n".join([*lines, f"- {{step: s{end - 1}, tool: {tool}}}", ""])
