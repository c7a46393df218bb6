"""Start what a peer needs besides its own process, and wait until it is there.

Everything listens on the loopback, at ports that were free. Needs nothing but the standard library.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

BOOT_SECONDS_MAX = 90.0
STOP_SECONDS_MAX = 5.0
ANSWER_SECONDS_MAX = 2.0
LOOK_SECONDS = 0.02


class NotServing(Exception):
    """It ended, or did not answer in time."""


@contextmanager
def running(
    words: Sequence[str], folder: str, setting: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process with these variables besides ours, ended in the end. What it says is kept."""
    with (Path(folder) / "server.log").open("ab") as log:
        process = subprocess.Popen(
            words,
            env=os.environ | setting,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        # Asked first, so that it ends its own children too.
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS_MAX)
        process.kill()
        process.wait()


def wait_for_answer(process: subprocess.Popen[bytes], port: int, path: str) -> None:
    """Until `GET path` succeeds."""
    until = time.monotonic() + BOOT_SECONDS_MAX
    while not _answers(port, path):
        if process.poll() is not None:
            raise NotServing(f"it ended with status {process.returncode}")
        if time.monotonic() > until:
            raise NotServing(f"{path} did not answer within {BOOT_SECONDS_MAX:.0f} s")
        time.sleep(LOOK_SECONDS)


def wait_for_port(process: subprocess.Popen[bytes], port: int) -> None:
    """Until something listens there."""
    until = time.monotonic() + BOOT_SECONDS_MAX
    while not _listens(port):
        if process.poll() is not None or time.monotonic() > until:
            raise NotServing(f"nothing listens at port {port}")
        time.sleep(LOOK_SECONDS)


def free_ports(number: int) -> list[int]:
    """Different ones: all are held until the last is known."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]


def cpu_seconds(pid: int) -> float:
    """What a process has used so far, without its children."""
    # The name, in parentheses, may have spaces; user and system time are the 12th and 13th after.
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _answers(port: int, path: str) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS_MAX)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < 400
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS_MAX).close()
    except OSError:
        return False
    return True
