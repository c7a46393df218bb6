"""What a run costs, with those that take its place: how it is followed, and within which limits.

As one token's walk where that is possible, else as a flow of several.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from anew.lab.bounds.amounts import ONE, ZERO, Bound, BoundReason, at_most, endless, larger, largest
from anew.lab.bounds.analysis_inputs import SHARED, TIME, AnalysisInput, executions
from anew.lab.bounds.compensations import with_compensations
from anew.lab.bounds.limits import visits_limit
from anew.lab.bounds.token_flow import Flow
from anew.lab.bounds.token_walk import (
    PathVisit,
    SeveralTokens,
    TooManyStates,
    Walked,
    Walker,
    branch_steps,
    visits_of,
    within,
)
from anew.lab.bounds.visits import StepAnalysis
from anew.program.graph_walks import cyclic, reached
from anew.program.kind import OutcomeSource
from anew.program.program import Limits, Program, Step


class CountedVisits(Struct, frozen=True):
    """What was found, and how often each step that can be reached is visited."""

    walked: Walked
    visits: dict[str, Bound]


class Runs(Struct):
    """Follows the runs of one program."""

    given: AnalysisInput
    analyses: dict[str, StepAnalysis]

    @property
    def program(self) -> Program:
        return self.given.program

    def count(self) -> CountedVisits:
        """What a line of runs costs: one, those that take its place, and undoing all that."""
        found, visits = self._count(), {}
        visits.update(found.visits)
        walked = with_compensations(self.program, self.analyses, found.walked, visits)
        return CountedVisits(walked, visits)

    def _count(self) -> CountedVisits:
        first = self._from(self.program.entry)
        restarting = list(self._restarts(first.visits))
        if not restarting:
            return first
        following = list(self._following([entry for _, entry in restarting]))
        again: dict[str, Bound] = {}
        for more in following:
            visits = {visits_of(name): bound for name, bound in more.visits.items()}
            for sort, bound in (*more.walked.most.items(), *visits.items()):
                again[sort] = larger(again.get(sort, ZERO), bound)
        found = self._line(first, again, self._restart_bound(restarting[0][0]))
        slowest = max((more.walked.path for more in following), key=_seconds)
        anew = (replace(stop, again=stop.again or "restart") for stop in slowest)
        return replace(found, walked=replace(found.walked, path=(*first.walked.path, *anew)))

    def _following(self, entries: list[str]) -> Iterator[CountedVisits]:
        """The runs that can take the place of another, which may be one of them."""
        seen = list(dict.fromkeys(entries))
        for entry in seen:
            more = self._from(entry)
            found = dict.fromkeys(to for _, to in self._restarts(more.visits))
            seen += [to for to in found if to not in seen]
            yield more

    def _line(
        self, first: CountedVisits, again: dict[str, Bound], restarts: Bound
    ) -> CountedVisits:
        """The first run, and as many as may take its place."""
        steps = [step for step in self.program.steps.values() if self.analyses[step.name].known]
        visits, most = {}, {}
        for sort in SHARED:
            once = again.get(sort, ZERO)
            most[sort] = first.walked.most.get(sort, ZERO) + once * restarts
        for step in steps:
            before, after = first.visits.get(step.name, ZERO), again.get(visits_of(step.name), ZERO)
            visits[step.name] = before + after * restarts
            for label in step.index_of:
                sort = within(step.name, executions(label))
                once = self.worst_of(step.name, executions(label))
                known = first.walked.most.get(sort, once * before)
                most[sort] = known + again.get(sort, once * after) * restarts
        return CountedVisits(Walked(most, first.walked.path), visits)

    def _restarts(self, visits: dict[str, Bound]) -> Iterator[tuple[Step, str]]:
        for name in visits:
            step = self.program.steps[name]
            for task in step.tasks:
                said = task.inputs.source
                entry = said.get("entry") if isinstance(said, dict) else None
                if task.outcome_from is OutcomeSource.RESTART and isinstance(entry, str):
                    yield step, entry

    def _restart_bound(self, step: Step) -> Bound:
        most = self.program.limits.restarts
        if most != Limits().restarts:
            return Bound(float(most))
        what = "the run can be restarted"
        reason = BoundReason("restart", step.span, what, f"limits.restarts, {most:,}")
        return endless(reason, float(most))

    def _from(self, entry: str) -> CountedVisits:
        ways = self.program.ways
        repeated = cyclic(ways, [entry])
        counted = repeated | branch_steps(self.program, reached(ways, [entry]))
        walker = Walker(self.given, self.analyses, frozenset(repeated), frozenset(counted))
        try:
            walked = walker.walk(entry)
        except (SeveralTokens, TooManyStates):
            flow = Flow(self.given, self.analyses, entry)
            walked = flow.walk()
            return CountedVisits(walked, flow.visits)
        visits = {
            name: walked.most.get(visits_of(name), ONE) if name in counted else ONE
            for name in self.program.steps
            if name in walker.reached
        }
        return self._limited(walked, visits)

    def _limited(self, walked: Walked, visits: dict[str, Bound]) -> CountedVisits:
        """Whatever a walk comes to, no run visits a step more often than it may."""
        most, sums = dict(walked.most), dict.fromkeys(SHARED, 0.0)
        for name, bound in visits.items():
            visits[name] = at_most(bound, visits_limit(self.program, name).most)
            worst = self._worst_visit(name)
            for sort, once in worst.items():
                amount = once * visits[name].at_most if once else 0.0
                if sort in SHARED:
                    sums[sort] += amount
                elif within(name, sort) in most:
                    most[within(name, sort)] = at_most(most[within(name, sort)], amount)
        for sort, amount in sums.items():
            most[sort] = at_most(most.get(sort, ZERO), amount)
        return CountedVisits(Walked(most, walked.path), visits)

    def _worst_visit(self, name: str) -> dict[str, float]:
        known = self.analyses[name].known.values()
        sorts = {sort for visit in known for cost in visit.endings.values() for sort in cost}
        return {sort: self.worst_of(name, sort).at_most for sort in sorts}

    def worst_of(self, name: str, sort: str) -> Bound:
        """The worst of all visits that were looked at."""
        return largest(visit.worst(sort) for visit in self.analyses[name].known.values())


def _seconds(path: tuple[PathVisit, ...]) -> float:
    return sum(stop.cost.get(TIME, ZERO).at_most for stop in path)
