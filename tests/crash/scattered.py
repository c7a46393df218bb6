"""Kills from outside: a process is watched through the log it writes, and killed at some event."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from random import Random
from typing import Any

import apsw

from tests.crash.kit import COMMAND_SECONDS_MAX, Going, Hung, World

# How long a process may live beyond the event it was to be killed at: up to about a commit or two.
LINGER_SECONDS_MAX = 0.01


def events_in(db: Path) -> int:
    """How long all logs are together; 0 while there is no database yet."""
    try:
        connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error:
        return 0
    try:
        return int(connection.execute("SELECT count(*) FROM events").get)
    except apsw.Error:  # it is being made
        return 0
    finally:
        connection.close()


def kill_after(world: World, going: Going, events: int, *, linger: float) -> bool:
    """Kill the process when so many events more are on record; False when it ended before."""
    until = time.monotonic() + COMMAND_SECONDS_MAX
    wanted = events_in(world.db) + events
    while not going.has_ended(0.001):
        if events_in(world.db) >= wanted:
            time.sleep(linger)
            going.send(signal.SIGKILL)
            world.kills += going.wait().was_killed
            return True
        if time.monotonic() > until:
            raise Hung(f"{events} events more were not written")
    return False


def scatter(world: World, commands: list[list[str]], chance: Random, *, events_max: int) -> None:
    """Begin each command and kill it somewhere on its way."""
    for words in commands:
        events = chance.randint(0, events_max)
        linger = chance.random() * LINGER_SECONDS_MAX
        kill_after(world, world.begin(*words), events, linger=linger)


def told(found: dict[str, Any]) -> str:
    """A story in short, for whoever has to find out what went wrong."""
    rows = [(run, row) for run, log in found["logs"].items() for row in log]
    return "\n".join(
        f"{run} {row['seq']:>4} {row['at']} {row['name']:<22} {row['step']} {row['visit']} "
        f"{row['iteration']} {row['task']} {row['attempt']}"
        for run, row in rows
    )
