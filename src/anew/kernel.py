"""What the kernel does for a process that asks, and Python has no function for.

Only Linux offers these; elsewhere each says False and changes nothing, or does as well as Python
can. Imports the standard library only: the processes of tasks use it too. Knows nothing of what the
processes are for.
"""

from __future__ import annotations

import errno
import os
import signal
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

# Of <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

# Of <linux/stat.h> and <fcntl.h>.
_AT_FDCWD = -100
_AT_SYMLINK_NOFOLLOW = 0x100
_STATX_INO_AND_SIZE = 0x100 | 0x200
_STATX_BYTES = 256
_STATX_FIELDS = struct.Struct("=32xQQ88xII")

# The device, the inode and the size of what is under a name, links not followed; OSError when
# there is nothing.
Look: TypeAlias = Callable[[bytes], tuple[int, int, int]]


def make_undumpable() -> bool:
    """Let nobody but root read this process: no ptrace, /proc/PID/environ, mem or fd, no core.

    Inherited by forks, and undone by an exec.
    """
    return _prctl(_PR_SET_DUMPABLE, 0)


def become_subreaper() -> bool:
    """Processes below this one that lose their parent become its children, not those of init."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> bool:
    """Have this process killed when the thread that forked it ends."""
    return _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def resume_at_parents_death() -> bool:
    """Have this process continued, if it was stopped, when the thread that started it ends."""
    return _prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


@cache
def file_look() -> Look:
    """How to look at a file without asking when it was changed.

    Whoever asks that (`os.stat` does) makes Linux give the next write to it an exact time of its
    own. A log that is looked at before every commit then takes a third longer to flush.
    """
    if sys.platform != "linux" or not hasattr(_libc(), "statx"):
        return _look_with_times
    import ctypes  # noqa: PLC0415

    statx, get_errno, buffer = _libc().statx, ctypes.get_errno, ctypes.c_char * _STATX_BYTES
    unpack, makedev = _STATX_FIELDS.unpack_from, os.makedev

    def look(name: bytes) -> tuple[int, int, int]:
        found = buffer()
        if statx(_AT_FDCWD, name, _AT_SYMLINK_NOFOLLOW, _STATX_INO_AND_SIZE, found):
            number = get_errno()
            if number in (errno.ENOSYS, errno.EPERM):  # a container that does not know it
                return _look_with_times(name)
            raise OSError(number, os.strerror(number))
        inode, size, major, minor = unpack(found)
        return makedev(major, minor), inode, size

    return look


def _look_with_times(name: bytes) -> tuple[int, int, int]:
    found = os.lstat(name)
    return found.st_dev, found.st_ino, found.st_size


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    return bool(_libc().prctl(option, value, 0, 0, 0) == 0)


@cache
def _libc() -> Any:
    import ctypes  # noqa: PLC0415 - slow to import, and not every command needs it

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    return libc
