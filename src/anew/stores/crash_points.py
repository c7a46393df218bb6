"""Where a test may have this process killed: before and after each write transaction.

`ANEW_CRASH_AT=<n>` kills it with SIGKILL at the n-th point, as a power cut would.
`ANEW_CRASH_COUNT_FILE=<path>` gets the number of points passed, written at exit.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from anew.posix import kill_this_process

_passed = 0


@cache
def crash_point() -> Callable[[], None] | None:
    """What to call at each point; None, and nothing to pay, unless the environment asks."""
    crash_at = int(os.environ.get("ANEW_CRASH_AT", "0"))
    count_file = os.environ.get("ANEW_CRASH_COUNT_FILE")
    if not crash_at and not count_file:
        return None
    if count_file:
        atexit.register(_write_count, Path(count_file))

    def reach() -> None:
        global _passed  # noqa: PLW0603 - points are counted per process, over all its databases
        _passed += 1
        if _passed == crash_at:
            kill_this_process()

    return reach


def _write_count(path: Path) -> None:
    path.write_text(str(_passed), encoding="utf-8")
