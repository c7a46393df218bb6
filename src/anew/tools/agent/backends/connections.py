"""How the makers' libraries reach the network: through the connections of the `http` tool.

They share its guard, its proxies and its limit on the size of a response. Does not know what is
said over them.
"""

from __future__ import annotations

from pathlib import Path

import httpx2

from anew.tools.http.clients import Clients, Handshake
from anew.tools.http.response import read_body
from anew.tools.http.settings import read_settings

_HERE = Path()
# Headers that tell how the bytes travelled; a body that was read has none of that any more.
_OF_TRANSPORT = ("content-encoding", "content-length", "transfer-encoding")


class ModelConnections:
    """One client for the libraries, made on first use."""

    def __init__(self) -> None:
        self._inner: Clients | None = None
        self._client: httpx2.AsyncClient | None = None

    def client(self) -> httpx2.AsyncClient:
        """The client; ConfigError when a setting of the process cannot be used."""
        if self._client is None:
            settings = read_settings()
            self._inner = Clients(settings)
            transport = _Bounded(self._inner, bytes_max=settings.response_bytes_max)
            self._client = httpx2.AsyncClient(transport=transport, trust_env=False)
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
        if self._inner is not None:
            await self._inner.close()


class _Bounded(httpx2.AsyncBaseTransport):
    """Reads each body whole, and gives up on one that is too long."""

    def __init__(self, clients: Clients, *, bytes_max: int) -> None:
        self._clients = clients
        self._bytes_max = bytes_max

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        client = self._clients.client_for(None, _HERE)
        request.extensions = {**request.extensions, "trace": Handshake().watch}
        response = await client.send(request, stream=True, follow_redirects=False)
        try:
            body = await read_body(response, self._bytes_max)
        finally:
            await response.aclose()
        kept = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in _OF_TRANSPORT
        ]
        return httpx2.Response(response.status_code, headers=kept, content=body, request=request)
