"""What becomes of response bodies: types, character sets, compression, limits."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from base64 import b64encode
from typing import Any

import pytest

from anew.tools.http.response import data_of
from tests.tools.http_world import answered, outcome_at, response

JSON = "application/json"


@pytest.mark.parametrize(
    ("body", "kind", "data"),
    [
        (b'{"a": [1, null]}', JSON, {"a": [1, None]}),
        (b'{"a": 1}', "application/problem+json; charset=utf-8", {"a": 1}),
        (b'{"a": 1}', "APPLICATION/JSON", {"a": 1}),
        ('{"a": "é"}'.encode("latin-1"), "application/json; charset=iso-8859-1", {"a": "é"}),
        ('{"a": "é"}'.encode("utf-16"), JSON, {"a": "é"}),
        (b'\xef\xbb\xbf{"a": 1}', "application/json; charset=utf-8", {"a": 1}),
        (b'{"a": 1, "a": 2}', JSON, {"a": 2}),
        (b'{"a": 1', JSON, '{"a": 1'),
        (b'{"a": NaN}', JSON, '{"a": NaN}'),
        (b"1e999", JSON, "1e999"),
        (b'"\\ud800"', JSON, '"\\ud800"'),
        (b"", JSON, ""),
        (b'{"a": 1}', "text/plain", '{"a": 1}'),
        (b"plain", "", "plain"),
        ("é".encode("latin-1"), "text/plain; charset=iso-8859-1", "é"),
        ("é".encode(), "text/plain; charset=no-such", "é"),
        ("é".encode(), "text/plain; charset=us-ascii", "é"),
        (b"a\\ud800", "text/plain; charset=unicode_escape", "a\\ud800"),
        (b"abc", "text/plain; charset=zip", "abc"),
        (b"abc", "text/plain; charset*=utf-8''%00", "abc"),
        (b"\xff\xfe\x00", "image/png", {"base64": b64encode(b"\xff\xfe\x00").decode()}),
        (b"\xff{", "application/json; charset=utf-8", {"base64": b64encode(b"\xff{").decode()}),
    ],
)
def test_a_body_is_read_by_its_type(body: bytes, kind: str, data: Any) -> None:
    assert data_of(body, kind) == data


def test_endless_nesting_is_text() -> None:
    assert isinstance(data_of(b"[" * 100_000, JSON), str)


def test_a_number_that_no_log_can_hold_is_a_clear_error() -> None:
    outcome = answered(response(b'{"a": 123456789012345678901234567890}', f"Content-Type: {JSON}"))
    assert outcome.error is not None
    assert outcome.error["kind"] == "limit_exceeded"
    assert "over 64 bits" in outcome.error["message"]


@pytest.mark.parametrize(
    ("coding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_a_compressed_body_is_read(coding: str, compress: Any) -> None:
    outcome = answered(response(compress(b"hello"), f"Content-Encoding: {coding}"))
    assert outcome.result["data"] == "hello"


def test_a_body_that_is_not_compressed_as_it_says_is_a_connection_error() -> None:
    outcome = answered(response(b"not gzip at all", "Content-Encoding: gzip"))
    assert outcome.error is not None
    assert outcome.error["kind"] == "connection"


def test_a_zip_bomb_is_stopped_before_it_fills_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_HTTP_RESPONSE_BYTES_MAX", str(4 << 20))
    bomb = gzip.compress(bytes(200 << 20), compresslevel=1)
    assert len(bomb) < 1 << 20
    tracemalloc.start()
    outcome = answered(response(bomb, "Content-Encoding: gzip"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome.error is not None
    assert (outcome.error["kind"], outcome.error["retryable"]) == ("limit_exceeded", False)
    assert "HTTP_RESPONSE_BYTES_MAX (4,194,304 bytes)" in outcome.error["message"]
    assert outcome.result["status_code"] == 200
    assert outcome.result["data"] is None
    assert peak < 40 << 20


def test_an_endless_body_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_HTTP_RESPONSE_BYTES_MAX", "100000")

    async def endless(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.transport.is_closing():
            writer.write(b"x" * 4096)
            await writer.drain()

    outcome = answered(endless)
    assert outcome.error is not None
    assert outcome.error["kind"] == "limit_exceeded"


@pytest.mark.parametrize(("size", "is_error"), [(1000, False), (1001, True)])
def test_the_limit_is_the_last_size_that_passes(
    size: int, is_error: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_HTTP_RESPONSE_BYTES_MAX", "1000")
    assert outcome_at(f"/bytes?n={size}").is_error is is_error


def test_repeated_headers_are_joined_and_names_are_lower_case() -> None:
    outcome = answered(response(b"", "X-A: 1", "x-a: 2", "X-B: é"))
    assert outcome.result["headers"]["x-a"] == "1, 2"
    assert outcome.result["headers"]["x-b"] == "é"


def test_a_header_in_an_old_character_set_is_read() -> None:
    async def speak(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX-A: \xe9\r\nContent-Length: 0\r\n\r\n")

    assert answered(speak).result["headers"]["x-a"] == "é"


def test_an_answer_to_head_has_no_body() -> None:
    outcome = outcome_at("/echo", method="HEAD")
    assert (outcome.status.value, outcome.result["data"]) == ("ok", "")
