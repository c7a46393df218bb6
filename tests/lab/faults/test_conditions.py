"""What the author promises of every run is asked of every run."""

import pytest

from anew.errors import ConfigError
from anew.lab.faults.kinds import KILL, REFUSE
from tests.lab.faults.documents import FLAKY, RETRIED, broken, played


def asked(*conditions, **more):
    return played(RETRIED, {**FLAKY, "invariants": list(conditions)}, **more)


def test_conditions_that_hold_in_every_run_are_not_broken():
    held = (
        "status != 'done' or ctx.paid",
        "attempts.tell <= 1 or effects.tell >= 0",
        "elapsed >= 0",
    )
    assert broken(asked(*held)) == set()


def test_a_condition_that_does_not_hold_is_broken_and_says_what_it_read():
    report = asked("effects.charge <= 1", faults={KILL: 0.5})
    assert broken(report) == {"effects.charge <= 1"}
    record = report.broken[0]
    assert record.broken[0].why == f"effects.charge is {record.effects['charge']}"


def test_everything_of_the_report_can_be_read():
    whole = (
        "'pay' in visits and attempts.charge >= 0 and delays | length <= 9 and elapsed >= 0 "
        "and (ctx.paid or error.kind) and handled == [] and unsatisfied == [] "
        "and (result is none or result == {}) and effects.charge >= 0 and status in ['done', 'failed']"
    )
    assert broken(asked(whole, faults={REFUSE: 0.2})) == set()


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("attempts.charge <=", "invariant 'attempts.charge <=' cannot be evaluated"),
        ("atempts.charge <= 3", "reads 'atempts'.*Did you mean 'attempts'"),
        ("attempts.chrge <= 3", "attempts.chrge names no task. Did you mean 'charge'"),
        ("effects.nothing == 1", "effects.nothing names no task"),
    ],
)
def test_a_condition_that_cannot_be_meant_is_refused_by_name(condition, told):
    with pytest.raises(ConfigError, match=told):
        asked(condition, runs=3)


def test_a_condition_that_cannot_be_evaluated_in_some_runs_is_broken_in_those():
    report = asked("ctx.paid + 1 > 1", "ctx.paid", faults={REFUSE: 0.5})
    assert 0 < len(report.broken) < len(report.records)
    for record in report.broken:
        sum_, paid = record.broken
        assert sum_.why.startswith("cannot be evaluated: ")
        assert paid.why == "ctx.paid is None"


def test_a_label_that_several_steps_use_is_read_with_its_step():
    document = """
workflow:
  - {step: a, tool: [{go: {kind: noop}}], next: b}
  - {step: b, tool: [{go: {kind: noop}}]}
"""
    script = {"invariants": ["attempts['a.go'] == 1 and effects['b.go'] == 1"]}
    assert broken(played(document, script, faults={}, runs=1)) == set()


def test_the_worst_run_is_the_first_that_breaks_something():
    report = asked("effects.charge <= 1", faults={KILL: 0.5})
    assert report.worst.index == report.broken[0].index
    assert not report.holds
