"""What a run begins with that shares the log of another: the shared events, told as its own.

Only the first event says whose log it is, of which program and with which workload; it is rewritten
and the others stay as they are. Decides nothing about where a log may be cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.boundaries import Paused
from anew.engine.decide import workload_defaults
from anew.engine.secrets import Secrets
from anew.runtime.programs import Document
from anew.store import RunId
from anew.values import Object, merge_deep


class SharedHistory(Struct, frozen=True):
    """The events a new run shares, the document it goes on with, and what is told of both.

    `owner` is the run whose events these are. `is_moved`: the document is not the one of the run
    that is forked. `workload` is laid over the old one. For `decided_by` see `run.paused`.
    `is_latest`: that run stands there now, so no time has passed in between. `retry_of` is the run
    that is taken up.
    """

    events: Sequence[e.Event]
    document: Document
    owner: str
    reason: str
    labels: Mapping[str, str]
    is_moved: bool = False
    workload: Object = field(default_factory=dict)
    decided_by: str | None = None
    is_latest: bool = False
    retry_of: RunId | None = None

    @property
    def folder(self) -> Path:
        """Where the relative files of the new run are."""
        file = None if self.is_moved else self._first.file
        return self.document.folder if file is None else Path(file).parent

    @property
    def _first(self) -> e.RunRequested:
        first = self.events[0]
        assert isinstance(first, e.RunRequested)
        return first

    def events_of(self, run: RunId, secrets: Secrets | None = None) -> list[e.Event]:
        """The events as the log of `run` begins with them."""
        first = replace(self._first, run=str(run), workload=self._workload(run, secrets))
        if self.is_moved:
            program = self.document.program
            first = replace(
                first,
                program=program.name,
                digest=program.digest,
                dialect=program.dialect,
                file=self.document.file,
            )
        return [first, *self.events[1:]]

    def cut(self, now: int) -> Paused:
        """The boundary that ends the shared part."""
        later_by = 0 if self.is_latest else max(0, now - self.events[-1].at)
        return Paused(self.reason, self.owner, self.decided_by, later_by)

    def _workload(self, run: RunId, secrets: Secrets | None) -> Object:
        """The old one; beneath it what only a new program has, above it what is said now."""
        workload = self._first.workload
        if self.is_moved:
            workload = merge_deep(workload_defaults(self.document.program, str(run)), workload)
        if self.workload:
            workload = merge_deep(workload, self.workload)
        sealed: Object = workload if secrets is None else secrets.seal(workload)
        return sealed
