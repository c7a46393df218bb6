"""The one model both languages compile to: a Program of steps, tasks, rules and arcs.

Holds what the author wrote, checked and compiled. Knows nothing of runs, time or stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property

from msgspec import Struct, field

from anew.expressions import Condition, Template
from anew.program.graph_walks import backwards, reached
from anew.program.guards import GuardRule
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.policy import NO_POLICY, Patch, Policy, Retry, Verdict
from anew.program.span import NOWHERE, Span
from anew.values import Object


class Dialect(StrEnum):
    """Which vocabulary a task's templates speak (playbook.md#the-four-dialects)."""

    RETRY = "retry"
    EVAL = "eval"
    POLICY = "policy"
    OUTPUT = "output"


class LoopMode(StrEnum):
    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"


class RouteMode(StrEnum):
    EXCLUSIVE = "exclusive"
    INCLUSIVE = "inclusive"
    PREFERRED = "preferred"  # one arc: by condition, by label, by suggestion, else the first
    FORK = "fork"  # all arcs, each a branch with a context of its own


class Join(StrEnum):
    ALL = "all"
    EACH = "each"


class JoinPolicy(StrEnum):
    """When the branches of a fork have done enough, and whether that is a success."""

    WAIT_ALL = "wait_all"
    FIRST_SUCCESS = "first_success"
    QUORUM = "quorum"
    K_OF_N = "k_of_n"


class FailureMode(StrEnum):
    FAIL_FAST = "fail_fast"
    BEST_EFFORT = "best_effort"


class Task(Struct, frozen=True):
    """One call of a tool. `inputs` is rendered anew before every attempt.

    `exactly_once`: the tool makes its changes once, however often the task is executed.
    """

    label: str
    kind: str
    inputs: Template
    policy: Policy = NO_POLICY
    dialect: Dialect = Dialect.POLICY
    timeout: object = None  # seconds, or {connect, read}; the tool's default when None
    exactly_once: bool = False
    span: Span = NOWHERE
    dependency: Template | None = None  # whom it calls, for guards; else its inputs say it
    priority: int | None = None  # among calls that are held; the program's when None
    hold_timeout: float | None = None  # seconds

    @property
    def outcome_from(self) -> OutcomeSource:
        return kind_named(self.kind).outcome_from


class Loop(Struct, frozen=True):
    source: Template
    iterator: str
    mode: LoopMode = LoopMode.SEQUENTIAL
    max_in_flight: int | Template = 32
    span: Span = NOWHERE


class Arc(Struct, frozen=True):
    """`counts_failures`: its condition reads `event.failed`, so it handles a loop's failures.

    A preferred router asks arcs by `rank`, lowest first, and compares `label` with the outcome's.
    `answers_failure`: without a `when` it still takes a visit that failed. `most` is how often one
    run may take it. `patches` (its `set`) are written when it is chosen.
    """

    to: str
    when: Condition | None = None
    args: Template | None = None
    counts_failures: bool = False
    label: str | None = None
    weight: int = 0
    rank: int = 0
    answers_failure: bool = False
    most: int | None = None
    patches: tuple[Patch, ...] = ()
    span: Span = NOWHERE


class Router(Struct, frozen=True, dict=True):
    """`must_choose`: a visit that ends well and finds no arc has failed, kind `no_route`; where it
    `gives_up`, nothing takes that failure.

    The branches of a fork meet at the step `join`; `width` of them are at work at a time.
    """

    mode: RouteMode = RouteMode.EXCLUSIVE
    arcs: tuple[Arc, ...] = ()
    must_choose: bool = False
    gives_up: bool = False
    join: str | None = None
    width: int | None = None
    span: Span = NOWHERE

    @cached_property
    def ranked(self) -> tuple[tuple[int, Arc], ...]:
        """The arcs with their numbers in the file, in the order a preferred router asks them."""
        return tuple(sorted(enumerate(self.arcs, 1), key=lambda numbered: numbered[1].rank))


class Gather(Struct, frozen=True):
    """How a step takes up the branches of a fork that meet at it.

    `merges`: what they wrote to ctx is merged; otherwise only their results are kept. A `lenient`
    one fails only when every branch has failed.
    """

    policy: JoinPolicy = JoinPolicy.WAIT_ALL
    k: int | None = None
    merges: bool = True
    lenient: bool = False
    span: Span = NOWHERE


class Gate(Struct, frozen=True):
    """A step that must have gone well before the run may end at an exit.

    `accepts` are the verdicts that satisfy it; with `when`, this must also have held when the last
    visit ended. One that `is_owed` must also have been visited. An unsatisfied gate sends the run
    to `to`, at most `most` times, which come out of the step's retry budget when `shares_budget`.
    `to_span` is where the author says so, if it is not a default.
    """

    accepts: tuple[Verdict, ...] = (Verdict.SUCCESS,)
    is_owed: bool = True
    to: str | None = None
    most: int = 0
    shares_budget: bool = True
    to_span: Span | None = None
    span: Span = NOWHERE
    when: Condition | None = None


class AdmitRule(Struct, frozen=True):
    """Lets a token in (or not) when `when` holds; None is else."""

    allow: bool
    when: Condition | None = None
    span: Span = NOWHERE


