"""Real `anew` processes in a folder of their own: begun, killed, resumed, and what they leave.

Every wait is bounded, and whatever was started is ended with the world it belongs to.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any, NamedTuple

from tests.crash.auditor import Row, Story, complaints
from tests.crash.effect_tool import LEDGER_VARIABLE

ROOT = Path(__file__).resolve().parent.parent.parent
# Generous, because the machine may be busy; reached only when something hangs.
COMMAND_SECONDS_MAX = 30.0
# How often a run is resumed before it counts as one that never ends.
RESUMES_MAX = 10
KEY = "the-run"


class Hung(AssertionError):
    """A process did not end, or a condition did not come true."""


def soon(holds: Callable[[], Any], what: str, *, seconds: float = COMMAND_SECONDS_MAX) -> Any:
    """What `holds` gives as soon as it is true."""
    until = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > until:
            raise Hung(f"waited {seconds:g} s for {what}")
        time.sleep(0.002)
    return found


class Ended(NamedTuple):
    """How a command ended: its exit status (negative for a signal) and what it said."""

    status: int
    out: str
    err: str

    @property
    def was_killed(self) -> bool:
        return self.status == -signal.SIGKILL

    @property
    def found_nothing(self) -> bool:
        """Whether it was told that no run was ever begun here."""
        return self.status == 4 and ("does not exist" in self.err or "holds nothing" in self.err)


class Forker:
    """A warm process that makes one command at a time."""

    def __init__(self, tools: Path) -> None:
        found = os.pathsep.join(map(str, (ROOT / "src", ROOT, tools)))
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("forking.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": found, "NO_COLOR": "1"},
        )
        self._said: list[bytes] = []
        self._child: int | None = None

    def begin(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._answer(COMMAND_SECONDS_MAX)
        if answer is None:
            raise Hung("no process was forked")
        self._child = answer["pid"]
        return self._child

    def ended(self, seconds: float) -> int | None:
        """The exit status of the command, once it has one."""
        answer = self._answer(seconds)
        if answer is None:
            return None
        self._child = None
        return answer["status"]

    def _answer(self, seconds: float) -> dict[str, int] | None:
        assert self._process.stdout is not None
        if not self._said:
            ready, _, _ = select.select([self._process.stdout], [], [], seconds)
            # Lines are short and written at once, so none is ever there in part.
            self._said = os.read(self._process.stdout.fileno(), 4096).splitlines() if ready else []
        return json.loads(self._said.pop(0)) if self._said else None

    def close(self) -> None:
        if self._child is not None and self.ended(0) is None:
            os.kill(self._child, signal.SIGKILL)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.kill()
        self._process.wait(COMMAND_SECONDS_MAX)


class Forkers:
    """As many as are needed at once; they are used again and again."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="anew-crash-")
        self._free: LifoQueue[Forker] = LifoQueue()
        self._all: list[Forker] = []
        _register_tool(Path(self._folder.name))

    def take(self) -> Forker:
        try:
            return self._free.get_nowait()
        except Empty:
            forker = Forker(Path(self._folder.name))
            self._all.append(forker)
            return forker

    def give_back(self, forker: Forker) -> None:
        self._free.put(forker)

    def close(self) -> None:
        for forker in self._all:
            forker.close()
        self._folder.cleanup()


def _register_tool(folder: Path) -> None:
    """What an installer would leave of a package that brings the tool."""
    record = folder / "anew_crash-0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Name: anew-crash\nVersion: 0\n", encoding="utf-8")
    points = "[anew.tools]\neffect = tests.crash.effect_tool:EffectTool\n"
    (record / "entry_points.txt").write_text(points, encoding="utf-8")
    folder.chmod(0o755)


class Going:
    """A command at work."""

    def __init__(self, forkers: Forkers, request: dict[str, Any]) -> None:
        self._forkers = forkers
        self._forker = forkers.take()
        self._files = (Path(request["out"]), Path(request["err"]))
        self._status: int | None = None
        self.pid = self._forker.begin(request)

    def send(self, sign: int) -> None:
        if not self.has_ended():
            os.kill(self.pid, sign)

    def has_ended(self, seconds: float = 0.0) -> bool:
        if self._status is None:
            self._status = self._forker.ended(seconds)
            if self._status is not None:
                self._forkers.give_back(self._forker)
                self._end_group()
        return self._status is not None

    def wait(self, seconds: float = COMMAND_SECONDS_MAX) -> Ended:
        if not self.has_ended(seconds):
            self.send(signal.SIGUSR2)  # it says where it is
            self.has_ended(0.5)
            self.kill()
            out, err = self._said()
            raise Hung(f"a command did not end within {seconds:g} s. It said: {out}{err}")
        assert self._status is not None
        ended = Ended(self._status, *self._said())
        for shameful in ("Traceback", "never retrieved", "never awaited", "bug in Anew"):
            assert shameful not in ended.err, ended.err
        return ended

    def kill(self) -> None:
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)
            self.has_ended(COMMAND_SECONDS_MAX)

    def out(self) -> str:
        return self._said()[0]

    def err(self) -> str:
        return self._said()[1]

    def _end_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _said(self) -> tuple[str, str]:
        out, err = (file.read_text(errors="replace") for file in self._files)
        return out, err


