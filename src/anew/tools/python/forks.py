"""The worker's side of the fork server: ask it for processes, and hear how each of them ended.

A fork looks like any other `Process` to its user. Knows the packets of `forkserver.py`; does not
know calls or runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import sys
from contextlib import ExitStack
from itertools import count
from typing import Any

from anew.tools.captured import Captured
from anew.tools.descendants import children_of, is_stopped, kill_below
from anew.tools.processes import EXIT_SECONDS_MAX, wait_for_exit
from anew.tools.python.forkserver import PACKET_BYTES_MAX, SWEEP_SECONDS_MAX
from anew.tools.streams import Streams
from anew.tools.task_process import python_environment, start_task

# A fork takes a few milliseconds, and the server itself starts in a tenth of a second.
START_SECONDS_MAX = 20.0
# How often a server that owes an answer is looked at: code can stop it at any moment.
LOOK_SECONDS = 0.25
# One that is stopped again and again, or by a debugger, is replaced.
RESUMES_MAX = 3
# For what is below a server that has to be killed.
_KILL_SECONDS_MAX = 1.0
_KILLED = -int(signal.SIGKILL)


class ForkServer:
    """One server process and what was forked from it."""

    def __init__(self, *, output_bytes_max: int, memory_bytes_max: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._output_bytes_max = output_bytes_max
        self._forks: dict[int, Fork] = {}
        self._numbers = count(1)
        self._spared: set[int] = set()
        self._is_failing = False
        self._killed: set[int] = set()  # numbers of forks whose end is asked for
        self._look: asyncio.TimerHandle | None = None
        self._resumes = 0
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # -P: code finds modules beside its document, not those beside the worker.
            module = "anew.tools.python.forkserver"
            words = [
                sys.executable,
                "-P",
                "-m",
                module,
                str(theirs.fileno()),
                str(memory_bytes_max),
            ]
            try:
                self._process = start_task(
                    words,
                    env=python_environment(),
                    output_bytes_max=output_bytes_max,
                    is_tied=False,  # it sees our end, and then ends all that is below it
                    keep_fds=[theirs.fileno()],
                )
            except BaseException:
                self._control.close()
                raise
        self._control.setblocking(False)
        self._loop.add_reader(self._control, self._on_readable)
        self._process.exited.add_done_callback(self._on_death)

    @property
    def is_usable(self) -> bool:
        """Whether it can fork. One that could not is not asked again: its limits may be too low."""
        return self._process.is_running and not self._is_failing

    @property
    def is_needed(self) -> bool:
        return bool(self._forks)

    def fork(self, channel: socket.socket, *, is_spare: bool = False) -> Fork:
        """A new process that has `channel`. A spare one gets warm first."""
        fork = Fork(self, next(self._numbers), self._output_bytes_max)
        self._forks[fork.number] = fork
        fds = [channel.fileno(), *fork.streams.theirs]
        try:
            self._ask("fork spare" if is_spare else "fork", fork.number, fds)
        finally:
            fork.streams.watch()
        return fork

    def kill(self, number: int) -> None:
        """Kill a fork and all below it."""
        self._killed.add(number)
        self._ask("kill", number)

    def _ask(self, what: str, number: int, fds: list[int] | None = None) -> None:
        packet = json.dumps({"what": what, "number": number}).encode()
        try:
            socket.send_fds(self._control, [packet], fds or [])
        except OSError:
            self.abandon()  # it is gone, or does not read any more
        else:
            if self._look is None:
                self._resumes = 0
                self._look_at_server()

    def _look_at_server(self) -> None:
        """Resume a server that was stopped, for as long as it owes an answer."""
        self._look = None
        if not self._process.is_running or not self._owes_answer():
            return
        if is_stopped(self._process.pid):
            self._resumes += 1
            if self._resumes > RESUMES_MAX:
                self.abandon()
                return
            self._process.signal(signal.SIGCONT)
        self._look = self._loop.call_later(LOOK_SECONDS, self._look_at_server)

    def _owes_answer(self) -> bool:
        return any(f.pid is None or f.number in self._killed for f in self._forks.values())

    def abandon(self) -> None:
        """Kill a server that does not answer, and all below it, which it cannot do any more."""
        if self._process.is_running:
            kill_below(self._process.pid, seconds_max=_KILL_SECONDS_MAX)
        self._process.kill()

    async def has_strays(self) -> bool:
        """Whether a process came to the server without being a fork that was asked for."""
        known = {fork.pid for fork in self._forks.values()}
        found = children_of(self._process.pid) - known - self._spared
        if not found:
            return False
        # Some may be forks whose number has not arrived yet.
        pending = [fork for fork in self._forks.values() if fork.pid is None]
        for fork in pending:
            await fork.has_started()
        return bool(found - {fork.pid for fork in pending} - self._spared)

    async def stop(self) -> None:
        """End it and every fork."""
        self.hang_up()
        await wait_for_exit(self._process.exited, seconds=EXIT_SECONDS_MAX + SWEEP_SECONDS_MAX)
        await self._process.stop()

    def hang_up(self) -> None:
        """It sees the end of its control socket, ends all that is below it, and then itself."""
        if self._look is not None:
            self._look.cancel()
            self._look = None
        self._process.signal(signal.SIGCONT)
        if self._control.fileno() >= 0:
            self._loop.remove_reader(self._control)
            self._control.close()

    def _on_readable(self) -> None:
        try:
            packet = self._control.recv(PACKET_BYTES_MAX)
        except BlockingIOError:
            return
        except OSError:
            packet = b""
        if not packet:
            self._loop.remove_reader(self._control)
            return
        reply = json.loads(packet)
        if "spared" in reply:
            self._spared.add(reply["spared"])
        elif (fork := self._forks.get(reply["number"])) is not None:
            self._take_reply(fork, reply)

    def _take_reply(self, fork: Fork, reply: dict[str, int]) -> None:
        if "pid" in reply:
            fork.started_as(reply["pid"])
            return
        del self._forks[fork.number]
        self._killed.discard(fork.number)
        if "errno" in reply:
            self._is_failing = True
            fork.failure = OSError(reply["errno"], os.strerror(reply["errno"]))
        fork.ended(reply.get("code", _KILLED))

    def _on_death(self, _: asyncio.Future[int]) -> None:
        """The forks die with the server; those that code protected from it are killed here."""
        self.hang_up()
        forks, self._forks = self._forks, {}
        self._killed.clear()
        for fork in forks.values():
            fork.kill_directly()
            fork.ended(_KILLED)


class Fork:
    """One process, as `Process` is one; `failure` says why there is none."""

    def __init__(self, server: ForkServer, number: int, output_bytes_max: int) -> None:
        self._server = server
        self.number = number
        self.pid: int | None = None
        self._pidfd: int | None = None
        self.failure: OSError | None = None
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = loop.create_future()
        self._started: asyncio.Future[None] = loop.create_future()
        with ExitStack() as undo:
            self.streams = Streams(output_bytes_max, undo)
            undo.pop_all()
        self._patience = loop.call_later(START_SECONDS_MAX, server.abandon)

    @property
    def stdout(self) -> Captured:
        return self.streams.stdout

    @property
    def stderr(self) -> Captured:
        return self.streams.stderr

    @property
    def is_running(self) -> bool:
        """What is true now; the server tells of an end a little later."""
        if self.exited.done():
            return False
        return self._pidfd is None or not select.select([self._pidfd], [], [], 0)[0]

    def started_as(self, pid: int) -> None:
        self._patience.cancel()
        self.pid = pid
        with contextlib.suppress(OSError):
            self._pidfd = os.pidfd_open(pid)
        self._started.set_result(None)

    def ended(self, code: int) -> None:
        self._patience.cancel()
        self.streams.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        if not self.exited.done():
            self.exited.set_result(code)

    def take_output(self) -> None:
        """Read what has been printed up to now."""
        self.streams.take()

    def kill(self) -> None:
        if not self.exited.done():
            self._server.kill(self.number)

    def kill_directly(self) -> None:
        """Without the server, and only the process itself."""
        if self._pidfd is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    async def stop(self) -> None:
        """Kill it, and return when it and all below it are dead."""
        self.kill()
        await wait_for_exit(self.exited, seconds=EXIT_SECONDS_MAX + SWEEP_SECONDS_MAX)
        if not self.exited.done():
            self._server.abandon()
            await wait_for_exit(self.exited)

    async def has_started(self) -> bool:
        """Wait until it is there; False when it never will be."""
        if self.pid is None:
            either: set[asyncio.Future[Any]] = {self._started, self.exited}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return self.pid is not None

    async def has_company(self) -> bool:
        """Whether there are processes below it, or some that got away from it to the server."""
        return self.pid is None or bool(children_of(self.pid)) or await self._server.has_strays()
