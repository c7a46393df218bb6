"""The worst case of a document as people read it: tables, the longest path, what is open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from anew.lab.bounds.amounts import BoundReason
from anew.lab.bounds.formatting import amount_text, time_text
from anew.lab.bounds.report import Bounds, Dependency, PathStep, TaskBounds
from anew.views.visible import visible
from anew.views.widths import wide

# Of a colour and a text: the text in that colour, where somebody can see colours.
Paint: TypeAlias = Callable[[str, str], str]

# A path that goes round is shown once; a long one is cut.
_ROUND_STEPS_MAX = 12
_PATH_LINES_MAX = 30
_TASKS_SHOWN_MAX = 4
_AGAIN = {
    "cycle": "again and again",
    "restart": "each time the run restarts",
    "compensation": "for each of them",
}


def plain(_colour: str, text: str) -> str:
    return text


def bounds_lines(bounds: Bounds, name: str, paint: Paint = plain) -> Iterator[str]:
    """Everything but the warnings."""
    most = amount_text(bounds.executions)
    yield paint(
        "bold",
        visible(
            f"{name}: at most {most} executions, {time_text(bounds.waits)} in waits, "
            f"{time_text(bounds.time)} in all"
        ),
    )
    yield from _tasks(bounds, paint)
    yield from _dependencies(bounds.dependencies, paint)
    yield from _path(bounds.path, paint)
    yield from _reasons("the document leaves open", bounds.unbounded, paint, "yellow")
    yield from _reasons("assumed", bounds.assumed, paint, "dim")


def _tasks(bounds: Bounds, paint: Paint) -> Iterator[str]:
    listed = [*bounds.tasks, *bounds.nested]
    rows: list[tuple[str, ...]] = [("task", "executions", "attempts", "waits", "total")]
    rows += [_task(row) for row in listed]
    if len(rows) == 1:
        return
    yield ""
    yield from _table(rows, paint)
    if any(row.timeout_is_default for row in listed):
        yield paint("dim", "  * the document gives no timeout; it is that of the tool")


def _task(row: TaskBounds) -> tuple[str, ...]:
    name = row.step if row.step == row.task else f"{row.step}.{row.task}"
    name = f"{row.program} > {name}" if row.program else name
    mark = " *" if row.timeout_is_default else ""
    return (
        name,
        amount_text(row.in_run),
        amount_text(row.per_visit),
        time_text(row.waits),
        f"{time_text(row.time)}{mark}",
    )


def _dependencies(found: Sequence[Dependency], paint: Paint) -> Iterator[str]:
    if not found:
        return
    rows: list[tuple[str, ...]] = [("calls", "", "executions", "by")]
    for one in found:
        more = len(one.tasks) - _TASKS_SHOWN_MAX
        by = ", ".join(one.tasks[:_TASKS_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
        rows.append((one.kind, one.name, amount_text(one.executions), by))
    yield ""
    yield from _table(rows, paint)


def _path(path: Sequence[PathStep], paint: Paint) -> Iterator[str]:
    if not path:
        return
    rows: list[tuple[str, ...]] = [("longest path", "ends", "executions", "waits", "total")]
    notes: dict[int, str] = {}
    for steps, times in rounds_of(path):
        if len(rows) > _PATH_LINES_MAX:
            notes[len(rows) - 1] = "  … and further"
            break
        rows += [_visit(step) for step in steps]
        often = _AGAIN.get(steps[0].again) or (f"{times} times in all" if times > 1 else "")
        if often:
            what = "this step" if len(steps) == 1 else f"these {len(steps)} steps"
            notes[len(rows) - 1] = f"  … {what}, {often}"
    yield ""
    for number, line in enumerate(_table(rows, paint)):
        yield line
        if number in notes:
            yield paint("dim", notes[number])


def rounds_of(path: Sequence[PathStep]) -> Iterator[tuple[Sequence[PathStep], int]]:
    """The parts of a path, each with how often it is repeated in a row."""
    for again, group in groupby(path, key=lambda step: step.again):
        part, at = list(group), 0
        while at < len(part):
            size, times = (len(part), 1) if again else _repeated(part, at)
            yield part[at : at + size], times
            at += size * times


def _repeated(path: Sequence[PathStep], at: int) -> tuple[int, int]:
    """The shortest part at this place that comes again at once, and how often it does."""
    for size in range(1, _ROUND_STEPS_MAX + 1):
        part, times = path[at : at + size], 1
        while path[at + size * times : at + size * (times + 1)] == part:
            times += 1
        if times > 1 and len(part) == size:
            return size, times
    return 1, 1


def _visit(one: PathStep) -> tuple[str, ...]:
    parts = [f"{task} × {amount_text(count)}" for task, count in one.tasks]
    items = f" ({amount_text(one.items)} items)" if parts and one.items.at_most != 1 else ""
    return (one.step, one.ends, ", ".join(parts) + items, time_text(one.waits), time_text(one.time))


def _reasons(title: str, found: Iterable[BoundReason], paint: Paint, colour: str) -> Iterator[str]:
    listed = list(found)
    if not listed:
        return
    yield ""
    yield paint("bold", title)
    for reason in listed:
        ends = f"; it ends with {reason.ends}" if reason.ends else ""
        place = paint("bold", visible(str(reason.place)))
        yield f"  {place}: {paint(colour, visible(reason.what))}{ends}"


def _table(rows: Sequence[tuple[str, ...]], paint: Paint) -> Iterator[str]:
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(wide(row[column]) for row in shown) for column in range(len(shown[0]))]
    for number, row in enumerate(shown):
        cells = [cell + " " * (width - wide(cell)) for cell, width in zip(row, widths, strict=True)]
        line = "  ".join(cells).rstrip()
        yield paint("bold", line) if number == 0 else line
