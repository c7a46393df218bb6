"""The machine's own limits, measured like a side: what durable writing costs without an engine.

`python -m bench.durable.limits commits|fsyncs SIZE FOLDER` prints one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import apsw

# What the six events of one step of a chain take in the table of events.
ROW_BYTES = 850
PAGE_BYTES = 4096
WARM_COMMITS = 50


def commits(size: int, folder: Path) -> dict[str, Any]:
    """`size` transactions of one row, each on disk before the next: WAL, synchronous=FULL."""
    connection = apsw.Connection(str(folder / "raw.db"))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "FULL")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, data TEXT)")
    data = "x" * ROW_BYTES
    for _ in range(WARM_COMMITS):
        connection.execute("INSERT INTO rows (data) VALUES (?)", (data,))
    wall, cpu = perf_counter(), process_time()
    for _ in range(size):
        connection.execute("INSERT INTO rows (data) VALUES (?)", (data,))
    sample = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
    connection.close()
    return sample


def fsyncs(size: int, folder: Path) -> dict[str, Any]:
    """How long the disk takes to keep one more page."""
    page, taken = b"x" * PAGE_BYTES, []
    with open(folder / "pages", "wb", buffering=0) as file:
        for _ in range(size):
            begun = perf_counter()
            file.write(page)
            os.fsync(file.fileno())
            taken.append((perf_counter() - begun) * 1000)
    return {"taken_ms": taken}


MEASURES: dict[str, Callable[[int, Path], dict[str, Any]]] = {"commits": commits, "fsyncs": fsyncs}


if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))))
