"""The words for a run that no process works on, because the one that did is gone.

Decides nothing: whoever resumes the run takes it up where it stopped.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from anew.engine.moments import moment_text
from anew.values import Object
from anew.views.activities import VerdictText

# What lists and the first line call it.
INTERRUPTED = "interrupted"


class InterruptedRun(Struct, frozen=True):
    """`process` is the owner of the database file that died; None where it stopped as it should."""

    process: int | None = None

    def verdict(self, told: VerdictText, *, since: int, now: int) -> VerdictText:
        """That nobody works on it, and for how long; then what it was at, as `told`."""
        if self.process is None:
            headline = "Interrupted: no process has worked on it"
        else:
            headline = f"Interrupted: process {self.process} died, and no other has worked on it"
        # When it is due, whoever resumes it wants to know; for how long it was at it, nobody.
        was = replace(told, since=None).sentence(now)
        return VerdictText(headline, f"it was at this: {was}", told.details, since=since)

    def row(self, *, since: int) -> Object:
        """As the JSON of a run has it."""
        return {"process": self.process, "since": moment_text(since)}
