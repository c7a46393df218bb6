"""The words for a worker that has not reported for a while and holds jobs of a run.

Decides nothing: its leases run out by themselves, and then others take over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from anew.engine.moments import NANOSECONDS, moment_text
from anew.values import Object
from anew.views.routing_words import listed
from anew.views.wording import duration

STEPS_NAMED = 3


class LostWorker(Struct, frozen=True):
    """`worker` is None where nobody knows whose lease ran out.

    `seen_at`: when it last said that it is there. `handed_out_at`: nothing it has is handed out
    before; how much later that is depends on when another looks.
    """

    worker: str | None
    host: str | None
    process: int | None
    seen_at: int | None
    steps: Sequence[str]
    handed_out_at: int

    def sentence(self, now: int, clock: Callable[[int], str] | None = None) -> str:
        """Who is gone, and when others get its work; `clock` writes moments."""
        what = listed(list(self.steps[:STEPS_NAMED]))
        if len(self.steps) > STEPS_NAMED:
            what = f"{what} and {len(self.steps) - STEPS_NAMED} more"
        return f"{self._who(now, clock)}; {what} is queued again {self._when(now, clock)}."

    def _who(self, now: int, clock: Callable[[int], str] | None) -> str:
        if self.worker is None or self.seen_at is None:
            return "A worker has not reported before its lease ran out"
        silence = f"for {duration((now - self.seen_at) / NANOSECONDS)}"
        since = f" (since {clock(self.seen_at)})" if clock is not None else ""
        named = f"Worker {self.worker} (host {self.host}, process {self.process})"
        return f"{named} has not reported {silence}{since}"

    def _when(self, now: int, clock: Callable[[int], str] | None) -> str:
        if self.handed_out_at <= now:
            return "as soon as another worker looks"
        moment = f" (not before {clock(self.handed_out_at)})" if clock is not None else ""
        return f"in {duration((self.handed_out_at - now) / NANOSECONDS)} at the earliest{moment}"

    def row(self) -> Object:
        """As the JSON of a run has it."""
        return {
            "worker": self.worker,
            "host": self.host,
            "process": self.process,
            "seen_at": None if self.seen_at is None else moment_text(self.seen_at),
            "steps": list(self.steps),
            "handed_out_at": moment_text(self.handed_out_at),
        }
