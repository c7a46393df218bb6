"""A process that has `anew` imported and forks as many processes as it is asked for, side by side.

Started as a script. Reads requests as lines of JSON, answers each with the process id, and says how
each process ended when it does. When nobody asks any more it ends whatever is left, so that nothing
outlives the tests. A server that is started cold takes a second to import; a forked one does not.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from tests.crash import forking as crash_forking

WARM = (
    *crash_forking.WARM,
    "anew.surfaces.cli.serve",
    "anew.surfaces.cli.worker",
    "anew.surfaces.api.app",
    "anew.stores.postgres",
    "anew.stores.remote",
    "httpx2",
    "starlette.routing",
    "uvicorn",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.httptools_impl",
    "tests.cluster.reading",
    "tests.cluster.skewed",
)


class Forking:
    """The requests that come, and the children there are."""

    def __init__(self) -> None:
        self.children: set[int] = set()
        self._woken, wakes = os.pipe()
        for descriptor in (self._woken, wakes):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wakes)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._asked = b""

    def next_request(self) -> dict[str, Any] | None:
        """Waits for it, and tells of whoever ends meanwhile; None when there will be no more."""
        while b"\n" not in self._asked:
            ready, _, _ = select.select([0, self._woken], [], [])
            self._tell_who_ended()
            if 0 in ready:
                more = os.read(0, 65536)
                if not more:
                    return None
                self._asked += more
        line, _, self._asked = self._asked.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _tell_who_ended(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._woken, 65536)
        for child in list(self.children):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                self.children.discard(child)
                _say({"ended": pid, "status": os.waitstatus_to_exitcode(status)})

    def end_all(self) -> None:
        for child in self.children:
            # One that has only just been forked has no group of its own yet.
            for end in (os.killpg, os.kill):
                with suppress(ProcessLookupError):
                    end(child, signal.SIGKILL)
            os.waitpid(child, 0)


def main() -> int:
    for module in WARM:
        import_module(module)
    forking = Forking()
    while (asked := forking.next_request()) is not None:
        child = os.fork()
        if child == 0:
            return _become(asked)
        forking.children.add(child)
        _say({"pid": child})
    forking.end_all()
    return 0


def _become(asked: dict[str, Any]) -> int:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if asked.get("skew_seconds"):
        from tests.cluster.skewed import shift

        shift(asked["skew_seconds"])
    return crash_forking._command(asked)


def _say(answer: dict[str, int]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
