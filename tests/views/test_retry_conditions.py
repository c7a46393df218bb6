"""What a `retry` block decided is shown in the words of the block, everywhere."""

from __future__ import annotations

from anew.lab.simulate import Simulation
from anew.surfaces.cli.attempts import decision_of
from anew.views.explain.explaining import explanation
from anew.views.picture.rules import RuleHits
from anew.views.timeline import timeline_lines
from tests.play import simulated
from tests.views.test_attempt_rows import rows

BLOCK = """
workflow:
- step: a
  tool: http
  url: http://x
  retry: {initial_delay: 1, jitter: false, retry_when: "{{ status_code == 503 }}", stop_when: "{{ status_code == 404 }}"}
"""
UNMET = "retry_when: false, stop_when: false"


def run_of(*statuses: int) -> Simulation:
    outcomes = [{"error": {}, "http": {"status": status}} for status in statuses]
    return simulated(BLOCK, outcomes={"a": outcomes})


def test_a_failure_that_no_condition_takes_names_them() -> None:
    played = run_of(503, 500)
    told = "\n".join(timeline_lines(played.log, played.program))
    assert "http 503 · retry_when · retry in 1.0 s" in told
    assert f"http 500 · {UNMET} → fail" in told
    last = rows(played)[-1]
    assert (last.rule, last.unmet) == (None, UNMET)
    assert decision_of(last) == f"{UNMET}: fail"


def test_an_explanation_has_the_conditions_and_their_values() -> None:
    played = run_of(503, 500)
    told = " ".join(
        sentence
        for paragraph in explanation(played.log, played.program, now=played.log[-1].at)
        for sentence in paragraph.sentences
    )
    assert "retry_when of a (test.yaml:6:" in told
    assert "holds: `status_code == 503` (status_code is 503)" in told
    assert "stop_when and retry_when of a are false: `status_code == 404`" in told
    assert "Rule" not in told


def test_what_stops_is_said_as_well() -> None:
    played = run_of(404)
    told = "\n".join(timeline_lines(played.log, played.program))
    assert "http 404 · stop_when · fail" in told


def test_each_condition_is_one_row_of_the_rules() -> None:
    played, hits = run_of(503, 500), RuleHits()
    for event in played.log:
        hits.feed(event)
    found, _ = hits.rows(played.program)
    assert [(row.rule.name, row.directive, row.hits) for row in found] == [
        ("stop_when", "fail or continue", 0),
        ("retry_when", "retry", 1),
    ]
