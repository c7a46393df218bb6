"""A tool that tells when it was called, and fails as often as it is asked to.

Workers load it like any tool that a package brings. The log says when an attempt was decided; what
somebody waits for is the call, which comes after the commit.
"""

from __future__ import annotations

import time

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call


class StampTool:
    """Input `fails`: how many attempts are in error before one is not."""

    async def call(self, call: Call) -> Outcome:
        called_at = time.time_ns()
        if call.place.attempt <= int(call.inputs.get("fails") or 0):
            return outcome_of(error={"kind": "connection", "message": "not yet", "retryable": True})
        return outcome_of({"called_at": called_at})

    async def close(self) -> None:
        """Nothing was opened."""
