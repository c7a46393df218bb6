"""A process dies at any operation of its store, as often as you like: the run ends as if it had not.

The death is a store that fails for good, before or after one operation; the next engine finds the
database as the dead one left it. Real processes and real disks die in `tests/crash`.
"""

import asyncio
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import strategies as st

from anew.engine import events as e
from anew.engine.outcome import outcome_of
from anew.lab.replay import replay
from anew.runtime.engine import Engine
from anew.runtime.interviewers import AutoApprove
from anew.runtime.programs import read_document
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.store import StoreError
from anew.stores.memory import MemoryDatabase
from tests.generated import playbooks
from tests.suites import mostly_long, tried
from tests.virtual import CountedDatabase, OneTool, VirtualClock

KEY = "the-run"
EXECUTIONS_MAX = 300
EVENTS_MAX = 5_000


class Mortal:
    """A store that dies at its n-th operation, before it happens or just after."""

    def __init__(self, store, life, *, after):
        self._store = store
        self._left = life
        self._after = after

    def __getattr__(self, name):
        operation = getattr(self._store, name)
        if not callable(operation):
            return operation

        async def mortal(*args, **kwargs):
            self._left -= 1
            if self._left < 0 or (self._left == 0 and not self._after):
                raise StoreError("dead")
            answer = await operation(*args, **kwargs)
            if self._left == 0:
                raise StoreError("dead")
            return answer

        return mortal


class Mortals:
    def __init__(self, database, life, *, after):
        self.store = Mortal(database.store, life, after=after)
        self.archive, self.catalog = database.archive, database.catalog
        self.vault, self.artifacts = database.vault, database.artifacts
        self.guards = database.guards
        self.is_shared, self.clock = database.is_shared, database.clock
        self.notices, self.maintain = database.notices, database.maintain


class Oracle:
    """Answers by what is asked, not by when: the same execution always gets the same answer."""

    def __init__(self, seed):
        self._seed = seed
        self.executions = []

    async def call(self, call):
        asked = f"{call.idempotency_key.partition(':')[2]}:{call.place.attempt}"
        self.executions.append(asked)
        if len(self.executions) > EXECUTIONS_MAX:
            await asyncio.Event().wait()  # a program that goes in circles has shown enough
        number = crc32(f"{asked}:{self._seed}".encode())
        if number % 3 == 0:
            return outcome_of(error={"kind": "server_error", "message": f"no {number % 7}"})
        return outcome_of({"n": number % 10})

    async def close(self):
        pass


async def ended(document, oracle, lives):
    """Run to the end through engines that live as long as `lives` says; then one that does not die."""
    database, clock = MemoryDatabase(), VirtualClock()
    counted = CountedDatabase(database)
    driver = asyncio.create_task(clock.drive(counted.is_quiet))
    order = StartRequest(read_document(document, "test.yaml"), {}, KEY)
    deaths = 0
    try:
        for number, (life, after) in enumerate([*lives, (10**9, False)]):
            mortal = Mortals(counted, life, after=after)
            engine = Engine(
                mortal,
                Path("scratch"),
                clock=clock,
                slots=1000,
                toolbox=OneTool(oracle),
                draw=lambda: 0.5,
                interviewer=AutoApprove(),
                # Time stands still here: engines of the same number would begin the same run in the
                # same moment, which is one commit made twice and no second start.
                process=number,
            )
            try:
                run = (await engine.start(order)).run
                state = await until_ended(engine, run, oracle)
                break
            except StoreError:
                deaths += 1
            finally:
                await die(engine)
        return await read_log(database.archive, run), state, deaths
    finally:
        driver.cancel()


async def until_ended(engine, run, oracle):
    """The final state; the one reached when the program will never end."""
    ending = asyncio.ensure_future(engine.wait(run))
    while not ending.done():
        await asyncio.wait({ending}, timeout=0.05)
        live = engine.ledger.live.known(run)
        is_endless = live is not None and live.state.version > EVENTS_MAX
        if (is_endless or len(oracle.executions) > EXECUTIONS_MAX) and not ending.done():
            ending.cancel()
            return (await engine.ledger.live.get(run)).state
    return ending.result()


