"""What machine this is, and what it gives at this moment: its load, and a fixed piece of Python.

A figure is worth little without it, because the machines that measure are rarely idle.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
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


def machine() -> dict[str, str]:
    """What a reader needs to know of it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    release = platform.release().partition("-")[0]
    return {
        "cores": f"{os.cpu_count()}, {_processor()}",
        "memory": f"{memory:.0f} GiB",
        "disk": disk(Path(__file__).parent),
        "system": f"{platform.system()} {release}, {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Of the libraries that we measure with."""
    import apsw

    names = ("anew", "psycopg", "msgspec", "uvloop")
    found = {"Python": platform.python_version(), "SQLite": apsw.sqlite_lib_version()}
    return found | {name: version(name) for name in names}


def disk(folder: Path) -> str:
    """The kind of the file system, where the system tells."""
    mounts = _lines("/proc/self/mounts")
    places = [(line.split()[1], line.split()[2]) for line in mounts]
    fitting = [place for place in places if folder.resolve().is_relative_to(place[0])]
    return max(fitting, key=lambda place: len(place[0]))[1] if fitting else "file system unknown"


def _processor() -> str:
    models = [line for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    return models[0].partition(": ")[2] if models else platform.processor()


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
