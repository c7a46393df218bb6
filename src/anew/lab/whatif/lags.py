"""How long workers took to come, by step-run: read from a log, one number per time one was needed.

In the order in which `lab.simulate` asks for them. Knows nothing of outcomes.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine import events as e
from anew.engine.state import Key


def lags_of(log: Sequence[e.Event]) -> dict[Key, list[int]]:
    """For each step-run the nanoseconds between the moment a worker was needed and its coming."""
    reading = _Reading()
    for event in log:
        reading.feed(event)
    return reading.lags


class _Reading:
    def __init__(self) -> None:
        self.lags: dict[Key, list[int]] = {}
        self._needed: dict[Key, int] = {}
        self._asked_until: dict[Key, int | None] = {}
        # By loop: the iteration that opens next, and how many there are.
        self._loops: dict[Key, tuple[int, int]] = {}

    def feed(self, event: e.Event) -> None:
        if event.step is None:
            return
        key = Key(event.step, event.visit or 0, event.iteration)
        if isinstance(event, e.WaitSkipped):
            if key in self._needed:
                self._needed[key] = event.at
            return
        self._come(key, event)
        match event:
            case e.StepScheduled() | e.HumanAnswered():
                self._needed[key] = event.at
            case e.SignalReceived() if event.kept is None:
                self._needed[key] = event.at
            case e.LoopStarted():
                self._open_loop(key, event)
            case e.LoopIterationDone() | e.LoopIterationFailed():
                self._open_next(Key(key.step, key.visit), event.at)
            case e.TaskRetryScheduled() | e.TaskProcessed() | e.TaskRetryExhausted():
                if event.not_before is not None and event.not_before > event.at:
                    self._needed[key] = event.not_before
            case e.HumanWaiting():
                self._asked_until[key] = event.deadline
            case _:
                pass

    def _come(self, key: Key, event: e.Event) -> None:
        """What a worker does first shows when it came."""
        if isinstance(event, e.HumanTimedOut):
            needed = self._asked_until.get(key)
        elif key in self._needed:
            needed = self._needed.pop(key)
        else:
            return
        is_dropped = isinstance(event, e.StepSkipped)
        lag = 0 if needed is None or is_dropped else max(0, event.at - needed)
        self.lags.setdefault(key, []).append(lag)

    def _open_loop(self, key: Key, event: e.LoopStarted) -> None:
        total = len(event.items)
        opened = min(event.max_in_flight, total)
        self._loops[key] = (opened, total)
        for index in range(opened):
            self._needed[Key(key.step, key.visit, index)] = event.at

    def _open_next(self, loop: Key, at: int) -> None:
        index, total = self._loops.get(loop, (0, 0))
        if index < total:
            self._needed[Key(loop.step, loop.visit, index)] = at
            self._loops[loop] = (index + 1, total)
