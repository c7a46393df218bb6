"""Draw a graph as SVG: boxes in layers, arcs as curves, nothing that needs another program.

The text of a document goes into XML, so it is escaped, and characters XML refuses are replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TypeAlias, assert_never

from msgspec import Struct

from anew.views.graph import COLOURS, GraphEdge, GraphNode, ProgramGraph, StepRole
from anew.views.graph_layers import Layers, layers_of

CHARACTER_WIDTH = 7.2
LINE_HEIGHT = 17
PADDING = 12
GAP_X, GAP_Y = 48, 72
MARGIN = 24
BOX_WIDTH_MIN = 96
LABEL_CHARACTERS_MAX = 48
# How far an arc that leads back swings out to the right.
SWING = 56
CORNER = 8
# How far the sides of a shape lean out; less than half the gap between boxes.
SLANT = 14

_PLAIN = ("#eef2f5", "#5d6d7e")
STYLE = (
    "text{font-family:ui-sans-serif,system-ui,sans-serif;fill:#1b1b1b}"
    ".name{font-size:13px;font-weight:600}.line{font-size:11px}.arc{font-size:10px;fill:#444}"
)


# The line of an arc, and where its label stands.
Curve: TypeAlias = tuple[str, float, float]


class Box(Struct, frozen=True):
    """Where a step is drawn."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def svg_lines(graph: ProgramGraph) -> Iterator[str]:
    """A whole SVG document."""
    layers = layers_of(graph)
    boxes = boxes_of(graph, layers)
    width = max((box.x + box.width for box in boxes.values()), default=0) + MARGIN + SWING
    height = max((box.y + box.height for box in boxes.values()), default=0) + MARGIN
    yield from opening(graph.name, width, height, STYLE)
    yield from (_arrow_head("arrow", "#5d6d7e"), _arrow_head("failure", "#c0392b"))
    for edge in graph.edges:
        yield from _arc(edge, boxes, is_back=(edge.source, edge.target) in layers.back)
    for node in graph.nodes:
        yield from _box(node, boxes[node.name])
    yield "</svg>"


def opening(title: str, width: float, height: float, style: str) -> Iterator[str]:
    """How a document of this size begins."""
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">'
    )
    yield f"<title>{xml_text(title)}</title><style>{style}</style>"


def boxes_of(graph: ProgramGraph, layers: Layers, *, top: float = MARGIN) -> dict[str, Box]:
    """Where each step stands, the first layer at `top`."""
    sizes = {node.name: _size(node) for node in graph.nodes}
    widths = [sum(sizes[n][0] for n in row) + GAP_X * (len(row) - 1) for row in layers.rows]
    widest = max(widths, default=0)
    boxes, y = {}, float(top)
    for row, row_width in zip(layers.rows, widths, strict=True):
        x = MARGIN + (widest - row_width) / 2
        for name in row:
            boxes[name] = Box(x, y, *sizes[name])
            x += sizes[name][0] + GAP_X
        y += max(sizes[name][1] for name in row) + GAP_Y
    return boxes


def _size(node: GraphNode) -> tuple[float, float]:
    longest = max(len(_cut(line)) for line in (node.name, *node.lines))
    width = max(BOX_WIDTH_MIN, longest * CHARACTER_WIDTH + 2 * PADDING)
    return width, LINE_HEIGHT * (1 + len(node.lines)) + 2 * PADDING - 6


def _box(node: GraphNode, box: Box) -> Iterator[str]:
    fill, border = COLOURS[node.status] if node.status is not None else _PLAIN
    stroke = 2.5 if node.is_entry else 1.2
    paint = f'fill="{fill}" stroke="{border}" stroke-width="{stroke}"'
    yield f"<{_outline(node.role, box)} {paint}/>"
    if node.is_loop or node.is_gate:
        inner = f'x="{box.x + 3:.1f}" y="{box.y + 3:.1f}" width="{box.width - 6:.1f}"'
        size = f'height="{box.height - 6:.1f}" rx="6" fill="none" stroke="{border}"'
        yield f'<rect {inner} {size} stroke-width="0.8"/>'
    yield from texts_of(node, box)


