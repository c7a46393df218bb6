"""Find the worst run of a small program by trying everything the world can do.

Plays the real engine again and again, each time with other choices: what every execution gives,
how long it takes, what is drawn, whether a person answers. A choice that leads to a state which has
been seen with costs as high is not followed further, since it can only repeat what is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.engine.state import LoopVisit, RunState, StepRunKey, StepRunStatus
from anew.lab.outcome_sources import ExecutionStart, PlayedEntry
from anew.lab.script import Script, ScriptEntry
from anew.lab.world import World
from anew.program.program import Program

# What one execution gives: a scripted outcome and how many seconds it takes.
Options = Callable[[ExecutionStart], Sequence[tuple[dict[str, object], float]]]

# The costs at which a state has been seen.
Known = dict[object, list[tuple[Counter[tuple[str, str]], float]]]


class Worst(Struct):
    """The worst that was seen. `is_whole` when nothing was left untried."""

    executions: Counter[tuple[str, str]] = field(default_factory=Counter)
    all_executions: int = 0
    seconds: float = 0.0
    runs: int = 0
    is_whole: bool = True

    def see(self, counts: Counter[tuple[str, str]], seconds: float) -> None:
        self.executions |= counts
        self.all_executions = max(self.all_executions, counts.total())
        self.seconds = max(self.seconds, seconds)


class Seen(Exception):
    """The run has come to where another one has been, at no lower cost."""


class Choices:
    """The choices of one run: those that are given, then the first of each."""

    def __init__(self, given: list[int]) -> None:
        self.made = list(given)
        self.sizes: list[int] = []

    def choose(self, size: int) -> int:
        at = len(self.sizes)
        if at == len(self.made):
            self.made.append(0)
        self.sizes.append(size)
        return self.made[at]

    @property
    def is_new(self) -> bool:
        """Whether the next choice has not been made in an earlier run."""
        return len(self.sizes) >= len(self.made)

    def following(self) -> list[int] | None:
        """The choices of the next run; None after the last one."""
        made = self.made[: len(self.sizes)]
        while made:
            if made[-1] + 1 < self.sizes[len(made) - 1]:
                return [*made[:-1], made[-1] + 1]
            made.pop()
        return None


class _Script(Script, frozen=True):
    choices: Choices | None = None
    ends: tuple[float, ...] = (1.0, 0.0)

    def draws(self, seed: int | None = None) -> Callable[[], float]:  # noqa: ARG002
        choices = self.choices
        assert choices is not None
        return lambda: self.ends[choices.choose(len(self.ends))]


class _Player:
    def __init__(self, program: Program, choices: Choices, options: Options, known: Known) -> None:
        self._program = program
        self._choices = choices
        self._options = options
        self._known = known
        self._given: dict[StepRunKey, int] = {}
        self.world: World | None = None

    def next(self, asking: ExecutionStart) -> PlayedEntry | None:
        assert self.world is not None
        if self._choices.is_new:
            self._recognise(asking)
        options = self._options(asking)
        number = self._choices.choose(len(options))
        self._given[asking.key] = number
        said, takes = options[number]
        if not said:
            return None
        return PlayedEntry(ScriptEntry(said, 1, round(takes * NANOSECONDS)), is_last=True)

    def lag(self, key: StepRunKey) -> int:  # noqa: ARG002
        return 0

    def _recognise(self, asking: ExecutionStart) -> None:
        assert self.world is not None
        state = self.world.state
        mark = (asking.key.step, asking.key.iteration, _mark(state, asking.now, self._given))
        counts, seconds = costs(self._program, self.world.runs)
        seconds = (asking.now - state.began_at) / NANOSECONDS
        before = self._known.setdefault(mark, [])
        for other_counts, other_seconds in before:
            if other_seconds >= seconds and counts <= other_counts:
                raise Seen
        before.append((counts, seconds))


def _mark(state: RunState, now: int, given: dict[StepRunKey, int]) -> str:
    """All of a run's state that what follows depends on, in times relative to now."""
    runs = [
        (
            run.key, run.branch, run.task, run.attempt, run.status, run.directive, run.to,
            None if run.resume_at is None else run.resume_at - now,
            run.previous_seconds, run.first_at - now, run.began_at - now, run.redirect,
            run.started_at - now if run.status is StepRunStatus.EXECUTING else None,
            given.get(run.key) if run.status is StepRunStatus.EXECUTING else None,
        )
        for run in state.live_step_runs()
    ]  # fmt: skip
    loops = [
        (loop.key, loop.next_index, loop.done, loop.failed)
        for loop in state.active.values()
        if isinstance(loop, LoopVisit)
    ]
    tokens = [(token.step, token.branch, token.origin.via) for token in state.tokens.values()]
    branches = [
        (one.id, one.name, one.summary, one.has_begun, one.has_ended, one.retries, one.verdicts)
        for one in state.branches.values()
    ]
    return repr(
        (
            runs, loops, tokens, branches, state.retries, state.redirects, state.verdicts,
            state.arcs_taken, state.visits, state.rescued is None, state.is_stopping,
            state.failure is None, state.repeated, state.steps_begun,
        )
    )  # fmt: skip


def costs(program: Program, runs: list[list[e.Event]]) -> tuple[Counter[tuple[str, str]], float]:
    """The executions of each task so far but relays, and the seconds."""
    log = [event for run in runs for event in run]
    relays = {
        (step.name, task.label)
        for step in program.steps.values()
        for task in step.tasks
        if task.kind == "relay"
    }
    begun = [event for event in log if isinstance(event, e.TaskStarted)]
    counts = Counter((event.step or "", event.task or "") for event in begun)
    counts = Counter({task: count for task, count in counts.items() if task not in relays})
    return counts, (log[-1].at - log[0].at) / NANOSECONDS if log else 0.0


def explore(
    program: Program,
    options: Options,
    *,
    ends: tuple[float, ...] = (1.0, 0.0),
    runs_max: int = 3_000,
) -> Worst:
    """The worst over everything the options and the draws at these ends allow."""
    worst, given, known = Worst(), list[int](), Known()
    while worst.runs < runs_max:
        worst.runs += 1
        choices = Choices(given)
        player = _Player(program, choices, options, known)
        world = World(program, _Script(choices=choices, ends=ends), player=player)
        player.world = world
        with suppress(Seen):
            world.play()
        worst.see(*costs(program, world.runs))
        following = choices.following()
        if following is None:
            return worst
        given = following
    worst.is_whole = False
    return worst
