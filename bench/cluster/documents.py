"""The playbooks that only a cluster is asked for; the others are those of `bench/durable`."""

from __future__ import annotations

STAMP = """
workflow:
- step: call
  tool: {kind: stamp}
"""
RETRIED = """
workflow:
- step: call
  tool:
    kind: stamp
    fails: 1
    spec:
      policy:
        rules:
        - when: "{{ outcome.status == 'error' }}"
          then: {do: retry, attempts: 2, backoff: fixed, delay: SECONDS}
"""


def stamped_retry(delay_seconds: float) -> str:
    """One call that fails, one that does not."""
    return RETRIED.replace("SECONDS", f"{delay_seconds:g}")
