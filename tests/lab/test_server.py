"""The lab server: every route does what the table says, and nothing a client sends ends it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Coroutine
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest

from anew.errors import ConfigError
from anew.lab.server import LabServer
from anew.lab.server.ledger import LAB_KEYS_MAX, CallLedger
from anew.lab.server.routes import ROUTES
from anew.lab.server.serving import LAB_BODY_BYTES_MAX, LAB_HEADERS_MAX

T = TypeVar("T")


def run(playing: Coroutine[Any, Any, T]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(30):
            return await playing

    return asyncio.run(bounded())


async def raw(url: str, sent: bytes) -> bytes:
    """Everything the server says to these bytes until it closes."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(sent)
        await writer.drain()
        return await reader.read()
    finally:
        writer.transport.abort()


async def asked(url: str, target: str, method: str = "GET", *headers: str) -> tuple[int, Any]:
    lines = [f"{method} {target} HTTP/1.1", "Host: lab", "Connection: close", *headers]
    answer = await raw(url, "\r\n".join(lines).encode() + b"\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body) if body else None


def answers(*targets: str, method: str = "GET") -> list[tuple[int, Any]]:
    """The answers of one server to these requests, one after the other."""

    async def play() -> list[tuple[int, Any]]:
        async with LabServer() as server:
            return [await asked(server.url, target, method) for target in targets]

    return run(play())


def test_the_root_lists_every_route() -> None:
    [(status, told)] = answers("/")
    assert status == 200
    assert [row["path"].split("/{")[0] for row in told["routes"]] == [row.path for row in ROUTES]


def test_a_flaky_key_fails_its_number_of_times_and_others_are_not_disturbed() -> None:
    path = "/flaky/{}?fail=2&status=500"
    told = answers(path.format("a"), path.format("b"), path.format("a"), path.format("a"))
    assert [status for status, _ in told] == [500, 500, 500, 200]
    assert told[-1][1] == {"key": "a", "calls": 3, "ok": True}


def test_pages_end_with_no_next_page() -> None:
    told = answers(*(f"/pages?page={page}&size=2&total=5" for page in (1, 2, 3)))
    assert [body["next"] for _, body in told] == [2, 3, None]
    assert [item["id"] for _, body in told for item in body["items"]] == [1, 2, 3, 4, 5]


def test_a_page_fails_once_per_key() -> None:
    path = "/pages?page=2&fail_page=2&key="
    told = answers(path + "a", path + "a", path + "b", "/pages?page=1&fail_page=2&key=a")
    assert [status for status, _ in told] == [503, 200, 503, 200]


def test_a_job_is_done_when_it_was_asked_often_enough() -> None:
    told = answers(*["/job/x?polls=3"] * 4)
    assert [body["state"] for _, body in told] == ["pending", "pending", "done", "done"]


def test_an_effect_happens_once_per_idempotency_key() -> None:
    async def play() -> None:
        async with LabServer() as server:
            for repeated in (False, True):
                status, told = await asked(server.url, "/idempotent", "POST", "Idempotency-Key: k")
                assert (status, told["repeated"]) == (200 if repeated else 201, repeated)
            _, told = await asked(server.url, "/ledger/k")
            assert told == {"key": "k", "calls": 2, "by_route": {"idempotent": 2}, "effects": 1}
            for _ in range(2):
                await asked(server.url, "/idempotent", "POST")
            _, told = await asked(server.url, "/ledger")
            assert {row["key"]: row["effects"] for row in told["keys"]} == {
                "k": 1,
                "without a key": 2,
            }

    run(play())


def test_a_lost_answer_still_took_effect() -> None:
    async def play() -> None:
        async with LabServer() as server:
            request = b"POST /idempotent?lose=1 HTTP/1.1\r\nIdempotency-Key: k\r\n\r\n"
            with pytest.raises(ConnectionResetError):
                await raw(server.url, request)
            _, told = await asked(server.url, "/ledger/k")
            assert (told["calls"], told["effects"]) == (1, 1)

    run(play())


def test_a_reset_comes_within_the_body() -> None:
    async def play() -> None:
        async with LabServer() as server:
            with pytest.raises(ConnectionResetError):
                await raw(server.url, b"GET /reset?after=10 HTTP/1.1\r\n\r\n")

    run(play())


@pytest.mark.parametrize(
    ("target", "status", "told"),
    [
        ("/status/204", 204, None),
        ("/status/418", 418, {"error": "a failure on purpose", "status": 418}),
        ("/slow?seconds=0", 200, {"slept": 0.0}),
        ("/redirect/0", 200, {"arrived": True, "method": "GET"}),
        ("/private", 401, {"error": "send the bearer token"}),
        ("/ledger/nobody", 200, {"key": "nobody", "calls": 0, "by_route": {}, "effects": 0}),
    ],
)
def test_a_route_answers(target: str, status: int, told: object) -> None:
    assert answers(target) == [(status, told)]


def test_the_bearer_token_opens_what_is_private() -> None:
    async def play() -> int:
        async with LabServer() as server:
            told = await asked(server.url, "/private", "GET", "Authorization: Bearer open-sesame")
            return told[0]

    assert run(play()) == 200


@pytest.mark.parametrize(
    ("target", "status", "words"),
    [
        ("/nothing", 404, "GET / lists"),
        ("/flaky", 404, "GET / lists"),
        ("/status/99", 400, "from 200 to 599"),
        ("/status/x", 400, "whole number"),
        ("/flaky/k?fail=-1", 400, "`fail`"),
        ("/slow?seconds=1e9", 400, "`seconds`"),
        ("/slow?seconds=nan", 400, "`seconds`"),
        ("/bytes?n=999999999999", 400, "`n`"),
        ("/redirect/1000", 400, "redirects"),
        ("/idempotent", 405, "POST"),
    ],
)
def test_a_request_that_makes_no_sense_is_told_why(target: str, status: int, words: str) -> None:
    [(found, told)] = answers(target)
    assert (found, told["status"]) == (status, status)
    assert words in told["error"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/3\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n", b"400"),
        (b"GET http://[ HTTP/1.1\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (LAB_BODY_BYTES_MAX + 1), b"413"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411"),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * (LAB_HEADERS_MAX + 1) + b"\r\n", b"431"),
        (b"GET /" + b"x" * 100_000, b"431"),
    ],
)
def test_a_request_that_cannot_be_read_is_refused_and_the_server_goes_on(
    sent: bytes, status: bytes
) -> None:
    async def play() -> None:
        async with LabServer() as server:
            assert (await raw(server.url, sent)).split()[1] == status
            assert (await asked(server.url, "/"))[0] == 200

    run(play())


