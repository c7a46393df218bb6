"""A program as a graph: its steps, the arcs between them, and for a run how each step stands.

Holds the graph and writes it in two languages that others draw: Mermaid and DOT. Names and
conditions come from documents, so everything that could end a text in either language is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from anew.program.program import Arc, Program, RouteMode, Step
from anew.views.step_progress import StepStatus

CONDITION_CHARACTERS_MAX = 44
TASKS_SHOWN = 4
_FAILURE_WORDS = frozenset({"step.failed", "call.error"})

# Fill and border of a step by how it stands.
COLOURS: dict[StepStatus, tuple[str, str]] = {
    StepStatus.DONE: ("#d9f2dd", "#2e7d32"),
    StepStatus.FAILED: ("#fadbd8", "#c0392b"),
    StepStatus.RUNNING: ("#d6e8fb", "#1f6fb2"),
    StepStatus.RETRYING: ("#fdf0cd", "#b9770e"),
    StepStatus.WAITING: ("#fdf0cd", "#b9770e"),
    StepStatus.SCHEDULED: ("#eef2f5", "#5d6d7e"),
    StepStatus.SKIPPED: ("#f4f4f4", "#9e9e9e"),
    StepStatus.CANCELLED: ("#fdf0cd", "#b9770e"),
}


class Node(Struct, frozen=True):
    """A step. `lines` say what it does, below its name."""

    name: str
    lines: tuple[str, ...]
    is_entry: bool
    is_loop: bool
    status: StepStatus | None = None


class Edge(Struct, frozen=True):
    """An arc. `is_failure`: it is there for when the step before it fails."""

    source: str
    target: str
    label: str
    is_failure: bool


class Graph(Struct, frozen=True):
    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph_of(program: Program, statuses: Mapping[str, StepStatus] | None = None) -> Graph:
    """The graph of a program; with `statuses`, of a run of it."""
    known = statuses or {}
    nodes = [
        Node(
            name=step.name,
            lines=tuple(_about(step)),
            is_entry=step.name == program.entry,
            is_loop=step.loop is not None,
            status=known.get(step.name),
        )
        for step in program.steps.values()
    ]
    edges = [
        Edge(step.name, arc.to, _label(step, arc, number), _is_failure(arc))
        for step in program.steps.values()
        for number, arc in enumerate(step.router.arcs, 1)
    ]
    return Graph(program.name, tuple(nodes), tuple(edges))


def _about(step: Step) -> Iterator[str]:
    if step.loop is not None:
        yield f"for each {step.loop.iterator} ({step.loop.mode.value})"
    for task in step.tasks[:TASKS_SHOWN]:
        yield task.kind if task.label == step.name else f"{task.label}: {task.kind}"
    if len(step.tasks) > TASKS_SHOWN:
        yield f"and {len(step.tasks) - TASKS_SHOWN} more"


def _label(step: Step, arc: Arc, number: int) -> str:
    """The condition, shortened; numbered where only the first that holds is taken."""
    if arc.when is None:
        return ""
    text = " ".join(str(arc.when.source).split()).removeprefix("{{").removesuffix("}}").strip()
    if len(text) > CONDITION_CHARACTERS_MAX:
        text = f"{text[: CONDITION_CHARACTERS_MAX - 1]}…"
    is_choice = step.router.mode is RouteMode.EXCLUSIVE and len(step.router.arcs) > 1
    return f"{number}. {text}" if is_choice else text


def _is_failure(arc: Arc) -> bool:
    if arc.when is None:
        return False
    compares = {word for path, word in arc.when.compares if path == ("event", "name")}
    is_negated = "!=" in str(arc.when.source) or "not " in str(arc.when.source)
    asks_name = bool(compares & _FAILURE_WORDS) and not is_negated
    return asks_name or arc.counts_failures or ("event", "error") in arc.when.paths


# --- Mermaid --------------------------------------------------------------------------------------


def mermaid_lines(graph: Graph) -> Iterator[str]:
    """A Mermaid flowchart."""
    ids = {node.name: f"n{number}" for number, node in enumerate(graph.nodes)}
    yield "flowchart TD"
    for node in graph.nodes:
        before, after = (
            ("[[", "]]") if node.is_loop else ("([", "])") if node.is_entry else ("[", "]")
        )
        text = "<br/>".join(map(_mermaid_text, (node.name, *node.lines)))
        yield f'  {ids[node.name]}{before}"{text}"{after}'
    for edge in graph.edges:
        line = "-.->" if edge.is_failure else "-->"
        label = f'|"{_mermaid_text(edge.label)}"|' if edge.label else ""
        yield f"  {ids[edge.source]} {line}{label} {ids[edge.target]}"
    used = dict.fromkeys(node.status for node in graph.nodes if node.status is not None)
    for status in used:
        fill, border = COLOURS[status]
        yield f"  classDef {status.value} fill:{fill},stroke:{border},color:#1b1b1b"
        members = ",".join(ids[node.name] for node in graph.nodes if node.status is status)
        yield f"  class {members} {status.value}"


def _mermaid_shape(node: Node) -> str:
    if node.is_loop:
        return "[[{}]]"
    return "([{}])" if node.is_entry else "[{}]"


def _mermaid_text(text: str) -> str:
    return "".join(
        character if character.isalnum() or character in " _-.,:=/…" else _mermaid_code(character)
        for character in text
    )


def _mermaid_code(character: str) -> str:
    return f"#{ord(character)};" if character.isprintable() else "�"


# --- DOT ------------------------------------------------------------------------------------------


def dot_lines(graph: Graph) -> Iterator[str]:
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


def _dot_attributes(node: Node) -> Iterator[str]:
    # A line break inside a label is written as backslash and n, after the rest was escaped.
    lines = [_dot_text(line)[1:-1] for line in (node.name, *node.lines)]
    yield 'label="' + "\\n".join(lines) + '"'
    if node.is_loop:
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
