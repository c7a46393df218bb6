"""Run every benchmark: `python -m bench` prints a table, `--json` a JSON list and nothing else.

A benchmark is a module of this folder with `measure()`, which returns rows of the keys in KEYS.
Knows nothing of what is measured. What a figure is worth depends on the machine, so the load and
the speed of the machine are said first, on standard error when the output is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from bench.machine import machine_line

Row: TypeAlias = dict[str, Any]

BENCHMARKS = ("startup", "expressions", "engine", "hostile", "graphs", "durable", "cluster")
KEYS = ("name", "value", "unit", "peer", "ratio", "target", "met")
# What only some rows have: the lowest and highest round, and the probe beside them.
MORE_KEYS = ("spread", "probe_ms")


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
    """The row with every key, in the order of KEYS; then those of MORE_KEYS that it has."""
    more = {key: row[key] for key in MORE_KEYS if row.get(key) is not None}
    return {key: row.get(key) for key in KEYS} | more


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Aligned columns under their names."""
    shown = (*KEYS, *MORE_KEYS)
    cells = [list(shown), *([cell(row.get(key)) for key in shown] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(shown))]
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
        case [low, high]:
            return f"{cell(low)} to {cell(high)}"
        case _:
            return str(value)


if __name__ == "__main__":
    raise SystemExit(main())
