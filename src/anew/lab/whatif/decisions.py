"""What was decided in a run, step-run by step-run, and the first decision in which two runs differ.

Moments do not count, and neither does the order of what went on side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from anew.engine import events as e
from anew.engine.state import Key


class Decision(Struct, frozen=True):
    """`words` tell it, at the event with this sequence number."""

    seq: int
    words: str


class Departure(Struct, frozen=True):
    """The first decision that differs; `seq` is that of the past run's event.

    `was` and `becomes` are None where one of the two decides nothing any more.
    """

    place: str
    seq: int
    was: str | None
    becomes: str | None


def departure(past: Sequence[e.Event], played: Sequence[e.Event]) -> Departure | None:
    """Where the run that was played leaves the past one; None when it never does."""
    before, after = _decisions(past), _decisions(played)
    found = [_first(place, decided, after.get(place, [])) for place, decided in before.items()]
    apart = [one for one in found if one is not None]
    if apart:
        return min(apart, key=lambda one: one.seq)
    added = [(decided[0].seq, place) for place, decided in after.items() if place not in before]
    if not added:
        return None
    _, place = min(added)
    return Departure(place, past[-1].seq, None, after[place][0].words)


def _first(place: str, before: list[Decision], after: list[Decision]) -> Departure | None:
    for number in range(max(len(before), len(after))):
        was = before[number] if number < len(before) else None
        becomes = after[number] if number < len(after) else None
        if was is None or becomes is None or was.words != becomes.words:
            seq = before[-1].seq if was is None else was.seq
            told = becomes.words if becomes else None
            return Departure(place, seq, was.words if was else None, told)
    return None


def _decisions(log: Sequence[e.Event]) -> dict[str, list[Decision]]:
    found: dict[str, list[Decision]] = {}
    for event in log:
        words = _words(event)
        if words:
            found.setdefault(_place(event), []).append(Decision(event.seq, words))
    return found


def _place(event: e.Event) -> str:
    if event.step is None:
        return "run"
    key = Key(event.step, event.visit or 0, event.iteration)
    iteration = "" if key.iteration is None else f"[{key.iteration}]"
    return f"{key.step}#{key.visit}{iteration}" if key.visit else key.step


def _words(event: e.Event) -> str:
    match event:
        case e.TaskProcessed():
            rule = "no rule" if event.rule is None else f"rule {event.rule}"
            to = "" if event.to is None else f" to {event.to}"
            return f"{event.task} attempt {event.attempt}: {rule}, {event.directive}{to}"
        case e.TaskRetryScheduled():
            to = "" if event.to is None else f" by way of {event.to}"
            told = f"retry in {round(event.delay_seconds, 6)} s{to}"
            return f"{event.task} attempt {event.attempt}: {told}"
        case e.TaskRetryExhausted():
            told = f"retries exhausted ({event.reason}), {event.directive}"
            return f"{event.task} attempt {event.attempt}: {told}"
        case e.NextEvaluated():
            ways = ", ".join(str(token["to"]) for token in event.tokens)
            return f"{event.event}: to {ways}" if ways else f"{event.event}: no way on"
        case _:
            return _words_of_end(event)


def _words_of_end(event: e.Event) -> str:
    match event:
        case e.LoopStarted():
            return f"a loop over {len(event.items)}"
        case e.StepFailed() | e.LoopIterationFailed() | e.RunFailed():
            return f"failed ({event.error.get('kind')})"
        case e.StepDone() | e.LoopIterationDone() | e.RunDone():
            return "done"
        case e.StepSkipped() | e.StepRefused():
            return event.name.removeprefix("step.")
        case _:
            return ""
