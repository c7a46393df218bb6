"""What was measured, as `build/bench/results.json` keeps it: rows, contests, machine, versions.

Read by `bench/report`, and by whoever compares two machines. Decides nothing about the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from bench.cluster import postgres
from bench.contest import FOLDER, ROOT
from bench.figures import Row, Workload
from bench.machine import machine, versions
from bench.peers.environments import PEERS, SETTINGS

KEYS = ("name", "value", "unit", "peer", "ratio", "target", "met")
# What only some rows have: the lowest and highest round, the probe beside them, and their contest.
MORE_KEYS = ("spread", "probe_ms", "workload")
FILE = FOLDER / "results.json"
# Where only some parts were measured, or something failed.
PART = FOLDER / "part.json"


# What is measured is set up as it is delivered, but for what is said here.
OURS = {
    "Anew, SQLite": "one process with the embedded runtime and 32 slots; WAL, synchronous=FULL",
    "Anew, PostgreSQL": (
        "`anew serve --no-workers` and two `anew worker` of 32 slots on the loopback, by HTTP "
        "(`--server`) or with connections of their own (`--db`); 64 connections ask for runs"
    ),
    "PostgreSQL": (
        "the settings it is delivered with, fsync and synchronous_commit on; one for everybody, a "
        "database for each"
    ),
}


def settings() -> dict[str, str]:
    """How everyone who is measured is set up."""
    return OURS | {PEERS[key].title: told for key, told in SETTINGS.items()}


def _versions() -> dict[str, str]:
    """Of what we measure with; a peer's is in its name."""
    return {**versions(), "PostgreSQL": postgres.version()}


class Results(msgspec.Struct):
    """All of it; `measured_on` is the day, `rounds` how often each side took part."""

    rounds: int
    rows: list[Row] = msgspec.field(default_factory=list)
    workloads: list[Workload] = msgspec.field(default_factory=list)
    machine: dict[str, str] = msgspec.field(default_factory=machine)
    versions: dict[str, str] = msgspec.field(default_factory=_versions)
    settings: dict[str, str] = msgspec.field(default_factory=settings)
    measured_on: str = msgspec.field(default_factory=lambda: datetime.now(UTC).date().isoformat())

    def add(self, found: Workload | Sequence[Row]) -> None:
        if isinstance(found, Workload):
            self.workloads.append(found)
            self.rows += found.rows
        else:
            self.rows += found


def complete(row: Row) -> dict[str, Any]:
    """The row with every key, in the order of KEYS; then those of MORE_KEYS that it has."""
    more = {key: row[key] for key in MORE_KEYS if row.get(key) is not None}
    return {key: row.get(key) for key in KEYS} | more


def written(results: Results, file: Path) -> Path:
    """Keep them; where, seen from the project."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1))
    return file.relative_to(ROOT) if file.is_relative_to(ROOT) else file


def read(file: Path = FILE) -> Results:
    return msgspec.json.decode(file.read_bytes(), type=Results)
