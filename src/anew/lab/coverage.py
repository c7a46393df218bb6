"""Say which decisions of a document no log has exercised.

A point is one thing the author wrote that decides something: a rule, the sequel of a spent retry,
an arc, an admission rule, one answer of a gate, a way out of a failure. What the front ends add of
their own is no point, and what several steps share (a task of the workbook, an alias) is one.
Knows programs and logs; not where they came from, nor how coverage is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.events.words import RouteReason
from anew.engine.gates import PENDING
from anew.program.policy import GraphRule, Retry, Rule
from anew.program.program import Gate, Program, Step, Task
from anew.program.span import NOWHERE, Span
from anew.values import Object
from anew.views.context import GRAPHS
from anew.views.summary import shown_labels

# Rules the front end of graphs makes for what no author can see.
_MADE_UP_RULES = (GraphRule.DONE, GraphRule.PASSED_ON, GraphRule.BRANCHES)
_DEFAULT_RETRIES = "the retries of nodes by default"
_NEVER_TAKEN = "was never taken"
_MET, _UNMET = "met", "unmet"
_GATE_ANSWERS = {_MET: "was never satisfied", _UNMET: "was never left unsatisfied"}


class PointKind(StrEnum):
    RULE = "rule"
    SEQUEL = "sequel"  # what follows when a retry's attempts are spent
    ARC = "arc"
    ADMISSION = "admission"
    GATE = "gate"
    RESCUE = "rescue"
    FALLBACK = "fallback"


class Point(Struct, frozen=True):
    """`what` is its name for people; `lack` says what never happened to it."""

    kind: PointKind
    place: Span
    what: str
    lack: str

    def report(self) -> Object:
        return {
            "kind": self.kind.value,
            "line": self.place.line,
            "column": self.place.column,
            "what": self.what,
            "lack": self.lack,
        }


class Coverage(Struct, frozen=True):
    """How often each point of one document was exercised, in the order of the file."""

    hits: Mapping[Point, int] = field(default_factory=dict)

    @property
    def points(self) -> int:
        return len(self.hits)

    @property
    def covered(self) -> int:
        return sum(count > 0 for count in self.hits.values())

    @property
    def uncovered(self) -> list[Point]:
        return [point for point, count in self.hits.items() if not count]

    @property
    def percent(self) -> float:
        """Of a document that decides nothing, all is covered."""
        return percent_of(self.covered, self.points)

    def report(self) -> Object:
        """What `anew test --coverage --json` says of a document."""
        return {
            "percent": self.percent,
            "covered": self.covered,
            "points": self.points,
            "uncovered": [point.report() for point in self.uncovered],
        }

    def plus(self, other: Coverage) -> Coverage:
        """That of both together."""
        counts = Counter(self.hits)
        counts.update(other.hits)
        return Coverage({point: counts[point] for point in _in_file_order(counts)})


def percent_of(covered: int, points: int) -> float:
    """Rounded down to a tenth, so that only what is whole is 100 %."""
    return (covered * 1000 // points) / 10 if points else 100.0


def coverage_of(program: Program, logs: Iterable[Iterable[e.Event]] = ()) -> Coverage:
    """What these logs of runs of the program have exercised of it."""
    tally = CoverageTally(program)
    for log in logs:
        tally.add(log)
    return tally.coverage


class CoverageTally:
    """Coverage of one program that grows log by log, without keeping the logs."""

    def __init__(self, program: Program) -> None:
        self._chart = _Chart(program)
        self._counts: Counter[Point] = Counter()

    def add(self, log: Iterable[e.Event]) -> None:
        for event in log:
            self._counts.update(self._chart.exercised(event))

    @property
    def coverage(self) -> Coverage:
        points = _in_file_order(self._chart.points)
        return Coverage({point: self._counts[point] for point in points})


def _in_file_order(points: Iterable[Point]) -> list[Point]:
    return sorted(points, key=lambda point: (point.place.line, point.place.column))


# What an event names: a rule of a task, an arc of a step, …
_Name: TypeAlias = tuple[str | int | PointKind, ...]


class _Chart:
    """The points of a program, and which of them an event names."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._is_graph = program.language == GRAPHS
        self._labels = shown_labels(program)
        self._uses = Counter(place for step in program.steps.values() for place in _places(step))
        self._written = _written(program)
        self._named: dict[_Name, Point] = {}
        self._known: dict[tuple[PointKind, Span, str], Point] = {}
        for name, task in program.workbook.items():
            self._add_rules(f"the workbook's {name}", task, ())
        for step in program.steps.values():
            if self._written[step.name] == step.name:
                self._add_step(step)
        if program.fallback is not None:
            what = f"the fallback to {program.fallback}"
            self._add(PointKind.FALLBACK, program.fallback_span, what, _NEVER_TAKEN, ())

    @property
    def points(self) -> Iterable[Point]:
        return self._known.values()

    def exercised(self, event: e.Event) -> Iterator[Point]:
        """The points that this event is an example of, each once."""
        read = _READ.get(type(event))
        names = () if read is None else read(event)
        yield from {self._named[name]: None for name in names if name in self._named}

    def _add(
        self, kind: PointKind, place: Span, what: str, lack: str, name: _Name, *, key: str = ""
    ) -> None:
        self._named[kind, *name] = self._point(kind, place, what, lack, key=key)

    def _point(self, kind: PointKind, place: Span, what: str, lack: str, *, key: str = "") -> Point:
        """One for each thing that was written, under however many names it is known."""
        return self._known.setdefault((kind, place, key), Point(kind, place, what, lack))

    def _add_step(self, step: Step) -> None:
        for task in step.tasks:
            label = self._labels[step.name, task.label]
            self._add_rules(label, task, (step.name,), step)
        for number, rule in enumerate(step.admit, 1):
            what = f"admission rule {number} of {step.name}"
            self._add(PointKind.ADMISSION, rule.span, what, "never decided", (step.name, number))
        word = "edge" if self._is_graph else "arc"
        for number, arc in enumerate(step.router.arcs, 1):
            what = f"{word} {step.name} -> {self._written[arc.to]}"
            own = (step.name, number)
            self._add(PointKind.ARC, arc.span, what, _NEVER_TAKEN, own, key=what)
        if step.rescue is not None:
            place, name = step.rescue_span, (step.name, step.rescue)
            all_of_them = "node" if self._is_graph else "step"
            who = all_of_them if self._uses[place] > 1 else step.name
            what = f"the way from a failed {who} to {step.rescue}"
            self._add(PointKind.RESCUE, place, what, _NEVER_TAKEN, name)
        if step.gate is not None:
            self._add_gate(step.name, step.gate)

    def _add_gate(self, step: str, gate: Gate) -> None:
        """A gate has two answers, and both must have been given; where it sends the run may be
        what also takes the failures of its step."""
        for answer, lack in _GATE_ANSWERS.items():
            what, name = f"gate {step}", (step, answer)
            self._add(PointKind.GATE, gate.span, what, lack, name, key=answer)
        if gate.to is not None and gate.to_span is not None:
            what = f"the way from an unsatisfied gate to {gate.to}"
            way = (step, gate.to, _UNMET)
            self._add(PointKind.RESCUE, gate.to_span, what, _NEVER_TAKEN, way)

    def _add_rules(self, label: str, task: Task, name: _Name, step: Step | None = None) -> None:
        for number, rule in enumerate(task.policy.rules, 1):
            if self._is_graph and rule.name in _MADE_UP_RULES:
                continue
            own, sequel = (*name, task.label, number), _sequel_of(rule)
            if self._is_graph and step is not None:
                self._add_node_rule(label, rule, own, sequel)
                continue
            what = f"{rule.name or f'rule {number}'} of {label}"
            self._add(PointKind.RULE, rule.span, what, "never matched", own)
            if sequel is not None:
                said = f"on_exhausted of {what}"
                self._add(PointKind.SEQUEL, sequel, said, "was never reached", own)

    def _add_node_rule(self, label: str, rule: Rule, own: _Name, sequel: Span | None) -> None:
        """What a failure counts as is one thing, with and without retries before it."""
        is_retry = isinstance(rule.then, Retry)
        if is_retry:
            is_default = self._uses[rule.span] > 1
            what = _DEFAULT_RETRIES if is_default else f"the retries of {label}"
            self._add(PointKind.RULE, rule.span, what, "never matched", own)
        place = sequel if is_retry else rule.span
        if place is not None:
            who = "a node" if self._uses[place] > 1 else label
            what = f"what a failure of {who} counts as"
            name = PointKind.SEQUEL if is_retry else PointKind.RULE, *own
            self._named[name] = self._point(PointKind.RULE, place, what, "was never asked")


