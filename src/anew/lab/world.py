"""The world of a simulation: unlimited workers around one run at a time, in virtual time.

Holds the agenda: what will happen, and when. The player says what executions give, the
surroundings what goes wrong meanwhile, the engine what follows. Decides nothing itself.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

from anew.engine.boundaries import (
    Answered,
    Boundary,
    Due,
    Lost,
    Reported,
    Requested,
    Signalled,
    Taken,
)
from anew.engine.decide import decide
from anew.engine.events import Event
from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.next_actions import Invoke, Wait
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.engine.record import Moment
from anew.engine.state import FOR_OTHERS, RunState, StepRun, StepRunKey, StepRunStatus
from anew.engine.timeouts import timed_out
from anew.errors import ConfigError
from anew.guards.keeper import Guards
from anew.lab.fault_injection import (
    Crashed,
    FaultInjector,
    Missed,
    NoFaults,
    Occurrence,
    PlayedCall,
)
from anew.lab.outcome_sources import ExecutionStart, OutcomeProvider, PlayedEntry
from anew.lab.script import BY_SCRIPT, SUCCESS, Script, ScriptEntry
from anew.lab.scripted_waits import misfit, misfit_of_person, outcome_of_others, scripted_people
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.program import Program

if TYPE_CHECKING:
    from anew.lab.played_artifacts import PlayedArtifacts

RUN_ID = "1"
# Far above what a scenario needs, and about a gigabyte; a run that passes it goes in circles.
EVENTS_MAX = 1_000_000
# What is still on its way when a run has ended, and is delivered where the surroundings go on.
LATE_DELIVERIES_MAX = 1_000
_FRESH = (StepRunStatus.SCHEDULED, StepRunStatus.READY)

# When; when the visit first wanted to run; which iteration; a unique number; what.
_Pending: TypeAlias = tuple[int, int, int, int, Occurrence]


class EndlessRun(ConfigError):
    """The simulation passed its events, and the run still goes on."""


class World:
    """Plays one script; `runs`, `state` and `doubts` are what came of it."""

    def __init__(
        self,
        program: Program,
        script: Script,
        *,
        player: OutcomeProvider,
        seed: int | None = None,
        events_max: int = EVENTS_MAX,
        surroundings: FaultInjector | None = None,
    ) -> None:
        self.program = program
        self.state = RunState()
        self.runs: list[list[Event]] = []
        self.doubts: dict[str, None] = {}
        # What is executed: a person's task that is scripted with outcomes asks nobody.
        self._played = scripted_people(program, script)
        self._events_max = events_max
        self._script = script
        self._player = player
        self._around = surroundings or NoFaults()
        self._draw = script.draws(seed)
        self._log: list[Event] = []
        # One for all runs that are played: guards outlive the run that a restart ends.
        self._guards = (
            Guards([program.dependencies], {}, is_whole=True) if program.dependencies else None
        )
        self._next: Requested | None = None
        self._agenda: list[_Pending] = []
        self._asked = 0
        self._ages: dict[tuple[str, int], int] = {}
        self._awaited: set[int] = set()  # the executions whose answer or signal is on its way
        self._ends: dict[int, int] = {}  # when they wait no more, by number of the agenda
        self._by_clock: dict[int, int] = {}  # what the clock must show, by number of the agenda
        self._gone: set[int] = set()  # the executions whose machine has died
        self._asleep: set[int] = set()  # the executions that are parked, on no machine
        self._now = self._last_at = script.now
        self._offset = 0

    @cached_property
    def _kept(self) -> PlayedArtifacts:
        """What tasks have kept by name; few documents do."""
        from anew.lab.played_artifacts import PlayedArtifacts  # noqa: PLC0415

        return PlayedArtifacts()

    def play(self) -> None:
        """To the end of the run, or of the last one where others take its place."""
        request: Requested | None = Requested(RUN_ID, self._script.workload)
        for sent in self._script.signals:
            came = Signalled(sent.signal, sent.payload, sent.id, BY_SCRIPT)
            self._at(self._now + sent.after, came)
        while request is not None:
            request = self._play_run(request)

    def _play_run(self, request: Requested) -> Requested | None:
        """Play one run to its end; the one that takes its place, if one does."""
        self._next, self.state, self._log = None, RunState(), []
        self.runs.append(self._log)
        for memory in (self._ages, self._ends, self._by_clock):
            memory.clear()
        for executions in (self._awaited, self._gone, self._asleep):
            executions.clear()
        self._do(request)
        self._deliver_again(request)
        while self._agenda and not self.state.is_final:
            self._look_at_the_clock()
            self._run_next()
        if self._around.delivers_late:
            self._deliver_the_rest()
        self._agenda.clear()  # what has not happened by then happens to nobody
        return self._next

    def _run_next(self) -> None:
        """The next thing of the agenda happens."""
        self._now, _, _, number, what = heappop(self._agenda)
        self._by_clock.pop(number, None)
        if isinstance(what, Crashed):
            self._crash()
            return
        boundary = self._boundary(number, what)
        if boundary is not None:
            self._do(boundary)

    def _boundary(self, number: int, what: Occurrence) -> Boundary | None:
        """What the engine is told; nothing of what a lease, or a wait that is over, holds back."""
        match what:
            case Missed():
                run = self.state.step_run(what.key)
                is_his = run is not None and run.started_seq == what.started
                return Lost(what.key) if is_his else None
            case Reported() if what.started in self._gone:
                return None
            case Crashed():
                return None
            case _:
                return None if self._is_stale(number, what) else what

    def _crash(self) -> None:
        runs = self.state.live_step_runs()
        lost = [
            run
            for run in runs
            if run.status is StepRunStatus.EXECUTING and run.started_seq not in self._asleep
        ]
        self._gone.update(run.started_seq for run in lost)
        for at, missed in self._around.crashed(lost, self._now):
            self._at(at, missed)

    def _deliver_the_rest(self) -> None:
        """Nobody has told the queues that the run is over."""
        ended_at = self._now
        for _ in range(LATE_DELIVERIES_MAX):
            if not self._agenda:
                break
            self._run_next()
        self._now = ended_at

    def _look_at_the_clock(self) -> None:
        """A clock that was set moves the end of every wait."""
        offset = self._around.offset()
        if offset == self._offset:
            return
        self._offset = offset
        self._agenda = [
            (self._true(self._by_clock[number]), age, iteration, number, what)
            if number in self._by_clock
            else (at, age, iteration, number, what)
            for at, age, iteration, number, what in self._agenda
        ]
        heapify(self._agenda)

    @property
    def _shown(self) -> int:
        """What the clock shows now."""
        return min(self._now + self._offset, LAST_MOMENT)

    def _true(self, shown: int) -> int:
        """The moment at which the clock shows this, as it goes now."""
        return max(self._now, shown - self._offset) if self._offset else shown

    def _endless(self) -> str:
        busy = sorted(self.state.visits.items(), key=lambda visit: -visit[1])[:3]
        steps = ", ".join(f"{step} ({visits} visits)" for step, visits in busy)
        return (
            f"the simulation passed {self._events_max} events and the run is still running; "
            f"most visited: {steps}. Give the script an outcome that ends the cycle."
        )

    def _do(self, boundary: Boundary) -> None:
        """One thing that happens, and every step-run it hands out: a worker is always free."""
        self._last_at = shown = self._around.moment(self._shown, self._last_at)
        moment = Moment(shown, self._draw, guards=self._guards)
        todo = deque([boundary])
        while todo:
            if sum(map(len, self.runs)) > self._events_max:
                raise EndlessRun(self._endless())
            said = todo.popleft()
            transition = decide(self._played, self.state, said, moment)
            self._log.extend(transition.events)
            self._around.saw(said, transition, now=self._now, shown=shown)
            if transition.ask is not None:
                self._plan(transition.ask)
            for key in transition.jobs:
                taken, lag = self._taken(key), self._player.lag(key)
                if lag:
                    self._at(self._now + lag, taken)
                else:
                    todo.append(taken)
                    self._deliver_again(taken)
            if self._guards is not None and self._guards.woken:
                todo.extend(self._called(self._guards))

    def _called(self, guards: Guards) -> list[Due]:
        """Held calls that may start now, or can learn when."""
        called, guards.woken = guards.woken, []
        return [
            Due(StepRunKey(one.step, one.visit, one.iteration))
            for one in called
            if one.run == self.state.run
        ]

    def _taken(self, key: StepRunKey) -> Taken | Due:
        """A step-run is begun once; one that was answered goes on."""
        run = self.state.step_run(key)
        return Taken(key) if run is None or run.status in _FRESH else Due(key)

    def _plan(self, ask: Invoke | Wait) -> None:
        if isinstance(ask, Wait):
            self._plan_wait(ask)
        elif ask.tool.outcome_from is OutcomeSource.RESTART:
            self._at(self._now, Reported(ask.key, self._restarted(ask), ask.started))
        else:
            self._plan_call(ask)

    def _plan_call(self, ask: Invoke) -> None:
        kind = self._kind(ask.key, ask.task.label)
        asking = ExecutionStart(ask.key, ask.task.label, kind, ask.attempt, self._now, ask.inputs)
        played = self._player.next(asking)
        if played is None and ask.tool.outcome_from is OutcomeSource.CLOCK:
            self._plan_sleep(ask)
            return
        for at, what in self._around.arrivals(self._call(ask, kind, played)):
            self._at(at, what)

    def _plan_sleep(self, ask: Invoke) -> None:
        """As the real tool: it is parked, so that nobody is at work meanwhile."""
        from anew.lab.pure_tools import slept  # noqa: PLC0415 - few documents have any

        self._asleep.add(ask.started)
        until, outcome = slept(ask, self.state.run)
        ends, (limit, own_seconds) = self._true(until), self._time_limit(ask)
        if ends > limit:
            ends, outcome = limit, self._given_up(ask, own_seconds)
        self._at_clock(ends + self._offset, Reported(ask.key, outcome, ask.started))

    def _call(self, ask: Invoke, kind: str, played: PlayedEntry | None) -> PlayedCall:
        """What the call would come to if its worker lives."""
        entry = SUCCESS if played is None else played.entry
        ends = min(self._now + entry.takes, LAST_MOMENT)
        limit, own_seconds = self._time_limit(ask)
        if ends > limit:
            late = Reported(ask.key, self._given_up(ask, own_seconds), ask.started)
            return PlayedCall(ask, late, self._now, limit + entry.late, entry.takes)
        if played is not None and kind_named(kind).outcome_from is OutcomeSource.PERSON:
            self._doubt(played, misfit_of_person(entry, ask.inputs, ends))
        outcome = self._outcome(kind, entry, ask, ends)
        if ask.tool.outcome_from is OutcomeSource.STORE and not outcome.is_error:
            given = self._kept.outcome(ask, self.state.run)
            outcome = given if played is None else outcome
        report = Reported(ask.key, outcome, ask.started)
        return PlayedCall(ask, report, self._now, ends + entry.late, entry.takes)

    def _kind(self, key: StepRunKey, label: str) -> str:
        """The tool's kind as the author wrote it, whatever is played in its place."""
        step = self.program.steps[key.step]
        return step.tasks[step.index_of[label]].kind

    def _outcome(self, kind: str, entry: ScriptEntry, ask: Invoke, ends: int) -> Outcome:
        shown = ends + self._offset
        if not kind_named(kind).waits_for_others:
            return entry.outcome(shown)
        return outcome_of_others(kind, entry, ask.inputs, shown)

    def _doubt(self, played: PlayedEntry, why: str | None) -> None:
        """Note, once, what is odd about an answer that was played."""
        if why is not None:
            self.doubts[f"{played.place}.answer {why}"] = None

    def _plan_wait(self, wait: Wait) -> None:
        """Until its moment, or until the script's person answers or its signal comes."""
        if wait.is_for_others:
            self._plan_for_others(wait)
        else:
            self._at_clock(wait.until + self._player.lag(wait.key), Due(wait.key))

    def _plan_for_others(self, wait: Wait) -> None:
        """What they say is asked once, however often someone looks whether they have said it."""
        run = self.state.step_run(wait.key)
        assert run is not None
        if run.started_seq in self._awaited:
            return
        self._awaited.add(run.started_seq)
        is_coming = (
            self._plan_signal(wait, run) if wait.for_signal else self._plan_answer(wait, run)
        )
        if wait.until >= LAST_MOMENT:
            return
        lag = 0 if is_coming or wait.for_signal else self._player.lag(wait.key)
        number = self._at_clock(wait.until + lag, Due(wait.key))
        if is_coming or wait.for_signal:
            self._ends[number] = run.started_seq

    def _plan_signal(self, wait: Wait, run: StepRun) -> bool:
        """The signal of the script serves whoever has waited for its name longest."""
        assert run.awaited is not None
        played = self._player.next(self._question(run))
        entry = None if played is None else played.entry
        if entry is None or not entry.is_signal or self._shown + entry.takes > wait.until:
            return False
        came = Signalled(run.awaited.signal, entry.said["signal"], by=BY_SCRIPT)
        self._at(self._now + entry.takes, came, of=wait.key)
        return True

    def _is_stale(self, number: int, what: Occurrence) -> bool:
        """Whether this is the end of a wait whose answer or signal has come."""
        started = self._ends.pop(number, None)
        if started is None or not isinstance(what, Due):
            return False
        run = self.state.step_run(what.key)
        return run is None or run.status not in FOR_OTHERS or run.started_seq != started

    def _plan_answer(self, wait: Wait, run: StepRun) -> bool:
        """The first answer of the script that fits and comes in time."""
        assert run.question is not None
        takes = 0
        while (played := self._player.next(self._question(run))) is not None:
            entry = played.entry
            takes += entry.takes
            if self._shown + takes > wait.until or entry.answer is None:
                return False
            why = misfit(run.question.choices, entry.answer)
            if why is None:
                self._at(self._now + takes, Answered(wait.key, entry.answer, BY_SCRIPT))
                return True
            self._doubt(played, why)
            if played.is_last:
                return False
        return False

    def _question(self, run: StepRun) -> ExecutionStart:
        label = run.task or ""
        return ExecutionStart(run.key, label, self._kind(run.key, label), run.attempt, self._now)

    def _restarted(self, ask: Invoke) -> Outcome:
        """The run that takes this one's place is played when this one has ended."""
        generation, most = self.state.generation + 1, self.program.limits.restarts
        if generation > most:
            message = f"the run was restarted {most} times, its limit (restarts)"
            return outcome_of(error=error_of("limit_exceeded", message))
        run = str(int(RUN_ID) + len(self.runs))
        entry = ask.inputs.get("entry") if isinstance(ask.inputs, dict) else None
        self._next = Requested(
            run,
            self._script.workload,
            entry=entry,
            continues=self.state.run,
            generation=generation,
        )
        return outcome_of({"run_id": run})

    def _given_up(self, ask: Invoke, own_seconds: float | None) -> Outcome:
        step = self.program.steps[ask.key.step]
        return outcome_of(error=timed_out(ask.tool.kind, step, own_seconds=own_seconds))

    def _time_limit(self, ask: Invoke) -> tuple[int, float | None]:
        """When the author's own limits stop the call: defaults of tools are for real tools.

        With the attempt's seconds, unless it is the step's deadline that comes first.
        """
        deadline = LAST_MOMENT if ask.deadline is None else self._true(ask.deadline)
        limit = max(deadline, self._now)
        timeout = ask.tool.timeout if ask.task.timeout is None else ask.task.timeout
        if timeout is None:
            timeout = self._around.seconds_max(ask.tool.kind)
        if isinstance(timeout, (int, float)):
            end = self._now + int(timeout * NANOSECONDS)
            if end < limit:
                return end, timeout
        return limit, None

    def _at_clock(self, shown: int, due: Due | Reported) -> int:
        """When the clock shows this moment; its number on the agenda."""
        shown = min(shown, LAST_MOMENT)
        moment = self._true(shown)
        number = self._push(moment, due, due.key)
        self._by_clock[number] = shown
        self._deliver_again(due, after=moment)
        return number

    def _at(self, moment: int, what: Occurrence, *, of: StepRunKey | None = None) -> None:
        """`of` is whom a signal is meant for; one that is meant for nobody is as old as it is."""
        self._push(moment, what, getattr(what, "key", of))
        self._deliver_again(what, after=moment)

    def _deliver_again(self, what: Occurrence, *, after: int | None = None) -> None:
        later = self._around.again(what)
        if later is not None:
            self._push((self._now if after is None else after) + later, what, None)

    def _push(self, moment: int, what: Occurrence, key: StepRunKey | None) -> int:
        """Iterations of one loop that meet in one instant go by index, all else by age."""
        self._asked += 1
        age, iteration = self._asked, None if key is None else key.iteration
        if key is not None and iteration is not None:
            age = self._ages.setdefault((key.step, key.visit), age)
        heappush(self._agenda, (min(moment, LAST_MOMENT), age, iteration or 0, self._asked, what))
        return self._asked
