"""What tools give that ask nothing of the world: the real tools, called in virtual time.

Their inputs say it all, so no log is needed and nothing is supposed.
"""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from msgspec import Struct

from anew.engine.outcome import Outcome, outcome_of
from anew.errors import EngineBug
from anew.lab.log_world import RecordedEntry
from anew.lab.playing import Asking
from anew.lab.script import ScriptEntry
from anew.runtime.sleeping import SleepTool
from anew.tool import Answer, Call, Parked, Place, Timeout
from anew.tools.noop import NoopTool

_NOWHERE = Path()


class _Moment(Struct, frozen=True):
    """A clock that stands still."""

    at: int

    def now(self) -> int:
        return self.at

    async def sleep_until(self, moment: int) -> None:
        """Nobody sleeps by it."""


def answer_by_itself(asking: Asking) -> ScriptEntry:
    """What a `noop` or `sleep` with these inputs gives, and how long it takes."""
    until = asking.now
    answer = _called(asking, until)
    if isinstance(answer, Parked):
        until = asking.now if answer.until is None else answer.until
        answer = _called(asking, until)
    outcome = answer if isinstance(answer, Outcome) else outcome_of({})
    return RecordedEntry({}, 1, until - asking.now, recorded=outcome)


def _called(asking: Asking, at: int) -> Answer:
    tool = NoopTool() if asking.kind == "noop" else SleepTool(_Moment(at))
    key = asking.key
    call = Call(
        asking.kind,
        asking.inputs if isinstance(asking.inputs, dict) else {},
        Place("", key.step, key.visit, key.iteration, asking.label, asking.attempt),
        "",
        asking.now,
        Timeout(),
        _NOWHERE,
        _NOWHERE,
    )
    return _at_once(tool.call(call))


def _at_once(calling: Coroutine[Any, Any, Answer]) -> Answer:
    """The result of a call that waits for nothing."""
    try:
        calling.send(None)
    except StopIteration as done:
        answer: Answer = done.value
        return answer
    calling.close()
    raise EngineBug("a tool that asks nothing of the world waits for something")
