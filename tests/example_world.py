"""The world in which examples really run: a lab server, a database of its own, people who answer.

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
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.moments import NANOSECONDS
from anew.engine.questions import chosen
from anew.engine.state import RunState
from anew.lab.replay import replay
from anew.lab.script import BY_SCRIPT, OutcomeQueue, Script, keys_of, read_script
from anew.lab.server import LabServer
from anew.lab.simulate import Simulation, simulate
from anew.program.program import Program, RouteMode
from anew.runtime.engine import Engine
from anew.runtime.programs import Document, read_document
from anew.runtime.questions import OpenQuestion
from anew.runtime.run_logs import read_log, successor
from anew.runtime.run_starts import StartRequest
from anew.store import RunFilter, RunId
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


class PersonOfScript:
    """Answers the questions of a real run as the script says; where it says nothing, never."""

    name = BY_SCRIPT

    def __init__(self, script: Script) -> None:
        self._tapes = {key: OutcomeQueue(entries) for key, entries in script.outcomes.items()}

    async def ask(self, question: OpenQuestion) -> str | None:
        keys = keys_of(question.key.step, question.task)
        tape = next((self._tapes[key] for key in keys if key in self._tapes), None)
        if tape is None:
            return None
        entry = tape.next()
        await asyncio.sleep(entry.takes / NANOSECONDS)
        assert entry.answer is not None
        assert chosen(question.choices, entry.answer) is not None
        return entry.answer


class SenderOfScript:
    """Sends a real run the signals of its script, each at its time."""

    def __init__(self, engine: Engine, script: Script) -> None:
        self._engine = engine
        self._script = script
        self._tapes = {key: OutcomeQueue(entries) for key, entries in script.outcomes.items()}
        self._sending: set[asyncio.Task[None]] = set()

    def hear(self, run: RunId, events: Sequence[e.Event]) -> None:
        for event in events:
            if isinstance(event, e.RunStarted):
                for sent in self._script.signals:
                    self._begin(run, sent.after, sent.signal, sent.payload, sent.id)
            elif isinstance(event, e.SignalWaiting):
                keys = keys_of(event.step or "", event.task or "")
                tape = next((self._tapes[key] for key in keys if key in self._tapes), None)
                entry = tape.next() if tape is not None else None
                if entry is not None and entry.is_signal:
                    self._begin(run, entry.takes, event.signal, entry.said["signal"], None)

    def _begin(self, run: RunId, after: int, name: str, payload: Any, id_: str | None) -> None:
        task = asyncio.create_task(self._send(run, after, name, payload, id_))
        self._sending.add(task)

    async def _send(self, run: RunId, after: int, name: str, payload: Any, id_: str | None) -> None:
        await asyncio.sleep(after / NANOSECONDS)
        await self._engine.signals.signal(run, name, payload, id=id_, by=BY_SCRIPT)

    async def stop(self) -> None:
        """What was to come later comes no more; what went wrong is told."""
        for task in self._sending:
            task.cancel()
        ended = await asyncio.gather(*self._sending, return_exceptions=True)
        assert not [one for one in ended if isinstance(one, Exception)]


class Played(Struct):
    """One run and what it left: a real one, or a simulated one in the same words.

    `runs` are the logs of all that took each other's place; there is one where none did.
    """

    program: Program
    runs: list[list[e.Event]]
    children: list[Played] = []

    @property
    def log(self) -> list[e.Event]:
        return [event for run in self.runs for event in run]

    @property
    def state(self) -> RunState:
        return fold(self.runs[-1])

    @property
    def report(self) -> dict[str, Any]:
        return summary(self.program, self.log, self.state)

    def text(self) -> str:
        return "\n".join(
            timeline_lines([_without_agents(event) for event in self.log], self.program)
        )


def script_file(name: str) -> Path:
    return EXAMPLES / f"{name}.script.yaml"


def document_file(name: str) -> Path:
    """`endpoints/endpoints.partly` plays `endpoints/endpoints.yaml`, or `.dot` for a graph."""
    folder, _, file = name.rpartition("/")
    document = EXAMPLES / folder / f"{file.partition('.')[0]}.yaml"
    return document if document.exists() else document.with_suffix(".dot")


def timeline_text(name: str) -> str:
    """The golden timeline, without the line that sums it up."""
    text = (EXAMPLES / f"{name}.timeline.txt").read_text(encoding="utf-8")
    return "\n".join(text.splitlines()[:-1])


def workload_of(name: str, lab_url: str | None) -> dict[str, Any]:
    """What the run is asked with: the script's own workload, and where the lab server is."""
    script = yaml.safe_load(script_file(name).read_text(encoding="utf-8"))
    asked: dict[str, Any] = script.get("workload", {})
    return {**asked, "base_url": lab_url} if lab_url else asked


