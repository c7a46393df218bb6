"""A second opinion on what a DOT graph does: its traversal loop, written once more from graphs.md.

Single-threaded, without parallel nodes, from the normative text alone; it shares nothing with the
engine but the structure of the graph as it is written. Where the text does not decide, it says so
(`Unclear`) instead of guessing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from anew.languages.dot.graph import DotDialect, Edge, Graph
from anew.languages.dot.read import read_graph
from tests.languages.dot.oracle_conditions import (
    Condition,
    Facts,
    docs_condition,
    docs_reader,
    spec_condition,
    spec_reader,
)

CAP_SECONDS = 60.0
MAX_VISITS_DEFAULT = 100
SAME_FAILURES = 3

# First delay, factor, whether chance lengthens it unless told otherwise (graphs.md#retries).
DOCS_PRESETS = {
    "none": (0.0, 1, False),
    "linear": (5.0, 1, False),
    "exponential": (1.0, 2, True),
    "aggressive": (0.5, 3, True),
}
# First delay, factor, executions (graphs.md#retries).
SPEC_PRESETS = {
    "standard": (0.2, 2, 5),
    "aggressive": (0.5, 2, 5),
    "linear": (0.5, 1, 3),
    "patient": (2.0, 3, 3),
}
_WORDS = {
    "success": "SUCCESS",
    "failure": "FAILURE",
    "fail": "FAILURE",
    "retry": "FAILURE",
    "partial": "PARTIAL",
    "partial_success": "PARTIAL",
    "skipped": "SKIPPED",
}
_SPEC_WORDS = {
    "SUCCESS": "success",
    "FAILURE": "fail",
    "PARTIAL": "partial_success",
    "SKIPPED": "skipped",
}
_ACCELERATOR = re.compile(r"\[(\w+)\]\s+(.*)|(\w)\)\s+(.*)|(\w) - (.*)")


class Unclear(Exception):
    """The text does not say what happens here."""


class Outcome(Struct):
    """What an execution came to; `word` is the spec dialect's name of it."""

    status: str
    word: str
    label: str | None = None
    suggested: list[str] = field(default_factory=list)
    error: dict[str, Any] | None = None
    wants_retry: bool = False


class Report(Struct):
    """`ctx` has only what the script's outcomes wrote."""

    status: str = "running"
    visits: list[str] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    unsatisfied: list[str] = field(default_factory=list)
    ctx: dict[str, Any] = field(default_factory=dict)


class Ended(Exception):
    """The run is over; the report has its status."""


def foretell(text: str, script: dict[str, Any]) -> Report:
    """What a run of this graph on this script must come to."""
    read = read_graph(text, "g.dot")
    assert read.graph is not None
    return Run(read.graph, is_docs=read.dialect is DotDialect.DOCS, script=script).play()


