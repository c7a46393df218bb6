"""Other engines on the same PostgreSQL: as many processes as Anew has workers, begun together.

A peer's process takes a workload, a size, an address and its number. It prints `ready`, begins when
it is told a line, and prints one JSON object at the end. Only a peer may fail: that is its figure.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from tempfile import TemporaryFile
from threading import Timer
from time import perf_counter
from typing import IO

from bench.contest import FOLDER, ROOT, SAMPLE_SECONDS_MAX, Entry, Sample, environment


class PeerFailed(Exception):
    """What it said last."""


def together(entry: Entry, url: str, sizes: Sequence[int], *, meter: Callable[[], float]) -> Sample:
    """The seconds from the word to begin until the last process is done, and what each said.

    There is a process for each size. `metered` is by how much the meter grew meanwhile.
    """
    try:
        with ExitStack() as stack:
            begun = [
                _ready(stack, [*entry.side.command, entry.workload, str(size), url, str(number)])
                for number, size in enumerate(sizes)
            ]
            started, before = perf_counter(), meter()
            for one in begun:
                print("begin", file=_pipe(one.stdin), flush=True)
            samples = [json.loads(_said(one)) for one in begun]
            seconds = perf_counter() - started
            return {"seconds": seconds, "parts": samples, "metered": meter() - before}
    except (PeerFailed, OSError, ValueError) as error:
        return {"reason": f"failed: {error}"}


def _ready(stack: ExitStack, command: Sequence[str]) -> subprocess.Popen[str]:
    """One after the other, so that the first makes the tables."""
    errors = TemporaryFile("w+", dir=FOLDER)  # noqa: SIM115  (the stack closes it)
    stack.callback(errors.close)
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        cwd=ROOT,
        env=environment(),
    )
    stack.enter_context(process)
    # A peer that hangs is killed; its pipe then ends, and with it whoever reads.
    timer = Timer(SAMPLE_SECONDS_MAX, process.kill)
    timer.start()
    stack.callback(process.kill)
    stack.callback(timer.cancel)
    if _pipe(process.stdout).readline().strip() != "ready":
        process.wait()
        errors.seek(0)
        raise PeerFailed((errors.read().strip().splitlines() or ["it printed nothing"])[-1])
    return process


def _said(process: subprocess.Popen[str]) -> str:
    line = _pipe(process.stdout).readline()
    if not line:
        raise PeerFailed("it ended before it was done, or took too long")
    return line


def _pipe(file: IO[str] | None) -> IO[str]:
    assert file is not None
    return file
