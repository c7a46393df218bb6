"""Show a run while it happens: a board that changes in place, or plain lines.

Both views are fed the events of one run as they are committed. On a terminal the board is drawn
about ten times a second, however many events there are; elsewhere each event worth a line gets one.
What is shown is decided in `views`; a view that cannot be drawn any more never harms the run.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol, TextIO

from anew.clock import Clock
from anew.engine.events import Event
from anew.engine.moments import NANOSECONDS
from anew.program.program import Program
from anew.surfaces.cli.columns import can_show
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.moments import local_clock
from anew.views.board import Board, board_of
from anew.views.log_lines import LogLines
from anew.views.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

REFRESH_SECONDS = 0.1
ROWS_MAX = 20
# The line for the whole run, one for what is hidden, and the prompt below.
ROWS_KEPT_FREE = 4


class View(Protocol):
    """What a runner or a watcher feeds. `is_broken`: what is told is not shown any more."""

    is_broken: bool

    def start(self) -> None: ...

    def feed(self, events: Sequence[Event]) -> None: ...

    def notice(self, text: str) -> None:
        """Something to know that is not in the log; the empty text takes it back."""

    def tick(self, now: int) -> None: ...

    def stop(self) -> None: ...


def view_for(
    stream: TextIO, clock: Clock, *, program: Program | None = None, known: int = 0
) -> View:
    """A board where the stream is a terminal that can move its cursor, plain lines elsewhere.

    Lines are not told of the first `known` events; a board shows what has come of them.
    """
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return LiveView(stream, clock, program=program)
    return PlainView(stream, clock, program=program, known=known)


@asynccontextmanager
async def shown(view: View, clock: Clock) -> AsyncIterator[None]:
    """Keep a view on the screen and up to date; it is taken down however this ends."""
    view.start()
    ticking = asyncio.create_task(_tick(view, clock))
    try:
        yield
    finally:
        ticking.cancel()
        view.stop()


async def _tick(view: View, clock: Clock) -> None:
    while True:
        view.tick(clock.now())
        await asyncio.sleep(REFRESH_SECONDS)


class PlainView:
    """One line per thing worth telling, with the local time."""

    def __init__(
        self, stream: TextIO, clock: Clock, *, program: Program | None = None, known: int = 0
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._known = known
        self._lines = LogLines(program)
        self._notice = ""
        self.is_broken = False

    def start(self) -> None:
        """Nothing to prepare."""

    def feed(self, events: Sequence[Event]) -> None:
        now = self._clock.now()
        # What is known is read as well: a later line has to know it.
        told = [(event, self._lines.line(event)) for event in events]
        self._print(
            [
                f"{local_clock(event.at, now)}  {visible(line)}"
                for event, line in told
                if line and event.seq > self._known
            ]
        )

    def notice(self, text: str) -> None:
        if text and text != self._notice:
            now = self._clock.now()
            self._print([f"{local_clock(now, now)}  {visible(text)}"])
        self._notice = text

    def _print(self, lines: Sequence[str]) -> None:
        if self.is_broken or not lines:
            return
        try:
            print(*lines, sep="\n", file=self._stream, flush=True)
        except (OSError, ValueError):  # `| head` has seen enough; the run has not
            self.is_broken = True

    def tick(self, now: int) -> None:
        """Time alone is no news."""

    def stop(self) -> None:
        """Nothing to take down."""


class LiveView:
    """A board drawn in place. Feeding costs the same for every event; drawing is what ticks do."""

    def __init__(self, stream: TextIO, clock: Clock, *, program: Program | None = None) -> None:
        self._stream = stream
        self._clock = clock
        self._progress = Progress(program)
        self._notice = ""
        self._width = 0
        self.is_broken = False
        self._console: Console | None = None
        self._live: Live | None = None

    def start(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(
            file=self._stream, force_terminal=True, highlight=False, markup=False, emoji=False
        )
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        # The cursor is hidden from here on, and comes back on every way out of the process.
        atexit.register(self.stop)
        self._guarded(self._live.start)

    def feed(self, events: Sequence[Event]) -> None:
        for event in events:
            self._progress.feed(event)

    def notice(self, text: str) -> None:
        self._notice = text

    def tick(self, now: int) -> None:
        if self._live is None or self._console is None:
            return
        if self._width not in (0, self._console.width):
            # Lines of another width have been wrapped by now, nobody knows how: begin afresh.
            self._guarded(self._console.clear)
        self._width = self._console.width
        picture = self._drawn(self.board(now), now)
        if self._live is not None:
            self._guarded(partial(self._live.update, picture, refresh=True))

    def stop(self) -> None:
        live, self._live = self._live, None
        atexit.unregister(self.stop)
        if live is not None:
            self._guarded(live.stop)

    def _guarded(self, draw: Callable[[], object]) -> None:
        try:
            draw()
        except (OSError, ValueError):  # the terminal is gone; the run is not
            self._live, self.is_broken = None, True

    def board(self, now: int) -> Board:
        """What is to be seen, for a terminal of this height."""
        height = self._console.size.height if self._console else ROWS_MAX + ROWS_KEPT_FREE
        return board_of(
            self._progress, now, rows_max=max(1, min(ROWS_MAX, height - ROWS_KEPT_FREE))
        )

    def _drawn(self, board: Board, now: int) -> Text:
        from anew.surfaces.cli.board import drawn

        assert self._console is not None
        frame = now // int(REFRESH_SECONDS * NANOSECONDS)
        is_unicode = can_show(self._stream, "⠋✓✗━◔◇")
        columns = self._console.width
        return drawn(
            board, columns=columns, frame=frame, is_unicode=is_unicode, notice=self._notice
        )
