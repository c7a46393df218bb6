"""A server of a test's own: it can be stopped in any way, and begun again where it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.web.scene import PATIENCE_SECONDS, Scene

# What a server that was killed had in hand is taken up by the next after so long.
LEASE_SECONDS = "2"


class Server:
    """`anew serve` on the database of a folder; the port that it finds it keeps."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self._folder = folder
        self._flags = flags
        self._port = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def scene(self) -> Scene:
        return Scene(f"http://127.0.0.1:{self._port}")

    def start(self) -> Scene:
        words = ["serve", "--port", str(self._port), "--db", str(self._folder / "anew.db")]
        command = [sys.executable, "-m", "anew", *words, *self._flags]
        surroundings = os.environ | {"ANEW_LEASE_SECONDS": LEASE_SECONDS}
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=self._folder, env=surroundings
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        url = next((word for word in line.split() if word.startswith("http://")), None)
        assert url is not None, f"the server ended with status {self._process.wait()}"
        self._port = urlsplit(url).port or 0
        return self.scene

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Returns once it is gone; one that is gone already stays so."""
        if self._process is None:
            return
        with self._process as process:
            process.send_signal(how)
            process.wait(PATIENCE_SECONDS)
        self._process = None


@contextmanager
def a_server(folder: Path, *flags: str) -> Iterator[Server]:
    server = Server(folder, *flags)
    try:
        server.start()
        yield server
    finally:
        server.stop()
