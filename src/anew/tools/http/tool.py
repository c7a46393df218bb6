"""Send one request, follow its redirects, and say what came of it.

Knows nothing of retries: an error is an outcome, and rules decide.
"""

from __future__ import annotations

import time

import httpx2
from msgspec import Struct

from anew.engine.http_statuses import http_error_kind, http_status_text
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.errors import ConfigError
from anew.tool import Call, Timeout
from anew.tools.http.clients import Clients, Handshake
from anew.tools.http.failures import FAILURES, error_from
from anew.tools.http.problems import LimitPassed
from anew.tools.http.request import Prepared, prepare
from anew.tools.http.response import data_of, place_of, read_body, result_of
from anew.tools.http.settings import HttpSettings, read_settings
from anew.tools.inputs import BadInput
from anew.values import Object, Value

HTTP_REDIRECTS_MAX = 10

# Dropped with the credential when a redirect leaves the host: names by which secrets travel.
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token"}
)


class _Exchange(Struct):
    """One call under way: where it has got to, for messages, and when it began."""

    prepared: Prepared
    client: httpx2.AsyncClient
    bytes_max: int
    began: float
    what: str


class HttpTool:
    """The tool of kind `http`. Connections are kept and shared by all calls."""

    def __init__(self) -> None:
        self._settings: HttpSettings | None = None
        self._clients: Clients | None = None

    async def call(self, call: Call) -> Outcome:
        began = time.monotonic()
        try:
            exchange = self._begin(call, began)
        except (ConfigError, BadInput) as problem:
            return outcome_of(error=error_of("config", str(problem)))
        except LimitPassed as problem:
            return outcome_of(error=error_of("limit_exceeded", str(problem)))
        try:
            return await _exchanged(exchange, call.timeout)
        except FAILURES as failure:
            return outcome_of(error=error_from(failure, exchange.what))

    async def close(self) -> None:
        if self._clients is not None:
            await self._clients.close()

    def _begin(self, call: Call, began: float) -> _Exchange:
        if self._settings is None or self._clients is None:
            self._settings = read_settings()
            self._clients = Clients(self._settings)
        prepared = prepare(call)
        client = self._clients.client_for(call.inputs.get("verify"), call.folder)
        what = f"{prepared.method} {place_of(prepared.url)}"
        return _Exchange(prepared, client, self._settings.response_bytes_max, began, what)


async def _exchanged(exchange: _Exchange, timeout: Timeout) -> Outcome:
    request = _first_request(exchange, timeout)
    for _ in range(HTTP_REDIRECTS_MAX + 1):
        response = await exchange.client.send(request, stream=True, follow_redirects=False)
        try:
            following = response.next_request if exchange.prepared.follows_redirects else None
            if following is None:
                return await _answered(exchange, response)
            if following.url.scheme not in ("http", "https") or not following.url.host:
                problem = "redirects to something that is not http or https"
                return await _answered(exchange, response, problem=problem)
        finally:
            # The body of a redirect is not wanted, and is not read: it could be endless.
            await response.aclose()
        request = _redirected(exchange, request, following)
    return _given_up(exchange, response)


def _first_request(exchange: _Exchange, timeout: Timeout) -> httpx2.Request:
    prepared = exchange.prepared
    parts = httpx2.Timeout(
        connect=timeout.connect, read=timeout.read, write=timeout.read, pool=None
    )
    headers = [(name.encode("ascii"), value) for name, value in prepared.headers]
    return exchange.client.build_request(
        prepared.method,
        prepared.url,
        content=prepared.sent,
        headers=headers,
        timeout=parts,
        extensions={"trace": Handshake().watch},
    )


def _redirected(
    exchange: _Exchange, request: httpx2.Request, following: httpx2.Request
) -> httpx2.Request:
    """The next request as the library makes it, without credentials when the host changes."""
    if not _is_same_host(request.url, following.url):
        for name in _SECRET_HEADERS | exchange.prepared.secret_headers:
            following.headers.pop(name, None)
    if following.method != request.method:
        following.headers.pop("content-type", None)
    exchange.what = f"{following.method} {place_of(following.url)}"
    return following


def _is_same_host(old: httpx2.URL, new: httpx2.URL) -> bool:
    """The same host and port; from http to https of the same host is still the same."""
    if old.origin == new.origin:
        return True
    is_upgrade = (old.scheme, new.scheme) == ("http", "https")
    return is_upgrade and old.host == new.host and old.port is None and new.port is None


async def _answered(
    exchange: _Exchange, response: httpx2.Response, *, problem: str | None = None
) -> Outcome:
    """The outcome of a response: its status decides, unless the redirect was impossible."""
    try:
        body = await read_body(response, exchange.bytes_max)
    except LimitPassed as passed:
        error = error_of("limit_exceeded", f"{exchange.what}: {passed}")
        return _outcome(exchange, response, error=error)
    data = data_of(body, response.headers.get("content-type", ""))
    failed = _error_of_status(exchange, response, problem)
    return _outcome(exchange, response, data=data, error=failed)


def _error_of_status(
    exchange: _Exchange, response: httpx2.Response, problem: str | None
) -> Object | None:
    status = response.status_code
    if problem is None and 200 <= status <= 299:
        return None
    kind = http_error_kind(status) if problem is None else "client_error"
    return error_of(kind, _of_status(exchange, response, problem), code=status)


def _of_status(exchange: _Exchange, response: httpx2.Response, problem: str | None) -> str:
    """The message of a response that is an error: first its status, then what is wrong with it."""
    told = f"{http_status_text(response.status_code)} from {exchange.what}"
    return told if problem is None else f"{told}, which {problem}"


def _given_up(exchange: _Exchange, response: httpx2.Response) -> Outcome:
    limit = f"is one of more than {HTTP_REDIRECTS_MAX} redirects (HTTP_REDIRECTS_MAX)"
    message = _of_status(exchange, response, limit)
    error = error_of("client_error", message, code=response.status_code)
    return _outcome(exchange, response, error=error)


def _outcome(
    exchange: _Exchange, response: httpx2.Response, *, data: Value = None, error: Object | None
) -> Outcome:
    elapsed = time.monotonic() - exchange.began
    secret_query = exchange.prepared.secret_query
    result = result_of(response, data=data, elapsed=elapsed, secret_query=secret_query)
    helpers = {"http": {"status": response.status_code, "headers": result["headers"]}}
    return outcome_of(result, error=error, helpers=helpers, now=time.time_ns())
