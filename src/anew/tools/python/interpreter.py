"""The worker's side of one Python process: ask it, and notice how it ends.

Knows frames and processes. Does not know pools, inputs or outcomes.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
from collections.abc import Mapping
from typing import Any

import msgspec

from anew.tools.processes import signal_name
from anew.tools.python.frames import LOST_STATUS, NUMBER_BITS, BadFrame, Frames, framed
from anew.tools.python.hosts import Hosts
from anew.tools.sandbox import Room
from anew.values import Object, Value

# How long a process may live after it closed its channel.
_CLOSED_SECONDS = 1
_READ_BYTES = 1 << 18
_QUOTE_CHARS = 500
_NO_FRAME = "the code wrote to the channel of its process, which is not its own"
_CLOSED = "the code closed the channel of its process"


class CodeResult(msgspec.Struct, frozen=True):
    """What a process said, or in the same form how it died while it ran the code."""

    result: Value = None
    error: Object | None = None
    py: Object = {}
    is_spent: bool = False


class NotStarted(Exception):
    """There is no process, and so nothing of a call has happened."""


class Interpreter:
    """One process; asked by one caller at a time."""

    def __init__(self, hosts: Hosts, room: Room | None = None, *, is_spare: bool = False) -> None:
        self._loop = asyncio.get_running_loop()
        self._log_bytes_max = hosts.output_bytes_max
        self._ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = hosts.start(theirs, room, is_spare=is_spare)
        except BaseException:
            self._ours.close()
            raise
        self._ours.setblocking(False)
        self._loop.add_reader(self._ours, self._on_readable)
        self._process.exited.add_done_callback(self._on_exit)
        self._frames = Frames()
        self._answer: asyncio.Future[CodeResult] | None = None
        self._number = 0
        self._broken: str | None = None
        self.calls = 0
        self._forget()

    def _forget(self) -> None:
        self._records: list[Value] = []
        self._record_bytes = self._records_cut = 0
        self._process.stdout.clear()
        self._process.stderr.clear()

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked: not dead, and nothing odd was heard since the last answer."""
        return self._process.is_running and self._broken is None and self._frames.is_empty

    async def ask(self, call: Mapping[str, Value]) -> CodeResult:
        """Run one call; NotStarted when that was impossible.

        Cancelled or failed, the process must be stopped.
        """
        if not await self._process.has_started():
            raise self._process.failure or NotStarted
        self._process.take_output()
        self._forget()
        self.calls += 1
        self._number = secrets.randbits(NUMBER_BITS)
        self._answer = self._loop.create_future()
        message = framed(msgspec.json.encode(call), self._number)
        try:
            await self._loop.sock_sendall(self._ours, message)
        except OSError:
            self._process.kill()  # it no longer listens, if it still lives
        either: set[asyncio.Future[Any]] = {self._answer, self._process.exited}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._answer.done():
            return self._death()
        answer = self._answer.result()
        # Seen from outside as well: the process says what the code in it wants it to say.
        if not answer.is_spent and await self._process.has_company():
            answer = msgspec.structs.replace(answer, is_spent=True)
        self._process.take_output()
        return answer

    def logs(self) -> Object:
        """What the last call printed and logged; streams that stayed empty are left out."""
        records = list(self._records)
        if self._records_cut:
            text = f"{self._records_cut:,} more records left out (ANEW_OUTPUT_BYTES_MAX)"
            records.append({"level": "WARNING", "logger": "anew", "message": text})
        process = self._process
        found = {"stdout": process.stdout.text(), "stderr": process.stderr.text(), "log": records}
        return {name: value for name, value in found.items() if value}

    async def stop(self) -> None:
        await self._process.stop()

    def _death(self) -> CodeResult:
        code = self._process.exited.result()
        name: str | int = code
        if self._broken is not None or code == LOST_STATUS:
            name, message = "ProcessDied", self._broken or _CLOSED
        elif code < 0:
            name = signal_name(-code)
            hint = " (memory may have run out)" if code == -signal.SIGKILL else ""
            message = f"the Python process was killed by {name}{hint} before the code was done"
        else:
            said = self._process.stderr.last_line(_QUOTE_CHARS)
            message = f"the Python process ended with exit status {code} before the code was done"
            message += f": {said}" if said else ""
        error = {"kind": "python_error", "message": message, "code": name}
        return CodeResult(error=error, py={"exception": message, "exception_type": "ProcessDied"})

    def _on_exit(self, _: asyncio.Future[int]) -> None:
        self._loop.remove_reader(self._ours)
        # A child of the code may hold the channel open: what is there is all there will be.
        while self._take():
            pass
        self._ours.close()

    def _on_readable(self) -> None:
        if self._take() == b"":
            self._loop.remove_reader(self._ours)
            # Most likely it is dying, and its exit status says more.
            self._loop.call_later(_CLOSED_SECONDS, self._break, _CLOSED)

    def _take(self) -> bytes | None:
        """Read once; None when there is nothing now, empty when the other end is closed."""
        try:
            data = self._ours.recv(_READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""
        try:
            for _, body in self._frames.add(data, number=self._number):
                self._receive(body)
        except (BadFrame, msgspec.DecodeError):
            self._break(_NO_FRAME)
        return data

    def _receive(self, body: bytes) -> None:
        if self._broken is not None:
            return None  # one frame was not ours, so none that came with it can be trusted
        if body.startswith(b'{"log":'):
            return self._keep_record(body)
        answer = msgspec.json.decode(body, type=CodeResult)
        if self._answer is None or self._answer.done():
            return self._break(_NO_FRAME)
        self._answer.set_result(answer)
        return None

    def _keep_record(self, body: bytes) -> None:
        self._record_bytes += len(body)
        if self._record_bytes > self._log_bytes_max:
            self._records_cut += 1
        else:
            self._records.append(msgspec.json.decode(body, type=dict[str, Value])["log"])

    def _break(self, why: str) -> None:
        if self._process.exited.done():
            return
        self._broken = self._broken or why
        self._loop.remove_reader(self._ours)
        self._process.kill()