async def die(engine):
    """Nothing more happens in this engine."""
    worker = engine.worker
    tasks = [worker._polling, *worker._chains, *engine._children._ending]
    await engine.people.interviews.stop()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if worker.failure.done():
        worker.failure.exception()


def audit(log, document, deaths):
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert replay(read_document(document, "test.yaml").program, log) is None
    started = {}
    for event in log:
        place = (event.step, event.visit, event.iteration, event.task)
        if isinstance(event, e.TaskStarted):
            started[place] = (event.attempt, event.task_visit)
        elif isinstance(event, e.TaskProcessed):
            assert started.pop(place)[0] == event.attempt


def outcomes(log):
    """What the run decided from: each outcome once, whatever the order."""
    return sorted(
        str((x.step, x.visit, x.iteration, x.task, x.attempt, x.outcome.result, x.directive))
        for x in log
        if isinstance(x, e.TaskProcessed)
    )


RICH = """
workflow:
  - step: start
    tool:
      - {name: a, kind: noop, spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 4, delay: 0.2}}]}}}
      - {name: b, kind: noop, spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 4, delay: 5, set_ctx: {tried: "{{ _attempt }}"}}}]}}}
    next: [{step: left}, {step: right}]
  - step: left
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
    next: [{step: join}]
  - step: right
    loop: {in: "{{ [1, 2, 3] }}", iterator: n, spec: {mode: parallel, max_in_flight: 2}}
    tool: {kind: noop, spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 9, delay: 2}}]}}}
    next: {arcs: [{step: join, when: "{{ event.failed >= 0 }}"}]}
  - step: join
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {sum: "{{ right.results | length }}"}}}}]}}}
"""


# Branches, one of which asks a person twice; what they wrote meets at the join.
PEOPLE = """
workflow:
  - step: start
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
    next: {spec: {mode: fork, join: meet}, arcs: [{step: work}, {step: ask}]}
  - step: work
    tool: {kind: noop, spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 9, delay: 2}}, {else: {then: {do: continue, set_ctx: {work: "{{ outcome.result.n }}"}}}}]}}}
    next: [{step: meet}]
  - step: ask
    tool:
      - {name: first, kind: human, question: "First?", choices: [Yes, No]}
      - {name: second, kind: human, question: "Second?", spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {said: "{{ outcome.result.label }}"}}}}]}}}
    next: [{step: meet}]
  - step: meet
    spec: {join: wait_all}
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {both: "{{ ctx.work }} {{ ctx.said }}"}}}}]}}}
"""


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("seed", mostly_long(range(4)))
@pytest.mark.parametrize("document", [RICH, PEOPLE], ids=["rich", "people"])
def test_death_at_every_operation_changes_nothing(document, seed, after):
    calm_log, calm_state, _ = asyncio.run(ended(document, Oracle(seed), []))
    life = 1
    while True:
        oracle = Oracle(seed)
        log, state, deaths = asyncio.run(ended(document, oracle, [(life, after)]))
        audit(log, document, deaths)
        assert outcomes(log) == outcomes(calm_log)
        assert (state.status, state.ctx, state.last_result) == (
            calm_state.status,
            calm_state.ctx,
            calm_state.last_result,
        )
        # Those at work when it died may be executed again, and nothing else.
        assert len(oracle.executions) - len(set(oracle.executions)) <= 4 * deaths
        if not deaths:
            return
        life += 1


@tried(
    document=playbooks(),
    seed=st.integers(0, 10**6),
    lives=st.lists(st.tuples(st.integers(1, 25), st.booleans()), max_size=2),
    examples=12,
    long=(48,),
)
def test_deaths_at_random_operations_of_generated_programs_lose_nothing(document, seed, lives):
    log, _, deaths = asyncio.run(ended(document, Oracle(seed), lives))
    audit(log, document, deaths)
