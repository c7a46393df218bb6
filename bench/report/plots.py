"""Bars and lines as SVG text, by hand: no library, no fonts, readable on light and on dark pages.

A plot has its own background, because whoever shows the picture decides about light and dark by
other means than the page around it. Knows numbers and names, nothing of what they mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import ceil, floor, log10
from typing import TypeAlias
from xml.sax.saxutils import escape

from msgspec import Struct

from bench.figures import shown

Point: TypeAlias = tuple[float, float]

WIDTH = 800
MARGIN = 16
TITLE_HEIGHT = 40
UNIT_HEIGHT = 14
LABEL_WIDTH = 300
VALUE_WIDTH = 80
BAR_HEIGHT = 18
BAR_STEP = 28
LINES_HEIGHT = 260
AXIS_WIDTH = 64
AXIS_HEIGHT = 44
LEGEND_STEP = 20
TICKS_ABOUT = 4
# Bars of this name and of names that begin with it are ours, and have the stronger colour.
OURS = "Anew"

STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px }
.faint { fill: #59636e; font-size: 12px }
.page { fill: #ffffff }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.whisker { stroke: #1f2328; stroke-width: 1.5 }
.ours { fill: #0969da } .theirs { fill: #9aa4af }
.line0 { stroke: #0969da } .line1 { stroke: #bc4c00 } .line2 { stroke: #1a7f37 } .line3 { stroke: #8250df }
.dot0 { fill: #0969da } .dot1 { fill: #bc4c00 } .dot2 { fill: #1a7f37 } .dot3 { fill: #8250df }
polyline { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .faint { fill: #9198a1 } .page { fill: #0d1117 }
.grid { stroke: #3d444d } .whisker { stroke: #e6edf3 }
.ours { fill: #4493f8 } .theirs { fill: #656c76 }
.line0 { stroke: #4493f8 } .line1 { stroke: #db6d28 } .line2 { stroke: #3fb950 } .line3 { stroke: #ab7df8 }
.dot0 { fill: #4493f8 } .dot1 { fill: #db6d28 } .dot2 { fill: #3fb950 } .dot3 { fill: #ab7df8 }
}
</style>"""  # noqa: E501
COLOURS = 4


def bars(title: str, unit: str, values: Mapping[str, tuple[float, float, float]]) -> str:
    """One bar for each name: its median, with a whisker from the lowest to the highest round."""
    top = max((high for _, _, high in values.values()), default=0.0) or 1.0
    room = WIDTH - LABEL_WIDTH - VALUE_WIDTH - 2 * MARGIN
    drawn = (
        _bar(name, one, TITLE_HEIGHT + number * BAR_STEP, scale=room / top)
        for number, (name, one) in enumerate(values.items())
    )
    height = TITLE_HEIGHT + len(values) * BAR_STEP + MARGIN
    return _page(f"{title}, {unit}", height, chain.from_iterable(drawn))


def _bar(name: str, values: tuple[float, float, float], y: int, *, scale: float) -> Iterator[str]:
    median, low, high = values
    left, middle = MARGIN + LABEL_WIDTH, y + BAR_HEIGHT / 2
    kind = "ours" if name.startswith(OURS) else "theirs"
    yield _text(name, left - 8, middle + 5, anchor="end")
    yield _tag("rect", x=left, y=y, width=median * scale, height=BAR_HEIGHT, kind=kind)
    yield _line((left + low * scale, middle), (left + high * scale, middle), "whisker")
    for end in (low, high):
        x = left + end * scale
        yield _line((x, middle - 4), (x, middle + 4), "whisker")
    yield _text(shown(median), left + max(median, high) * scale + 8, middle + 5)


def lines(
    title: str,
    x_label: str,
    y_label: str,
    series: Mapping[str, Sequence[Point]],
    *,
    log_x: bool = True,
) -> str:
    """One line with its points for each name. The vertical axis begins at nothing."""
    legend = LEGEND_STEP * len(series) if len(series) > 1 else 0
    points = [point for one in series.values() for point in one]
    top = TITLE_HEIGHT + UNIT_HEIGHT + legend
    frame = _frame(points, y=top, log_x=log_x)
    parts = [
        *(_legend(series) if legend else ()),
        *_axes(frame, points, x_label, y_label),
        *chain.from_iterable(
            _curve(frame, one, number % COLOURS) for number, one in enumerate(series.values())
        ),
    ]
    return _page(title, top + LINES_HEIGHT + AXIS_HEIGHT + MARGIN, parts)


