"""Draw the lanes of a run in a number of columns: attempts as bars, waits hatched by reason.

    fetch  █✗░░░░█✗▒▒▒▒▒▒▒▒▒▒▒██            done · 3×
    store                        ████       done
           0 s       10 s      20 s

Where the stream cannot show these characters, plain ones take their place. Nothing here knows what
a run is; it draws `views.lanes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from msgspec import Struct

from anew.engine.moments import NANOSECONDS
from anew.engine.statuses import BarKind, StepStatus
from anew.surfaces.cli.columns import can_show, columns_of, fit, wide
from anew.surfaces.cli.paint import Paint, paint_for
from anew.views.lanes import EXECUTIONS, Lane, Lanes
from anew.views.slices import SLICES
from anew.views.wording import duration

LABEL_COLUMNS_MAX = 24
NOTE_COLUMNS_MAX = 26
LANES_MAX = 60
TICK_COLUMNS_MIN = 8
LEGEND_GAP = 3
BRANCH_INDENT = "  "
# Deeper nesting would leave no room for names.
BRANCH_INDENTS_MAX = 4


class Glyph(Struct, frozen=True):
    """How a kind is drawn, what it is called in the legend, and its colour."""

    shown: str
    plain: str
    meaning: str
    colour: str


GLYPHS = {
    BarKind.OK: Glyph("█", "#", "attempt", "green"),
    BarKind.WORKING: Glyph("█", "#", "attempt", "blue"),
    BarKind.ERROR: Glyph("█", "#", "attempt", "red"),
    BarKind.LOST: Glyph("▚", "?", "lost or cancelled", "yellow"),
    BarKind.QUEUE: Glyph("·", ".", "waits for a worker", "dim"),
    BarKind.RETRY: Glyph("░", "-", "retry delay", "yellow"),
    BarKind.RETRY_AFTER: Glyph("▒", "=", "Retry-After", "yellow"),
    BarKind.JUMP: Glyph("╌", "~", "delayed jump", "dim"),
    BarKind.POLL: Glyph("┄", ":", "until the next look", "dim"),
    BarKind.SLEEP: Glyph("∙", "z", "sleep", "dim"),
    BarKind.CHILD: Glyph("▤", "c", "child run", "blue"),
    BarKind.PERSON: Glyph("◇", "p", "waits for a person", "yellow"),
    BarKind.SIGNAL: Glyph("◆", "s", "waits for a signal", "yellow"),
}
ERROR_MARK = Glyph("✗", "x", "error", "red")
LEVELS = ("▁▂▃▄▅▆▇█", ".:-=+*%@")
COLOUR_OF_STATUS = {
    StepStatus.DONE: "green",
    StepStatus.FAILED: "red",
    StepStatus.RETRYING: "yellow",
    StepStatus.POLLING: "blue",
    StepStatus.WAITING: "yellow",
    StepStatus.CANCELLED: "yellow",
    StepStatus.RUNNING: "blue",
}

_UNICODE = "".join(g.shown for g in (*GLYPHS.values(), ERROR_MARK)) + LEVELS[0] + "…"
# For what is not a mark: the words beside the lanes.
_PLAIN = str.maketrans({"·": ",", "×": "x", "…": "~"})
_TICK_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)


def lane_lines_for(stream: TextIO, lanes: Lanes) -> list[str]:
    """The drawing as this stream can show it."""
    drawn = lane_lines(
        lanes,
        columns=columns_of(stream),
        paint=paint_for(stream),
        is_unicode=can_show(stream, _UNICODE),
    )
    return list(drawn)


def lane_lines(lanes: Lanes, *, columns: int, paint: Paint, is_unicode: bool) -> Iterator[str]:
    """One line per lane, then the scale and what the marks mean."""
    for line in _lines(lanes, columns, paint=paint, is_unicode=is_unicode):
        yield line if is_unicode else line.translate(_PLAIN)


def _lines(lanes: Lanes, columns: int, *, paint: Paint, is_unicode: bool) -> Iterator[str]:
    shown = lanes.lanes[:LANES_MAX]
    if not shown:
        return
    notes = [_note(lane) for lane in shown]
    label = min(LABEL_COLUMNS_MAX, columns // 4, max(wide(_label(lane)) for lane in shown))
    note = min(NOTE_COLUMNS_MAX, columns // 3, max(map(wide, notes)))
    canvas = _Canvas(lanes, columns - label - note - 3, paint=paint, is_unicode=is_unicode)
    for lane, said in zip(shown, notes, strict=True):
        name = fit(_label(lane), label)
        told = fit(said, note, pad=False)
        colour = COLOUR_OF_STATUS.get(lane.status)
        ending = paint(colour, told) if colour else told
        yield f"{name} {canvas.row(lane)}  {ending}".rstrip()
    if len(lanes.lanes) > LANES_MAX:
        yield f"{' ' * label} and {len(lanes.lanes) - LANES_MAX} more steps"
    yield f"{' ' * label} {paint('dim', canvas.scale())}".rstrip()
    for line in canvas.legend():
        yield f"{' ' * label} {line}"


def _label(lane: Lane) -> str:
    """Steps of a branch stand under the fork, further in."""
    return f"{BRANCH_INDENT * min(lane.depth, BRANCH_INDENTS_MAX)}{lane.step}"


def _note(lane: Lane) -> str:
    """What stands to the right of a lane."""
    text = "passes on a failure" if lane.passed_on else lane.status.value
    if lane.total is not None:
        text += f" · {lane.done:,}/{lane.total:,}"
        return f"{text} · {lane.failed:,} failed" if lane.failed else text
    if lane.visits > 1:
        text += f" · {lane.visits} visits"
    return f"{text} · {lane.attempts}×" if lane.attempts > 1 else text


class _Cell(Struct):
    text: str = " "
    colour: str | None = None


class _Canvas:
    """A number of cells over a stretch of time. Notes which marks it has used."""

    def __init__(self, lanes: Lanes, cells: int, *, paint: Paint, is_unicode: bool) -> None:
        self._begin = lanes.begin
        self._span = max(1, lanes.end - lanes.begin)
        self._cells = cells
        self._paint = paint
        self._is_unicode = is_unicode
        self._used: dict[str, Glyph] = {}
        self._has_density = False

    def row(self, lane: Lane) -> str:
        cells = [_Cell() for _ in range(self._cells)]
        if lane.density is not None:
            self._draw_density(cells, lane)
        else:
            self._draw_bars(cells, lane)
        return self._painted(cells)

    def _column(self, at: int) -> int:
        return min(self._cells - 1, max(0, (at - self._begin) * self._cells // self._span))

    def _mark(self, cell: _Cell, glyph: Glyph) -> None:
        self._used.setdefault(glyph.meaning, glyph)
        cell.text = glyph.shown if self._is_unicode else glyph.plain
        cell.colour = glyph.colour

    def _draw_bars(self, cells: list[_Cell], lane: Lane) -> None:
        """Waits first, so that an attempt is never hidden by the wait after it; errors last."""
        waits = [bar for bar in lane.bars if bar.kind not in EXECUTIONS]
        attempts = [bar for bar in lane.bars if bar.kind in EXECUTIONS]
        for bar in (*waits, *attempts):
            for column in range(self._column(bar.begin), self._last_column(bar.begin, bar.end) + 1):
                self._mark(cells[column], GLYPHS[bar.kind])
        for bar in attempts:
            if bar.kind is BarKind.ERROR:
                self._mark(cells[self._last_column(bar.begin, bar.end)], ERROR_MARK)

    def _last_column(self, begin: int, end: int) -> int:
        """A stretch that ends where a column begins does not reach into it."""
        return self._column(end - 1 if end > begin else end)

    def _draw_density(self, cells: list[_Cell], lane: Lane) -> None:
        assert lane.density is not None
        work, wait, errors = lane.density.work(), lane.density.wait(), lane.density.errors
        peak = max(work) or 1.0
        levels = LEVELS[0] if self._is_unicode else LEVELS[1]
        self._has_density = True
        for column, cell in enumerate(cells):
            slices = self._slices(column)
            busy = max(work[slices])
            if busy > 0:
                cell.text = levels[min(len(levels) - 1, int(busy / peak * len(levels)))]
                cell.colour = "red" if any(errors[slices]) else "green"
            elif max(wait[slices]) > 0:
                self._mark(cell, GLYPHS[BarKind.RETRY])

    def _slices(self, column: int) -> slice:
        first = column * SLICES // self._cells
        return slice(first, max(first + 1, (column + 1) * SLICES // self._cells))

    def _painted(self, cells: list[_Cell]) -> str:
        """Neighbours of one colour are painted together."""
        parts, start = [], 0
        for index in range(1, len(cells) + 1):
            if index < len(cells) and cells[index].colour == cells[start].colour:
                continue
            text = "".join(cell.text for cell in cells[start:index])
            colour = cells[start].colour
            parts.append(self._paint(colour, text) if colour else text)
            start = index
        return "".join(parts)

    def scale(self) -> str:
        """Times under the lanes, from the start of the run."""
        seconds = self._span / NANOSECONDS
        most = max(1, self._cells // TICK_COLUMNS_MIN)
        line, at = "", 0.0
        step = _tick_seconds(seconds / most)
        while at <= seconds:
            column = self._column(self._begin + int(at * NANOSECONDS))
            label = duration(at)
            if (not line or column > wide(line)) and column + wide(label) <= self._cells:
                line = line.ljust(column) + label
            at += step
        return line

    def legend(self) -> Iterator[str]:
        """What the marks mean that were used, in as many lines as it takes."""
        line, used = "", 0
        for text, colour, meaning in self._meanings():
            columns = wide(text) + 1 + wide(meaning)
            if line and used + LEGEND_GAP + columns > self._cells:
                yield line
                line, used = "", 0
            gap = " " * LEGEND_GAP if line else ""
            line += f"{gap}{self._paint(colour, text)} {meaning}"
            used += len(gap) + columns
        if line:
            yield line

    def _meanings(self) -> Iterator[tuple[str, str, str]]:
        for glyph in self._used.values():
            text = glyph.shown if self._is_unicode else glyph.plain
            yield text, "dim" if glyph.meaning == "attempt" else glyph.colour, glyph.meaning
        if self._has_density:
            levels = LEVELS[0] if self._is_unicode else LEVELS[1]
            yield levels[1] + levels[4] + levels[7], "green", "iterations running"


def _tick_seconds(least: float) -> float:
    """The first round number of seconds that is not below `least`."""
    for step in _TICK_SECONDS:
        if least <= step:
            if step > 1:
                return step
            break
    if least > _TICK_SECONDS[-1]:
        return -(-least // _TICK_SECONDS[-1]) * _TICK_SECONDS[-1]
    power = 1e-6
    while power < 1:
        for factor in (1, 2, 5):
            if least <= factor * power:
                return factor * power
        power *= 10
    return 1.0
