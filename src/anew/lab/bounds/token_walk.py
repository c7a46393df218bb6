"""The worst walk of one token through the steps of a program, with all that a run counts.

A state is where the token is and what has been used up; branches of a fork are walks of their own.
Programs in which one visit lets several tokens go without a fork are not for here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine.gates import PENDING
from anew.lab.bounds.amounts import ZERO, Bound, BoundReason, endless, total
from anew.lab.bounds.analysis_inputs import SHARED, TIME, WAITS, AnalysisInput, Cost
from anew.lab.bounds.limits import Limit, steps_limit, visits_limit
from anew.lab.bounds.longest_paths import CostEdge, Ways, longest
from anew.lab.bounds.routing import Onward, TokenWay, onward, rescue
from anew.lab.bounds.scheduling import makespan, waits_of_one
from anew.lab.bounds.visits import StepAnalysis, VisitEnding, passes_on
from anew.program.graph_walks import reached
from anew.program.policy import Budget, Retry, Verdict
from anew.program.program import Program, RouteMode, Step
from anew.program.span import NOWHERE, Span

# A program with more states than this is bounded by its limits alone.
STATES_MAX = 10_000
# Gates whose verdicts a fork leaves open are followed in each combination.
_OPEN_GATES_MAX = 4
_NORMAL = (None, "join")

# What has been used up, by name, and how gates stand; only what can make a difference is kept.
Memory: TypeAlias = tuple[tuple[str, int | str], ...]


class WalkState(Struct, frozen=True):
    """The token enters `step`. `told` is the verdict it brings to a step that passes it on."""

    step: str
    is_normal: bool = True
    told: Verdict | None = None
    memory: Memory = ()


END = WalkState("")


class PathVisit(Struct, frozen=True):
    """An edge of a walk: the visit that ends there, and the longest branch that follows it.

    `again` says what repeats it, if the path has it once for many: a `cycle`, a `restart`.
    """

    step: str
    ending: VisitEnding
    cost: Cost = {}
    branch: tuple[PathVisit, ...] = ()
    again: str = ""


class TooManyStates(Exception):
    """The program has too many states to be walked, or forks without end."""


class SeveralTokens(Exception):
    """A visit lets several tokens go."""


def visits_of(step: str) -> str:
    """The sort of cost that counts the visits of a step."""
    return f"visits {step}"


def within(step: str, sort: str) -> str:
    """A sort of cost of a step, among those of all steps."""
    return f"{step}\n{sort}"


class Walked(Struct, frozen=True):
    """The most a walk can cost by sort, and the visits of the longest one."""

    most: dict[str, Bound]
    path: tuple[PathVisit, ...]


# The state that follows a visit, what it costs to get there, and the longest branch on the way.
Followed: TypeAlias = tuple[WalkState, Cost, tuple[PathVisit, ...]]


class Walker(Struct, dict=True):
    """Walks one program. `counted` are the steps that a walk may visit more than once."""

    given: AnalysisInput
    analyses: dict[str, StepAnalysis]
    cyclic: frozenset[str]
    counted: frozenset[str]
    walked: dict[tuple[str, frozenset[str]], Walked] = field(default_factory=dict)
    walking: set[tuple[str, frozenset[str]]] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)

    def walk(self, start: str, joins: frozenset[str] = frozenset()) -> Walked:
        """From a step to the end of the run, or of a branch that ends at one of `joins`."""
        found = self.walked.get((start, joins))
        if found is None:
            if (start, joins) in self.walking:
                raise TooManyStates  # a branch that leads back to its own fork has no end
            self.walking.add((start, joins))
            found = self.walked[start, joins] = _Walk(self, joins).go(start)
        return found


class _Walk:
    def __init__(self, walker: Walker, joins: frozenset[str]) -> None:
        self._walker = walker
        self._program: Program = walker.given.program
        self._joins = joins
        self._edges: list[CostEdge[WalkState]] = []
        self._gates = {step.name for step in self._program.gates}

    def go(self, start: str) -> Walked:
        first = WalkState(start)
        todo, seen = [first], {first}
        while todo:
            self._walker.given.cancel_check()
            for following in self._leave(todo.pop()):
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
            if len(seen) > STATES_MAX:
                raise TooManyStates
        ways = longest(first, self._edges, self._cycle, self._walker.given.cancel_check)
        return Walked(ways.most.get(END, {}), tuple(self._path(ways)))

    def _path(self, ways: Ways[WalkState]) -> Iterator[PathVisit]:
        """The visits of the longest walk, with those of a cycle once."""
        rounds: list[object] = []
        for edge in ways.path(END, TIME):
            if ways.round.get(edge.source) not in (None, *rounds):
                rounds.append(ways.round[edge.source])
                for passed in ways.way_round(edge.source, TIME):
                    yield from (replace(stop, again="cycle") for stop in _stops(passed))
            yield from _stops(edge)

    # --- one visit ------------------------------------------------------------------------------

    def _leave(self, state: WalkState) -> Iterator[WalkState]:
        """The states a visit can lead to; what it costs is noted."""
        step = self._program.steps[state.step]
        self._walker.reached.add(step.name)
        memory = dict(state.memory)
        if not self._enter(step, memory):
            self._note(state, END, {}, None)
            return
        is_open = step.gate is not None and step.gate.when is not None  # it may not be met
        has_succeeded = memory.get(f"verdict {step.name}") == Verdict.SUCCESS and not is_open
        if state.is_normal and has_succeeded:
            memory.pop(f"spent {step.name}", None)
        spent = int(memory.get(f"spent {step.name}", 0))
        visit = self._walker.analyses[step.name].visit(spent=spent, told=state.told)
        for ending, cost in visit.endings.items():
            stop, whole = PathVisit(step.name, ending, cost), self._cost(step, cost)
            self._note(state, END, whole, stop)
            for following, more, branch in self._follow(step, ending, dict(memory)):
                self._note(state, following, _sum(whole, more), replace(stop, branch=branch))
                if following is not END:
                    yield following

    def _enter(self, step: Step, memory: dict[str, int | str]) -> bool:
        """Count the visit; False when the run may not make it."""
        limits = [(f"visits {step.name}", visits_limit(self._program, step.name))]
        limits.append(("steps", steps_limit(self._program)))
        for name, limit in limits:
            if not limit.is_authors or step.name not in self._walker.cyclic:
                continue
            times = int(memory.get(name, 0))
            if times >= limit.most:
                return False
            memory[name] = times + 1
        return True

    def _cost(self, step: Step, cost: Cost) -> Cost:
        if step.name not in self._walker.counted:
            return {sort: cost[sort] for sort in SHARED if sort in cost}
        counted = {visits_of(step.name): Bound(1.0)}
        for sort, bound in cost.items():
            counted[sort if sort in SHARED else within(step.name, sort)] = bound
        return counted

    def _note(
        self, state: WalkState, following: WalkState, cost: Cost, stop: PathVisit | None
    ) -> None:
        self._edges.append(CostEdge(state, following, cost, stop))

    # --- where it leads -------------------------------------------------------------------------

    def _follow(
        self, step: Step, ending: VisitEnding, memory: dict[str, int | str]
    ) -> Iterator[Followed]:
        self._remember(step, ending, memory)
        found = onward(self._program, step, ending)
        if step.is_exit and not self._joins and self._program.gates and not _failed(ending):
            redirected = self._redirected(memory)
            if redirected is not None:
                yield redirected, {}, ()
                return
        if found.is_fork:
            yield from self._forked(step, found, memory)
            return
        if len(found.together) > 1:
            raise SeveralTokens
        for way in (*found.choices, *found.together):
            yield from self._taken(step, ending, way, memory)
        if found.is_lost:
            way_out = rescue(self._program, step, in_branch=bool(self._joins))
            if way_out is not None:
                yield from self._taken(step, ending, way_out, memory)

    def _remember(self, step: Step, ending: VisitEnding, memory: dict[str, int | str]) -> None:
        name = step.name
        shares = _shares_budget(step)
        if name in self._gates or (shares and name in self._walker.cyclic):
            memory[f"verdict {name}"] = ending.verdict
        if shares and ending.spent and (name in self._gates or name in self._walker.cyclic):
            memory[f"spent {name}"] = ending.spent

    def _taken(
        self, step: Step, ending: VisitEnding, way: TokenWay, memory: dict[str, int | str]
    ) -> Iterator[Followed]:
        after = dict(memory)
        arc = step.router.arcs[way.arc - 1] if way.arc is not None else None
        if arc is not None and arc.most is not None and step.name in self._walker.cyclic:
            counter = f"arc {step.name}:{way.arc}"
            after[counter] = int(after.get(counter, 0)) + 1
            if int(after[counter]) > arc.most:
                return
        if way.to in self._joins:
            return  # the branch has come to its end
        yield self._state(way.to, ending, after, is_normal=way.via in _NORMAL), {}, ()

    def _state(
        self, to: str, ending: VisitEnding | None, memory: dict[str, int | str], *, is_normal: bool
    ) -> WalkState:
        told = None
        if passes_on(self._program.steps[to]):
            told = Verdict.SUCCESS if ending is None else ending.verdict
        return WalkState(to, is_normal, told, tuple(sorted(memory.items())))

    def _redirected(self, memory: dict[str, int | str]) -> WalkState | None:
        """Where the first gate that is not met sends the run, if it still can."""
        for step in self._program.gates:
            gate = step.gate
            assert gate is not None
            verdict = memory.get(f"verdict {step.name}", PENDING)
            is_met = verdict in gate.accepts and gate.when is None
            if is_met or (verdict == PENDING and not gate.is_owed):
                continue
            redirects = f"redirects {step.name}"
            counter = f"spent {step.name}" if gate.shares_budget else redirects
            used = int(memory.get(counter, 0))
            is_spent = gate.to is None or used >= gate.most
            if is_spent and gate.when is not None and verdict in gate.accepts:
                continue  # its condition may hold at last
            if gate.to is None or is_spent:
                return END
            after = {**memory, counter: used + 1}
            return self._state(gate.to, None, after, is_normal=False)
        return None

    # --- branches -------------------------------------------------------------------------------

    def _forked(
        self, step: Step, found: Onward, memory: dict[str, int | str]
    ) -> Iterator[Followed]:
        join = step.router.join
        assert join is not None
        walks = [self._branch(way.to, join) for way in found.together]
        inside = _reached(self._program, [way.to for way in found.together], join)
        # A token that is refused in one branch may wait for the end of another.
        may_wait = any(self._program.steps[name].admit for name in inside)
        width = 1 if may_wait else step.router.width
        slowest = max(walks, key=lambda one: one.most.get(TIME, ZERO).at_most).path
        cost: dict[str, Bound] = {}
        for sort in {sort for walked in walks for sort in walked.most}:
            amounts = [walked.most.get(sort, ZERO) for walked in walks]
            cost[sort] = makespan(amounts, width) if sort == TIME else total(amounts)
        waits = [walked.most.get(WAITS, ZERO) for walked in walks]
        cost[WAITS] = waits_of_one(waits, width, cost.get(TIME, ZERO))
        if join in self._joins:
            yield END, cost, slowest
            return
        for after in self._open_verdicts(memory, inside | {step.name}):
            yield self._state(join, None, after, is_normal=True), cost, slowest

    def _branch(self, start: str, join: str) -> Walked:
        joins = self._joins | {join}
        return Walked({}, ()) if start in joins else self._walker.walk(start, joins)

    def _open_verdicts(
        self, memory: dict[str, int | str], inside: set[str]
    ) -> Iterator[dict[str, int | str]]:
        """A fork leaves open how the gates in its branches stand."""
        kept = self._kept_verdicts()
        names = [f"verdict {name}" for name in sorted(inside) if f"verdict {name}" in kept]
        if len(names) > _OPEN_GATES_MAX:
            raise TooManyStates
        values = [(memory.get(name, PENDING), *Verdict) for name in names]
        for chosen in product(*values):
            open_now = {n: v for n, v in zip(names, chosen, strict=True) if v != PENDING}
            yield {**{k: v for k, v in memory.items() if k not in names}, **open_now}

    def _kept_verdicts(self) -> set[str]:
        """The steps whose verdict is remembered."""
        steps = self._program.steps.values()
        shared = {s.name for s in steps if _shares_budget(s) and s.name in self._walker.cyclic}
        return {f"verdict {name}" for name in shared | self._gates}

    # --- cycles ---------------------------------------------------------------------------------

    def _cycle(self, group: frozenset[WalkState], sort: str) -> Bound:
        """What going round costs, until a limit of the engine ends it."""
        self._walker.given.cancel_check()
        steps = list(dict.fromkeys(state.step for state in group))
        inside = set(steps)
        for name in steps:
            router = self._program.steps[name].router
            if router.join is not None:
                inside |= _reached(self._program, [arc.to for arc in router.arcs], router.join)
        bounds = [self._worst(name, sort) for name in self._program.steps if name in inside]
        return endless(cycle_reason(self._program, inside), sum(bounds))

    def _worst(self, name: str, sort: str) -> float:
        """What all visits of a step can cost."""
        visits = visits_limit(self._program, name).most
        if sort == visits_of(name):
            return visits
        step, _, own = sort.rpartition("\n")
        if step and step != name:
            return 0.0
        once = self._walker.analyses[name].visit().worst(own).at_most
        return visits * once if once else 0.0


def _stops(edge: CostEdge[WalkState]) -> tuple[PathVisit, ...]:
    """The visit that an edge stands for, if one was made, and the branch behind it."""
    return (edge.mark, *edge.mark.branch) if isinstance(edge.mark, PathVisit) else ()


def _failed(ending: VisitEnding) -> bool:
    return ending.verdict is Verdict.FAILURE


def _shares_budget(step: Step) -> bool:
    rules = (rule.then for task in step.tasks for rule in task.policy.rules)
    has_rule = any(isinstance(then, Retry) and then.budget is Budget.STEP for then in rules)
    return has_rule or (step.gate is not None and step.gate.shares_budget)


def _reached(program: Program, starts: list[str], join: str) -> set[str]:
    """The steps a branch can come to before it meets the others."""
    return reached({**program.ways, join: ()}, starts) - {join}


def branch_steps(program: Program, names: Iterable[str]) -> set[str]:
    """The steps that branches of forks can come to, each of them for itself."""
    found: set[str] = set()
    for name in names:
        router = program.steps[name].router
        if router.mode is RouteMode.FORK and router.join is not None:
            found |= _reached(program, [arc.to for arc in router.arcs], router.join)
    return found


def _sum(one: Cost, other: Cost) -> Cost:
    if not other:
        return one
    return {sort: one.get(sort, ZERO) + other.get(sort, ZERO) for sort in one.keys() | other.keys()}


def cycle_reason(program: Program, inside: set[str]) -> BoundReason:
    """Why steps can be visited again and again, at the arc that leads back."""
    names = sorted(inside, key=program.position.__getitem__)
    limit = _loosest(program, names)
    what = f"steps can lead back to each other: {', '.join(names)}"
    if len(names) == 1:
        what = f"step {names[0]} can lead back to itself"
    return BoundReason("arc-cycle", _back(program, names), what, limit.name or None)


def _loosest(program: Program, names: list[str]) -> Limit:
    limits = [visits_limit(program, name) for name in names]
    return max(limits, key=lambda one: one.most)


def _back(program: Program, names: list[str]) -> Span:
    """The arc that leads back, else the step that does without one."""
    position = program.position
    for name in reversed(names):
        for arc in program.steps[name].router.arcs:
            if arc.to in names and position[arc.to] <= position[name] and arc.span != NOWHERE:
                return arc.span
    return program.steps[names[0]].span
