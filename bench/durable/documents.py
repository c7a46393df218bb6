"""The playbooks of the durable workloads. Nothing in them works, so that only the engine costs."""

from __future__ import annotations

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


def flaky(delay_seconds: float) -> str:
    return FLAKY.replace("SECONDS", f"{delay_seconds:g}")
