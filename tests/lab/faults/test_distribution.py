"""Figures over many runs add up."""

from hypothesis import given
from hypothesis import strategies as st

from anew.lab.faults.distribution import (
    BUCKETS_MAX,
    count_buckets,
    percentiles,
    report_of,
    tallies,
    time_buckets,
)
from anew.lab.faults.kinds import KILL
from tests.lab.faults.documents import FLAKY, RETRIED, played


def test_percentiles_are_values_that_occurred():
    assert percentiles(range(1, 101)) == {"p50": 50, "p90": 90, "p99": 99, "max": 100}
    assert percentiles([7]) == {"p50": 7, "p90": 7, "p99": 7, "max": 7}
    assert percentiles([]) == {"p50": 0, "p90": 0, "p99": 0, "max": 0}


@given(st.lists(st.integers(0, 5000), min_size=1))
def test_every_count_is_in_one_bucket(values):
    buckets = count_buckets(values)
    assert len(buckets) <= BUCKETS_MAX
    for bucket in buckets:
        inside = [value for value in values if bucket.least <= value <= bucket.most]
        assert bucket.runs == len(inside)
    assert sum(bucket.runs for bucket in buckets) == len(values)


@given(st.lists(st.floats(0, 1e8), min_size=1))
def test_every_time_is_in_one_bucket(values):
    buckets = time_buckets(values)
    for bucket in buckets:
        end = float("inf") if bucket.most is None else bucket.most
        assert bucket.runs == sum(1 for value in values if bucket.least <= value < end)
    assert sum(bucket.runs for bucket in buckets) == len(values)


def test_the_report_counts_every_run_once():
    report = played(RETRIED, {**FLAKY, "invariants": ["effects.charge <= 1"]}, faults={KILL: 0.4})
    told = report_of(report)
    assert sum(told["statuses"].values()) == told["runs"] == 50
    assert sum(told["errors"].values()) == told["statuses"].get("failed", 0)
    assert sum(row["runs"] for row in told["seconds"]["histogram"]) == 50
    assert sum(row["runs"] for row in told["attempts"]["histogram"]) == 50
    assert told["injected"] == {KILL: sum(r.injected.get(KILL, 0) for r in report.records)}


def test_a_broken_condition_is_counted_with_its_first_run():
    report = played(RETRIED, {**FLAKY, "invariants": ["effects.charge <= 1"]}, faults={KILL: 0.4})
    (own,) = [tally for tally in tallies(report) if tally.is_own]
    indexes = [record.index for record in report.records if record.effects["charge"] > 1]
    assert (own.runs, own.first) == (len(indexes), indexes[0])
    assert report_of(report)["worst"]["run"] == indexes[0]
