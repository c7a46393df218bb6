"""One transition in the making: the moment it happens in, and the events it yields.

Time and chance enter the engine here and nowhere else, as arguments; both end up in the events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct, field

from anew.engine.events import Event, Fact
from anew.engine.fold import evolve
from anew.engine.fold_guarded import calls_ended_by
from anew.engine.guarding import CallGuards, call_id
from anew.engine.secrets import MissingSecret, Secrets
from anew.engine.state import RunState, StepRunKey
from anew.expressions import Allowance, Meter
from anew.program.program import Program

E = TypeVar("E", bound=Fact)


class Moment(Struct, frozen=True):
    """When something happens, and where its chance comes from: U(0, 1), one per call.

    `secrets` are the credentials the run may read, None when it cannot have any. `allowance` is how
    much work whoever decides waits for, None when as long as it takes. `guards` say when calls may
    begin, None when any may at once.
    """

    now: int
    draw: Callable[[], float]
    secrets: Secrets | None = None
    allowance: Allowance | None = None
    guards: CallGuards | None = None


class Recorder(Struct):
    """Collects the events of one transition and folds each as it is written.

    `jobs` are the step-runs to hand out once the events are durable. `missing` names credentials
    that were read and not given: nothing that came of such a reading is written. `stopped` are
    step-runs that are over because their branch is.
    """

    program: Program
    state: RunState
    moment: Moment
    events: list[Event] = field(default_factory=list)
    jobs: list[StepRunKey] = field(default_factory=list)
    draws: list[float] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    warnings: dict[str, None] = field(default_factory=dict)
    stopped: tuple[StepRunKey, ...] = ()
    metered: Meter | None = None

    @property
    def meter(self) -> Meter:
        """Counts the evaluations of this transition; made when one of them is long."""
        if self.metered is None:
            self.metered = Meter(self.moment.allowance)
        return self.metered

    def emit(self, event: Event) -> None:
        """Write one event: the next in sequence, now."""
        if self.missing:
            raise MissingSecret(self.missing)
        event.seq = self.state.version + 1
        event.at = self.moment.now
        if self.state.guarded and self.moment.guards is not None:
            self._evolve_guarded(event, self.moment.guards)
        else:
            evolve(self.state, event)
        self.events.append(event)

    def _evolve_guarded(self, event: Event, guards: CallGuards) -> None:
        """As `evolve`, and tell the guards of calls that went away."""
        state, now = self.state, self.moment.now
        perhaps = calls_ended_by(state, event)
        evolve(state, event)
        for call in perhaps:
            if call.key.text not in state.guarded:
                guards.left(call.dependency, call.scopes, call_id(state, call.key), now)

    def draw(self) -> float:
        """One random number; whoever decides with it puts `taken_draws()` into the event."""
        value = self.moment.draw()
        self.draws.append(value)
        return value

    def taken_warnings(self) -> tuple[str, ...]:
        """What was found odd since the last call, each thing once."""
        if not self.warnings:
            return ()
        taken, self.warnings = self.warnings, {}
        return tuple(taken)

    def taken_draws(self) -> list[float]:
        """The random numbers drawn since the last call."""
        taken, self.draws = self.draws, []
        return taken
