"""What many runs amount to: end states, times and attempts as distributions, faults by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil

from msgspec import Struct

from anew.lab.faults.audit import INVARIANTS
from anew.lab.faults.campaign import NO_BUG, FaultReport, RunRecord
from anew.values import Object

# Rows of a histogram.
BUCKETS_MAX = 12
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
# The round numbers at which times are told apart.
_SECONDS = (0.1, 1, 5, 15, 60, 5 * 60, 15 * 60, 3600, 4 * 3600, 86_400, 7 * 86_400)


class Bucket(Struct, frozen=True):
    """How many runs lie from `least` up to `most`, which is None for the last of times."""

    least: float
    most: float | None
    runs: int


class InvariantTally(Struct, frozen=True):
    """One thing that must hold: in how many runs it did not, and the first of them."""

    invariant: str
    is_own: bool
    runs: int = 0
    first: int | None = None
    why: str | None = None


def percentiles(values: Iterable[float]) -> dict[str, float]:
    """The value that so many of them do not pass, by name."""
    ordered = sorted(values)
    if not ordered:
        return dict.fromkeys(PERCENTILES, 0.0)
    return {
        name: ordered[max(0, ceil(share * len(ordered)) - 1)] for name, share in PERCENTILES.items()
    }


def time_buckets(values: Sequence[float]) -> list[Bucket]:
    """Times by round numbers, from the first that has runs to the last."""
    edges = [0.0, *_SECONDS]
    counts = [0] * len(edges)
    for value in values:
        counts[sum(1 for edge in edges[1:] if value >= edge)] += 1
    return _trimmed(
        [
            Bucket(least, edges[index + 1] if index + 1 < len(edges) else None, counts[index])
            for index, least in enumerate(edges)
        ]
    )


def count_buckets(values: Sequence[int]) -> list[Bucket]:
    """Whole numbers, each by itself while they are few, else in equal steps."""
    if not values:
        return []
    least, most = min(values), max(values)
    width = -(-(most - least + 1) // BUCKETS_MAX)
    counts = Counter((value - least) // width for value in values)
    return [
        Bucket(least + number * width, least + (number + 1) * width - 1, counts[number])
        for number in range((most - least) // width + 1)
    ]


def _trimmed(buckets: list[Bucket]) -> list[Bucket]:
    filled = [index for index, bucket in enumerate(buckets) if bucket.runs]
    return buckets[filled[0] : filled[-1] + 1] if filled else []


def tallies(report: FaultReport) -> list[InvariantTally]:
    """Everything that must hold, the engine's invariants first, then the author's own."""
    own = [promise.text for promise in report.campaign.promises]
    found = {
        record.index: {one.invariant: one.why for one in record.broken}
        for record in report.records
        if record.broken
    }
    known = {*INVARIANTS, NO_BUG}
    return [_tally(name, found, is_own=name not in known) for name in (*INVARIANTS, NO_BUG, *own)]


def _tally(name: str, found: dict[int, dict[str, str]], *, is_own: bool) -> InvariantTally:
    runs = [index for index, broken in found.items() if name in broken]
    if not runs:
        return InvariantTally(name, is_own)
    first = min(runs)
    return InvariantTally(name, is_own, len(runs), first, found[first][name])


def statuses(records: Iterable[RunRecord]) -> dict[str, int]:
    """How many runs ended in each way, most first."""
    return dict(Counter(record.status for record in records).most_common())


def error_kinds(records: Iterable[RunRecord]) -> dict[str, int]:
    """The kinds of the errors of failed runs, most first."""
    kinds = (record.error_kind for record in records if record.error_kind is not None)
    return dict(Counter(kinds).most_common())


def injected(report: FaultReport) -> dict[str, int]:
    """How often each fault happened in all runs together."""
    total: Counter[str] = Counter(dict.fromkeys(report.campaign.rates, 0))
    for record in report.records:
        total.update(record.injected)
    return dict(total)


def attempts_of(record: RunRecord) -> int:
    """The executions of all tasks of a run."""
    return sum(record.attempts.values())


def report_of(report: FaultReport) -> Object:
    """The JSON object of `anew simulate --faults --json`."""
    records, worst = report.records, report.worst
    times = [record.elapsed for record in records]
    attempts = [attempts_of(record) for record in records]
    tasks = records[0].attempts if records else {}
    return {
        "seed": report.campaign.seed,
        "runs": len(records),
        "asked": report.asked,
        "faults": dict(report.campaign.rates),
        "injected": injected(report),
        "invariants": [_tally_row(one) for one in tallies(report)],
        "statuses": statuses(records),
        "errors": error_kinds(records),
        "seconds": {**percentiles(times), "histogram": [_row(b) for b in time_buckets(times)]},
        "attempts": {
            **percentiles(attempts),
            "histogram": [_row(b) for b in count_buckets(attempts)],
        },
        "tasks": {
            name: {
                "attempts": percentiles(record.attempts[name] for record in records),
                "effects": percentiles(record.effects.get(name, 0) for record in records),
            }
            for name in tasks
        },
        "worst": None if worst is None else report.campaign.play(worst.index).report(),
    }


def _tally_row(tally: InvariantTally) -> Object:
    return {
        "invariant": tally.invariant,
        "own": tally.is_own,
        "broken": tally.runs,
        "run": tally.first,
        "why": tally.why,
    }


def _row(bucket: Bucket) -> Object:
    return {"from": bucket.least, "to": bucket.most, "runs": bucket.runs}
