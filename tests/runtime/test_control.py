"""Orders about runs: cancel, pause, resume, retry, stop; sleeps, deadlines, lost workers."""

import asyncio

import pytest

from anew.engine import events as e
from anew.engine.outcome import outcome_of
from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.lab.replay import replay
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.runtime.engine import Engine
from anew.runtime.keys import KeyInUse
from anew.runtime.programs import read_document
from anew.runtime.roles import ProcessRole
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.runtime.toolbox import Toolbox
from anew.stores.memory import MemoryDatabase
from anew.stores.packing import pack
from anew.surfaces.api.commit_checks import check_commit
from tests.virtual import CountedDatabase, VirtualClock

ONE = """
workflow:
  - step: only
    tool: {kind: gate}
"""
TWO = """
workflow:
  - step: first
    tool: {kind: gate}
    next: [{step: second}]
  - step: second
    tool: {kind: noop, result: "{{ first.said }}"}
"""


class GateTool:
    """Waits until the test lets a call through, and knows which were cancelled."""

    def __init__(self):
        self.entered = asyncio.Event()
        self.answers = asyncio.Queue()
        self.calls = []
        self.cancelled = []

    async def call(self, call):
        self.calls.append(call)
        self.entered.set()
        call.begins()
        try:
            answer = await self.answers.get()
        except asyncio.CancelledError:
            self.cancelled.append(call.place)
            raise
        return answer if not isinstance(answer, dict) else outcome_of(answer)

    async def close(self):
        pass


@pytest.fixture(autouse=True)
def _gate_is_a_kind(monkeypatch):
    monkeypatch.setattr("anew.program.kinds.installed_kinds", lambda: frozenset({"gate"}))


class CheckedStore:
    """Refuses what a server refuses of a worker: whatever an engine commits must pass there."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def commit(self, commit):
        check_commit(pack(commit))
        await self._store.commit(commit)


class World:
    def __init__(self, folder, database=None, **settings):
        self.folder = folder
        self.database = database or MemoryDatabase()
        self.gate = GateTool()
        given = [name for name in ProcessRole.__struct_fields__ if name in settings]
        role = ProcessRole(**{name: settings.pop(name) for name in given})
        toolbox = Toolbox({"gate": self.gate, **settings.pop("tools", {})})
        self.engine = Engine(self.database, folder / "scratch", role, toolbox=toolbox, **settings)
        self.engine.ledger._store = CheckedStore(self.engine.ledger._store)

    async def start(self, text, workload=None, **more):
        document = read_document(text, str(self.folder / "test.yaml"))
        return (await self.engine.start(StartRequest(document, workload or {}, **more))).run

    async def entered(self):
        await asyncio.wait_for(self.gate.entered.wait(), 10)
        self.gate.entered.clear()

    async def ended(self, run):
        return await asyncio.wait_for(self.engine.wait(run), 10)

    async def log(self, run):
        log = await read_log(self.database.archive, run)
        row = await self.database.archive.run(run)
        program = (await self.engine.programs.get(row.digest)).program
        assert replay(program, log) is None
        return log

    async def names(self, run):
        return [event.name for event in await self.log(run)]


def in_a_world(work, folder, **settings):
    async def play():
        world = World(folder, **settings)
        try:
            return await work(world)
        finally:
            await world.engine.stop(0)

    return asyncio.run(play())


def test_who_interrupts_a_stop_early_waits_for_no_call(tmp_path):
    async def work(world):
        await world.start(TWO)
        await world.entered()
        is_reached = asyncio.Event()

        async def never() -> None:
            is_reached.set()
            await asyncio.Event().wait()

        world.engine.before_stop = never
        stop = asyncio.create_task(world.engine.stop(None))
        await is_reached.wait()
        stop.cancel()
        await asyncio.wait({stop}, timeout=20)
        assert stop.cancelled()
        assert [place.task for place in world.gate.cancelled] == ["first"]

    in_a_world(work, tmp_path)


@pytest.mark.parametrize("turns", range(1, 12))
def test_who_interrupts_a_stop_at_any_turn_waits_for_no_call(tmp_path, turns):
    async def work(world):
        await world.start(TWO)
        await world.entered()
        stop = asyncio.create_task(world.engine.stop(None))
        for _ in range(turns):
            await asyncio.sleep(0)
        stop.cancel()
        await asyncio.wait({stop}, timeout=20)
        assert stop.cancelled()
        assert [place.task for place in world.gate.cancelled] == ["first"]

    in_a_world(work, tmp_path)


def test_cancelling_a_run_reaches_the_tool_at_work(tmp_path):
    async def work(world):
        run = await world.start(TWO)
        await world.entered()
        assert await world.engine.cancel(run, "enough")
        state = await world.ended(run)
        assert state.status is RunStatus.CANCELLED
        assert [place.task for place in world.gate.cancelled] == ["first"]
        last = (await world.log(run))[-1]
        assert isinstance(last, e.RunCancelled)
        assert last.reason == "enough"
        assert await world.database.archive.jobs(run) == []
        assert not await world.engine.cancel(run)

    in_a_world(work, tmp_path)


def test_a_paused_run_keeps_the_outcome_of_the_call_at_work_and_starts_nothing(tmp_path):
    async def work(world):
        run = await world.start(TWO)
        await world.entered()
        assert await world.engine.pause(run, "lunch")
        world.gate.answers.put_nowait({"said": "kept"})
        await _until(world, run, "step.done")
        row = await world.database.archive.run(run)
        assert row.status is RunStatus.PAUSED
        assert "second" not in {event.step for event in await world.log(run)}
        assert await world.engine.resume(run)
        state = await world.ended(run)
        assert state.last_result == "kept"
        assert not await world.engine.resume(run)

    in_a_world(work, tmp_path)


def test_a_pipeline_is_held_between_its_tasks_while_paused(tmp_path):
    document = """
