"""Tests of two playbooks and a graph: no tool is called, and no time passes."""

from pathlib import Path

import pytest

from anew import lab

HERE = Path(__file__).parent


def test_a_server_that_is_down_for_a_while_is_asked_again() -> None:
    flow = lab.load(HERE / "retried.yaml")
    down = lab.error("server_error", http=503, times=2, takes=0.4)
    played = lab.play(flow, outcomes={"page": [down, lab.ok({"data": {"items": [1, 2]}})]})
    assert played.status == "done"
    assert played.attempts["page"] == 3
    assert played.delays == [1.0, 2.0]
    assert played.ctx["orders"] == [1, 2]


@pytest.mark.parametrize("kind", ["auth", "not_found", "client_error"])
def test_an_error_that_stays_is_not_asked_again(kind: str) -> None:
    flow = lab.load(HERE / "retried.yaml")
    played = lab.play(flow, outcomes={"page": lab.error(kind)})
    played.expect(status="failed", error_kind=kind, attempts={"page": 1, "insert": 0})


def test_dead_links_are_mended_and_the_page_is_tested_again() -> None:
    flow = lab.load(HERE / "page_retried.dot")
    dead = lab.error("exit_code", "2 links are dead", shell={"exit_code": 1}, times=2)
    played = lab.play(flow, outcomes={"test": [dead, lab.status("SUCCESS")]})
    assert played.status == "done"
    assert played.visits == ["start", "draft", "test", "test", "fix", "test", "done"]


def test_a_question_that_nobody_answers_is_left_for_later() -> None:
    flow = lab.load(HERE / "ask.yaml")
    late = lab.play(flow, outcomes={"approve": lab.answer("Y", takes="3h")})
    assert late.visits == ["build", "approve", "later"]
    assert late.elapsed == 2 * 3600
    soon = lab.play(flow, outcomes={"approve": lab.answer("Y", takes="1h")})
    assert soon.visits == ["build", "approve", "release"]
