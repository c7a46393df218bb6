"""Live progress: drawn on a real terminal, taken down on every way out, cheap to feed."""

from __future__ import annotations

import asyncio
import io
import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from anew.engine import events as e
from anew.surfaces.cli.board import drawn
from anew.surfaces.cli.live import LiveView, PlainView, shown, view_for
from tests.surfaces.cli.recorded import DOWN, RETRIES, hostile, played

HIDE, SHOW, CLEAR = "\x1b[?25l", "\x1b[?25h", "\x1b[2J"
OUTPUT_BYTES_MAX = 1 << 20


class StillClock:
    """Stands at one moment."""

    def __init__(self, moment: int = 0) -> None:
        self.moment = moment

    def now(self) -> int:
        return self.moment

    async def sleep_until(self, moment: int) -> None:
        raise AssertionError(f"a view has no reason to sleep until {moment}")


class Terminal:
    """Our end of a pseudo terminal; `stream` is the other."""

    def __init__(self, ours: int, stream: io.TextIOWrapper) -> None:
        self._ours = ours
        self.stream = stream

    def output(self) -> str:
        """Everything written so far; a terminal hands it on in pieces."""
        self.stream.flush()
        os.set_blocking(self._ours, False)
        pieces = []
        with suppress(BlockingIOError):
            while piece := os.read(self._ours, OUTPUT_BYTES_MAX):
                pieces.append(piece)
        return b"".join(pieces).decode()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with _pseudo_terminal() as made:
        yield made


@contextmanager
def _pseudo_terminal() -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        yield Terminal(ours, stream)
    os.close(ours)


def waiting():
    return played(RETRIES, outcomes={"page": [DOWN, {"result": 1}]})


def test_the_board_shows_a_countdown_and_gives_the_cursor_back(terminal: Terminal) -> None:
    run = waiting()
    view = LiveView(terminal.stream, StillClock(), program=run.program)
    view.start()
    view.feed(run.log[:7])
    view.tick(run.log[6].at + 500_000_000)
    view.stop()
    output = terminal.output()
    assert "attempt 2 of 3 in 1.5 s · HTTP 503 (rule 1, line 11)" in output
    assert output.index(HIDE) < output.rindex(SHOW)
    assert not output[output.rindex(SHOW) :].count(HIDE)


def test_the_cursor_comes_back_when_the_run_breaks(terminal: Terminal) -> None:
    view = LiveView(terminal.stream, StillClock())

    async def broken() -> None:
        async with shown(view, StillClock()):
            await asyncio.sleep(0)
            raise KeyError("boom")

    with pytest.raises(KeyError):
        asyncio.run(broken())
    assert SHOW in terminal.output()


def test_a_cancelled_run_takes_its_view_down(terminal: Terminal) -> None:
    view = LiveView(terminal.stream, StillClock())

    async def main() -> None:
        entered = asyncio.Event()

        async def watch() -> None:
            async with shown(view, StillClock()):
                entered.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(watch())
        await entered.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(main())
    assert SHOW in terminal.output()


def test_stopping_twice_or_before_the_start_is_harmless(terminal: Terminal) -> None:
    view = LiveView(terminal.stream, StillClock())
    view.stop()
    view.start()
    view.stop()
    view.stop()
    view.tick(1)
    assert terminal.output().count(HIDE) == 1


def test_a_terminal_that_went_away_does_not_harm_the_run() -> None:
    class Gone(io.StringIO):
        encoding = "utf-8"  # type: ignore[assignment]

        def write(self, text: str) -> int:
            raise OSError(5, f"Input/output error, {len(text)} characters not written")

    view = LiveView(Gone(), StillClock())
    view.start()
    view.feed(waiting().log)
    view.tick(1)
    view.stop()
    assert view.is_broken


def test_a_reader_that_went_away_does_not_harm_the_run() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(len(text))

    view = PlainView(Closed(), StillClock())
    view.feed(waiting().log)
    view.feed(waiting().log)
    assert view.is_broken


