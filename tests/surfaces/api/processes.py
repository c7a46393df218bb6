"""`anew serve` as a real process, for the tests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from msgspec import Struct

from tests.surfaces.api.served import TOKEN

PATIENCE_SECONDS = 60.0


class Server(Struct):
    process: subprocess.Popen[str]
    url: str

    def client(self, token: str | None = TOKEN) -> httpx2.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=PATIENCE_SECONDS)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """The exit status, and what it said on standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, errors


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "anew", "serve", *words]


def environment(**more: str) -> dict[str, str]:
    """Ours, without what would change what a server says or does."""
    unwanted = re.compile(r"ANEW_.*|(?:http|https|all)_proxy", re.IGNORECASE)
    return {k: v for k, v in os.environ.items() if not unwanted.fullmatch(k)} | more


@contextmanager
def server(folder: Path, *words: str, **env: str) -> Iterator[Server]:
    env = env or {"ANEW_TOKEN": TOKEN}
    process = subprocess.Popen(
        command("--port", "0", "--db", str(folder / "anew.db"), *words),
        env=environment(**env),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.match(r"anew: serving (http://\S+) ", line)
        assert found, (line, process.stderr.read() if process.stderr else "")
        yield Server(process, found[1])
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE_SECONDS)


def ended(client: httpx2.Client, run: str) -> Any:
    with client.stream("GET", f"/api/v1/runs/{run}/events/stream") as answer:
        assert answer.status_code == 200
        answer.read()
    return client.get(f"/api/v1/runs/{run}").json()