def script_of(name: str) -> Script:
    return read_script(script_file(name).read_bytes(), script_file(name).name)


def program_of(name: str) -> Program:
    source = document_file(name).read_text(encoding="utf-8")
    return read_document(source, str(document_file(name))).program


def simulated(name: str) -> Simulation:
    return simulate(program_of(name), script_of(name))


def really_run(
    name: str, folder: Path, *, lab_url: str | None = None, watcher: Watcher | None = None
) -> Played:
    """Run an example for real on a SQLite file in `folder`; every draw of chance is 0.5."""
    file = document_file(name)
    document = read_document(file.read_text(encoding="utf-8"), str(file))
    order = StartRequest(document, workload_of(name, lab_url))
    return asyncio.run(_run(order, folder, watcher, script_of(name)))


async def _run(
    order: StartRequest, folder: Path, watcher: Watcher | None, script: Script
) -> Played:
    folder.mkdir(parents=True, exist_ok=True)
    database = SqliteDatabase.open(folder / "anew.db", synchronous="NORMAL")
    person = PersonOfScript(script)
    engine = Engine(database, folder / "scratch", draw=lambda: 0.5, interviewer=person)
    sender = SenderOfScript(engine, script)
    engine.listen(sender.hear)
    if watcher is not None:
        engine.listen(lambda _, events: watcher(events))
    try:
        async with asyncio.timeout(RUN_SECONDS_MAX):
            run = (await engine.start(order)).run
            played = Played(order.document.program, await _line(engine, run))
        for child in await database.archive.runs(RunFilter(parent=run)):
            document: Document = await engine.programs.get(child.digest)
            log = await read_log(database.archive, child.run)
            played.children.append(Played(document.program, [log]))
        return played
    finally:
        await sender.stop()
        await engine.stop()
        await database.close()


async def _line(engine: Engine, run: RunId) -> list[list[e.Event]]:
    """The logs of a run and of all that took its place, each ended."""
    logs: list[list[e.Event]] = []
    following: RunId | None = run
    while following is not None:
        await engine.wait(following)
        logs.append(await read_log(engine.database.archive, following))
        following = await successor(engine.database.archive, following)
    return logs


# --- comparing -----------------------------------------------------------------------------------


def untimed(
    text: str, *, by_chance: bool = False, apart: frozenset[str] = frozenset()
) -> list[str]:
    """The lines outside loops and branches, in order, without their times; then those of each.

    What iterations and branches do at the same time has no order between them: the steps in `apart`
    are those inside branches. `by_chance`: which iteration meets which fate is not ours to say, so
    they have no number.
    """
    lines = [line[TIME_COLUMNS:] for line in text.splitlines()]
    lanes: dict[str, list[str]] = {}
    outside: list[str] = []
    for line in lines:
        place = line.split(" ", 1)[0]
        if place.endswith("]") or place in apart:
            lane = lanes.setdefault(place, [])
            lane.append(re.sub(r"\[\d+\]", "[]", line) if by_chance else line)
        else:
            outside.append(line)
    return [*outside, *(line for lane in sorted(lanes.values()) for line in lane)]


