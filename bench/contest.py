"""Let several sides do a workload in turns, each time in a process and a folder of its own.

A side is a command that takes a workload's name, a size and a place, and prints one JSON object:
a sample, or `{"reason": …}` when it cannot do that. In turns, so that a busy moment of the machine
or the disk hits all of them alike. Knows nothing of what is measured.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, time
from typing import Any, TypeAlias

from msgspec import Struct, field

from bench.machine import probe
from bench.peers.measuring import BEGUN

Sample: TypeAlias = dict[str, Any]

ROOT = Path(__file__).resolve().parents[1]
# On the disk of the checkout: the system's folder for temporary files may be memory.
FOLDER = ROOT / "build" / "bench"
ROUNDS = 5
SAMPLE_SECONDS_MAX = 60.0
_BEGUN = monotonic()


class Side(Struct, frozen=True):
    """Who does it. Without a command it is not here, for this `reason`."""

    name: str
    command: tuple[str, ...] = ()
    reason: str | None = None
    is_ours: bool = False


class Entry(Struct):
    """One side's part in a contest, and what came of it.

    `play` makes a sample in another way than by the side's command in a new folder.
    With `is_cut` a sample that takes longer than `seconds_max` counts as if it had just been done
    then: the side is no faster than that. Without, it is the reason why there is no figure.
    """

    side: Side
    workload: str
    size: int
    rounds: int = ROUNDS
    seconds_max: float = SAMPLE_SECONDS_MAX
    is_cut: bool = False
    play: Callable[[Entry], Sample] | None = None
    samples: list[Sample] = field(default_factory=list)
    probes_ms: list[float] = field(default_factory=list)
    spent_seconds: float = 0.0
    reason: str | None = None

    def values(self, key: str) -> list[Any]:
        """What each round has under this key."""
        return [sample[key] for sample in self.samples]

    def rates(self, per_size: int = 1) -> list[float]:
        """How many of what the workload counts, a second, in each round."""
        return [per_size * self.size / seconds for seconds in self.values("seconds")]

    def probe_ms(self) -> float | None:
        return round(median(self.probes_ms), 1) if self.probes_ms else None

    def is_bound(self) -> bool:
        """Whether a sample was cut short, so that its figure is the best it may be."""
        return any(sample.get("is_cut") for sample in self.samples)


ANEW = Side("Anew", (sys.executable, "-m", "bench.durable.ours"), is_ours=True)
MACHINE = Side("the machine", (sys.executable, "-m", "bench.durable.limits"), is_ours=True)


class SideFailed(Exception):
    """A side of our own could not do its part: nothing was measured."""


def environment() -> dict[str, str]:
    """Compiled modules are cached, as they are for everyone from the second call on."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(FOLDER / "cache")}


def say(text: str) -> None:
    """Progress, with the time since the beginning, where it does not get into the figures."""
    print(f"{monotonic() - _BEGUN:5.0f} s  {text}", file=sys.stderr, flush=True)


def contend(entries: Iterable[Entry], play: Callable[[Entry], Sample] | None = None) -> None:
    """Play every round of every entry, in turns; `play` those that have no way of their own."""
    entries = list(entries)
    for number in range(max(entry.rounds for entry in entries)):
        for entry in entries:
            if number < entry.rounds and entry.reason is None:
                _play(entry, entry.play or play or in_a_folder)
    say("  " + ", ".join(f"{entry.side.name} {entry.spent_seconds:.0f} s" for entry in entries))


def _play(entry: Entry, play: Callable[[Entry], Sample]) -> None:
    if entry.side.reason is not None:
        entry.reason = entry.side.reason
        return
    wall, _ = probe(rounds=1)
    begun = monotonic()
    sample = play(entry)
    entry.spent_seconds += monotonic() - begun
    if "reason" in sample:
        entry.reason = sample["reason"]
        say(f"  {entry.side.name}, {entry.workload}: {entry.reason}")
    else:
        entry.probes_ms.append(wall * 1000)
        entry.samples.append(sample)


def in_a_folder(entry: Entry) -> Sample:
    """One sample in a new folder."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=FOLDER, ignore_cleanup_errors=True) as folder:
        return by_command(entry, folder)


def by_command(entry: Entry, place: str) -> Sample:
    """One sample at a place, by a process that leaves nothing behind."""
    try:
        said = _said([*entry.side.command, entry.workload, str(entry.size), place], entry)
    except subprocess.TimeoutExpired as over:
        return _over_time(entry, over.output or b"")
    if said.returncode or not said.lines:
        return _failed(entry, (said.errors.strip().splitlines() or ["it printed nothing"])[-1])
    sample: Sample = json.loads(said.lines[-1])
    return sample


class _Output(Struct, frozen=True):
    returncode: int
    lines: list[str]
    errors: str


def _said(command: Sequence[str], entry: Entry) -> _Output:
    """What a command printed. Whatever it started ends with it, even when it is killed."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(),
        start_new_session=True,
    )
    with process:
        try:
            out, errors = process.communicate(timeout=entry.seconds_max)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return _Output(process.returncode, out.splitlines(), errors)


def _over_time(entry: Entry, said: bytes) -> Sample:
    begun = [line.split()[1] for line in said.decode().splitlines() if line.startswith(BEGUN)]
    if entry.is_cut and begun:
        return {"seconds": time() - float(begun[-1]), "is_cut": True}
    return _failed(entry, f"it took longer than {entry.seconds_max:g} s")


def _failed(entry: Entry, why: str) -> Sample:
    """Only a peer may fail: that is its figure."""
    if entry.side.is_ours:
        raise SideFailed(f"{entry.side.name}, {entry.workload} {entry.size}: {why}")
    # Where this checkout lies is nobody's business.
    return {"reason": f"failed: {why.replace(f'{ROOT}{os.sep}', '')}"}