workflow:
  - step: s
    tool:
      - {name: a, kind: gate}
      - {name: b, kind: gate}
"""

    async def work(world):
        run = await world.start(document)
        await world.entered()
        await world.engine.pause(run)
        world.gate.answers.put_nowait({})
        await _until(world, run, "task.processed")
        held = await _until_jobs(world, run, lambda jobs: jobs and jobs[0].reason == "held")
        assert held[0].leased_until is None
        await world.engine.resume(run)
        await world.entered()
        world.gate.answers.put_nowait({"said": "b"})
        assert (await world.ended(run)).last_result == {"said": "b"}
        assert [call.place.task for call in world.gate.calls] == ["a", "b"]

    in_a_world(work, tmp_path)


def test_a_retry_that_falls_due_while_paused_waits_for_the_resume(tmp_path):
    document = """
workflow:
  - step: s
    tool:
      kind: gate
      spec: {policy: {rules: [{else: {then: {do: retry, attempts: 2, delay: 5}}}]}}
"""

    async def work(world, clock, counted):
        run = await world.start(document)
        await world.entered()
        world.gate.answers.put_nowait(outcome_of(error="down"))
        await _until(world, run, "task.retry_scheduled")
        await world.engine.pause(run)
        driver = asyncio.create_task(clock.drive(counted.is_quiet))
        try:
            await _until_jobs(world, run, lambda jobs: jobs and jobs[0].reason == "held")
            assert len(world.gate.calls) == 1
            await world.engine.resume(run)
            await world.entered()
            assert world.gate.calls[1].place.attempt == 2
            world.gate.answers.put_nowait({"fine": 1})
            await _until(world, run, "task.processed", times=2)
        finally:
            driver.cancel()

    async def play():
        clock = VirtualClock()
        counted = CountedDatabase(MemoryDatabase())
        world = World(tmp_path, counted, clock=clock)
        try:
            await work(world, clock, counted)
        finally:
            await world.engine.stop(0)

    asyncio.run(play())


def test_a_stopped_engine_hands_back_and_the_next_one_goes_on(tmp_path):
    async def play():
        database = MemoryDatabase()
        first = World(tmp_path, database)
        run = await first.start(TWO)
        await first.entered()
        await first.engine.stop(0)
        assert first.gate.cancelled
        second = World(tmp_path, database)
        await second.engine.adopt([run])
        await second.entered()
        call = second.gate.calls[0]
        assert call.place.attempt == 1
        assert call.idempotency_key == first.gate.calls[0].idempotency_key
        second.gate.answers.put_nowait({"said": "again"})
        assert (await second.ended(run)).last_result == "again"
        redelivered = [x for x in await second.log(run) if isinstance(x, e.StepRedelivered)]
        assert [event.delivery for event in redelivered] == [1]
        await second.engine.stop(0)

    asyncio.run(play())


def test_a_dead_owner_costs_a_delivery_but_no_attempt(tmp_path):
    async def play():
        database = MemoryDatabase()
        first = World(tmp_path, database)
        run = await first.start(TWO)
        await first.entered()
        _kill(first)
        second = World(tmp_path, database)
        await second.engine.adopt([run])
        await second.entered()
        assert second.gate.calls[0].place.attempt == 1
        second.gate.answers.put_nowait({"said": "again"})
        await second.ended(run)
        redelivered = [x for x in await second.log(run) if isinstance(x, e.StepRedelivered)]
        assert [event.delivery for event in redelivered] == [2]
        await second.engine.stop(0)

    asyncio.run(play())


CONTEXT = """
workflow:
  - step: start
    tool: {kind: noop, result: {n: 1}}
    next: [{step: code}, {step: other}]
  - step: code
    tool: {kind: python, code: "result = context"}
  - step: other
    tool:
      - set: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {moved: 1}}}}]}}}
    next: [{step: later}]
  - step: later
    tool: {kind: gate}
