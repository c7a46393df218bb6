"""What sleeps is on no machine: no fault but one of the clock changes how long it takes."""

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.lab.faults.kinds import CLOCK, KILL, SLOW
from tests.lab.faults.documents import events_of, runs_of

ASLEEP = """
workflow:
  - {step: start, tool: {kind: noop}, next: [nap, call]}
  - {step: nap, tool: {kind: sleep, seconds: 100}}
  - {step: call, tool: {kind: http, url: "http://x"}}
"""


def test_nobody_is_lost_who_sleeps():
    script = {"outcomes": {"call": [{"result": {}, "takes": 10}], "start": [{"result": {}}]}}
    runs = runs_of(ASLEEP, script, faults={KILL: 0.5, SLOW: 0.5})
    assert any("machine dies in call" in one.what for run in runs for one in run.struck)
    for run in runs:
        assert run.broken == []
        assert "nap" not in {x.step for x in events_of(run, e.StepRedelivered)}
        assert not any("nap.nap" in one.what for one in run.struck)
        naps = [x for x in run.simulation.log if x.step == "nap"]
        began = [x.at for x in naps if isinstance(x, e.TaskStarted)]
        done = [x for x in naps if isinstance(x, e.TaskProcessed)]
        assert [(x.at - began[0], x.outcome.result) for x in done] in (
            [(100 * NANOSECONDS, {"slept": 100.0})],
            [],
        )


def test_a_sleep_ends_when_the_clock_shows_its_moment():
    took = []
    for run in runs_of(ASLEEP, faults={CLOCK: 0.9}, number=60):
        assert run.broken == []
        (began,) = [x.at for x in events_of(run, e.TaskStarted) if x.step == "nap"]
        (ended,) = [x.at for x in events_of(run, e.TaskProcessed) if x.step == "nap"]
        assert ended - began >= 100 * NANOSECONDS
        took.append(run.ledgers[0].turns[-1].now - run.ledgers[0].turns[0].now)
    assert min(took) < 50 * NANOSECONDS
    assert max(took) > 150 * NANOSECONDS
