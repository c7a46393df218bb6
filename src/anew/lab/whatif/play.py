"""Play a program once on the world of a past run, and count what happened.

The real engine, in virtual time: no tool is called. Knows nothing of other runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.engine.state import Key, RunStatus
from anew.errors import ConfigError
from anew.lab.playing import Asking
from anew.lab.script import Entry
from anew.lab.simulate import Simulation, simulate
from anew.lab.whatif.answering import Chance, Doubts, Known, PastWorld, PlayedScript, Unanswered
from anew.lab.whatif.model import Sample
from anew.lab.whatif.past import Place, Tape
from anew.program.program import Program
from anew.values import Value

# How much longer than the log of the run a play of it may get, and what even a short one may have.
LOG_GROWTH_MAX = 20
PLAYED_EVENTS_MIN = 10_000

# Of a step: a task, or one of the task's rules.
Named = tuple[str, str]
NamedRule = tuple[str, str, int]


class Figures(Struct):
    """What one run cost: calls by task, what its rules did, seconds waited and passed."""

    calls: Counter[Named] = field(default_factory=Counter)
    matched: Counter[NamedRule] = field(default_factory=Counter)
    exhausted: Counter[NamedRule] = field(default_factory=Counter)
    waiting: float = 0.0
    elapsed: float = 0.0


class Play(Struct):
    """How one play ended. `figures` is None where that is not known, and `why` says why.

    `asked` is the execution that had no answer. `chance` counts the draws the log does not have.
    """

    status: str
    figures: Figures | None = None
    why: str = ""
    asked: Asking | None = None
    log: Sequence[e.Event] = ()
    doubts: Doubts = field(default_factory=Doubts)
    modelled: int = 0
    chance: int = 0
    inputs: dict[Place, list[Value]] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        return self.figures is not None


UNKNOWN = "unknown"
ENDINGS = (RunStatus.DONE, RunStatus.FAILED)


def play(
    program: Program,
    tape: Tape,
    *,
    length: int,
    seed: str,
    known: Known | None = None,
    sample: Sample | None = None,
) -> Play:
    """Play to the end; NeedsModel where there is no sample and the log has no answer.

    `length` is that of the run's own log. Chance that the log does not have comes from the seed.
    """
    chance = Chance(tape, Random(seed))
    world = PastWorld(tape, chance, known=known, sample=sample)
    most = PLAYED_EVENTS_MIN + LOG_GROWTH_MAX * length
    try:
        played = simulate(program, _script(tape, chance), events_max=most, player=world)
    except Unanswered as stopped:
        found = Play(UNKNOWN, why=stopped.why, asked=stopped.asking)
    except ConfigError:
        found = Play(UNKNOWN, why=f"it would go on for more than {most:,} events")
    else:
        found = _ended(played, world)
    found.doubts, found.modelled = world.doubts, world.modelled
    found.chance, found.inputs = chance.made_up, world.inputs
    return found


def _script(tape: Tape, chance: Chance) -> PlayedScript:
    # Only that something is scripted counts here: what, the player says.
    said = (Entry({}, 1, 0),)
    return PlayedScript(
        outcomes={f"{step}.{task}": said for step, task in tape.silenced},
        workload=tape.workload,
        now=tape.now,
        signals=tuple(tape.signals),
        draw=chance,
    )


def _ended(played: Simulation, world: PastWorld) -> Play:
    log = played.log
    if len(played.runs) > 1:
        return Play(UNKNOWN, why="it would be begun anew, as another run")
    if played.status not in ENDINGS:
        return Play(UNKNOWN, why=f"it would be {played.status.value} when the log ends")
    if world.endless and any(_is_of(world.endless, event) for event in log):
        return Play(UNKNOWN, why="it would wait for a call whose end the log does not have")
    return Play(played.status.value, figures_of(played.program, log), log=log)


def _is_of(endless: set[tuple[Place, int]], event: e.Event) -> bool:
    if not isinstance(event, e.TaskProcessed):
        return False
    key = Key(event.step or "", event.visit or 0, event.iteration)
    return (Place(key, event.task or ""), event.attempt or 1) in endless


def figures_of(program: Program, log: Sequence[e.Event]) -> Figures:
    """What a whole log amounts to."""
    found = Figures(elapsed=(log[-1].at - log[0].at) / NANOSECONDS)
    relays = {step.name for step in program.steps.values() if step.is_relay}
    for event in log:
        step, task = event.step or "", event.task or ""
        match event:
            case e.TaskStarted() if step not in relays:
                found.calls[step, task] += 1
            case e.TaskProcessed():
                found.waiting += event.delay_seconds or 0.0
                if event.rule is not None:
                    found.matched[step, task, event.rule] += 1
            case e.TaskRetryScheduled():
                found.waiting += event.delay_seconds
            case e.TaskRetryExhausted():
                found.waiting += event.delay_seconds or 0.0
                found.exhausted[step, task, event.rule] += 1
            case _:
                pass
    return found