"""


def test_the_next_owner_gives_code_the_context_that_the_dead_one_gave_it(tmp_path):
    async def play():
        database, codes = MemoryDatabase(), [GateTool(), GateTool()]
        first = World(tmp_path, database, tools={"python": codes[0]})
        run = await first.start(CONTEXT)
        await first.entered()
        await asyncio.wait_for(codes[0].entered.wait(), 10)
        _kill(first)
        second = World(tmp_path, database, tools={"python": codes[1]})
        await second.engine.adopt([run])
        await asyncio.wait_for(codes[1].entered.wait(), 10)
        context = await codes[1].calls[0].context()
        assert context == await codes[0].calls[0].context()
        assert context["ctx"] == {}
        assert context["steps"] == {"start": {"n": 1}}
        assert (await second.engine.ledger.live.get(run)).state.ctx == {"moved": 1}
        await second.engine.stop(0)

    asyncio.run(play())


def test_a_step_run_that_kills_three_owners_is_dead_lettered_and_others_go_on(tmp_path):
    document = """
workflow:
  - step: start
    tool: {kind: noop}
    next: [{step: poison}, {step: innocent}]
  - step: poison
    tool: {kind: gate}
    next: {arcs: [{step: mourn, when: "{{ event.name == 'step.failed' }}"}]}
  - step: innocent
    tool: {kind: gate}
  - step: mourn
    tool: {kind: noop, result: "{{ ctx }}"}
"""

    async def play():
        database = MemoryDatabase()
        world = World(tmp_path, database)
        run = await world.start(document)
        await _until(world, run, "task.started", times=3)
        for at_work in (2, 1):
            _kill(world)
            world = World(tmp_path, database)
            await world.engine.adopt([run])
            await _soon(lambda world=world, at_work=at_work: len(world.gate.calls) == at_work)
        # The last chance is given to one suspect at a time, with nothing beside it.
        assert len(world.gate.calls) == 1
        suspect = world.gate.calls[0].place.step
        other = {"poison": "innocent", "innocent": "poison"}[suspect]
        _kill(world)
        world = World(tmp_path, database)
        await world.engine.adopt([run])
        await _soon(lambda: world.gate.calls)
        assert [call.place.step for call in world.gate.calls] == [other]
        world.gate.answers.put_nowait({})
        await world.ended(run)
        failed = [x for x in await world.log(run) if isinstance(x, e.StepFailed)]
        assert [(x.step, x.error["kind"]) for x in failed] == [(suspect, "worker_lost")]
        await world.engine.stop(0)

    asyncio.run(play())


def test_the_same_key_is_the_same_run(tmp_path):
    async def work(world):
        first = await world.start(ONE, key="nightly")
        second = await world.start(ONE, key="nightly")
        other = await world.start(ONE, key="weekly")
        assert first == second != other
        await world.entered()

    in_a_world(work, tmp_path)


def test_a_sleep_parks_and_survives_a_restart(tmp_path):
    document = "workflow: [{step: nap, tool: {kind: sleep, seconds: 90}}]"

    async def play():
        clock = VirtualClock()
        counted = CountedDatabase(MemoryDatabase())
        world = World(tmp_path, counted, clock=clock)
        run = await world.start(document)
        jobs = await _until_jobs(world, run, lambda jobs: jobs and jobs[0].reason == "sleep")
        assert jobs[0].leased_until is None
        _kill(world)
        world = World(tmp_path, counted, clock=clock)
        await world.engine.adopt([run])
        driver = asyncio.create_task(clock.drive(counted.is_quiet))
        state = await world.ended(run)
        driver.cancel()
        assert state.last_result == {"slept": 90.0}
        assert clock.now() == 90_000_000_000
        assert "step.redelivered" not in await world.names(run)
        await world.engine.stop(0)

    asyncio.run(play())


def test_a_retried_run_does_again_only_what_came_from_the_failed_step_on(tmp_path):
    async def work(world):
        run = await world.start(TWO.replace("kind: noop", "kind: gate"))
        await world.entered()
        world.gate.answers.put_nowait({"said": 1})
        await world.entered()
        world.gate.answers.put_nowait(outcome_of(error="no"))
        assert (await world.ended(run)).status is RunStatus.FAILED
        again = (await world.engine.retry(run)).run
        await _soon(lambda: len(world.gate.calls) == 3)
        assert [call.place.step for call in world.gate.calls] == ["first", "second", "second"]
        world.gate.answers.put_nowait({"said": 2})
        assert (await world.ended(again)).last_result == {"said": 2}
        log = await world.log(again)
        assert log[0].run == str(again)
        assert (await world.database.archive.run(again)).labels == {"retry_of": str(run)}

    in_a_world(work, tmp_path)


def test_a_retry_from_a_step_that_was_never_reached_says_so(tmp_path):
    async def work(world):
        run = await world.start(TWO)
        await world.entered()
        with pytest.raises(ConfigError, match="has not reached step 'second'"):
            await world.engine.retry(run, "second")
        with pytest.raises(ConfigError, match="no step 'nowhere'"):
            await world.engine.retry(run, "nowhere")
        with pytest.raises(ConfigError, match="Name the step to retry from"):
            await world.engine.retry(run)

    in_a_world(work, tmp_path)


def test_a_run_that_a_gate_failed_is_retried_from_where_the_gate_leads_with_a_fresh_budget(
    tmp_path,
):
    document = """
