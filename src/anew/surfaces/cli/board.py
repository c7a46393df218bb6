"""Draw a board with rich: a mark, the step, what it is at, and for how long.

Imported by the live view when it starts, so that no other command pays for rich.
"""

from __future__ import annotations

from msgspec import Struct
from rich.text import Text

from anew.engine.statuses import StepStatus
from anew.surfaces.cli.columns import fit, wide
from anew.surfaces.cli.excerpts import visible
from anew.views.board import Board, BoardRow
from anew.views.step_progress import LoopProgress
from anew.views.wording import duration

NAME_COLUMNS_MAX = 24
TIME_COLUMNS = 11
LOOP_BAR_COLUMNS = 24


class Mark(Struct, frozen=True):
    shown: str
    plain: str
    style: str


MARKS = {
    StepStatus.DONE: Mark("✓", "+", "green"),
    StepStatus.FAILED: Mark("✗", "x", "red"),
    StepStatus.RETRYING: Mark("◔", "~", "yellow"),
    StepStatus.POLLING: Mark("◔", "~", "blue"),
    StepStatus.WAITING: Mark("◇", "?", "yellow"),
    StepStatus.SCHEDULED: Mark("·", ".", "dim"),
    StepStatus.SKIPPED: Mark("-", "-", "dim"),
    StepStatus.CANCELLED: Mark("✗", "x", "yellow"),
}
SPINNER = ("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\")


def drawn(board: Board, *, columns: int, frame: int, is_unicode: bool, notice: str = "") -> Text:
    """The whole board as one text, no line wider than the terminal."""
    room = max(20, columns - 1)
    name = min(NAME_COLUMNS_MAX, room // 4, max((wide(r.step) for r in board.rows), default=0))
    lines = [_row(row, name, room=room, frame=frame, is_unicode=is_unicode) for row in board.rows]
    if board.hidden:
        lines.append(Text(f"  and {board.hidden:,} more running", "dim"))
    if notice:
        lines.append(Text(fit(notice, room, pad=False), "yellow"))
    whole = f"{board.program} · run {board.run} · {board.status.value} · {board.summary}"
    time = duration(round(board.seconds, 1))
    lines.append(Text(fit(f"{whole} · {time}", room, pad=False), "dim"))
    return Text("\n", no_wrap=True, overflow="crop").join(lines)


def _row(row: BoardRow, name: int, *, room: int, frame: int, is_unicode: bool) -> Text:
    text = Text("  ")
    text.append(*_mark(row.status, frame, is_unicode=is_unicode))
    text.append(f" {fit(row.step, name)}  ", "bold" if row.status is StepStatus.RUNNING else "")
    left = room - 6 - name - TIME_COLUMNS
    if row.loop is not None and left > LOOP_BAR_COLUMNS + 10:
        left -= LOOP_BAR_COLUMNS + 1
        _append_bar(text, row.loop, is_unicode=is_unicode)
    style = "red" if row.status is StepStatus.FAILED else ""
    text.append(fit(row.text, max(1, left)), style)
    text.append(visible(f"{duration(round(row.seconds, 1)):>{TIME_COLUMNS}}"), "dim")
    return text


def _mark(status: StepStatus, frame: int, *, is_unicode: bool) -> tuple[str, str]:
    mark = MARKS.get(status)
    if mark is None:
        frames = SPINNER[0] if is_unicode else SPINNER[1]
        return frames[frame % len(frames)], "blue"
    return (mark.shown if is_unicode else mark.plain), mark.style


def _append_bar(text: Text, loop: LoopProgress, *, is_unicode: bool) -> None:
    whole = max(1, loop.total)
    ended = loop.ended * LOOP_BAR_COLUMNS // whole
    # One failure among many is still worth a mark.
    failed = min(ended, max(1, loop.failed * LOOP_BAR_COLUMNS // whole)) if loop.failed else 0
    full, empty = ("━", "─") if is_unicode else ("#", "-")
    text.append(full * (ended - failed), "green")
    text.append(full * failed, "red")
    text.append(empty * (LOOP_BAR_COLUMNS - ended), "dim")
    text.append(" ")
