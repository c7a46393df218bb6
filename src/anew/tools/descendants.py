"""Which processes are below another one, as the kernel tells it.

Both sides use it: the fork server to end what code left behind, the worker to see whether code left
something. Only Linux tells; elsewhere nothing is found. Imports the standard library only.
"""

from __future__ import annotations

import os
import signal
import time

_READ_BYTES = 1 << 16


def children_of(pid: int) -> set[int]:
    """The children of a process, of all its threads; none when it is gone."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return set()
    found: set[int] = set()
    for thread in threads:
        listed = _listed(f"/proc/{pid}/task/{thread}/children")
        if listed is None:
            return _scanned(pid)
        found.update(map(int, listed.split()))
    return found


def state_of(pid: int) -> str:
    """The letter that the kernel gives its state, as in `ps`; "X" when it is gone."""
    row = _stat(pid)
    return row[0] if row else "X"


def session_of(pid: int) -> int | None:
    """The process that leads its session, also of a dead one; None when it is gone."""
    row = _stat(pid)
    return int(row[3]) if row else None


def is_stopped(pid: int) -> bool:
    """Whether a signal or a debugger has stopped it."""
    return state_of(pid) in "Tt"


def kill_below(pid: int, *, seconds_max: float) -> None:
    """Kill everything below a process that takes over orphans, but not the process itself."""
    end = time.monotonic() + seconds_max
    others: set[int] = set()
    while living := {each for each in _below(pid) - others if state_of(each) not in "ZX"}:
        for each in living:
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                pass
            except PermissionError:  # it became another user (sudo), who has to end it
                others.add(each)
        if time.monotonic() > end:
            return


def _below(pid: int) -> set[int]:
    found: set[int] = set()
    level = {pid}
    while level := {child for each in level for child in children_of(each)} - found:
        found |= level
    return found


def _listed(path: str) -> bytes | None:
    """The whole file; None where there is none, as in kernels that are built without it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        data = b""
        while more := os.read(fd, _READ_BYTES):
            data += more
        return data
    except ProcessLookupError:
        return b""
    finally:
        os.close(fd)


def _scanned(parent: int) -> set[int]:
    """The same, by looking at every process of the machine."""
    return {int(name) for name in os.listdir("/proc") if name.isdigit() and _is_of(parent, name)}


def _is_of(parent: int, name: str) -> bool:
    row = _stat(int(name))
    return bool(row) and int(row[1]) == parent


def _stat(pid: int) -> list[str]:
    """State, parent, process group, session and so on; nothing when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []
