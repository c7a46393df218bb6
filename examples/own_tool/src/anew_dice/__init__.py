"""The `dice` tool: roll dice. An example of a tool that a package of its own brings.

Knows only `anew.tool` and `anew.engine.outcome`, which is all a tool needs.
"""

from __future__ import annotations

import random

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call

DICE_MAX = 1_000


class DiceTool:
    """Inputs: `dice` (1 unless given), `sides` (6), `least`, below which the roll is an error, and
    `seed`, with which the dice fall in the same way in every run.

    Result: `{rolls, total}`.
    """

    async def call(self, call: Call) -> Outcome:
        dice, sides = call.inputs.get("dice", 1), call.inputs.get("sides", 6)
        if not _is_count(dice) or not _is_count(sides):
            message = f"dice and sides must be whole numbers from 1 to {DICE_MAX}"
            return outcome_of(error={"kind": "config", "message": message})
        # Another attempt rolls anew; the same attempt, taken up after a crash, rolls the same.
        seed = call.inputs.get("seed", call.idempotency_key)
        chance = random.Random(f"{seed}:{call.place.attempt}")
        rolls = [chance.randint(1, sides) for _ in range(dice)]
        return _judged(rolls, call.inputs.get("least"))

    async def close(self) -> None:
        """Nothing was opened."""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= DICE_MAX


def _judged(rolls: list[int], least: object) -> Outcome:
    """The outcome of a roll. A failure of the world is an outcome and never raised."""
    result = {"rolls": rolls, "total": sum(rolls)}
    if not isinstance(least, (int, float)) or sum(rolls) >= least:
        return outcome_of(result)
    message = f"{sum(rolls)} is less than {least}"
    return outcome_of(result, error={"kind": "bad_luck", "message": message, "retryable": True})
