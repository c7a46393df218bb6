"""`python -m bench.report` writes `docs/benchmarks.md` and the plots beside it.

The figures are those of `build/bench/results.json` and `build/bench/growth.json`; nothing is
measured here. `python -m bench.report FILE` reads other results, such as those of some parts. The
texts about them that a person wrote are in `notes.md`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.contest import FOLDER, ROOT
from bench.report.notes import Notes
from bench.report.page import page
from bench.report.pictures import pictures
from bench.results import FILE, read

DOCS = ROOT / "docs"
GROWTH = FOLDER / "growth.json"


def main(results_file: Path = FILE, growth_file: Path = GROWTH, docs: Path = DOCS) -> int:
    """Write the page; 2 when nothing was measured yet."""
    if not results_file.exists():
        print(f"{results_file} is not there: run `make bench` first", file=sys.stderr)
        return 2
    results = read(results_file)
    growth: list[dict[str, Any]] = (
        json.loads(growth_file.read_text(encoding="utf-8")) if growth_file.exists() else []
    )
    folder = docs / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    drawn = pictures(results, growth)
    for name, text in drawn.items():
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")
    for old in folder.glob("*.svg"):
        if old.stem not in drawn:
            old.unlink()
    has_next = (docs / "past-one-machine.md").exists()
    text = page(results, growth, notes=Notes.read(), drawn=set(drawn), has_next=has_next)
    (docs / "benchmarks.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*map(Path, sys.argv[1:2])))
