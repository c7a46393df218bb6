"""Say on a terminal how far long work is; nothing where nobody watches."""

from __future__ import annotations

import sys
import time

# How often a long piece of work says how far it is.
PROGRESS_SECONDS = 1.0
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """One line on standard error that is written over, and taken away at the end."""

    def __init__(self, what: str, *, is_silent: bool = False) -> None:
        self._what = what
        self._is_silent = is_silent or not sys.stderr.isatty()
        self._reported_at = time.monotonic()
        self._has_reported = False

    def report(self, done: int, total: int) -> None:
        """Called as often as there is something new; speaks once in a while."""
        if self._is_silent or time.monotonic() - self._reported_at < PROGRESS_SECONDS:
            return
        self._reported_at = time.monotonic()
        self._has_reported = True
        print(f"{_CLEAR}{done:,} of {total:,} {self._what}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._has_reported:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