executor: {spec: {limits: {visits_per_step: 9}}}
workflow:
  - step: build
    tool: {kind: noop}
    next: [{step: judge}]
  - step: judge
    spec: {gate: {to: build, most: 1, budget: step}}
    tool: {kind: gate, spec: {policy: {rules: [{else: {then: {do: continue, verdict: partial}}}]}}}
    next: [{step: end}]
  - step: end
    spec: {exit: true}
    tool: {kind: noop}
"""

    async def work(world):
        run = await world.start(document)
        for _ in range(2):
            await world.entered()
            world.gate.answers.put_nowait({})
        assert (await world.ended(run)).failure["kind"] == "gate_unsatisfied"
        again = (await world.engine.retry(run)).run
        for _ in range(2):
            await world.entered()
            world.gate.answers.put_nowait({})
        await world.ended(again)
        begun = [event.step for event in await world.log(again) if event.name == "step.scheduled"]
        assert begun.count("judge") == 1 + 2

    in_a_world(work, tmp_path)


def test_a_step_past_its_deadline_is_stopped_with_kind_timeout(tmp_path):
    document = """
workflow:
  - step: slow
    spec: {policy: {lifecycle: {timeout_s: 0.05}}}
    tool: {kind: gate}
"""

    async def work(world):
        run = await world.start(document)
        state = await world.ended(run)
        assert state.failure["kind"] == "timeout"
        assert state.failure["message"] == simulated_failure(document)
        assert world.gate.cancelled

    in_a_world(work, tmp_path)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("spec: {timeout: 0.05}", "gate gave no answer within 0.05 s"),
        ("spec: {timeout: 0.05}}, spec: {policy: {lifecycle: {timeout_s: 60}}", "within 0.05 s"),
        (
            "spec: {timeout: 60}}, spec: {policy: {lifecycle: {timeout_s: 0.05}}",
            "gate gave no answer before the step's deadline of 0.05 s (lifecycle.timeout_s)",
        ),
    ],
)
@pytest.mark.parametrize("queues", [False, True])
def test_a_timeout_names_the_limit_that_was_set_as_a_simulation_does(
    limits, said, queues, tmp_path
):
    document = f"workflow: [{{step: slow, tool: {{kind: gate, {limits}}}}}]"

    async def work(world):
        world.gate.queues = queues
        run = await world.start(document)
        state = await world.ended(run)
        assert state.failure["message"].endswith(said)
        assert state.failure["message"] == simulated_failure(document)

    in_a_world(work, tmp_path)


def simulated_failure(document):
    script = script_of({"outcomes": {"slow": [{"takes": 3600}]}})
    return simulate(load_text(document, "p.yaml").program, script).state.failure["message"]


def test_an_attempt_past_its_timeout_is_stopped_and_can_be_retried(tmp_path):
    document = """
