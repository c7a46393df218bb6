"""The process that Python processes are forked from: warm, and never with any code of an author.

Each fork gets its own channel and pipes, and nothing of another's. What loses its parent below here
comes to this process, which kills it: no process that code started outlives the one that ran the
code. Imports the standard library only, and starts no thread: a fork has no other.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any, NamedTuple

from anew.environment import is_private
from anew.kernel import (
    become_subreaper,
    die_with_parent,
    make_undumpable,
    resume_at_parents_death,
)
from anew.tools.descendants import children_of
from anew.tools.python import child

# Of one request or reply, each of which is one packet.
PACKET_BYTES_MAX = 512
# Channel, standard output, standard error.
FDS = 3
# What code left may fork faster than it is killed, for a while.
SWEEP_SECONDS_MAX = 5.0


class ForkStreams(NamedTuple):
    """What a fork is given: its end of the channel, and where it prints.

    `is_spare`: there is no call for it yet.
    """

    channel: int
    stdout: int
    stderr: int
    is_spare: bool


class Server:
    """Does what the worker asks, until the worker is gone."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._forked: dict[int, int] = {}  # process ids, by the worker's number for each
        self._spared: set[int] = set()
        self._wake, signalled = os.pipe()
        self._fds_end = _fds_end()
        for fd in (self._wake, signalled):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, _ignore)
        signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)

    def serve(self) -> ForkStreams | None:
        """Returns in each fork, with its place; None in this process, when the worker is gone."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if self._wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, 1 << 16)
                self._reap()
            if self._control.fileno() in ready:
                request, fds = self._request()
                if request is None:
                    self._end()
                    return None
                place = self._obey(request, fds)
                if place is not None:
                    return place

    def _request(self) -> tuple[dict[str, Any] | None, list[int]]:
        try:
            data, fds, _, _ = socket.recv_fds(self._control, PACKET_BYTES_MAX, FDS)
        except OSError:
            data, fds = b"", []
        return (json.loads(data) if data else None), fds

    def _obey(self, request: dict[str, Any], fds: list[int]) -> ForkStreams | None:
        number = request["number"]
        if request["what"] in ("fork", "fork spare"):
            channel, stdout, stderr = fds
            place = ForkStreams(channel, stdout, stderr, is_spare=request["what"] == "fork spare")
            if self._fork(number, place):
                return place
            for fd in fds:
                os.close(fd)
        elif request["what"] == "kill" and number in self._forked:
            _kill(self._forked[number])
        else:
            self._sweep()
        return None

    def _fork(self, number: int, place: ForkStreams) -> bool:
        """Whether this is the fork."""
        mother = os.getpid()
        # No signal may find a fork that still has our handlers.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        try:
            pid = os.fork()
        except OSError as problem:
            pid = -1
            self._reply({"number": number, "errno": problem.errno or 0})
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            # As an object: one that is let go later would close a file of the code's.
            self._control.close()
            _settle(place, mother, self._fds_end)
        elif pid > 0:
            self._forked[number] = pid
            self._reply({"number": number, "pid": pid})
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        return pid == 0

    def _reap(self) -> None:
        """Tell the worker of forks that ended, once nothing below them is left."""
        numbers = {pid: number for number, pid in self._forked.items()}
        ended: dict[int, int] = {}
        for pid, code in _reaped():
            number = numbers.get(pid)
            if number is not None:
                del self._forked[number]
                ended[number] = code
            self._spared.discard(pid)
        if ended:
            self._sweep()
        for number, code in ended.items():
            self._reply({"number": number, "code": code})

    def _sweep(self) -> None:
        """Kill and reap every process below here that is no fork of ours."""
        end = time.monotonic() + SWEEP_SECONDS_MAX
        while strays := children_of(os.getpid()).difference(self._forked.values(), self._spared):
            for pid in strays:
                self._kill_stray(pid)
            for pid in strays - self._spared:
                _wait(pid, end)
            if time.monotonic() > end:
                return

    def _kill_stray(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        except PermissionError:  # it became another user (sudo), who has to end it
            self._spared.add(pid)
            self._reply({"number": 0, "spared": pid})

    def _reply(self, message: dict[str, int]) -> None:
        # A worker that is gone is noticed where requests are read.
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(message).encode())

    def _end(self) -> None:
        """The worker is gone: leave nothing of ours behind."""
        self._forked.clear()
        self._sweep()


def _ignore(*_: Any) -> None:
    """Only so that the wake-up descriptor is written to."""


def _settle(place: ForkStreams, mother: int, fds_end: int) -> None:
    """Make a fork a process of its own, which holds nothing but its own place.

    `fds_end`: beyond every file the server had before it was given this place.
    """
    die_with_parent()
    if os.getppid() != mother:
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for fd, standard in ((nothing, 0), (place.stdout, 1), (place.stderr, 2)):
        os.dup2(fd, standard)
    os.closerange(3, place.channel)
    os.closerange(place.channel + 1, max(fds_end, nothing + 1, place.stdout + 1, place.stderr + 1))


def _fds_end() -> int:
    return max(map(int, os.listdir("/proc/self/fd"))) + 1


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def _wait(pid: int, end: float) -> None:
    """Reap a killed process; one that the kernel holds is left to the next look."""
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if select.select([pidfd], [], [], max(0.0, end - time.monotonic()))[0]:
            os.waitpid(pid, 0)
    except ChildProcessError:
        pass
    finally:
        os.close(pidfd)


def _reaped() -> list[tuple[int, int]]:
    """Every child that has ended, with its return code."""
    found = []
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found.append((ended[0], os.waitstatus_to_exitcode(ended[1])))
    return found


def main(arguments: list[str]) -> None:
    """`arguments`: the control socket, and the most memory a fork may use (0: no limit)."""
    fd, memory_bytes_max = map(int, arguments)
    os.set_inheritable(fd, False)
    become_subreaper()
    # Not killed: it has to end what code left below it, even if code has stopped it.
    resume_at_parents_death()
    if is_private():
        make_undumpable()
    child.prime()
    gc.collect()
    gc.freeze()
    place = Server(socket.socket(fileno=fd)).serve()
    if place is not None:
        child.serve(place.channel, memory_bytes_max, is_spare=place.is_spare)


if __name__ == "__main__":
    main(sys.argv[1:])
