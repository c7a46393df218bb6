"""What is told of a run that cannot be read: where it breaks, why, and what can be done then."""

from __future__ import annotations

from anew.store import RunId, StoreError

# A fork shares no less: before that nothing has begun.
FORKED_EVENTS_MIN = 2


class DamagedRun(StoreError):
    """A run cannot be read, or amounts to nothing, from event `seq` on: `reason` says why.

    Without a `seq` it is the row of the run. Asking again does not help. What comes before can be
    read, and so can every other run.
    """

    def __init__(self, run: RunId, seq: int, reason: str) -> None:
        rest = ""
        if seq:
            rest = f"save what is left (`anew export {run} DIR`), "
        if seq > FORKED_EVENTS_MIN:
            rest += f"continue from before it (`anew fork {run} --at {seq - 1}`), "
        where = f" at event {seq}" if seq else ""
        super().__init__(
            f"run {run} is damaged{where}: {reason}. Restore the database from a backup, {rest}"
            f"or drop it (`anew prune {run}`)."
        )
        self.run = run
        self.seq = seq
        self.reason = reason
