"""Which benchmarks there are, which of them are asked for, and how they are run.

`durable` and `cluster` are contests of several parts, `durable.steps` is one of these. The others
measure one thing in this process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module

from bench.contest import say
from bench.figures import Row, Workload
from bench.machine import probe

ALONE = ("startup", "expressions", "engine", "hostile", "graphs", "page", "evaluation", "health")
CONTESTS = ("durable", "cluster")
NAMES = (*ALONE, *CONTESTS)


class UnknownPart(Exception):
    """There is no benchmark of this name."""


def selected(names: Iterable[str]) -> dict[str, list[str]]:
    """The parts of each benchmark that is asked for, in the order they are measured in."""
    parts = {name: _parts(name) for name in NAMES}
    known = [*NAMES, *(f"{name}.{part}" for name in NAMES for part in parts[name])]
    asked = set(names) or set(NAMES)
    for unknown in sorted(asked - set(known)):
        raise UnknownPart(f"there is no benchmark {unknown!r}; there are {', '.join(known)}")
    chosen = {
        name: parts[name]
        if name in asked
        else [part for part in parts[name] if f"{name}.{part}" in asked]
        for name in NAMES
    }
    return {name: found for name, found in chosen.items() if found or name in asked}


def _parts(name: str) -> list[str]:
    return list(import_module(f"bench.{name}.parts").PARTS) if name in CONTESTS else []


def measured(parts: Mapping[str, Sequence[str]], rounds: int) -> Iterator[Workload | Sequence[Row]]:
    """What each benchmark found: its contests, or its rows."""
    for name, chosen in parts.items():
        if name in CONTESTS:
            yield from import_module(f"bench.{name}.parts").measure(chosen, rounds)
            continue
        say(name)
        probe_ms = round(1000 * probe()[0], 1)
        yield [{"probe_ms": probe_ms} | row for row in import_module(f"bench.{name}").measure()]
