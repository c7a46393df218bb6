"""Every input of the http tool, as the server hears it, and what is refused before sending."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from anew.tools.http.request import Prepared, prepare
from anew.tools.inputs import BadInput
from tests.tools.http_world import a_call, outcome_at

URL = "http://example.com/items"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
FORM = "application/x-www-form-urlencoded"


def prepared(**inputs: Any) -> Prepared:
    return prepare(a_call(**{"url": URL, **inputs}))


def header(request: Prepared, name: str) -> str | None:
    found = {key.lower(): value.decode() for key, value in request.headers}
    return found.get(name)


@pytest.mark.parametrize(
    ("params", "query"),
    [
        ({"a": 1, "b": True, "c": 1.5}, "a=1&b=true&c=1.5"),
        ({"a": [1, 2, None]}, "a=1&a=2"),
        ({"a": None}, ""),
        ({"a": "x y&z=1", "é": "ß"}, "a=x+y%26z%3D1&%C3%A9=%C3%9F"),
        ({"a": {"b": 1}}, "a=%7B%22b%22%3A+1%7D"),
        ("raw=1&raw=2", "raw=1&raw=2"),
        (None, ""),
    ],
)
def test_parameters_are_written_into_the_address(params: object, query: str) -> None:
    assert prepared(params=params).url.query.decode() == query


def test_parameters_follow_those_already_in_the_address() -> None:
    assert prepared(url=f"{URL}?a=1&a=2", params={"b": 3}).url.query == b"a=1&a=2&b=3"


@pytest.mark.parametrize(
    ("inputs", "sent", "kind"),
    [
        ({"json": {"a": "é"}}, '{"a":"é"}', JSON),
        ({"json": "text"}, '"text"', JSON),
        ({"body": {"a": 1}}, '{"a":1}', JSON),
        ({"payload": [1, 2]}, "[1,2]", JSON),
        ({"body": "plain é"}, "plain é", TEXT),
        ({"body": 7}, "7", JSON),
        ({"body": ""}, "", TEXT),
        ({"form": {"a": [1, 2], "b": "x y", "c": None}}, "a=1&a=2&b=x+y", FORM),
        ({"form": "a=1"}, "a=1", FORM),
        ({"data": {"a": 1}}, '{"a":1}', JSON),
        ({"data": {"query": {"q": 1}, "body": {"a": 1}}}, '{"a":1}', JSON),
        ({"body": {"a": 1}, "headers": {"content-type": FORM}}, "a=1", FORM),
        (
            {"json": {"a": 1}, "headers": {"Content-Type": "application/x+json"}},
            '{"a":1}',
            "application/x+json",
        ),
    ],
)
def test_a_body_is_sent_in_its_form(inputs: dict[str, Any], sent: str, kind: str) -> None:
    request = prepared(method="POST", **inputs)
    assert request.sent == sent.encode()
    assert header(request, "content-type") == kind


@pytest.mark.parametrize("method", ["GET", "HEAD", "delete"])
def test_data_of_a_method_without_a_body_is_query_parameters(method: str) -> None:
    request = prepared(method=method, data={"a": 1, "b": [2, 3]})
    assert (request.sent, request.url.query) == (None, b"a=1&b=2&b=3")
    assert header(request, "content-type") is None


def test_data_may_say_what_goes_where() -> None:
    request = prepared(method="GET", data={"query": {"a": 1}, "body": "text"})
    assert (request.sent, request.url.query) == (b"text", b"a=1")


def test_a_null_body_counts_as_none() -> None:
    request = prepared(method="POST", json=None, body={"a": 1})
    assert request.sent == b'{"a":1}'


@pytest.mark.parametrize(
    ("auth", "sent"),
    [
        ({"type": "bearer", "token": "t"}, "Bearer t"),
        ({"token": "t"}, "Bearer t"),
        ({"type": "http_bearer", "data": {"token": "t"}}, "Bearer t"),
        (
            {"type": "basic", "username": "ü", "password": "p"},
            "Basic " + b64encode("ü:p".encode()).decode(),
        ),
        ({"username": "u"}, "Basic " + b64encode(b"u:").decode()),
    ],
)
def test_a_credential_becomes_the_authorization(auth: dict[str, Any], sent: str) -> None:
    request = prepared(auth=auth, headers={"authorization": "replaced"})
    assert header(request, "authorization") == sent
    assert len(request.headers) == 1


def test_the_line_break_a_file_leaves_at_the_end_of_a_token_is_not_sent() -> None:
    request = prepared(auth={"type": "bearer", "token": "t\n"})
    assert header(request, "authorization") == "Bearer t"


def test_an_api_key_goes_into_its_header_or_the_query() -> None:
    assert header(prepared(auth={"type": "api_key", "value": "k"}), "x-api-key") == "k"
    assert header(prepared(auth={"type": "api_key", "header": "X-K", "value": "k"}), "x-k") == "k"
    assert (
        prepared(auth={"type": "api-key", "query": "key", "value": "k&"}).url.query == b"key=k%26"
    )


def test_a_key_in_the_query_is_not_in_the_result() -> None:
    outcome = outcome_at(
        "/echo?a=1", auth={"type": "api_key", "query": "key", "value": "very-secret"}
    )
    assert outcome.result["data"]["query"] == {"a": "1", "key": "very-secret"}
    assert "very-secret" not in outcome.result["url"]
    assert outcome.result["url"].endswith("/echo?a=1")


def test_the_user_and_password_of_an_address_are_sent_and_shown_nowhere() -> None:
    request = prepared(url="http://us:pw@example.com/x")
    assert str(request.url) == "http://example.com/x"
    assert header(request, "authorization") == "Basic " + b64encode(b"us:pw").decode()


@pytest.mark.parametrize(
    ("key", "sent"),
    [(True, "key-of-the-visit"), ("own", "own"), (12, "12"), (False, None), (None, None)],
)
def test_the_idempotency_key_is_sent_on_request(key: object, sent: str | None) -> None:
    assert header(prepared(method="POST", idempotency_key=key), "idempotency-key") == sent


def test_what_frames_the_body_is_not_the_authors_to_say() -> None:
    request = prepared(body="abc", headers={"Content-Length": "7", "Transfer-Encoding": "chunked"})
    assert (header(request, "content-length"), header(request, "transfer-encoding")) == (None, None)


def test_header_values_beyond_ascii_go_as_utf_8_and_numbers_as_text() -> None:
    request = prepared(headers={"X-Name": "Zoë", "X-Count": 3, "X-On": True, "X-None": None})
    assert dict(request.headers) == {"X-Name": "Zoë".encode(), "X-Count": b"3", "X-On": b"true"}


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"url": None}, "`url` must be the address"),
        ({"url": "  "}, "`url` must be the address"),
        ({"url": 7}, "`url` must be the address"),
        ({"url": "example.com/x"}, "http:// or https://"),
        ({"url": "file:///etc/hosts"}, "http:// or https://"),
        ({"url": "http://"}, "no host"),
        ({"url": "http://us:hidden@example.com:port/"}, "not an address"),
        ({"url": "http://[::1/"}, "not an address"),
        ({"method": "GET /"}, "`method`"),
        ({"method": "CONNECT"}, "CONNECT"),
        ({"method": 7}, "`method`"),
        ({"params": [1]}, "`params` must be a mapping"),
        ({"form": [1]}, "`form` must be a mapping"),
        ({"json": {}, "form": {}}, "one body, not `json` and `form`"),
        ({"body": "\ud800"}, "surrogate"),
        ({"params": {"a": "\ud800"}}, "surrogate"),
        ({"body": {"a": 1}, "headers": {"Content-Type": "multipart/form-data"}}, "multipart"),
        ({"headers": "x"}, "`headers` must be a mapping"),
        ({"headers": {"X Y": "1"}}, "name of a header"),
        ({"headers": {"X-é": "1"}}, "name of a header"),
        ({"headers": {"X": "hidden\r\nY: 1"}}, "line break"),
        ({"headers": {"X": "\ud800"}}, "surrogate"),
        ({"auth": "hidden"}, "`auth` must be a credential"),
        ({"auth": {"type": "magic", "token": "hidden"}}, "bearer, basic or api_key"),
        ({"auth": {"type": "bearer"}}, "needs `token`"),
        ({"auth": {"source": "hidden", "scopes": []}}, "it has scopes, source"),
        ({"auth": {"openai": {"key": "hidden"}}}, "must name a credential"),
        ({"auth": {"type": "bearer", "token": "hid\nden"}}, "line break"),
        ({"auth": {"type": "api_key", "header": "a b", "value": "hidden"}}, "name of a header"),
        ({"follow_redirects": "maybe"}, "`follow_redirects`"),
        ({"idempotency_key": {}}, "`idempotency_key`"),
    ],
)
def test_what_cannot_be_sent_is_said_without_its_secrets(
    inputs: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadInput) as refused:
        prepared(**inputs)
    assert words in str(refused.value)
    assert "hidden" not in str(refused.value)
    assert "den" not in str(refused.value).split()


def test_a_bad_input_is_an_outcome_of_kind_config() -> None:
    outcome = outcome_at("/echo", headers={"X Y": "1"})
    assert outcome.error is not None
    assert (outcome.error["kind"], outcome.error["retryable"]) == ("config", False)
