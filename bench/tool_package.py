"""A package that brings the tools of the benchmarks, as an installer would leave it.

`anew` finds it on its path, like the tools of anybody else.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.contest import ROOT, environment

POINTS = """\
[anew.tools]
stamp = bench.cluster.stamp_tool:StampTool
tick = bench.durable.tick_tool:TickTool
"""


def register(folder: Path) -> None:
    """Write the package's record into a folder."""
    record = folder / "anew_bench-0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Name: anew-bench\nVersion: 0\n", encoding="utf-8")
    (record / "entry_points.txt").write_text(POINTS, encoding="utf-8")


def settings(folder: Path) -> dict[str, str]:
    """The environment of an `anew` that finds the package in this folder.

    It has nothing of whoever measures: neither their database nor their settings.
    """
    kept = {k: v for k, v in environment().items() if not k.startswith(("ANEW_", "PG", "OTEL_"))}
    found = os.pathsep.join(map(str, (ROOT, folder)))
    return kept | {"PYTHONPATH": found, "ANEW_SCRATCH": str(folder / "scratch")}
