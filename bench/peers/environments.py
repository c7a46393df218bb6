"""Make a peer's virtual environment, once, under `build/peers/`, and say how the peer is set up.

A peer that cannot be had is a side with a reason, never an error: there may be no index to ask.

    side = peer("prefect")
    with started(side) as side:
        ...  # as many samples as there are

`started` is for every side. One whose server takes long to start gets it for the whole block, and
the side that it yields knows where the server is; the others start what they need in each sample.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

from msgspec import Struct, structs

from bench.contest import FOLDER, ROOT, Side, environment, say

HERE = Path(__file__).parent
INSTALL_SECONDS_MAX = 300
STOP_SECONDS_MAX = 15


class Peer(Struct, frozen=True):
    """What is installed: a package, the packages that it can use and does not bring, and more.

    `node` is a package of npm, with its version. Everything else is pinned by the constraints.
    """

    title: str
    package: str
    needs: tuple[str, ...] = ()
    constraints: str = "constraints.txt"
    node: str | None = None

    def pins(self) -> str:
        return (HERE / self.constraints).read_text(encoding="utf-8")

    def version(self) -> str:
        """Of the server, where there is one."""
        if self.node is not None:
            return self.node.rpartition("@")[2]
        return next(
            version
            for name, _, version in (line.partition("==") for line in self.pins().splitlines())
            if name == self.package
        )


PEERS = {
    "dbos": Peer("DBOS", "dbos"),
    "langgraph": Peer(
        "LangGraph",
        "langgraph",
        (
            "langgraph-checkpoint-sqlite",
            "langgraph-checkpoint-postgres",
            "psycopg-binary",
            "psycopg-pool",
        ),
    ),
    "burr": Peer("Burr", "burr", ("pydantic",)),
    "restate": Peer(
        "Restate", "restate-sdk", ("hypercorn",), node="@restatedev/restate-server@1.7.12"
    ),
    "prefect": Peer("Prefect", "prefect", constraints="constraints-prefect.txt"),
    "procrastinate": Peer("Procrastinate", "procrastinate", ("psycopg-binary",)),
    "pgqueuer": Peer("PgQueuer", "pgqueuer", ("asyncpg",)),
    "attractor": Peer("py-attractor", "py-attractor"),
    "noetl": Peer("NoETL", "noetl"),
}

# Exactly how each peer is set up, in a sentence; where nothing is said, as it comes. A workload
# whose name ends with -wal is on a SQLite file that was given a write-ahead log beforehand.
SETTINGS: dict[str, str] = {
    "dbos": (
        "on SQLite as it opens the file (rollback journal, synchronous=FULL), on PostgreSQL with "
        "its pool of 20 connections; plain functions; workflows started directly, not through its "
        "queue, which polls once a second; a loop gathers 20 steps at a time, because more of them "
        "wait for a connection until they fail"
    ),
    "langgraph": (
        'SqliteSaver as it opens the file (WAL, synchronous=FULL), durability="sync", a superstep '
        "for each step; PostgresSaver with a pool of 8 connections and autocommit; runs from 4 "
        "threads; a loop is a Send for each item, 8 at once"
    ),
    "burr": (
        "SQLitePersister as it opens the file (rollback journal, synchronous=FULL), a row with the "
        "whole state after each action; a loop is MapStates, whose items inherit the persister; "
        "pydantic, which only MapStates needs, is hidden from everything else"
    ),
    "restate": (
        "one server as it comes (24 partitions, RocksDB with its log flushed), telemetry off; the "
        "Python SDK on hypercorn, one process, HTTP/2; a step is ctx.run; 32 clients"
    ),
    "prefect": (
        "its own server on SQLite, one process, no UI; tasks called in flows of another process, "
        "4 flows at once; the states of tasks are sent to the server and results are not kept, "
        "which is not durable step by step"
    ),
    "procrastinate": (
        "10 jobs at once in each process; in a run each job defers the next; stock polling"
    ),
    "pgqueuer": "asyncpg and uvloop, batches of 50, logged tables (durable)",
    "attractor": (
        "its simulation backend; a JSON file after each node, not flushed and never read again"
    ),
    "noetl": (
        "the local runtime, which keeps nothing; a step is a shell that calls true, its cheapest "
        "one; runs from 4 threads"
    ),
}

# What a figure does not show. What a side cannot do at all it says itself, as a reason.
CANNOT: dict[str, list[str]] = {
    "dbos": [
        "failed attempts are not stored: it keeps one row for a step, and a process that dies "
        "starts counting again",
        "more than 20 steps of a workflow at once wait for its connections, and fail after 30 s",
    ],
    "langgraph": [
        "failed attempts are not stored, and a process that dies starts counting again",
        "a run continues after a crash only when its caller invokes it again with its thread id",
    ],
    "burr": [
        "has no retries",
        "a run continues after a crash only when its caller builds the application with its id",
    ],
    "restate": [
        "of failures in a row that say the same, one is kept",
        "needs its server, which keeps everything in files of its own",
    ],
    "prefect": [
        "the next task does not wait until a task's state is kept: when a flow of 100 tasks had "
        "ended, the server knew of 6, and of all of them 4 s later",
    ],
    "procrastinate": ["has jobs, but no runs of several steps with results that are kept"],
    "pgqueuer": ["has jobs, but no runs of several steps with results that are kept"],
    "attractor": [
        "flushes nothing, and does not resume",
        "parallel branches are listed, but one of them is executed",
        "the delays of retries cannot be chosen",
    ],
    "noetl": ["keeps nothing on disk in its local runtime, and ignores loops and retries there"],
}

# A server that takes longer than that to start is not waited for.
SERVER_SECONDS_MAX = 120
SERVED = ("bench.peers.prefect_side",)


def peer(name: str) -> Side:
    """One of PEERS as a side, with its version in its name."""
    one = PEERS[name]
    problem = _problem(name, one)
    if problem is not None:
        return Side(one.title, reason=f"not installed: {problem}")
    command = (str(_folder(name) / "bin" / "python"), "-m", f"bench.peers.{name}_side")
    return Side(f"{one.title} {one.version()}", command)


@contextmanager
def started(side: Side) -> Iterator[Side]:
    """The same side, or one that uses a server which runs until the block ends."""
    if side.reason is not None or side.command[-1] not in SERVED:
        yield side
        return
    say(f"starting the server of {side.name}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(dir=FOLDER, ignore_cleanup_errors=True))
        address = stack.enter_context(_server([*side.command, "server", "0", folder]))
        if address:
            yield structs.replace(side, command=(*side.command, address))
        else:
            yield Side(side.name, reason="its server did not start")


@contextmanager
def _server(command: Sequence[str]) -> Iterator[str]:
    """A process that prints the address of what it started, and stops it when its input ends."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=environment(),
        start_new_session=True,
    )
    timer = Timer(SERVER_SECONDS_MAX, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        timer.cancel()
        yield address
    finally:
        timer.cancel()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=STOP_SECONDS_MAX)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _folder(name: str) -> Path:
    return ROOT / "build" / "peers" / name