class Tape:
    """The entries of one node: each as often as it says, the last one for ever."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self._entries = [entry for entry in entries for _ in range(entry.get("times", 1))]
        self._at = 0

    @property
    def is_spent(self) -> bool:
        return self._at >= len(self._entries)

    def peek(self) -> dict[str, Any]:
        return self._entries[min(self._at, len(self._entries) - 1)]

    def previous(self) -> dict[str, Any]:
        return self._entries[min(self._at - 1, len(self._entries) - 1)]

    def next(self) -> dict[str, Any]:
        self._at += 1
        return self.previous()


class Run:
    """One traversal, from the start to an end."""

    def __init__(self, graph: Graph, *, is_docs: bool, script: dict[str, Any]) -> None:
        self.graph, self.is_docs = graph, is_docs
        self.leaving = graph.leaving()
        self.tapes = {name: Tape(said) for name, said in script.get("outcomes", {}).items()}
        self.chance = script.get("random", 0.5)
        self.report = Report()
        self.previous = Outcome("SUCCESS", "success")
        self.last: dict[str, Outcome] = {}
        self.counters: dict[str, int] = {}
        self.entries: dict[str, int] = {}
        self.taken: dict[int, int] = {}
        self.failures: dict[str, list[tuple[str, str]]] = {}
        # Nodes whose counter the text leaves open.
        self.doubtful: set[str] = set()

    def play(self) -> Report:
        at, via = self._start(), "edge"
        try:
            while True:
                at, via = self._enter(at, via)
        except Ended:
            return self.report

    # What is written

    def _node(self, name: str, key: str, default: Any = None) -> Any:
        found = self.graph.nodes[name].attributes.get(key)
        return default if found is None else found.value

    def _graph(self, key: str, default: Any = None) -> Any:
        found = self.graph.attributes.get(key)
        return default if found is None else found.value

    def _kind(self, name: str) -> str:
        shape = self._node(name, "shape", "box")
        if self.is_docs:
            is_exit = shape == "ellipse" and not self.leaving[name]
            shapes = {"ellipse": "exit" if is_exit else "start", "house": "human"}
        else:
            shapes = {"Mdiamond": "start", "Msquare": "exit", "hexagon": "human"}
        return shapes.get(shape, shape)

    def _start(self) -> str:
        return next(name for name in self.graph.nodes if self._kind(name) == "start")

    def _max_retries(self, name: str) -> int:
        own = self._node(name, "max_retries")
        if own is not None or self.is_docs:
            return int(own or 0)
        default = self._graph("default_max_retries", self._graph("default_max_retry"))
        preset = self._node(name, "retry_policy")
        if default is not None and preset is not None:
            raise Unclear("the graph's default or the preset's own attempts")
        if preset is not None:
            return int(SPEC_PRESETS[preset][2] - 1)
        return int(default or 0)

    # One node

    def _enter(self, name: str, via: str) -> tuple[str, str]:
        self.entries[name] = self.entries.get(name, 0) + 1
        if self.entries[name] > self._graph("max_visits", MAX_VISITS_DEFAULT):
            self._end("failed")
        if self._kind(name) == "exit":
            self.report.visits.append(name)
            return self._gates()
        self._reset_counter(name, via)
        if self._kind(name) == "diamond":
            self.report.visits.append(name)
            return self._leave(name)
        redirect = self._attempts(name)
        return redirect or self._leave(name)

    def _reset_counter(self, name: str, via: str) -> None:
        """graphs.md#retries; the spec dialect resets it at the success itself."""
        status, spent = self._last_status(name), self.counters.get(name, 0)
        if status == "SUCCESS" and via == "edge":
            self.counters[name] = 0
            self.doubtful.discard(name)
        elif not self.is_docs and status in ("SUCCESS", "PARTIAL") and spent:
            self.doubtful.add(name)

    def _last_status(self, name: str) -> str:
        return self.last[name].status if name in self.last else "PENDING"

    def _attempts(self, name: str) -> tuple[str, str] | None:
        """Execute until it is done with; where a counted retry goes elsewhere, where to."""
        while True:
            outcome = self._execute(name)
            if outcome.status != "FAILURE":
                self._settle(name, outcome)
                return None
            if name in self.doubtful:
                raise Unclear("whether the node has its retries back")
            self._refuse_repetition(name, outcome)
            spent = self.counters.get(name, 0)
            if not self._is_retryable(name, outcome) or spent >= self._max_retries(name):
                self._settle(name, self._after_retries(name, outcome))
                return None
            self.counters[name] = spent + 1
            self.report.delays.append(self._delay(name, spent + 1))
            target = self._node(name, "retry_target") if self.is_docs else None
            if target is not None:
                self.previous = outcome
                return str(target), "retry"

    def _settle(self, name: str, outcome: Outcome) -> None:
        self.last[name] = self.previous = outcome

    def _after_retries(self, name: str, outcome: Outcome) -> Outcome:
        if outcome.wants_retry and self._node(name, "allow_partial", default=False):
            return Outcome("PARTIAL", "partial_success", outcome.label, outcome.suggested)
        if self._graph("on_failure") == "succeed":
            kept = (outcome.label, outcome.suggested, outcome.error)
            return Outcome("SUCCESS", "success", *kept)
        return outcome

    def _execute(self, name: str) -> Outcome:
        self.report.visits.append(name)
        if self._kind(name) == "human":
            outcome = self._ask(name)
        else:
            tape = self.tapes.get(name)
            outcome = self._said(tape.next() if tape else {})
        self.last[name] = outcome
        return outcome

    def _said(self, entry: dict[str, Any]) -> Outcome:
        word = entry.get("status", "SUCCESS")
        status = _WORDS.get(word.lower(), "SUCCESS")
        error = dict(entry.get("error", {}))
        if status == "FAILURE":
            error.setdefault("type", "UNKNOWN")
        self.report.ctx.update(entry.get("context", {}))
        return Outcome(
            status,
            _SPEC_WORDS[status] if word.lower() in _WORDS else word,
            entry.get("label"),
            entry.get("suggested", []),
            error or None,
            word.lower() == "retry",
        )

    def _is_retryable(self, name: str, outcome: Outcome) -> bool:
        if outcome.wants_retry:
            return True
        error = outcome.error or {}
        if error.get("retryable") is not None:
            return bool(error["retryable"])
        if error["type"] == "TIMEOUT":
            on_graph = self._graph("retry_on_timeout", default=True)
            return bool(self._node(name, "retry_on_timeout", on_graph))
        return bool(error["type"] != "TERMINAL")

    def _delay(self, name: str, count: int) -> float:
        if self.is_docs:
            preset = self._node(name, "retry_backoff", "exponential")
            first, factor, is_jittered = DOCS_PRESETS[preset]
            jitter = self._node(name, "retry_jitter", 0.1 if is_jittered else 0)
            spread = 1 + jitter * self.chance
        else:
            first, factor, _ = SPEC_PRESETS[self._node(name, "retry_policy", "standard")]
            spread = 0.5 + self.chance
        return float(min(first * factor ** (count - 1), CAP_SECONDS) * spread)

    def _refuse_repetition(self, name: str, outcome: Outcome) -> None:
        """The guard of 3.5: the same deterministic failure at the same node ends the run."""
        error = outcome.error or {}
        is_final = error.get("type") == "TERMINAL" or error.get("retryable") is False
        if not is_final:
            return
        signature = (str(error.get("type")), str(error.get("message")))
        seen = self.failures.setdefault(name, [])
        seen.append(signature)
        if seen.count(signature) < SAME_FAILURES:
            return
        is_plain = error["type"] == "TERMINAL" and error.get("retryable") is not True
        is_plain = is_plain and not outcome.wants_retry
        if not is_plain or len(set(seen[-SAME_FAILURES:])) > 1 or self._graph("on_failure"):
            raise Unclear("whether this counts as the same deterministic failure")
        if self.report.visits.count(name) != len(seen):
            raise Unclear("whether an outcome between them breaks the series")
        self._end("failed")

    # People

    def _ask(self, name: str) -> Outcome:
        labels = [edge.text("label") or edge.target for edge in self.leaving[name]]
        timeout, waited = self._node(name, "timeout"), 0.0
        tape = self.tapes.get(name)
        while tape is not None:
            entry = tape.next()
            waited += entry.get("takes", 0)
            if timeout is not None and waited > timeout:
                break
            label = chosen(labels, entry["answer"])
            if label is not None:
                return Outcome("SUCCESS", "success", label)
            if tape.is_spent:
                break
        if timeout is None:
            self._end("waiting")
        return self._timed_out(name, labels)

    def _timed_out(self, name: str, labels: list[str]) -> Outcome:
        error = {"type": "TIMEOUT"}
        if not self.is_docs:
            choice = self._node(name, "human.default_choice")
            if choice is None:
                return Outcome("FAILURE", "fail", error=error, wants_retry=True)
            edge = next(edge for edge in self.leaving[name] if edge.target == choice)
            return Outcome("SUCCESS", "success", edge.text("label") or edge.target)
        match self._node(name, "timeout_action", "fail"):
            case "first":
                return Outcome("SUCCESS", "success", labels[0])
            case "skip":
                return Outcome("SKIPPED", "skipped")
            case _:
                return Outcome("FAILURE", "fail", error=error)

    # Where to go

    def _leave(self, name: str) -> tuple[str, str]:
        edge = self._select(name, self.previous)
        if edge is not None:
            self.taken[id(edge)] = self.taken.get(id(edge), 0) + 1
            return edge.target, "edge"
        if self.is_docs:
            return self._docs_rescue(name)
        return self._spec_rescue(name)

    def _docs_rescue(self, name: str) -> tuple[str, str]:
        fallback = self._graph("fallback")
        if name == fallback and not self.leaving[name]:
            self._end("failed")
        target = self._node(name, "retry_target")
        if target is not None:
            return str(target), "retry"
        if fallback is not None and name != fallback:
            return str(fallback), "fallback"
        return self._end("failed")

    def _spec_rescue(self, name: str) -> tuple[str, str]:
        if self.previous.status != "FAILURE":
            # Only a node without edges ends the run well.
            if not self.leaving[name] and self._unsatisfied():
                raise Unclear("whether a dead end asks the gates")
            return self._end("failed" if self.leaving[name] else "done")
        for key in ("retry_target", "fallback_retry_target"):
            if self._node(name, key) is not None:
                return str(self._node(name, key)), "retry"
        return self._end("failed")

    def _select(self, name: str, outcome: Outcome) -> Edge | None:
        open_edges = [edge for edge in self.leaving[name] if not self._is_used_up(edge)]
        conditional = [edge for edge in open_edges if edge.text("condition")]
        plain = [edge for edge in open_edges if not edge.text("condition")]
        holding = [edge for edge in conditional if self._holds(name, edge, outcome)]
        if holding:
            return self._first(holding)
        takes_all = self._kind(name) == "diamond" or self._graph("on_failure") == "route"
        if outcome.status == "FAILURE" and not takes_all:
            into = [edge for edge in plain if self._kind(edge.target) == "diamond"]
            if len(into) > 1:
                raise Unclear("which of several diamonds a failure goes to")
            return into[0] if into else None
        return self._preferred(plain, outcome)

    def _preferred(self, plain: list[Edge], outcome: Outcome) -> Edge | None:
        if outcome.label is not None:
            wanted = plain_label(outcome.label)
            labelled = [edge for edge in plain if _named(edge) == wanted]
            if len(labelled) > 1:
                raise Unclear("which of several equal labels")
            if labelled:
                return labelled[0]
        for suggested in outcome.suggested:
            for edge in plain:
                if edge.target == suggested:
                    return edge
        return min(plain, key=lambda edge: (-_weight(edge), edge.target), default=None)

    def _is_used_up(self, edge: Edge) -> bool:
        most = edge.attributes.get("max_retries")
        return most is not None and self.taken.get(id(edge), 0) >= int(most.value)

    def _holds(self, name: str, edge: Edge, outcome: Outcome) -> bool:
        facts = Facts(
            outcome.status if self.is_docs else outcome.word,
            self.report.ctx,
            outcome.error,
            outcome.label,
            self.counters.get(name, 0),
        )
        reader = docs_reader(facts) if self.is_docs else spec_reader(facts)
        return self._condition(edge).holds(reader)

    def _condition(self, edge: Edge) -> Condition:
        text = edge.text("condition")
        return docs_condition(text) if self.is_docs else spec_condition(text)

    def _first(self, holding: list[Edge]) -> Edge:
        """Of several true conditions: specificity, weight, order; or weight, target."""
        if not self.is_docs:
            return min(holding, key=lambda edge: (-_weight(edge), edge.target))
        first, other = (min(holding, key=self._docs_rank(prefix)) for prefix in (0, 1))
        if first is not other:
            raise Unclear("whether `context.` is a segment of a key's path")
        return first

    def _docs_rank(self, prefix: int) -> Callable[[Edge], tuple[int, ...]]:
        def rank(edge: Edge) -> tuple[int, ...]:
            condition, order = self._condition(edge), self.graph.edges.index(edge)
            segments = condition.segments - prefix * edge.text("condition").count("context.")
            return (-condition.operators, -segments, -_weight(edge), order)

        return rank

    # The end

    def _unsatisfied(self) -> list[str]:
        gates = [name for name in self.graph.nodes if self._node(name, "goal_gate", default=False)]
        if self.is_docs:
            return [name for name in gates if self._last_status(name) != "SUCCESS"]
        good = ("SUCCESS", "PARTIAL")
        visited = [name for name in gates if name in self.last]
        return [name for name in visited if self.last[name].status not in good]

    def _gates(self) -> tuple[str, str]:
        unsatisfied = self._unsatisfied()
        if not unsatisfied:
            self._end("done")
        gate = unsatisfied[0]
        if gate in self.doubtful:
            raise Unclear("whether the gate has its retries back")
        most = self._max_retries(gate) if self.is_docs else max(1, self._max_retries(gate))
        spent = self.counters.get(gate, 0)
        target = self._gate_target(gate)
        if spent >= most or target is None:
            return self._end("failed")
        self.counters[gate] = spent + 1
        return target, "gate"

    def _gate_target(self, gate: str) -> str | None:
        if self.is_docs:
            return str(self._node(gate, "retry_target", gate))
        keys = ("retry_target", "fallback_retry_target")
        wishes = [*(self._node(gate, key) for key in keys), *(self._graph(key) for key in keys)]
        return next((str(wish) for wish in wishes if wish is not None), None)

    def _end(self, status: str) -> Any:
        self.report.status = status
        if status == "failed":
            self.report.unsatisfied = self._unsatisfied()
        raise Ended


