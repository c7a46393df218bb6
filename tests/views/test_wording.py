"""Small texts that several views share."""

from __future__ import annotations

import pytest

from anew.engine.outcome import Outcome, error_of
from anew.program.kinds import HELPERS
from anew.program.policy import OutcomeStatus
from anew.values import Object
from anew.views.wording import failure_text, tool_code


def failed(helpers: Object, message: str = "it broke") -> Outcome:
    return Outcome(OutcomeStatus.ERROR, error=error_of("failed", message), helpers=helpers)


@pytest.mark.parametrize(
    ("helpers", "message", "text"),
    [
        ({"http": {"status": 503, "headers": {}}}, "it broke", "HTTP 503: it broke"),
        ({"http": {"status": 503, "headers": {}}}, "HTTP 503 from there", "HTTP 503 from there"),
        ({"http": {"status": 503, "headers": {}}}, "HTTP 503", "HTTP 503"),
        ({"pg": {"code": "40P01", "sqlstate": "40P01"}}, "deadlock", "SQLSTATE 40P01: deadlock"),
        ({"pg": {"code": None}}, "no answer", "failed: no answer"),
        ({"shell": {"exit_code": 2}}, "exit status 2", "failed: exit status 2"),
        ({"own": {"code": 2}}, "no", "failed: no"),
    ],
)
def test_a_failure_begins_with_the_code_of_its_tool(
    helpers: Object, message: str, text: str
) -> None:
    assert failure_text(failed(helpers, message)) == text


def test_every_helper_with_a_code_is_known_by_it() -> None:
    for helper in HELPERS.values():
        if helper.code is not None:
            assert f"`{helper.code}`" in helper.meaning
            assert tool_code(failed({helper.name: {helper.code: 7}})) == (helper.code_name, 7)
