"""Run a program on a script: the real engine, a virtual clock, a log in memory.

No tool is called and no real time passes. What happens at the same virtual instant happens in the
order it was asked for, so that a simulation is repeatable to the last event.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import TypeAlias

from msgspec import Struct

from anew.engine.decide import Boundary, Due, Reported, Requested, Taken, decide
from anew.engine.events import Event
from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.outcome import outcome_of
from anew.engine.pipeline import Invoke, Wait
from anew.engine.record import Moment
from anew.engine.state import RunState, RunStatus
from anew.errors import ConfigError
from anew.lab.script import SUCCESS, Entry, Script, Tape
from anew.program.program import Program
from anew.values import Object
from anew.views.summary import summary

RUN_ID = "1"
_TIMED_OUT = outcome_of(error={"kind": "timeout", "message": "the call passed its time limit"})
# Far above what a scenario needs, and about a gigabyte; a run that passes it goes in circles.
EVENTS_MAX = 1_000_000


class Simulation(Struct):
    """A finished simulation: its log, and the state it folds to."""

    program: Program
    state: RunState
    log: list[Event]

    @property
    def status(self) -> RunStatus:
        return self.state.status

    def report(self) -> Object:
        """The JSON object of `anew simulate --json`."""
        return summary(self.program, self.log, self.state)


def simulate(
    program: Program, script: Script, *, seed: int | None = None, events_max: int = EVENTS_MAX
) -> Simulation:
    """Play `script` against `program` to its end; ConfigError when it has none in sight."""
    return _World(program, script, seed, events_max).play()


# When; how old the visit's first wish is; which iteration; a unique number; what.
_Pending: TypeAlias = tuple[int, int, int, int, Boundary]


class _World:
    """Unlimited workers around one run, and the tapes they play."""

    def __init__(self, program: Program, script: Script, seed: int | None, events_max: int) -> None:
        self._program = program
        self._events_max = events_max
        self._script = script
        self._tapes = {key: Tape(entries) for key, entries in script.outcomes.items()}
        self._draw = script.draws(seed)
        self._state = RunState()
        self._log: list[Event] = []
        self._agenda: list[_Pending] = []
        self._asked = 0
        self._ages: dict[tuple[str, int], int] = {}
        self._now = script.now

    def play(self) -> Simulation:
        self._do(Requested(RUN_ID, self._script.workload))
        while self._agenda:
            self._now, *_, boundary = heappop(self._agenda)
            self._do(boundary)
        return Simulation(self._program, self._state, self._log)

    def _endless(self) -> str:
        busy = sorted(self._state.visits.items(), key=lambda visit: -visit[1])[:3]
        steps = ", ".join(f"{step} ({visits} visits)" for step, visits in busy)
        return (
            f"the simulation passed {self._events_max} events and the run still goes on; "
            f"most visited: {steps}. Give the script an outcome that ends the cycle."
        )

    def _do(self, boundary: Boundary) -> None:
        """One thing that happens, and every step-run it hands out: a worker is always free."""
        moment = Moment(self._now, self._draw)
        todo = deque([boundary])
        while todo:
            if len(self._log) > self._events_max:
                raise ConfigError(self._endless())
            transition = decide(self._program, self._state, todo.popleft(), moment)
            self._log.extend(transition.events)
            if transition.ask is not None:
                self._plan(transition.ask)
            todo.extend(Taken(key) for key in transition.jobs)

    def _plan(self, ask: Invoke | Wait) -> None:
        if isinstance(ask, Wait):
            self._at(ask.until, Due(ask.key))
            return
        entry = self._entry(ask)
        due = min(self._now + entry.takes, LAST_MOMENT)
        limit = self._time_limit(ask)
        if due > limit:
            self._at(limit, Reported(ask.key, _TIMED_OUT, ask.started))
            return
        self._at(due, Reported(ask.key, entry.outcome(due), ask.started))

    def _time_limit(self, ask: Invoke) -> int:
        """When the author's own limits stop the call: defaults of tools are for real tools."""
        limit = LAST_MOMENT if ask.deadline is None else max(ask.deadline, self._now)
        timeout = ask.tool.timeout if ask.task.timeout is None else ask.task.timeout
        if isinstance(timeout, (int, float)):
            limit = min(limit, self._now + int(timeout * NANOSECONDS))
        return limit

    def _at(self, moment: int, boundary: Due | Reported) -> None:
        """Iterations of one loop that meet in one instant go by index, all else by age."""
        self._asked += 1
        key, age = boundary.key, self._asked
        if key.iteration is not None:
            age = self._ages.setdefault((key.step, key.visit), age)
        heappush(self._agenda, (moment, age, key.iteration or 0, self._asked, boundary))

    def _entry(self, ask: Invoke) -> Entry:
        step, label = ask.key.step, ask.task.label
        for key in (f"{step}.{label}", label, step):
            tape = self._tapes.get(key)
            if tape is not None:
                return tape.next()
        return SUCCESS
