"""Measure curves: each point in a process of its own, the points of a curve in turns.

Makes the places, has them filled, and reads the samples. Knows nothing of what is measured.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from bench.cluster.postgres import Postgres, postgres
from bench.contest import FOLDER, Entry, Sample, Side, by_command, contend, in_a_folder, say
from bench.figures import rounded
from bench.growth.curves import Curve

Found: TypeAlias = dict[str, Any]
Keep: TypeAlias = Callable[[AbstractContextManager[str]], str]

PROCESS_SECONDS_MAX = 600.0
FLAT_RATIO_MAX = 1.3
POINT = Side("growth", (sys.executable, "-m", "bench.growth.point"), is_ours=True)
FILLING = Side("filling", (sys.executable, "-m", "bench.growth.filling"), is_ours=True)


def played(curves: Iterable[Curve]) -> Iterator[Found]:
    """What came of each curve. One PostgreSQL serves all that want one."""
    with ExitStack() as stack:
        server: Postgres | None = None
        for curve in curves:
            if curve.store == "PostgreSQL" and server is None:
                server = stack.enter_context(postgres())
            yield _played(curve, server if curve.store == "PostgreSQL" else None)


def _played(curve: Curve, server: Postgres | None) -> Found:
    entries = [
        Entry(POINT, curve.workload, size, curve.rounds_of(size), PROCESS_SECONDS_MAX)
        for size in curve.sizes
    ]
    with ExitStack() as stack:
        keep = stack.enter_context
        filled = {size: _filled(keep, curve, size, server) for size in curve.sizes if curve.filled}
        contend(entries, lambda entry: _sample(entry, filled.get(entry.size)))
    found = summary(curve, entries)
    say(f"growth: {curve.name}: {found['y']} {curve.unit}, {found['note']}")
    return found


def _filled(keep: Keep, curve: Curve, size: int, server: Postgres | None) -> str:
    """A place with so many rows, for as long as its curve is measured."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    place = server.database() if server else keep(TemporaryDirectory(dir=FOLDER))
    by_command(Entry(FILLING, str(curve.filled), size, seconds_max=PROCESS_SECONDS_MAX), place)
    return place


def _sample(entry: Entry, place: str | None) -> Sample:
    sample = in_a_folder(entry) if place is None else by_command(entry, place)
    say(f"  {entry.workload}, {entry.size:,}: {sample['cpu_us']:.0f} µs")
    return sample


def summary(curve: Curve, entries: Sequence[Entry]) -> Found:
    """The curve as `growth.json` has it."""
    costs = [entry.values("cpu_us") for entry in entries]
    middles = [median(values) for values in costs]
    probes = [one for entry in entries for one in entry.probes_ms]
    return {
        "name": curve.name,
        "title": curve.title,
        "x_label": curve.x_label,
        "x": [entry.size for entry in entries],
        "y": [rounded(middle) for middle in middles],
        "unit": curve.unit,
        "note": note(curve, middles),
        "ratio": rounded(middles[-1] / middles[0]),
        "probe_ms": round(median(probes), 1),
        "spread": [[rounded(min(values)), rounded(max(values))] for values in costs],
        "rounds": [len(values) for values in costs],
        "peak_mib": [rounded(max(entry.values("peak_mib"))) for entry in entries],
    }


def note(curve: Curve, costs: Sequence[float]) -> str:
    """Flat, or the reason. What costs less at a larger size is no growth, and is said."""
    lowest, highest = min(costs) / costs[0], max(costs) / costs[0]
    if highest > FLAT_RATIO_MAX:
        return curve.reason or f"up to {highest:.1f} of the first, and the reason is not known"
    if lowest * FLAT_RATIO_MAX < 1:
        return f"no growth: what is done once is shared by more, down to {lowest:.2f} of the first"
    return f"flat: within {lowest:.2f} to {highest:.2f} of the first"
