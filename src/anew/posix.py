"""What POSIX systems have and Windows has not: locks of files, users, limits, sockets, signals.

A port to another system begins here and in `kernel`, goes on with the processes of tasks
(`tools/processes`, `tools/descendants`, `tools/python`, `tools/sandbox`), and needs nothing else:
`tests/test_posix.py` refuses it elsewhere. Imports the standard library only, most of it when it is
asked for. Knows nothing of what files, users and sockets are for.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import asyncio

    Attend: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

# How to open a file: not where a link leads, without waiting for the other end of a pipe, and for
# this process alone, not for those it starts.
NO_LINK = os.O_NOFOLLOW
NO_WAIT = os.O_NONBLOCK
NOT_INHERITED = os.O_CLOEXEC

# Ctrl-C, what service managers send, and a terminal that was closed.
INTERRUPT, TERMINATE, HANG_UP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
# The exit status that Python gives a process that was killed.
KILLED = -signal.SIGKILL


def lock(fd: int, *, is_shared: bool = False, waits: bool = False) -> None:
    """Lock an open file until it is closed; BlockingIOError when another process has it."""
    import fcntl  # noqa: PLC0415

    mode = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
    fcntl.flock(fd, mode if waits else mode | fcntl.LOCK_NB)


def set_mode(fd: int, mode: int) -> None:
    """Of an open file, whatever the umask says."""
    os.fchmod(fd, mode)


def user_id() -> int:
    """Whose process this is, as the owner of a file is written down."""
    return os.getuid()


def is_root() -> bool:
    return os.geteuid() == 0


def account_ids(name: str) -> tuple[int, int]:
    """The user and the group of an account; KeyError or ValueError when there is none."""
    import pwd  # noqa: PLC0415

    found = pwd.getpwnam(name)
    return found.pw_uid, found.pw_gid


def open_files_max() -> int | None:
    """How many files and connections this process may have open; None without a limit."""
    import resource  # noqa: PLC0415

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def kill_this_process() -> None:
    """At once, as `kill -9` does: nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def on_signals(numbers: Iterable[signal.Signals], act: Callable[..., object], *given: Any) -> None:
    """Have the running loop act on these signals."""
    import asyncio  # noqa: PLC0415

    for number in numbers:
        asyncio.get_running_loop().add_signal_handler(number, act, *given)


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """What starts meanwhile never hears Ctrl-C; whoever starts it does, a moment later."""
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)


async def listen_at(path: Path, attend: Attend, *, limit: int) -> asyncio.Server:
    """A socket with a path, which only this user may connect to."""
    import asyncio  # noqa: PLC0415

    umask = os.umask(0o177)
    try:
        return await asyncio.start_unix_server(attend, path=path, limit=limit)
    finally:
        os.umask(umask)


async def connect_to(
    path: Path, *, limit: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    import asyncio  # noqa: PLC0415

    return await asyncio.open_unix_connection(path, limit=limit)
