"""What must hold for every program, every script and every seed."""

from itertools import pairwise

import msgspec
from hypothesis import HealthCheck, assume

from anew.engine import events as e
from anew.engine.fold import fold
from anew.errors import ConfigError
from anew.lab.replay import replay
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from tests.generated import playbooks, scripts
from tests.suites import tried

EVENTS_MAX = 400


def played(document, script):
    loaded = load_text(document, "generated.yaml")
    assert loaded.program is not None, loaded.findings
    said = script_of(script)
    try:
        return simulate(loaded.program, said, events_max=EVENTS_MAX)
    except ConfigError:
        assume(False)  # goes in circles for ever, as the generator may ask


@tried(
    document=playbooks(),
    script=scripts(),
    examples=30,
    long=(90, 90, 90),
    suppress=(HealthCheck.too_slow, HealthCheck.filter_too_much),
)
def test_invariants(document, script):
    run = played(document, script)
    the_log_is_gap_free(run.log)
    the_run_ends_once_and_last(run.log)
    folding_the_log_gives_the_live_state(run)
    attempts_stay_within_the_rule(run.log)
    no_attempt_starts_before_it_is_due(run.log)
    assert replay(run.program, run.log) is None


def the_log_is_gap_free(log):
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert all(a.at <= b.at for a, b in pairwise(log))


def the_run_ends_once_and_last(log):
    ends = [x for x in log if isinstance(x, e.RunDone | e.RunFailed)]
    assert len(ends) == 1
    assert log[-1] is ends[0]


def folding_the_log_gives_the_live_state(run):
    assert fold(run.log) == run.state
    written = [(type(x), msgspec.json.encode(x)) for x in run.log]
    assert fold(msgspec.json.decode(text, type=kind) for kind, text in written) == run.state


def attempts_stay_within_the_rule(log):
    allowed = {}
    for event in log:
        place = (event.step, event.visit, event.iteration, event.task)
        if isinstance(event, e.TaskRetryScheduled):
            assert event.attempt < event.attempts
            allowed[place] = event.attempts
        elif isinstance(event, e.TaskStarted) and event.attempt > 1:
            assert event.attempt <= allowed[place]


def no_attempt_starts_before_it_is_due(log):
    due = {}
    for event in log:
        place = (event.step, event.visit, event.iteration)
        if isinstance(event, e.TaskRetryScheduled):
            assert event.not_before - event.at >= round(event.delay_seconds * 1e9)
            due[place] = event.not_before
        elif isinstance(event, e.TaskProcessed | e.TaskRetryExhausted) and event.not_before:
            due[place] = event.not_before
        elif isinstance(event, e.TaskStarted):
            assert event.at >= due.pop(place, 0)
