"""What a process is to its database: who else works on it, and on which runs this one does.

One description for everything that behaves differently alone and among others. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.store import ANY_POOL, WorkerKind


class ProcessRole(Struct, frozen=True):
    """A command, a server or a worker.

    `lease_seconds` is how long a job is kept without a sign of life: None where one process is
    alone with the database, and nobody else moves its runs on. `works_on_all`: every unfinished run
    is this process's, not only those it is told of. Of `pools` only, where they are given.
    """

    kind: WorkerKind = "command"
    lease_seconds: float | None = None
    works_on_all: bool = False
    pools: Sequence[str] | None = None

    @property
    def is_shared(self) -> bool:
        """Whether others work on the database, too."""
        return self.lease_seconds is not None

    @property
    def is_lasting(self) -> bool:
        """Whether a store that fails is waited for, and not reported to whoever waits for a run."""
        return self.is_shared and self.works_on_all

    def takes(self, pool: str) -> bool:
        """Whether jobs of this pool are for this process."""
        return self.pools is None or pool == ANY_POOL or pool in self.pools

    def lease_end(self, now: int) -> int:
        """Until when a job that is taken now is kept."""
        if self.lease_seconds is None:
            return LAST_MOMENT
        return now + int(self.lease_seconds * NANOSECONDS)


ALONE = ProcessRole()
