"""`anew test --watch`: play again whenever a file that matters was saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from time import sleep
from typing import Protocol

from anew.errors import ConfigError
from anew.lab.scenario_files import is_scenario, timeline_beside
from anew.surfaces.cli.discovery import files_below
from anew.surfaces.cli.excerpts import visible

# How often to look whether something was saved: sooner than a hand is back at the mouse.
WATCH_SECONDS = 0.25


class Playing(Protocol):
    """One time through all scenarios; `used` are the files their documents consist of."""

    used: set[str]

    def run(self) -> int: ...


def watch(paths: list[str], playing: Callable[[list[str]], Playing]) -> int:
    """Until someone presses Ctrl-C. ConfigError when a path leads nowhere from the beginning."""
    files_below(paths)
    used: set[str] = set()
    while True:
        before: dict[str, tuple[int, int]] = {}
        try:
            files = files_below(paths)
            before = _stamps([*files, *used])
            session = playing(files)
            session.run()
            # What was not known before it was played cannot have been looked at sooner.
            before.update(_stamps(session.used - used - set(files)))
            used = used | session.used
        except ConfigError as error:  # nothing to play, or not yet
            print(f"anew: {visible(str(error))}", file=sys.stderr)
        print("watching; Ctrl-C ends it", flush=True)
        while _now(paths, used) == before:
            sleep(WATCH_SECONDS)


def _now(paths: list[str], used: set[str]) -> dict[str, tuple[int, int]]:
    try:
        return _stamps([*files_below(paths), *used])
    except ConfigError:  # a folder that was moved away may come back
        return {}


def _stamps(files: Iterable[str]) -> dict[str, tuple[int, int]]:
    """What changes when a file is saved; the timeline of a scenario goes with it."""
    found: dict[str, tuple[int, int]] = {}
    for file in files:
        for one in (file, timeline_beside(file)) if is_scenario(file) else (file,):
            try:
                told = os.stat(one)
            except OSError:
                continue
            found[one] = told.st_mtime_ns, told.st_size
    return found
