"""A `sleep` that no script names takes its time in a simulation, and gives what the tool gives."""

import asyncio

import pytest

from anew.engine import events as e
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.stores.memory import MemoryDatabase
from tests.runtime.test_control import World
from tests.virtual import CountedDatabase, VirtualClock

YEAR = 31_536_000


def told(log):
    """What happened, when, and what came of it, of a run that began in 1970."""
    return [
        (event.name, event.step, event.at, event.outcome if isinstance(event, e.TaskProcessed) else 0)
        for event in log
    ]  # fmt: skip


def simulated(document, script=None):
    program = load_text(document, "test.yaml").program
    assert program is not None
    return simulate(program, script_of({"now": "1970-01-01T00:00:00Z", **(script or {})}))


def really(document, folder):
    """The log of a run by the runtime, whose clock jumps to whatever is due next."""

    async def play():
        clock, counted = VirtualClock(), CountedDatabase(MemoryDatabase())
        world = World(folder, counted, clock=clock)
        driver = asyncio.create_task(clock.drive(counted.is_quiet))
        run = await world.start(document)
        await world.ended(run)
        driver.cancel()
        log = await world.log(run)
        await world.engine.stop(0)
        return log

    return asyncio.run(play())


@pytest.mark.parametrize(
    "tool",
    [
        "seconds: 31536000",
        "seconds: 0.25",
        "seconds: 90m",
        "until: '1970-01-02T03:04:05.678901Z'",
        "until: '1969-12-31T00:00:00Z'",
        "seconds: 0",
        "seconds: '{{ none }}'",
        "seconds: -1",
        "until: tomorrow",
        "seconds: 60, spec: {timeout: 7}",
        "seconds: 5, spec: {timeout: 7}",
    ],
)
@pytest.mark.parametrize("lifecycle", ["", "spec: {policy: {lifecycle: {timeout_s: 30}}}, "])
def test_a_simulated_sleep_is_that_of_a_run(tmp_path, lifecycle, tool):
    document = f"""
workflow:
  - {{step: nap, {lifecycle}tool: {{kind: sleep, {tool}}}, next: end}}
  - {{step: end, tool: {{kind: noop}}}}
"""
    log, real = simulated(document).log, really(document, tmp_path)
    # A noop gives nothing of its own where no tool is called.
    assert [one for one in told(log) if one[1] == "nap"] == [
        one for one in told(real) if one[1] == "nap"
    ]
    assert told(log)[-1][:3] == told(real)[-1][:3]


def test_sleeps_side_by_side_take_as_long_as_the_longest():
    document = """
workflow:
  - step: fan
    loop: {in: "{{ [3, 9, 6] }}", iterator: n, spec: {mode: parallel}}
    tool: {kind: sleep, seconds: "{{ iter.n }}"}
"""
    assert simulated(document).report()["elapsed"] == 9


def test_a_sleep_of_the_workbook_sleeps_too():
    document = """
workbook: [{name: nap, tool: {kind: sleep, seconds: 40}}]
workflow: [{step: rest, tool: {kind: workbook, name: nap}}]
"""
    assert simulated(document).report()["elapsed"] == 40


def test_a_sleep_that_the_script_names_is_what_the_script_says():
    document = f"workflow: [{{step: nap, tool: {{kind: sleep, seconds: {YEAR}}}}}]"
    played = simulated(document, {"outcomes": {"nap": [{"result": {"n": 1}, "takes": 2}]}})
    assert played.report()["elapsed"] == 2
    assert [x.outcome.result for x in played.log if isinstance(x, e.TaskProcessed)] == [{"n": 1}]
