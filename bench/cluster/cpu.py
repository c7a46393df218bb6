"""CPU time of processes that are not ours to ask, as Linux tells it in `/proc`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")


def is_told() -> bool:
    """Whether this system tells."""
    return (PROC / "self" / "stat").exists()


def seconds_of(pids: Iterable[int]) -> float:
    """What these processes have used, all threads together; 0 where the system does not tell."""
    return sum(_ticks(_fields(pid), children=False) for pid in pids) / _ticks_per_second()


def seconds_of_family(pid: int) -> float:
    """What a process and its children have used, those that have ended included."""
    ticks = _ticks(_fields(pid), children=True)
    for found in PROC.iterdir() if is_told() else ():
        fields = _fields(int(found.name)) if found.name.isdigit() else []
        if fields and int(fields[1]) == pid:
            ticks += _ticks(fields, children=False)
    return ticks / _ticks_per_second()


def _fields(pid: int) -> list[str]:
    """From the state on: the name before it may have any character. Empty once it has ended."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _ticks(fields: list[str], *, children: bool) -> int:
    return sum(map(int, fields[11 : 15 if children else 13]))


def _ticks_per_second() -> int:
    return os.sysconf("SC_CLK_TCK")
