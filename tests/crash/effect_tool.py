"""A tool whose calls the world sees: each appends one line to a ledger before it answers.

Loaded like any third-party tool. The ledger is a file, so it outlives whoever is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call

LEDGER_VARIABLE = "CRASH_TEST_LEDGER"
HELD_SECONDS_MAX = 60.0


class EffectTool:
    """Inputs: `result`; `fails`, how many attempts of a task are in error before one is not.

    `held` names a file: the call answers once it exists. `is_deadly` kills the worker.
    """

    async def call(self, call: Call) -> Outcome:
        _note(call, "called")
        if call.inputs.get("is_deadly"):
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            await _until_free(call.inputs.get("held"))
        except asyncio.CancelledError:
            _note(call, "cancelled")
            raise
        if call.place.attempt <= int(call.inputs.get("fails") or 0):
            return outcome_of(error={"kind": "server_error", "message": "not yet"})
        return outcome_of(call.inputs.get("result"))

    async def close(self) -> None:
        """Nothing was opened."""


def _note(call: Call, what: str) -> None:
    place = call.place
    line: dict[str, Any] = {
        "what": what,
        "key": call.idempotency_key,
        "run": place.run,
        "step": place.step,
        "iteration": place.iteration,
        "task": place.task,
        "attempt": place.attempt,
        "at": time.time_ns(),
    }
    # One write of one line: what is appended by several processes at once does not mix.
    ledger = os.open(os.environ[LEDGER_VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(ledger, json.dumps(line).encode() + b"\n")
    os.close(ledger)


async def _until_free(held: object) -> None:
    if held is None:
        return
    async with asyncio.timeout(HELD_SECONDS_MAX):
        while not Path(str(held)).exists():
            await asyncio.sleep(0.01)
