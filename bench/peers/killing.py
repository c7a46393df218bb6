"""Kill a run of many steps in the middle, start it again, and see when and where it goes on.

For every side, Anew's too: needs nothing but the standard library and knows no engine. Each step
calls `step`, which notes its number; these notes are the only witness.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

# Starts the process that works.
Start: TypeAlias = Callable[[], "subprocess.Popen[bytes]"]
# A step's number and when it began, in seconds since the epoch.
Note: TypeAlias = tuple[int, float]

STEP_SECONDS = 0.02
LOOK_SECONDS = 0.005
# From a start to its first note, or from one note to the next.
SILENCE_SECONDS_MAX = 30.0
NOTES = "steps"
LOG = "log"


class Stuck(Exception):
    """It ended before it was done, or did nothing for too long."""


def step(folder: str | Path, number: int) -> None:
    """What a step of the run does: note that it began, and take a while."""
    with (Path(folder) / NOTES).open("a", encoding="utf-8") as notes:
        notes.write(f"{number} {time.time()}\n")
    time.sleep(STEP_SECONDS)


def command(words: Sequence[str], folder: str | Path) -> Start:
    """A start that calls these words; what they say is kept in the folder."""

    def start() -> subprocess.Popen[bytes]:
        with (Path(folder) / LOG).open("ab") as log:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    return start


def resumed(begin: Start, again: Start, size: int, folder: str | Path) -> dict[str, Any]:
    """SIGKILL in the middle of steps 0 to `size` - 1; a sample, or the reason why there is none.

    `seconds` are those from the second start to its first note, `again` are the steps that were
    begun twice.
    """
    notes = Path(folder) / NOTES
    try:
        with _running(begin) as process:
            _wait(process, notes, lambda noted: len(noted) >= size // 2)
        before = len(_read(notes))
        started_at = time.time()
        with _running(again) as process:
            noted = _wait(process, notes, lambda noted: noted[-1][0] == size - 1)
    except Stuck as stuck:
        return {"reason": f"does not resume: {stuck}"}
    steps = [number for number, _ in noted]
    if set(steps) != set(range(size)):
        return {"reason": f"does not resume: of {size} steps, {len(set(steps))} were started"}
    return {"seconds": noted[before][1] - started_at, "again": len(steps) - size}


def resumed_side(module: str, size: int, place: str, again: str = "begun") -> dict[str, Any]:
    """The same for a side whose workloads `begun` and `again` are the two starts.

    Where they note their steps is the last word they get, because the place may be a database.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        first, second = (
            command([sys.executable, "-m", module, work, str(size), place, "0", folder], folder)
            for work in ("begun", again)
        )
        return resumed(first, second, size, folder)


@contextmanager
def _running(start: Start) -> Iterator[subprocess.Popen[bytes]]:
    """Killed in the end, whatever it is doing."""
    process = start()
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _wait(
    process: subprocess.Popen[bytes], notes: Path, is_enough: Callable[[list[Note]], bool]
) -> list[Note]:
    noted = _read(notes)
    heard_at = time.monotonic()
    while not noted or not is_enough(noted):
        has_ended = process.poll() is not None
        latest = _read(notes)
        if len(latest) > len(noted):
            noted, heard_at = latest, time.monotonic()
        elif has_ended:
            raise Stuck(f"it ended with status {process.returncode} after {len(noted)} notes")
        elif time.monotonic() - heard_at > SILENCE_SECONDS_MAX:
            raise Stuck(
                f"nothing happened for {SILENCE_SECONDS_MAX:.0f} s after {len(noted)} notes"
            )
        time.sleep(LOOK_SECONDS)
    return noted


def _read(notes: Path) -> list[Note]:
    """Whole lines only: the last may be half written when its process is killed."""
    text = notes.read_text(encoding="utf-8") if notes.exists() else ""
    words = [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [(int(number), float(at)) for number, at in words]