def _weight(edge: Edge) -> int:
    found = edge.attributes.get("weight")
    return 0 if found is None else int(found.value)


def _named(edge: Edge) -> str | None:
    return plain_label(edge.text("label")) if edge.text("label") else None


def plain_label(label: str) -> str:
    """Lower-case, trimmed, without the accelerator (3.4)."""
    text = label.strip()
    match = _ACCELERATOR.fullmatch(text)
    return (next(filter(None, match.groups()[1::2]), "") if match else text).strip().lower()


def accelerator(label: str) -> str | None:
    match = _ACCELERATOR.fullmatch(label.strip())
    return next(filter(None, match.groups()[::2])).lower() if match else None


def chosen(labels: list[str], answer: str) -> str | None:
    """Accelerator, full label, plain label, prefix, 1-based index; the first that fits (3.9)."""
    said = answer.strip().lower()
    tests = (
        lambda label: accelerator(label) == said,
        lambda label: label.strip().lower() == said,
        lambda label: plain_label(label) == said,
        lambda label: bool(said) and plain_label(label).startswith(said),
        lambda label: bool(said) and label.strip().lower().startswith(said),
    )
    for fits in tests:
        for label in labels:
            if fits(label):
                return label
    if said.isdigit() and 1 <= int(said) <= len(labels):
        return labels[int(said) - 1]
    return None
