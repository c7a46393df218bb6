"""What the machine gives at this moment: its load, and the time of a fixed piece of Python.

A figure is worth little without it, because the machines that measure are rarely idle.
"""

from __future__ import annotations

import os
import sys
from statistics import median
from time import perf_counter, process_time

PROBE_ROUNDS = 5
PROBE_ADDITIONS = 1_000_000


def machine_line() -> str:
    """How busy the machine is, and how long a fixed piece of Python takes on it."""
    load = " ".join(f"{one:.2f}" for one in os.getloadavg())
    wall, cpu = (1000 * seconds for seconds in probe())
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        f"load {load} on {os.cpu_count()} cores · Python {python} · "
        f"probe {wall:.1f} ms wall, {cpu:.1f} ms CPU"
    )


def probe(rounds: int = PROBE_ROUNDS) -> tuple[float, float]:
    """Median seconds, wall and CPU, of a loop that only this interpreter's speed decides."""
    walls, cpus = [], []
    for _ in range(rounds):
        wall, cpu, total = perf_counter(), process_time(), 0
        for number in range(PROBE_ADDITIONS):
            total += number
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
    return median(walls), median(cpus)
