"""Python tasks: many in one run, and one in each of many runs, which share no process."""

from __future__ import annotations

from collections.abc import Iterator

from bench.contest import ANEW, Entry, contend
from bench.figures import Workload, compared
from bench.stage import Stage

TASKS = 1_000
RUNS = 200


def code(stage: Stage) -> Iterator[Workload]:
    """The peers call functions of their own process, which is not the same."""
    shapes = {
        "code": (TASKS, f"run of {TASKS:,} python tasks"),
        "code_runs": (RUNS, f"{RUNS} runs of one python task"),
    }
    for name, (size, title) in shapes.items():
        entries = {"anew": stage.entry(ANEW, name, size)}
        contend(entries.values())
        yield compared(
            f"durable.{name.replace('_', '-')}",
            f"{title}, SQLite embedded",
            "tasks/s",
            entries=entries,
            values=Entry.rates,
        ).alone()
