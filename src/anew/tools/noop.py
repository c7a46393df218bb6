"""`noop`: gives back what it is given. For joins, defaults and measurements."""

from __future__ import annotations

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call


class NoopTool:
    async def call(self, call: Call) -> Outcome:
        return outcome_of(call.inputs.get("result", {}))

    async def close(self) -> None:
        """Nothing was opened."""
