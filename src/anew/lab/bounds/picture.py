"""Draw the worst case: the graph of a program, each step with its worst, the longest path marked.

A step that is not bounded has a dashed border and the sign ∞ beside its colour, so that it is
known without it. The text of a document goes into XML, so it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from anew.lab.bounds.report import Bounds, StepBounds
from anew.lab.bounds.wording import amount_text, time_text
from anew.program.program import Program
from anew.views.graph import Edge, Graph, Node, graph_of
from anew.views.graph_layers import Layers, layers_of
from anew.views.graph_svg import (
    BOX_WIDTH_MIN,
    CHARACTER_WIDTH,
    CORNER,
    GAP_X,
    GAP_Y,
    LABEL_CHARACTERS_MAX,
    LINE_HEIGHT,
    MARGIN,
    PADDING,
    SWING,
    Box,
)

_STYLE = (
    "text{font-family:ui-sans-serif,system-ui,sans-serif;fill:#1b1b1b}"
    ".name{font-size:13px;font-weight:600}.line{font-size:11px}.arc{font-size:10px;fill:#444}"
    ".sign{font-size:15px;font-weight:700;fill:#c0392b}"
)
_PLAIN, _ON_PATH, _OPEN = ("#eef2f5", "#5d6d7e"), ("#d6e8fb", "#1f6fb2"), ("#fadbd8", "#c0392b")
_LEGEND = "thick: the longest path · dashed, ∞: not bounded by the document"


class _Look(Struct, frozen=True):
    """How a step is drawn."""

    lines: tuple[str, ...]
    is_on_path: bool
    is_open: bool


def picture_lines(program: Program, bounds: Bounds) -> Iterator[str]:
    """A whole SVG document that needs nothing else."""
    graph = graph_of(program)
    looks = _looks(graph, bounds)
    graph = replace(graph, nodes=tuple(replace(n, lines=looks[n.name].lines) for n in graph.nodes))
    layers = layers_of(graph)
    boxes = _boxes(graph, layers)
    steps = [step.step for step in bounds.path]
    taken = set(pairwise(steps))
    width = max((box.x + box.width for box in boxes.values()), default=0) + MARGIN + SWING
    height = max((box.y + box.height for box in boxes.values()), default=0) + 2 * MARGIN
    width = max(width, len(_LEGEND) * CHARACTER_WIDTH)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">'
    )
    yield f"<title>{_text(_title(bounds))}</title><style>{_STYLE}</style>"
    yield from (_arrow_head("arrow", _PLAIN[1]), _arrow_head("path", _ON_PATH[1]))
    for edge in graph.edges:
        is_back = (edge.source, edge.target) in layers.back
        yield from _arc(edge, boxes, is_back=is_back, is_taken=(edge.source, edge.target) in taken)
    for node in graph.nodes:
        yield from _box(node, looks[node.name], boxes[node.name])
    yield f'<text class="arc" x="{MARGIN}" y="{height - 10:.0f}">{_text(_LEGEND)}</text>'
    yield "</svg>"


def _title(bounds: Bounds) -> str:
    return (
        f"{bounds.name}: at most {amount_text(bounds.executions)} executions, "
        f"{time_text(bounds.waits)} in waits, {time_text(bounds.time)} in all"
    )


def _looks(graph: Graph, bounds: Bounds) -> dict[str, _Look]:
    known = {step.step: step for step in bounds.steps}
    path = {step.step for step in bounds.path}
    return {node.name: _look(node, known.get(node.name), path) for node in graph.nodes}


def _look(node: Node, step: StepBounds | None, path: set[str]) -> _Look:
    if step is None:
        return _Look((*node.lines, "never reached"), is_on_path=False, is_open=False)
    lines = [*node.lines, f"{amount_text(step.executions)} executions"]
    if step.visits.at_most != 1:
        lines.append(f"{amount_text(step.visits)} visits")
    lines.append(f"{time_text(step.waits)} waits, {time_text(step.time)} in all")
    amounts = (step.executions, step.visits, step.waits, step.time)
    is_open = not all(bound.is_bounded for bound in amounts)
    return _Look(tuple(lines), step.step in path, is_open)


def _boxes(graph: Graph, layers: Layers) -> dict[str, Box]:
    sizes = {node.name: _size(node) for node in graph.nodes}
    widths = [sum(sizes[n][0] for n in row) + GAP_X * (len(row) - 1) for row in layers.rows]
    widest = max(widths, default=0)
    boxes, y = {}, float(MARGIN)
    for row, row_width in zip(layers.rows, widths, strict=True):
        x = MARGIN + (widest - row_width) / 2
        for name in row:
            boxes[name] = Box(x, y, *sizes[name])
            x += sizes[name][0] + GAP_X
        y += max(sizes[name][1] for name in row) + GAP_Y
    return boxes


def _size(node: Node) -> tuple[float, float]:
    longest = max(len(_cut(line)) for line in (node.name, *node.lines))
    width = max(BOX_WIDTH_MIN, longest * CHARACTER_WIDTH + 2 * PADDING)
    return width, LINE_HEIGHT * (1 + len(node.lines)) + 2 * PADDING - 6


def _box(node: Node, look: _Look, box: Box) -> Iterator[str]:
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
    y = box.y + PADDING + 9
    for number, line in enumerate((node.name, *node.lines)):
        kind = "name" if number == 0 else "line"
        yield (
            f'<text class="{kind}" x="{box.middle:.1f}" y="{y:.1f}" '
            f'text-anchor="middle">{_text(_cut(line))}</text>'
        )
        y += LINE_HEIGHT


def _arc(edge: Edge, boxes: Mapping[str, Box], *, is_back: bool, is_taken: bool) -> Iterator[str]:
    source, target = boxes[edge.source], boxes[edge.target]
    path, x, y = (_curve_back if is_back else _curve_down)(source, target)
    colour, head, width = (_ON_PATH[1], "path", 3) if is_taken else (_PLAIN[1], "arrow", 1)
    dashes = ' stroke-dasharray="6 4"' if edge.is_failure else ""
    yield (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes} '
        f'marker-end="url(#{head})"/>'
    )
    if edge.label:
        yield (
            f'<text class="arc" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">'
            f"{_text(edge.label)}</text>"
        )


def _curve_down(source: Box, target: Box) -> tuple[str, float, float]:
    x0, y0, x1, y1 = source.middle, source.y + source.height, target.middle, target.y
    bend = max(20.0, (y1 - y0) / 2)
    path = f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
    return path, (x0 + x1) / 2, (y0 + y1) / 2 - 3


def _curve_back(source: Box, target: Box) -> tuple[str, float, float]:
    x0, x1 = source.x + source.width, target.x + target.width
    y0, y1 = source.y + source.height * 0.7, target.y + target.height * 0.3
    out = max(x0, x1) + SWING
    path = f"M{x0:.1f} {y0:.1f}C{out:.1f} {y0:.1f} {out:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    return path, out - SWING / 3, (y0 + y1) / 2


def _arrow_head(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" '
        f'markerWidth="10" markerHeight="10" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
    )


def _cut(line: str) -> str:
    if len(line) <= LABEL_CHARACTERS_MAX:
        return line
    return f"{line[: LABEL_CHARACTERS_MAX - 1]}…"


def _text(text: str) -> str:
    return escape("".join(c if c.isprintable() else "�" for c in text))
