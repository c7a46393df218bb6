"""Run the benchmarks: `python -m bench` prints a table, `--json` a JSON list and nothing else.

`python -m bench durable.steps cluster` measures these parts only. Everything together is also
written to `build/bench/results.json`, for `python -m bench.report`; parts are written beside it.
What a figure is worth depends on the machine, so its load and its speed are said first, on standard
error when the output is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from time import monotonic

from bench.contest import ROUNDS, SideFailed, say
from bench.figures import Row
from bench.machine import machine_line
from bench.results import FILE, PART, Results, complete, written
from bench.selection import NAMES, UnknownPart, measured, selected

# The longest texts are last.
SHOWN = ("name", "value", "unit", "ratio", "target", "met", "spread", "probe_ms", "peer")


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print. A missed target is said in its row: a busy machine is not an error."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Anew.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--json", action="store_true", help="print a JSON list of rows")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of each side ({ROUNDS})")
    asked = parser.parse_args(words)
    try:
        parts = selected(asked.names)
    except UnknownPart as unknown:
        parser.error(str(unknown))
    print(machine_line(), file=sys.stderr if asked.json else sys.stdout, flush=True)
    results, begun, problem = Results(asked.rounds), monotonic(), None
    try:
        for found in measured(parts, asked.rounds):
            results.add(found)
    except SideFailed as failed:
        problem = failed
        say(f"bench: {problem}. What was measured until then follows.")
    place = written(results, PART if asked.names or problem else FILE)
    say(f"measured in {monotonic() - begun:.0f} s; see {place}")
    rows = [complete(row) for row in results.rows]
    print(json.dumps(rows, indent=1, ensure_ascii=False) if asked.json else "\n".join(table(rows)))
    return 1 if problem else 0


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Aligned columns under their names; then how many targets were met."""
    rows = list(rows)
    cells = [list(SHOWN), *([cell(row.get(key)) for key in SHOWN] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(SHOWN))]
    for line in cells:
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip()
    verdicts = [row["met"] for row in rows if row["met"] is not None]
    unjudged = sum(row["target"] is not None and row["met"] is None for row in rows)
    more = f", {unjudged} could not be judged" if unjudged else ""
    yield f"{sum(verdicts)} of {len(verdicts)} targets are met{more}"


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
