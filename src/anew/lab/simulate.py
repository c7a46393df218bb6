"""Run a program on a script: the real engine, a virtual clock, a log in memory.

No tool is called and no real time passes. What happens at the same virtual instant happens in the
order it was asked for, so that a simulation is repeatable to the last event.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import TypeAlias

from msgspec import Struct

from anew.engine.decide import (
    Answered,
    Boundary,
    Due,
    Reported,
    Requested,
    Signalled,
    Taken,
    decide,
)
from anew.engine.events import Event
from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.engine.pipeline import Invoke, Wait
from anew.engine.record import Moment
from anew.engine.state import Key, RunState, RunStatus, StepRun, StepRunStatus
from anew.engine.timeouts import timed_out
from anew.errors import ConfigError
from anew.lab.people import misfit, misfit_of_person, outcome_of_others, scripted_people
from anew.lab.playing import Asking, Played, Player, Tapes
from anew.lab.script import BY_SCRIPT, SUCCESS, Entry, Script
from anew.program.program import Program
from anew.values import Object
from anew.views.summary import summary

RUN_ID = "1"
# Far above what a scenario needs, and about a gigabyte; a run that passes it goes in circles.
EVENTS_MAX = 1_000_000
_FRESH = (StepRunStatus.SCHEDULED, StepRunStatus.READY)


class Simulation(Struct):
    """A finished simulation: its log, and the state it folds to.

    Where another run takes the place of the first, it is followed: `log` then has the events of
    them all, `runs` those of each, and the state is the last one's. `doubts` has a sentence for
    each answer of the script that nobody could take.
    """

    program: Program
    state: RunState
    log: list[Event]
    runs: list[list[Event]]
    doubts: tuple[str, ...] = ()

    @property
    def status(self) -> RunStatus:
        return self.state.status

    def report(self) -> Object:
        """The JSON object of `anew simulate --json`."""
        return summary(self.program, self.log, self.state)


def simulate(
    program: Program,
    script: Script,
    *,
    seed: int | None = None,
    events_max: int = EVENTS_MAX,
    player: Player | None = None,
) -> Simulation:
    """Play `script` against `program` to its end; ConfigError when it has none in sight.

    A `player` says in the place of the script what executions give.
    """
    return _World(program, script, seed, events_max, player or Tapes(script)).play()


# When; how old the visit's first wish is; which iteration; a unique number; what.
_Pending: TypeAlias = tuple[int, int, int, int, Boundary]


class _World:
    """Unlimited workers around one run at a time, and the player who tells what they get."""

    def __init__(
        self,
        program: Program,
        script: Script,
        seed: int | None,
        events_max: int,
        player: Player,
    ) -> None:
        self._program = program
        # What is executed: a person's task that is scripted with outcomes asks nobody.
        self._played = scripted_people(program, script)
        self._events_max = events_max
        self._script = script
        self._player = player
        self._doubts: dict[str, None] = {}
        self._draw = script.draws(seed)
        self._state = RunState()
        self._log: list[Event] = []
        self._runs: list[list[Event]] = []
        self._next: Requested | None = None
        self._agenda: list[_Pending] = []
        self._asked = 0
        self._ages: dict[tuple[str, int], int] = {}
        self._awaited: set[int] = set()  # the executions whose signal is on its way
        self._ends: dict[int, int] = {}  # when they wait no more, by number of the agenda
        self._now = script.now

    def play(self) -> Simulation:
        request: Requested | None = Requested(RUN_ID, self._script.workload)
        for sent in self._script.signals:
            came = Signalled(sent.signal, sent.payload, sent.id, BY_SCRIPT)
            self._at(min(self._now + sent.after, LAST_MOMENT), came)
        while request is not None:
            request = self._play_run(request)
        log = [event for run in self._runs for event in run]
        return Simulation(self._program, self._state, log, self._runs, tuple(self._doubts))

    def _play_run(self, request: Requested) -> Requested | None:
        """Play one run to its end; the one that takes its place, if one does."""
        self._next, self._state, self._log = None, RunState(), []
        self._runs.append(self._log)
        self._ages.clear()
        self._awaited.clear()
        self._ends.clear()
        self._do(request)
        while self._agenda and not self._state.is_final:
            self._now, _, _, number, boundary = heappop(self._agenda)
            if not self._is_stale(number, boundary):
                self._do(boundary)
        self._agenda.clear()  # what has not happened by then happens to nobody
        return self._next

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
            if sum(map(len, self._runs)) > self._events_max:
                raise ConfigError(self._endless())
            transition = decide(self._played, self._state, todo.popleft(), moment)
            self._log.extend(transition.events)
            if transition.ask is not None:
                self._plan(transition.ask)
            for key in transition.jobs:
                lag = self._player.lag(key)
                if lag:
                    self._at(min(self._now + lag, LAST_MOMENT), self._taken(key))
                else:
                    todo.append(self._taken(key))

    def _taken(self, key: Key) -> Taken | Due:
        """A step-run is begun once; one that was answered goes on."""
        run = self._state.step_run(key)
        return Taken(key) if run is None or run.status in _FRESH else Due(key)

    def _plan(self, ask: Invoke | Wait) -> None:
        if isinstance(ask, Wait):
            self._plan_wait(ask)
            return
        if ask.tool.kind == "restart":
            self._at(self._now, Reported(ask.key, self._restarted(ask), ask.started))
            return
        played = self._played_call(ask)
        entry = SUCCESS if played is None else played.entry
        due = min(self._now + entry.takes, LAST_MOMENT)
        limit, own_seconds = self._time_limit(ask)
        if due > limit:
            step = self._program.steps[ask.key.step]
            error = timed_out(ask.tool.kind, step, own_seconds=own_seconds)
            self._at(limit, Reported(ask.key, outcome_of(error=error), ask.started))
            return
        if played is not None and self._kind(ask.key, ask.task.label) == "human":
            self._doubt(played, misfit_of_person(entry, ask.inputs, due))
        self._at(due, Reported(ask.key, self._outcome(ask, entry, due), ask.started))

    def _played_call(self, ask: Invoke) -> Played | None:
        kind = self._kind(ask.key, ask.task.label)
        label, now, inputs = ask.task.label, self._now, ask.inputs
        return self._player.next(Asking(ask.key, label, kind, ask.attempt, now, inputs))

    def _kind(self, key: Key, label: str) -> str:
        """The tool's kind as the author wrote it, whatever is played in its place."""
        step = self._program.steps[key.step]
        return step.tasks[step.index_of[label]].kind

    def _outcome(self, ask: Invoke, entry: Entry, due: int) -> Outcome:
        kind = self._kind(ask.key, ask.task.label)
        if kind not in ("human", "wait"):
            return entry.outcome(due)
        return outcome_of_others(kind, entry, ask.inputs, due)

    def _doubt(self, played: Played, why: str | None) -> None:
        """Note, once, what is odd about an answer that was played."""
        if why is not None:
            self._doubts[f"{played.place}.answer {why}"] = None

    def _plan_wait(self, wait: Wait) -> None:
        """Until its moment, or until the script's person answers or its signal comes."""
        if wait.for_signal:
            self._plan_signal(wait)
            return
        answered = self._answer(wait) if wait.for_person else None
        if answered is not None:
            self._at(*answered)
        elif wait.until < LAST_MOMENT or not wait.for_person:
            self._at(self._lagging(wait), Due(wait.key))

    def _lagging(self, wait: Wait) -> int:
        """When a worker comes for a step-run whose wait is over."""
        return min(wait.until + self._player.lag(wait.key), LAST_MOMENT)

    def _plan_signal(self, wait: Wait) -> None:
        """The signal of the script serves whoever has waited for its name longest."""
        run = self._state.step_run(wait.key)
        assert run is not None
        assert run.awaited is not None
        if run.started_seq in self._awaited:
            return
        self._awaited.add(run.started_seq)
        played = self._player.next(self._question(run))
        entry = None if played is None else played.entry
        if entry is not None and entry.is_signal and self._now + entry.takes <= wait.until:
            came = Signalled(run.awaited.signal, entry.said["signal"], by=BY_SCRIPT)
            self._at(self._now + entry.takes, came, of=wait.key)
        if wait.until < LAST_MOMENT:
            self._at(wait.until, Due(wait.key))
            self._ends[self._asked] = run.started_seq

    def _is_stale(self, number: int, boundary: Boundary) -> bool:
        """Whether this is the end of a wait whose signal has come."""
        started = self._ends.pop(number, None)
        if started is None or not isinstance(boundary, Due):
            return False
        run = self._state.step_run(boundary.key)
        is_waiting = run is not None and run.status is StepRunStatus.AWAITING
        return run is None or not is_waiting or run.started_seq != started

    def _answer(self, wait: Wait) -> tuple[int, Answered] | None:
        """The first answer of the script that fits and comes in time."""
        run = self._state.step_run(wait.key)
        assert run is not None
        assert run.asked is not None
        at = self._now
        while (played := self._player.next(self._question(run))) is not None:
            entry = played.entry
            at += entry.takes
            if at > wait.until or entry.answer is None:
                return None
            why = misfit(run.asked.choices, entry.answer)
            if why is None:
                return at, Answered(wait.key, entry.answer, BY_SCRIPT)
            self._doubt(played, why)
            if played.is_last:
                return None
        return None

    def _question(self, run: StepRun) -> Asking:
        label = run.task or ""
        return Asking(run.key, label, self._kind(run.key, label), run.attempt, self._now)

    def _restarted(self, ask: Invoke) -> Outcome:
        """The run that takes this one's place is played when this one has ended."""
        generation, most = self._state.generation + 1, self._program.limits.restarts
        if generation > most:
            message = f"the run was begun anew {most} times, its limit (restarts)"
            return outcome_of(error=error_of("limit_exceeded", message))
        run = str(int(RUN_ID) + len(self._runs))
        entry = ask.inputs.get("entry") if isinstance(ask.inputs, dict) else None
        self._next = Requested(
            run,
            self._script.workload,
            entry=entry,
            continues=self._state.run,
            generation=generation,
        )
        return outcome_of({"run_id": run})

    def _time_limit(self, ask: Invoke) -> tuple[int, float | None]:
        """When the author's own limits stop the call: defaults of tools are for real tools.

        With the attempt's seconds, unless it is the step's deadline that comes first.
        """
        limit = LAST_MOMENT if ask.deadline is None else max(ask.deadline, self._now)
        timeout = ask.tool.timeout if ask.task.timeout is None else ask.task.timeout
        if isinstance(timeout, (int, float)):
            end = self._now + int(timeout * NANOSECONDS)
            if end < limit:
                return end, timeout
        return limit, None

    def _at(
        self,
        moment: int,
        boundary: Taken | Due | Reported | Answered | Signalled,
        *,
        of: Key | None = None,
    ) -> None:
        """Iterations of one loop that meet in one instant go by index, all else by age.

        `of` is whom a signal is meant for; one that is meant for nobody is as old as it is.
        """
        self._asked += 1
        key, age = of if isinstance(boundary, Signalled) else boundary.key, self._asked
        iteration = None if key is None else key.iteration
        if key is not None and iteration is not None:
            age = self._ages.setdefault((key.step, key.visit), age)
        heappush(self._agenda, (moment, age, iteration or 0, self._asked, boundary))
