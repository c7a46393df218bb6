"""Measure how costs grow: `python -m bench.growth` prints a table, `--json` a JSON list instead.

What was found goes to `build/bench/growth.json` as well, where curves that were not asked for stay
as they are. Knows nothing of what is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bench.contest import FOLDER, SideFailed
from bench.growth.curves import CURVES
from bench.growth.playing import Found, played
from bench.machine import machine_line

FILE = FOLDER / "growth.json"


def main(words: Sequence[str] | None = None) -> int:
    names = [curve.name for curve in CURVES]
    parser = argparse.ArgumentParser(
        prog="python -m bench.growth", description="Measure how the cost of a transition grows."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--json", action="store_true", help="print a JSON list of curves")
    asked = parser.parse_args(words)
    unknown = sorted(set(asked.names) - set(names))
    if unknown:
        parser.error(f"there is no curve {unknown[0]!r}; there are {', '.join(names)}")
    print(machine_line(), file=sys.stderr if asked.json else sys.stdout, flush=True)
    wanted = [curve for curve in CURVES if curve.name in (asked.names or names)]
    try:
        found = [kept(curve, FILE) for curve in played(wanted)]
    except SideFailed as error:
        raise SystemExit(f"growth: {error}") from None
    print(as_json(found) if asked.json else "\n".join(table(found)))
    return 0


def kept(found: Found, file: Path) -> Found:
    """Write a curve beside those that the file has, in the order of the table."""
    file.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    by_name = {curve["name"]: curve for curve in (*before, found)}
    ordered = [by_name[curve.name] for curve in CURVES if curve.name in by_name]
    file.write_text(as_json(ordered) + "\n", encoding="utf-8")
    return found


def as_json(found: Sequence[Found]) -> str:
    return json.dumps(found, indent=1, ensure_ascii=False)


def table(found: Iterable[Found]) -> Iterator[str]:
    """A curve is a paragraph: its name and what is to be said of it, then a line for each size."""
    for curve in found:
        yield ""
        yield f"{curve['name']}: {curve['title']} · ratio {curve['ratio']:g} · {curve['note']}"
        points = zip(curve["x"], curve["y"], curve["spread"], curve["peak_mib"], strict=True)
        for size, cost, (low, high), peak in points:
            between = f"[{low:,g} to {high:,g}]"
            yield (
                f"  {size:>9,} {curve['x_label']:<18} {cost:>9,g} {curve['unit']}"
                f"  {between:<20} {peak:>6,.0f} MiB"
            )


if __name__ == "__main__":
    raise SystemExit(main())
