"""The way to a server: TLS, and the proxies that the environment names."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from contextlib import asynccontextmanager

import pytest

from anew.errors import ConfigError
from anew.stores.remote import RemoteDatabase, route
from anew.stores.remote.http import Client
from anew.stores.remote.route import NotSent, find_route
from tests.stores.test_remote_http import LOOPS, OK, Peer, post, run  # noqa: F401
from tests.tools.http_world import certificate

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUEST_METHOD")


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@asynccontextmanager
async def listening(serve, tls=None):
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    yield server.sockets[0].getsockname()[1]
    server.close()


@asynccontextmanager
async def client_of(url):
    client = Client(find_route(url), {}, connections_max=2)
    yield client
    await client.close()


@asynccontextmanager
async def serving_with(tls, peer):
    """A client of a server that has a certificate."""
    async with (
        listening(peer.serve, tls) as port,
        client_of(f"https://127.0.0.1:{port}") as client,
    ):
        yield client


class ConnectProxy:
    """Connects whoever asks with one place, or says that it will not."""

    def __init__(self, port, answer=b"HTTP/1.1 200 Connection established\r\n\r\n"):
        self.port = port
        self.answer = answer
        self.asked = []

    async def serve(self, reader, writer):
        self.asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.answer)
        if b" 200 " in self.answer:
            there, back = await asyncio.open_connection("127.0.0.1", self.port)
            await asyncio.gather(self.pump(reader, back), self.pump(there, writer))
        writer.close()

    async def pump(self, source, sink):
        try:
            while data := await source.read(65536):
                sink.write(data)
        except ConnectionError:
            pass
        sink.close()


def test_a_server_with_a_certificate_that_is_known(run, tmp_path, monkeypatch):  # noqa: F811
    context, ca = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))

    async def go():
        peer = Peer()
        async with serving_with(context, peer) as client:
            assert [(await post(client)).body for _ in range(2)] == [b"ok", b"ok"]
        assert peer.connections == 1

    run(go())


def test_a_server_with_a_certificate_of_its_own_making_is_not_spoken_to(run, tmp_path):  # noqa: F811
    context, _ = certificate(tmp_path)

    async def go():
        peer = Peer()
        async with serving_with(context, peer) as client:
            with pytest.raises(NotSent, match="CERTIFICATE_VERIFY_FAILED"):
                await post(client)
        assert peer.asked == []

    run(go())


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "ALL_PROXY"])
def test_a_proxy_is_asked_for_the_whole_address(run, monkeypatch, variable):  # noqa: F811
    async def go():
        proxy = Peer()
        async with listening(proxy.serve) as port:
            monkeypatch.setenv(variable, f"http://me:p%40ss@127.0.0.1:{port}")
            async with client_of("http://anew.test:8700/x") as client:
                assert (await post(client)).body == b"ok"
        head, _ = proxy.asked[0]
        said = b64encode(b"me:p@ss")
        assert head.startswith(
            b"POST http://anew.test:8700/x/a HTTP/1.1\r\nhost: anew.test:8700\r\n"
        )
        assert b"proxy-authorization: Basic " + said + b"\r\n" in head

    run(go())


def test_a_proxy_connects_us_with_a_server_that_has_a_certificate(run, tmp_path, monkeypatch):  # noqa: F811
    context, ca = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))
    monkeypatch.setattr(route, "_is_loopback", lambda host: False)

    async def go():
        peer = Peer()
        async with listening(peer.serve, context) as port:
            proxy = ConnectProxy(port)
            async with listening(proxy.serve) as proxy_port:
                monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{proxy_port}")
                async with client_of(f"https://127.0.0.1:{port}") as client:
                    assert [(await post(client)).body for _ in range(2)] == [b"ok", b"ok"]
        assert len(proxy.asked) == peer.connections == 1
        asked = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n"
        assert proxy.asked[0] == asked.encode()
        assert peer.asked[0][0].startswith(b"POST /a HTTP/1.1\r\n")

    run(go())


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "answered 407 Proxy"),
        (b"HTTP/1.1 502 " + b"x" * 100_000, "answered nothing"),
        (b"", "answered nothing"),
    ],
)
def test_a_proxy_that_does_not_connect_us(run, monkeypatch, answer, says):  # noqa: F811
    async def go():
        proxy = ConnectProxy(0, answer)
        async with listening(proxy.serve) as port:
            monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
            async with client_of("https://anew.test") as client:
                with pytest.raises(NotSent, match=says):
                    await post(client)

    run(go())


@pytest.mark.parametrize("url", ["http://localhost:1", "http://[::1]:1", "http://127.0.0.9:1"])
def test_the_proxy_is_not_asked_for_this_machine(monkeypatch, url):
    monkeypatch.setenv("ALL_PROXY", "http://proxy.test:3128")
    found = find_route(url)
    assert (found.server.port, found.target) == (1, "")


def test_the_proxy_is_not_asked_for_whom_the_environment_excepts(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.test:3128")
    monkeypatch.setenv("NO_PROXY", "example.org,anew.test")
    assert find_route("http://anew.test:8700").server.host == "anew.test"
    assert find_route("http://other.test:8700").server.host == "proxy.test"


def test_a_proxy_that_speaks_something_else_is_refused(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://proxy.test:1080")
    with pytest.raises(ConfigError, match="not an HTTP proxy"):
        asyncio.run(RemoteDatabase.open("http://anew.test:8700"))