class _Frame(Struct, frozen=True):
    """Where values are on the picture."""

    y: float
    low_x: float
    high_x: float
    high_y: float
    log_x: bool

    def place(self, point: Point) -> Point:
        x, y = point
        along = (self._along(x) - self.low_x) / ((self.high_x - self.low_x) or 1.0)
        left, right = MARGIN + AXIS_WIDTH, WIDTH - 2 * MARGIN
        return left + along * (right - left), self.y + (1 - y / self.high_y) * LINES_HEIGHT

    def _along(self, x: float) -> float:
        # Nothing has no logarithm; it is drawn where one would be.
        return log10(max(x, 1.0)) if self.log_x else x


def _frame(points: Sequence[Point], *, y: float, log_x: bool) -> _Frame:
    places = [log10(max(x, 1.0)) if log_x else x for x, _ in points] or [0.0]
    tallest = max((value for _, value in points), default=0.0)
    high_y = max(_ticks(tallest)) if tallest > 0 else 1.0
    return _Frame(y, min(places), max(places), high_y, log_x)


def _ticks(top: float) -> list[float]:
    """Round numbers from nothing to at least `top`."""
    rough = top / TICKS_ABOUT
    power = 10.0 ** floor(log10(rough))
    step = next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= rough)
    return [number * step for number in range(ceil(top / step - 1e-9) + 1)]


def _axes(frame: _Frame, points: Sequence[Point], x_label: str, y_label: str) -> Iterator[str]:
    right, bottom = WIDTH - 2 * MARGIN, frame.y + LINES_HEIGHT
    for tick in _ticks(frame.high_y):
        _, y = frame.place((1.0, tick))
        yield _line((MARGIN + AXIS_WIDTH, y), (right, y), "grid")
        yield _text(shown(tick), MARGIN + AXIS_WIDTH - 8, y + 4, anchor="end", kind="faint")
    for value in sorted({x for x, _ in points}):
        x, _ = frame.place((value, 0.0))
        yield _text(shown(value), x, bottom + 18, anchor="middle", kind="faint")
    yield _text(x_label, right, bottom + 36, anchor="end", kind="faint")
    yield _text(y_label, MARGIN, TITLE_HEIGHT - 2, kind="faint")


def _curve(frame: _Frame, points: Sequence[Point], colour: int) -> Iterator[str]:
    places = [frame.place(point) for point in points]
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline class="line{colour}" points="{drawn}"/>'
    for x, y in places:
        yield f'<circle class="dot{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'


def _legend(names: Iterable[str]) -> Iterator[str]:
    for number, name in enumerate(names):
        y = TITLE_HEIGHT + number * LEGEND_STEP
        kind = f"dot{number % COLOURS}"
        yield _tag("rect", x=WIDTH - 280, y=y, width=12, height=12, kind=kind)
        yield _text(name, WIDTH - 260, y + 11)


def _page(title: str, height: float, parts: Iterable[str]) -> str:
    named = f'role="img" aria-label="{escape(title, {chr(34): "&quot;"})}"'
    size = f'viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {named}>'
    page = _tag("rect", x=0, y=0, width=WIDTH, height=height, kind="page")
    said = _text(title, MARGIN, 22, kind="title")
    return "\n".join([head, STYLE, page, said, *parts, "</svg>", ""])


def _tag(tag: str, *, x: float, y: float, width: float, height: float, kind: str) -> str:
    place = f'x="{x:g}" y="{y:g}" width="{width:.1f}" height="{height:g}"'
    return f'<{tag} class="{kind}" {place}/>'


def _line(start: Point, end: Point, kind: str) -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(text: str, x: float, y: float, *, anchor: str = "start", kind: str = "") -> str:
    classed = f' class="{kind}"' if kind else ""
    return f'<text{classed} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
