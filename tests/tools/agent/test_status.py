"""What an agent says about its own work, in all its forms."""

from __future__ import annotations

import json

import pytest

from anew.engine.outcome import Outcome
from anew.engine.verdicts import type_of
from anew.program.policy import Verdict
from anew.tools.agent import AgentReply, AgentRequest, AgentTool
from anew.tools.agent.status import AGENT_STATUS_BYTES_MAX, BadStatus, read_status, status_in
from anew.values import Object, Value
from tests.tools.agent.agent_calls import agent, error_of


class Saying:
    def __init__(self, reply: str | AgentReply) -> None:
        self._reply = reply

    async def run(self, _request: AgentRequest) -> str | AgentReply:
        return self._reply

    async def close(self) -> None:
        pass


def of_status(**status: Value) -> Outcome:
    return of_reply(AgentReply(text="done", status=status))


def of_reply(reply: str | AgentReply) -> Outcome:
    return agent(tool=AgentTool({"mine": Saying(reply)}), backend="mine")


@pytest.mark.parametrize(
    ("word", "verdict", "kept"),
    [
        ("success", Verdict.SUCCESS, None),
        ("SUCCESS", Verdict.SUCCESS, None),
        ("partial_success", Verdict.PARTIAL, None),
        ("SKIPPED", Verdict.SKIPPED, None),
        ("fail", Verdict.FAILURE, None),
        ("retry", Verdict.FAILURE, "retry"),
        ("needs_dod", Verdict.SUCCESS, "needs_dod"),
    ],
)
@pytest.mark.parametrize("key", ["outcome", "status"])
def test_the_word_of_a_status_decides(
    key: str, word: str, verdict: Verdict, kept: str | None
) -> None:
    outcome = of_status(**{key: word})
    assert (outcome.amounts_to, outcome.word) == (verdict, kept)
    assert outcome.result["status"] == verdict.value
    assert outcome.result["text"] == "done"


@pytest.mark.parametrize("key", ["preferred_label", "preferred_next_label"])
def test_a_status_may_name_the_way_and_write_to_the_context(key: str) -> None:
    said = {
        "outcome": "success",
        key: "Approve",
        "suggested_next_ids": ["a", "b"],
        "context_updates": {"k.x": [1]},
        "notes": "fine",
    }
    outcome = of_status(**said)
    assert (outcome.label, outcome.suggested, outcome.updates) == (
        "Approve",
        ("a", "b"),
        {"k.x": [1]},
    )
    assert outcome.result["notes"] == "fine"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"outcome": "fail"}, ("failed", "UNKNOWN", None, "the agent said that it failed")),
        ({"outcome": "fail", "notes": "no luck"}, ("failed", "UNKNOWN", None, "no luck")),
        ({"outcome": "fail", "failure_reason": "tests"}, ("failed", "UNKNOWN", None, "tests")),
        ({"outcome": "fail", "error": "tests"}, ("failed", "UNKNOWN", None, "tests")),
        ({"outcome": "retry"}, ("failed", "TRANSIENT", True, "the agent asked to be tried again")),
        ({"outcome": "fail", "error": {"type": "TERMINAL", "message": "m"}}, ("failed", "TERMINAL", False, "m")),
        ({"outcome": "fail", "error": {"type": "TIMEOUT", "retryable": True, "message": "m"}}, ("failed", "TIMEOUT", True, "m")),
        ({"outcome": "fail", "error": {"kind": "rate_limit", "message": "m"}}, ("rate_limit", "TRANSIENT", True, "rate limit: m")),
    ],
)  # fmt: skip
def test_a_failure_says_why_and_whether_trying_again_helps(
    status: Object, expected: tuple[object, ...]
) -> None:
    error = error_of(of_status(**status))
    assert (error["kind"], type_of(error).value, error["retryable"], error["message"]) == expected


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"outcome": 5}, "`outcome` that is not a text"),
        ({"outcome": "success", "preferred_label": ["a"]}, "`preferred_label` that is not a text"),
        ({"outcome": "success", "suggested_next_ids": "a"}, "`suggested_next_ids`"),
        ({"outcome": "success", "suggested_next_ids": [1]}, "`suggested_next_ids`"),
        ({"outcome": "success", "context_updates": ["x"]}, "`context_updates`"),
        ({"outcome": "fail", "error": {"retryable": "yes"}}, "`error.retryable`"),
        ({"outcome": "fail", "error": {"type": 3}}, "`error.type`"),
    ],
)
def test_a_status_of_another_form_is_a_failure_that_may_be_tried_again(
    status: Object, words: str
) -> None:
    outcome = of_status(**status)
    error = error_of(outcome)
    assert words in error["message"]
    assert (error["kind"], error["type"], error["retryable"]) == ("failed", "UNKNOWN", None)
    assert outcome.result["text"] == "done"


