"""Real `anew` processes side by side, forked from a warm one: begun, signalled, ended.

Every wait is bounded, and whatever was started is ended with its test.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.crash.kit import COMMAND_SECONDS_MAX, ROOT, Ended, Hung, _register_tool

# What a process must not know of whoever runs the tests.
FOREIGN_PREFIXES = ("ANEW_", "PG", "XDG_", "OTEL_")


class Spawner:
    """The warm process, and how those it forked have ended."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="anew-cluster-")
        tools = Path(self._folder.name)
        _register_tool(tools)
        found = os.pathsep.join(map(str, (ROOT / "src", ROOT, tools)))
        kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN_PREFIXES)}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("forking.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**kept, "PYTHONPATH": found, "NO_COLOR": "1", "HOME": self._folder.name},
        )
        self._begun: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._asking = threading.Lock()
        self._news = threading.Condition()
        self._ended: dict[int, int] = {}
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def begin(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        with self._asking:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            try:
                return self._begun.get(timeout=COMMAND_SECONDS_MAX)
            except queue.Empty:
                raise Hung("no process was forked") from None

    def status(self, pid: int, seconds: float = 0.0) -> int | None:
        """How it ended, once it has."""
        with self._news:
            self._news.wait_for(lambda: pid in self._ended, seconds)
            return self._ended.get(pid)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if "pid" in told:
                self._begun.put(told["pid"])
                continue
            with self._news:
                self._ended[told["ended"]] = told["status"]
                self._news.notify_all()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(COMMAND_SECONDS_MAX)
        finally:
            self._process.kill()
            self._process.wait(COMMAND_SECONDS_MAX)
            self._listener.join(COMMAND_SECONDS_MAX)
            self._process.stdout.close()
            self._folder.cleanup()


class Process:
    """One `anew` at work, under a name. It may be begun again with the same words."""

    def __init__(self, spawner: Spawner, name: str, request: dict[str, Any]) -> None:
        self.name = name
        self.request = request
        self._spawner = spawner
        self._files = (Path(request["out"]), Path(request["err"]))
        for file in self._files:
            file.touch()
        self._is_frozen = False
        self.pid = spawner.begin(request)

    @property
    def has_ended(self) -> bool:
        return self._spawner.status(self.pid) is not None

    def send(self, sign: int) -> None:
        if not self.has_ended:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sign)

    def freeze(self) -> None:
        self._is_frozen = True
        self.send(signal.SIGSTOP)

    def thaw(self) -> None:
        self._is_frozen = False
        self.send(signal.SIGCONT)

    def kill(self) -> None:
        """End it and whatever it started, at once."""
        self.send(signal.SIGKILL)
        if self._spawner.status(self.pid, COMMAND_SECONDS_MAX) is None:
            raise Hung(f"{self.name} cannot be killed")
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def wait(self, seconds: float = COMMAND_SECONDS_MAX) -> Ended:
        status = self._spawner.status(self.pid, seconds)
        if status is None:
            self.send(signal.SIGUSR2)  # it says where it is
            self._spawner.status(self.pid, 0.5)
            self.kill()
            raise Hung(f"{self.name} did not end within {seconds:g} s. It said: {self.said()}")
        return Ended(status, self.out(), self.err())

    def out(self) -> str:
        return self._files[0].read_text(errors="replace")

    def err(self) -> str:
        return self._files[1].read_text(errors="replace")

    def said(self) -> str:
        return self.out() + self.err()
