"""People in a simulation: they answer as the script says, or not at all."""

from __future__ import annotations

import pytest

from anew.lab.replay import replay
from tests.play import names, play, rows, simulated

ASK = """
workflow:
- step: ask
  tool: {kind: human, question: "Ship it?", choices: ["[Y] Yes", "[N] No"]%s}
  next:
  - {step: stop, when: "{{ event.name == 'step.failed' }}"}
  - {step: go}
- {step: go, tool: {kind: noop}}
- {step: stop, tool: {kind: noop}}
"""
LATER = ASK % ", timeout: 60, timeout_action: %s"


def test_an_answer_takes_as_long_as_it_says() -> None:
    told = play(ASK % "", outcomes={"ask": [{"answer": "y", "takes": 5}]})
    (answered,) = rows(told, "human.answered")
    assert answered["data"] == {"answer": "y", "label": "[Y] Yes", "by": "script"}
    assert (told["status"], told["elapsed"]) == ("done", 5)


def test_an_answer_that_fits_no_choice_gives_way_to_the_next() -> None:
    entries = [{"answer": "perhaps", "takes": 2}, {"answer": "no", "takes": 3}]
    told = play(ASK % "", outcomes={"ask": entries})
    assert (rows(told, "human.answered")[0]["data"]["label"], told["elapsed"]) == ("[N] No", 5)


def test_when_no_answer_fits_the_question_stays_open() -> None:
    told = play(ASK % "", outcomes={"ask": [{"answer": "perhaps"}, {"answer": "who knows"}]})
    assert told["status"] == "waiting"
    assert "human.answered" not in names(told)


@pytest.mark.parametrize(
    ("choices", "answer", "why"),
    [
        ('"[Y] Yes", "[N] No"', "perhaps", "'perhaps' is none of the choices: [Y] Yes, [N] No"),
        ("North, Norway", "nor", "fits several of the choices: North, Norway"),
    ],
)
def test_an_answer_that_nobody_can_take_is_told(choices: str, answer: str, why: str) -> None:
    document = (ASK % "").replace('"[Y] Yes", "[N] No"', choices)
    run = simulated(document, outcomes={"ask": [{"answer": answer}, {"answer": "1"}]})
    assert run.doubts == (f"outcomes.ask[0].answer {why}",)


def test_an_answer_among_outcomes_that_nobody_can_take_is_told() -> None:
    document = (ASK % "").replace("stop, when", "ask, when")
    run = simulated(document, outcomes={"ask": [{"status": "FAILURE"}, {"answer": "perhaps"}]})
    assert run.doubts == (
        "outcomes.ask[1].answer 'perhaps' is none of the choices: [Y] Yes, [N] No",
    )


def test_nobody_answers_what_the_script_does_not_name() -> None:
    told = play(ASK % "")
    assert (told["status"], told["visits"], told["error"]) == ("waiting", ["ask"], None)


@pytest.mark.parametrize(
    ("action", "visits"),
    [("first", ["ask", "go"]), ("skip", ["ask", "go"]), ("fail", ["ask", "stop"])],
)
def test_a_deadline_passes_in_virtual_time(action: str, visits: list[str]) -> None:
    told = play(LATER % action)
    assert (told["visits"], told["elapsed"]) == (visits, 60)
    assert rows(told, "human.timed_out")[0]["data"]["action"] == action


def test_an_answer_after_the_deadline_is_too_late() -> None:
    told = play(LATER % "fail", outcomes={"ask": [{"answer": "y", "takes": 61}]})
    assert (told["visits"], told["elapsed"]) == (["ask", "stop"], 60)


def test_each_visit_of_a_question_takes_the_next_answer() -> None:
    document = (ASK % "").replace(
        "next:\n", "next:\n  - {step: ask, when: \"{{ ask.label == '[N] No' }}\"}\n", 1
    )
    told = play(document, outcomes={"ask": [{"answer": "n"}, {"answer": "n"}, {"answer": "y"}]})
    assert told["visits"] == ["ask", "ask", "ask", "go"]


def test_a_label_is_an_answer_too() -> None:
    told = play(ASK % "", outcomes={"ask": [{"status": "SUCCESS", "label": "Yes"}]})
    assert rows(told, "human.answered")[0]["data"]["label"] == "[Y] Yes"


def test_an_outcome_in_place_of_an_answer_is_the_tasks() -> None:
    gone = {"status": "FAILURE", "error": {"type": "TERMINAL", "message": "nobody there"}}
    told = play(ASK % "", outcomes={"ask": [gone]})
    assert told["visits"] == ["ask", "stop"]
    assert "human.waiting" not in names(told)
    (processed,) = [row for row in rows(told, "task.processed") if row["step"] == "ask"]
    assert processed["data"]["outcome"]["error"]["message"] == "nobody there"


def test_outcomes_and_answers_may_be_mixed() -> None:
    document = (ASK % "").replace("stop, when", "ask, when")
    told = play(document, outcomes={"ask": [{"status": "FAILURE"}, {"answer": "y"}]})
    assert told["visits"] == ["ask", "ask", "go"]
    last = [row for row in rows(told, "task.processed") if row["step"] == "ask"][-1]
    assert last["data"]["outcome"]["result"]["label"] == "[Y] Yes"


@pytest.mark.parametrize(
    ("document", "entries"),
    [
        (ASK % "", [{"answer": "y", "takes": 1}]),
        (LATER % "first", None),
        (LATER % "fail", None),
        (ASK % "", None),
    ],
)
def test_a_log_with_people_is_derived_again(document: str, entries) -> None:
    run = simulated(document, outcomes={"ask": entries} if entries else {})
    assert replay(run.program, run.log) is None
