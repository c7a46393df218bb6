"""The http tool against a real server: results, errors, redirects, cancellation, pooling."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from anew import __version__
from anew.engine.http_statuses import http_status_text
from anew.lab.server import LabServer
from anew.tool import Timeout
from tests.tools.http_world import (
    a_call,
    a_server,
    a_tool,
    answered,
    certificate,
    outcome_at,
    outcomes_at,
    response,
    run,
)

LAST = 10  # the most redirects that are followed


def test_a_result_has_the_five_fields_and_the_helper_two() -> None:
    outcome = outcome_at("/status/200?x=1")
    assert outcome.error is None
    assert list(outcome.result) == ["status_code", "headers", "url", "elapsed", "data"]
    assert outcome.result["data"] == {"status": 200}
    assert outcome.result["url"].endswith("/status/200?x=1")
    assert outcome.result["elapsed"] >= 0
    http = outcome.helpers["http"]
    assert http == {"status": 200, "headers": outcome.result["headers"]}


@pytest.mark.parametrize(
    ("status", "kind", "is_retryable"),
    [
        (304, "client_error", False),
        (400, "client_error", False),
        (401, "auth", False),
        (403, "auth", False),
        (404, "not_found", False),
        (429, "rate_limit", True),
        (500, "server_error", True),
        (503, "server_error", True),
    ],
)
def test_a_status_outside_2xx_is_an_error_that_keeps_the_result(
    status: int, kind: str, is_retryable: bool
) -> None:
    outcome = outcome_at(f"/status/{status}?token=hidden")
    assert outcome.error is not None
    assert (outcome.error["kind"], outcome.error["code"]) == (kind, status)
    assert outcome.error["retryable"] is is_retryable
    assert outcome.error["message"].startswith(f"{http_status_text(status)} from GET http://")
    assert "hidden" not in outcome.error["message"]
    assert outcome.result["status_code"] == outcome.helpers["http"]["status"] == status


@pytest.mark.parametrize("form", ["", "&date=1"])
def test_the_wish_to_wait_is_read_in_both_forms(form: str) -> None:
    outcome = outcome_at(f"/status/429?retry_after=100{form}")
    assert outcome.error is not None
    assert 90 < outcome.error["retry_after"] <= 100


def test_a_flaky_server_is_seen_as_it_is() -> None:
    outcomes = outcomes_at([{"path": "/flaky/a?fail=2&status=500"}] * 3)
    assert [outcome.result["status_code"] for outcome in outcomes] == [500, 500, 200]


@pytest.mark.parametrize(
    ("path", "words"),
    [("/reset", "reset"), ("/idempotent?lose=1", "reset")],
)
def test_a_lost_connection_is_retryable(path: str, words: str) -> None:
    method = "POST" if "idem" in path else "GET"
    outcome = outcome_at(path, method=method)
    assert outcome.error is not None
    assert (outcome.error["kind"], outcome.error["retryable"]) == ("connection", True)
    assert words in outcome.error["message"]


def test_a_refused_connection_says_so() -> None:
    async def play() -> str:
        async with a_server(b"") as server, a_tool() as tool:
            gone = server.url
        async with a_tool() as tool:
            outcome = await tool.call(a_call(url=gone + "/x?password=hidden"))
        assert outcome.error is not None
        assert outcome.error["kind"] == "connection"
        return str(outcome.error["message"])

    message = run(play())
    assert message.endswith("/x: connection refused")


def test_a_host_that_does_not_exist_is_a_connection_error() -> None:
    async def play() -> None:
        async with a_tool() as tool:
            outcome = await tool.call(a_call(url="http://nobody.invalid/x"))
        assert outcome.error is not None
        assert outcome.error["kind"] == "connection"
        assert "cannot be resolved" in outcome.error["message"]

    run(play())


@pytest.mark.parametrize(
    "spoken", [b"nonsense\r\n\r\n", b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nx"]
)
def test_a_server_that_does_not_speak_http_is_a_connection_error(spoken: bytes) -> None:
    async def speak(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(spoken)

    outcome = answered(speak)
    assert outcome.error is not None
    assert outcome.error["kind"] == "connection"


def test_a_body_cut_short_is_a_connection_error() -> None:
    async def speak(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")

    outcome = answered(speak)
    assert outcome.error is not None
    assert outcome.error["kind"] == "connection"


def test_the_read_part_of_a_timeout_is_kept() -> None:
    outcome = outcome_at("/slow?seconds=20", timeout=Timeout(30.0, read=0.05))
    assert outcome.error is not None
    assert (outcome.error["kind"], outcome.error["retryable"]) == ("timeout", True)
    assert "`read`" in outcome.error["message"]


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
def test_a_cancelled_call_closes_its_connection(begun: bytes) -> None:
    async def play() -> None:
        async with a_server(begun, keeps_open=True) as server, a_tool() as tool:
            calling = asyncio.create_task(tool.call(a_call(url=server.url)))
            await server.was_asked.wait()
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            await server.was_left.wait()

    run(play())


def test_a_call_cancelled_within_the_tls_handshake_closes_its_connection() -> None:
    async def play() -> None:
        asked, left = asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            asked.set()
            while await reader.read(1 << 16):
                pass
            left.set()
            writer.transport.abort()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, a_tool() as tool:
            calling = asyncio.create_task(tool.call(a_call(url=f"https://127.0.0.1:{port}")))
            await asked.wait()
            calling.cancel()
            with pytest.raises(asyncio.CancelledError) as cancelled:
                await calling
            await left.wait()
            assert cancelled.value.__traceback__ is not None  # kept: garbage closes nothing here

    run(play())


def test_connections_are_used_again() -> None:
    async def play() -> int:
        async with LabServer() as server, a_tool() as tool:
            for _ in range(3):
                await tool.call(a_call(url=server.url + "/echo"))
            return server.connections_seen

    assert run(play()) == 1


def test_cookies_do_not_travel_from_one_call_to_another() -> None:
    async def play() -> list[bytes]:
        spoken = response(b"", "Set-Cookie: session=one; Path=/", "Connection: close")
        async with a_server(spoken) as server, a_tool() as tool:
            for _ in range(2):
                await tool.call(a_call(url=server.url))
            return server.heard

    heard = run(play())
    assert len(heard) == 2
    assert not any(b"cookie" in head.lower() for head in heard)


# --- redirects ------------------------------------------------------------------------------------


def test_ten_redirects_are_followed_and_the_address_is_the_last() -> None:
    outcome = outcome_at(f"/redirect/{LAST}")
    assert outcome.result["data"] == {"arrived": True, "method": "GET"}
    assert "/redirect/0" in outcome.result["url"]


def test_an_eleventh_redirect_is_a_client_error() -> None:
    outcome = outcome_at(f"/redirect/{LAST + 1}")
    assert outcome.error is not None
    assert (outcome.error["kind"], outcome.error["code"]) == ("client_error", 302)
    assert outcome.error["message"].startswith("HTTP 302 Found from GET ")
    assert "HTTP_REDIRECTS_MAX" in outcome.error["message"]


@pytest.mark.parametrize("switch", [False, "false"])
def test_redirects_may_be_switched_off(switch: object) -> None:
    outcome = outcome_at("/redirect/1", follow_redirects=switch)
    assert outcome.error is not None
    assert outcome.result["status_code"] == 302
    assert outcome.result["headers"]["location"].startswith("/redirect/0")


@pytest.mark.parametrize(
    ("status", "method"), [(301, "GET"), (303, "GET"), (307, "POST"), (308, "POST")]
)
def test_a_redirected_post_keeps_its_method_where_the_status_says_so(
    status: int, method: str
) -> None:
    outcome = outcome_at(f"/redirect/1?status={status}&to=/echo", method="POST", json={"a": 1})
    assert outcome.result["data"]["method"] == method
    assert outcome.result["data"]["body"] == ('{"a":1}' if method == "POST" else "")
    assert ("content-type" in outcome.result["data"]["headers"]) is (method == "POST")


def test_a_redirect_to_another_scheme_is_not_followed() -> None:
    outcome = outcome_at("/redirect/1?to=file:///etc/hosts")
    assert outcome.error is not None
    assert outcome.error["kind"] == "client_error"
    assert outcome.error["message"].startswith("HTTP 302 Found from GET ")
    assert outcome.result["status_code"] == 302


def test_the_endless_body_of_a_redirect_is_not_read() -> None:
    async def endless(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n")
        while not writer.transport.is_closing():
            writer.write(b"x" * 65536)
            await writer.drain()

    outcome = answered(endless)
    assert outcome.error is not None
    assert outcome.error["kind"] == "connection"
    assert "connection refused" in outcome.error["message"]


@pytest.mark.parametrize(
    "secrets",
    [
        {"auth": {"type": "bearer", "token": "very-secret"}},
        {"auth": {"type": "api_key", "header": "X-Own", "value": "very-secret"}},
        {"headers": {"Authorization": "very-secret", "Cookie": "very-secret"}},
        {"headers": {"X-Api-Key": "very-secret"}},
    ],
)
def test_credentials_are_dropped_when_a_redirect_changes_the_host(
    secrets: dict[str, object],
) -> None:
    async def play() -> tuple[bytes, bytes]:
        async with a_server(response(b"there")) as other:
            here = response(b"", f"Location: {other.url}/y", status="302 Found")
            async with a_server(here) as first, a_tool() as tool:
                outcome = await tool.call(a_call(url=first.url, **secrets))
                assert outcome.result["data"] == "there"
                return first.heard[0], other.heard[0]

    sent, passed_on = run(play())
    assert b"very-secret" in sent
    assert b"very-secret" not in passed_on


def test_credentials_stay_when_a_redirect_stays() -> None:
    outcome = outcome_at("/redirect/1?to=/echo", auth={"type": "bearer", "token": "mine"})
    assert outcome.result["data"]["headers"]["authorization"] == "Bearer mine"


# --- TLS ------------------------------------------------------------------------------------------


def test_an_untrusted_certificate_is_refused_for_good(tmp_path: Path) -> None:
    context, _ = certificate(tmp_path)

    async def play() -> None:
        async with a_server(response(b"ok"), tls=context) as server, a_tool() as tool:
            outcome = await tool.call(a_call(url=server.url))
        assert outcome.error is not None
        assert (outcome.error["kind"], outcome.error["retryable"]) == ("connection", False)
        assert "certificate is not trusted" in outcome.error["message"]

    run(play())


@pytest.mark.parametrize("verify", [False, "ca.pem"])
def test_verify_may_be_off_or_name_a_ca_file_beside_the_document(
    tmp_path: Path, verify: object
) -> None:
    context, _ = certificate(tmp_path)

    async def play() -> None:
        async with a_server(response(b"ok"), tls=context) as server, a_tool() as tool:
            outcome = await tool.call(a_call(tmp_path, url=server.url, verify=verify))
        assert outcome.error is None
        assert outcome.result["data"] == "ok"

    run(play())


def test_speaking_tls_to_a_plain_server_is_a_connection_error() -> None:
    async def play() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            while await reader.read(1 << 16):
                pass
            writer.transport.abort()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, a_tool() as tool:
            outcome = await tool.call(a_call(url=f"https://127.0.0.1:{port}"))
        assert outcome.error is not None
        assert outcome.error["kind"] == "connection"
        assert "TLS failed" in outcome.error["message"]

    run(play())


@pytest.mark.parametrize("verify", ["missing.pem", "empty.pem", 7])
def test_a_ca_file_that_cannot_be_used_is_a_config_error(tmp_path: Path, verify: object) -> None:
    (tmp_path / "empty.pem").write_text("")

    async def play() -> None:
        async with a_tool() as tool:
            outcome = await tool.call(a_call(tmp_path, url="https://127.0.0.1:1", verify=verify))
        assert outcome.error is not None
        assert outcome.error["kind"] == "config"
        assert "verify" in outcome.error["message"]

    run(play())


# --- who we are, proxies --------------------------------------------------------------------------


def test_the_client_names_itself_and_its_version() -> None:
    outcome = outcome_at("/echo")
    assert outcome.result["data"]["headers"]["user-agent"] == f"anew/{__version__}"


def test_a_proxy_of_the_environment_is_used_but_not_for_loopback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play() -> list[bytes]:
        async with (
            a_server(response(b"by proxy")) as proxy,
            a_server(response(b"direct")) as server,
        ):
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            monkeypatch.setenv("http_proxy", proxy.url)
            monkeypatch.delenv("NO_PROXY", raising=False)
            monkeypatch.delenv("no_proxy", raising=False)
            async with a_tool() as tool:
                outcome = await tool.call(a_call(url="http://nobody.invalid/x"))
                assert outcome.result["data"] == "by proxy"
                outcome = await tool.call(a_call(url=server.url))
                assert outcome.result["data"] == "direct"
            return proxy.heard

    assert run(play())[0].startswith(b"GET http://nobody.invalid/x HTTP/1.1")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"HTTP_PROXY": "gopher://x", "http_proxy": "gopher://x"}, "ANEW_HTTP_TRUST_ENV=0"),
        ({"ANEW_HTTP_RESPONSE_BYTES_MAX": "many"}, "ANEW_HTTP_RESPONSE_BYTES_MAX"),
        ({"ANEW_HTTP_GUARD": "perhaps"}, "ANEW_HTTP_GUARD"),
        ({"ANEW_HTTP_ALLOW": "10.0.0.0/99"}, "ANEW_HTTP_ALLOW"),
        ({"ANEW_HTTP_ALLOW": "host:port"}, "ANEW_HTTP_ALLOW"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    settings: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    outcome = outcome_at("/echo")
    assert outcome.error is not None
    assert outcome.error["kind"] == "config"
    assert words in outcome.error["message"]


def test_what_a_call_returns_can_be_written_as_json() -> None:
    outcome = outcome_at("/echo", headers={"X-Name": "Zoë"})
    assert json.loads(json.dumps(outcome.result)) == outcome.result
    assert outcome.result["data"]["headers"]["x-name"] == "Zoë"