def test_another_width_begins_the_picture_afresh(terminal: Terminal) -> None:
    run = waiting()
    view = LiveView(terminal.stream, StillClock())
    view.start()
    view.feed(run.log[:7])
    view.tick(run.log[6].at)
    before = terminal.output()
    assert view._console is not None
    view._console.width = 50
    view.tick(run.log[6].at)
    after = terminal.output()
    view.stop()
    assert CLEAR not in before
    assert CLEAR in after
    assert "attempt 2 of 3" in after


def test_names_cannot_change_the_terminal() -> None:
    view = LiveView(io.StringIO(), StillClock())
    log = hostile().log
    view.feed(log[:5])
    text = drawn(view.board(log[4].at), columns=60, frame=0, is_unicode=True)
    assert "\x1b" not in text.plain
    assert len(text.plain.splitlines()) == 2
    assert "漢字" in text.plain


@pytest.mark.parametrize("columns", [20, 40, 60, 100])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    from rich.cells import cell_len

    run = waiting()
    for upto in (3, 5, 7, len(run.log)):
        view = LiveView(io.StringIO(), StillClock(), program=run.program)
        view.feed(run.log[:upto])
        text = drawn(view.board(run.log[upto - 1].at), columns=columns, frame=3, is_unicode=False)
        assert all(cell_len(line) <= max(columns, 40) for line in text.plain.splitlines())


def test_a_low_terminal_gets_a_low_board(terminal: Terminal, monkeypatch) -> None:
    monkeypatch.setenv("LINES", "7")
    names = [f"b{n}" for n in range(12)]
    steps = "".join(f"\n  - step: {name}\n    tool: {{kind: noop}}" for name in names)
    document = f"workflow:\n  - step: start\n    next: [{', '.join(names)}]{steps}\n"
    run = played(document, outcomes={name: [{"result": 1, "takes": 9}] for name in names})
    view = LiveView(terminal.stream, StillClock())
    view.start()
    view.feed([event for event in run.log if event.at == run.log[0].at])
    assert len(view.board(run.log[0].at).rows) == 3
    view.stop()
    terminal.output()


def test_plain_lines_carry_a_time_and_are_safe() -> None:
    stream = io.StringIO()
    log = waiting().log
    view = PlainView(stream, StillClock(log[-1].at))
    view.start()
    view.feed(log)
    view.feed(hostile().log)
    view.tick(5)
    view.stop()
    lines = stream.getvalue().splitlines()
    assert all(len(line.split("  ")[0]) == len("00:00:00") for line in lines)
    assert any("will retry after 2.00 s (attempt 2/3)" in line for line in lines)
    assert "\x1b" not in stream.getvalue()


def test_a_notice_is_said_once_and_can_be_taken_back(terminal: Terminal) -> None:
    stream = io.StringIO()
    plain, live = PlainView(stream, StillClock()), LiveView(terminal.stream, StillClock())
    live.start()
    for text in ("nobody\x1b is there", "nobody\x1b is there", ""):
        plain.notice(text)
        live.notice(text)
        live.tick(1)
    live.stop()
    assert stream.getvalue().count("nobody� is there") == 1
    assert terminal.output().count("nobody� is there") == 2


def test_a_terminal_gets_the_board_and_a_file_gets_lines(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(view_for(terminal.stream, StillClock()), LiveView)
    assert isinstance(view_for(io.StringIO(), StillClock()), PlainView)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(view_for(terminal.stream, StillClock()), PlainView)


def test_feeding_does_not_draw() -> None:
    stream = io.StringIO()
    view = LiveView(stream, StillClock())
    view.start()
    before = stream.tell()
    view.feed([e.RunRequested(run="1", program="p", digest="d", workload={}, seq=1, at=1)] * 10_000)
    assert stream.tell() == before
    view.stop()
