"""Draw the worst case: the graph of a program, each step with its worst, the longest path marked.

A step that is not bounded has a dashed border and the sign ∞ beside its colour, so that it is
known without it. The text of a document goes into XML, so it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from anew.lab.bounds.formatting import amount_text, time_text
from anew.lab.bounds.report import Bounds, StepBounds
from anew.program.program import Program
from anew.views.graph import GraphEdge, GraphNode, ProgramGraph, graph_of
from anew.views.graph_layers import layers_of
from anew.views.graph_svg import (
    CHARACTER_WIDTH,
    CORNER,
    MARGIN,
    STYLE,
    SWING,
    Box,
    Curve,
    boxes_of,
    curve_of,
    opening,
    texts_of,
    xml_text,
)

_STYLE = f"{STYLE}.sign{{font-size:15px;font-weight:700;fill:#c0392b}}"
_PLAIN, _ON_PATH, _OPEN = ("#eef2f5", "#5d6d7e"), ("#d6e8fb", "#1f6fb2"), ("#fadbd8", "#c0392b")
_LEGEND = (
    "thick: the longest path · dashed box, ∞: not bounded by the document · "
    "dashed arrow: after a failure"
)
# The headline stands above the boxes.
_HEAD = 28
_LABEL_HEIGHT, _LABEL_CHARACTER_WIDTH = 12, 5.5


class _Look(Struct, frozen=True):
    """How a step is drawn."""

    lines: tuple[str, ...]
    is_on_path: bool
    is_open: bool


def picture_lines(program: Program, bounds: Bounds) -> Iterator[str]:
    """A whole SVG document that needs nothing else."""
    graph, hops = graph_of(program), _hops(program, bounds)
    looks = _looks(graph, bounds)
    nodes = tuple(replace(node, lines=looks[node.name].lines) for node in graph.nodes)
    graph = replace(graph, nodes=nodes, edges=(*graph.edges, *_without_arc(graph, hops)))
    layers, title = layers_of(graph), _title(bounds)
    boxes = boxes_of(graph, layers, top=MARGIN + _HEAD)
    width = max((box.x + box.width for box in boxes.values()), default=0) + MARGIN + SWING
    height = max((box.y + box.height for box in boxes.values()), default=0) + 2 * MARGIN
    width = max(width, max(len(_LEGEND), len(title)) * CHARACTER_WIDTH)
    yield from opening(title, width, height, _STYLE)
    yield f'<text class="name" x="{MARGIN}" y="{MARGIN}">{xml_text(title)}</text>'
    yield from (_arrow_head("arrow", _PLAIN[1]), _arrow_head("path", _ON_PATH[1]))
    labels = _Labels()
    for edge in graph.edges:
        hop = (edge.source, edge.target)
        curve = curve_of(*(boxes[name] for name in hop), is_back=hop in layers.back)
        yield from _arc(edge, curve, labels, is_taken=hop in hops)
    for node in graph.nodes:
        yield from _box(node, looks[node.name], boxes[node.name])
    yield f'<text class="arc" x="{MARGIN}" y="{height - 10:.0f}">{xml_text(_LEGEND)}</text>'
    yield "</svg>"


def _title(bounds: Bounds) -> str:
    return (
        f"{bounds.name}: at most {amount_text(bounds.executions)} executions, "
        f"{time_text(bounds.waits)} in waits, {time_text(bounds.time)} in all"
    )


def _hops(program: Program, bounds: Bounds) -> set[tuple[str, str]]:
    """The ways of the longest path. None leads into a run that takes the place of another."""
    pairs = [
        (one.step, other.step)
        for one, other in pairwise(bounds.path)
        if one.again == "restart" or other.again != "restart"
    ]
    return {(source, target) for source, target in pairs if target in program.ways[source]}


def _without_arc(graph: ProgramGraph, hops: set[tuple[str, str]]) -> Iterator[GraphEdge]:
    """Hops that no arc stands for: to where failures go, or where a gate sends the run."""
    drawn = {(edge.source, edge.target) for edge in graph.edges}
    yield from (GraphEdge(*hop, "", is_failure=True) for hop in sorted(hops - drawn))


def _looks(graph: ProgramGraph, bounds: Bounds) -> dict[str, _Look]:
    known = {step.step: step for step in bounds.steps}
    path = {step.step for step in bounds.path}
    return {node.name: _look(node, known.get(node.name), path) for node in graph.nodes}


def _look(node: GraphNode, step: StepBounds | None, path: set[str]) -> _Look:
    if step is None:
        return _Look((*node.lines, "never reached"), is_on_path=False, is_open=False)
    lines = list(node.lines)
    if step.executions.at_most:
        lines.append(f"run: {amount_text(step.executions)} executions")
    if step.visits.at_most != 1:
        lines.append(f"run: {amount_text(step.visits)} visits")
    lines.append(f"one visit: {time_text(step.waits)} waits, {time_text(step.time)} in all")
    amounts = (step.executions, step.visits, step.waits, step.time)
    is_open = not all(bound.is_bounded for bound in amounts)
    return _Look(tuple(lines), step.step in path, is_open)


def _box(node: GraphNode, look: _Look, box: Box) -> Iterator[str]:
    fill, border = _OPEN if look.is_open else _ON_PATH if look.is_on_path else _PLAIN
    dashes = ' stroke-dasharray="7 4"' if look.is_open else ""
    stroke = 3 if look.is_on_path else 1.2
    place = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    yield (
        f'<rect {place} rx="{CORNER}" fill="{fill}" stroke="{border}" '
        f'stroke-width="{stroke}"{dashes}/>'
    )
    if look.is_open:
        x, y = box.x + box.width - 16, box.y + 16
        yield f'<text class="sign" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">∞</text>'
    yield from texts_of(node, box)


def _arc(edge: GraphEdge, curve: Curve, labels: _Labels, *, is_taken: bool) -> Iterator[str]:
    path, x, y = curve
    colour, head, width = (_ON_PATH[1], "path", 3) if is_taken else (_PLAIN[1], "arrow", 1)
    dashes = ' stroke-dasharray="6 4"' if edge.is_failure else ""
    yield (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes} '
        f'marker-end="url(#{head})"/>'
    )
    if edge.label:
        yield (
            f'<text class="arc" x="{x:.1f}" y="{labels.room(x, y, edge.label):.1f}" '
            f'text-anchor="middle">{xml_text(edge.label)}</text>'
        )


class _Labels(Struct):
    """Where labels of arcs stand, each in a place of its own."""

    placed: list[tuple[float, float, float]] = field(default_factory=list)

    def room(self, x: float, y: float, text: str) -> float:
        """The height nearest below at which nothing stands yet."""
        half = len(text) * _LABEL_CHARACTER_WIDTH / 2
        for other, at, other_half in sorted(self.placed, key=lambda one: one[1]):
            if abs(other - x) < half + other_half and abs(at - y) < _LABEL_HEIGHT:
                y = at + _LABEL_HEIGHT
        self.placed.append((x, y, half))
        return y


def _arrow_head(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" '
        f'markerWidth="10" markerHeight="10" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
    )