def test_a_header_from_the_query_cannot_start_another() -> None:
    async def play() -> bytes:
        async with LabServer() as server:
            target = "/redirect/1?to=/x%0d%0aX-Evil:%201"
            return await raw(server.url, f"GET {target} HTTP/1.0\r\n\r\n".encode())

    assert b"\nX-Evil" not in run(play())


def test_connections_are_kept_and_a_client_that_waits_does_not_hold_up_the_end() -> None:
    async def play() -> None:
        async with LabServer() as server:
            parts = urlsplit(server.url)
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            for _ in range(2):
                writer.write(b"GET /status/204 HTTP/1.1\r\n\r\n")
                assert b"204" in await reader.readuntil(b"\r\n\r\n")
            writer.write(b"GET /slow?seconds=600 HTTP/1.1\r\n\r\n")
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.transport.abort()

    run(play())


def test_a_server_with_a_request_under_way_is_not_idle() -> None:
    async def play() -> None:
        async with LabServer() as server:
            parts = urlsplit(server.url)
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            before = server.idle_seconds
            writer.write(b"GET /slow?seconds=600 HTTP/1.1\r\n\r\n")
            while server.idle_seconds > 0:
                await asyncio.sleep(0)
            writer.transport.abort()
            assert before > 0

    run(play())


def test_a_port_in_use_is_told_to_the_operator() -> None:
    async def play() -> None:
        async with LabServer() as server:
            port = urlsplit(server.url).port
            assert port is not None
            with pytest.raises(ConfigError, match=f"127.0.0.1:{port} is in use"):
                async with LabServer(port=port):
                    pass

    run(play())


def test_the_ledger_forgets_the_keys_used_longest_ago() -> None:
    ledger = CallLedger()
    for number in range(LAB_KEYS_MAX + 1):
        ledger.call("flaky", str(number))
    assert len(ledger.all_shown()) == LAB_KEYS_MAX
    assert ledger.shown("0")["calls"] == 0
    assert ledger.shown(str(LAB_KEYS_MAX))["calls"] == 1


# --- the command ----------------------------------------------------------------------------------

COMMAND = "import sys; from anew.surfaces.cli.lab_server import run; sys.exit(run(sys.argv[1:]))"


def lab_server(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def fetched(url: str, target: str) -> HTTPResponse:
    connection = HTTPConnection(url.removeprefix("http://").strip(), timeout=20)
    connection.request("GET", target)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_the_command_prints_its_address_and_stops_when_asked(how: signal.Signals) -> None:
    with lab_server() as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline()
            assert fetched(url, "/status/418").status == 418
            process.send_signal(how)
            rest, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, rest, errors) == (0, "", "")


@pytest.mark.parametrize("words", [["--for", "0.1"], ["--until-idle", "0.1"]])
def test_the_command_stops_by_itself(words: list[str]) -> None:
    with lab_server(*words) as process:
        try:
            said, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 0
    assert said.startswith("http://127.0.0.1:")
    assert (said.count("\n"), errors) == (1, "")


@pytest.mark.parametrize("words", [["--port", "70000"], ["--for", "0"], ["--until-idle", "x"]])
def test_the_command_refuses_what_makes_no_sense(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    from anew.surfaces.cli import lab_server as command

    with pytest.raises(SystemExit):
        command.run(words)
    assert words[1] in capsys.readouterr().err
