"""Processes of tools: each leads its own group, is always reaped, and never outlives us.

Knows pipes, signals and the event loop. Does not know what the processes are for.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from anew.tools.descendants import children_of
from anew.tools.orphans import ORPHANS
from anew.tools.streams import Streams, pipe

# A killed process is gone at once, unless the kernel holds it (a dead network file system).
EXIT_SECONDS_MAX = 5
_WRITE_BYTES = 1 << 16
# Of processes below one another that are looked at; a sandbox ends those below as well.
_DEPTH_MAX = 100
# Waits for a line from us; an end instead of a line means that we are gone.
_GATED = 'read -r go </dev/fd/{} && exec "$@"'


class Process:
    """One running program. `exited` holds its return code once it and its group are dead.

    What it prints is in `stdout` and `stderr`, which are complete when `exited` is done.
    `is_gated`: it does nothing before its life is tied to ours, so that no moment of our death
    leaves it behind. A program that waits for our word anyway needs no gate. `is_tied`: the kernel
    kills its group when we die; one that notices by itself can clean up first. `wrappers`: how many
    processes of a sandbox stay between the one we start and the program. `stdio`: what it has as
    standard input and output, of whoever talks with it; then `stdin` is not given.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path | None = None,
        output_bytes_max: int,
        stdin: bytes | None = None,
        is_gated: bool = False,
        is_tied: bool = True,
        keep_fds: Sequence[int] = (),
        wrappers: int = 0,
        stdio: tuple[int, int] | None = None,
    ) -> None:
        self._wrappers = wrappers
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = self._loop.create_future()
        self.failure: OSError | None = None
        self._feed: int | None = None
        self._left = memoryview(stdin or b"")
        with contextlib.ExitStack() as undo:
            self._streams = Streams(output_bytes_max, undo)
            self.stdout, self.stderr = self._streams.stdout, self._streams.stderr
            their_life, self._life = pipe(undo)
            their_gate, gate = pipe(undo)
            theirs = [their_life, their_gate]
            gated = ["/bin/sh", "-c", _GATED.format(their_gate), "sh"] if is_gated else []
            if stdin is not None:
                feed, self._feed = pipe(undo)
                theirs.append(feed)
            reads, writes = stdio or (subprocess.DEVNULL, self._streams.theirs[0])
            self._popen = subprocess.Popen(
                [*gated, *arguments],
                stdin=reads if stdin is None else feed,
                stdout=writes,
                stderr=self._streams.theirs[1],
                env=env,
                cwd=cwd,
                pass_fds=(*keep_fds, their_life, their_gate),
                start_new_session=True,
            )
            ORPHANS.started(self._popen.pid)
            undo.callback(_kill_at_once, self._popen)
            _when_exited(self._popen, self._on_exit)
            undo.pop_all()
        if is_tied:
            _tie_lives(their_life, self._popen.pid)
        os.write(gate, b"\n")
        for fd in (*theirs, gate):
            os.close(fd)
        self._streams.watch()
        if self._feed is not None:
            os.set_blocking(self._feed, False)
            self._loop.add_writer(self._feed, self._on_writable)

    def _on_writable(self) -> None:
        try:
            self._left = self._left[os.write(self._feed or 0, self._left[:_WRITE_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:  # it does not read its input, which is its right
            self._left = memoryview(b"")
        if not self._left:
            self._stop_feeding()

    def _stop_feeding(self) -> None:
        if self._feed is not None:
            self._loop.remove_writer(self._feed)
            os.close(self._feed)
            self._feed = None

    def _on_exit(self) -> None:
        # Before the leader is reaped its number cannot be anyone else's.
        self.kill()
        code = self._popen.wait()
        ORPHANS.ended(self._popen.pid)
        self._stop_feeding()
        self._streams.close()
        os.close(self._life)
        if not self.exited.done():
            self.exited.set_result(code)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def is_running(self) -> bool:
        """What is true now; the loop hears of an end a little later."""
        if self._popen.returncode is not None:
            return False
        if sys.platform != "linux":
            return True
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def take_output(self) -> None:
        """Read what has been printed up to now."""
        self._streams.take()

    def signal(self, number: signal.Signals) -> None:
        """To the process and all its children that did not leave its group."""
        if self._wrappers and number != signal.SIGKILL:
            # A sandbox that is told to end kills what is in it at once.
            for pid in self._inside():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        elif self._popen.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    async def stop(self, *, grace_seconds: float = 0.0) -> None:
        """End the group: asked first when there is a grace, then killed. Returns when it is dead.

        Cancelled while it waits, it kills at once, and the process is reaped all the same.
        """
        try:
            if grace_seconds:
                self.signal(signal.SIGTERM)
                await asyncio.wait({self.exited}, timeout=grace_seconds)
        finally:
            self.kill()
            await wait_for_exit(self.exited)

    async def has_started(self) -> bool:
        return True

    async def has_company(self) -> bool:
        """Whether there are processes below it."""
        return bool(children_of(self.pid)) if not self._wrappers else len(self._inside()) > 1

    def _inside(self) -> list[int]:
        """The program and all that is below it, in a sandbox."""
        found: list[int] = []
        level = {self.pid}
        for depth in range(_DEPTH_MAX):
            if depth >= self._wrappers:
                found += level
            level = {child for pid in level for child in children_of(pid)}
            if not level:
                break
        return found


async def wait_for_exit(exited: asyncio.Future[int], *, seconds: float = EXIT_SECONDS_MAX) -> None:
    """Wait for a killed process, which is short, even if we are told to stop waiting."""
    try:
        await asyncio.wait({exited}, timeout=seconds)
    except asyncio.CancelledError:
        await asyncio.wait({exited}, timeout=seconds)
        raise


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _kill_at_once(popen: subprocess.Popen[bytes]) -> None:
    os.killpg(popen.pid, signal.SIGKILL)
    popen.wait()
    ORPHANS.ended(popen.pid)


def _tie_lives(life: int, group: int) -> None:
    """Have the kernel kill `group` when the other end of the pipe `life` closes: when we die.

    Unlike a parent-death signal this reaches the whole group, needs nothing run in the new process
    before its program, and does not depend on which thread started it. Only Linux has it.
    """
    if sys.platform != "linux":
        return
    # A sandbox may lack it too; the process is then left behind when we are killed, no worse.
    with contextlib.suppress(OSError):
        fcntl.fcntl(life, fcntl.F_SETOWN, -group)
        fcntl.fcntl(life, _F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(life, fcntl.F_SETFL, os.O_RDONLY | os.O_ASYNC)


_F_SETSIG = 10  # of Linux; Python's fcntl has no name for it


def _when_exited(popen: subprocess.Popen[bytes], then: Callable[[], None]) -> None:
    """Call `then` in the running loop once the process has ended."""
    loop = asyncio.get_running_loop()
    if sys.platform == "linux":
        pidfd = os.pidfd_open(popen.pid)

        def ended() -> None:
            loop.remove_reader(pidfd)
            os.close(pidfd)
            then()

        loop.add_reader(pidfd, ended)
    else:

        def wait() -> None:
            popen.wait()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, signal.SIGKILL)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is interested
                loop.call_soon_threadsafe(then)

        threading.Thread(target=wait, name=f"wait for {popen.pid}", daemon=True).start()
