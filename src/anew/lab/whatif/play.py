"""Play a program once on the world of a past run, and count what happened.

The real engine, in virtual time: no tool is called. Knows nothing of other runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunStatus, key_of
from anew.errors import ConfigError
from anew.lab.log_world import LogWorld, TaskPlace, world_of_log
from anew.lab.outcome_sources import ExecutionStart
from anew.lab.script import ScriptEntry
from anew.lab.simulate import Simulation, simulate
from anew.lab.whatif.comparability import Doubts, doubts_of, silence_passed
from anew.lab.whatif.model import Sample
from anew.lab.whatif.past_outcomes import (
    KnownExecutions,
    NotRecorded,
    PastChance,
    PastOutcomes,
    PlayedScript,
)
from anew.program.policy import DirectiveKind
from anew.program.program import Program

# How much longer than the log of the run a play of it may get, and what even a short one may have.
LOG_GROWTH_MAX = 20
PLAYED_EVENTS_MIN = 10_000

# Of a step: a task, or one of the task's rules.
Named = tuple[str, str]
NamedRule = tuple[str, str, int]


class RuleTally(Struct):
    """What a rule did in one run: `helped` counts failures, or results not accepted, it dealt with.

    `retries` are the executions it asked for, `waiting` the seconds until they and jumps came.
    """

    matched: int = 0
    exhausted: int = 0
    retries: int = 0
    helped: int = 0
    waiting: float = 0.0


NO_TALLY = RuleTally()


class Figures(Struct):
    """What one run cost: calls by task, what its rules did, seconds waited and passed."""

    calls: Counter[Named] = field(default_factory=Counter)
    rules: dict[NamedRule, RuleTally] = field(default_factory=dict)
    waiting: float = 0.0
    elapsed: float = 0.0

    def rule(self, named: NamedRule) -> RuleTally:
        return self.rules.get(named, NO_TALLY)


class PlayEnd(StrEnum):
    """How a play ends: as runs do, or nobody knows."""

    DONE = RunStatus.DONE.value
    FAILED = RunStatus.FAILED.value
    UNKNOWN = "unknown"


class Play(Struct):
    """How one play ended. `figures` is None where that is not known, and `why` says why.

    `asked` is the execution that had no answer. `chance` counts the draws the log does not have.
    `events` is how much was played, about.
    """

    status: PlayEnd
    figures: Figures | None = None
    why: str = ""
    asked: ExecutionStart | None = None
    log: Sequence[e.Event] = ()
    doubts: Doubts = field(default_factory=Doubts)
    modelled: int = 0
    chance: int = 0
    events: int = 0

    @property
    def is_known(self) -> bool:
        return self.figures is not None


_ENDS = {RunStatus.DONE: PlayEnd.DONE, RunStatus.FAILED: PlayEnd.FAILED}


def play(
    program: Program,
    recorded: LogWorld,
    *,
    length: int,
    draw: Callable[[], float],
    known: KnownExecutions | None = None,
    sample: Sample | None = None,
) -> Play:
    """Play to the end; NeedsModel where there is no sample and the log has no answer.

    `length` is that of the run's own log. Chance that the log does not have comes from `draw`.
    """
    chance = PastChance(recorded, draw)
    world = PastOutcomes(recorded, chance, known=known, sample=sample)
    most = PLAYED_EVENTS_MIN + LOG_GROWTH_MAX * length
    try:
        played = simulate(program, _script(recorded, chance), events_max=most, player=world)
    except NotRecorded as stopped:
        found = Play(PlayEnd.UNKNOWN, why=stopped.why, asked=stopped.asking, events=length)
    except ConfigError:
        found = Play(
            PlayEnd.UNKNOWN, why=f"it would continue for more than {most:,} events", events=most
        )
    else:
        found = _ended(played, world, known)
        found.events = len(played.log)
    found.modelled, found.chance = world.modelled, chance.made_up
    return found


def _script(recorded: LogWorld, chance: PastChance) -> PlayedScript:
    # Only that something is scripted counts here: what, the player says.
    said = (ScriptEntry({}, 1, 0),)
    return PlayedScript(
        outcomes={f"{step}.{task}": said for step, task in recorded.silenced},
        workload=recorded.workload,
        now=recorded.now,
        signals=tuple(recorded.signals),
        draw=chance,
    )


def _ended(played: Simulation, world: PastOutcomes, known: KnownExecutions | None) -> Play:
    log = played.log
    if len(played.runs) > 1:
        return Play(PlayEnd.UNKNOWN, why="it would be restarted, as another run")
    if world.endless and any(_is_of(world.endless, event) for event in log):
        return Play(PlayEnd.UNKNOWN, why="it would wait for a call whose end the log does not have")
    asked = {} if known is None else world_of_log(played.program, log).places
    passed = None if known is None else silence_passed(known.executions, asked)
    if passed is not None:
        return Play(PlayEnd.UNKNOWN, why=passed)
    if played.status not in _ENDS:
        return Play(PlayEnd.UNKNOWN, why=f"it would be {played.status.value} when the log ends")
    found = Play(_ENDS[played.status], figures_of(played.program, log), log=log)
    if known is not None:
        found.doubts = doubts_of(known.executions, asked, longer=known.longer)
        found.doubts.borrowed = world.borrowed
    return found


def _is_of(endless: set[tuple[TaskPlace, int]], event: e.Event) -> bool:
    if not isinstance(event, e.TaskProcessed):
        return False
    return (TaskPlace(key_of(event), event.task or ""), event.attempt or 1) in endless


def figures_of(program: Program, log: Sequence[e.Event]) -> Figures:
    """What a whole log amounts to."""
    found = Figures(elapsed=(log[-1].at - log[0].at) / NANOSECONDS)
    relays = {step.name for step in program.steps.values() if step.is_relay}
    for event in log:
        match event:
            case e.TaskStarted() if event.step not in relays:
                found.calls[event.step or "", event.task or ""] += 1
            case e.TaskProcessed() | e.TaskRetryScheduled() | e.TaskRetryExhausted():
                _count_rule(found, event)
            case _:
                pass
    return found


def _count_rule(
    found: Figures, event: e.TaskProcessed | e.TaskRetryScheduled | e.TaskRetryExhausted
) -> None:
    """What a rule decided, or that none did."""
    delay = event.delay_seconds or 0.0
    found.waiting += delay
    if event.rule is None:
        return
    named = (event.step or "", event.task or "", event.rule)
    tally = found.rules.setdefault(named, RuleTally())
    tally.waiting += delay
    match event:
        case e.TaskProcessed():
            tally.matched += 1
            is_rescued = event.outcome.error is not None and event.directive.accepts
            tally.helped += is_rescued or event.directive is DirectiveKind.RETRY
        case e.TaskRetryScheduled():
            tally.retries += 1
        case e.TaskRetryExhausted():
            tally.exhausted += 1
            tally.helped -= not event.directive.accepts
