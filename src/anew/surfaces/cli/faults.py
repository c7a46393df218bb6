"""Print what many runs with faults amount to, and one of them whole.

Draws what `lab.faults` has counted. A bar is as long as its share of the longest.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from anew.lab.faults.audit import MEANINGS
from anew.lab.faults.campaign import FaultReport, FaultRun, RunRecord, elapsed_seconds
from anew.lab.faults.distribution import (
    Bucket,
    InvariantTally,
    attempts_of,
    count_buckets,
    error_kinds,
    injected,
    percentiles,
    statuses,
    tallies,
    time_buckets,
)
from anew.lab.faults.kinds import CLOCK
from anew.surfaces.cli.columns import can_show, fit
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.paint import Paint, paint_for
from anew.views.timeline import timeline_lines
from anew.views.wording import counted, duration

BAR_COLUMNS = 40
TIMELINE_LINES_MAX = 60
FAULT_LINES_MAX = 20
TASKS_SHOWN_MAX = 20
_NAME_COLUMNS_MAX = 24
_COLOURS = {"done": "green", "failed": "red", "cancelled": "yellow", "waiting": "yellow"}


class Ink(Struct, frozen=True):
    """How a stream draws: its colours, and what a bar is made of."""

    paint: Paint
    bar: str

    def bar_of(self, number: int, most: int) -> str:
        return self.bar * max(1, round(number / most * BAR_COLUMNS)) if number else ""


def ink_for_stdout() -> Ink:
    return Ink(paint_for(sys.stdout), "█" if can_show(sys.stdout, "█") else "#")


def report_lines(report: FaultReport, ink: Ink) -> Iterator[str]:
    """Everything but the worst run's timeline."""
    records = report.records
    yield _headline(report, ink)
    yield ""
    yield from _invariants(tallies(report), len(records), ink)
    yield ""
    yield from _ends(records, ink)
    yield ""
    times = [record.elapsed for record in records]
    yield f"virtual time of a run    {_percentile_text(percentiles(times), duration)}"
    yield from _bars(time_buckets(times), _span, ink)
    yield ""
    attempts = [attempts_of(record) for record in records]
    yield f"executions in a run      {_percentile_text(percentiles(attempts), _whole)}"
    yield from _bars(count_buckets(attempts), _counts, ink)
    yield ""
    yield from _tasks(records)
    struck = injected(report)
    if struck:
        told = ", ".join(f"{name} {counted(number, 'time')}" for name, number in struck.items())
        yield ""
        yield f"faults that struck: {told}"


def _headline(report: FaultReport, ink: Ink) -> str:
    played = counted(len(report.records), "run")
    if len(report.records) < report.asked:
        played += f" (stopped, {report.asked:,} were wanted)"
    rates = ", ".join(f"{name} {rate:g}" for name, rate in report.campaign.rates.items())
    what = f"with faults: {rates}" if rates else "that differ only in what chance draws"
    return f"{ink.paint('bold', played)} {what}; seed {report.campaign.seed}"


def _invariants(found: list[InvariantTally], runs: int, ink: Ink) -> Iterator[str]:
    """What is broken, line by line; what held in all runs, the engine's own in one line."""
    engine = [one for one in found if not one.is_own and not one.runs]
    told = f"{counted(len(engine), 'invariant')} of the engine in all runs"
    yield f"{ink.paint('green', 'held')}    {told}"
    for one in found:
        if one.is_own and not one.runs:
            yield f"{ink.paint('green', 'held')}    {visible(one.invariant)}"
    for one in found:
        if one.runs:
            share = f"in {one.runs:,} of {counted(runs, 'run')}"
            name = visible(one.invariant if one.is_own else _named(one.invariant))
            why = visible(one.why or "")
            yield f"{ink.paint('red', 'broken')}  {name}  {share}, first in run {one.first}: {why}"


def _named(invariant: str) -> str:
    meaning = MEANINGS.get(invariant)
    return f"{invariant} ({meaning})" if meaning else invariant