def test_updates_that_stand_for_secrets_are_refused() -> None:
    error = error_of(of_status(outcome="success", context_updates={"a": {"$secret": "key"}}))
    assert error["kind"] == "config"


OBJECT = '{"outcome": "fail", "failure_reason": "why"}'


@pytest.mark.parametrize(
    "text",
    [
        OBJECT,
        f"  {OBJECT}\n",
        f"```json\n{OBJECT}\n```",
        f"I tried.\n\n```json\n{OBJECT}\n```\n",
        f"I tried:\n```\n{{}}\n```\nthen\n```\n{OBJECT}\n```",
    ],
)
def test_a_status_may_be_the_text_or_its_last_block(text: str) -> None:
    outcome = of_reply(text)
    assert error_of(outcome)["message"] == "why"
    assert outcome.result["text"] == text


@pytest.mark.parametrize(
    "text",
    [
        "All done.",
        '{"status": "failed", "order": 7}',  # data that a prompt asked for
        f"For example:\n```json\n{OBJECT}\n```\nThat is how it looks.",
        f"The object {OBJECT} was written.",
        '["outcome"]',
        "{not json",
        "```\n```",
        "```json\n{broken\n```",
        "",
    ],
)
def test_any_other_text_is_a_text(text: str) -> None:
    assert status_in(text) is None
    outcome = of_reply(text)
    assert (outcome.error, outcome.word, outcome.result["text"]) == (None, None, text)


def test_a_very_long_text_is_searched_quickly() -> None:
    assert status_in("```\n{" * 300_000) is None
    assert status_in("x" * 3_000_000 + f"\n```json\n{OBJECT}\n```") == json.loads(OBJECT)
    assert status_in("{" + " " * AGENT_STATUS_BYTES_MAX + "}") is None


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[1]", b'"success"', b"[" * 5000])
def test_a_file_that_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(BadStatus):
        read_status(data)


def test_a_file_may_begin_with_a_byte_order_mark() -> None:
    assert read_status(b'\xef\xbb\xbf{"outcome": "ok"}') == {"outcome": "ok"}


def test_an_agent_does_not_write_the_names_of_the_run_or_the_document() -> None:
    updates = {"score": 7, "_retries": 0, "graph.goal": "mine", "graphs": 1}
    outcome = of_status(context_updates=updates, notes="Two findings.")
    assert outcome.updates == {"score": 7, "graphs": 1}
    first, second = outcome.result["notes"].split("\n")
    assert first == "Two findings."
    assert second.startswith("context_updates of _retries, graph.goal were left out")


def test_a_long_list_of_names_is_noted_shortly() -> None:
    notes = of_status(context_updates={f"_{n}" * 99: n for n in range(99)}).result["notes"]
    assert "and 89 more were left out" in notes
    assert len(notes) < 1_000


def test_what_was_left_out_is_not_why_an_agent_failed() -> None:
    outcome = of_status(outcome="fail", context_updates={"_a": 1})
    assert error_of(outcome)["message"] == "the agent said that it failed"
