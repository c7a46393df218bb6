"""Signals through the real runtime: who is served, what is refused, and what survives a restart."""

import asyncio

import pytest

from anew.credentials import Credential
from anew.engine import events as e
from anew.engine import signals as rules
from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunStatus
from anew.lab.replay import replay
from anew.languages import load_text
from anew.runtime.blocked_on import blocked_on
from anew.runtime.families import NoSuchRun
from anew.runtime.payloads import PayloadTooLarge
from anew.runtime.run_logs import read_log
from anew.runtime.signals import BadSignal, RunEnded, SignalsFull
from anew.store import WaitReason
from anew.stores.memory import MemoryDatabase
from anew.stores.sqlite import SqliteDatabase
from anew.views.summary import summary
from tests.runtime.test_control import World, _gate_is_a_kind, in_a_world  # noqa: F401
from tests.runtime.test_coordination import a_database, places, together  # noqa: F401
from tests.virtual import CountedDatabase, VirtualClock, played

PAY = """
workflow:
  - step: pay
    tool: {kind: wait, signal: paid}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: "{{ pay.amount }}"}
"""
TIMED = """
workflow:
  - step: pay
    tool: {kind: wait, signal: paid, timeout: 60}
"""
BESIDE = """
workflow:
  - step: start
    tool: {kind: noop}
    next: [{step: pay}, {step: work}]
  - step: pay
    tool: {kind: wait, signal: paid}
  - step: work
    tool: {kind: gate}
"""
LOOP = """
workflow:
  - step: each
    loop: {in: "{{ workload.items }}", iterator: n, spec: {mode: parallel, max_in_flight: 8}}
    tool: {kind: wait, signal: paid}
"""
SECRET = """
keychain: [{name: api, credential: api}]
workflow:
  - step: pay
    tool: {kind: wait, signal: paid}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: "{{ keychain.api.token == pay.token }}"}
"""
VALUE = "hunter2-and-more"


async def waiting(world, run):
    """What the run waits for, once it waits for nothing else."""
    return await asyncio.wait_for(world.engine.people.until_blocked(run), 10)


async def send(world, run, name="paid", payload=None, **more):
    return await world.engine.signals.signal(run, name, payload, **more)


def test_a_run_waits_for_a_signal_and_holds_no_slot(tmp_path):
    async def work(world):
        run = await world.start(PAY)
        still = await waiting(world, run)
        [awaited] = still.signals
        assert (awaited.key.step, awaited.signal, awaited.deadline) == ("pay", "paid", None)
        assert (await blocked_on(world.database, run)).signals == still.signals
        row = await world.database.archive.run(run)
        assert row.status is RunStatus.WAITING
        [job] = await world.database.archive.jobs(run)
        assert (job.reason, job.due_at, job.leased_until) == (WaitReason.SIGNAL, None, None)
        assert not world.engine.is_at_work
        assert await send(world, run, payload={"amount": 12}, by="ann")
        assert (await world.ended(run)).last_result == 12
        assert await waiting(world, run) is None
        [came] = [x for x in await world.log(run) if isinstance(x, e.SignalReceived)]
        assert (came.step, came.payload, came.by) == ("pay", {"amount": 12}, "ann")

    in_a_world(work, tmp_path, slots=1)


def test_a_run_that_does_something_else_does_not_stand_still(tmp_path):
    async def work(world):
        run = await world.start(BESIDE)
        await world.entered()
        still = asyncio.create_task(world.engine.people.until_blocked(run))
        await world.database.archive.run(run)
        assert not still.done()
        world.gate.answers.put_nowait({})
        assert (await asyncio.wait_for(still, 10)).signals

    in_a_world(work, tmp_path)


def test_a_signal_that_comes_early_is_kept(tmp_path):
    document = BESIDE.replace("[{step: pay}, {step: work}]", "[{step: work}]") + (
        "    next: [{step: pay}]\n"
    )

    async def work(world):
        run = await world.start(document)
        await world.entered()
        assert await send(world, run, payload=1)
        assert await send(world, run, payload=2)
        world.gate.answers.put_nowait({})
        assert (await world.ended(run)).last_result == 1

    in_a_world(work, tmp_path)


def test_the_same_id_counts_once_also_after_the_run_has_ended(tmp_path):
    async def work(world):
        run = await world.start(PAY)
        await waiting(world, run)
        sent = [send(world, run, payload={"amount": 1}, id="a") for _ in range(20)]
        assert sum(await asyncio.gather(*sent)) == 1
        assert (await world.ended(run)).last_result == 1
        assert await send(world, run, payload={"amount": 1}, id="a") is False
        with pytest.raises(RunEnded, match=rf"run {run} has ended \(done\)"):
            await send(world, run, id="b")

    in_a_world(work, tmp_path)


