"""The text of `docs/benchmarks.md`: what was measured, on what, with which verdicts.

Everything that is a number comes from the results; the prose says how they were made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bench.figures import Figure, Row, Workload, shown
from bench.report.notes import Notes
from bench.report.pictures import curve_name, is_drawn, picture_name
from bench.results import Results

INTRO = """\
# Benchmarks

Anew compared with other engines, doing the same work on one machine, in turns. This page and its
plots are written by `make bench-docs` from the figures of `make bench` and `make bench-growth`;
nothing on it is typed by hand but the notes.
"""
METHOD = """\
## How it is measured

- **In turns.** The sides of a contest take turns, {rounds} rounds, each sample in a process of its
  own with a new file or database on a real disk. A figure is the median of the rounds, with the
  lowest and the highest next to it.
- **Ratios** are our figure divided by the other one. They are taken in each round, and the median
  of these is given. Where a peer can be set up in several ways, we compare with its best.
- **The probe** next to a figure is the wall time of a fixed piece of Python (a million additions)
  right before each sample. It is about 30 ms where this page was written and nothing else runs.
- **Durable on both sides**: `synchronous=FULL` on SQLite, `fsync` and `synchronous_commit` on
  PostgreSQL. A step's outcome is on disk before the next step starts. What a peer does otherwise is
  said with its settings.
- **Smaller sizes for slower peers**: rates are compared. A peer that takes too long is stopped; its
  rate is then at most what it would have been had it ended there, and is given as such.

What these figures cannot show: the machine is small and shares its disk, so a wall-clock ratio
under 2 is a tie. Server, workers, PostgreSQL and the program that asks share the cores. Steps that
do nothing show what an engine costs, not how long your work takes.
"""
REPEAT = """\
## How to repeat it

```sh
make bench          # at most 20 minutes on two cores; installs the peers the first time
make bench BENCHMARKS="durable.steps cluster.runs"
make bench-growth   # the curves
make bench-docs     # this page
```

