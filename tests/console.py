"""Play the console blocks of a page, and say whether what happened is what the page shows.

A page whose commands read documents only is played in this process. Any other is typed into a real
shell, in a fresh folder with copies of the examples, a home and a database of its own. Its output
tells the time, so pages keep the output of a real run, and `alike` compares the rest: see MASKS.
A server or worker in the background is waited for, has a port of its own, and dies with the shell.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from threading import Timer
from types import TracebackType

from anew.runtime.databases import open_database
from anew.store import RunFilter, StoreError
from anew.surfaces.cli.lanes import ERROR_MARK, GLYPHS, LEVELS
from anew.surfaces.cli.main import main

ROOT = Path(__file__).resolve().parent.parent

# Commands that touch neither a database nor the network, and print the same every time.
PURE = ("check", "simulate", "migrate", "bounds", "schema", "--help", "--version")
COPIED = ("docs/examples", "examples")
# What pages call the lab server's port, that of `anew serve`, the working folder and the home folder.
SHOWN_PORT, SHOWN_SERVER = "127.0.0.1:8080", "127.0.0.1:8700"
SHOWN_FOLDER, SHOWN_HOME = "/srv/flows", "~"
# What pages call the PostgreSQL database that they are given.
SHOWN_POSTGRES = "postgresql://anew@db.example/anew"
# What goes on in the background, and prints a line once it is ready for others.
SERVICES = ("anew lab-server", "anew serve", "anew worker")
# Nothing on a page takes half as long; a page that hangs must not hang the tests.
COMMAND_SECONDS_MAX = 60.0
LOOK_SECONDS = 0.05
# What was committed is printed a moment later.
PRINT_SECONDS = 0.3
ENDS = ("run.done", "run.failed", "run.cancelled")


def commands(body: str) -> list[str]:
    """What is typed in a console block."""
    return [line[2:] for line in body.splitlines() if line.startswith("$ ")]


def is_pure(command: str) -> bool:
    match shlex.split(command, comments=True):
        case ["anew", word, *others]:
            return word in PURE and "|" not in others
        case words:
            return words == ["echo", "$?"]


# --- in this process -----------------------------------------------------------------------------


def run(words: list[str]) -> tuple[str, int]:
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        exit_status = main(words)
    return printed.getvalue(), exit_status


def played(body: str) -> str:
    """A block of pure commands, with the output they give now."""
    exit_status = 0

    def answer(command: str) -> str:
        nonlocal exit_status
        words = shlex.split(command, comments=True)
        if words == ["echo", "$?"]:
            return f"{exit_status}\n"
        printed, exit_status = run(words[1:])
        return printed

    return _transcript(body, answer)


def _transcript(body: str, answer: Callable[[str], str]) -> str:
    lines: list[str] = []
    for command in commands(body):
        lines += [f"$ {command}", *answer(command).splitlines()]
    return "".join(f"{line.rstrip()}\n" for line in lines)


# --- in a shell ----------------------------------------------------------------------------------


class Terminal:
    """A shell with a world of its own, for the commands of one page."""

    def __init__(
        self,
        folder: Path,
        variables: Mapping[str, str] | None = None,
        *,
        postgres: str | None = None,
    ) -> None:
        self._variables = variables or {}
        self._postgres = postgres
        self._folder, self._home = folder / "flows", folder / "home"
        self._home.mkdir(parents=True)
        self._temporary = folder / "temporary"
        self._temporary.mkdir()
        self._port, self._server_port = _free_port(), _free_port()
        for name in COPIED:
            shutil.copytree(ROOT / name, self._folder / name)
        for document in self._folder.rglob("*.yaml"):
            told = document.read_text(encoding="utf-8")
            document.write_text(told.replace(SHOWN_PORT, self._address), encoding="utf-8")
        self._printed = folder / "printed"
        self._exit_status = 0

    @property
    def _address(self) -> str:
        return f"127.0.0.1:{self._port}"

    def __enter__(self) -> Terminal:
        self._shell = subprocess.Popen(
            ["sh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # where the shell tells of jobs that were killed
            cwd=self._folder,
            env={
                **_environment(self._home),
                "TMPDIR": str(self._temporary),
                **self._variables,
            },
            start_new_session=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.communicate()

    def played(self, body: str, *, until: str = "") -> str:
        """A block with its output, typed once the newest run goes on and its log has `until`."""
        if until:
            _wait(lambda: self._has_happened(until), f"no {until} came")
            time.sleep(PRINT_SECONDS)
        return _transcript(body, self._answer)

    def _answer(self, command: str) -> str:
        typed = command
        for found, shown in self._addresses():
            typed = typed.replace(shown, shlex.quote(found))
        typed = typed.replace("anew lab-server --port 8080", f"anew lab-server --port {self._port}")
        typed = typed.replace("anew serve", f"anew serve --port {self._server_port}")
        self._type(typed)
        # It prints a line when it is ready; nobody would go on before that.
        if any(word in typed for word in SERVICES) and typed.endswith("&"):
            _wait(lambda: bool(self._printed.read_text()), f"`{typed}` does not start")
        return self._shown(self._printed.read_text(encoding="utf-8"))

    def _addresses(self) -> list[tuple[str, str]]:
        """Where something really is, and where pages say it is."""
        shared = [(self._postgres, SHOWN_POSTGRES)] if self._postgres else []
        server = f"127.0.0.1:{self._server_port}"
        return [(self._address, SHOWN_PORT), (server, SHOWN_SERVER), *shared]

    def _type(self, command: str) -> None:
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        # A file of its own for each command: one in the background may still write to the last.
        self._printed = self._printed.with_name(f"printed{time.monotonic_ns()}")
        line = f"(exit {self._exit_status})\n{{ {command}\n}} >{self._printed} 2>&1 </dev/null\n"
        alarm = _Alarm(self._shell.pid)
        self._shell.stdin.write(f"{line}echo $?\n".encode())
        self._shell.stdin.flush()
        answer = self._shell.stdout.readline()
        alarm.cancel()
        assert answer, f"`{command}` took over {COMMAND_SECONDS_MAX:g} s, or ended the shell"
        self._exit_status = int(answer)

    def _shown(self, printed: str) -> str:
        for found, shown in (
            *self._addresses(),
            (str(self._folder), SHOWN_FOLDER),
            (str(self._home), SHOWN_HOME),
        ):
            printed = printed.replace(found, shown)
        return printed

    def _has_happened(self, event: str) -> bool:
        file = self._folder / ".anew/anew.db"
        places = [str(file)] if file.exists() else []
        logs = [asyncio.run(_newest_log(place)) for place in (*places, self._postgres) if place]
        return any(event in log and log[-1] not in ENDS for log in logs)


class _Alarm:
    """Kills a shell that takes too long, so that reading from it ends."""

    def __init__(self, group: int) -> None:
        self._timer = Timer(COMMAND_SECONDS_MAX, os.killpg, (group, signal.SIGKILL))
        self._timer.start()

    def cancel(self) -> None:
        self._timer.cancel()
        self._timer.join()


async def _newest_log(place: str) -> list[str]:
    try:
        async with open_database(place, read_only=True) as database:
            newest = await database.archive.runs(RunFilter(limit=1))
            log = await database.archive.events(newest[0].run) if newest else []
            return [event.name for event in log]
    except StoreError:  # it is just being made
        return []


def _wait(is_so: Callable[[], bool], otherwise: str) -> None:
    patience = time.monotonic() + COMMAND_SECONDS_MAX
    while not is_so():
        assert time.monotonic() < patience, otherwise
        time.sleep(LOOK_SECONDS)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _environment(home: Path) -> dict[str, str]:
    scripts = Path(sys.executable).parent
    return {
        "PATH": f"{scripts}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONUTF8": "1",
        "TZ": "UTC",
        "NO_COLOR": "1",
    }


# --- what pages and reality must share -----------------------------------------------------------

MARKS = "".join(glyph.shown for glyph in (*GLYPHS.values(), ERROR_MARK)) + LEVELS[0]

# What differs from run to run, and what `alike` sees in its place. A retry's delay stays as it is.
MASKS: Sequence[tuple[re.Pattern[str], str]] = [
    (re.compile(pattern, re.M), mask)
    for pattern, mask in (
        # The lanes of a run are drawn to scale: bars as long as things took, and what the marks mean.
        (rf"^(\S+ +)[{MARKS} ]{{20,}}?(  [^{MARKS}\s].*)?$", r"\1<bars>\2"),
        (r"^ +0 s( .*)?$", "<scale>"),
        (rf"(^ +[{MARKS}]\S* \w.*\n)+", "<legend>\n"),
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "<moment>"),
        (r"^(# Recorded from run .* of )\d{4}-\d\d-\d\d(?=: )", r"\1<day>"),
        (r"\b\d\d:\d\d:\d\d\b", "<clock>"),
        # A random draw may have as many digits behind its point.
        (r"(?<!\.)\b\d{18,19}\b", "<run>"),
        (r"^ +\d+\.\d{3}(?=  )", "<second>"),
        (r'"(seconds|elapsed|slept|duration_ms)": [\d.e-]+', r'"\1": <number>'),
        (
            r"(?<!retry after )(?<!retry in )(?<![\w.])[\d.]+ (ms|s|min|h)\b( \d+ (s|min))?",
            "<duration>",
        ),
        (r"\btakes: [\d.]+", "takes: <number>"),  # in the scenario of a real run
        # Whether an entry fits into one line depends on how many digits that number has.
        (r":\n +- (\{.*takes: <number>\})$", r": [\1]"),
        (r"\b(draws|delays): \[[\d., ]+\]", r"\1: <numbers>"),
        (r"^\S*sh: .*\bKilled\b.*$", "Killed"),  # shells tell it in different words
        (r"\bprocess \d+", "process <id>"),
        (r"\bkill -9 \d+", "kill -9 <id>"),
        (r"\S*/anew-demo-\w+", "<folder>"),
        (r"127\.0\.0\.1:\d+", "<address>"),
        (r"(/hooks/\S+/)[\w-]{43}", r"\1<signature>"),
        (r"[\d,]+ bytes", "<bytes>"),
        (r"\b[0-9a-f]{12,64}\b", "<digest>"),
        (r"\d+\.\d+\.\d+", "<version>"),
        (r" {2,}", "  "),
    )
]


@cache
def masked(text: str) -> str:
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


def alike(shown: str, happened: str) -> bool:
    """Whether a page shows what happened, but for the time it took."""
    return masked(shown) == masked(happened)
