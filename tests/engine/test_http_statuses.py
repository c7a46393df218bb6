"""What HTTP statuses are called in messages, and which kind of error each is."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from anew.engine.http_statuses import http_error_kind, http_status_text


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (503, "HTTP 503 Service Unavailable"),
        (429, "HTTP 429 Too Many Requests"),
        (404, "HTTP 404 Not Found"),
        (304, "HTTP 304 Not Modified"),
        (599, "HTTP 599 Server Error"),
        (499, "HTTP 499 Client Error"),
        (399, "HTTP 399 Redirection"),
        (700, "HTTP 700"),
    ],
)
def test_a_status_is_named_and_an_unknown_one_by_its_class(status: int, text: str) -> None:
    assert http_status_text(status) == text


def test_every_registered_status_has_a_phrase_of_its_own() -> None:
    named = [http_status_text(status) for status in HTTPStatus if status >= 300]
    assert not [text for text in named if text.endswith((" Client Error", " Redirection"))]
    assert "HTTP 500 Internal Server Error" in named


@pytest.mark.parametrize(
    ("status", "kind"),
    [(500, "server_error"), (429, "rate_limit"), (403, "auth"), (404, "not_found"), (304, "client_error")],
)  # fmt: skip
def test_a_status_has_its_kind(status: int, kind: str) -> None:
    assert http_error_kind(status) == kind