`make bench-json` prints the rows as JSON. Every sample is in `build/bench/results.json`.
`bench/README.md` says what is where.
"""


def page(
    results: Results,
    growth: Sequence[Mapping[str, Any]],
    *,
    notes: Notes,
    drawn: Collection[str],
    has_next: bool,
) -> str:
    """The whole page; `drawn` are the plots there are, `has_next` whether there is a page on."""
    parts = [
        INTRO,
        *_verdicts(results.rows),
        *_missed(results, notes),
        *_time_goes(notes),
        *_contests(results.workloads, notes, drawn),
        *_small_parts(results.rows),
        *_growth(growth, notes),
        *_cannot(results.workloads),
        METHOD.format(rounds=results.rounds),
        *_machine(results),
        REPEAT,
        *_next(has_next=has_next),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _verdicts(rows: Iterable[Row]) -> Iterator[str]:
    judged = [row for row in rows if row.get("workload") and row.get("target")]
    met = sum(1 for row in judged if row.get("met"))
    yield f"## Targets\n\n{met} of {len(judged)} are met."
    yield _table(
        ("workload", "Anew", "ratio", "target", "met", "compared with"),
        (
            (
                str(row["name"]),
                _value(row),
                _number(row.get("ratio")),
                str(row["target"]),
                _verdict(row),
                str(row.get("peer") or ""),
            )
            for row in judged
        ),
    )


def _missed(results: Results, notes: Notes) -> Iterator[str]:
    names = dict.fromkeys(
        row["workload"] for row in results.rows if row.get("workload") and row.get("met") is False
    )
    titles = {work.name: work.title for work in results.workloads}
    told = [(titles[name], notes.about(f"missed: {name}")) for name in names]
    if any(text for _, text in told):
        yield "## Missed targets"
        yield from (f"### Missed: {title}\n\n{text}" for title, text in told if text)


def _time_goes(notes: Notes) -> Iterator[str]:
    if text := notes.about("where the time goes"):
        yield f"## Where the time goes\n\n{text}"


def _contests(workloads: Iterable[Workload], notes: Notes, drawn: Collection[str]) -> Iterator[str]:
    yield "## Side by side"
    for work in workloads:
        if is_drawn(work):
            yield from _contest(work, notes, drawn)
    yield "### The machine's own limits and figures of ours alone"
    alone = [work for work in workloads if not is_drawn(work)]
    yield _table(
        ("what", "median", "lowest to highest", "probe, ms"),
        ((work.title, *_figure(work.ours, work)) for work in alone),
    )


def _contest(work: Workload, notes: Notes, drawn: Collection[str]) -> Iterator[str]:
    title = work.title[0].upper() + work.title[1:]
    yield f"### {title}"
    name = picture_name(work.name)
    if name in drawn:
        yield f"![{title}, {work.unit}](benchmarks/{name}.svg)"
    if text := notes.about(work.name):
        yield text
    there = [one for one in work.figures.values() if one.values]
    yield _table(
        ("side", "size", f"median, {work.unit}", "lowest to highest", "probe, ms"),
        ((one.side, f"{one.size:,}", *_figure(one, work)) for one in there),
    )


def _figure(one: Figure, work: Workload) -> tuple[str, str, str]:
    low, high = one.spread()
    bound = ("at most " if work.more_is_better else "at least ") if one.is_bound else ""
    shown = f"{bound}{_number(one.middle())}"
    if not is_drawn(work):
        shown += f" {work.unit}"
    return shown, f"{_number(low)} to {_number(high)}", _number(one.probe_ms)


def _small_parts(rows: Iterable[Row]) -> Iterator[str]:
    alone = [row for row in rows if not row.get("workload")]
    if not alone:
        return
    yield "## Small parts\n\nCPU time, nothing durable; the start of a command is wall time."
    yield _table(
        ("what", "Anew", "compared with", "ratio", "target", "met"),
        (
            (
                str(row["name"]),
                _value(row),
                str(row.get("peer") or ""),
                _number(row.get("ratio")),
                str(row.get("target") or ""),
                _verdict(row),
            )
            for row in alone
        ),
    )


def _growth(growth: Sequence[Mapping[str, Any]], notes: Notes) -> Iterator[str]:
    if not growth:
        return
    yield "## Growth\n\nWhat a transition costs, in CPU time, against what grows."
    for curve in growth:
        title = str(curve.get("title", curve["name"]))
        title = title[0].upper() + title[1:]
        yield f"### Growth: {title}\n\n![{title}](benchmarks/{curve_name(curve)}.svg)"
        yield f"The last point is {curve['ratio']:g} of the first. {_sentence(str(curve['note']))}"
        if text := notes.about(f"growth: {curve['name']}"):
            yield text


def _cannot(workloads: Iterable[Workload]) -> Iterator[str]:
    reasons: dict[str, dict[str, str]] = {}
    for work in workloads:
        for one in work.figures.values():
            if one.reason and not one.values:
                reasons.setdefault(one.side, {}).setdefault(one.reason, work.title)
    yield "## What a peer cannot do"
    yield _table(
        ("peer", "asked for", "what happened"),
        ((side, title, reason) for side, told in reasons.items() for reason, title in told.items()),
    )


def _machine(results: Results) -> Iterator[str]:
    yield f"## Machine, versions and settings\n\nMeasured on {results.measured_on}."
    yield _table(("what", "is"), (results.machine | results.versions).items())
    yield _table(("who", "is set up so"), results.settings.items())


def _next(*, has_next: bool) -> Iterator[str]:
    if has_next:
        yield (
            "## Past one machine\n\nWhat these costs mean for more than one machine: "
            "[past one machine](past-one-machine.md)."
        )


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)


def _verdict(row: Row) -> str:
    if row.get("met") is None:
        return "not decided" if row.get("target") else ""
    return "yes" if row["met"] else "**no**"


def _value(row: Row) -> str:
    low, high = row.get("spread") or (None, None)
    spread = f" [{_number(low)} to {_number(high)}]" if low is not None and low != high else ""
    return f"{_number(row.get('value'))} {row.get('unit') or ''}{spread}"


def _number(value: float | None) -> str:
    return "" if value is None else shown(value)


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