class Step(Struct, frozen=True, dict=True):
    """`patches` (its `set`) are written when a visit ends done, before arcs are asked.

    Should the run fail or be cancelled, each visit that ended done is undone by one of the step
    named by `compensation`, which no arc leads to. That one `compensates` this.
    """

    name: str
    tasks: tuple[Task, ...]
    router: Router = Router()
    loop: Loop | None = None
    admit: tuple[AdmitRule, ...] = ()
    join: Join = Join.ALL
    failure: FailureMode | None = None
    deadline_seconds: float | None = None
    dialect: Dialect = Dialect.POLICY  # of its arcs, gate and loop
    pool: str | None = None  # which workers may take it; any of the default pool when None
    gather: Gather | None = None
    gate: Gate | None = None
    is_exit: bool = False  # the gates are asked when it is done, and may send the run back
    rescue: str | None = None  # where a failure goes that no arc handles
    visits_max: int | None = None  # how often a run may visit it; the program's limit when None
    patches: tuple[Patch, ...] = ()
    compensation: str | None = None
    compensates: str | None = None
    rescue_span: Span = NOWHERE
    span: Span = NOWHERE

    @cached_property
    def is_relay(self) -> bool:
        """Whether it only passes on how the step before it went."""
        return len(self.tasks) == 1 and self.tasks[0].outcome_from is OutcomeSource.RELAY

    @cached_property
    def index_of(self) -> Mapping[str, int]:
        """The position of each label in the pipeline."""
        return {task.label: index for index, task in enumerate(self.tasks)}

    @property
    def rescues(self) -> tuple[str | None, ...]:
        """Where the step sends the run without an arc: to retry, after a failure, as a fork."""
        rules = (rule.then for task in self.tasks for rule in task.policy.rules)
        retries = (then.to for then in rules if isinstance(then, Retry))
        return (*retries, self.rescue, self.router.join)


class Limits(Struct, frozen=True):
    """Named bounds a run may set under `executor.spec.limits`."""

    tasks_per_step_run: int = 100_000
    deliveries: int = 3
    loop_iterations: int = 10_000_000
    steps_per_run: int | None = None
    visits_per_step: int | None = None
    # How often a step may fail with the very same final error before the run stops.
    same_failures: int | None = None
    restarts: int = 100


class Program(Struct, frozen=True, dict=True):
    """`steps` keeps file order. `digest` pins a run to exactly this document.

    `fallback` takes failures that nothing else does. `workload_is_ctx`: ctx starts as the workload.
    `ctx` is what it starts with beside that, rendered when a run starts.
    `path` is what a catalog of NoETL knows a playbook by.
    """

    name: str
    language: str
    dialect: str
    entry: str
    steps: Mapping[str, Step]
    digest: str
    workload: Object = field(default_factory=dict)
    workload_templates: Mapping[tuple[str | int, ...], Template] = field(default_factory=dict)
    limits: Limits = Limits()
    failure: FailureMode = FailureMode.FAIL_FAST
    return_step: str | None = None
    fallback: str | None = None
    workload_is_ctx: bool = False
    ctx: Template | None = None
    workbook: Mapping[str, Task] = field(default_factory=dict)
    keychain: tuple[Object, ...] = ()
    fallback_span: Span = NOWHERE
    span: Span = NOWHERE
    path: str | None = None
    dependencies: tuple[GuardRule, ...] = ()
    priority: int = 0

    @cached_property
    def is_guarded(self) -> bool:
        """Whether it says anything to guards."""
        return bool(self.dependencies) or any(task.dependency for task in self.tasks)

    @property
    def tasks(self) -> Iterator[Task]:
        """Every task: those of the steps, then those of the workbook."""
        for step in self.steps.values():
            yield from step.tasks
        yield from self.workbook.values()

    def task_of(self, step: str | None, label: str | None) -> Task | None:
        """A task of a step; None where an event names one that this program does not have."""
        found = self.steps.get(step or "")
        index = None if found is None else found.index_of.get(label or "")
        return None if found is None or index is None else found.tasks[index]

    @property
    def patches(self) -> Iterator[Patch]:
        """Everything that is written: by tasks, their rules, steps and arcs."""
        for task in self.tasks:
            yield from task.policy.all_patches
        for step in self.steps.values():
            yield from step.patches
            for arc in step.router.arcs:
                yield from arc.patches

    @cached_property
    def incoming(self) -> Mapping[str, int]:
        """How many ways lead to each step."""
        counts = dict.fromkeys(self.steps, 0)
        for targets in self.ways.values():
            for target in targets:
                counts[target] += 1
        return counts

    @cached_property
    def ways(self) -> Mapping[str, tuple[str, ...]]:
        """Where a token that leaves each step can go: by arcs, and by what takes failures.

        An exit may lead to where a gate sends the run; a fork to where its branches meet.
        """
        gates = [step.gate for step in self.steps.values() if step.gate is not None]
        redirects = [gate.to for gate in gates if gate.to is not None]
        found: dict[str, tuple[str, ...]] = {}
        for step in self.steps.values():
            more = (*step.rescues, self.fallback, *(redirects if step.is_exit else ()))
            arcs = [arc.to for arc in step.router.arcs]
            ways = (name for name in more if name is not None and name != step.name)
            found[step.name] = (*arcs, *dict.fromkeys(ways))
        return found

    @cached_property
    def gates(self) -> tuple[Step, ...]:
        """The steps that are gates, in file order."""
        return tuple(step for step in self.steps.values() if step.gate is not None)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Where each step stands in the file."""
        return {name: index for index, name in enumerate(self.steps)}

    @cached_property
    def _leads(self) -> Mapping[str, list[str]]:
        """The steps from which a way leads to each step."""
        return backwards(self.ways)

    @cached_property
    def _sources(self) -> dict[str, frozenset[str]]:
        return {}

    def sources(self, target: str) -> frozenset[str]:
        """Every other step from which ways lead to `target`."""
        known = self._sources.get(target)
        if known is not None:
            return known
        return self._sources.setdefault(
            target, frozenset(reached(self._leads, [target]) - {target})
        )
