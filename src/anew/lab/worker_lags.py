"""How long workers took to come, by step-run: read from a log, one number per time one was needed.

In the order in which `lab.simulate` asks for them. Knows nothing of outcomes.
"""

from __future__ import annotations

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.state import StepRunKey, key_of


class Lags(Struct):
    """Feed it every event of a log, in order.

    `came` has for each step-run the nanoseconds between the moment a worker was needed and its
    coming, `needed` those moments where none has come yet.
    """

    came: dict[StepRunKey, list[int]] = field(default_factory=dict)
    needed: dict[StepRunKey, int] = field(default_factory=dict)
    # By loop: the iteration that opens next, and how many there are.
    _loops: dict[StepRunKey, tuple[int, int]] = field(default_factory=dict)
    _made: dict[int, int] = field(default_factory=dict)  # when each token was
    _resumed_at: int | None = None

    def feed(self, event: e.Event) -> None:
        if isinstance(event, e.RunResumed):
            self._resumed_at = event.at
        if event.step is None or isinstance(event, e.StepSkipped):
            return  # nobody came for what is dropped
        key = key_of(event)
        if isinstance(event, (e.WaitSkipped, e.HumanAnswered)):
            if key in self.needed or isinstance(event, e.HumanAnswered):
                self.needed[key] = event.at
            return
        if key in self.needed:  # what a worker does first shows when it came
            lag = max(0, event.at - self.needed.pop(key))
            self.came.setdefault(key, []).append(lag)
        match event:
            case e.StepScheduled():
                self.needed[key] = self._wanted_since(event)
            case e.SignalReceived() if event.kept is None:
                self.needed[key] = event.at
            case e.NextEvaluated():
                self._made.update((token["id"], event.at) for token in event.tokens)
            case e.LoopStarted():
                self._open_loop(key, event)
            case e.LoopIterationDone() | e.LoopIterationFailed():
                self._open_next(StepRunKey(key.step, key.visit), event.at)
            case e.TaskRetryScheduled() | e.TaskProcessed() | e.TaskRetryExhausted():
                if event.not_before is not None and event.not_before > event.at:
                    self.needed[key] = event.not_before
            case e.HumanWaiting(deadline=int(deadline)):
                self.needed[key] = deadline
            case _:
                pass

    def _wanted_since(self, event: e.StepScheduled) -> int:
        """What a pause held up was wanted before it ended."""
        if event.at != self._resumed_at:
            return event.at
        return max((self._made.get(token, event.at) for token in event.tokens), default=event.at)

    def _open_loop(self, key: StepRunKey, event: e.LoopStarted) -> None:
        total = len(event.items)
        opened = min(event.max_in_flight, total)
        self._loops[key] = (opened, total)
        for index in range(opened):
            self.needed[StepRunKey(key.step, key.visit, index)] = event.at

    def _open_next(self, loop: StepRunKey, at: int) -> None:
        index, total = self._loops.get(loop, (0, 0))
        if index < total:
            self.needed[StepRunKey(loop.step, loop.visit, index)] = at
            self._loops[loop] = (index + 1, total)
