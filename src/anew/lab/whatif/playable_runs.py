"""Which past runs can be played at all: those that their own program derives again.

Plays each once on its own program, to know what it asked of the world. Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from anew.engine import events as e
from anew.lab.decisions import departure
from anew.lab.log_world import NOT_ACCEPTED, LogWorld, own_part, world_of_log
from anew.lab.whatif.changes import longer_timeouts, rule_pairs
from anew.lab.whatif.past_outcomes import KnownExecutions, NeedsModel
from anew.lab.whatif.play import Figures, PlayEnd, play
from anew.lab.whatif.verdict import SkippedRun
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.program import Program

_ENDED = {e.RunDone: PlayEnd.DONE, e.RunFailed: PlayEnd.FAILED}
# What tools that need no world may fail with by themselves.
_OWN_ERRORS = ("config", "timeout")


class PastRun(Struct, frozen=True):
    """A run that ended: its id, the program it had, and its whole log."""

    run: str
    program: Program
    log: Sequence[e.Event]


class PlayableRun(Struct, frozen=True):
    """A past run that its own program derives again from its world."""

    past: PastRun
    world: LogWorld
    status: PlayEnd
    figures: Figures
    known: KnownExecutions


def scripted_tasks(worlds: Iterable[LogWorld]) -> frozenset[tuple[str, str]]:
    """The tasks that need no world, and yet failed: a simulation played them."""
    return frozenset(
        one.named
        for world in worlds
        for one in world.executions()
        if kind_named(one.kind).is_known_by_inputs and one.has_ended
        if not one.is_success and one.amounts_to not in (NOT_ACCEPTED, *_OWN_ERRORS)
    )


def worlds_of(runs: Sequence[PastRun]) -> dict[str, LogWorld]:
    ended = [one for one in runs if _ending(one.log) is not None]
    return {one.run: world_of(one, position) for position, one in enumerate(ended)}


def world_of(past: PastRun, position: int) -> LogWorld:
    """The world of a past run, under the id that was given with it."""
    world = world_of_log(past.program, past.log)
    workload = own_part(world.workload, past.program.workload)
    return replace(world, run=past.run, position=position, workload=workload)


def _ending(log: Sequence[e.Event]) -> PlayEnd | None:
    return _ENDED.get(type(log[-1])) if log else None


def prepared(
    past: PastRun, world: LogWorld | None, program: Program, scripted: frozenset[tuple[str, str]]
) -> PlayableRun | SkippedRun:
    """The run, if playing its own program on its world gives its own decisions again."""
    status = _ending(past.log)
    if world is None or status is None:
        is_cancelled = past.log and isinstance(past.log[-1], e.RunCancelled)
        return SkippedRun(past.run, "someone cancelled it" if is_cancelled else "it has not ended")
    if _is_of_a_line(past):
        return SkippedRun(past.run, "it was restarted, and a line of runs is not followed")
    try:
        again = play(past.program, world, length=len(past.log), draw=Random(0).random)
    except NeedsModel:
        return SkippedRun(
            past.run, "its own program asks for executions that its log does not have"
        )
    if again.figures is None:
        return SkippedRun(past.run, f"played again on its own program, {again.why}")
    apart = departure(past.log, again.log)
    if apart is not None:
        told = f"played again on its own program it differs at seq {apart.seq} ({apart.place})"
        return SkippedRun(past.run, told)
    asked = world_of_log(past.program, again.log).places
    known = KnownExecutions(asked, longer_timeouts(past.program, program), scripted)
    return PlayableRun(
        past, world, status, _renumbered(again.figures, past.program, program), known
    )


def _renumbered(figures: Figures, old: Program, new: Program) -> Figures:
    """The rules by the numbers that their equals have in the new program."""
    pairs = rule_pairs(old, new)
    return replace(figures, rules={pairs[rule]: told for rule, told in figures.rules.items()})


def _is_of_a_line(past: PastRun) -> bool:
    """Whether the run took the place of another, or another took its place."""
    first = past.log[0]
    if isinstance(first, e.RunRequested) and first.continues is not None:
        return True
    steps = past.program.steps.values()
    restarts = {
        step.name
        for step in steps
        for task in step.tasks
        if task.outcome_from is OutcomeSource.RESTART
    }
    return any(isinstance(event, e.TaskStarted) and event.step in restarts for event in past.log)
