"""`sleep`: wait for a while or until a moment, as durably as a retry does."""

from __future__ import annotations

from datetime import UTC, datetime

from anew.clock import Clock
from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.outcome import Outcome, outcome_of, wait_seconds
from anew.tool import Answer, Call, Parked
from anew.values import Value


class SleepTool:
    """The due time follows from the inputs and the logged start alone, so a restart keeps it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def call(self, call: Call) -> Answer:
        until = _until(call)
        if isinstance(until, Outcome):
            return until
        if self._clock.now() < until:
            return Parked(until, "sleep")
        return outcome_of({"slept": max(0.0, (until - call.asked_at) / NANOSECONDS)})

    async def close(self) -> None:
        """Nothing was opened."""


def _until(call: Call) -> int | Outcome:
    seconds, until = call.inputs.get("seconds"), call.inputs.get("until")
    if seconds is not None:
        wait = wait_seconds(seconds, call.asked_at)
        if wait is not None and wait >= 0:
            return min(call.asked_at + int(wait * NANOSECONDS), LAST_MOMENT)
        return _refused("seconds", seconds, "a number, 500ms, 2s, 1m")
    if until is None:
        message = "sleep needs seconds or until, and both are null"
        return outcome_of(error={"kind": "config", "message": message})
    moment = _moment(until)
    if moment is None:
        return _refused("until", until, "a moment such as 2030-01-31T12:00:00Z")
    return moment


def _moment(value: Value) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    aware = found if found.tzinfo else found.replace(tzinfo=UTC)
    return min(int(aware.timestamp() * 1_000_000) * 1000, LAST_MOMENT)


def _refused(name: str, found: Value, wanted: str) -> Outcome:
    message = f"{name} must be {wanted}; found {found!r}"
    return outcome_of(error={"kind": "config", "message": message})
