"""`sleep`: wait for a while or until a moment, as durably as a retry does."""

from __future__ import annotations

from collections.abc import Mapping

from anew.clock import Clock
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import Outcome, outcome_of
from anew.engine.waits import sleep_end
from anew.tool import Answer, Call, Parked
from anew.values import Value


class SleepTool:
    """The due time follows from the inputs and the logged start alone, so a restart keeps it.

    So does a sleep that someone ended: it is over since that moment, whoever calls when.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def call(self, call: Call) -> Answer:
        until = sleep_end(call.inputs, call.asked_at)
        if until is None:
            return _refused(call.inputs)
        if call.skipped_at is not None:
            until = min(until, call.skipped_at)
        elif self._clock.now() < until:
            return Parked(until, "sleep")
        return outcome_of({"slept": max(0.0, (until - call.asked_at) / NANOSECONDS)})

    async def close(self) -> None:
        """Nothing was opened."""


def _refused(inputs: Mapping[str, Value]) -> Outcome:
    seconds, until = inputs.get("seconds"), inputs.get("until")
    if seconds is not None:
        message = f"seconds must be a number, 500ms, 2s, 1m; found {seconds!r}"
    elif until is not None:
        message = f"until must be a moment such as 2030-01-31T12:00:00Z; found {until!r}"
    else:
        message = "sleep needs seconds or until, and both are null"
    return outcome_of(error={"kind": "config", "message": message})
