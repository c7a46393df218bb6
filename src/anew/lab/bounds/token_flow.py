"""The worst of programs in which several tokens are under way at once, or too many to be walked.

Without cycles, tokens are followed step by step. With them, only what limits the visits of a step
bounds it: at every moment of a run some visit goes on, so that all visits together take longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from anew.lab.bounds.amounts import ONE, ZERO, Bound, endless, larger, smaller
from anew.lab.bounds.analysis_inputs import ALL, SHARED, TIME, WAITS, AnalysisInput, Cost
from anew.lab.bounds.limits import visits_limit
from anew.lab.bounds.longest_paths import CostEdge, longest
from anew.lab.bounds.routing import Onward, TokenWay, onward, rescue
from anew.lab.bounds.token_walk import (
    END,
    PathVisit,
    Walked,
    WalkState,
    cycle_reason,
    visits_of,
    within,
)
from anew.lab.bounds.visits import StepAnalysis, VisitEnding
from anew.program.graph_walks import components, cyclic
from anew.program.policy import Verdict
from anew.program.program import Join, Program, RouteMode

_ALL_TASKS = ""


class Flow(Struct, dict=True):
    """Follows the tokens of one program; `behind` has the visits that one of a step leads to."""

    given: AnalysisInput
    analyses: dict[str, StepAnalysis]
    entry: str
    visits: dict[str, Bound] = field(default_factory=dict)
    behind: dict[str, dict[str, Bound]] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        return self.given.program

    def walk(self) -> Walked:
        """The most that all tokens together can cost, by sort."""
        self._count(self._parts)
        if not self._has_forks and not self._cyclic and not self.program.gates:
            self._count_tokens([name for part in self._parts for name in part])
        most = self._total()
        known = self.behind.get(self.entry, {}).get(_ALL_TASKS)
        # A token that is refused waits for others, whatever they do.
        may_wait = any(self.program.steps[name].admit for name in self.visits)
        if known is None or may_wait:
            return Walked(most, tuple(self._all_in_turn()))
        most[ALL] = smaller(most[ALL], known)
        cancel_check = self.given.cancel_check
        ways = longest(WalkState(self.entry), list(self._edges()), lambda _, __: ZERO, cancel_check)
        end = ways.most.get(END, {})
        for sort in (WAITS, TIME):
            most[sort] = smaller(most.get(sort, ZERO), end.get(sort, ZERO))
        path = [edge.mark for edge in ways.path(END, TIME)]
        return Walked(most, tuple(stop for stop in path if isinstance(stop, PathVisit)))

    @cached_property
    def _has_forks(self) -> bool:
        steps = self.program.steps.values()
        return any(step.router.mode is RouteMode.FORK for step in steps)

    @cached_property
    def _parts(self) -> list[list[str]]:
        return components(self.program.ways, [self.entry])

    @cached_property
    def _cyclic(self) -> set[str]:
        """The steps that can lead back to themselves."""
        return cyclic(self.program.ways, [self.entry])

    # --- visits ---------------------------------------------------------------------------------

    def _count(self, parts: list[list[str]]) -> None:
        """How often each step can be visited: as often as tokens arrive, or as limits allow."""
        arriving: dict[str, Bound] = {self.entry: ONE}
        for part in parts:
            for name in part:
                self.visits[name] = self._visits(name, part, arriving.get(name, ZERO))
            for name in part:
                for target in self.program.ways[name]:
                    if target not in part:
                        arriving[target] = arriving.get(target, ZERO) + self.visits[name]

    def _visits(self, name: str, part: list[str], arriving: Bound) -> Bound:
        self.given.cancel_check()
        limit = visits_limit(self.program, name)
        if name not in self._cyclic:
            found = ONE if self._is_merging(name) and arriving.at_most else arriving
            return smaller(found, Bound(limit.most)) if limit.is_authors else found
        if limit.is_authors:
            return Bound(limit.most)
        return endless(cycle_reason(self.program, set(part)), limit.most)

    def _is_merging(self, name: str) -> bool:
        """Whether all tokens meet: those that wait for each other round a cycle never do."""
        return self._is_joining(name) and not self._cyclic & self.program.sources(name)

    def _is_joining(self, name: str) -> bool:
        """Whether tokens that come from everywhere start it once. Those of branches never meet."""
        if self._has_forks or self.program.steps[name].join is not Join.ALL:
            return False
        return self.program.incoming[name] > 1

    def _count_tokens(self, names: list[str]) -> None:
        """Where a router chooses one arc, only one of the steps behind it is visited."""
        for name in reversed(names):
            self.given.cancel_check()
            found: dict[str, Bound] = {}
            for following in self._followings(name):
                for step, bound in following.items():
                    found[step] = larger(found.get(step, ZERO), bound)
            self.behind[name] = {**found, name: found.get(name, ZERO) + ONE}
        for name in names:
            self.visits[name] = smaller(self.visits[name], self.behind[self.entry].get(name, ZERO))

    def _followings(self, name: str) -> Iterator[dict[str, Bound]]:
        """The visits that follow one of this step, for everything that can come next.

        Under the name of no step: the executions of all tasks, its own included.
        """
        endings = self.analyses[name].visit().endings
        for ending, found in self._onward(name):
            own = endings[ending].get(ALL, ZERO)
            alone = [self.behind.get(way.to, {}) for way in self._ways(name, found)]
            together: dict[str, Bound] = {}
            for way in found.together:
                for step, bound in self.behind.get(way.to, {}).items():
                    together[step] = together.get(step, ZERO) + bound
            for following in (*alone, together):
                yield {**following, _ALL_TASKS: following.get(_ALL_TASKS, ZERO) + own}

    def _onward(self, name: str) -> Iterator[tuple[VisitEnding, Onward]]:
        step = self.program.steps[name]
        for ending in self.analyses[name].visit().endings:
            yield ending, onward(self.program, step, ending)

    def _ways(self, name: str, found: Onward) -> Iterator[TokenWay]:
        yield from found.choices
        step = self.program.steps[name]
        way_out = rescue(self.program, step, in_branch=False) if found.is_lost else None
        if way_out is not None:
            yield way_out

    # --- amounts --------------------------------------------------------------------------------

    def _total(self) -> dict[str, Bound]:
        """What all visits cost together; one after the other, as far as time is concerned."""
        most: dict[str, Bound] = {}
        for name, visits in self.visits.items():
            most[visits_of(name)] = visits
            for sort, bound in self._worst(name).items():
                if sort in SHARED:
                    most[sort] = most.get(sort, ZERO) + bound * visits
                else:
                    most[within(name, sort)] = bound * visits
        return most

    def _all_in_turn(self) -> Iterator[PathVisit]:
        """Every step: where nothing is known of their order, they take as long as one by one."""
        for name in self.visits:
            endings = self.analyses[name].visit().endings
            slowest = max(endings, key=lambda one: endings[one].get(TIME, ZERO).at_most)
            yield PathVisit(name, slowest, endings[slowest])

    def _worst(self, name: str) -> Cost:
        visit = self.analyses[name].visit()
        sorts = {sort for cost in visit.endings.values() for sort in cost}
        return {sort: visit.worst(sort) for sort in sorts}

    # --- time -----------------------------------------------------------------------------------

    def _edges(self) -> Iterator[CostEdge[WalkState]]:
        """A step begins when a step before it has ended; one that joins, when all have."""
        for name in self.visits:
            here, endings = WalkState(name), self.analyses[name].visit().endings
            for ending, found in self._onward(name):
                cost = self._in_turn(name, endings[ending])
                stop = PathVisit(name, ending, endings[ending])
                yield CostEdge(here, END, cost, stop)
                for way in (*self._ways(name, found), *found.together):
                    yield CostEdge(here, WalkState(way.to), cost, stop)
            worst = self._worst(name)
            stop = PathVisit(name, VisitEnding(Verdict.FAILURE), worst)
            for target in self._awaiting(name):
                yield CostEdge(here, WalkState(target), self._in_turn(name, worst), stop)

    def _in_turn(self, name: str, cost: Cost) -> Mapping[str, Bound]:
        """Visits of one step wait for each other, unless each token has its own."""
        turns = ONE if self.program.steps[name].join is Join.EACH else self.visits[name]
        return {sort: cost[sort] * turns for sort in (WAITS, TIME) if sort in cost}

    def _awaiting(self, name: str) -> Iterator[str]:
        """The steps that wait for this one, although it may never lead there."""
        for target in self.visits:
            is_before = self._is_joining(target) and name in self.program.sources(target)
            if is_before and self._are_side_by_side(name, target):
                yield target

    def _are_side_by_side(self, name: str, target: str) -> bool:
        """Whether one token can be at the step while another is on its way to the target."""
        for step in self.visits:
            self.given.cancel_check()
            routed = [found.together for _, found in self._onward(step)]
            for ways in routed:
                near = {number for number, way in enumerate(ways) if self._leads(way.to, name)}
                far = {number for number, way in enumerate(ways) if self._leads(way.to, target)}
                if any(one != other for one in near for other in far):
                    return True
        return False

    def _leads(self, start: str, target: str) -> bool:
        return start == target or start in self.program.sources(target)
