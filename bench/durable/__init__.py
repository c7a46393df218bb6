"""What durable runs cost on one machine: a SQLite file on a real disk, every commit flushed.

The workloads are those of the project's goals: a long run, many short ones, a wide loop, retries,
a cold start, and growth. Each stands beside the machine's own limits and beside other engines
doing the same, in turns. Three to six minutes, most of them the peers'; the first time, they are
installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["measure"]


def measure() -> Iterator[dict[str, Any]]:
    """Rows for `make bench`."""
    from bench.durable import workloads

    return workloads.measure()