def _problem(name: str, one: Peer) -> str | None:
    """Why it is not there, in a line; None when it is."""
    ready = _folder(name) / ".ready"
    wanted = f"{one}\n{one.pins()}"
    with _alone():
        if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
            return None
        say(f"installing {one.title} into {_folder(name).relative_to(ROOT)}, once")
        problem = next(filter(None, map(_trouble, _commands(name, one))), None)
        if problem is None:
            ready.write_text(wanted, encoding="utf-8")
        return problem


@contextmanager
def _alone() -> Iterator[None]:
    """Two that measure at the same time would clear each other's environments."""
    place = ROOT / "build" / "peers"
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _commands(name: str, one: Peer) -> Iterator[list[str]]:
    folder = str(_folder(name))
    yield [sys.executable, "-m", "venv", "--clear", folder]
    pip = [f"{folder}/bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    yield [*pip, "--constraint", str(HERE / one.constraints), one.package, *one.needs]
    if one.node is not None:
        # Its scripts would load a program from elsewhere; the program is in the package.
        yield ["npm", "install", "--ignore-scripts", "--no-save", "--prefix", folder, one.node]


def _trouble(command: Sequence[str]) -> str | None:
    """What went wrong, in a line."""
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX
        )
    except FileNotFoundError:
        return f"{command[0]} is not here"
    except subprocess.TimeoutExpired:
        return f"it took longer than {INSTALL_SECONDS_MAX} s"
    said = done.stderr.strip().splitlines() or [f"{command[0]} said nothing"]
    return said[-1] if done.returncode else None
