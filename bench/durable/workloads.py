"""Which workloads are measured, how large, how often, and what is asked of their figures."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from bench.durable.contest import ANEW, FOLDER, MACHINE, ROOT, Entry, Side, contend
from bench.durable.figures import Row, against, beside, paired, percentile, row
from bench.peers.environments import peer
from bench.startup import anew_command

COMMIT_RATIO_MIN = "≥ 0.6"
GROWTH_MAX = "≤ 1.3"

# Peers do less of the same where they are slower, so that all of it stays within minutes.
STEPS = 1_000
RUNS, PEER_RUNS = 500, 100
ITEMS, MANY_ITEMS, PEER_ITEMS = 5_000, 50_000, 500
RETRYING_RUNS = 200
BACKOFF_RUNS, BACKOFF_WAITS_SECONDS = 30, 2.0
LENGTHS = (100, 1_000, 10_000)
PARKED = 100_000
FSYNCS = 500

CHEAP_ROUNDS = 5
ROUNDS = 3


def measure() -> Iterator[Row]:
    """Every row. What is going on is said on standard error, because it takes minutes."""
    print(f"durable: files in {FOLDER.relative_to(ROOT)}/ ({_disk()})", file=sys.stderr)
    peers = [peer("dbos", "DBOS"), peer("noetl", "NoETL")]
    parts = (long_run, many_runs, wide_loop, retries, backoff, cold_start, growth, leasing)
    for part in parts:
        print(f"durable: {part.__name__.replace('_', ' ')}", file=sys.stderr, flush=True)
        yield from part(peers)


def long_run(peers: Sequence[Side]) -> Iterator[Row]:
    """Every step of a run is one commit: how near to the machine's own commits is that?"""
    ours = Entry(ANEW, "steps", STEPS, CHEAP_ROUNDS)
    raw = Entry(MACHINE, "commits", STEPS, CHEAP_ROUNDS)
    pages = Entry(MACHINE, "fsyncs", FSYNCS, CHEAP_ROUNDS)
    others = [Entry(side, "steps", STEPS, ROUNDS) for side in peers]
    contend([ours, raw, pages, *others])
    taken = pages.values("taken_ms")
    yield row("machine, fsync of 4 KiB, p50", [percentile(one, 50) for one in taken], "ms", pages)
    yield row("machine, fsync of 4 KiB, p95", [percentile(one, 95) for one in taken], "ms", pages)
    yield row("machine, commits of one row", raw.rates(), "commits/s", raw)
    rates = ours.rates()
    figure = row(f"one run of {STEPS:,} steps", rates, "steps/s", ours)
    told = f"raw commits, {median(raw.rates()):,.0f}/s"
    yield against(figure, told, paired(rates, raw.rates()), COMMIT_RATIO_MIN)
    for other in others:
        yield beside(figure, other, other.rates(), more_is_better=True)
    cpu = [1e6 * seconds / STEPS for seconds in ours.values("cpu_seconds")]
    yield row("CPU time of a step", cpu, "µs", ours)


def many_runs(peers: Sequence[Side]) -> Iterator[Row]:
    ours = Entry(ANEW, "runs", RUNS, ROUNDS)
    others = [Entry(side, "runs", PEER_RUNS, ROUNDS) for side in peers]
    contend([ours, *others])
    figure = row(f"{RUNS} runs of 5 steps", ours.rates(), "runs/s", ours)
    yield figure
    for other in others:
        yield beside(figure, other, other.rates(), more_is_better=True)


def wide_loop(peers: Sequence[Side]) -> Iterator[Row]:
    ours = Entry(ANEW, "items", ITEMS, ROUNDS)
    many = Entry(ANEW, "items", MANY_ITEMS, ROUNDS)
    others = [Entry(side, "items", PEER_ITEMS, ROUNDS) for side in peers]
    contend([ours, many, *others])
    figure = row(f"parallel loop of {ITEMS:,} items", ours.rates(), "items/s", ours)
    yield figure
    for other in others:
        yield beside(figure, other, other.rates(), more_is_better=True)
    yield row(f"parallel loop of {MANY_ITEMS:,} items", many.rates(), "items/s", many)
    few_cpu, many_cpu = ([1e6 / one for one in _per_cpu(entry)] for entry in (ours, many))
    name = f"CPU time of an item among {MANY_ITEMS:,}"
    told = f"among {ITEMS:,}, {median(few_cpu):.0f} µs"
    grown = row(name, many_cpu, "µs", many)
    yield against(grown, told, paired(many_cpu, few_cpu), GROWTH_MAX)
    yield row(f"peak memory, loop of {MANY_ITEMS:,} items", many.values("peak_mib"), "MiB", many)


