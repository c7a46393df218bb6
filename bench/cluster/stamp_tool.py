"""A tool that tells when it was called, and fails as often as it is asked to.

Workers load it like any tool that a package brings. The log says when an attempt was decided; what
somebody waits for is the call, which comes after the commit.
"""

from __future__ import annotations

import time
from pathlib import Path

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call


class StampTool:
    """Input `fails`: how many attempts are in error before one is not."""

    async def call(self, call: Call) -> Outcome:
        called_at = time.time_ns()
        if call.place.attempt <= int(call.inputs.get("fails") or 0):
            return outcome_of(error={"kind": "connection", "message": "not yet", "retryable": True})
        return outcome_of({"called_at": called_at})

    async def close(self) -> None:
        """Nothing was opened."""


def register(folder: Path) -> None:
    """Write what an installer would leave of a package that brings the tool."""
    record = folder / "anew_bench-0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Name: anew-bench\nVersion: 0\n", encoding="utf-8")
    points = "[anew.tools]\nstamp = bench.cluster.stamp_tool:StampTool\n"
    (record / "entry_points.txt").write_text(points, encoding="utf-8")
