"""Which processes are below another one, as the kernel tells it.

Both sides use it: the fork server to end what code left behind, the worker to see whether code left
something. Only Linux tells; elsewhere nothing is found. Imports the standard library only.
"""

from __future__ import annotations

import os

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
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1]) == parent
    except (OSError, IndexError, ValueError):
        return False
