"""Who answers the questions of runs when code does: at a terminal, by rule, from a list, by a call.

An interviewer is asked once per question. None leaves the question open: whoever comes later, by
`anew answer` for example, answers it then.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from inspect import isawaitable
from typing import Protocol, TextIO

from msgspec import Struct

from anew.engine.questions import chosen
from anew.runtime.questions import OpenQuestion, choice_lines

# What a terminal gives at once at most.
LINE_BYTES_MAX = 4096


class Interviewer(Protocol):
    """Gives the answer to a question, or None. With a `name`, the log says who answered."""

    async def ask(self, question: OpenQuestion) -> str | None: ...


class AutoApprove:
    """Takes the first choice; a question without choices gets `text`."""

    name = "auto-approve"

    def __init__(self, text: str = "approved") -> None:
        self._text = text

    async def ask(self, question: OpenQuestion) -> str | None:
        return question.choices[0] if question.choices else self._text


class FromQueue:
    """Gives answers in their order; when none is left, questions stay open."""

    def __init__(self, answers: Iterable[str], *, name: str | None = None) -> None:
        self._answers = deque(answers)
        self.name = name

    async def ask(self, question: OpenQuestion) -> str | None:
        del question
        return self._answers.popleft() if self._answers else None


class FromCallback:
    """Asks a function, which may be a coroutine function."""

    def __init__(
        self,
        callback: Callable[[OpenQuestion], str | Awaitable[str | None] | None],
        *,
        name: str | None = None,
    ) -> None:
        self._callback = callback
        self.name = name

    async def ask(self, question: OpenQuestion) -> str | None:
        answer = self._callback(question)
        return await answer if isawaitable(answer) else answer


class RecordedAnswer(Struct, frozen=True):
    """A question, and what was said to it."""

    question: OpenQuestion
    answer: str | None


class Recording:
    """Asks another interviewer and keeps what was asked and answered, in order.

    It answers in the other's name.
    """

    def __init__(self, interviewer: Interviewer) -> None:
        self._interviewer = interviewer
        self.name: str | None = getattr(interviewer, "name", None)
        self.record: list[RecordedAnswer] = []

    async def ask(self, question: OpenQuestion) -> str | None:
        answer = await self._interviewer.ask(question)
        self.record.append(RecordedAnswer(question, answer))
        return answer


class Console:
    """Asks at a terminal until an answer fits. The end of the input leaves the question open.

    Cancelling it gives the terminal back at once: no thread is left that reads from it.
    """

    def __init__(self, source: TextIO, screen: TextIO) -> None:
        self._source = source
        self._screen = screen
        self._ahead = b""  # what came after the line that was read

    async def ask(self, question: OpenQuestion) -> str | None:
        self._say(self._opening(question))
        while True:
            self._say("> ", end="")
            line = await self._line()
            if line is None:
                self._say("")
                return None
            if chosen(question.choices, line) is not None:
                return line.strip()
            self._say("That is none of the choices." if question.choices else "Type an answer.")

    def _opening(self, question: OpenQuestion) -> str:
        lines = [f"{question.key.step}: {question.question}", *choice_lines(question.choices)]
        return "\n  ".join(_shown(line) for line in lines)

    def _say(self, text: str, *, end: str = "\n") -> None:
        with suppress(OSError, ValueError):
            print(text, end=end, file=self._screen, flush=True)

    async def _line(self) -> str | None:
        """The next line; None when the input has ended."""
        while b"\n" not in self._ahead:
            read = await self._read()
            if not read:
                return None
            self._ahead += read
        line, _, self._ahead = self._ahead.partition(b"\n")
        return line.decode(errors="replace")

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        is_ready: asyncio.Future[None] = loop.create_future()
        source = self._source.fileno()
        loop.add_reader(source, _fulfil, is_ready)
        try:
            await is_ready
        finally:
            loop.remove_reader(source)
        return os.read(source, LINE_BYTES_MAX)


def _fulfil(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _shown(text: str) -> str:
    """Without characters that would move the cursor or ring the bell."""
    return "".join(char if char.isprintable() else " " for char in text)
