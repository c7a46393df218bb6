"""The rows of a report: what is told of each task, each step, each visit of the longest path."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from anew.lab.bounds.amounts import ZERO, Bound, larger, largest, smaller, total
from anew.lab.bounds.analysis_inputs import (
    RELAY,
    TIME,
    WAITS,
    AnalysisInput,
    child_of,
    executions,
    tools_of,
)
from anew.lab.bounds.report import Bounds, Factor, PathStep, StepBounds, TaskBounds
from anew.lab.bounds.routing import onward
from anew.lab.bounds.runs import CountedVisits
from anew.lab.bounds.token_walk import within
from anew.lab.bounds.visits import StepAnalysis, StepVisit, VisitEnding
from anew.lab.bounds.warnings import sends_anew
from anew.lab.cancellation import until_cancelled
from anew.program.graph_walks import reached
from anew.program.policy import Verdict
from anew.program.program import Program, Step, Task
from anew.program.span import Span


class BoundRows(Struct, dict=True):
    """Makes the rows of one program from what its runs can come to."""

    given: AnalysisInput
    analyses: dict[str, StepAnalysis]
    counted: CountedVisits
    children: dict[str, Bounds | str]

    @cached_property
    def tasks(self) -> list[TaskBounds]:
        return [row for step in self.reached for row in self._tasks(step)]

    @cached_property
    def shown(self) -> list[TaskBounds]:
        """Those that do anything: relays of graphs are no executions to anybody."""
        return [row for row in self.tasks if row.kind != RELAY]

    @cached_property
    def reached(self) -> list[Step]:
        """The steps that a run can come to, in the order of the file."""
        steps = self.given.program.steps.values()
        return [step for step in steps if step.name in self.counted.visits]

    @cached_property
    def steps(self) -> list[StepBounds]:
        return [self._step(step) for step in self.reached]

    def _visits_of(self, step: Step) -> list[StepVisit]:
        analysis = self.analyses[step.name]
        return list(analysis.known.values()) or [analysis.visit()]

    def _tasks(self, step: Step) -> Iterator[TaskBounds]:
        known, visits = self._visits_of(step), self.counted.visits[step.name]
        for task in until_cancelled(step.tasks, self.given.cancel_check):
            sort = executions(task.label)
            worst = max(
                (visit.parts[task.label] for visit in known), key=lambda one: one.executions.at_most
            )
            call, deadline = known[0].calls[task.label], step.deadline_seconds
            per_visit = largest(visit.worst(sort) for visit in known)
            in_run = self.counted.walked.most.get(within(step.name, sort))
            yield TaskBounds(
                step=step.name,
                task=task.label,
                kind=task.kind,
                place=task.span,
                per_visit=worst.executions,
                per_step_run=largest(visit.one_run.get(sort, ZERO) for visit in known),
                per_step_visit=per_visit,
                in_run=per_visit * visits if in_run is None else in_run,
                waits=_within(worst.waits, deadline),
                time=_within(worst.seconds, deadline),
                wanted_waits=worst.waits,
                timeout=call.timeout,
                timeout_is_default=call.is_default,
                factors=tuple(self._factors(step, task, worst.executions, visits)),
                call_waits=call.waits,
                sends_anew=sends_anew(self.given, task),
            )

    def _factors(self, step: Step, task: Task, attempts: Bound, visits: Bound) -> Iterator[Factor]:
        """What multiplies the executions of a task: going round, items, attempts."""
        name = step.name if task.label == step.name else f"{step.name}.{task.label}"
        items = self._visits_of(step)[0].items
        if visits.at_most > 1 and self._goes_back(step.name):
            yield Factor("visits", f"visits of {step.name}", visits, step.span)
        if items.at_most > 1:
            yield Factor("items", f"items of {step.name}", items, step.span)
        if attempts.at_most > 1:
            yield Factor("attempts", f"attempts of {name}", attempts, task.span)

    def _goes_back(self, name: str) -> bool:
        """Whether it is a failure, or a gate, that leads to the step again, not only an arc."""
        ahead = reached(self.given.program.ways, [name])
        around = self.given.program.sources(name) | {name}
        return any(source in ahead and to in around for source, to in self._ways_back)

    @cached_property
    def _ways_back(self) -> list[tuple[str, str]]:
        """Ways of failures and gates, but for those of forks to their joins."""
        program = self.given.program
        ways = [(step.name, to) for step in program.steps.values() for to in step.rescues[:-1]]
        exits = [step.name for step in program.steps.values() if step.is_exit]
        ways += [(end, step.gate.to) for end in exits for step in program.gates if step.gate]
        ways += [
            (step.name, to) for step in program.steps.values() for to in _failing(program, step)
        ]
        return [(source, to) for source, to in ways if to is not None]

    def _step(self, step: Step) -> StepBounds:
        self.given.cancel_check()
        known = self._visits_of(step)
        return StepBounds(
            step=step.name,
            place=step.span,
            visits=self.counted.visits[step.name],
            items=known[0].items,
            executions=total(task.in_run for task in self.shown if task.step == step.name),
            waits=largest(visit.worst(WAITS) for visit in known),
            time=largest(visit.worst(TIME) for visit in known),
            deadline=step.deadline_seconds,
            wanted_waits=largest(visit.wanted_waits for visit in known),
            is_loop=step.loop is not None,
        )

    def path(self) -> Iterator[PathStep]:
        """The visits of the longest path."""
        for stop in self.counted.walked.path:
            visit, cost = self.analyses[stop.step].visit(), stop.cost
            kinds = {task.label: task.kind for task in self.given.program.steps[stop.step].tasks}
            labels = [one for one in dict.fromkeys(visit.path) if kinds[one] != RELAY]
            counts = tuple((label, cost.get(executions(label), ZERO)) for label in labels)
            yield PathStep(
                step=stop.step,
                ends="failed" if stop.ending.verdict is Verdict.FAILURE else "done",
                tasks=tuple((label, count) for label, count in counts if count.at_most),
                items=visit.items,
                waits=cost.get(WAITS, ZERO),
                time=cost.get(TIME, ZERO),
                again=stop.again,
            )

    def nested(self) -> list[TaskBounds]:
        """The tasks of the programs that tasks call, each once, as often as they are called."""
        rows = {(row.step, row.task): row for row in self.tasks}
        found: dict[tuple[str, Span, str], TaskBounds] = {}
        for step in self.reached:
            for task in step.tasks:
                for child in self._children_of(task):
                    called = _called(rows[step.name, task.label], child)
                    for row in until_cancelled(called, self.given.cancel_check):
                        key = (row.program, row.place, row.task)
                        found[key] = _merged(found[key], row) if key in found else row
        return list(found.values())

    def _children_of(self, task: Task) -> Iterator[Bounds]:
        for tool in tools_of(self.given, task):
            found = child_of(self.children, tool)
            if found is not None:
                yield found


def _failing(program: Program, step: Step) -> set[str]:
    """Where arcs of a step lead that only a failure takes."""
    failed, done = (
        onward(program, step, VisitEnding(verdict))
        for verdict in (Verdict.FAILURE, Verdict.SUCCESS)
    )
    always = {way.to for way in (*done.choices, *done.together)}
    return {way.to for way in (*failed.choices, *failed.together)} - always


def _within(bound: Bound, deadline: float | None) -> Bound:
    return bound if deadline is None else smaller(bound, Bound(deadline))


def _merged(one: TaskBounds, other: TaskBounds) -> TaskBounds:
    """The row of a child's task that is called in two places."""
    worse = max(one, other, key=lambda row: row.in_run.at_most)
    return replace(
        worse,
        per_visit=larger(one.per_visit, other.per_visit),
        per_step_run=larger(one.per_step_run, other.per_step_run),
        per_step_visit=larger(one.per_step_visit, other.per_step_visit),
        in_run=one.in_run + other.in_run,
        waits=larger(one.waits, other.waits),
        time=larger(one.time, other.time),
    )


def _called(row: TaskBounds, child: Bounds) -> Iterator[TaskBounds]:
    for inner in (*child.tasks, *child.nested):
        yield replace(
            inner,
            in_run=inner.in_run * row.in_run,
            program=f"{child.name} > {inner.program}" if inner.program else child.name,
            factors=(*row.factors, *inner.factors),
        )
