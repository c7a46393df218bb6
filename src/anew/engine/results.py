"""What a visit left when it ended, and how it is undone; both live on in the state of a run."""

from __future__ import annotations

from msgspec import Struct

from anew.values import Object, Value


class StepResult(Struct, frozen=True, gc=False):
    """What `<step>` reads: its result, and those of its tasks by label, of its latest visit."""

    visit: int
    result: Value
    labels: Object


class Compensable(Struct, frozen=True, gc=False):
    """What ended well and can be undone: a visit, or one iteration of it, and what it left.

    `seq` is that of the event that ended it; `names` are the loop's own, in an iteration.
    """

    seq: int
    step: str
    args: Object
    scratch: Object
    result: StepResult
    names: Object


class Compensation(Struct, gc=False):
    """A run that undoes what it did, and how it will end; `done` and `failed` count."""

    is_cancelled: bool
    reason: str | None
    error: Object | None
    unsatisfied: list[str]
    done: int = 0
    failed: int = 0