def retries(peers: Sequence[Side]) -> Iterator[Row]:
    ours = Entry(ANEW, "retries", RETRYING_RUNS, ROUNDS)
    others = [Entry(side, "retries", RETRYING_RUNS, ROUNDS) for side in peers]
    parked = Entry(ANEW, "backoff", RETRYING_RUNS, ROUNDS)
    contend([ours, parked, *others])
    figure = row(f"{RETRYING_RUNS} runs that fail twice", ours.rates(2), "retries/s", ours)
    yield figure
    for other in others:
        yield beside(figure, other, other.rates(2), more_is_better=True)
    over = [1000 * (one - BACKOFF_WAITS_SECONDS) for one in parked.values("seconds")]
    name = f"{RETRYING_RUNS} runs that wait 1 s twice, beyond the waits"
    yield row(name, over, "ms", parked)


def backoff(peers: Sequence[Side]) -> Iterator[Row]:
    """How late the next attempt is called, after a delay of one second."""
    ours = Entry(ANEW, "backoff", BACKOFF_RUNS, ROUNDS)
    others = [Entry(side, "backoff", BACKOFF_RUNS, ROUNDS) for side in peers]
    contend([ours, *others])
    for hundredth in (50, 95):
        late, *theirs = (
            [percentile(one, hundredth) for one in entry.values("late_ms")]
            for entry in (ours, *others)
        )
        figure = row(f"1 s backoff is late by, p{hundredth}", late, "ms", ours)
        yield figure
        for other, values in zip(others, theirs, strict=True):
            yield beside(figure, other, values, more_is_better=False)


def cold_start(peers: Sequence[Side]) -> Iterator[Row]:
    ours, bare, *others = (
        Entry(_cold(side), "cold", 3, CHEAP_ROUNDS)
        for side in (ANEW, Side("python -c pass", (sys.executable,)), *peers)
    )
    contend([ours, bare, *others])
    seconds = row("cold start, 3 steps", ours.values("seconds"), "s", ours)
    ratio = paired(ours.values("seconds"), bare.values("seconds"))
    told = f"python -c pass, {1000 * median(bare.values('seconds')):.0f} ms"
    yield {**seconds, "peer": told, "ratio": round(ratio, 1)}
    for other in others:
        yield beside(seconds, other, other.values("seconds"), more_is_better=False)
    memory = row("cold start, 3 steps, peak memory", ours.values("peak_mib"), "MiB", ours)
    yield memory
    for other in others:
        yield beside(memory, other, other.values("peak_mib"), more_is_better=False)


def growth(peers: Sequence[Side]) -> Iterator[Row]:
    """CPU time only, and nothing waits for the disk: what a step costs in a long run."""
    del peers  # what they spend is their own affair
    entries = [Entry(ANEW, "length", size, ROUNDS) for size in LENGTHS]
    contend(entries)
    shortest, *longer = entries
    first = [1e6 / one for one in _per_cpu(shortest)]
    yield row(f"CPU time of a step in a run of {shortest.size}", first, "µs", shortest)
    for entry in longer:
        costs = [1e6 / one for one in _per_cpu(entry)]
        figure = row(f"CPU time of a step in a run of {entry.size:,}", costs, "µs", entry)
        told = f"in a run of {shortest.size}, {median(first):.0f} µs"
        yield against(figure, told, paired(costs, first), GROWTH_MAX)


def leasing(peers: Sequence[Side]) -> Iterator[Row]:
    """Jobs that wait must cost nothing, whoever asks for those that are due."""
    del peers  # they have no such call
    for workload, who in (("leasing", "every run"), ("adopted", "1,001 runs by name")):
        without = Entry(ANEW, workload, 0, ROUNDS)
        parked = Entry(ANEW, workload, PARKED, ROUNDS)
        contend([without, parked])
        few, many = (
            [1e6 * seconds for seconds in entry.values("cpu_seconds")]
            for entry in (without, parked)
        )
        name = f"CPU time of a lease of {who}, {PARKED:,} jobs parked"
        told = f"none parked, {median(few):.0f} µs"
        yield against(row(name, many, "µs", parked), told, paired(many, few), GROWTH_MAX)


def _per_cpu(entry: Entry) -> list[float]:
    return [entry.size / seconds for seconds in entry.values("cpu_seconds")]


def _cold(side: Side) -> Side:
    """The same side, started from nothing each time."""
    if side.reason is not None:
        return side
    if side is ANEW:
        words = [*anew_command(), "run", "PLAYBOOK", "--db", "FOLDER/anew.db", "--quiet"]
    elif "NoETL" in side.name:
        words = [str(Path(side.command[0]).parent / "noetl"), "run", "PLAYBOOK"]
    elif "DBOS" in side.name:
        words = [*side.command, "cold", "3", "FOLDER"]
    else:
        words = [*side.command, "-c", "pass"]
    helper = str(Path(__file__).parent / "cold.py")
    return Side(side.name, (sys.executable, "-I", helper, *words))


def _disk() -> str:
    """The kind of the file system, where the system tells."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "file system unknown"
    places = [(line.split()[1], line.split()[2]) for line in mounts]
    fitting = [place for place in places if ROOT.is_relative_to(place[0])]
    return max(fitting, key=lambda place: len(place[0]))[1]
