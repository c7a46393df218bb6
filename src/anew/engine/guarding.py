"""What the engine asks the guards of a dependency, and what it tells them of a call that ended.

What guards decide is `anew.guards`; the words a log has for it are events. Knows no state of any
guard.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.outcome import Outcome, retry_after_seconds
from anew.guards.changing import CallEnd
from anew.guards.keeper import CallRequest, CallStart, Held, RetryCost
from anew.guards.state import CallId
from anew.program.guards import Governing

if TYPE_CHECKING:
    from anew.engine.state import RunState, StepRun, StepRunKey

# Those whose Retry-After is meant for everyone.
_COOLING = ("rate_limit", "server_error")


class CallGuards(Protocol):
    """What decides about calls: `anew.guards.keeper.Guards`, or what a log says they decided."""

    def governing(self, dependency: str) -> Governing: ...

    def ask(self, asked: CallRequest, now: int) -> CallStart | Held | None: ...

    def ended(
        self, dependency: str, scopes: Iterable[str], call: CallId, what: CallEnd, now: int
    ) -> None: ...

    def left(self, dependency: str, scopes: Iterable[str], call: CallId, now: int) -> None: ...

    def retry_cost(self, dependency: str, *, is_throttled: bool, now: int) -> RetryCost: ...

    def cools(self, dependency: str) -> bool: ...


class CallEnded(Struct, frozen=True):
    """The dependency of a call that has just ended under guards, and whether all calls now wait."""

    dependency: str
    is_throttled: bool
    cools: bool


def call_id(state: RunState, key: StepRunKey) -> CallId:
    return CallId(state.run, key.step, key.visit, key.iteration)


def tell_end(
    guards: CallGuards, state: RunState, run: StepRun, outcome: Outcome, now: int
) -> CallEnded | None:
    """Tell the guards what a call came to; None for one that is under none."""
    if not run.scopes or run.dependency is None:
        return None
    kind = outcome.error["kind"] if outcome.error else None
    wait = retry_after_seconds(outcome.error, outcome.helpers, now) if kind in _COOLING else None
    ended = CallEnd(
        is_ok=not outcome.is_error,
        is_retryable=bool(outcome.error and outcome.error.get("retryable")),
        began_at=run.started_at,
        is_first=run.attempt == 1,
        took=run.took,
        cools_until=None if wait is None else _after(now, wait),
    )
    guards.ended(run.dependency, run.scopes, call_id(state, run.key), ended, now)
    cools = wait is not None and guards.cools(run.dependency)
    return CallEnded(run.dependency, kind == "rate_limit", cools)


def _after(now: int, seconds: float) -> int:
    """As far as a store can keep a moment: the other side may say anything."""
    return now + min(round(min(seconds, LAST_MOMENT) * NANOSECONDS), LAST_MOMENT - now)