def texts_of(node: GraphNode, box: Box) -> Iterator[str]:
    """The name and the lines of a step, in its box."""
    y = box.y + PADDING + 9
    for number, line in enumerate((node.name, *node.lines)):
        kind = "name" if number == 0 else "line"
        yield (
            f'<text class="{kind}" x="{box.middle:.1f}" y="{y:.1f}" '
            f'text-anchor="middle">{xml_text(_cut(line))}</text>'
        )
        y += LINE_HEIGHT


def _outline(role: StepRole, box: Box) -> str:
    """The element that draws a role's shape, without its paint."""
    left, right, top, bottom = box.x, box.x + box.width, box.y, box.y + box.height
    middle, slant = box.y + box.height / 2, SLANT
    match role:
        case StepRole.CHOICE:
            return _polygon(
                (left - slant, middle), (left + slant, top), (right - slant, top),
                (right + slant, middle), (right - slant, bottom), (left + slant, bottom),
            )  # fmt: skip
        case StepRole.FORK:
            return _polygon(
                (left, top), (right, top), (right + slant, bottom), (left - slant, bottom)
            )
        case StepRole.JOIN:
            return _polygon(
                (left - slant, top), (right + slant, top), (right, bottom), (left, bottom)
            )
        case StepRole.STEP | StepRole.PERSON | StepRole.EXIT | StepRole.RESTART:
            place = f'x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}"'
            round_ = box.height / 2 if role in (StepRole.PERSON, StepRole.EXIT) else CORNER
            return f'rect {place} height="{box.height:.1f}" rx="{round_:g}"'
        case other:
            assert_never(other)


def _polygon(*points: tuple[float, float]) -> str:
    return f'polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"'


def _arc(edge: GraphEdge, boxes: Mapping[str, Box], *, is_back: bool) -> Iterator[str]:
    path, x, y = curve_of(boxes[edge.source], boxes[edge.target], is_back=is_back)
    colour, head = ("#c0392b", "failure") if edge.is_failure else ("#5d6d7e", "arrow")
    dashes = ' stroke-dasharray="6 4"' if edge.is_failure else ""
    yield f'<path d="{path}" fill="none" stroke="{colour}"{dashes} marker-end="url(#{head})"/>'
    if edge.label:
        yield (
            f'<text class="arc" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">'
            f"{xml_text(edge.label)}</text>"
        )


def curve_of(source: Box, target: Box, *, is_back: bool) -> Curve:
    return (_curve_back if is_back else _curve_down)(source, target)


def _curve_down(source: Box, target: Box) -> Curve:
    x0, y0, x1, y1 = source.middle, source.y + source.height, target.middle, target.y
    bend = max(20.0, (y1 - y0) / 2)
    path = f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
    return path, (x0 + x1) / 2, (y0 + y1) / 2 - 3


def _curve_back(source: Box, target: Box) -> Curve:
    """From the right side of one box to that of the other; also from a box to itself."""
    x0, x1 = source.x + source.width, target.x + target.width
    y0, y1 = source.y + source.height * 0.7, target.y + target.height * 0.3
    out = max(x0, x1) + SWING
    path = f"M{x0:.1f} {y0:.1f}C{out:.1f} {y0:.1f} {out:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    return path, out - SWING / 3, (y0 + y1) / 2


def _arrow_head(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
    )


def _cut(line: str) -> str:
    if len(line) <= LABEL_CHARACTERS_MAX:
        return line
    return f"{line[: LABEL_CHARACTERS_MAX - 1]}…"


def xml_text(text: str) -> str:
    """A text of a document, as XML takes it."""
    return escape("".join(c if c.isprintable() else "�" for c in text))
