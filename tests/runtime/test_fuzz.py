"""Orders at random moments, by a seed: whatever comes between, every run ends as its log says.

Time is virtual. In memory the store waits a random while before and after each operation, so that
a seed is one interleaving for ever; on SQLite the writer's thread decides, as it does for a user.
"""

import asyncio
from itertools import count
from random import Random

import pytest

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.outcome import outcome_of
from anew.engine.state import RunStatus
from anew.lab.replay import replay
from anew.runtime.engine import Engine
from anew.runtime.programs import read_document
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.runtime.toolbox import Toolbox
from anew.store import RunFilter
from anew.stores.memory import MemoryDatabase
from anew.stores.sqlite import SqliteDatabase
from tests.runtime.hold import _no_net_under_missed_signals  # noqa: F401
from tests.runtime.test_control import _gate_is_a_kind  # noqa: F401
from tests.virtual import CountedDatabase, VirtualClock

READS = {"load", "expired", "run", "runs", "run_of_key", "events", "jobs", "get", "find", "sealed"}
# In place, or put aside: a wait of a second or more gives its slot back.
DELAYS = (0, 0.001, 0.4, 2)
HANG_SECONDS = 10


# --- the world -----------------------------------------------------------------------------------


async def dawdle(rng, turns):
    for _ in range(rng.choice(turns)):
        await asyncio.sleep(0)


class Wavering:
    """A part of a database whose operations take a random while, and writes one after another.

    A write goes on when whoever waits for it is cancelled, as a thread's would.
    """

    def __init__(self, part, rng, writing):
        self._part = part
        self._rng = rng
        self._writing = writing

    def __getattr__(self, name):
        operation = getattr(self._part, name)
        if not callable(operation):
            return operation

        async def read(*args, **kwargs):
            await dawdle(self._rng, (0, 0, 1, 2, 5, 12))
            try:
                return await operation(*args, **kwargs)
            finally:
                await dawdle(self._rng, (0, 0, 1, 2, 5, 12))

        async def write(*args, **kwargs):
            async with self._writing:
                return await read(*args, **kwargs)

        async def unstoppable(*args, **kwargs):
            return await asyncio.shield(asyncio.create_task(write(*args, **kwargs)))

        return read if name in READS else unstoppable


class WaveringDatabase:
    def __init__(self, database, rng):
        writing = asyncio.Lock()
        for part in ("store", "archive", "catalog", "vault", "artifacts", "guards"):
            setattr(self, part, Wavering(getattr(database, part), rng, writing))
        self.is_shared, self.clock = database.is_shared, database.clock
        self.notices, self.maintain = database.notices, database.maintain


class Flaky:
    """A tool that takes a while and often fails, and notes what should not be asked of it."""

    def __init__(self, rng):
        self._rng = rng
        self._at_work = set()
        self._answered = set()
        self.cancelled = set()
        self.wrong = []

    async def call(self, call):
        place = call.place
        if place in self._at_work:
            self.wrong.append(("running twice", place))
        if _named(place.run, place) in self._answered:
            self.wrong.append(("called after its outcome", place))
        if int(place.run) in self.cancelled:
            self.wrong.append(("called after its run was cancelled", place))
        self._at_work.add(place)
        try:
            await dawdle(self._rng, (0, 1, 3, 10, 30))
        finally:
            self._at_work.discard(place)
        if self._rng.random() < 0.2:
            return outcome_of(error={"kind": "server_error", "message": "try again"})
        return outcome_of({"n": 1})

    def listen(self, run, events):
        done = [event for event in events if isinstance(event, e.TaskProcessed)]
        self._answered.update(_named(run, event) for event in done)

    async def close(self):
        pass


def _named(run, at):
    return str(run), at.step, at.visit, at.iteration, at.task, at.attempt


# --- the programs --------------------------------------------------------------------------------


def gate(rng):
    when = "when: \"{{ outcome.status == 'error' }}\""
    rule = f"{{{when}, then: {{do: retry, attempts: 50, delay: {rng.choice(DELAYS)}}}}}"
    return f"{{kind: gate, spec: {{policy: {{rules: [{rule}]}}}}}}"


def sleep(rng):
    return f"{{kind: sleep, seconds: {rng.choice(DELAYS)}}}"


def child(_):
    return "{kind: playbook, file: child.yaml}"


def pipeline(rng):
    tasks = [rng.choice((gate, sleep, child))(rng) for _ in range(rng.randint(2, 4))]
    return "[" + ", ".join(f"{{t{i}: {task}}}" for i, task in enumerate(tasks)) + "]"


def loop(rng):
    spec = rng.choice(("mode: parallel", "mode: parallel, max_in_flight: 3", "mode: sequential"))
    return f'loop: {{in: "{{{{ range({rng.randint(1, 6)}) | list }}}}", iterator: i, spec: {{{spec}}}}}, '


def playbook(rng):
    """A few branches of any kind, which all go on to one last step."""
    branches = [f"b{i}" for i in range(rng.randint(1, 4))]
    steps = [f"{{step: start, tool: {gate(rng)}, next: [{', '.join(map(_arc, branches))}]}}"]
    for name in branches:
        tool = rng.choice((gate, gate, sleep, child, pipeline))(rng)
        looped = loop(rng) if rng.random() < 0.5 else ""
        steps.append(f"{{step: {name}, {looped}tool: {tool}, next: [{_arc('last')}]}}")
    steps.append("{step: last, tool: {kind: noop}}")
    return "workflow:\n" + "".join(f"  - {step}\n" for step in steps)


