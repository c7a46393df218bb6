"""Logs for the views: simulated, cut where a test wants to look, or written by hand."""

from __future__ import annotations

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.moments import NANOSECONDS
from anew.views.progress import progress_of
from anew.views.verdict import verdict

SECOND = NANOSECONDS
START = 946_684_800 * NANOSECONDS

RETRY = """
workflow:
  - step: fetch
    tool:
      - page:
          kind: http
          url: "http://x"
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 4, backoff: fixed, delay: 2.0, honor_retry_after: true}
    next: [{step: store}]
  - step: store
    tool: {kind: noop}
"""
LOOP = """
workflow:
  - step: each
    loop: {in: "{{ range(%d)|list }}", iterator: n, spec: {mode: parallel, max_in_flight: 4}}
    tool:
      - one:
          kind: noop
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 2, delay: 5}
"""
DOWN = {"error": {"kind": "server_error", "message": "503"}, "http": {"status": 503}}
BUSY = {
    "error": {"kind": "rate_limit", "message": "slow down"},
    "http": {"status": 429, "headers": {"retry-after": "60"}},
}


def upto(simulation, kind: type[e.Fact], nth: int = 1) -> list[e.Event]:
    """The log up to and with the nth event of a kind."""
    found = [index for index, event in enumerate(simulation.log) if isinstance(event, kind)]
    return simulation.log[: found[nth - 1] + 1]


def told(simulation, log, *, after: float = 0.0, **more) -> list[str]:
    """The verdict's lines, so many seconds after the last event."""
    now = log[-1].at + round(after * SECOND)
    progress = progress_of(log, simulation.program)
    return verdict(progress, fold(log), now=now, **more).lines(now)
