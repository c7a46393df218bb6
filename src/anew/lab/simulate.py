"""Run a program on a script: the real engine, a virtual clock, a log in memory.

No tool is called and no real time passes. What happens at the same virtual instant happens in the
order it was asked for, so that a simulation is repeatable to the last event.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TypeAlias

from msgspec import Struct

from anew.engine.decide import Boundary, Due, Reported, Requested, Taken, Transition, decide
from anew.engine.events import Event
from anew.engine.pipeline import Invoke
from anew.engine.record import Moment
from anew.engine.state import RunState, RunStatus
from anew.errors import ConfigError
from anew.lab.script import SUCCESS, Entry, Script, Tape
from anew.program.program import Program
from anew.values import Object
from anew.views.summary import summary

RUN_ID = "1"
# Far above what a scenario needs, and about a gigabyte; a run that passes it goes in circles.
EVENTS_MAX = 1_000_000

_EXIT_STATUS = {RunStatus.DONE: 0, RunStatus.FAILED: 1, RunStatus.CANCELLED: 130}
_EXIT_WAITING = 3


class Simulation(Struct):
    """A finished simulation: its log, and the state it folds to."""

    program: Program
    state: RunState
    log: list[Event]

    @property
    def status(self) -> RunStatus:
        return self.state.status

    @property
    def exit_status(self) -> int:
        return _EXIT_STATUS.get(self.status, _EXIT_WAITING)

    def report(self) -> Object:
        """The JSON object of `anew simulate --json`."""
        return summary(self.program, self.log, self.state)


def simulate(
    program: Program, script: Script, *, seed: int | None = None, events_max: int = EVENTS_MAX
) -> Simulation:
    """Play `script` against `program` to its end; ConfigError when it has none in sight."""
    return _World(program, script, seed).play(events_max)


# When, in which order, what. The order is unique, so boundaries are never compared.
_Pending: TypeAlias = tuple[int, int, Boundary]


class _World:
    """Unlimited workers around one run, and the tapes they play."""

    def __init__(self, program: Program, script: Script, seed: int | None) -> None:
        self._program = program
        self._script = script
        self._tapes = {key: Tape(entries) for key, entries in script.outcomes.items()}
        self._draw = script.draws(seed)
        self._state = RunState()
        self._log: list[Event] = []
        self._agenda: list[_Pending] = []
        self._asked = 0
        self._now = script.now

    def play(self, events_max: int) -> Simulation:
        self._do(Requested(RUN_ID, self._script.workload))
        while self._agenda:
            if len(self._log) > events_max:
                raise ConfigError(self._endless(events_max))
            self._now, _, boundary = heappop(self._agenda)
            self._do(boundary)
        return Simulation(self._program, self._state, self._log)

    def _endless(self, events_max: int) -> str:
        busy = sorted(self._state.visits.items(), key=lambda visit: -visit[1])[:3]
        steps = ", ".join(f"{step} ({visits} visits)" for step, visits in busy)
        return (
            f"the simulation passed {events_max} events and the run still goes on; "
            f"most visited: {steps}. Give the script an outcome that ends the cycle."
        )

    def _do(self, boundary: Boundary) -> None:
        moment = Moment(self._now, self._draw)
        transition = decide(self._program, self._state, boundary, moment)
        self._log.extend(transition.events)
        self._plan(transition)

    def _plan(self, transition: Transition) -> None:
        ask = transition.ask
        if isinstance(ask, Invoke):
            entry = self._entry(ask)
            due = self._now + entry.takes
            self._at(due, Reported(ask.key, entry.outcome(due)))
        elif ask is not None:
            self._at(ask.until, Due(ask.key))
        for key in transition.jobs:
            self._at(self._now, Taken(key))

    def _at(self, moment: int, boundary: Boundary) -> None:
        self._asked += 1
        heappush(self._agenda, (moment, self._asked, boundary))

    def _entry(self, ask: Invoke) -> Entry:
        step, label = ask.key.step, ask.task.label
        for key in (f"{step}.{label}", label, step):
            tape = self._tapes.get(key)
            if tape is not None:
                return tape.next()
        return SUCCESS