def inside_branches(program: Program) -> frozenset[str]:
    """The steps that work at the same time as others: from a fork up to its join."""
    found: set[str] = set()
    for fork in program.steps.values():
        if fork.router.mode is not RouteMode.FORK:
            continue
        todo = [arc.to for arc in fork.router.arcs]
        while todo:
            name = todo.pop()
            if name != fork.router.join and name not in found:
                found.add(name)
                todo += [arc.to for arc in program.steps[name].router.arcs]
    return frozenset(found)


# What a message has of the machine: where it looked, the system's own words.
_OF_THE_MACHINE = re.compile(r"(?<=connection to server) .*?(?= ·|$)|(?<=lock on file) .*?(?= ·|$)")
# What the default backend says in place of an agent, of whom a script need not say anything.
_OF_NO_AGENT = re.compile(r"\[simulated\] \w+, visit \d+, attempt \d+, prompt [0-9a-f]+")
_RUN_NUMBER = re.compile(r"(?<=run )\d+")


def _without_agents(event: e.Event) -> e.Event:
    """The event with nothing said by agents that are not there, before long texts are cut."""
    if not isinstance(event, e.TaskProcessed):
        return event
    return replace(event, patches=json.loads(_OF_NO_AGENT.sub("", json.dumps(event.patches))))


def as_written(text: str, lab_url: str | None) -> str:
    """A real timeline with the addresses its document has."""
    text = text.replace(lab_url, LAB_URL_WRITTEN) if lab_url else text
    text = _RUN_NUMBER.sub("N", _OF_NO_AGENT.sub("", text))
    return "\n".join(_OF_THE_MACHINE.sub(" …", line) for line in text.splitlines())


def check_timeline(
    name: str, real: str, *, lab_url: str | None = None, by_chance: bool = False
) -> None:
    """The real timeline says what the golden one says, but for the times."""
    golden = timeline_text(name)
    has_branches = "split into branches" in golden
    apart = inside_branches(program_of(name)) if has_branches else frozenset()
    written = untimed(as_written(golden, lab_url), by_chance=by_chance, apart=apart)
    told = untimed(as_written(real, lab_url), by_chance=by_chance, apart=apart)
    difference = "\n".join(unified_diff(written, told, "its timeline", "its run", lineterm=""))
    assert told == written, difference


def check_report(simulation: Simulation, real: Played) -> None:
    """The same status, visits, attempts and delays as in the simulation."""
    told, wanted = real.report, simulation.report()
    for key in ("status", "attempts", "handled"):
        assert told[key] == wanted[key], key
    apart = inside_branches(real.program)
    for these in (told, wanted):
        inside = sorted(step for step in these["visits"] if step in apart)
        these["visits"] = [step for step in these["visits"] if step not in apart] + inside
    assert told["visits"] == wanted["visits"]
    assert _sorted(told["delays"]) == _sorted(wanted["delays"])


def _sorted(delays: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(delay, sort_keys=True) for delay in delays)


def check_waits(log: Sequence[e.Event]) -> None:
    """No attempt began before the moment its delay had set."""
    due: dict[tuple[Any, ...], int] = {}
    for event in log:
        place = (event.step, event.visit, event.iteration, event.task)
        # A retry by way of another step ends the visit, when its delay is over.
        ended = (event.step, event.visit, None, None)
        if isinstance(event, e.TaskRetryScheduled):
            assert event.not_before >= event.at + int(event.delay_seconds * NANOSECONDS) - 1
            due[place if event.to is None else ended] = event.not_before
        elif isinstance(event, e.TaskStarted) and place in due:
            assert event.at >= due.pop(place)
        elif isinstance(event, e.StepFailed) and ended in due:
            assert event.at >= due.pop(ended)
    assert not due


def check_replay(played: Played) -> None:
    """Every decision of the log follows from the program and from what came from outside."""
    for log in played.runs:
        assert replay(played.program, log) is None
    for child in played.children:
        check_replay(child)


def bytes_holding(folder: Path, secret: str) -> list[str]:
    """The files below a folder in which a text can be read."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if secret.encode() in path.read_bytes()]
