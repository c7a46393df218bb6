"""The guard: no request reaches this machine or its network unless the operator names it."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from typing import Any

import pytest

from anew.engine.outcome import Outcome
from anew.tool import Timeout
from anew.tools.http.guard import is_allowed
from anew.tools.http.settings import read_allowed
from anew.tools.http.special_addresses import why_special
from tests.tools.http_world import a_call, a_server, a_tool, answered, response, run


@pytest.fixture(autouse=True)
def _guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_HTTP_GUARD", "1")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16", "192.0.2.1",
        "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1",
        "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert why_special(ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101"]
)
def test_public_addresses_are_not(address: str) -> None:
    assert why_special(ip_address(address)) is None


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_loopback_is_refused_however_it_is_spelled(host: str) -> None:
    async def play() -> tuple[Outcome, int]:
        async with a_server(response(b"secret")) as server, a_tool() as tool:
            url = server.url.replace("127.0.0.1", host)
            return await tool.call(a_call(url=url)), len(server.heard)

    outcome, heard = run(play())
    assert heard == 0
    assert outcome.error is not None
    assert (outcome.error["kind"], outcome.error["retryable"]) == ("config", False)
    assert "ANEW_HTTP_ALLOW" in outcome.error["message"]


@pytest.mark.parametrize("entry", ["127.0.0.1", "127.0.0.0/8", "10.0.0.0/8, 127.0.0.1:{port}"])
def test_an_exception_lets_requests_through(entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> Outcome:
        async with a_server(response(b"ok")) as server:
            port = server.url.rpartition(":")[2]
            monkeypatch.setenv("ANEW_HTTP_ALLOW", entry.format(port=port))
            async with a_tool() as tool:
                return await tool.call(a_call(url=server.url))

    assert run(play()).result["data"] == "ok"


def test_a_redirect_to_loopback_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> tuple[Outcome, int]:
        async with a_server(response(b"secret")) as inner:
            away = response(b"", f"Location: {inner.url}/", status="302 Found")
            async with a_server(away) as outer:
                monkeypatch.setenv("ANEW_HTTP_ALLOW", outer.url.removeprefix("http://"))
                async with a_tool() as tool:
                    outcome = await tool.call(a_call(url=outer.url))
                assert len(outer.heard) == 1
                return outcome, len(inner.heard)

    outcome, heard = run(play())
    assert heard == 0
    assert outcome.error is not None
    assert outcome.error["kind"] == "config"


def test_the_address_connected_to_is_the_one_that_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that is public when asked first and loopback when asked again gains nothing."""
    asked: list[str] = []

    async def rebinding(_loop: Any, host: str, port: int, **_more: Any) -> list[Any]:
        asked.append(host)
        address = "192.0.2.1" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    async def play() -> tuple[Outcome, int]:
        async with a_server(response(b"secret")) as server:
            port = server.url.rpartition(":")[2]
            monkeypatch.setenv("ANEW_HTTP_ALLOW", "192.0.2.0/24")
            with monkeypatch.context() as patch:
                patch.setattr(asyncio.BaseEventLoop, "getaddrinfo", rebinding)
                async with a_tool() as tool:
                    url = f"http://rebinding.example:{port}/"
                    patient = Timeout(1.0, connect=0.2)
                    outcome = await tool.call(a_call(url=url, timeout=patient))
            return outcome, len(server.heard)

    outcome, heard = run(play())
    assert (heard, outcome.is_error) == (0, True)
    assert asked[0] == "rebinding.example"
    assert "rebinding.example" not in asked[1:]


def test_a_named_host_may_be_reached_on_its_port_only() -> None:
    allowed = read_allowed("Intern.example:8080, [::1]:9000, 10.0.0.7, fd00::/8")
    assert allowed.hosts == {("intern.example", 8080)}
    assert is_allowed(ip_address("10.0.0.7"), allowed, port=1)
    assert is_allowed(ip_address("::1"), allowed, port=9000)
    assert not is_allowed(ip_address("::1"), allowed, port=9001)
    assert is_allowed(ip_address("fd00::1"), allowed, port=443)


def test_a_host_by_name_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_HTTP_ALLOW", "localhost")

    async def play() -> Outcome:
        async with a_server(response(b"ok")) as server, a_tool() as tool:
            return await tool.call(a_call(url=server.url.replace("127.0.0.1", "localhost")))

    assert run(play()).result["data"] == "ok"


def test_failures_are_the_same_with_the_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_HTTP_ALLOW", "127.0.0.0/8")

    async def cut(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")

    outcome = answered(cut)
    assert outcome.error is not None
    assert outcome.error["kind"] == "connection"

    async def play() -> tuple[Outcome, Outcome]:
        async with a_server(b"") as server:
            gone = server.url
        async with a_tool() as tool:
            unknown = await tool.call(a_call(url="http://nobody.invalid/"))
            return await tool.call(a_call(url=gone)), unknown

    refused, unknown = run(play())
    assert refused.error is not None
    assert unknown.error is not None
    assert refused.error["message"].endswith("connection refused")
    assert "cannot be resolved" in unknown.error["message"]


def test_a_read_timeout_is_one_with_the_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_HTTP_ALLOW", "127.0.0.0/8")

    async def play() -> Outcome:
        async with a_server(b"", keeps_open=True) as server, a_tool() as tool:
            return await tool.call(a_call(url=server.url, timeout=Timeout(5.0, read=0.05)))

    outcome = run(play())
    assert outcome.error is not None
    assert outcome.error["kind"] == "timeout"
