"""Which error each failure of a maker's interface is.

Spent money is no reason to try again, although it comes with the status of a rate limit. Messages
quote what the server said, without the key.
"""

from __future__ import annotations

import time
from typing import Any

import httpx2
import msgspec

from anew.engine.http_statuses import http_error_kind, http_status_text
from anew.engine.outcome import error_of, wait_seconds
from anew.engine.secret_texts import MASK
from anew.engine.verdicts import ErrorType
from anew.tools.http.failures import FAILURES as HTTP_FAILURES
from anew.tools.http.failures import error_from
from anew.tools.http.response import place_of
from anew.values import Object

FAILURES = HTTP_FAILURES
# Codes and types that mean: somebody has to pay first.
_SPENT = frozenset(
    "insufficient_quota billing_hard_limit_reached billing_not_active billing_error "
    "quota_exceeded credit_balance_too_low".split()
)
_PAYMENT_REQUIRED = 402
_REQUEST_TIMEOUT = 408
# Of what the server said that an error message quotes.
_QUOTE_CHARS = 500


def error_of_failure(failure: Exception, sdk: Any, *, url: httpx2.URL, key: str | None) -> Object:
    """The error of a request that failed so."""
    what = f"POST {place_of(url)}"
    if isinstance(failure, sdk.APIStatusError):
        return _of_status(failure, what, key)
    cause = failure.__cause__ if isinstance(failure, sdk.APIConnectionError) else failure
    if isinstance(cause, HTTP_FAILURES):
        return error_from(cause, what)
    if isinstance(failure, sdk.APITimeoutError):
        return error_of("timeout", f"{what}: no answer in time")
    if isinstance(failure, sdk.APIConnectionError):
        return error_of("connection", f"{what}: the connection failed")
    told = _without(key, f"{type(failure).__name__}: {failure}")
    return error_of("config", f"{what}: the request cannot be made ({told[:_QUOTE_CHARS]})")


def not_understood(url: httpx2.URL, form: str) -> Object:
    """The error of an answer that is not what its wire format says."""
    return error_of("server_error", f"POST {place_of(url)}: the answer is not a {form}")


def _of_status(failure: Any, what: str, key: str | None) -> Object:
    status: int = failure.status_code
    detail = _detail(failure.response.content)
    said = _without(key, detail.message or "")[:_QUOTE_CHARS]
    message = f"{http_status_text(status)} from {what}" + (f": {said}" if said else "")
    words = [word for word in (detail.code, detail.type) if word]
    reason = {"reason": words[0]} if words else {}
    headers = failure.response.headers
    if status == _PAYMENT_REQUIRED or _SPENT.intersection(words):
        terminal = {"type": ErrorType.TERMINAL.value}
        return error_of("client_error", message, code=status, **reason, **terminal)
    error = error_of(_kind(status), message, code=status, **reason)
    if headers.get("x-should-retry") == "false":
        error["retryable"] = False
    wait = _wait(headers)
    return error if wait is None else error | {"retry_after": wait}


def _kind(status: int) -> str:
    return "timeout" if status == _REQUEST_TIMEOUT else http_error_kind(status)


def _wait(headers: httpx2.Headers) -> float | None:
    precise = wait_seconds(headers.get("retry-after-ms"), 0)
    if precise is not None:
        return max(0.0, precise / 1000)
    seconds = wait_seconds(headers.get("retry-after"), time.time_ns())
    return None if seconds is None else max(0.0, seconds)


class _Detail(msgspec.Struct):
    message: str | None = None
    type: str | None = None
    code: str | None = None


class _Body(msgspec.Struct):
    error: _Detail


def _detail(body: bytes) -> _Detail:
    """What both wire formats say of an error; nothing for a body that is none of them."""
    try:
        return msgspec.json.decode(body, type=_Body, strict=False).error
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _Detail()


def _without(key: str | None, text: str) -> str:
    return text.replace(key, MASK) if key else text
