"""How long a `sleep` takes that nobody plays, and what it gives: as the real tool says.

The tool is asked at virtual moments. It touches nothing and waits for nothing: it is parked.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from anew.engine.outcome import Outcome
from anew.engine.pipeline import Invoke
from anew.errors import EngineBug
from anew.runtime.sleeping import SleepTool
from anew.tool import Answer, Call, Parked, Place, Timeout


class _Stopped(Struct, frozen=True):
    """A clock that shows one moment."""

    moment: int

    def now(self) -> int:
        return self.moment

    async def sleep_until(self, moment: int) -> None:
        """Nobody sleeps by it."""


def slept(ask: Invoke, run: str) -> tuple[int, Outcome]:
    """The moment it ends, by the clock, and its outcome then."""
    until, answer = ask.asked_at, _answer(ask, run, at=ask.asked_at)
    if isinstance(answer, Parked) and answer.until is not None:
        until = answer.until
        answer = _answer(ask, run, at=until)
    if not isinstance(answer, Outcome):
        raise EngineBug(f"{ask.key.step}.{ask.task.label} sleeps on when its time is over")
    return until, answer


def _answer(ask: Invoke, run: str, *, at: int) -> Answer:
    asked = SleepTool(_Stopped(at)).call(_call(ask, run))
    try:
        asked.send(None)
    except StopIteration as answered:
        answer: Answer = answered.value
        return answer
    raise EngineBug("the sleep tool waits by itself")


def _call(ask: Invoke, run: str) -> Call:
    key, nowhere = ask.key, Path()
    return Call(
        kind=ask.tool.kind,
        inputs=ask.inputs if isinstance(ask.inputs, dict) else {},
        place=Place(run, key.step, key.visit, key.iteration, ask.task.label, ask.attempt),
        idempotency_key=ask.idempotency_key,
        asked_at=ask.asked_at,
        timeout=Timeout(),
        folder=nowhere,
        scratch=nowhere,
        skipped_at=ask.skipped_at,
    )
