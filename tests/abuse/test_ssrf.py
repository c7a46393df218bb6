"""A document makes a server or a worker call an address that its author could not reach himself."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import pytest

from anew.errors import ConfigError
from anew.surfaces.cli.main import main
from anew.surfaces.cli.request_guard import guard_requests
from anew.tools.http.guard import is_allowed
from anew.tools.http.settings import read_allowed, read_settings
from anew.tools.http.special_addresses import SPECIAL, Network, why_special
from tests.surfaces.api.processes import PATIENCE_SECONDS, ended, environment, server
from tests.surfaces.api.served import TOKEN
from tests.tools.http_world import a_call, a_server, a_tool, response, run

# --- the table -----------------------------------------------------------------------------------


def of_block(network: Network) -> list[str]:
    """The first, the last and one address in the middle."""
    first, last = int(network.network_address), int(network.broadcast_address)
    kind = type(network.network_address)
    return list(dict.fromkeys(str(kind(n)) for n in (first, (first + last) // 2, last)))


@pytest.mark.parametrize(
    "address", sorted({one for block, _ in SPECIAL for one in of_block(block)})
)
def test_no_address_of_a_special_block_is_called(address: str) -> None:
    assert why_special(ip_address(address))


# From the registries, not from our table.
REGISTERED = [
    "0.0.0.0", "10.255.255.255", "100.64.0.1", "100.127.255.254", "127.255.255.254", "169.254.0.1",
    "172.31.255.255", "192.0.0.8", "192.0.0.170", "192.0.0.171", "192.0.2.128", "192.31.196.1",
    "192.52.193.1", "192.88.99.1", "192.168.255.255", "192.175.48.1", "198.19.255.255",
    "198.51.100.7", "203.0.113.7", "224.0.0.251", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "64:ff9b:1::1", "100::1", "100:0:0:1::1", "2001::1", "2001:1::1", "2001:1::2",
    "2001:1::3", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1",
    "2001:1ff::1", "2001:db8::1", "2002::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1", "5f00::1",
    "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff0e::1", "4000::1", "e000::1",
    "169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192",
    "fd00:ec2::254", "fd20:ce::254",
]  # fmt: skip


@pytest.mark.parametrize("address", REGISTERED)
def test_no_address_of_the_registries_is_called(address: str) -> None:
    assert why_special(ip_address(address))


INNER = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "0.0.0.0"]
PUBLIC = IPv4Address("93.184.216.34")


def forms_of(inner: IPv4Address) -> dict[str, IPv6Address]:
    """Every way of writing an IPv4 address into an IPv6 address."""
    bits = int(inner)
    outer = int(PUBLIC)
    return {
        "mapped": IPv6Address((0xFFFF << 32) | bits),
        "compatible": IPv6Address(bits),
        "nat64": IPv6Address((0x64FF9B << 96) | bits),
        "6to4": IPv6Address((0x2002 << 112) | (bits << 80) | 1),
        "teredo client": IPv6Address(
            (0x20010000 << 96) | (outer << 64) | (~bits & 0xFFFFFFFF)
        ),
        "teredo server": IPv6Address(
            (0x20010000 << 96) | (bits << 64) | (~outer & 0xFFFFFFFF)
        ),
        "isatap": IPv6Address((0x26064700 << 96) | (0x00005EFE << 32) | bits),
        "isatap, global bit": IPv6Address((0x26064700 << 96) | (0x02005EFE << 32) | bits),
    }  # fmt: skip


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("form", list(forms_of(PUBLIC)))
def test_an_address_inside_another_is_found(form: str, inner: str) -> None:
    assert why_special(forms_of(IPv4Address(inner))[form])


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0",
        "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "11.0.0.0", "2606:4700::1111",
        "2001:4860:4860::8888", "2a00:1450:4001::1", "::ffff:1.1.1.1", "64:ff9b::101:101",
        "2606:4700::5efe:101:101",
    ],
)  # fmt: skip
def test_what_is_public_is_not_refused_with_the_rest(address: str) -> None:
    assert why_special(ip_address(address)) is None


# --- the tool ------------------------------------------------------------------------------------


@pytest.fixture(name="guarded")
def a_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_HTTP_GUARD", "1")
    monkeypatch.delenv("ANEW_HTTP_ALLOW", raising=False)


def error_at(address: str, **inputs: Any) -> tuple[dict[str, Any], int]:
    """What a call to this address ends with, and how many requests the loopback heard."""

    async def play() -> tuple[dict[str, Any], int]:
        async with a_server(response(b"secret")) as inner, a_tool() as tool:
            port = inner.url.rpartition(":")[2]
            outcome = await tool.call(a_call(url=address.format(port=port), **inputs))
            assert outcome.error is not None, outcome.result
            return dict(outcome.error), len(inner.heard)

    return run(play())


SPELLINGS = [
    "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://LOCALHOST:{port}/",
    "http://localhost.:{port}/", "http://127.1:{port}/", "http://127.0.1:{port}/",
    "http://2130706433:{port}/", "http://0x7f000001:{port}/", "http://0x7f.1:{port}/",
    "http://0177.0.0.1:{port}/", "http://017700000001:{port}/", "http://0x7f.0x0.0x0.0x1:{port}/",
    "http://0:{port}/", "http://0.0.0.0:{port}/", "http://127.255.255.254:{port}/",
    "http://[::1]:{port}/", "http://[::]:{port}/", "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/", "http://[::ffff:7f00:1]:{port}/",
    "http://[::127.0.0.1]:{port}/", "http://user:secret@127.0.0.1:{port}/",
    "http://example.com@127.0.0.1:{port}/", "http://127.0.0.1:{port}@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}?@example.com", "http://127.0.0.1:{port}#@example.com",
    "HTTP://127.0.0.1:{port}/", "http://127.0.0.1:{port}\\@example.com/",
    "http://１２７.０.０.１:{port}/", "http://127。0。0。1:{port}/", "http://①②⑦.0.0.1:{port}/",
    "http://[fe80::1%25lo]:{port}/", "http://[::1%25lo]:{port}/", "http://[fe80::1%lo]:{port}/",
    "http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/latest/",
    "http://%31%32%37.0.0.1:{port}/", "http://127.0.0.1.:{port}/", "http:///127.0.0.1:{port}/",
    "http://" + "a" * 64 + ".example:{port}/", "http://" + "a." * 200 + "example/",
    "file:///etc/passwd", "gopher://127.0.0.1:{port}/", "ftp://127.0.0.1/", "http+unix://%2Frun/x",
]  # fmt: skip


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("address", SPELLINGS)
def test_the_loopback_is_not_called_however_it_is_spelled(address: str) -> None:
    error, heard = error_at(address)
    assert heard == 0
    assert error["retryable"] is False or error["kind"] == "connection"
    assert "secret" not in json.dumps(error)


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Have names resolve to these, one list after the other; the names that were asked for."""
    asked: list[str] = []

    async def getaddrinfo(_loop: Any, host: str, port: int, **_more: Any) -> list[Any]:
        found = answers[min(len(asked), len(answers) - 1)]
        asked.append(host)
        kinds = [socket.AF_INET6 if ":" in one else socket.AF_INET for one in found]
        return [
            (kind, socket.SOCK_STREAM, 6, "", (one, port))
            for kind, one in zip(kinds, found, strict=True)
        ]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return asked


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["::1"], ["10.0.0.1"], ["::ffff:127.0.0.1"], ["fe80::1%lo"], ["127.0.0.1", "::1"]],
)  # fmt: skip
def test_a_name_that_leads_inside_is_not_called(
    addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> tuple[str, int]:
        async with a_server(response(b"secret")) as inner, a_tool() as tool:
            port = inner.url.rpartition(":")[2]
            with monkeypatch.context() as patch:
                asked = resolving(patch, addresses)
                outcome = await tool.call(a_call(url=f"http://inside.example:{port}/"))
            assert asked == ["inside.example"]
            assert outcome.error is not None
            return outcome.error["kind"], len(inner.heard)

    assert run(play()) == ("config", 0)


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("status", ["301 x", "302 x", "303 x", "307 x", "308 x"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "[::1]"])
def test_a_redirect_inside_is_not_followed(
    status: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> tuple[str, int, int]:
        async with a_server(response(b"secret")) as inner:
            port = inner.url.rpartition(":")[2]
            away = response(b"", f"Location: http://{host}:{port}/", status=status)
            async with a_server(away) as outer, a_tool() as tool:
                monkeypatch.setenv("ANEW_HTTP_ALLOW", outer.url.removeprefix("http://"))
                outcome = await tool.call(a_call(url=outer.url))
                assert outcome.error is not None
                return outcome.error["kind"], len(outer.heard), len(inner.heard)

    assert run(play()) == ("config", 1, 0)


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_proxy_does_not_lead_around_the_guard(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> tuple[str, int]:
        async with a_server(response(b"secret")) as proxy, a_tool() as tool:
            monkeypatch.setenv(variable, proxy.url)
            outcome = await tool.call(a_call(url="http://10.0.0.1/"))
            assert outcome.error is not None
            return outcome.error["kind"], len(proxy.heard)

    assert run(play()) == ("config", 0)


# --- exceptions ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize(
    ("allowed", "host"),
    [
        ("loopback:1", "127.0.0.1"), ("127.0.0.1:1", "127.0.0.1"), ("localhost:1", "localhost"),
        ("localhost", "127.0.0.1"), ("10.0.0.0/8", "127.0.0.1"),
        ("::1", "127.0.0.1"), ("loopback.example", "localhost"), ("example.com", "localhost"),
        ("127.0.0.2", "127.0.0.1"), ("fe80::/10", "127.0.0.1"),
    ],
)  # fmt: skip
def test_an_exception_allows_no_more_than_it_says(
    allowed: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_HTTP_ALLOW", allowed)
    error, heard = error_at(f"http://{host}:{{port}}/")
    assert (error["kind"], heard) == ("config", 0)


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"])
def test_the_word_loopback_is_this_machine(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_HTTP_ALLOW", "Loopback")

    async def play() -> Any:
        async with a_server(response(b"ok")) as server, a_tool() as tool:
            port = server.url.rpartition(":")[2]
            return (await tool.call(a_call(url=f"http://{host}:{port}/"))).result["data"]

    assert run(play()) == "ok"


@pytest.mark.parametrize(
    "address",
    ["10.0.0.1", "169.254.169.254", "0.0.0.0", "::", "192.168.0.1", "64:ff9b::a00:1", "fe80::1"],
)
def test_the_word_loopback_is_nothing_else(address: str) -> None:
    assert not is_allowed(ip_address(address), read_allowed("loopback"), port=80)


@pytest.mark.parametrize("said", ["10.0.0.0/99", "host:port", "loopback:0", "/8", "a/b", "x:70000"])
def test_an_exception_that_cannot_be_read_is_refused(said: str) -> None:
    with pytest.raises(ConfigError, match="ANEW_HTTP_ALLOW"):
        read_settings({"ANEW_HTTP_ALLOW": said})


# --- the commands --------------------------------------------------------------------------------


class _Sink(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.heard.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


@pytest.fixture(name="sink", scope="module")
def a_sink() -> Iterator[tuple[str, list[str]]]:
    """Something on the loopback that should not be called, and what it heard."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Sink) as found:
        found.heard = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{found.server_address[1]}", found.heard  # type: ignore[attr-defined]
        found.shutdown()


def calling(url: str, path: str) -> str:
    return f"metadata: {{name: calls}}\nworkflow:\n  - step: only\n    tool: {{kind: http, url: '{url}/{path}'}}\n"


@pytest.mark.parametrize(
    ("path", "variables", "status"),
    [
        ("serve", {}, "failed"),
        ("serve-empty", {"ANEW_HTTP_GUARD": ""}, "failed"),
        ("serve-blank", {"ANEW_HTTP_GUARD": " "}, "failed"),
        ("serve-off", {"ANEW_HTTP_GUARD": "0"}, "done"),
        ("serve-loopback", {"ANEW_HTTP_ALLOW": "loopback"}, "done"),
    ],
)
def test_a_server_has_the_guard_unless_told_otherwise(
    path: str,
    variables: dict[str, str],
    status: str,
    sink: tuple[str, list[str]],
    tmp_path: Path,
) -> None:
    url, heard = sink
    with (
        server(tmp_path, ANEW_TOKEN=TOKEN, **variables) as site,
        site.client() as client,
    ):
        started = client.post("/api/v1/runs", json={"document": calling(url, path)})
        assert ended(client, started.json()["run"])["status"] == status
        assert site.stop()[0] == 0
    assert (f"/{path}" in heard) == (status == "done")


@pytest.mark.parametrize(
    "setting",
    [
        ("ANEW_HTTP_GUARD", "maybe"), ("ANEW_HTTP_GUARD", "2"), ("ANEW_HTTP_ALLOW", "10.0.0.0/99"),
        ("ANEW_HTTP_ALLOW", "host:port"), ("ANEW_HTTP_TRUST_ENV", "maybe"),
        ("ANEW_HTTP_RESPONSE_BYTES_MAX", "many"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "words", [["serve", "--db", ":memory:"], ["worker", "--server", "http://127.0.0.1:9"]]
)
def test_a_setting_that_cannot_be_used_is_refused_at_the_start(
    words: list[str],
    setting: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not by the first task that meets it: until then nobody would know."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANEW_HTTP_GUARD", "")
    monkeypatch.setenv(*setting)
    assert main(words) == 2
    told = capsys.readouterr().err
    assert all(word in told for word in setting)
    assert "Traceback" not in told


@pytest.mark.parametrize("said", ["", "0", "1"])
def test_that_a_proxy_is_not_used_is_said_once_the_guard_is_on_by_itself(
    said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANEW_HTTP_GUARD", said)
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy.example:3128")
    if not said:
        monkeypatch.delenv("ANEW_HTTP_GUARD")
    guard_requests()
    told = capsys.readouterr().err
    assert os.environ["ANEW_HTTP_GUARD"] == (said or "1")
    assert ("$HTTPS_PROXY" in told) == (not said)
    assert "secret" not in told


def test_a_worker_has_the_guard(sink: tuple[str, list[str]], tmp_path: Path) -> None:
    url, heard = sink
    with server(tmp_path, "--no-workers") as site, site.client() as client:
        words = [sys.executable, "-m", "anew", "worker", "--server", site.url, "--quiet"]
        with subprocess.Popen(words, env=environment(ANEW_TOKEN=TOKEN), cwd=tmp_path) as worker:
            try:
                body = {"document": calling(url, "worker")}
                started = client.post("/api/v1/runs", json=body)
                assert ended(client, started.json()["run"])["status"] == "failed"
            finally:
                worker.terminate()
                worker.wait(PATIENCE_SECONDS)
        assert site.stop()[0] == 0
    assert "/worker" not in heard


def test_whoever_types_the_document_calls_what_he_likes(
    sink: tuple[str, list[str]], tmp_path: Path
) -> None:
    url, heard = sink
    (tmp_path / "calls.yaml").write_text(calling(url, "run"), encoding="utf-8")
    words = [sys.executable, "-m", "anew", "run", "calls.yaml", "--quiet"]
    subprocess.run(words, env=environment(), cwd=tmp_path, check=True, timeout=PATIENCE_SECONDS)
    assert "/run" in heard
