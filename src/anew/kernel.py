"""What the kernel does for a process that asks, and Python has no function for.

Only Linux offers these; elsewhere each says False and changes nothing. Imports the standard library
only: the processes of tasks use it too. Knows nothing of what the processes are for.
"""

from __future__ import annotations

import signal
import sys
from functools import cache
from typing import Any

# Of <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


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
