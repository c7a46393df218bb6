"""What agents reply is shown next to their steps, and of nobody else."""

from __future__ import annotations

from anew.views.log_lines import LogLines
from anew.views.progress import progress_of
from tests.play import simulated

DOCUMENT = """\
metadata: {name: asks}
workflow:
  - step: ask
    tool:
      - question: {kind: agent, prompt: Who?}
      - plain: {kind: noop, result: {text: nobody}}
"""
REPLY = {"result": {"text": "It was\nthe butler."}}


def test_a_reply_is_a_line_of_the_live_log_and_stays_with_its_step() -> None:
    simulation = simulated(DOCUMENT, outcomes={"question": [REPLY]})
    lines = LogLines(simulation.program)
    told = [line for line in map(lines.line, simulation.log) if line]
    assert "ask.question: replied: It was the butler." in told
    assert not any("nobody" in line for line in told)
    progress = progress_of(simulation.log, simulation.program)
    assert progress.steps["ask"].reply == "It was the butler."


def test_without_a_program_nobody_knows_who_is_an_agent() -> None:
    simulation = simulated(DOCUMENT, outcomes={"question": [REPLY]})
    assert progress_of(simulation.log, None).steps["ask"].reply == ""


def test_an_agent_that_says_nothing_gets_no_line() -> None:
    simulation = simulated(DOCUMENT, outcomes={"question": [{"result": {"text": "  "}}]})
    lines = LogLines(simulation.program)
    assert not any("replied" in (lines.line(event) or "") for event in simulation.log)