def _written(program: Program) -> Mapping[str, str]:
    """By step, the one the author wrote: a step of the front end stands at the place of a node
    before it, and either leads on to the node it is for or is one that begins there anew."""
    found: dict[str, str] = {}
    first: dict[Span, str] = {}
    for step in program.steps.values():
        known = first.setdefault(step.span, step.name) if program.language == GRAPHS else step.name
        is_on_the_way = known != step.name and len(step.router.arcs) == 1
        found[step.name] = step.router.arcs[0].to if is_on_the_way else known
    return found


def _places(step: Step) -> set[Span]:
    """Where its retries, what its failure counts as and where it leads are written."""
    rules = [rule for task in step.tasks for rule in task.policy.rules]
    sequels = {place for rule in rules if (place := _sequel_of(rule)) is not None}
    return {rule.span for rule in rules} | sequels | {step.rescue_span}


def _sequel_of(rule: Rule) -> Span | None:
    """Where the author says what follows a spent retry; a sequel of the front end has no place."""
    if not isinstance(rule.then, Retry) or rule.then.on_exhausted is None:
        return None
    place = rule.then.on_exhausted.then.span
    return None if place in (NOWHERE, rule.span) else place


# --- what events name ----------------------------------------------------------------------------


def _of_task(event: e.TaskProcessed) -> Iterator[_Name]:
    if event.rule is not None:
        yield PointKind.RULE, event.step or "", event.task or "", event.rule


