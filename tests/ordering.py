"""In which order tests start, so that no process has slow ones left when the others are done.

xdist deals the tests to its processes in blocks, in the order of their collection, and a process
that has done its block takes from the end of another's. So each block starts with its share of
what is slow, and ends with small tests, of which there are thousands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

TESTS = Path(__file__).resolve().parent
# What waits for processes, browsers, servers or clocks, with about how many seconds all of it
# takes. One process has all of a row: tests of the page share a server, those of examples programs.
SLOW = {
    "web/": 110,
    "test_examples_run.py": 90,
    "cluster/": 70,
    "surfaces/cli/": 70,
    "crash/": 55,
    "abuse/test_orphans.py": 30,
    "runtime/test_coordination.py": 25,
    "test_installation.py": 20,
    "test_words.py": 20,
    "runtime/test_deaths.py": 20,
    "stores/test_postgres_failures.py": 20,
    "test_docs.py": 20,
    "surfaces/test_pytest_plugin.py": 15,
    "surfaces/api/test_serve.py": 10,
    "surfaces/api/test_described.py": 10,
    "test_site.py": 10,
}


class HasPath(Protocol):
    @property
    def path(self) -> Path: ...


T = TypeVar("T", bound=HasPath)


def arranged(tests: Sequence[T], processes: int) -> list[T]:
    """The same tests: for each process its share of what is slow, then small ones."""
    groups: dict[str | None, list[T]] = {}
    for test in tests:
        groups.setdefault(row_of(test.path), []).append(test)
    small = groups.pop(None, [])
    found: list[T] = []
    left = len(tests)
    for number, pile in enumerate(_piles(processes)):
        slow = [test for row in pile for test in groups.get(row, ())]
        # As xdist counts what each gets.
        size = left // (processes - number)
        count = max(0, size - len(slow))
        found += [*slow, *small[:count]]
        small, left = small[count:], left - size
    return found + small


def _piles(processes: int) -> list[list[str]]:
    """The rows of SLOW for each process, the longest first."""
    piles: list[list[str]] = [[] for _ in range(processes)]
    seconds = [0] * processes
    for row, takes in sorted(SLOW.items(), key=lambda entry: -entry[1]):
        least = seconds.index(min(seconds))
        piles[least].append(row)
        seconds[least] += takes
    return piles


@cache
def row_of(path: Path) -> str | None:
    """The row of SLOW that a file is in; None for all others."""
    name = path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else ""
    return next((row for row in SLOW if name.startswith(row)), None)
