"""What is around the engine in a simulation: clocks, workers that come or die, deliveries.

In calm surroundings (`NoFaults`) clocks are right, workers live, and everything is delivered once;
`lab.faults` has others. None of it changes what a program means, or what a call would have given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeAlias

from msgspec import Struct

from anew.engine.boundaries import Answered, Boundary, Due, Reported, Requested, Signalled, Taken
from anew.engine.decide import Transition
from anew.engine.next_actions import Invoke
from anew.engine.state import StepRun, StepRunKey


class Missed(Struct, frozen=True):
    """Someone notices that the worker is gone which began the execution `started`."""

    key: StepRunKey
    started: int


class Crashed(Struct, frozen=True):
    """A machine dies, and with it every worker that is at work."""


Occurrence: TypeAlias = Requested | Taken | Due | Reported | Answered | Signalled | Missed | Crashed


class PlayedCall(Struct, frozen=True):
    """One call that begins at `now` and would report at `ends`, in `takes` if nobody stopped it."""

    ask: Invoke
    report: Reported
    now: int
    ends: int
    takes: int


class FaultInjector(Protocol):
    """Asked at each turn of a simulation. Moments are true ones, unless a clock `shows` them."""

    @property
    def delivers_late(self) -> bool:
        """Whether what is on its way at the end of a run is delivered all the same."""

    def offset(self) -> int:
        """How many nanoseconds the clock is off at the next thing that happens."""

    def moment(self, shown: int, last: int) -> int:
        """When something happens by the clock, after what happened `last`."""

    def seconds_max(self, kind: str) -> float | None:
        """How long a tool of this kind waits for an answer when its author does not say."""

    def arrivals(self, call: PlayedCall) -> Iterable[tuple[int, Occurrence]]:
        """What comes of a call, and when."""

    def again(self, what: Occurrence) -> int | None:
        """How many nanoseconds after it is delivered it comes once more; None: it does not."""

    def crashed(self, lost: Iterable[StepRun], now: int) -> Iterable[tuple[int, Missed]]:
        """The workers of these step-runs have died: when someone notices each."""

    def saw(self, what: Boundary, transition: Transition, *, now: int, shown: int) -> None:
        """The engine has decided."""


class NoFaults:
    """Nothing goes wrong."""

    delivers_late = False

    def offset(self) -> int:
        return 0

    def moment(self, shown: int, last: int) -> int:  # noqa: ARG002
        return shown

    def seconds_max(self, kind: str) -> float | None:  # noqa: ARG002
        return None

    def arrivals(self, call: PlayedCall) -> Iterable[tuple[int, Occurrence]]:
        return ((call.ends, call.report),)

    def again(self, what: Occurrence) -> int | None:  # noqa: ARG002
        return None

    def crashed(self, lost: Iterable[StepRun], now: int) -> Iterable[tuple[int, Missed]]:  # noqa: ARG002
        return ()

    def saw(self, what: Boundary, transition: Transition, *, now: int, shown: int) -> None:
        pass
