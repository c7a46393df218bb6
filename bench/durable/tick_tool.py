"""A tool that notes in a file that it was called and takes a while, for runs that are killed.

`anew run` loads it like any tool that a package brings; it works in the process, as the peers'
functions do, and writes the same notes (bench/peers/killing.py).
"""

from __future__ import annotations

import asyncio
import time

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call
from bench.peers.killing import STEP_SECONDS


class TickTool:
    """Inputs: `file`, and the `number` that is noted in it with the time."""

    async def call(self, call: Call) -> Outcome:
        with open(str(call.inputs["file"]), "a", encoding="utf-8") as file:
            file.write(f"{call.inputs['number']} {time.time()}\n")
        await asyncio.sleep(STEP_SECONDS)
        return outcome_of({})

    async def close(self) -> None:
        """Nothing is left open."""
