"""Surroundings in which faults strike, and a player whose calls are refused or slow.

Both draw from one `Chance`, and keep the ledger of what really happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from msgspec.structs import replace

from anew.engine.boundaries import Answered, Boundary, Due, Reported, Requested, Signalled, Taken
from anew.engine.decide import Transition
from anew.engine.events import RunRequested
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import Outcome
from anew.engine.state import StepRun, StepRunKey
from anew.lab.fault_injection import Crashed, Missed, Occurrence, PlayedCall
from anew.lab.faults.chance import Chance
from anew.lab.faults.kinds import CLOCK, DUPLICATE, KILL, SLOW
from anew.lab.faults.ledger import DecidedTurn, FaultLedger, StartedCall
from anew.lab.faults.outages import Outages, place_of
from anew.lab.outcome_sources import ExecutionStart, OutcomeProvider, PlayedEntry
from anew.lab.script import SUCCESS
from anew.program.kinds import kind_named
from anew.runtime.turns import moment_after

# As long as `anew serve` and workers keep a lease that nobody renews (ANEW_LEASE_SECONDS).
LEASE_SECONDS = 30.0
# Of the workers that are lost: those whose machine dies with all that is on it, and those that are
# only cut off, finish, and report when nobody waits for them any more.
MACHINES, CUT_OFF = 0.25, 0.25
# The share of calls that take no time and have their effect before a worker dies in that moment.
QUICK = 0.5
# A delivery that comes again does so at once, or up to about so much later.
AT_ONCE, LATER_SECONDS_MEAN = 0.5, 30.0
# A slow call takes this many times as long, or by a heavy tail more: one in sixteen ten times that.
SLOW_FACTOR, SLOW_TAIL, SLOWEST_SECONDS = 5.0, 1.2, 86_400.0
# What a call is taken to last, and a worker to need, whose script says nothing.
CALL_SECONDS = 1.0
# How far a clock drifts, and how far it may be set at the most; a quarter of the faults set it.
DRIFT_SECONDS, JUMP_SECONDS, JUMPS = 0.5, 600.0, 0.25


class SeededFaults:
    """Surroundings with faults. `ledgers` has one ledger for each run that was played."""

    delivers_late = True

    def __init__(self, chance: Chance) -> None:
        self.ledgers: list[FaultLedger] = []
        self._chance = chance
        self._random = Random(f"{chance.seed}:world")
        self._jump = self._drift = self.now = 0

    def offset(self) -> int:
        if self._chance.strikes(CLOCK):
            random = self._chance.stream(CLOCK)
            if random.random() < JUMPS:
                self._jump = _nanoseconds(random.uniform(-JUMP_SECONDS, JUMP_SECONDS))
            self._drift = _nanoseconds(random.uniform(-DRIFT_SECONDS, DRIFT_SECONDS))
            seconds = (self._jump + self._drift) / NANOSECONDS
            self._chance.note(CLOCK, f"the clock is {seconds:+.3f} s off", at=self.now)
        return self._jump + self._drift

    def moment(self, shown: int, last: int) -> int:
        return moment_after(last, shown, draw=self._random.randrange)

    def seconds_max(self, kind: str) -> float | None:
        return kind_named(kind).timeout_seconds if self._chance.rate(SLOW) else None

    def arrivals(self, call: PlayedCall) -> Iterable[tuple[int, Occurrence]]:
        execution = self._started_call(call)
        if not self._chance.strikes(KILL):
            return ((call.ends, call.report),)
        random = self._chance.stream(KILL)
        died = call.now + int((call.ends - call.now) * random.random())
        how, place = random.random(), f"{call.ask.key.step}.{call.ask.task.label}"
        if how < MACHINES:
            self._chance.note(KILL, f"the machine dies in {place}, with all running", at=died)
            return ((died, Crashed()),)
        missed = Missed(call.ask.key, call.ask.started)
        noticed = died + self._lease(random)
        if how < MACHINES + CUT_OFF:
            self._chance.note(KILL, f"the worker of {place} is cut off, reports late", at=died)
            late = max(call.ends, noticed) + _tail(random, CALL_SECONDS)
            return ((noticed, missed), (late, call.report))
        execution.dead_at = died
        done = "after its effect" if execution.has_effect else "before its effect"
        self._chance.note(KILL, f"the worker of {place} dies {done}", at=died)
        return ((noticed, missed),)

    def again(self, what: Occurrence) -> int | None:
        if isinstance(what, Crashed) or not self._chance.strikes(DUPLICATE):
            return None
        random = self._chance.stream(DUPLICATE)
        seconds = 0.0
        if random.random() >= AT_ONCE:
            seconds = random.expovariate(1 / LATER_SECONDS_MEAN)
        when = f"{seconds:.3f} s later" if seconds else "at once"
        self._chance.note(DUPLICATE, f"{_delivered(what)} comes again, {when}", at=self.now)
        return _nanoseconds(seconds)

    def crashed(self, lost: Iterable[StepRun], now: int) -> Iterable[tuple[int, Missed]]:
        """A worker that lost its lease before is gone for the engine already."""
        died = {run.started_seq: run.key for run in lost}
        for execution in self.ledgers[-1].executions:
            if execution.started in died and execution.dead_at is None:
                execution.dead_at = now
        random = self._chance.stream(KILL)
        return [(now + self._lease(random), Missed(key, seq)) for seq, key in died.items()]

    def saw(self, what: Boundary, transition: Transition, *, now: int, shown: int) -> None:
        self.now = now
        if transition.events and isinstance(transition.events[0], RunRequested):
            self.ledgers.append(FaultLedger())
        ledger = self.ledgers[-1]
        before, ledger.seen = ledger.seen, ledger.seen + len(transition.events)
        started = what.started if isinstance(what, Reported) else None
        ledger.turns.append(DecidedTurn(before, ledger.seen, now, shown, started))

    def _started_call(self, call: PlayedCall) -> StartedCall:
        ask, ledger = call.ask, self.ledgers[-1]
        execution = StartedCall(
            key=ask.key,
            label=ask.task.label,
            kind=ask.tool.kind,
            attempt=ask.attempt,
            started=ask.started,
            idempotency_key=ask.idempotency_key,
            inputs=ask.inputs,
            outcome=call.report.outcome,
            seen=ledger.seen,
            is_quick=self._random.random() < QUICK,
        )
        effect_at = call.now + int(call.takes * self._random.random())
        if _may_have_effect(call.report.outcome) and effect_at <= call.ends:
            execution.effect_at = effect_at
        ledger.executions.append(execution)
        return execution

    def _lease(self, random: Random) -> int:
        """Until nobody has heard of the worker for as long as its lease says."""
        return _nanoseconds(LEASE_SECONDS * random.uniform(0.5, 1.0))


class FaultyOutcomes:
    """Plays what another player says, unless the other side is out, and more slowly at times."""

    def __init__(self, player: OutcomeProvider, chance: Chance, around: SeededFaults) -> None:
        self._player = player
        self._chance = chance
        self._around = around
        self._outages = Outages(chance)

    def next(self, asking: ExecutionStart) -> PlayedEntry | None:
        refusal = self._outages.refusal(asking)
        if refusal is not None:
            return PlayedEntry(refusal, "fault")
        played = self._player.next(asking)
        if not self._chance.strikes(SLOW):
            return played
        if played is None and kind_named(asking.kind).is_wait:
            return None  # nobody is no slower than that, nor a sleep
        entry = SUCCESS if played is None else played.entry
        usual = entry.takes / NANOSECONDS or CALL_SECONDS
        slow = replace(entry, takes=_tail(self._chance.stream(SLOW), usual))
        what = f"{place_of(asking)} takes {slow.takes / NANOSECONDS:.3f} s"
        self._chance.note(SLOW, what, at=asking.now)
        return PlayedEntry(slow) if played is None else replace(played, entry=slow)

    def lag(self, key: StepRunKey) -> int:
        lag = self._player.lag(key)
        if not self._chance.strikes(SLOW):
            return lag
        lag += _tail(self._chance.stream(SLOW), CALL_SECONDS)
        what = f"the worker of {key.step} comes {lag / NANOSECONDS:.3f} s late"
        self._chance.note(SLOW, what, at=self._around.now)
        return lag


def _delivered(what: Occurrence) -> str:
    """How a fault names a delivery."""
    key: StepRunKey | None = getattr(what, "key", None)
    word = _DELIVERED[type(what)]
    return word if key is None else f"{word} of {key.step}"


_DELIVERED: dict[type, str] = {
    Requested: "the request",
    Taken: "the job",
    Due: "the due time",
    Reported: "the report",
    Answered: "the answer",
    Signalled: "the signal",
    Missed: "the loss",
}


def _may_have_effect(outcome: Outcome) -> bool:
    """What failed did nothing; of what was given up for its time nobody knows."""
    return outcome.error is None or outcome.error["kind"] == "timeout"


def _tail(random: Random, seconds: float) -> int:
    """Five times as many seconds, and by a heavy tail more."""
    longer = seconds * SLOW_FACTOR * random.paretovariate(SLOW_TAIL)
    return _nanoseconds(max(seconds, min(longer, SLOWEST_SECONDS)))


def _nanoseconds(seconds: float) -> int:
    return round(seconds * NANOSECONDS)
