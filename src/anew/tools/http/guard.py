"""Keep requests away from this machine, its network and the cloud's metadata (SSRF).

The check is made on the address that is then connected to: a name that resolves to something else
a moment later gains nothing, and neither does a redirect.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from ipaddress import ip_address

import httpcore2
import httpx2

from anew.tools.http.problems import AddressRefused
from anew.tools.http.settings import Allowed
from anew.tools.http.special_addresses import Address, stands_for, why_special


def is_allowed(address: Address, allowed: Allowed, *, port: int) -> bool:
    """Whether the operator named a network that holds this address, in whichever form."""
    forms = [form for form in (address, stands_for(address)) if form is not None]
    return any(
        form in network and named in (None, port)
        for network, named in allowed.networks
        for form in forms
    )


class GuardedBackend(httpcore2.AnyIOBackend):
    """Resolves, checks, and connects to the very address it checked."""

    def __init__(self, allowed: Allowed) -> None:
        super().__init__()
        self._allowed = allowed

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        connect = partial(
            super().connect_tcp, local_address=local_address, socket_options=socket_options
        )
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._addresses(host, port)
                return await _first(connect, addresses, port=port)
        except TimeoutError:
            raise httpcore2.ConnectTimeout("connecting took too long") from None

    async def _addresses(self, host: str, port: int) -> list[str]:
        """The addresses of a host that may be connected to, in the system's order."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                host, port, type=socket.SOCK_STREAM
            )
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        texts = list(dict.fromkeys(str(row[4][0]) for row in found))
        name = host.lower()
        if {(name, None), (name, port)} & self._allowed.hosts:
            return texts
        reasons = {text: self._why_not(text, port) for text in texts}
        if reasons and all(reasons.values()):
            raise AddressRefused(
                f"the guard (ANEW_HTTP_GUARD) refuses {host}: it is {reasons[texts[0]]}. "
                "ANEW_HTTP_ALLOW names exceptions"
            )
        return [text for text in texts if reasons[text] is None]

    def _why_not(self, text: str, port: int) -> str | None:
        """None for an address that may be connected to."""
        address = ip_address(text.partition("%")[0])
        is_named = is_allowed(address, self._allowed, port=port)
        return None if is_named else why_special(address)


async def _first(
    connect: Callable[[str, int], Awaitable[httpcore2.AsyncNetworkStream]],
    addresses: list[str],
    *,
    port: int,
) -> httpcore2.AsyncNetworkStream:
    """A connection to the first address that takes one."""
    failure: Exception = httpcore2.ConnectError("the name has no address")
    for address in addresses:
        try:
            return await connect(address, port)
        except httpcore2.ConnectError as error:
            failure = error
    raise failure


class _Body(httpx2.AsyncByteStream):
    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()  # type: ignore[attr-defined]


class GuardedTransport(httpx2.AsyncBaseTransport):
    """A pool whose connections were all checked. It uses no proxy: that would choose for us."""

    def __init__(self, context: ssl.SSLContext, allowed: Allowed, *, connections: int) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context,
            max_connections=connections,
            keepalive_expiry=5.0,
            network_backend=GuardedBackend(allowed),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        response = await self._pool.handle_async_request(
            httpcore2.Request(
                request.method,
                url,
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response.stream),  # type: ignore[arg-type]
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()