def test_two_signals_with_the_same_id_are_both_taken_and_one_sender_fills_only_its_own_room(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(rules, "SIGNAL_IDS_MAX", 1)

    async def work(world):
        run = await world.start(PAY)
        await waiting(world, run)
        assert await send(world, run, "shipped", id="a")
        with pytest.raises(SignalsFull, match=r"called 'shipped': .* \(SIGNAL_IDS_MAX\)"):
            await send(world, run, "shipped", id="b")
        assert await send(world, run, payload={"amount": 1}, id="a")
        assert (await world.ended(run)).last_result == 1

    in_a_world(work, tmp_path)


def test_many_signals_at_once_serve_as_many_waits(tmp_path):
    async def work(world):
        run = await world.start(LOOP, {"items": list(range(40))})
        sent = [send(world, run, payload=n, id=str(n)) for n in range(40) for _ in range(2)]
        assert sum(await asyncio.gather(*sent)) == 40
        results = (await world.ended(run)).results["each"].result["results"]
        assert sorted(results) == list(range(40))

    in_a_world(work, tmp_path, slots=4)


def test_signals_sent_through_two_engines_serve_as_many_waits(places, tmp_path):  # noqa: F811
    async def work(one, two):
        run = await one.start(LOOP, {"items": list(range(30))})
        worlds = [one, two]
        sent = [send(worlds[n % 2], run, payload=n // 2, id=str(n // 2)) for n in range(60)]
        assert sum(await asyncio.gather(*sent)) == 30
        state = await asyncio.wait_for(two.engine.wait(run), 30)
        assert sorted(state.results["each"].result["results"]) == list(range(30))
        await one.log(run)

    together(work, places, tmp_path, {"slots": 4}, {"slots": 4})


def test_what_cannot_be_sent_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("ANEW_PAYLOAD_BYTES_MAX", "100")
    monkeypatch.setattr(rules, "SIGNALS_KEPT_MAX", 1)

    async def work(world):
        run = await world.start(PAY)
        await waiting(world, run)
        before = await world.names(run)
        with pytest.raises(NoSuchRun, match="there is no run 7"):
            await send(world, 7)
        with pytest.raises(BadSignal, match="'a b' cannot be the name of a signal: it has letters"):
            await send(world, run, "a b")
        with pytest.raises(BadSignal, match="the id of a signal is a text of 1 to 200"):
            await send(world, run, id=" ")
        with pytest.raises(BadSignal, match="the sender of a signal"):
            await send(world, run, by="x" * 201)
        with pytest.raises(BadSignal, match=r"the payload has the key '\$secret'"):
            await send(world, run, payload={"$secret": "api"})
        with pytest.raises(PayloadTooLarge, match=r"has 202 bytes; the limit \(ANEW_PAYLOAD_BYTES"):
            await send(world, run, payload="x" * 200)
        assert await world.names(run) == before
        await send(world, run, "other")
        with pytest.raises(
            SignalsFull, match=r"no more signals called 'other': it keeps 1 that .* its limit"
        ):
            await send(world, run, "other")

    in_a_world(work, tmp_path)


def test_a_paused_run_keeps_a_signal_until_it_is_resumed(tmp_path):
    async def work(world):
        run = await world.start(PAY)
        await waiting(world, run)
        await world.engine.pause(run)
        assert await send(world, run, payload={"amount": 3})
        assert (await world.database.archive.run(run)).status is RunStatus.PAUSED
        await world.engine.resume(run)
        assert (await world.ended(run)).last_result == 3

    in_a_world(work, tmp_path)


def test_resuming_a_run_that_waits_keeps_it_waiting(tmp_path):
    async def work(world):
        run = await world.start(PAY)
        await waiting(world, run)
        await world.engine.pause(run)
        await world.engine.resume(run)
        assert (await waiting(world, run)).signals
        await send(world, run, payload={"amount": 4})
        assert (await world.ended(run)).last_result == 4

    in_a_world(work, tmp_path)


def test_a_signal_that_does_not_come_is_a_timeout_at_its_deadline(tmp_path):
    clock = VirtualClock()
    database = CountedDatabase(MemoryDatabase())

    async def work(world):
        driver = asyncio.create_task(clock.drive(database.is_quiet))
        try:
            run = await world.start(TIMED)
            state = await world.ended(run)
            assert (state.failure["kind"], clock.now()) == ("timeout", 60 * NANOSECONDS)
        finally:
            driver.cancel()

    in_a_world(work, tmp_path, database=database, clock=clock)


def test_a_signal_survives_the_process_that_took_it(tmp_path):
    path = tmp_path / "anew.db"

    async def first():
        database = SqliteDatabase.open(path)
        world = World(tmp_path, database=database)
        run = await world.start(PAY)
        await waiting(world, run)
        await world.engine.stop(0)
        await database.close()
        return run

    async def second(run, *, goes_on):
        database = SqliteDatabase.open(path)
        world = World(tmp_path, database=database)
        try:
            if not goes_on:
                return await send(world, run, payload={"amount": 5}, id="a")
            assert await send(world, run, payload={"amount": 6}, id="a") is False
            await world.engine.adopt([run])
            return (await world.ended(run)).last_result
        finally:
            await world.engine.stop(0)
            await database.close()

    run = asyncio.run(first())
    assert asyncio.run(second(run, goes_on=False)) is True
    assert asyncio.run(second(run, goes_on=True)) == 5


def test_a_large_payload_that_came_early_is_read_back_whole(tmp_path):
    path, text = tmp_path / "anew.db", "ü" * 300_000
    document = PAY.replace("{{ pay.amount }}", "{{ pay.text | length }}").replace(
        "  - step: pay\n",
        "  - step: nap\n    tool: {kind: gate}\n    next: [{step: pay}]\n  - step: pay\n",
    )

    async def first():
        database = SqliteDatabase.open(path)
        world = World(tmp_path, database=database)
        run = await world.start(document)
        await world.entered()
        await send(world, run, payload={"text": text})
        await world.engine.stop(0)
        await database.close()
        return run

    async def second(run):
        database = SqliteDatabase.open(path)
        world = World(tmp_path, database=database)
        world.gate.answers.put_nowait({})
        await world.engine.adopt([run])
        result = (await world.ended(run)).last_result
        await world.log(run)
        await world.engine.stop(0)
        await database.close()
        return result

    assert asyncio.run(second(asyncio.run(first()))) == 300_000


def test_secrets_of_a_payload_stay_out_of_the_log_and_are_usable(tmp_path, monkeypatch):
    value = f'{{"type": "generic", "data": {{"token": "{VALUE}"}}}}'
    monkeypatch.setenv("ANEW_CREDENTIAL_API", value)

    async def work(world):
        run = await world.start(SECRET)
        await waiting(world, run)
        await send(world, run, payload={"token": VALUE, "text": f"it is {VALUE}"}, by=VALUE)
        assert (await world.ended(run)).last_result is True
        assert VALUE not in repr(await read_log(world.database.archive, run))

    in_a_world(work, tmp_path)


def test_a_secret_of_others_is_taken_out_of_a_payload(tmp_path):
    async def work(world):
        world.engine.keychain.redactor.learn(Credential("x", "generic", {"token": VALUE}))
        run = await world.start(PAY)
        await waiting(world, run)
        await send(world, run, payload={"amount": VALUE})
        assert VALUE not in repr((await world.ended(run)).last_result)
        assert VALUE not in repr(await world.log(run))

    in_a_world(work, tmp_path)


def test_a_retried_run_waits_anew(tmp_path):
    document = PAY.replace("{kind: noop,", "{kind: shell, command: exit 1, cwd: ./none,")
    document = document.replace("result:", "stdin:")

    async def work(world):
        run = await world.start(document)
        await waiting(world, run)
        await send(world, run, payload={"amount": 1}, id="a")
        assert (await world.ended(run)).status is RunStatus.FAILED
        again = (await world.engine.retry(run, "pay")).run
        assert [one.signal for one in (await waiting(world, again)).signals] == ["paid"]
        assert await send(world, again, payload={"amount": 2}, id="a")

    in_a_world(work, tmp_path)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_script_plays_the_same_through_the_runtime(kind, tmp_path):
    script = {
        "outcomes": {"pay": [{"signal": {"amount": 7}, "takes": 3}]},
        "signals": [{"signal": "other", "at": 1}],
    }

    async def work():
        database = MemoryDatabase() if kind == "memory" else SqliteDatabase.open(tmp_path / "x.db")
        try:
            return await played(database, PAY, tmp_path, **script)
        finally:
            await database.close()

    log, state, _ = asyncio.run(work())
    program = load_text(PAY, "test.yaml").program
    assert replay(program, log) is None
    told = summary(program, log, state)
    assert (told["status"], told["elapsed"], state.last_result) == ("done", 3.0, {})
