"""A server and its workers, as real processes on the loopback, and what is asked of them.

Everything is as a user has it, but for a token: 32 slots a worker, leases of 30 seconds. The server
does not work itself. Whatever is started is ended, and every wait is bounded.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import local
from typing import IO, Any, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct, field

from bench.asking import answers
from bench.cluster import cpu, reading
from bench.contest import FOLDER, SideFailed
from bench.startup import anew_command
from bench.tool_package import register, settings

Answer = TypeVar("Answer")
Manner: TypeAlias = Literal["HTTP", "--db"]

WORKERS = 2
# As many as a program that starts hundreds of runs at once would open.
CLIENT_CONNECTIONS = 64
READY_SECONDS_MAX = 60.0
ANSWER_SECONDS_MAX = 60.0
# The server closes a connection that nobody used for 5 seconds.
UNUSED_SECONDS_MAX = 2.0
RUNS_SECONDS_MAX = 120.0
END_SECONDS_MAX = 20.0
POLL_SECONDS = 0.02
LOOK_SECONDS = 0.004


class Cluster(Struct):
    """One of them, at work on the database at `url`."""

    url: str
    address: str
    manner: Manner
    server: int
    workers: list[int]
    _links: local = field(default_factory=local)

    def register(self, name: str, workflow: str) -> None:
        """Make a document known under a name."""
        document = f"metadata: {{name: {name}}}\n{workflow}"
        self._post("/api/v1/programs", {"document": document})

    def start(self, program: str, workload: dict[str, Any] | None = None) -> int:
        """A run of a registered program, once the server has acknowledged it."""
        return int(
            self._post("/api/v1/runs", {"program": program, "workload": workload or {}})["run"]
        )

    def start_many(self, program: str, number: int) -> list[int]:
        """Asked for at once, as far as the client's connections allow."""
        body = json.dumps({"program": program, "workload": {}}).encode()
        port, asked = urlsplit(self.address).port or 0, {"connections": CLIENT_CONNECTIONS}
        given = answers(port, "/api/v1/runs", body, number=number, **asked)
        return [int(json.loads(answer)["run"]) for answer in given]

    def finish(self, runs: list[int]) -> float:
        """When all of these runs were seen to have ended, in seconds since 1970; they succeed."""
        until = time.monotonic() + RUNS_SECONDS_MAX
        with reading.Reader(self.url) as reader:
            while (open_runs := reader.unfinished(runs)) > 0:
                if time.monotonic() > until:
                    raise SideFailed(f"{open_runs} of {len(runs)} runs have not ended")
                time.sleep(LOOK_SECONDS)
            seen = time.time()
            reader.check(runs)
            return seen

    def read(self, ask: Callable[[reading.Reader], Answer]) -> Answer:
        """What the tables answer."""
        with reading.Reader(self.url) as reader:
            return ask(reader)

    def cpu_seconds(self) -> dict[str, float]:
        """What server and workers have used so far."""
        return {"server": cpu.seconds_of([self.server]), "workers": cpu.seconds_of(self.workers)}

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        link = self._link()
        link.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = link.getresponse()
        text = response.read()
        if response.status not in (200, 201):
            raise SideFailed(f"POST {path}: {response.status} {text.decode(errors='replace')}")
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _link(self) -> HTTPConnection:
        """The connection of this thread, kept open as long as it is used."""
        now = time.monotonic()
        link: HTTPConnection | None = getattr(self._links, "link", None)
        if link is None or now - self._links.used_at > UNUSED_SECONDS_MAX:
            place = urlsplit(self.address)
            link = HTTPConnection(place.hostname or "", place.port, timeout=ANSWER_SECONDS_MAX)
            self._links.link = link
        self._links.used_at = now
        return link


@contextmanager
def cluster(url: str, manner: Manner) -> Iterator[Cluster]:
    """Server and workers that are ready, until the end of the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(dir=FOLDER)))
        register(folder)
        begin = _beginner(stack, folder)
        said = begin("serve", "--port", "0", "--no-auth", "--no-workers", "--db", url)
        server, address = said.process.pid, said.find("http://")
        place = ("--server", address) if manner == "HTTP" else ("--db", url)
        begun = [begin("worker", *place) for _ in range(WORKERS)]
        for one in begun:
            one.find("ready")
        yield Cluster(url, address, manner, server, [one.process.pid for one in begun])


class _Process(Struct):
    """A process, and what it prints."""

    process: subprocess.Popen[str]
    lines: IO[str]

    def find(self, word: str) -> str:
        """The first word it prints that begins with this."""
        until = time.monotonic() + READY_SECONDS_MAX
        while time.monotonic() < until and self.process.poll() is None:
            self.lines.seek(0)
            for found in self.lines.read().split():
                if found.startswith(word):
                    return found
            time.sleep(POLL_SECONDS)
        self.lines.seek(0)
        raise SideFailed(f"anew {self.process.args!r} is not ready. It said: {self.lines.read()}")


def _beginner(stack: ExitStack, folder: Path) -> Callable[..., _Process]:
    """Starts commands that end with the stack, the newest first."""
    numbers = count()

    def begin(*words: str) -> _Process:
        said = folder / f"said-{next(numbers)}"
        lines = stack.enter_context(said.open("w+", encoding="utf-8"))
        process = subprocess.Popen(
            [*anew_command(), *words],
            stdout=lines,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            env=settings(folder),
            text=True,
        )
        stack.callback(_end, process)
        return _Process(process, lines)

    return begin


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS_MAX)
        return
    print(f"cluster: process {process.pid} had to be killed", file=sys.stderr)
    process.kill()
    process.wait()
