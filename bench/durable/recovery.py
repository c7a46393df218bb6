"""Anew's side of `recovery`: the only owner of a file is killed, and its command is given again.

`python -m bench.durable.recovery run|serve SIZE FOLDER` prints one JSON object: the seconds from
the start of the command to its first task, `cold_seconds` where a run waits and nobody died,
`seconds` after SIGKILL in the middle of a task.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import Request, urlopen

from bench.durable.documents import ticking
from bench.peers.killing import NOTES, SILENCE_SECONDS_MAX, Start, resumed
from bench.startup import anew_command
from bench.tool_package import register, settings

TOKEN = "the-token-of-the-benchmarks"
LOOK_SECONDS = 0.002


def main(words: list[str]) -> None:
    kind, size, place = words
    folder, steps = Path(place), int(size)
    register(folder)
    (folder / "ticks.yaml").write_text(ticking(steps, str(folder / NOTES)), encoding="utf-8")
    # The first time a folder is used, the file is made and modules are compiled.
    first_task(folder, kind, "warm")
    cold = first_task(folder, kind, "cold")
    queue(folder, kind, "killed")
    start = starting(folder, kind, "killed")
    print(json.dumps(resumed(start, start, steps, folder) | {"cold_seconds": cold}))


def first_task(folder: Path, kind: str, key: str) -> float:
    """Have a run of its own begun, and everything ended again; the seconds to its first task."""
    queue(folder, kind, key)
    notes = folder / NOTES
    begun = time.time()
    process = starting(folder, kind, key)()
    try:
        until(lambda: notes.exists() and notes.read_text().endswith("\n"))
        seconds = float(notes.read_text().split()[1]) - begun
        until(lambda: len(notes.read_text().splitlines()) >= 2)
    finally:
        process.terminate()
        process.wait(SILENCE_SECONDS_MAX)
    finish(folder)
    return seconds


def finish(folder: Path) -> None:
    """Bring to its end what was begun, so that the next start finds its own run alone."""
    subprocess.run(
        [*anew_command(), "resume", "--quiet", "--db", str(folder / "anew.db")],
        env=settings(folder),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (folder / NOTES).unlink(missing_ok=True)


def starting(folder: Path, kind: str, key: str) -> Start:
    db = ["--db", str(folder / "anew.db")]
    words = ["run", "ticks.yaml", "--key", key, "--quiet", *db]
    if kind == "serve":
        words = ["serve", "--port", "0", *db]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*anew_command(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(folder),
            cwd=folder,
        )

    return start


def queue(folder: Path, kind: str, key: str) -> None:
    """Leave a run for a server to find, which nobody has begun to work on."""
    if kind != "serve":
        return
    words = ["serve", "--no-workers", "--port", "0", "--db", str(folder / "anew.db")]
    process = subprocess.Popen(
        [*anew_command(), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(folder),
        cwd=folder,
        text=True,
    )
    assert process.stdout is not None
    try:
        found = re.search(r"http://[0-9.:]+", process.stdout.readline())
        assert found is not None, "the server does not say where it serves"
        document = (folder / "ticks.yaml").read_text(encoding="utf-8")
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        body = json.dumps({"document": document, "key": key}).encode()
        urlopen(Request(f"{found[0]}/api/v1/runs", body, headers)).close()
    finally:
        process.terminate()
        process.wait(SILENCE_SECONDS_MAX)


def _environment(folder: Path) -> dict[str, str]:
    return settings(folder) | {"ANEW_TOKEN": TOKEN}


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SILENCE_SECONDS_MAX
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1:])
