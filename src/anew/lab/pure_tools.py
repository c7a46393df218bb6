"""What tools give that ask nothing of the world: the real `noop` and `sleep`, in virtual time.

Their inputs say it all, so nobody plays them. They are asked at virtual moments, touch nothing and
wait for nothing: a sleep is parked.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from anew.engine.next_actions import Invoke
from anew.engine.outcome import Outcome
from anew.errors import EngineBug
from anew.lab.log_world import RecordedEntry
from anew.lab.outcome_sources import ExecutionStart
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.runtime.sleep_tool import SleepTool
from anew.tool import Answer, AttemptRef, Call, Parked, Timeout
from anew.tools.noop import NoopTool

_NOWHERE = Path()


class _Stopped(Struct, frozen=True):
    """A clock that shows one moment."""

    moment: int

    def now(self) -> int:
        return self.moment

    async def sleep_until(self, moment: int) -> None:
        """Nobody sleeps by it."""


def slept(ask: Invoke, run: str) -> tuple[int, Outcome]:
    """The moment a sleep ends, by the clock, and its outcome then."""
    key = ask.key
    place = AttemptRef(run, key.step, key.visit, key.iteration, ask.task.label, ask.attempt)
    return _given(_call(ask.tool.kind, ask.inputs, place, ask.asked_at, ask.skipped_at))


def entry_by_itself(asking: ExecutionStart) -> RecordedEntry:
    """What a `noop` or `sleep` with these inputs gives, and how long it takes."""
    key = asking.key
    place = AttemptRef("", key.step, key.visit, key.iteration, asking.label, asking.attempt)
    until, outcome = _given(_call(asking.kind, asking.inputs, place, asking.now))
    return RecordedEntry({}, 1, until - asking.now, recorded=outcome)


def _call(
    kind: str, inputs: object, place: AttemptRef, asked_at: int, skipped_at: int | None = None
) -> Call:
    return Call(
        kind=kind,
        inputs=inputs if isinstance(inputs, dict) else {},
        place=place,
        idempotency_key="",
        asked_at=asked_at,
        timeout=Timeout(),
        folder=_NOWHERE,
        scratch=_NOWHERE,
        skipped_at=skipped_at,
    )


def _given(call: Call) -> tuple[int, Outcome]:
    until, answer = call.asked_at, _answer(call, at=call.asked_at)
    if isinstance(answer, Parked) and answer.until is not None:
        until = answer.until
        answer = _answer(call, at=until)
    if not isinstance(answer, Outcome):
        raise EngineBug(f"{call.place.step}.{call.place.task} continues when its time is over")
    return until, answer


def _answer(call: Call, *, at: int) -> Answer:
    is_sleep = kind_named(call.kind).outcome_from is OutcomeSource.CLOCK
    tool = SleepTool(_Stopped(at)) if is_sleep else NoopTool()
    asked = tool.call(call)
    try:
        asked.send(None)
    except StopIteration as answered:
        answer: Answer = answered.value
        return answer
    asked.close()
    raise EngineBug("a tool that asks nothing of the world waits for something")
