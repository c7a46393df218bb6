"""The way to a server: straight, or through the proxy that the environment names.

Knows addresses, TLS and how proxies are asked. Does not know requests.
"""

from __future__ import annotations

import asyncio
import ipaddress
from base64 import b64encode
from collections.abc import Callable
from ssl import SSLContext
from typing import TypeVar, cast
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct

from anew.errors import ConfigError

PROXY_ANSWER_BYTES_MAX = 64 * 1024
_PORTS = {"http": 80, "https": 443}

P = TypeVar("P", bound=asyncio.Protocol)


class NotSent(Exception):
    """The request has reached nobody."""


class Hop(Struct, frozen=True):
    """Where to connect; with `tls` only to who proves to be `host`."""

    host: str
    port: int
    tls: SSLContext | None


class NetworkRoute(Struct, frozen=True):
    """`target` stands before the path of every request, `headers` go with it.

    `through` is a proxy that is to connect us with the server, and `tunnel` what to tell it.
    """

    server: Hop
    target: str
    headers: dict[str, str]
    through: Hop | None = None
    tunnel: bytes = b""


def find_route(url: str) -> NetworkRoute:
    """ConfigError when the environment names a proxy that cannot be used."""
    parts = urlsplit(url)
    host = {"host": parts.netloc}
    proxy = _proxy_for(parts)
    if proxy is None:
        return NetworkRoute(_hop(parts), parts.path, host)
    if parts.scheme == "http":
        # It is the proxy that is asked, for the whole address.
        return NetworkRoute(_hop(proxy), url, host | _authorization(proxy))
    there = f"{_bracketed(parts.hostname or '')}:{_port(parts)}"
    said = {"host": there} | _authorization(proxy)
    lines = [f"CONNECT {there} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items())]
    tunnel = "\r\n".join([*lines, "", ""]).encode()
    return NetworkRoute(_hop(parts), parts.path, host, through=_hop(proxy), tunnel=tunnel)


async def open_line(route: NetworkRoute, line_of: Callable[[], P]) -> P:
    """A connection to the server. OSError or NotSent when there is none."""
    if route.through is None:
        return await _connected(route.server, line_of)
    talk = await _connected(route.through, _Talk)
    try:
        await talk.connect(route.tunnel)
        return await _secured(talk.transport, route.server, line_of())
    except BaseException:
        talk.transport.abort()
        raise


async def _connected(hop: Hop, line_of: Callable[[], P]) -> P:
    _, line = await asyncio.get_running_loop().create_connection(
        line_of, hop.host, hop.port, ssl=hop.tls
    )
    return line


async def _secured(transport: asyncio.Transport, hop: Hop, line: P) -> P:
    assert hop.tls is not None
    loop = asyncio.get_running_loop()
    secure = await loop.start_tls(transport, line, hop.tls, server_hostname=hop.host)
    if secure is None:
        raise NotSent("the proxy closed the connection")
    line.connection_made(secure)
    return line


class _Talk(asyncio.Protocol):
    """With a proxy, until it has made the connection."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self._said = b""
        self._heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def connect(self, tunnel: bytes) -> None:
        self.transport.write(tunnel)
        answer = await self._heard
        _, _, status = answer.partition(b"\r\n")[0].partition(b" ")
        if not status.startswith(b"2"):
            said = status.decode(errors="replace")[:80] or "nothing"
            raise NotSent(f"the proxy of the environment answered {said}")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._said += data
        is_over = len(self._said) > PROXY_ANSWER_BYTES_MAX
        if (b"\r\n\r\n" in self._said or is_over) and not self._heard.done():
            self._heard.set_result(b"" if is_over else self._said)

    def connection_lost(self, error: Exception | None) -> None:
        del error
        if not self._heard.done():
            self._heard.set_result(b"")


def _proxy_for(parts: SplitResult) -> SplitResult | None:
    """That of the environment, which cannot reach this machine's own addresses."""
    host, proxies = parts.hostname or "", getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if named is None or _is_loopback(host) or proxy_bypass(host):
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    if proxy.scheme not in _PORTS or not proxy.hostname:
        raise ConfigError(
            f"the proxy of the environment is not an HTTP proxy ({proxy.scheme}). Set the variable "
            "NO_PROXY to the host of the server, or name a proxy like http://proxy.example:3128"
        )
    return proxy


def _hop(parts: SplitResult) -> Hop:
    tls = _certificates() if parts.scheme == "https" else None
    return Hop(parts.hostname or "", _port(parts), tls)


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]


def _certificates() -> SSLContext:
    """Those that tools go by. To load them takes longer than most questions."""
    from httpx2 import create_ssl_context  # noqa: PLC0415

    return create_ssl_context()


def _authorization(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    said = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"proxy-authorization": f"Basic {b64encode(said.encode()).decode()}"}


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
