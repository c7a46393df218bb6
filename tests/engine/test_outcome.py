"""Messages have the words that conditions look for, whoever wrote them."""

from __future__ import annotations

import pytest

from anew.engine.outcome import MESSAGE_WORDS, error_of, outcome_of


def message_of(outcome):
    assert outcome.error is not None
    return outcome.error["message"]


@pytest.mark.parametrize(("kind", "word"), MESSAGE_WORDS.items())
def test_a_message_of_a_kind_has_its_word(kind, word):
    assert error_of(kind, "m")["message"] == f"{word}: m"
    assert message_of(outcome_of(error={"kind": kind, "message": "m"})) == f"{word}: m"
    assert message_of(outcome_of(error={"kind": kind})) == word


def test_a_message_that_has_the_word_stays_as_it_is():
    said = {"kind": "connection", "message": "the connection was reset"}
    assert message_of(outcome_of(error=said)) == "the connection was reset"
    assert error_of("python_error", "m")["message"] == "m"


def test_an_http_message_starts_with_its_status_all_the_same():
    assert error_of("rate_limit", "HTTP 429 Too Many Requests")["message"] == (
        "HTTP 429 Too Many Requests (rate limit)"
    )
    silent = outcome_of(error={"kind": "rate_limit"}, helpers={"http": {"status": 429}})
    assert message_of(silent) == "HTTP 429 Too Many Requests (rate limit)"


@pytest.mark.parametrize("how", ["is_sealed", "is_verbatim"])
def test_a_log_and_a_script_keep_their_words(how):
    kept = outcome_of(error={"kind": "timeout", "message": "slow"}, **{how: True})
    assert message_of(kept) == "slow"
