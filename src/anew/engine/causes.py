"""Which failure a run failed from, where the step that failed it only dealt with another's.

A loop fails, an arc handles that with a step which raises the alarm and fails the run: what has to
be fixed is in the loop. Follows failures along tokens; the log does not hold what is found here.
Knows errors and steps. Does not know programs, nor how a failure is handled.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from anew.values import Object

# An error that a rule makes of an ok outcome: its author wants the run to fail.
_ON_PURPOSE = "failed"


class Cause(Struct, frozen=True, gc=False):
    """A failure that an arc handled; of a loop, that of its first failed `iteration`.

    `is_direct`: nothing has ended well between it and what carries it.
    """

    step: str
    iteration: int | None
    error: Object
    is_direct: bool = True

    def row(self) -> Object:
        """As the JSON of a run has it."""
        return {"step": self.step, "iteration": self.iteration, "error": self.error}


def cause_behind(before: Cause | None, step: str, error: Object) -> Cause | None:
    """The failure that a step dealt with when it failed itself; None where the failure is its own.

    After a step that ended well only a failure on purpose is about the one before.
    """
    if before is None or before.step == step:
        return None
    is_messenger = before.is_direct or error.get("kind") == _ON_PURPOSE
    return before if is_messenger else None


def handled_cause(
    before: Cause | None, step: str, error: Object, iteration: int | None = None
) -> Cause:
    """What the step that handles a failure carries on."""
    first = cause_behind(before, step, error)
    return Cause(step, iteration, error) if first is None else replace(first, is_direct=True)


def after_success(before: Cause | None, *, is_relay: bool) -> Cause | None:
    """What a step that ended well carries on; one that does nothing itself changes nothing."""
    return before if before is None or is_relay else replace(before, is_direct=False)
