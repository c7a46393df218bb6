"""How a process for Python code begins: as a fork of a warm server, or as a program of its own.

Linux has what the fork server needs. Elsewhere, and in a sandbox, each process is a program, which
starts in a tenth of a second instead of milliseconds. What leaves its process group is not found
again there, unless the sandbox ends it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from typing import Protocol

from anew.tools.captured import Captured
from anew.tools.processes import Process
from anew.tools.python.forks import ForkServer
from anew.tools.sandbox import Room
from anew.tools.task_process import python_environment, start_task


class Host(Protocol):
    """A process that runs code. `exited` has its return code when nothing of it is left.

    `failure`: why it could not be started, if the machine told.
    """

    exited: asyncio.Future[int]
    failure: OSError | None

    @property
    def stdout(self) -> Captured: ...
    @property
    def stderr(self) -> Captured: ...
    @property
    def is_running(self) -> bool: ...

    async def has_started(self) -> bool: ...
    def take_output(self) -> None: ...
    def kill(self) -> None: ...
    async def stop(self) -> None: ...
    async def has_company(self) -> bool: ...


class Hosts:
    """Starts processes; the server they are forked from is started with the first of them."""

    def __init__(self, *, output_bytes_max: int, memory_bytes_max: int) -> None:
        self.output_bytes_max = output_bytes_max
        self._memory_bytes_max = memory_bytes_max
        self._server: ForkServer | None = None
        self._former: list[ForkServer] = []

    def start(
        self, channel: socket.socket, room: Room | None = None, *, is_spare: bool = False
    ) -> Host:
        """A process that has `channel`, of which the caller closes its own copy.

        In a sandbox it is a program of its own: a fork would be in the sandbox of its server.
        `is_spare`: there is no call for it yet, so it has the time to get warm.
        """
        if sys.platform != "linux" or room is not None:
            return self._program(channel, room)
        if self._server is None or not self._server.is_usable:
            self._replace_server()
        assert self._server is not None
        return self._server.fork(channel, is_spare=is_spare)

    async def close(self) -> None:
        servers = [*self._former, *([] if self._server is None else [self._server])]
        await asyncio.gather(*(server.stop() for server in servers))

    def _replace_server(self) -> None:
        """A former one stays for as long as it has forks."""
        if self._server is not None:
            self._former.append(self._server)
        for server in self._former:
            if not server.is_needed:
                server.hang_up()
        self._former = [server for server in self._former if server.is_needed]
        self._server = ForkServer(
            output_bytes_max=self.output_bytes_max, memory_bytes_max=self._memory_bytes_max
        )

    def _program(self, channel: socket.socket, room: Room | None) -> Process:
        fd = channel.fileno()
        # -P: code finds modules beside its document, not those beside the worker.
        words = [sys.executable, "-P", "-m", "anew.tools.python.child", str(fd)]
        words.append(str(self._memory_bytes_max))
        if sys.platform != "linux":
            words.append(str(os.getpid()))  # it has to see for itself whether we are alive
        return start_task(
            words,
            env=python_environment(),
            output_bytes_max=self.output_bytes_max,
            keep_fds=[fd],
            room=room,
        )
