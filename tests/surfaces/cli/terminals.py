"""A folder with playbooks in it, and terminals in which a user types `anew` there.

`call` runs a command inside the test; `open` starts a real process, for what needs signals or a
second terminal. Playbooks tell the test where they are, and wait for it, through named pipes.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from anew.surfaces.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
# Far above what any of this takes: what hangs should fail and not stop the suite.
PATIENCE_SECONDS = 40

HELLO = """\
metadata: {name: hello}
workload: {who: world}
workflow:
  - step: greet
    tool: {kind: noop, result: {who: "{{ workload.who }}"}}
"""
# Leaves a line for each execution, then says where it is, waits to be let go, and ends.
HELD = """\
metadata: {name: held}
workflow:
  - step: first
    tool: {kind: shell, command: "echo first >> done.txt"}
    next: [{step: hold}]
  - step: hold
    tool:
      - hold: {kind: shell, command: "echo hold >> done.txt; echo $$ > bell; read word < gate; echo $word"}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: {word: "{{ hold.stdout | trim }}"}}
"""
SECOND = HELD.replace("held", "second").replace("bell", "bell2").replace("gate", "gate2")


class Told(Struct, frozen=True):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def is_one_clear_line(self) -> bool:
        """Nothing but one line of ours on standard error."""
        return (
            not self.out
            and self.err.startswith("anew: ")
            and self.err.count("\n") == 1
            and "Traceback" not in self.err
        )


class Pipe:
    """A named pipe that never blocks the test, because it holds both ends."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._ends = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def read(self) -> str:
        """The next line someone writes."""
        ready, _, _ = select.select([self._ends], [], [], PATIENCE_SECONDS)
        assert ready, "nobody wrote"
        return os.read(self._ends, 4096).decode().strip()

    def write(self, line: str) -> None:
        os.write(self._ends, f"{line}\n".encode())

    def close(self) -> None:
        os.close(self._ends)


class Opened:
    """A command at work in a terminal of its own."""

    def __init__(self, folder: Path, number: int, words: tuple[str, ...]) -> None:
        self._out = folder / f"terminal-{number}.out"
        self._err = b""
        with self._out.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "anew", *words],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            )

    @property
    def printed(self) -> str:
        """What is on its standard output so far."""
        return self._out.read_text()

    def interrupt(self) -> None:
        """Ctrl-C: the signal goes to everything in the foreground."""
        os.killpg(self.process.pid, signal.SIGINT)

    def read_error(self) -> str:
        """The next thing it says on standard error."""
        assert self.process.stderr is not None
        ready, _, _ = select.select([self.process.stderr], [], [], PATIENCE_SECONDS)
        assert ready, "it says nothing"
        said = os.read(self.process.stderr.fileno(), 4096)
        self._err += said
        return said.decode()

    def stop(self) -> Told:
        """Ctrl-C, and again, so that it does not wait for the calls at work."""
        self.interrupt()
        self.read_error()
        self.interrupt()
        return self.wait()

    def wait(self) -> Told:
        _, rest = self.process.communicate(timeout=PATIENCE_SECONDS)
        err = (self._err + rest).decode()
        return Told(self.process.returncode, self._out.read_text(), err)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE_SECONDS)


class Desk:
    """The user's folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        self._opened: list[Opened] = []
        self._pipes: list[Pipe] = []

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name

    def secret(self, text: str) -> str:
        """A file that only its owner can read."""
        (self.folder / "secret").touch(mode=0o600)
        return self.write("secret", text)

    def pipe(self, name: str) -> Pipe:
        self._pipes.append(Pipe(self.folder / name))
        return self._pipes[-1]

    def call(self, *words: str) -> Told:
        self._capsys.readouterr()
        status = main(words)
        printed = self._capsys.readouterr()
        return Told(status, printed.out, printed.err)

    def open(self, *words: str) -> Opened:
        self._opened.append(Opened(self.folder, len(self._opened), words))
        return self._opened[-1]

    def log(self, run: str = "last") -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.call("events", run, "--json").out.splitlines()]

    def names(self, run: str = "last") -> list[str]:
        return [event["name"] for event in self.log(run)]

    def runs(self, *words: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.call("runs", "--json", *words).out.splitlines()]

    def done(self) -> list[str]:
        """What the shell commands of HELD have left."""
        return (self.folder / "done.txt").read_text().split()

    def close(self) -> None:
        for opened in self._opened:
            opened.close()
        for pipe in self._pipes:
            pipe.close()


CLEARED = ("ANEW_DB", "ANEW_KEY", "ANEW_DEBUG", "ANEW_SERVER", "ANEW_TOKEN", "ANEW_HTTP_GUARD")


@pytest.fixture(name="desk")
def a_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("ANEW_SYNCHRONOUS", "NORMAL")
    for name in CLEARED:
        monkeypatch.setenv(name, "")  # so that what a command puts there is gone after the test
        monkeypatch.delenv(name)
    desk = Desk(tmp_path, capsys)
    yield desk
    desk.close()


class Held(Struct, frozen=True):
    """A terminal in which a run of HELD waits in the middle; `shell` is the process it runs."""

    terminal: Opened
    bell: Pipe
    gate: Pipe
    shell: int


class Second:
    """Another terminal, whose run waits in the middle too."""

    def __init__(self, desk: Desk, *words: str) -> None:
        self.bell, self.gate = desk.pipe("bell2"), desk.pipe("gate2")
        self.terminal = desk.open("run", desk.write("second.yaml", SECOND), *words)
        self.shell = int(self.bell.read())


@pytest.fixture(name="held")
def a_held_run(desk: Desk) -> Held:
    bell, gate = desk.pipe("bell"), desk.pipe("gate")
    terminal = desk.open("run", desk.write("held.yaml", HELD))
    return Held(terminal, bell, gate, int(bell.read()))


def wait_until_gone(process: int) -> None:
    """Wait for the end of a process that is not ours."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return
    ready, _, _ = select.select([handle], [], [], PATIENCE_SECONDS)
    os.close(handle)
    assert ready, f"process {process} is still there"


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
