"""Run every benchmark: `python -m bench` prints a table, `--json` a JSON list and nothing else.

A benchmark is a module of this folder with `measure()`, which returns rows of the keys in KEYS.
Knows nothing of what is measured. What a figure is worth depends on the machine, so the load and
the speed of the machine are said first, on standard error when the output is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from statistics import median
from time import perf_counter, process_time
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]

BENCHMARKS = ("startup", "expressions", "engine", "hostile")
KEYS = ("name", "value", "unit", "peer", "ratio", "target", "met")

PROBE_ROUNDS = 5
PROBE_ADDITIONS = 1_000_000


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print. A missed target is said in its row: a busy machine is not an error."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Anew.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", action="store_true", help="print a JSON list of rows")
    asked = parser.parse_args(words)
    unknown = sorted(set(asked.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}")
    print(machine_line(), file=sys.stderr if asked.json else sys.stdout, flush=True)
    rows = [complete(row) for row in measured(asked.names or BENCHMARKS)]
    if asked.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        print("\n".join(table(rows)))
    return 0


def measured(names: Iterable[str]) -> Iterator[Row]:
    for name in names:
        yield from import_module(f"bench.{name}").measure()


def complete(row: Row) -> Row:
    """The row with every key, in the order of KEYS."""
    return {key: row.get(key) for key in KEYS}


def machine_line() -> str:
    """How busy the machine is, and how long a fixed piece of Python takes on it."""
    load = " ".join(f"{one:.2f}" for one in os.getloadavg())
    wall, cpu = (1000 * seconds for seconds in probe())
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        f"load {load} on {os.cpu_count()} cores · Python {python} · "
        f"probe {wall:.1f} ms wall, {cpu:.1f} ms CPU"
    )


def probe() -> tuple[float, float]:
    """Median seconds, wall and CPU, of a loop that only this interpreter's speed decides."""
    walls, cpus = [], []
    for _ in range(PROBE_ROUNDS):
        wall, cpu, total = perf_counter(), process_time(), 0
        for number in range(PROBE_ADDITIONS):
            total += number
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
    return median(walls), median(cpus)


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Aligned columns under their names."""
    cells = [list(KEYS), *([cell(row[key]) for key in KEYS] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(KEYS))]
    for line in cells:
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip()


def cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "NO"
        case float() if abs(value) < 1000:
            return f"{value:.3g}"
        case int() | float():
            return f"{value:,.0f}"
        case _:
            return str(value)


if __name__ == "__main__":
    raise SystemExit(main())
