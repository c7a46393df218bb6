"""What `make serve` shows, as a process: a server with runs in every state."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.request import Request, urlopen

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.05
STATES = frozenset(
    "running retrying person signal parked paused done failed dead cancelled".split()
)

T = TypeVar("T")


class Scene(Struct, frozen=True):
    """A server that asks for no token."""

    url: str

    def get(self, path: str) -> Any:
        with urlopen(f"{self.url}{path}") as answer:
            return json.load(answer)

    def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Content-Type": "application/json"}
        request = Request(f"{self.url}{path}", json.dumps(body or {}).encode(), headers)
        with urlopen(request) as answer:
            return json.load(answer)

    def start(self, document: str, **more: Any) -> str:
        """The id of a new run of a document."""
        return str(self.post("/api/v1/runs", {"document": document, **more})["run"])

    def state(self, run: str) -> str:
        return str(self.get(f"/api/v1/runs/{run}/picture")["state"])

    def reach(self, run: str, state: str) -> str:
        """The run, once it is in this state."""
        soon(lambda: self.state(run) == state, f"run {run} is {state}")
        return run

    def one(self, state: str, program: str | None = None) -> str:
        """A run that is in this state."""
        of = f"&program={program}" if program else ""
        return str(self.get(f"/api/v1/runs?state={state}{of}&limit=1")["runs"][0]["run"])


def soon(look: Callable[[], T], what: str) -> T:
    """What is found once it is there; AssertionError when it never is."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(POLL_SECONDS)
    raise AssertionError(f"never: {what}")


@contextmanager
def a_scene() -> Iterator[Scene]:
    """`make serve` on a free port and without a token, once every run has come to its state."""
    command = [sys.executable, "examples/serve.py", "--port", "0", "--no-auth"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            url = next(word for word in line.split() if word.startswith("http://"))
            scene = Scene(url.rstrip("/"))
            soon(lambda: _is_settled(scene), "runs in every state")
            yield scene
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_SECONDS)


def _is_settled(scene: Scene) -> bool:
    counts = scene.get("/api/v1/runs/facets")["states"]
    return all(counts[state] for state in STATES)
