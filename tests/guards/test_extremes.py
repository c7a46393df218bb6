"""Numbers that no clock reaches, from servers that may say anything."""

from __future__ import annotations

from typing import Any

from anew.engine import events as e
from anew.engine.moments import LAST_MOMENT
from tests.play import simulated

DOCUMENT = """
executor: {spec: {dependencies: {api: {cooldown: true}}}}
workflow:
  - step: each
    loop: {in: [1, 2], iterator: n}
    tool:
      - call:
          kind: http
          url: http://api/x
          spec:
            dependency: api
            policy: {rules: [{when: "{{ outcome.error }}", then: {do: fail}}]}
"""
BUSY = {
    "error": {"kind": "rate_limit"},
    "http": {"status": 429, "headers": {"retry-after": "99999999999999"}},
}


def test_a_retry_after_without_end_holds_until_the_last_moment_a_store_can_keep() -> None:
    """Another server may say anything; what it says must not break a run that comes later."""
    outcomes: dict[str, Any] = {"call": [{**BUSY, "times": 3}, {"result": 1}]}
    log = simulated(DOCUMENT, outcomes=outcomes).log
    held = [event.until for event in log if isinstance(event, e.TaskHeld)]
    assert held
    assert all(until is not None and until <= LAST_MOMENT for until in held)
