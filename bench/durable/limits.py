"""The machine's own limits, measured like a side: what it gives without an engine.

`python -m bench.durable.limits WORKLOAD SIZE FOLDER` prints one JSON object.
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
import msgspec

from anew.expressions import MappingScope, compile_template
from bench.expressions import DATA, TEMPLATES

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

    def commit() -> None:
        connection.execute("INSERT INTO rows (data) VALUES (?)", (data,))

    _repeated(commit, WARM_COMMITS)
    sample = _repeated(commit, size)
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


def encodings(size: int, folder: Path) -> dict[str, Any]:
    """Encode and decode an object of about 850 bytes, as the rows of a log are."""
    del folder
    encoder, decoder = msgspec.json.Encoder(), msgspec.json.Decoder()
    rows = [{"name": f"event {n}", "at": 10**18 + n, "data": "x" * 100} for n in range(6)]
    return _repeated(lambda: decoder.decode(encoder.encode(rows)), size)


def templates(size: int, folder: Path) -> dict[str, Any]:
    """Evaluate a compiled template with three expressions in it."""
    del folder
    template, scope = compile_template(TEMPLATES["url"]), MappingScope(DATA)
    return _repeated(lambda: template.evaluate(scope), size)


def _repeated(act: Callable[[], object], times: int) -> dict[str, Any]:
    wall, cpu = perf_counter(), process_time()
    for _ in range(times):
        act()
    return {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}


MEASURES: dict[str, Callable[[int, Path], dict[str, Any]]] = {
    "commits": commits,
    "fsyncs": fsyncs,
    "json": encodings,
    "templates": templates,
}


if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))))
