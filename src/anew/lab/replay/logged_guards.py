"""What the guards decided, as a log has it: it is derived again from that, not from their state.

Guards are shared by all runs, so that the log of one cannot tell their state; what they answered is
in its events, and everything else must follow from those answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from anew.engine import events as e
from anew.engine.events.words import RetryLimit
from anew.guards.changing import CallEnd
from anew.guards.keeper import CallRequest, CallStart, Held, RetryCost
from anew.guards.state import CallId
from anew.program.guards import Governing, GuardRule, governing


class LoggedGuards:
    """The answers of a log from one position on, in the order they were given."""

    def __init__(self, rules: Sequence[GuardRule], log: Sequence[e.Event], position: int) -> None:
        self._rules = rules
        self._calls = self._from(log, position, (e.TaskHeld, e.TaskStarted))
        self._retries = self._from(log, position, (e.TaskRetryScheduled, e.TaskRetryExhausted))
        self._cools = self._from(log, position, (e.TaskRetryScheduled, e.TaskRetryExhausted))

    def governing(self, dependency: str) -> Governing:
        return governing([self._rules], dependency)

    def ask(self, asked: CallRequest, now: int) -> CallStart | Held | None:
        del now
        call = asked.call
        for event in self._calls:
            if (event.step, event.visit, event.iteration) != (
                call.step,
                call.visit,
                call.iteration,
            ):
                continue
            if isinstance(event, e.TaskHeld):
                behind, look_at = event.behind, event.at
                return Held(event.scope, event.guard, event.reason, event.until, behind, look_at)
            if isinstance(event, e.TaskStarted) and event.dependency is not None:
                return CallStart(event.scopes, event.paid or 0.0)
            return None
        return None

    def ended(
        self, dependency: str, scopes: Iterable[str], call: CallId, what: CallEnd, now: int
    ) -> None:
        """It changes a state that nobody has here."""

    def left(self, dependency: str, scopes: Iterable[str], call: CallId, now: int) -> None:
        """It changes a state that nobody has here."""

    def retry_cost(self, dependency: str, *, is_throttled: bool, now: int) -> RetryCost:
        del dependency, is_throttled, now
        event = next(self._retries, None)
        if isinstance(event, e.TaskRetryScheduled):
            return RetryCost(event.took or 0.0, event.owes or 0.0)
        is_empty = isinstance(event, e.TaskRetryExhausted) and event.reason is RetryLimit.BUDGET
        return RetryCost(is_empty=is_empty)

    def cools(self, dependency: str) -> bool:
        del dependency
        event = next(self._cools, None)
        return isinstance(event, e.TaskRetryScheduled) and event.cools

    @staticmethod
    def _from(
        log: Sequence[e.Event], position: int, kinds: tuple[type[e.Event], ...]
    ) -> Iterator[e.Event]:
        return (log[index] for index in range(position, len(log)) if type(log[index]) in kinds)


def is_guarded(log: Sequence[e.Event]) -> bool:
    """Whether a guard has known any call of it."""
    return any(_knows_guard(event) for event in log)


def _knows_guard(event: e.Event) -> bool:
    if isinstance(event, e.TaskStarted):
        return event.dependency is not None
    return isinstance(event, e.TaskHeld)
