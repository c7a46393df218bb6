"""Let several sides do a workload in turns, each time in a process and a folder of its own.

A side is a command that takes a workload's name, a size and a folder, and prints one JSON object:
a sample, or `{"reason": …}` when it cannot do that. In turns, so that a busy moment of the machine
or the disk hits all of them alike. Knows nothing of what is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from msgspec import Struct, field

from bench.machine import probe

Sample: TypeAlias = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
# On the disk of the checkout: the system's folder for temporary files may be memory.
FOLDER = ROOT / "build" / "bench"
SAMPLE_SECONDS_MAX = 120


class Side(Struct, frozen=True):
    """Who does it. Without a command it is not here, for this `reason`."""

    name: str
    command: tuple[str, ...] = ()
    reason: str | None = None


class Entry(Struct):
    """One side's part in a contest, and what came of it."""

    side: Side
    workload: str
    size: int
    rounds: int
    samples: list[Sample] = field(default_factory=list)
    probes_ms: list[float] = field(default_factory=list)
    reason: str | None = None

    def values(self, key: str) -> list[Any]:
        """What each round has under this key."""
        return [sample[key] for sample in self.samples]

    def rates(self, per_size: int = 1) -> list[float]:
        """How many of what the workload counts, a second, in each round."""
        return [per_size * self.size / seconds for seconds in self.values("seconds")]

    def probe_ms(self) -> float | None:
        return round(median(self.probes_ms), 1) if self.probes_ms else None


Play: TypeAlias = Callable[[Entry], Sample]

ANEW = Side("Anew", (sys.executable, "-m", "bench.durable.ours"))
MACHINE = Side("the machine", (sys.executable, "-m", "bench.durable.limits"))


def environment() -> dict[str, str]:
    """Compiled modules are cached, as they are for everyone from the second call on."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(FOLDER / "cache")}


def contend(entries: Iterable[Entry], play: Play | None = None) -> None:
    """Play every round of every entry, in turns; `play` in another way than by its command."""
    entries = list(entries)
    for number in range(max(entry.rounds for entry in entries)):
        for entry in entries:
            if number < entry.rounds and entry.reason is None:
                _play(entry, play or _sample)


def _play(entry: Entry, play: Play) -> None:
    if entry.side.reason is not None:
        entry.reason = entry.side.reason
        return
    wall, _ = probe(rounds=1)
    sample = play(entry)
    if "reason" in sample:
        entry.reason = sample["reason"]
    else:
        entry.probes_ms.append(wall * 1000)
        entry.samples.append(sample)


def _sample(entry: Entry) -> Sample:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=FOLDER) as folder:
        command = [*entry.side.command, entry.workload, str(entry.size), folder]
        try:
            done = subprocess.run(
                command,
                check=False,
                capture_output=True,
                text=True,
                cwd=ROOT,
                env=environment(),
                timeout=SAMPLE_SECONDS_MAX,
            )
        except subprocess.TimeoutExpired:
            return _failed(entry, f"it took longer than {SAMPLE_SECONDS_MAX} s")
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        return _failed(entry, (done.stderr.strip().splitlines() or ["it printed nothing"])[-1])
    sample: Sample = json.loads(lines[-1])
    return sample


def _failed(entry: Entry, why: str) -> Sample:
    """Only a peer may fail: that is its figure."""
    if entry.side in (ANEW, MACHINE):
        raise RuntimeError(f"{entry.side.name}, {entry.workload} {entry.size}: {why}")
    return {"reason": f"failed: {why}"}