workflow:
  - step: slow
    tool:
      kind: gate
      spec:
        timeout: 0.05
        policy: {rules: [{when: "{{ outcome.error.kind == 'timeout' }}", then: {do: retry, attempts: 2, delay: 0}}]}
"""

    async def work(world):
        run = await world.start(document)
        await _soon(lambda: world.gate.cancelled)
        world.gate.answers.put_nowait({"late": False})
        state = await world.ended(run)
        assert state.last_result == {"late": False}

    in_a_world(work, tmp_path)


@pytest.mark.parametrize(
    "tool",
    [
        "{kind: shell, command: 'echo before; sleep 60'}",
        "{kind: python, code: \"print('before', flush=True)\\nwhile True: pass\"}",
    ],
)
def test_what_a_call_printed_before_its_timeout_is_kept(tool, tmp_path):
    tool = tool.removesuffix("}") + ", spec: {timeout: 1.0}}"

    async def work(world):
        run = await world.start(f"workflow: [{{step: slow, tool: {tool}}}]")
        await world.ended(run)
        outcome = next(x for x in await world.log(run) if isinstance(x, e.TaskProcessed)).outcome
        assert outcome.error["kind"] == "timeout"
        assert outcome.logs["stdout"] == "before\n"

    in_a_world(work, tmp_path)


def test_a_workbook_task_runs_with_the_callers_args(tmp_path):
    document = """
workbook:
  - name: greet
    tool: {kind: noop, result: "hello {{ args.who }}"}
workflow:
  - step: s
    tool: {kind: workbook, name: greet, args: {who: you}}
"""

    async def work(world):
        run = await world.start(document)
        assert (await world.ended(run)).last_result == "hello you"

    in_a_world(work, tmp_path)


def test_slots_bound_how_many_calls_are_at_work(tmp_path):
    document = """
workflow:
  - step: fan
    loop: {in: "{{ range(20) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: 20}}
    tool: {kind: gate}
"""

    async def work(world):
        run = await world.start(document)
        for answered in range(20):
            await _soon(lambda sent=answered: len(world.gate.calls) == min(sent + 3, 20))
            world.gate.answers.put_nowait({})
        state = await world.ended(run)
        assert state.last_result["done"] == 20

    in_a_world(work, tmp_path, slots=3)


def test_a_store_that_fails_reaches_whoever_waits(tmp_path):
    from anew.store import StoreError

    async def work(world):
        run = await world.start(TWO)
        await world.entered()

        async def full(commit):
            raise StoreError("the disk is full")

        world.engine.ledger._store.commit = full
        world.gate.answers.put_nowait({"said": 1})
        with pytest.raises(StoreError, match="disk is full"):
            await world.ended(run)

    in_a_world(work, tmp_path)


# --- waiting for conditions ----------------------------------------------------------------------


async def _soon(holds):
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.001)


async def _until(world, run, name, times=1):
    async with asyncio.timeout(10):
        while True:
            log = await read_log(world.database.archive, run)
            if sum(event.name == name for event in log) >= times:
                return
            await asyncio.sleep(0.001)


async def _until_jobs(world, run, holds):
    async with asyncio.timeout(10):
        while True:
            jobs = await world.database.archive.jobs(run)
            if holds(jobs):
                return jobs
            await asyncio.sleep(0.001)


def _kill(world):
    """As if the process had died: nothing is handed back, nothing more is written."""
    worker = world.engine.worker
    worker._polling.cancel()
    for task in list(worker._chains):
        task.cancel()


def test_a_key_of_another_run_is_no_retry(tmp_path):
    async def work(world):
        failing = "workflow: [{step: only, tool: {kind: shell, command: 'exit 1'}}]"
        other = await world.start(ONE.replace("gate", "noop"), key="taken")
        await world.ended(other)
        run = await world.start(failing, key="own")
        await world.ended(run)
        for key in ("taken", "own"):
            with pytest.raises(KeyInUse, match="which is not a retry of run"):
                await world.engine.retry(run, key=key)
        first = await world.engine.retry(run, key="again")
        second = await world.engine.retry(run, key="again")
        assert (first.run, first.is_new, second.is_new) == (second.run, True, False)

    in_a_world(work, tmp_path)
