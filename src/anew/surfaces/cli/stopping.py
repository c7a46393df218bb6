"""Ctrl-C, SIGTERM and a closed terminal: the first stops in good order, the next at once.

Knows signals and the engine of this process. What a stop means for a run is the engine's business.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager

from anew.posix import HANG_UP, INTERRUPT, TERMINATE, on_signals
from anew.runtime.engine import GRACE_SECONDS, Engine
from anew.surfaces.cli.arguments import seconds

SIGNALS = (INTERRUPT, TERMINATE, HANG_UP)


def add_drain_option(parser: ArgumentParser) -> None:
    """`--drain`, for processes that are stopped at every deploy."""
    parser.add_argument(
        "--drain",
        type=seconds,
        default=GRACE_SECONDS,
        metavar="TIME",
        help="at SIGTERM take no new work and let running calls run this long "
        f"(default {GRACE_SECONDS:g}s)",
    )


def stopping_text(drain_seconds: float) -> str:
    """What happens to the calls at work when a process is told to stop."""
    return f"stopping; running calls have {drain_seconds:g} s to end"


def signals_heard() -> list[signal.Signals]:
    """Those that ask for the end here; `nohup` has a closed terminal mean nothing."""
    is_deaf = signal.getsignal(HANG_UP) is signal.SIG_IGN
    return [one for one in SIGNALS if not (is_deaf and one is HANG_UP)]


class Stopping:
    """Made in the task that is to be cancelled when someone asks for the end.

    `is_asked` once someone has. While an engine stops by itself, to ask is to hurry it.
    """

    def __init__(self, *, is_quiet: bool = False, drain_seconds: float = GRACE_SECONDS) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._engine: Engine | None = None
        self._is_quiet = is_quiet
        self._drain_seconds = drain_seconds
        self._is_stopping = False
        self.is_asked = False
        on_signals(signals_heard(), self.ask)

    def ask(self) -> None:
        self.is_asked = True
        if not self._is_stopping:
            self._is_stopping = True
            self._task.cancel()
        elif self._engine is not None:
            self._engine.hurry()

    @contextmanager
    def of(self, engine: Engine) -> Iterator[None]:
        """Stop this engine, and say so when that may take a moment."""
        self._engine = engine
        try:
            yield
        except asyncio.CancelledError:
            if engine.is_at_work and not self._is_quiet:
                told = stopping_text(self._drain_seconds)
                print(f"anew: {told}. Ctrl-C stops them now", file=sys.stderr)
            raise
        finally:
            self._is_stopping = True  # it stops by itself now; who asks once more is in a hurry

    def rest(self) -> None:
        """The engine has stopped, and nobody asked for it: who asks next wants all of it to end."""
        self._engine, self._is_stopping = None, self.is_asked