def _ends(records: list[RunRecord], ink: Ink) -> Iterator[str]:
    counts = statuses(records)
    most = max(counts.values(), default=1)
    for name, number in counts.items():
        word = ink.paint(_COLOURS.get(name, "yellow"), f"{name:<10}")
        yield f"{word} {number:>7,}  {ink.bar_of(number, most)}"
        if name == "failed":
            for kind, times in error_kinds(records).items():
                yield f"  {fit(kind, 18)} {times:>7,}"


def _bars(buckets: list[Bucket], told: Callable[[Bucket], str], ink: Ink) -> Iterator[str]:
    most = max((bucket.runs for bucket in buckets), default=1)
    for bucket in buckets:
        line = f"  {told(bucket):<18} {bucket.runs:>7,}  {ink.bar_of(bucket.runs, most)}"
        yield line.rstrip()


def _span(bucket: Bucket) -> str:
    if bucket.most is None:
        return f"from {duration(bucket.least)}"
    return f"under {duration(bucket.most)}"


def _counts(bucket: Bucket) -> str:
    most = int(bucket.most or bucket.least)
    return str(int(bucket.least)) if bucket.least == most else f"{int(bucket.least)} to {most}"


def _whole(value: float) -> str:
    return f"{int(value):,}"


def _percentile_text(values: Mapping[str, float], told: Callable[[float], str]) -> str:
    return "   ".join(f"{name} {told(value)}" for name, value in values.items())


def _tasks(records: list[RunRecord]) -> Iterator[str]:
    """Executions and effects of each task, those that were executed most often first."""
    names = list(records[0].attempts) if records else []
    rows = {name: percentiles(record.attempts[name] for record in records) for name in names}
    shown = sorted(names, key=lambda name: -rows[name]["max"])[:TASKS_SHOWN_MAX]
    width = min(_NAME_COLUMNS_MAX, max((len(name) for name in shown), default=4))
    yield f"{'task':<{width}}  executions: p50   p90   p99   max   effects: p50   max"
    for name in shown:
        took = percentiles(record.effects.get(name, 0) for record in records)
        numbers = "".join(f"{int(rows[name][key]):>6}" for key in ("p50", "p90", "p99", "max"))
        ends = "".join(f"{int(took[key]):>6}" for key in ("p50", "max"))
        yield f"{fit(name, width)}  {'':<9}{numbers}   {'':<6}{ends}"
    if len(names) > len(shown):
        yield f"and {counted(len(names) - len(shown), 'more task')}"


def run_lines(run: FaultRun, ink: Ink) -> Iterator[str]:
    """One run whole: what was broken in it, its timeline, and the faults that struck."""
    for one in run.broken:
        word = ink.paint("red", "broken")
        yield f"{word}  {visible(_named(one.invariant))}: {visible(one.why)}"
    lines = timeline_lines(run.simulation.log, run.simulation.program)
    yield from _cut(map(visible, lines), TIMELINE_LINES_MAX)
    status = run.simulation.status.value
    word = ink.paint(_COLOURS.get(status, "yellow"), status)
    yield f"{word} after {elapsed_seconds(run):.3f} virtual seconds{_by_clock(run)}"
    if not run.struck:
        return
    yield ""
    yield f"{counted(len(run.struck), 'fault')} struck:"
    told = sorted(run.struck, key=lambda one: one.at)
    struck = (f"{run.seconds(one.at):9.3f}  {one.fault:<9}  {visible(one.what)}" for one in told)
    yield from _cut(struck, FAULT_LINES_MAX)


def _by_clock(run: FaultRun) -> str:
    is_off = any(one.fault == CLOCK for one in run.struck)
    return " of true time; the timeline is by the clock" if is_off else ""


def _cut(lines: Iterable[str], most: int) -> Iterator[str]:
    told = list(lines)
    yield from told[:most]
    if len(told) > most:
        yield f"  … and {len(told) - most:,} more lines (--json has them all)"


def why_worst(record: RunRecord) -> str:
    """Why this run is shown."""
    if record.broken:
        return f"it breaks {record.broken[0].invariant}"
    if record.error_kind is not None:
        return f"it failed: {record.error_kind}"
    return "it took longest"
