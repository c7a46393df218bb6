"""The real runtime in virtual time: real ledger, worker and store; scripted tools, no waiting."""

import asyncio
import itertools
from contextlib import suppress
from heapq import heappop, heappush

from anew.engine.events import RunStarted, SignalWaiting
from anew.engine.questions import chosen
from anew.errors import ConfigError
from anew.lab.script import BY_SCRIPT, SUCCESS, OutcomeQueue, keys_of, script_of
from anew.runtime.engine import Engine
from anew.runtime.programs import read_document
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.runtime.toolbox import Toolbox


class VirtualClock:
    """Time stands still until everyone waits for it; then it jumps to the next moment wanted."""

    def __init__(self, now=0):
        self._now = now
        self._sleepers = []
        self._numbers = itertools.count()

    def now(self):
        return self._now

    async def sleep_until(self, moment):
        if moment <= self._now:
            return
        future = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (moment, next(self._numbers), future))
        await future

    async def drive(self, is_quiet):
        """Jump whenever nothing else can happen."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(0 if is_quiet() else 0.0005)
            if loop._ready or not is_quiet():
                continue
            self._jump()

    def _jump(self):
        while self._sleepers:
            moment, _, future = heappop(self._sleepers)
            if not future.done():
                self._now = max(self._now, moment)
                future.set_result(None)
                return


class Counted:
    """A store that knows how many of its operations are under way."""

    def __init__(self, store):
        self._store = store
        self.pending = 0

    def __getattr__(self, name):
        operation = getattr(self._store, name)
        if not callable(operation):
            return operation

        async def counted(*args, **kwargs):
            self.pending += 1
            try:
                return await operation(*args, **kwargs)
            finally:
                self.pending -= 1

        return counted


class CountedDatabase:
    def __init__(self, database):
        self.store = Counted(database.store)
        self.archive = Counted(database.archive)
        self.catalog = Counted(database.catalog)
        self.vault = Counted(database.vault)
        self.artifacts = Counted(database.artifacts)
        self.guards = Counted(database.guards)
        self.is_shared = database.is_shared
        self.clock = database.clock
        self.notices = database.notices
        self.maintain = database.maintain

    def is_quiet(self):
        return not any(
            part.pending
            for part in (
                *(self.store, self.archive, self.catalog, self.vault),
                *(self.artifacts, self.guards),
            )
        )


class ScriptedTool:
    """Plays a script's outcomes, whatever the kind."""

    def __init__(self, tapes, clock):
        self._tapes = tapes
        self._clock = clock
        self.calls = []

    async def call(self, call):
        self.calls.append(call)
        tape = tape_of(self._tapes, call.place.step, call.place.task)
        entry = SUCCESS if tape is None else tape.next()
        due = self._clock.now() + entry.takes
        await self._clock.sleep_until(due)
        return entry.outcome(due)

    async def close(self):
        pass


class ScriptedPerson:
    """Answers as the script says, and goes on to the next answer when one fits no choice."""

    name = BY_SCRIPT

    def __init__(self, tapes, clock):
        self._tapes = tapes
        self._clock = clock

    async def ask(self, question):
        tape = tape_of(self._tapes, question.key.step, question.task)
        while tape is not None:
            entry = tape.next()
            await self._clock.sleep_until(self._clock.now() + entry.takes)
            if entry.answer is None or chosen(question.choices, entry.answer) is not None:
                return entry.answer
            if tape.is_spent:
                break
        return None


class ScriptedSender:
    """Sends the signals of a script: those of its tasks as they begin to wait, the rest in time."""

    def __init__(self, engine, script, tapes, clock):
        self._engine = engine
        self._script = script
        self._tapes = tapes
        self._clock = clock
        self._sending = set()
        engine.listen(self.hear)

    def hear(self, run, events):
        for event in events:
            if isinstance(event, RunStarted):
                for sent in self._script.signals:
                    self._send(run, sent.after, sent.signal, sent.payload, id=sent.id)
            elif isinstance(event, SignalWaiting):
                tape = tape_of(self._tapes, event.step, event.task)
                entry = tape.next() if tape is not None else None
                if entry is not None and entry.is_signal:
                    self._send(run, entry.takes, event.signal, entry.said["signal"])

    def _send(self, run, after, name, payload, **more):
        task = asyncio.create_task(
            self._sent(run, self._clock.now() + after, name, payload, **more)
        )
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _sent(self, run, at, name, payload, **more):
        await self._clock.sleep_until(at)
        with suppress(ConfigError):  # the run may have ended meanwhile
            await self._engine.signals.signal(run, name, payload, by=BY_SCRIPT, **more)

    async def stop(self):
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)


def tape_of(tapes, step, task):
    return next((tapes[key] for key in keys_of(step, task) if key in tapes), None)


class OneTool(Toolbox):
    """The same tool for every kind, the runtime's own kinds included, but for `restart`."""

    def __init__(self, tool):
        super().__init__()
        self._tool = tool

    def get(self, kind):
        return super().get(kind) if kind == "restart" else self._tool


async def played(database, document, scratch, *, file="test.yaml", **script):
    """Run a document on a database as the script says: the log, the final state, the calls."""
    script = script_of(script)
    clock = VirtualClock(script.now)
    tapes = {key: OutcomeQueue(entries) for key, entries in script.outcomes.items()}
    tool = ScriptedTool(tapes, clock)
    counted = CountedDatabase(database)
    engine = Engine(
        counted,
        scratch,
        clock=clock,
        slots=10_000,
        toolbox=OneTool(tool),
        draw=script.draws(),
        interviewer=ScriptedPerson(tapes, clock),
    )
    sender = ScriptedSender(engine, script, tapes, clock)
    driver = asyncio.create_task(clock.drive(counted.is_quiet))
    try:
        order = StartRequest(read_document(document, file), script.workload)
        started = await engine.start(order)
        state = await asyncio.wait_for(engine.wait(started.run), 60)
        return await read_log(database.archive, started.run), state, tool.calls
    finally:
        driver.cancel()
        await sender.stop()
        await engine.stop(0)