def _arc(step):
    return f"{{step: {step}}}"


# --- the orders ----------------------------------------------------------------------------------


class Player:
    """Starts runs and gives orders; ORDERS names those it chooses from."""

    def __init__(self, database, folder, rng):
        self.rng = rng
        self.folder = folder
        self.clock = VirtualClock()
        self.database = CountedDatabase(database)
        self.tool = Flaky(rng)
        self.processes = count()
        self.engine = self.new_engine()
        self.texts = [playbook(rng) for _ in range(rng.randint(1, 3))]
        self.runs = []

    def new_engine(self):
        engine = Engine(
            self.database,
            self.folder / "scratch",
            clock=self.clock,
            slots=self.rng.choice([1, 2, 4, 32]),
            toolbox=Toolbox({"gate": self.tool}),
            draw=self.rng.random,
            # Time stands still here: engines of the same number would begin the same run in the
            # same moment, which is one commit made twice and no second start.
            process=next(self.processes),
        )
        engine.listen(self.tool.listen)
        return engine

    async def start(self, index):
        document = read_document(self.texts[index], str(self.folder / "test.yaml"))
        return (await self.engine.start(StartRequest(document, {}, key=f"key {index}"))).run

    async def play(self):
        driver = asyncio.create_task(self.clock.drive(self.database.is_quiet))
        try:
            async with asyncio.timeout(HANG_SECONDS):
                await self.give_orders()
                return [(await self.engine.wait(run)).status for run in self.runs]
        finally:
            driver.cancel()
            await self.engine.stop(0)

    async def give_orders(self):
        self.runs = [await self.start(index) for index in range(len(self.texts))]
        for _ in range(self.rng.randint(3, 25)):
            await dawdle(self.rng, (1, 3, 10, 40, 200))
            await self.rng.choice(ORDERS)(self, self.rng.choice(self.runs))
        for run in self.runs:
            await self.engine.resume(run)

    async def pause(self, run):
        await self.engine.pause(run)

    async def resume(self, run):
        await self.engine.resume(run)

    async def adopt(self, _):
        await self.engine.adopt(self.runs)

    async def start_again(self, run):
        assert await self.start(self.runs.index(run)) == run

    async def all_at_once(self, run):
        orders = (self.pause(run), self.resume(run), self.adopt(run), self.start_again(run))
        await asyncio.gather(*orders)

    async def restart(self, _):
        await self.engine.stop(self.rng.choice([0, 0, 0.01]))
        assert not self.engine.worker._chains
        self.engine = self.new_engine()
        await self.engine.adopt(self.runs)

    async def cancel(self, run):
        await self.engine.cancel(run)
        self.tool.cancelled.add(run)
        children = await self.database.archive.runs(RunFilter(parent=run, limit=1000))
        self.tool.cancelled.update(row.run for row in children)


ORDERS = (
    *(Player.pause, Player.resume, Player.resume, Player.adopt, Player.start_again),
    *(Player.all_at_once, Player.all_at_once, Player.restart, Player.restart, Player.cancel),
)


# --- what must hold ------------------------------------------------------------------------------


async def check(player, database, statuses):
    assert player.tool.wrong == []
    assert not player.engine.worker.failure.done()
    slots = player.engine.worker._slots
    assert slots.taken == 0
    for run, status in zip(player.runs, statuses, strict=True):
        assert status is RunStatus.DONE or run in player.tool.cancelled
    for row in await database.archive.runs(RunFilter(limit=1000)):
        log = await read_log(database.archive, row.run)
        program = (await player.engine.programs.get(row.digest)).program
        assert replay(program, log) is None
        assert fold(log).status is row.status
        assert row.status in (RunStatus.DONE, RunStatus.CANCELLED)
        assert await database.archive.jobs(row.run) == []
        # Nobody died, so no delivery may be counted: what was handed back keeps its number.
        assert {x.delivery for x in log if isinstance(x, e.StepRedelivered)} <= {1}
        told = [_named(row.run, x) for x in log if isinstance(x, e.TaskProcessed)]
        assert len(told) == len(set(told))


def played(database, folder, rng, *, beneath):
    (folder / "child.yaml").write_text(f"workflow: [{{step: c, tool: {gate(rng)}}}]")

    async def play():
        player = Player(database(), folder, rng)
        try:
            await check(player, player.database, await player.play())
        finally:
            await beneath.close()

    asyncio.run(play())


@pytest.mark.parametrize("seed", range(28))
def test_orders_at_any_moment_leave_true_logs_in_memory(tmp_path, seed):
    rng, memory = Random(seed), MemoryDatabase()
    played(lambda: WaveringDatabase(memory, rng), tmp_path, rng, beneath=memory)


@pytest.mark.parametrize("seed", range(12))
def test_orders_at_any_moment_leave_true_logs_on_disk(tmp_path, seed):
    rng = Random(seed)
    disk = SqliteDatabase.open(tmp_path / "anew.db", synchronous=rng.choice(["NORMAL", "FULL"]))
    played(lambda: disk, tmp_path, rng, beneath=disk)
