"""A status whose own texts hold fences is still the agent's word on its work."""

from __future__ import annotations

from anew.tools.agent.status import status_in


def test_a_status_that_quotes_code_is_not_taken_for_a_plain_text() -> None:
    text = 'Tried.\n```json\n{"outcome": "fail", "notes": "run ```make``` first"}\n```\n'
    assert status_in(text) == {"outcome": "fail", "notes": "run ```make``` first"}


def test_the_language_of_a_fence_may_be_in_capitals() -> None:
    assert status_in('Tried.\n```JSON\n{"outcome": "fail"}\n```') == {"outcome": "fail"}


def test_a_fence_at_the_end_of_a_text_in_the_status_is_not_its_beginning() -> None:
    status = '{"outcome": "fail", "notes": "```",\n"context_updates": {"a": "```json"}}'
    assert status_in(f"Tried.\n````json\n{status}\n````")["outcome"] == "fail"


def test_the_block_at_the_end_counts_also_after_a_text_that_begins_with_a_brace() -> None:
    assert status_in('{x} done\n```\n{"outcome": "fail"}\n```') == {"outcome": "fail"}


def test_of_several_blocks_the_last_one_counts() -> None:
    text = '```json\n{"outcome": "success"}\n```\nNo:\n```json\n{"outcome": "fail"}\n```'
    assert status_in(text) == {"outcome": "fail"}


def test_a_block_that_a_text_goes_on_after_is_no_status() -> None:
    assert status_in('```json\n{"outcome": "fail"}\n```\nThis is an example.') is None


def test_only_some_fences_are_tried() -> None:
    many = "```\n{\n" * 10_000
    assert status_in(f'```json\n{{"outcome": "fail"}}\n```\n{many}```') is None
