"""A run followed one event at a time: everything its picture and its tables are made of.

Feeding an event costs the same however long the run is, and one that is being looked at needs only
what is new. Decides nothing; knows no clock and no store.
"""

from __future__ import annotations

from collections.abc import Iterable

from anew.engine import events as e
from anew.engine.fold import evolve
from anew.engine.state import RunState
from anew.program.program import Program
from anew.views.attempt_rows import AttemptBook
from anew.views.lanes import Drawing
from anew.views.picture.rules import RuleHits
from anew.views.picture.ways import WaysTaken
from anew.views.progress import Progress


class Trace:
    """What the events so far amount to, for every view at once."""

    def __init__(self, program: Program | None = None) -> None:
        self.program = program
        self.state = RunState()
        self.progress = Progress(program)
        self.drawing = Drawing(self.progress)
        self.ways = WaysTaken()
        self.rules = RuleHits()
        self.book = AttemptBook(self.progress)
        self.continues: str | None = None  # the run whose place it took
        self.shared_with: str | None = None  # the run whose beginning it has

    @property
    def version(self) -> int:
        """The sequence number of the newest event."""
        return self.state.version

    def feed(self, events: Iterable[e.Event]) -> None:
        """Take more events of the log, in order."""
        for event in events:
            evolve(self.state, event)
            self.book.feed(event)
            self.drawing.feed(event)
            self.ways.feed(event)
            self.rules.feed(event)
            if isinstance(event, e.RunRequested):
                self.continues = event.continues
            elif isinstance(event, e.RunPaused) and event.shared_with is not None:
                self._cut(event)

    def _cut(self, event: e.RunPaused) -> None:
        self.shared_with = event.shared_with
        own = None if self.program is None else self.program.digest
        if event.decided_by not in (None, own):
            self.rules.forget()