def _of_exhausted(event: e.TaskRetryExhausted) -> Iterator[_Name]:
    yield PointKind.SEQUEL, event.step or "", event.task or "", event.rule


def _of_routing(event: e.NextEvaluated) -> Iterator[_Name]:
    step = event.step or ""
    by_arc = {token["to"] for token in event.tokens if "via" not in token}
    for said in event.arcs:
        # What was chosen may be dropped, and a gate may send the run elsewhere.
        if said["verdict"] and said["to"] in by_arc:
            yield PointKind.ARC, step, said["arc"]
    for token in event.tokens:
        if token.get("via") == RouteReason.RETRY_TARGET:
            yield PointKind.RESCUE, step, token["to"]
        if token.get("via") == RouteReason.FALLBACK:
            yield (PointKind.FALLBACK,)


def _of_gate(event: e.GateChecked) -> Iterator[_Name]:
    if event.visit is None:  # who may enter was asked, not whether the run may end
        if event.rule is not None and event.error is None:
            yield PointKind.ADMISSION, event.step or "", event.rule
        return
    for name, verdict in event.goals.items():
        if name in event.unsatisfied:
            yield PointKind.GATE, name, _UNMET
        elif verdict != PENDING:
            yield PointKind.GATE, name, _MET
    if event.gate is not None and event.to is not None:
        yield PointKind.RESCUE, event.gate, event.to, _UNMET


def _of_failure(event: e.StepFailed) -> Iterator[_Name]:
    """Where the only way to the exit leads through a gate, its failure is what keeps it shut."""
    yield PointKind.GATE, event.step or "", _UNMET


_READ: Mapping[type, Callable[..., Iterator[_Name]]] = {
    e.TaskProcessed: _of_task,
    e.TaskRetryExhausted: _of_exhausted,
    e.NextEvaluated: _of_routing,
    e.GateChecked: _of_gate,
    e.StepFailed: _of_failure,
}
