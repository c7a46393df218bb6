"""A program as a graph: its steps, the arcs between them, and for a run how each step stands.

Holds the graph and writes it in two languages that others draw: Mermaid and DOT. Names and
conditions come from documents, so everything that could end a text in either language is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from anew.engine.statuses import StepStatus
from anew.program.kind import OutcomeSource
from anew.program.policy import Retry
from anew.program.program import Arc, Program, RouteMode, Step
from anew.program.span import NOWHERE, Span

CONDITION_CHARACTERS_MAX = 44
TASKS_SHOWN = 4
_FAILURE_WORDS = frozenset({"step.failed", "call.error"})
# A condition of a graph that asks for a failure.
_ASKS_FAILURE = re.compile(r"\b(?:status|outcome)\s*(?:==?|IN\b)[\s'\"\[]*fail", re.IGNORECASE)

# Fill and border of a step by how it stands.
COLOURS: dict[StepStatus, tuple[str, str]] = {
    StepStatus.DONE: ("#d9f2dd", "#2e7d32"),
    StepStatus.FAILED: ("#fadbd8", "#c0392b"),
    StepStatus.RUNNING: ("#d6e8fb", "#1f6fb2"),
    StepStatus.RETRYING: ("#fdf0cd", "#b9770e"),
    StepStatus.POLLING: ("#d6e8fb", "#1f6fb2"),
    StepStatus.WAITING: ("#fdf0cd", "#b9770e"),
    StepStatus.SCHEDULED: ("#eef2f5", "#5d6d7e"),
    StepStatus.SKIPPED: ("#f4f4f4", "#9e9e9e"),
    StepStatus.CANCELLED: ("#fdf0cd", "#b9770e"),
}


class StepRole(StrEnum):
    """What a step is for, where that gives it a shape of its own."""

    STEP = "step"
    CHOICE = "choice"
    FORK = "fork"
    JOIN = "join"
    PERSON = "person"
    EXIT = "exit"
    RESTART = "restart"


class Way(StrEnum):
    """How a token comes to go along an edge."""

    ARC = "arc"  # the router fired it
    RETRY = "retry"  # the next attempt comes by way of another step
    RESCUE = "rescue"  # no arc took a failure
    GATE = "gate"  # an exit was reached while a gate was not satisfied


# How Mermaid opens and closes a shape, and what Graphviz calls it.
_MERMAID = {
    StepRole.STEP: ("[", "]"),
    StepRole.CHOICE: ("{", "}"),
    StepRole.FORK: ("[/", "\\]"),
    StepRole.JOIN: ("[\\", "/]"),
    StepRole.PERSON: ("{{", "}}"),
    StepRole.EXIT: ("(((", ")))"),
    StepRole.RESTART: (">", "]"),
}
_DOT = {
    StepRole.CHOICE: "diamond",
    StepRole.FORK: "trapezium",
    StepRole.JOIN: "invtrapezium",
    StepRole.PERSON: "hexagon",
    StepRole.EXIT: "doubleoctagon",
    StepRole.RESTART: "cds",
}


class GraphNode(Struct, frozen=True):
    """A step. `lines` say what it does, below its name; without its gates a run cannot end."""

    name: str
    lines: tuple[str, ...]
    is_entry: bool
    is_loop: bool
    status: StepStatus | None = None
    role: StepRole = StepRole.STEP
    is_gate: bool = False
    span: Span = NOWHERE


class GraphEdge(Struct, frozen=True):
    """An arc. `is_failure`: it is there for when the step before it fails.

    `number` is that of the arc in its router, counted from 1; None for the other ways.
    """

    source: str
    target: str
    label: str
    is_failure: bool
    way: Way = Way.ARC
    number: int | None = None
    span: Span = NOWHERE


class ProgramGraph(Struct, frozen=True):
    name: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def graph_of(program: Program, statuses: Mapping[str, StepStatus] | None = None) -> ProgramGraph:
    """The graph of a program; with `statuses`, of a run of it."""
    known = statuses or {}
    nodes = [
        GraphNode(
            name=step.name,
            lines=tuple(_about(program, step)),
            is_entry=step.name == program.entry,
            is_loop=step.loop is not None,
            status=known.get(step.name),
            role=_role(step),
            is_gate=step.gate is not None,
            span=step.span,
        )
        for step in program.steps.values()
    ]
    edges = [edge for step in program.steps.values() for edge in _edges(program, step)]
    return ProgramGraph(program.name, tuple(nodes), tuple(edges))


def _role(step: Step) -> StepRole:
    sources = {task.outcome_from for task in step.tasks}
    if step.is_exit:
        return StepRole.EXIT
    if step.gather is not None:
        return StepRole.JOIN
    if step.router.mode is RouteMode.FORK:
        return StepRole.FORK
    if OutcomeSource.RESTART in sources:
        return StepRole.RESTART
    if OutcomeSource.PERSON in sources:
        return StepRole.PERSON
    is_choice = step.is_relay and step.router.mode is RouteMode.PREFERRED
    return StepRole.CHOICE if is_choice and len(step.router.arcs) > 1 else StepRole.STEP


def _about(program: Program, step: Step) -> Iterator[str]:
    if step.loop is not None:
        yield f"for each {step.loop.iterator} ({step.loop.mode.value})"
    if step.gather is not None:
        k = f" {step.gather.k}" if step.gather.k is not None else ""
        yield f"joins: {step.gather.policy.value}{k}"
    for task in step.tasks[:TASKS_SHOWN] if not step.is_relay else ():
        yield task.kind if task.label == step.name else f"{task.label}: {task.kind}"
    if len(step.tasks) > TASKS_SHOWN:
        yield f"and {len(step.tasks) - TASKS_SHOWN} more"
    if step.gate is not None:
        yield "goal gate"
    if step.name == program.fallback:
        yield "fallback"


def _edges(program: Program, step: Step) -> Iterator[GraphEdge]:
    """The arcs of a step, then the ways it goes when no arc takes a failure."""
    for number, arc in enumerate(step.router.arcs, 1):
        yield GraphEdge(
            step.name,
            arc.to,
            _label(step, arc, number),
            is_failure=_is_failure(arc),
            number=number,
            span=arc.span,
        )
    redirects = _redirects(step)
    for target, span in sorted(redirects.items()):
        yield _way(step, target, "retry", Way.RETRY, span)
    if step.rescue is not None and step.rescue not in redirects:
        yield _way(step, step.rescue, "on failure", Way.RESCUE, step.rescue_span)
    for gated in program.gates if step.is_exit else ():
        gate = gated.gate
        if gate is not None and gate.to is not None:
            label = f"gate {gated.name}"
            yield _way(step, gate.to, label, Way.GATE, gate.to_span or gate.span)


def _redirects(step: Step) -> dict[str, Span]:
    """The steps by way of which it tries again, each with the rule that says so first."""
    found: dict[str, Span] = {}
    for rule in (rule for task in step.tasks for rule in task.policy.rules):
        if isinstance(rule.then, Retry) and rule.then.to:
            found.setdefault(rule.then.to, rule.span)
    return found


def _way(step: Step, target: str, label: str, way: Way, span: Span) -> GraphEdge:
    return GraphEdge(step.name, target, label, is_failure=True, way=way, span=span)


def _label(step: Step, arc: Arc, number: int) -> str:
    """The label and the condition, shortened; numbered where the first that holds is taken."""
    # An edge without a label is labelled with its target, which the arrow shows already.
    is_named = arc.label and arc.to not in (arc.label, f"{arc.label} (restart)")
    said = [_short(arc.label or "")] if is_named else []
    if arc.when is not None:
        said.append(_short(str(arc.when.source)))
    if arc.most is not None:
        said.append(f"at most {arc.most}×")
    is_choice = step.router.mode is RouteMode.EXCLUSIVE and len(step.router.arcs) > 1
    text = " · ".join(said)
    return f"{number}. {text}" if is_choice and arc.when is not None else text


def _short(text: str) -> str:
    text = " ".join(text.split()).removeprefix("{{").removesuffix("}}").strip()
    if len(text) <= CONDITION_CHARACTERS_MAX:
        return text
    return f"{text[: CONDITION_CHARACTERS_MAX - 1]}…"


def _is_failure(arc: Arc) -> bool:
    if arc.when is None:
        return False
    source = str(arc.when.source)
    compares = {word for path, word in arc.when.compares if path == ("event", "name")}
    is_negated = "!=" in source or "not " in source.lower()
    asks_name = bool(compares & _FAILURE_WORDS) or _ASKS_FAILURE.search(source) is not None
    if asks_name and not is_negated:
        return True
    return arc.counts_failures or ("event", "error") in arc.when.paths


# --- Mermaid --------------------------------------------------------------------------------------


def mermaid_lines(graph: ProgramGraph) -> Iterator[str]:
    """A Mermaid flowchart."""
    ids = {node.name: f"n{number}" for number, node in enumerate(graph.nodes)}
    yield "flowchart TD"
    for node in graph.nodes:
        before, after = _mermaid_shape(node)
        text = "<br/>".join(map(_mermaid_text, (node.name, *node.lines)))
        yield f'  {ids[node.name]}{before}"{text}"{after}'
    for edge in graph.edges:
        line = "-.->" if edge.is_failure else "-->"
        label = f'|"{_mermaid_text(edge.label)}"|' if edge.label else ""
        yield f"  {ids[edge.source]} {line}{label} {ids[edge.target]}"
    gates = [ids[node.name] for node in graph.nodes if node.is_gate]
    if gates:
        yield "  classDef gate stroke-width:3px"
        yield f"  class {','.join(gates)} gate"
    used = dict.fromkeys(node.status for node in graph.nodes if node.status is not None)
    for status in used:
        fill, border = COLOURS[status]
        yield f"  classDef {status.value} fill:{fill},stroke:{border},color:#1b1b1b"
        members = ",".join(ids[node.name] for node in graph.nodes if node.status is status)
        yield f"  class {members} {status.value}"


def _mermaid_shape(node: GraphNode) -> tuple[str, str]:
    if node.is_loop:
        return "[[", "]]"
    is_plain_entry = node.is_entry and node.role is StepRole.STEP
    return ("([", "])") if is_plain_entry else _MERMAID[node.role]


def _mermaid_text(text: str) -> str:
    return "".join(
        character if character.isalnum() or character in " _-.,:=/…" else _mermaid_code(character)
        for character in text
    )


def _mermaid_code(character: str) -> str:
    return f"#{ord(character)};" if character.isprintable() else "�"


# --- DOT ------------------------------------------------------------------------------------------


def dot_lines(graph: ProgramGraph) -> Iterator[str]:
    """A digraph for Graphviz."""
    yield f"digraph {_dot_text(graph.name)} {{"
    yield '  node [shape=box, style="rounded,filled", fillcolor="#eef2f5", fontname="sans-serif"];'
    yield '  edge [fontname="sans-serif", fontsize=10];'
    for node in graph.nodes:
        yield f"  {_dot_text(node.name)} [{', '.join(_dot_attributes(node))}];"
    for edge in graph.edges:
        attributes = [f"label={_dot_text(edge.label)}"] if edge.label else []
        attributes += ["style=dashed", 'color="#c0392b"'] if edge.is_failure else []
        shown = f" [{', '.join(attributes)}]" if attributes else ""
        yield f"  {_dot_text(edge.source)} -> {_dot_text(edge.target)}{shown};"
    yield "}"


def _dot_attributes(node: GraphNode) -> Iterator[str]:
    # A line break inside a label is written as backslash and n, after the rest was escaped.
    lines = [_dot_text(line)[1:-1] for line in (node.name, *node.lines)]
    yield 'label="' + "\\n".join(lines) + '"'
    if node.role in _DOT:
        yield f"shape={_DOT[node.role]}"
    if node.is_loop or node.is_gate:
        yield "peripheries=2"
    if node.is_entry:
        yield "penwidth=2"
    if node.status is not None:
        fill, border = COLOURS[node.status]
        yield f'fillcolor="{fill}"'
        yield f'color="{border}"'


def _dot_text(text: str) -> str:
    shown = "".join(character if character.isprintable() else "�" for character in text)
    escaped = shown.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
