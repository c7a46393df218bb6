"""Whose failure a step passes on that does nothing of its own, such as a diamond of a graph.

Such a step ends failed in the log, yet nothing failed there. Follows the log one event at a time
and keeps what is live. Without the program every failure is taken for the step's own.
"""

from __future__ import annotations

from anew.engine import events as e
from anew.program.program import Program
from anew.views.summary import passes_on


class Relays:
    """Feed it every event, before asking about it."""

    def __init__(self, program: Program | None) -> None:
        self._program = program
        self._sent_by: dict[int, str] = {}  # the tokens under way
        self._source: dict[tuple[str | None, int | None], str] = {}
        self._kind: dict[tuple[str | None, int | None], str] = {}

    def feed(self, event: e.Event) -> None:
        if self._program is None:
            return
        place = (event.step, event.visit)
        match event:
            case e.StepScheduled():
                senders = [self._sent_by.pop(token, "") for token in event.tokens]
                if passes_on(self._program, event.step or ""):
                    self._source[place] = next(filter(None, senders), "")
            case e.TaskProcessed() if place in self._source and event.outcome.error:
                self._kind[place] = event.outcome.error["kind"]
            case e.NextEvaluated():
                # What was passed on twice is still the failure of the first.
                source = self._source.pop(place, None) if place in self._kind else None
                sender = source or event.step or ""
                self._sent_by.update({token["id"]: sender for token in event.tokens})
                self._source.pop(place, None)
                self._kind.pop(place, None)
            case e.RunRequested():
                self._sent_by.clear()
            case _:
                pass

    def passed_on(self, event: e.TaskProcessed | e.StepFailed) -> str | None:
        """The words for it, where the failure of an execution or a visit is that of another step.

        A visit whose failure nobody takes has failed, whosever it was.
        """
        place = (event.step, event.visit)
        if place not in self._kind:
            return None
        if isinstance(event, e.StepFailed):
            is_own = event.error.get("kind") != self._kind[place]
            if is_own or not event.handled:
                return None
        source = self._source[place]
        return f"passes on the failure of {source}" if source else "passes on a failure"
