"""The pools of connections of a process: one per way of checking certificates.

They share nothing but connections. Above all no cookies: what one run is given, another must not
send.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpcore2
import httpx2

from anew import __version__
from anew.tools.http.guard import GuardedTransport
from anew.tools.http.problems import LimitPassed
from anew.tools.http.settings import HttpSettings
from anew.tools.inputs import BadInput
from anew.values import Value

USER_AGENT = f"anew/{__version__}"
HTTP_CONNECTIONS_MAX = 256
# Each CA file has a pool of its own.
HTTP_CLIENTS_MAX = 32

# A proxy cannot reach the loopback of this machine, whatever the environment says.
_NEVER_BY_PROXY = ("all://localhost", "all://127.0.0.1", "all://[::1]")


# They would write whole addresses and headers, secrets included, into the log of the process.
_TALKATIVE = ("httpx2", "httpcore2")


class Handshake:
    """Closes a connection whose TLS handshake did not end well.

    The library does so itself unless the call is cancelled; then the socket would stay open.
    """

    def __init__(self) -> None:
        self._stream: httpcore2.AsyncNetworkStream | None = None

    async def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """The library's `trace` extension."""
        if event.endswith(".connect_tcp.complete"):
            self._stream = info["return_value"]
        elif event.endswith(".start_tls.failed") and self._stream is not None:
            await self._stream.aclose()


class Clients:
    """Clients made on first use, and closed together."""

    def __init__(self, settings: HttpSettings) -> None:
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._settings = settings
        self._clients: dict[bool | str, httpx2.AsyncClient] = {}

    def client_for(self, verify: Value, folder: Path) -> httpx2.AsyncClient:
        """The client for the input `verify`: true, false, or a CA file."""
        key = _verify_key(verify, folder)
        client = self._clients.get(key)
        if client is None:
            if len(self._clients) >= HTTP_CLIENTS_MAX:
                limit = f"HTTP_CLIENTS_MAX ({HTTP_CLIENTS_MAX})"
                raise LimitPassed(f"more than {limit} different CA files in one process")
            client = self._clients[key] = self._made(_context(key, self._settings))
        return client

    def _made(self, context: ssl.SSLContext) -> httpx2.AsyncClient:
        settings = self._settings
        limits = httpx2.Limits(max_connections=HTTP_CONNECTIONS_MAX, keepalive_expiry=5.0)
        headers = {"User-Agent": USER_AGENT}
        jar = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        if settings.is_guarded:
            guarded = GuardedTransport(context, settings.allowed, connections=HTTP_CONNECTIONS_MAX)
            return httpx2.AsyncClient(
                transport=guarded, headers=headers, cookies=jar, trust_env=False
            )
        try:
            return httpx2.AsyncClient(
                verify=context,
                headers=headers,
                cookies=jar,
                limits=limits,
                trust_env=settings.trusts_environment,
                mounts=dict.fromkeys(_NEVER_BY_PROXY),
            )
        except (ValueError, ImportError, httpx2.InvalidURL):
            raise BadInput(
                "the proxy the environment names cannot be used; "
                "correct HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or set ANEW_HTTP_TRUST_ENV=0"
            ) from None

    async def close(self) -> None:
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()


def _verify_key(verify: Value, folder: Path) -> bool | str:
    if verify is None or isinstance(verify, bool):
        return verify is not False
    if isinstance(verify, str) and verify.strip().lower() in ("true", "false"):
        return verify.strip().lower() == "true"
    if isinstance(verify, str) and verify.strip():
        return str((folder / verify).absolute())
    raise BadInput("`verify` must be true, false, or the path of a CA file")


def _context(key: bool | str, settings: HttpSettings) -> ssl.SSLContext:
    if isinstance(key, bool):
        return httpx2.create_ssl_context(verify=key, trust_env=settings.trusts_environment)
    try:
        return ssl.create_default_context(cafile=key)
    except (OSError, ValueError) as error:  # SSLError, for a file with no certificate, is one
        why = getattr(error, "strerror", None) or "it holds no certificate"
        raise BadInput(f"the CA file {key!r} of `verify` cannot be used: {why}") from None
