"""A run as fixed-width lines, one for each thing a person wants to see.

    0.000  fetch   task fetch started           attempt 1
    0.400  fetch   task fetch error             http 503 · rule 1 · retry in 2.0 s

A task's outcome and what was decided about it share a line. Scheduling, which always goes with a
start, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from anew.engine import events as e
from anew.engine.events.words import RouteReason
from anew.engine.moments import NANOSECONDS
from anew.program.program import Program
from anew.views.event_text import event_text
from anew.views.routing_words import is_exit_check

_TIME_WIDTH = 9
_WHAT_WIDTH = 28
_NO_NEWS = (e.StepScheduled, e.StepStarted, e.LoopIterationDone, e.TaskRetryScheduled)


def timeline_lines(log: Sequence[e.Event], program: Program | None = None) -> Iterator[str]:
    """The lines of a log, times in seconds since its first event.

    With its program they say where the weight of an arc decided.
    """
    following: Iterable[e.Event | None] = [*log[1:], None]
    lines = [
        (event.at, _place(event), *event_text(event, after=after, program=program))
        for event, after in zip(log, following, strict=False)
        if _is_shown(event)
    ]
    place_width = max((len(place) for _, place, _, _ in lines), default=0)
    what_width = max((len(what) for _, _, what, _ in lines), default=0)
    what_width = max(what_width, _WHAT_WIDTH)
    for at, place, what, detail in lines:
        seconds = (at - log[0].at) / NANOSECONDS
        text = f"{seconds:{_TIME_WIDTH}.3f}  {place:{place_width}}  {what:{what_width}}"
        yield f"{text} {detail}".rstrip()


def _place(event: e.Event) -> str:
    if event.step is None:
        return "run"
    return event.step if event.iteration is None else f"{event.step}[{event.iteration}]"


def _is_shown(event: e.Event) -> bool:
    match event:
        case e.RunRequested():
            return event.continues is not None
        case e.NextEvaluated():
            is_odd = event.fails_run or event.error or event.reason == RouteReason.REPEATED
            return bool(event.tokens or event.arcs or event.patches or is_odd)
        case e.BranchForked():
            return event.fork is not None
        case e.GateChecked():
            return bool(event.goals) or not is_exit_check(event)
        case _:
            return not isinstance(event, _NO_NEWS)
