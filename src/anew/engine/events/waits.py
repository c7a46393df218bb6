"""Waits that someone outside ends: a person, a signal, whoever skips a wait."""

# Annotations are not texts here: see `engine.events.fact`.
from typing import ClassVar

from anew.engine.events.fact import Fact
from anew.engine.events.words import SkippedWait
from anew.program.policy import TimeoutAction
from anew.values import Value


class HumanWaiting(Fact):
    """A task asks a person; the answer is its outcome.

    Without `choices` any text is an answer. `action` is what happens at the `deadline`; `default`
    is the choice that is then made.
    """

    name: ClassVar[str] = "human.waiting"
    question: str
    choices: list[str] = []
    deadline: int | None = None
    action: TimeoutAction | None = None
    default: str | None = None


class HumanAnswered(Fact):
    """A person answered, once."""

    name: ClassVar[str] = "human.answered"
    answer: str
    label: str | None = None
    by: str | None = None


class HumanTimedOut(Fact):
    """Nobody answered by the deadline; `action` is what the task said to do then."""

    name: ClassVar[str] = "human.timed_out"
    action: TimeoutAction
    label: str | None = None


class SignalWaiting(Fact):
    """A task waits for a signal from outside."""

    name: ClassVar[str] = "signal.waiting"
    signal: str
    deadline: int | None = None


class SignalReceived(Fact):
    """A signal came; its payload is the result of the task that waited for it.

    Without a step nobody waits for it yet: it is kept. When a task takes it up, this is written
    once more at the task's place, and `kept` is the sequence number of the event that has the rest.
    `id` tells a signal that is sent again from the next one; `by` is whoever sent it.
    """

    name: ClassVar[str] = "signal.received"
    signal: str
    payload: Value = None
    id: str | None = None
    by: str | None = None
    kept: int | None = None


class SignalTimedOut(Fact):
    """The signal did not come by the deadline."""

    name: ClassVar[str] = "signal.timed_out"
    signal: str


class WaitSkipped(Fact):
    """Someone ended a wait for a moment, which would have lasted until `not_before`.

    `waited_for` is `retry` or `jump` (what was delayed starts now; `attempt` is the one that ended
    before), or `sleep` (the task ends now). `by` is whoever wanted it.
    """

    name: ClassVar[str] = "wait.skipped"
    waited_for: SkippedWait
    not_before: int | None = None
    by: str | None = None
