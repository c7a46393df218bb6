"""The world in which examples really run: a lab server, a PostgreSQL, a database of its own.

Knows how to run a document for real and how to compare its log with a timeline. Which documents
are run, and what each needs, is the table in `test_examples_run.py`.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Sequence
from difflib import unified_diff
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml
from msgspec import Struct

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunState
from anew.lab.replay import replay
from anew.lab.script import read_script
from anew.lab.server import LabServer
from anew.lab.simulate import Simulation, simulate
from anew.program.program import Program
from anew.runtime.embedded import Embedded
from anew.runtime.ledger import Order
from anew.runtime.programs import Document, read_document
from anew.runtime.retrying import whole_log
from anew.store import RunFilter
from anew.stores.sqlite import SqliteDatabase
from anew.views.summary import summary
from anew.views.timeline import timeline_lines

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# Where the documents expect the lab server.
LAB_URL_WRITTEN = "http://127.0.0.1:8080"
# Far above what any example takes; a run that hangs should say so and not stop the suite.
RUN_SECONDS_MAX = 60
TIME_COLUMNS = 11

Watcher = Callable[[Sequence[e.Event]], None]


class LabThread:
    """A lab server in a thread of its own, for code that brings its own event loop."""

    def __enter__(self) -> LabThread:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = LabServer()
        self._do(self._server.__aenter__())
        self.url = self._server.url
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._do(self._server.__aexit__(kind, error, trace))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(RUN_SECONDS_MAX)


class Played(Struct):
    """One run and what it left: a real one, or a simulated one in the same words."""

    program: Program
    log: list[e.Event]
    children: list[Played] = []

    @property
    def state(self) -> RunState:
        return fold(self.log)

    @property
    def report(self) -> dict[str, Any]:
        return summary(self.program, self.log, self.state)

    def text(self) -> str:
        return "\n".join(timeline_lines(self.log))


def script_file(name: str) -> Path:
    return EXAMPLES / f"{name}.script.yaml"


def document_file(name: str) -> Path:
    """`endpoints/endpoints.partly` plays `endpoints/endpoints.yaml`."""
    folder, _, file = name.rpartition("/")
    return EXAMPLES / folder / f"{file.partition('.')[0]}.yaml"


def timeline_text(name: str) -> str:
    """The golden timeline, without the line that sums it up."""
    text = (EXAMPLES / f"{name}.timeline.txt").read_text(encoding="utf-8")
    return "\n".join(text.splitlines()[:-1])


def workload_of(name: str, lab_url: str | None) -> dict[str, Any]:
    """What the run is asked with: the script's own workload, and where the lab server is."""
    script = yaml.safe_load(script_file(name).read_text(encoding="utf-8"))
    asked: dict[str, Any] = script.get("workload", {})
    return {**asked, "base_url": lab_url} if lab_url else asked


def simulated(name: str) -> Simulation:
    source = document_file(name).read_text(encoding="utf-8")
    program = read_document(source, str(document_file(name))).program
    return simulate(program, read_script(script_file(name).read_bytes(), script_file(name).name))


def really_run(
    name: str, folder: Path, *, lab_url: str | None = None, watcher: Watcher | None = None
) -> Played:
    """Run an example for real on a SQLite file in `folder`; every draw of chance is 0.5."""
    file = document_file(name)
    document = read_document(file.read_text(encoding="utf-8"), str(file))
    order = Order(document, workload_of(name, lab_url))
    return asyncio.run(_run(order, folder, watcher))


async def _run(order: Order, folder: Path, watcher: Watcher | None) -> Played:
    folder.mkdir(parents=True, exist_ok=True)
    database = SqliteDatabase.open(folder / "anew.db", synchronous="NORMAL")
    engine = Embedded(database, folder / "scratch", draw=lambda: 0.5)
    if watcher is not None:
        engine.listen(lambda _, events: watcher(events))
    try:
        async with asyncio.timeout(RUN_SECONDS_MAX):
            run = (await engine.start(order)).run
            await engine.wait(run)
        played = Played(order.document.program, await whole_log(database.archive, run))
        for child in await database.archive.runs(RunFilter(parent=run)):
            document: Document = await engine.programs.get(child.digest)
            log = await whole_log(database.archive, child.run)
            played.children.append(Played(document.program, log))
        return played
    finally:
        await engine.stop()
        await database.close()


# --- comparing -----------------------------------------------------------------------------------


def untimed(text: str, *, by_chance: bool = False) -> list[str]:
    """The lines outside loops, in order, without their times; then those of each iteration.

    What iterations do at the same time has no order between them. `by_chance`: which of them meets
    which fate is not ours to say, so they have no number.
    """
    lines = [line[TIME_COLUMNS:] for line in text.splitlines()]
    lanes: dict[str, list[str]] = {}
    for line in lines:
        place = line.split(" ", 1)[0]
        if place.endswith("]"):
            lane = lanes.setdefault(place, [])
            lane.append(re.sub(r"\[\d+\]", "[]", line) if by_chance else line)
    outside = [line for line in lines if not line.split(" ", 1)[0].endswith("]")]
    return [*outside, *(line for lane in sorted(lanes.values()) for line in lane)]


# What a message has of the machine: where it looked, and the system's own words.
_OF_THE_MACHINE = re.compile(r"(?<=connection to server) .*?(?= ·|$)|(?<=lock on file) .*?(?= ·|$)")


def as_written(text: str, lab_url: str | None) -> str:
    """A real timeline with the addresses its document has."""
    text = text.replace(lab_url, LAB_URL_WRITTEN) if lab_url else text
    return "\n".join(_OF_THE_MACHINE.sub(" …", line) for line in text.splitlines())


def check_timeline(
    name: str, real: str, *, lab_url: str | None = None, by_chance: bool = False
) -> None:
    """The real timeline says what the golden one says, but for the times."""
    written = untimed(as_written(timeline_text(name), lab_url), by_chance=by_chance)
    told = untimed(as_written(real, lab_url), by_chance=by_chance)
    difference = "\n".join(unified_diff(written, told, "its timeline", "its run", lineterm=""))
    assert told == written, difference


def check_report(simulation: Simulation, real: Played) -> None:
    """The same status, visits, attempts and delays as in the simulation."""
    told, wanted = real.report, simulation.report()
    for key in ("status", "attempts", "handled"):
        assert told[key] == wanted[key], key
    # The steps of an example are never parallel to each other, but its iterations may be.
    assert told["visits"] == wanted["visits"]
    assert _sorted(told["delays"]) == _sorted(wanted["delays"])


def _sorted(delays: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(delay, sort_keys=True) for delay in delays)


def check_waits(log: Sequence[e.Event]) -> None:
    """No attempt began before the moment its delay had set."""
    due: dict[tuple[Any, ...], int] = {}
    for event in log:
        place = (event.step, event.visit, event.iteration, event.task)
        if isinstance(event, e.TaskRetryScheduled):
            assert event.not_before >= event.at + int(event.delay_seconds * NANOSECONDS) - 1
            due[place] = event.not_before
        elif isinstance(event, e.TaskStarted) and place in due:
            assert event.at >= due.pop(place)
    assert not due


def check_replay(played: Played) -> None:
    """Every decision of the log follows from the program and from what came from outside."""
    assert replay(played.program, played.log) is None
    for child in played.children:
        check_replay(child)


def bytes_holding(folder: Path, secret: str) -> list[str]:
    """The files below a folder in which a text can be read."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if secret.encode() in path.read_bytes()]
