"""The one model both languages compile to: a Program of steps, tasks, rules and arcs.

Holds what the author wrote, checked and compiled. Knows nothing of runs, time or stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

from msgspec import Struct, field

from anew.expressions import Condition, Template
from anew.program.policy import NO_POLICY, Policy
from anew.program.span import NOWHERE, Span
from anew.values import Object


class Dialect(StrEnum):
    """Which vocabulary a task's templates speak (SEMANTICS 2.1)."""

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


class Join(StrEnum):
    ALL = "all"
    EACH = "each"


class FailureMode(StrEnum):
    FAIL_FAST = "fail_fast"
    BEST_EFFORT = "best_effort"


class Task(Struct, frozen=True):
    """One call of a tool. `inputs` is rendered anew before every attempt."""

    label: str
    kind: str
    inputs: Template
    policy: Policy = NO_POLICY
    dialect: Dialect = Dialect.POLICY
    timeout: object = None  # seconds, or {connect, read}; the tool's default when None
    span: Span = NOWHERE


class Loop(Struct, frozen=True):
    source: Template
    iterator: str
    mode: LoopMode = LoopMode.SEQUENTIAL
    max_in_flight: int | Template = 32
    span: Span = NOWHERE


class Arc(Struct, frozen=True):
    """`counts_failures`: its condition reads `event.failed`, so it handles a loop's failures."""

    to: str
    when: Condition | None = None
    args: Template | None = None
    counts_failures: bool = False
    span: Span = NOWHERE


class Router(Struct, frozen=True):
    mode: RouteMode = RouteMode.EXCLUSIVE
    arcs: tuple[Arc, ...] = ()
    span: Span = NOWHERE


class AdmitRule(Struct, frozen=True):
    """Lets a token in (or not) when `when` holds; None is else."""

    allow: bool
    when: Condition | None = None
    span: Span = NOWHERE


class Step(Struct, frozen=True, dict=True):
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
    span: Span = NOWHERE

    @cached_property
    def index_of(self) -> Mapping[str, int]:
        """The position of each label in the pipeline."""
        return {task.label: index for index, task in enumerate(self.tasks)}


class Limits(Struct, frozen=True):
    """Named bounds a run may set under `executor.spec.limits`."""

    tasks_per_step_run: int = 100_000
    deliveries: int = 3
    loop_iterations: int = 10_000_000


class Program(Struct, frozen=True, dict=True):
    """`steps` keeps file order. `digest` pins a run to exactly this document."""

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
    workbook: Mapping[str, Task] = field(default_factory=dict)
    keychain: tuple[Object, ...] = ()
    span: Span = NOWHERE

    @cached_property
    def incoming(self) -> Mapping[str, int]:
        """How many arcs lead to each step."""
        counts = dict.fromkeys(self.steps, 0)
        for step in self.steps.values():
            for arc in step.router.arcs:
                counts[arc.to] += 1
        return counts

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Where each step stands in the file."""
        return {name: index for index, name in enumerate(self.steps)}

    @cached_property
    def _leads(self) -> Mapping[str, list[str]]:
        """The steps with an arc to each step."""
        leads: dict[str, list[str]] = {name: [] for name in self.steps}
        for step in self.steps.values():
            for arc in step.router.arcs:
                leads[arc.to].append(step.name)
        return leads

    @cached_property
    def _sources(self) -> dict[str, frozenset[str]]:
        return {}

    def sources(self, target: str) -> frozenset[str]:
        """Every other step from which arcs lead to `target`."""
        known = self._sources.get(target)
        if known is not None:
            return known
        seen, todo = {target}, [target]
        while todo:
            for name in self._leads[todo.pop()]:
                if name not in seen:
                    seen.add(name)
                    todo.append(name)
        return self._sources.setdefault(target, frozenset(seen - {target}))
