"""Measure this checkout beside another one, in turns: did a change make anything slower?

`python -m bench.versions ../before` plays the durable workloads with both, each sample in a process
of its own. Each plays its own workloads (`bench/durable`), because they name modules of `src`; keep
those the same in both. Prints a table, or with `--json` a list, like `python -m bench`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.__main__ import table
from bench.contest import ANEW, ROUNDS, Entry, Side, contend, say
from bench.figures import Workload, compared
from bench.machine import machine_line
from bench.results import complete

# Both sides of a contest differ by as much when they are the same code on a machine that is quiet.
TARGET = "≥ 0.95"
WORKLOADS = {
    "steps": (1_000, "one run of 1,000 steps", "steps/s"),
    "items": (5_000, "parallel loop of 5,000 items", "items/s"),
    "runs": (200, "200 runs of 5 steps", "runs/s"),
    "nodes": (500, "a graph of 500 nodes", "nodes/s"),
    "code": (400, "one run of 400 python tasks", "tasks/s"),
    "code_runs": (100, "100 runs of one python task", "runs/s"),
}


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__)
    parser.add_argument("other", type=Path, help="a checkout of the other version")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(WORKLOADS)} (default: all)")
    parser.add_argument("--json", action="store_true", help="print a JSON list of rows")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of each side ({ROUNDS})")
    asked = parser.parse_args(words)
    other = asked.other.resolve()
    if not (other / "src" / "anew").is_dir():
        parser.error(f"{asked.other} is no checkout of Anew: there is no src/anew in it")
    if unknown := sorted(set(asked.names) - set(WORKLOADS)):
        parser.error(f"there is no workload {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    print(machine_line(), file=sys.stderr if asked.json else sys.stdout, flush=True)
    rows = [
        complete(row)
        for work in _measured(other, asked.names or list(WORKLOADS), asked.rounds)
        for row in work.rows
    ]
    print(json.dumps(rows, indent=1, ensure_ascii=False) if asked.json else "\n".join(table(rows)))
    return 0


def _measured(other: Path, names: Sequence[str], rounds: int) -> Iterator[Workload]:
    there = ("env", "-C", str(other), f"PYTHONPATH={other / 'src'}")
    before = Side("the other version", (*there, *ANEW.command))
    for name in names:
        size, title, unit = WORKLOADS[name]
        say(title)
        sides = {"anew": ANEW, "before": before}
        entries = {key: Entry(side, name, size, rounds=rounds) for key, side in sides.items()}
        contend(entries.values())
        work = compared(f"versions.{name}", title, unit, entries=entries, values=Entry.rates)
        yield work.beside("before", TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
