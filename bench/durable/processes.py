"""What a process costs that begins: a cold start, and going on after a kill."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bench.contest import ANEW, Entry, Side, contend
from bench.figures import Workload, compared, figure
from bench.stage import Stage
from bench.startup import anew_command

COLD_STEPS = 3
COLD_PEERS = ("dbos", "burr", "langgraph", "noetl")
KILLED_STEPS = 20
RESUMED_PEERS = ("dbos", "burr", "restate", "prefect", "attractor")

COLD_DBOS_RATIO = "≤ 0.35"
COLD_BURR_RATIO = "< 1"
PEAK_MB = "≤ 60"
MEGABYTES_PER_MIB = 1.048576
RESUME_DBOS_RATIO = "≤ 0.3"
AGAIN = "≤ 1"
# The commands that own a file; a killed one goes on within twice the time it takes to start.
OWNERS = ("run", "serve")
RECOVERY_COLD_RATIO = "≤ 2"


def cold(stage: Stage) -> Iterator[Workload]:
    bare = Side("python -c pass", (sys.executable, "-c", "pass"), is_ours=True)
    commands = {"anew": ANEW, "bare": bare} | {key: stage.peer(key) for key in COLD_PEERS}
    entries = {
        key: stage.entry(_from_nothing(key, side), "cold", COLD_STEPS)
        for key, side in commands.items()
    }
    contend(entries.values())
    work = compared(
        "durable.cold",
        f"cold start, {COLD_STEPS} steps",
        "s",
        entries=entries,
        values=lambda entry: entry.values("seconds"),
    )
    work.alone().beside("dbos", COLD_DBOS_RATIO).beside("burr", COLD_BURR_RATIO)
    yield work.beside_each("langgraph noetl bare")
    memory = compared(
        "durable.cold-memory",
        f"cold start, {COLD_STEPS} steps, peak memory",
        "MB",
        entries=entries,
        values=lambda entry: [MEGABYTES_PER_MIB * one for one in entry.values("peak_mib")],
    )
    yield memory.alone(PEAK_MB).beside_each(" ".join(COLD_PEERS))


def _from_nothing(key: str, side: Side) -> Side:
    """The same side, started from nothing each time."""
    if side.reason is not None:
        return side
    words = {
        "anew": [*anew_command(), "run", "PLAYBOOK", "--db", "FOLDER/anew.db", "--quiet"],
        "noetl": [str(Path(side.command[0]).parent / "noetl"), "run", "PLAYBOOK"],
        "bare": list(side.command),
    }.get(key, [*side.command, "cold", str(COLD_STEPS), "FOLDER"])
    timer = str(Path(__file__).parent / "cold.py")
    return Side(side.name, (sys.executable, "-I", timer, *words), is_ours=side.is_ours)


def resume(stage: Stage) -> Iterator[Workload]:
    """From the second process's start to its first step, after the first was killed."""
    ours = Side(ANEW.name, (sys.executable, "-m", "bench.durable.resume"), is_ours=True)
    others = stage.entries("resume", dict.fromkeys(RESUMED_PEERS, KILLED_STEPS))
    entries = {"anew": stage.entry(ours, "resume", KILLED_STEPS), **others}
    contend(entries.values())
    work = compared(
        "durable.resume",
        "resume after SIGKILL, to the first new task",
        "s",
        entries=entries,
        values=lambda entry: entry.values("seconds"),
    )
    work.alone().beside("dbos", RESUME_DBOS_RATIO)
    yield work.beside_each(" ".join(key for key in RESUMED_PEERS if key != "dbos"))
    yield _again(entries)


def recovery(stage: Stage) -> Iterator[Workload]:
    """From the start of a command to its first task, when the owner before it was killed."""
    side = Side(ANEW.name, (sys.executable, "-m", "bench.durable.recovery"), is_ours=True)
    entries = {owner: stage.entry(side, owner, KILLED_STEPS) for owner in OWNERS}
    contend(entries.values())
    for owner, entry in entries.items():
        killed = figure(entry, entry.values("seconds"))
        cold = figure(entry, entry.values("cold_seconds"), "its cold start")
        title = f"recovery of a killed owner (`anew {owner}`), to the first task"
        figures = {"anew": killed, "cold": cold}
        work = Workload(f"durable.recovery-{owner}", title, "s", figures)
        yield work.alone().beside("cold", RECOVERY_COLD_RATIO)


def _again(entries: dict[str, Entry]) -> Workload:
    """How many tasks were executed twice, in the worst round."""
    figures = {
        key: figure(entry, [float(max(entry.values("again")))] if entry.samples else [])
        for key, entry in entries.items()
    }
    title = "tasks executed again after SIGKILL, worst round"
    return Workload("durable.resume-again", title, "tasks", figures).alone(AGAIN)
