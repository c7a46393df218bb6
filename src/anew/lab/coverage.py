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
from anew.engine.gates import PENDING
from anew.engine.router import Reason
from anew.program.policy import Retry, Rule
from anew.program.program import Program, Step, Task
from anew.program.span import NOWHERE, Span
from anew.views.context import GRAPHS
from anew.views.summary import shown_labels

# Rules the front end of graphs makes for what no author can see.
_MADE_UP_RULES = ("done", "passed on", "branches")
_DEFAULT_RETRIES = "the retries of nodes by default"
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
    tally = Tally(program)
    for log in logs:
        tally.add(log)
    return tally.coverage


class Tally:
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
        self._retried_at = Counter(place for s in program.steps.values() for place in _retries(s))
        self._named: dict[_Name, Point] = {}
        self._known: dict[tuple[PointKind, Span, str], Point] = {}
        for name, task in program.workbook.items():
            self._add_rules(f"the workbook's {name}", task, ())
        for step in self._written():
            self._add_step(step)
        if program.fallback is not None:
            what = f"the fallback to {program.fallback}"
            self._add(PointKind.FALLBACK, program.span, what, "was never taken", ())

    @property
    def points(self) -> Iterable[Point]:
        return self._known.values()

    def exercised(self, event: e.Event) -> Iterator[Point]:
        """The points that this event is an example of, each once."""
        read = _READ.get(type(event))
        names = () if read is None else read(event)
        yield from {self._named[name]: None for name in names if name in self._named}

    def _written(self) -> Iterator[Step]:
        """The steps that stand in the document: those of the front end repeat a node's place."""
        seen: set[Span] = set()
        for step in self._program.steps.values():
            if not self._is_graph or step.span not in seen:
                yield step
            seen.add(step.span)

    def _add(
        self, kind: PointKind, place: Span, what: str, lack: str, name: _Name, *, key: str = ""
    ) -> None:
        """One point for each thing that was written, under however many names it is known."""
        point = self._known.setdefault((kind, place, key), Point(kind, place, what, lack))
        self._named[kind, *name] = point

    def _add_step(self, step: Step) -> None:
        for task in step.tasks:
            label = self._labels[step.name, task.label]
            self._add_rules(label, task, (step.name,), step)
        for number, rule in enumerate(step.admit, 1):
            what = f"admission rule {number} of {step.name}"
            self._add(PointKind.ADMISSION, rule.span, what, "never decided", (step.name, number))
        word = "edge" if self._is_graph else "arc"
        for number, arc in enumerate(step.router.arcs, 1):
            what = f"{word} {step.name} -> {arc.to}"
            name = (step.name, number)
            self._add(PointKind.ARC, arc.span, what, "was never taken", name, key=what)
        self._add_gate(step)
        if step.rescue is not None:
            what = f"the way from a failed {step.name} to {step.rescue}"
            self._add(PointKind.RESCUE, step.span, what, "was never taken", (step.name,))

    def _add_gate(self, step: Step) -> None:
        """A gate has two answers, and both must have been given."""
        if step.gate is None:
            return
        for answer, lack in _GATE_ANSWERS.items():
            what, name = f"gate {step.name}", (step.name, answer)
            self._add(PointKind.GATE, step.gate.span, what, lack, name, key=answer)

    def _add_rules(self, label: str, task: Task, name: _Name, step: Step | None = None) -> None:
        for number, rule in enumerate(task.policy.rules, 1):
            if self._is_graph and rule.name in _MADE_UP_RULES:
                continue
            own = (*name, task.label, number)
            what, place = self._rule(rule, number, label, step)
            self._add(PointKind.RULE, place, what, "never matched", own)
            sequel = _sequel_of(rule)
            if sequel is not None:
                said = f"on_exhausted of {what}"
                self._add(PointKind.SEQUEL, sequel, said, "was never reached", own)

    def _rule(self, rule: Rule, number: int, label: str, step: Step | None) -> tuple[str, Span]:
        """How a rule is called, and where it stands."""
        if not self._is_graph or step is None:
            return f"{rule.name or f'rule {number}'} of {label}", rule.span
        if not isinstance(rule.then, Retry):
            return f"what a failure of {label} counts as", step.span
        if rule.span == step.span:  # nothing of the node says so: it is a default of the graph
            return _DEFAULT_RETRIES, self._program.span
        is_default = self._retried_at[rule.span] > 1
        return _DEFAULT_RETRIES if is_default else f"the retries of {label}", rule.span


def _retries(step: Step) -> set[Span]:
    """Where the retries of a step are written."""
    rules = (rule for task in step.tasks for rule in task.policy.rules)
    return {rule.span for rule in rules if isinstance(rule.then, Retry)}


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
    ways = {token.get("via") for token in event.tokens}
    if Reason.RETRY_TARGET in ways:
        yield PointKind.RESCUE, step
    if Reason.FALLBACK in ways:
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
