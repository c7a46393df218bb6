"""Medians, ratios and verdicts, as the table of the benchmarks has them."""

from __future__ import annotations

import pytest

from bench.contest import Entry, Side
from bench.figures import Figure, Row, Workload, compared, holds, paired, percentile, rounded, shown


def workload(unit: str = "steps/s", **values: list[float]) -> Workload:
    figures = {
        key: Figure("Anew" if key == "anew" else key, found, 10, 30.0, None if found else "cannot")
        for key, found in values.items()
    }
    return Workload("durable.steps", "steps", unit, figures)


@pytest.mark.parametrize(
    ("target", "value", "is_met"),
    [
        ("≥ 5", 5.0, True),
        ("≥ 5", 4.99, False),
        ("≤ 1.3", 1.3, True),
        ("≤ 1.3", 1.31, False),
        ("< 1", 1.0, False),
        ("< 1", 0.99, True),
    ],
)
def test_a_target_is_a_sign_and_a_number(target: str, value: float, is_met: bool) -> None:
    assert holds(target, value) is is_met


def test_a_ratio_is_taken_in_each_round() -> None:
    # Rounds in which the machine was slow for both: the ratio of the medians would be 1.
    assert paired([100, 10, 20], [50, 5, 10]) == 2


def test_a_ratio_uses_the_rounds_that_both_have() -> None:
    assert paired([100, 10, 20], [50, 5]) == 2


def test_a_row_tells_our_median_and_spread() -> None:
    row = workload(anew=[3.0, 1.0, 2.0]).alone().rows[0]
    assert (row["value"], row["spread"], row["probe_ms"]) == (2.0, [1.0, 3.0], 30.0)
    assert "met" not in row


@pytest.mark.parametrize(("theirs", "is_met"), [([20.0], True), ([21.0], False)])
def test_a_peer_with_a_target_gets_a_verdict(theirs: list[float], is_met: bool) -> None:
    row = workload(anew=[100.0], dbos=theirs).beside("dbos", "≥ 5").rows[0]
    assert row["met"] is is_met
    assert row["target"] == "ratio ≥ 5"


def test_a_rate_is_compared_with_the_highest_of_several() -> None:
    work = workload(anew=[100.0], one=[10.0], two=[50.0]).beside("one two", "≥ 2.5")
    assert work.rows[0]["ratio"] == 2
    assert work.rows[0]["met"] is False
    assert work.rows[0]["peer"].startswith("two: 50")


def test_a_time_is_compared_with_the_lowest_of_several() -> None:
    work = workload("ms", anew=[5.0], one=[10.0], two=[50.0]).beside("one two", "< 1")
    assert (work.rows[0]["ratio"], work.rows[0]["met"]) == (0.5, True)


def test_one_of_several_that_cannot_does_not_hide_the_others() -> None:
    work = workload(anew=[100.0], one=[], two=[50.0]).beside("one two", "≥ 2")
    assert work.rows[0]["met"] is True


def test_a_peer_that_cannot_has_a_reason_and_no_verdict() -> None:
    row = workload(anew=[100.0], noetl=[]).beside("noetl", "≥ 5").rows[0]
    assert (row["peer"], row.get("ratio"), row.get("met")) == ("cannot", None, None)


def test_a_figure_of_ours_alone_is_judged_by_its_value() -> None:
    row = workload("ms", anew=[11.0]).alone("≤ 10").rows[0]
    assert (row["target"], row["met"]) == ("≤ 10 ms", False)


def test_a_contest_can_be_seen_from_two_figures_of_ours() -> None:
    work = workload(anew=[100.0], db=[200.0], raw=[400.0])
    work.of("db").alone().beside("raw", "≥ 0.5")
    work.of("anew").beside("raw", "≥ 0.5")
    assert [row.get("met") for row in work.rows] == [None, True, False]


def beside_a_side_that_was_cut_short(target: str) -> Row:
    ours = Entry(Side("Anew"), "items", 5_000, samples=[{"seconds": 1.0}])
    cut = Entry(Side("slow"), "items", 5_000, samples=[{"seconds": 16.0, "is_cut": True}])
    entries = {"anew": ours, "slow": cut}
    work = compared("loop", "loop", "items/s", entries=entries, values=Entry.rates)
    return work.beside("slow", target).rows[0]


def test_a_side_that_was_cut_short_is_said_to_be_no_faster_than_that() -> None:
    row = beside_a_side_that_was_cut_short("≥ 10")
    assert row["peer"].startswith("at most 312 items/s")
    assert row["met"] is True


def test_a_target_is_not_missed_because_a_peer_was_cut_short() -> None:
    assert beside_a_side_that_was_cut_short("≥ 20")["met"] is None


@pytest.mark.parametrize(
    ("value", "kept"), [(1234.5, 1234), (99.94, 99.9), (0.012345, 0.0123), (0.0, 0.0)]
)
def test_three_figures_are_enough(value: float, kept: float) -> None:
    assert rounded(value) == kept


def test_a_percentile_lies_between_samples() -> None:
    assert percentile([float(one) for one in range(101)], 95) == 95.0


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.0123, "0.0123"), (12.34, "12.3"), (1234567.8, "1,234,568")]
)
def test_numbers_are_written_as_people_do(value: float, text: str) -> None:
    assert shown(value) == text
