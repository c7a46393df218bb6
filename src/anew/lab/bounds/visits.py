"""One visit of a step: what it can cost by how it ends, over its pipeline and its loop.

A deadline bounds the whole visit. Where the run goes from there is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from math import inf
from typing import TypeAlias, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from anew.expressions import UNDEFINED
from anew.lab.bounds.amounts import ONE, ZERO, Bound, BoundReason, endless, larger, rounds, smaller
from anew.lab.bounds.analysis_inputs import ALL, RELAY, TIME, WAITS, AnalysisInput, Cost, executions
from anew.lab.bounds.attempts import TaskExit, TaskVisit, task_visits
from anew.lab.bounds.calls import CallBounds, calling
from anew.lab.bounds.delays import attempts_known, jumps_known
from anew.lab.bounds.longest_paths import CostEdge, Ways, longest
from anew.lab.bounds.scheduling import in_one_place
from anew.lab.bounds.static_values import UNKNOWN, value_known
from anew.program.graph_walks import cyclic
from anew.program.policy import Jump, OutcomeStatus, Retry, Verdict
from anew.program.program import Limits, Loop, LoopMode, RouteMode, Step


class VisitEnding(Struct, frozen=True):
    """How a visit ends. With `to` it is retried by way of that step.

    `spent` is what has been used of the retries that its visits share.
    """

    verdict: Verdict
    to: str | None = None
    spent: int = 0


_STATUS = {True: OutcomeStatus.ERROR, False: OutcomeStatus.OK}
# A label of the pipeline, or how the step-run ends.
_Node: TypeAlias = str | VisitEnding


class StepVisit(Struct, frozen=True):
    """What a visit can cost, by how it ends; `items` are the iterations, one without a loop.

    `one_run` is the worst of a step-run, `parts` that of a visit of each task, and `wanted_waits`
    what a visit would wait without a deadline.
    """

    endings: dict[VisitEnding, Cost]
    items: Bound
    one_run: Cost
    parts: dict[str, TaskVisit]
    calls: dict[str, CallBounds]
    path: tuple[str, ...]
    wanted_waits: Bound
    assumed: tuple[BoundReason, ...] = ()

    def worst(self, sort: str) -> Bound:
        found = ZERO
        for cost in self.endings.values():
            found = larger(found, cost.get(sort, ZERO))
        return found


class StepAnalysis(Struct, dict=True):
    """Analyses the visits of one step; what a visit costs may depend on what was spent before."""

    given: AnalysisInput
    step: Step
    calls: dict[str, CallBounds] = field(default_factory=dict)
    known: dict[tuple[int, Verdict | None], StepVisit] = field(default_factory=dict)

    def visit(self, *, spent: int = 0, told: Verdict | None = None) -> StepVisit:
        """A visit with so much spent; `told` is what a step that passes on outcomes was told."""
        found = self.known.get((spent, told))
        if found is None:
            found = self.known[spent, told] = self._analyse(spent, told)
        return found

    def _analyse(self, spent: int, told: Verdict | None) -> StepVisit:
        parts = self._parts(spent, told)
        edges = [edge for label, visits in parts.items() for edge in self._edges(label, visits)]
        first = self.step.tasks[0].label
        cycle, cancel_check = partial(self._cycle, edges), self.given.cancel_check
        ways = longest(first, edges, cycle, cancel_check)
        ended = {node: cost for node, cost in ways.most.items() if isinstance(node, VisitEnding)}
        if told is not None:
            ended = {node: cost for node, cost in ended.items() if node.verdict is told}
        costs: dict[VisitEnding, Cost] = {**ended}
        if _is_cyclic(first, edges):
            # The number of tasks a step-run may execute ends what goes round.
            costs[_failed(costs)] = _worst(ways.most.values())
        costs = self._limited(costs)
        items, assumed = self._items()
        one_run = _worst(costs.values())
        costs = self._looped(costs, items) if self.step.loop is not None else costs
        return StepVisit(
            self._in_time({ending: costs[ending] for ending in sorted(costs, key=_plainness)}),
            items,
            one_run,
            {label: max(v, key=lambda one: one.executions.at_most) for label, v in parts.items()},
            dict(self.calls),
            _slowest(ways, ended),
            _worst(costs.values()).get(WAITS, ZERO),
            assumed,
        )

    def _parts(self, spent: int, told: Verdict | None) -> dict[str, list[TaskVisit]]:
        """The visits each task of the pipeline can have."""
        allowed = None if told is None else (_STATUS[told is Verdict.FAILURE],)
        found: dict[str, list[TaskVisit]] = {}
        for task in self.step.tasks:
            self.given.cancel_check()
            if task.label not in self.calls:
                call = calling(self.given, task)
                self.calls[task.label] = replace(call, deadline=self.step.deadline_seconds)
            call = self.calls[task.label]
            found[task.label] = task_visits(self.given, task, call, spent=spent, allowed=allowed)
        return found

    def _edges(self, label: str, visits: list[TaskVisit]) -> Iterator[CostEdge[_Node]]:
        task = self.step.tasks[self.step.index_of[label]]
        call = self.calls[label]
        once = ZERO if task.kind == RELAY else ONE + call.inside
        for visit in visits:
            for leave, wait in dict.fromkeys(visit.leaves):
                cost = {
                    executions(label): visit.executions,
                    WAITS: visit.waits + wait,
                    TIME: visit.seconds + wait,
                    ALL: visit.executions * once,
                }
                between = visit.delay + wait
                each = {WAITS: call.waits + between, TIME: call.seconds + between}
                yield CostEdge(label, self._target(label, leave, visit.spent), cost, each)

    def _target(self, label: str, leave: TaskExit, spent: int) -> _Node:
        verdict = leave.verdict or Verdict.SUCCESS
        match leave.how:
            case "jump":
                return leave.to or label
            case "next":
                following = self.step.index_of[label] + 1
                if following < len(self.step.tasks):
                    return self.step.tasks[following].label
                return VisitEnding(verdict, spent=spent)
            case "done":
                return VisitEnding(verdict, spent=spent)
            case "elsewhere":
                return VisitEnding(Verdict.FAILURE, leave.to, spent + 1)
            case "fail":
                return VisitEnding(Verdict.FAILURE, spent=spent)
            case other:
                assert_never(other)

    def _cycle(self, edges: list[CostEdge[_Node]], group: frozenset[_Node], sort: str) -> Bound:
        """Jumps that go round end with the number of tasks a step-run may execute."""
        self.given.cancel_check()
        most, is_authors = self.given.tasks_most
        inside = [edge for edge in edges if edge.source in group and edge.target in group]
        jumps = self._rounds(group)
        if jumps is not None:
            # Once through for each jump, then to the task that leaves, which counts itself.
            each = {label: 0.0 for label in group if isinstance(label, str)}
            for edge in inside:
                cost = edge.cost.get(sort, ZERO).at_most
                each[str(edge.source)] = max(each.get(str(edge.source), 0.0), cost)
            return Bound((jumps + 1) * sum(each.values()) - min(each.values()))
        once = max(_for_one(edge, sort) for edge in inside)
        at_most = most * (1.0 if sort.startswith("executions ") else once)
        if is_authors:
            return Bound(at_most)
        labels = [task.label for task in self.step.tasks if task.label in group]
        what = f"jumps can go round forever: {' -> '.join([*labels, labels[0]])}"
        place = self.step.tasks[self.step.index_of[labels[0]]].span
        reason = BoundReason("jump-cycle", place, what, f"limits.tasks_per_step_run, {most:,}")
        return endless(reason, at_most)

    def _rounds(self, group: frozenset[_Node]) -> float | None:
        """How often jumps lead back in these tasks; None where one does not say how often."""
        ways: dict[str, list[str]] = {label: [] for label in self.step.index_of}
        labels, jumps = [*self.step.index_of], 0.0
        for index, task in enumerate(self.step.tasks):
            ways[task.label] += labels[index + 1 : index + 2]
            for rule in task.policy.rules:
                spent = rule.then.on_exhausted if isinstance(rule.then, Retry) else None
                jump = rule.then if spent is None else spent.then
                if not isinstance(jump, Jump) or not {task.label, jump.to} <= group:
                    continue
                # What follows spent attempts is not counted.
                most = jumps_known(jump, self.given.workload) if spent is None else None
                if most is None:
                    ways[task.label].append(jump.to)
                else:
                    jumps += most
        return None if cyclic(ways, labels) & {*map(str, group)} else jumps

    def _limited(self, costs: dict[VisitEnding, Cost]) -> dict[VisitEnding, Cost]:
        """No step-run executes more tasks than it may; it fails when it would."""
        most, is_authors = self.given.tasks_most
        one_run = _worst(costs.values())
        sorts = [sort for sort in one_run if sort.startswith("executions ")]
        if sum(one_run[sort].at_most for sort in sorts) <= most:
            return costs
        # An author's own limit bounds what the document leaves open.
        inside = max(1.0 + call.inside.at_most for call in self.calls.values())
        limits = {sort: float(most) for sort in sorts} | {ALL: most * inside}
        kept = {
            ending: {
                sort: _cut(bound, limits.get(sort, inf), is_authors=is_authors)
                for sort, bound in cost.items()
            }
            for ending, cost in costs.items()
        }
        return {**kept, _failed(kept): _worst(kept.values())}

    def _items(self) -> tuple[Bound, tuple[BoundReason, ...]]:
        loop = self.step.loop
        if loop is None:
            return ONE, ()
        value = value_known(loop.source, self.given.workload)
        if isinstance(value, (list, dict)):
            return Bound(float(len(value))), ()
        if isinstance(loop.source.source, list):
            return Bound(float(len(loop.source.source))), ()
        if value is UNDEFINED:
            why = "the input does not give the list, which --set or --items may"
            return _assumed_items(self.given, loop, why)
        if value is not UNKNOWN:
            return ZERO, ()  # no list: it is an error at once
        return _assumed_items(self.given, loop, "the number of items is known only to a run")

    def _looped(self, costs: dict[VisitEnding, Cost], items: Bound) -> dict[VisitEnding, Cost]:
        loop = self.step.loop
        assert loop is not None
        failed = VisitEnding(Verdict.FAILURE)
        found: dict[VisitEnding, Cost] = {}
        if not self._surely_begins(loop):
            found[failed] = {WAITS: ZERO, TIME: ZERO}
        goes_well = [
            cost for ending, cost in costs.items() if ending.verdict is not Verdict.FAILURE
        ]
        if items.at_most == 0 or goes_well:
            found[VisitEnding(Verdict.SUCCESS)] = self._repeated(_worst(goes_well), items)
        if items.at_most and any(ending.verdict is Verdict.FAILURE for ending in costs):
            found[failed] = self._repeated(_worst(costs.values()), items)
        return found

    def _surely_begins(self, loop: Loop) -> bool:
        """Whether it goes over a list that is short enough, with a width that is a number."""
        value = value_known(loop.source, self.given.workload)
        most = self.given.program.limits.loop_iterations
        is_list = isinstance(value, (list, dict)) and len(value) <= most
        return is_list and _width(self.given, loop) is not None

    def _repeated(self, cost: Cost, items: Bound) -> Cost:
        loop = self.step.loop
        assert loop is not None
        width = _width(self.given, loop) or 1
        found = {sort: bound * items for sort, bound in cost.items()}
        if TIME in cost:
            found[TIME] = cost[TIME] * rounds(items, width)
            found[WAITS] = smaller(cost[WAITS] * in_one_place(items, width), found[TIME])
        return found

    def _in_time(self, costs: dict[VisitEnding, Cost]) -> dict[VisitEnding, Cost]:
        """A deadline ends the visit, wherever it is."""
        seconds = self.step.deadline_seconds
        if seconds is None:
            return costs
        limit, worst, failed = Bound(seconds), _worst(costs.values()), _failed(costs)
        if worst.get(TIME, ZERO).at_most > seconds:
            # Told of before others that take as long: what comes to the deadline has failed.
            costs = {ending: cost for ending, cost in costs.items() if ending != failed}
        costs = {**costs, failed: worst}
        return {
            ending: {
                sort: smaller(bound, limit) if sort in (WAITS, TIME) else bound
                for sort, bound in cost.items()
            }
            for ending, cost in costs.items()
        }


def passes_on(step: Step) -> bool:
    """Whether the step goes as the step before it did, as the diamonds of graphs do."""
    is_choice = step.is_relay and step.router.mode is RouteMode.PREFERRED
    return is_choice and "_origin" in step.tasks[0].inputs.names


def _width(given: AnalysisInput, loop: Loop) -> int | None:
    """How many iterations go on at a time; None when only a run can tell."""
    if loop.mode is LoopMode.SEQUENTIAL:
        return 1
    return attempts_known(loop.max_in_flight, given.workload)


def _assumed_items(
    given: AnalysisInput, loop: Loop, what: str
) -> tuple[Bound, tuple[BoundReason, ...]]:
    most = given.program.limits.loop_iterations
    if given.items is not None:
        assumed = f"{what}; {given.items:,} are assumed (--items)"
        return Bound(float(given.items)), (BoundReason("items", loop.span, assumed),)
    if most != Limits().loop_iterations:
        return Bound(float(most)), ()  # the author's own
    ends = f"limits.loop_iterations, {most:,}"
    return endless(
        BoundReason("loop", loop.span, f"a loop over data: {what}", ends), float(most)
    ), ()


def _for_one(edge: CostEdge[_Node], sort: str) -> float:
    """The most that each execution of a visit can cost, with the wait behind it."""
    assert isinstance(edge.mark, dict)
    whole = edge.cost.get(sort, ZERO).at_most
    return min(whole, edge.mark[sort].at_most) if sort in edge.mark else whole


def _is_cyclic(first: str, edges: list[CostEdge[_Node]]) -> bool:
    leads: dict[_Node, list[_Node]] = {}
    for edge in edges:
        leads.setdefault(edge.source, []).append(edge.target)
    return bool(cyclic(leads, [first]))


def _slowest(ways: Ways[_Node], ended: dict[VisitEnding, dict[str, Bound]]) -> tuple[str, ...]:
    """The labels of the pipeline's longest way."""
    if not ended:
        return ()
    last = max(ended, key=lambda node: ended[node].get(TIME, ZERO).at_most)
    return tuple(str(edge.source) for edge in ways.path(last, TIME))


def _cut(bound: Bound, limit: float, *, is_authors: bool) -> Bound:
    if bound.at_most <= limit:
        return bound
    return Bound(limit, () if is_authors else bound.reasons)


def _plainness(ending: VisitEnding) -> int:
    """Of endings that cost the same, the plainest is told of: it comes last."""
    return [Verdict.FAILURE, Verdict.SKIPPED, Verdict.PARTIAL, Verdict.SUCCESS].index(
        ending.verdict
    )


def _failed(costs: Iterable[VisitEnding]) -> VisitEnding:
    """A failure that comes at any time: the less was spent before it, the more is left."""
    return VisitEnding(Verdict.FAILURE, spent=min((one.spent for one in costs), default=0))


def _worst(costs: Iterable[Cost]) -> Cost:
    worst: dict[str, Bound] = {}
    for cost in costs:
        for sort, bound in cost.items():
            worst[sort] = larger(worst.get(sort, ZERO), bound)
    return worst
