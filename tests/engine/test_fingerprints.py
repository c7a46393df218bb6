"""Which errors are one problem: what varies from run to run does not count, all else does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.engine.fingerprints import FINGERPRINTED_CHARACTERS_MAX, fingerprint_of, steady

NUMBERS = st.integers(0, 10**18).map(str)
HOSTS = st.from_regex(r"[a-z]{1,10}(\.[a-z]{1,10}){0,3}(:[0-9]{1,5})?", fullmatch=True)
MOMENTS = st.datetimes().map(lambda moment: moment.isoformat())
QUOTES = st.text(st.characters(exclude_characters="\"'`“”", exclude_categories=["C"]), max_size=20)
HEX = st.from_regex(r"0x[0-9a-f]{1,12}|[a-f]{8,16}", fullmatch=True)


def print_of(message: str, kind: str = "server_error", **more: object) -> str:
    return fingerprint_of({"kind": kind, "message": message, **more})


@given(
    st.lists(st.tuples(NUMBERS, st.uuids(), HOSTS, MOMENTS, QUOTES, HEX), min_size=2, max_size=2)
)
def test_what_varies_does_not_count(pairs) -> None:
    messages = [
        f"order {number} of {uuid} at https://{host}/v{number}/orders?n={number}: "
        f'the field "{quote}" ({hexed}) was refused on {moment}'
        for number, uuid, host, moment, quote, hexed in pairs
    ]
    assert len({print_of(message) for message in messages}) == 1


@given(st.sampled_from(["refused", "not known", "too late"]), NUMBERS)
def test_what_the_message_says_counts(word: str, number: str) -> None:
    assert print_of(f"user {number} is {word}") != print_of(f"user {number} is gone")


@given(st.text(max_size=4_000), st.text(max_size=20))
def test_any_error_has_one(message: str, kind: str) -> None:
    found = print_of(message, kind)
    assert re.fullmatch(r"[0-9a-f]{12}", found)
    assert found == print_of(message, kind)


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("HTTP 503 from GET http://10.0.0.1:8080/a/42?x=y", "HTTP # from GET url:/a/#"),
        ("can't find 'x', don't ask", "can't find #, don't ask"),
        ("exit status 3", "exit status #"),
        ("rows 1, 2, 3 are bad", "rows # are bad"),
        ("commit deadbeefcafe failed", "commit # failed"),
        ("two\n  lines", "two lines"),
        ("the decade is over", "the decade is over"),
    ],
)
def test_what_is_left_of_a_message(message: str, left: str) -> None:
    assert steady(message) == left


def test_kind_and_code_count() -> None:
    base = print_of("no", code=500)
    assert base != print_of("no", code=503)
    assert base != print_of("no", kind="auth", code=500)
    assert base == print_of("no", code=500, retry_after=7)


def test_the_end_of_a_very_long_message_does_not_count() -> None:
    long = "x " * (FINGERPRINTED_CHARACTERS_MAX // 2)
    assert print_of(long + "a") == print_of(long + "b")


@pytest.mark.parametrize("error", [None, {}, {"message": None}, {"kind": 7, "message": ["x"]}])
def test_an_error_without_words_has_one_too(error) -> None:
    assert fingerprint_of(error) == fingerprint_of(None)


def test_a_lone_surrogate_is_no_trouble() -> None:
    assert len(print_of("\ud800")) == 12