class World:
    """A folder with documents, a database, and the ledger of what was done outside."""

    def __init__(self, folder: Path, forkers: Forkers) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.db = folder / "anew.db"
        self.kills = 0
        self._forkers = forkers
        self._ledger = folder / "ledger"
        self._going: list[Going] = []

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def begin(self, *words: str, env: dict[str, str] | None = None, **harm: Any) -> Going:
        number = len(self._going)
        request: dict[str, Any] = {
            "module": "anew.surfaces.cli.main",
            "words": list(words),
            "folder": str(self.folder),
            "env": {"ANEW_DB": str(self.db), LEDGER_VARIABLE: str(self._ledger), **(env or {})},
            "out": str(self.folder / f"out.{number}"),
            "err": str(self.folder / f"err.{number}"),
            **harm,
        }
        Path(request["out"]).touch()
        Path(request["err"]).touch()
        going = Going(self._forkers, request)
        self._going.append(going)
        return going

    def anew(self, *words: str, env: dict[str, str] | None = None, **harm: Any) -> Ended:
        ended = self.begin(*words, env=env, **harm).wait()
        self.kills += ended.was_killed
        return ended

    def killed_at(self, point: int, *words: str) -> Ended:
        """A command that is killed at its n-th commit point, if it comes that far."""
        return self.anew(*words, env={"ANEW_CRASH_AT": str(point)})

    def effects(self) -> list[Row]:
        if not self._ledger.exists():
            return []
        lines = self._ledger.read_text(encoding="utf-8").splitlines()
        return [row for row in map(json.loads, lines) if row["what"] == "called"]

    def cancelled_effects(self) -> list[Row]:
        lines = self._ledger.read_text(encoding="utf-8").splitlines()
        return [row for row in map(json.loads, lines) if row["what"] == "cancelled"]

    def read(self) -> dict[str, Any]:
        """What the commands tell of the database."""
        ended = self.begin(module="tests.crash.reading").wait()
        if ended.found_nothing:
            return {"runs": []}
        assert ended.status == 0, ended.err
        found: dict[str, Any] = json.loads(ended.out)
        return found

    def bring_to_end(self, *start: str, options: tuple[str, ...] = ()) -> dict[str, Any]:
        """Resume until every run has ended; `start` is what began the run that may not be there."""
        for _ in range(RESUMES_MAX):
            found = self.read()
            roots = [row for row in found["runs"] if row["parent"] is None]
            if roots and all(row["ended_at"] for row in found["runs"]):
                return found
            ended = self.anew("resume", *options) if roots else self.anew(*start)
            assert ended.status in (0, 1) or ended.was_killed, ended.err
        raise Hung(f"the run has not ended after {RESUMES_MAX} calls of `anew resume`")

    def complaints(self, found: dict[str, Any], attempts: dict[str, int]) -> list[str]:
        """What the auditor says of it all."""
        effects = self.effects()
        logs, replays = found["logs"], found["replays"]
        return complaints(Story(found["runs"], logs, replays, effects, self.kills, attempts))

    def close(self) -> None:
        for going in self._going:
            going.kill()


# What differs from run to run, however it went: who, when, and which branch came first.
_VOLATILE = frozenset({"_run_id", "_start_time", "_node_start_time"})
_VOLATILE_PREFIXES = ("parallel.",)


def outcome_of(found: dict[str, Any]) -> Any:
    """What the author sees of the root runs: all that must not depend on who was killed when."""
    roots = {row["run"] for row in found["runs"] if row["parent"] is None}
    kept = ("program", "status", "error", "result", "ctx", "steps")
    shown = [
        {name: told[name] for name in kept} for run, told in found["shown"].items() if run in roots
    ]
    for told in shown:
        told["ctx"] = {key: value for key, value in told["ctx"].items() if not _is_volatile(key)}
    # Names of runs are told apart by their age.
    text = json.dumps(sorted(shown, key=lambda told: told["program"]))
    for number, run in enumerate(sorted(found["shown"])):
        text = text.replace(run, f"run {number}")
    return json.loads(text)


def _is_volatile(key: str) -> bool:
    return key in _VOLATILE or key.startswith(_VOLATILE_PREFIXES)


@contextmanager
def small_folder() -> Iterator[Path]:
    """A folder with a short name: a socket's path has little room."""
    with tempfile.TemporaryDirectory(prefix="anew-crash-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
