"""What strangers can send before anyone knows who they are: never much, and never slowly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from anew.http_server.connections import CLIENT_CONNECTIONS_MAX, ConnectionLimits, own_limits
from anew.http_server.listening import address_of, bind
from anew.runtime.bootstrap import open_server_engine
from anew.surfaces.api import serving as serving_module
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.settings import ApiSettings
from tests.surfaces.api.served import NOOP, TOKEN, Site, answered, play, served_app

QUICK = ConnectionLimits(header_seconds_max=0.2, body_pause_seconds_max=0.2)
HEAD = f"Host: x\r\nAuthorization: Bearer {TOKEN}\r\n".encode()


@asynccontextmanager
async def connected(
    site: Site,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, _, port = site.url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def problem_in(answer: bytes) -> dict[str, Any]:
    """The problem of an answer that closes the connection."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    assert "content-type: application/problem+json" in lines
    assert "connection: close" in lines
    problem = dict(json.loads(body))
    assert lines[0].startswith(f"http/1.1 {problem['status']} ")
    return problem


async def told(site: Site, *pieces: bytes) -> dict[str, Any]:
    """What is answered to these bytes; the server closes by itself."""
    async with connected(site) as (reader, writer):
        for piece in pieces:
            writer.write(piece)
            with suppress(ConnectionError):
                await writer.drain()
        return problem_in(await reader.read())


def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    start = b"GET /healthz HTTP/1.1\r\n"
    chunked = b"POST /api/v1/runs HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + HEAD + b"\r\n0\r\n"
    sent = {
        "many": [start, b"A: b\r\n" * 120],
        "large": [start, *[b"A: " + b"b" * 8000 + b"\r\n"] * 12],
        "large and whole": [start + b"A: " + b"b" * 70_000 + b"\r\n\r\n"],
        "one that never ends": [start, b"A: ", *[b"b" * 8000] * 12],
        "a name that never ends": [start, *[b"b" * 8000] * 12],
        "a target that never ends": [b"GET /", *[b"b" * 8000] * 12],
        "nothing at all": [b"\r\n" * 4000] * 12,
        "trailers": [chunked, b"A: b\r\n" * 120],
        "a trailer that never ends": [chunked, b"A: ", *[b"b" * 8000] * 100],
    }

    async def act(site: Site) -> None:
        for what, pieces in sent.items():
            problem = await told(site, *pieces)
            assert (what, problem["status"]) == (what, 431)
        await site.get("/healthz")

    play(tmp_path, act)


def test_as_many_headers_as_allowed_are_taken(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.get("/healthz", headers={f"x-{n}": "y" * 600 for n in range(90)})

    play(tmp_path, act)


def test_a_large_body_is_no_header(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.started(NOOP, workload={"word": "x" * 1_000_000})

    play(tmp_path, act)


def test_what_is_no_http_is_told_so_as_a_problem(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        assert (await told(site, b"\x16\x03\x01 hello\r\n\r\n"))["status"] == 400

    play(tmp_path, act)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost:",
        b"\r\n",
        b"POST /api/v1/runs HTTP/1.1\r\nContent-Length: 9\r\n" + HEAD + b"\r\n{",
    ],
)
def test_a_request_that_stays_away_is_waited_for_no_longer(tmp_path: Path, sent: bytes) -> None:
    async def act(site: Site) -> None:
        assert (await told(site, sent))["status"] == 408

    play(tmp_path, act, limits=QUICK)


def test_a_connection_that_is_used_again_has_the_same_deadlines(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        async with connected(site) as (reader, writer):
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b'{"status":"ok"}' in await reader.readuntil(b"}")
            writer.write(b"\r\n")
            assert problem_in(await reader.read())["status"] == 408

    play(tmp_path, act, limits=QUICK)


def test_a_request_that_was_answered_before_it_was_whole_holds_no_connection_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_module, "IDLE_CONNECTION_SECONDS", 1)

    async def act(site: Site) -> None:
        async with connected(site) as (reader, writer):
            writer.write(b"POST /api/v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")
            assert b" 401 " in await reader.readuntil(b"}")
            writer.write(b"{}")
            assert await reader.read() == b""

    play(tmp_path, act)


def test_a_server_that_takes_its_time_is_no_reader_that_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(site: Site) -> None:
        read = ApiRequest.data

        async def slow(asked: ApiRequest) -> bytes:
            await asyncio.sleep(QUICK.body_pause_seconds_max * 3)
            return await read(asked)

        monkeypatch.setattr(ApiRequest, "data", slow)
        await site.started(NOOP, workload={"word": "x" * 5_000_000})
        body = json.dumps({"document": NOOP}).encode()
        start = b"POST /api/v1/runs HTTP/1.1\r\nConnection: close\r\nExpect: 100-continue\r\n"
        async with connected(site) as (reader, writer):
            writer.write(start + HEAD + b"Content-Length: %d\r\n\r\n" % len(body))
            assert b" 100 " in await reader.readuntil(b"\r\n\r\n")
            writer.write(body)
            assert b" 201 " in await reader.read()

    play(tmp_path, act, limits=QUICK)


def test_connections_beyond_the_limit_are_told_so(tmp_path: Path) -> None:
    asking = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

    async def act(site: Site) -> None:
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(connected(site)) for _ in range(4)]
            for reader, writer in opened:
                writer.write(asking)
                await reader.readuntil(b"}")
            assert (await told(site, asking))["status"] == 503
            for reader, writer in opened:
                writer.write(asking)
                assert b"200 OK" in await reader.readuntil(b"}")

    play(tmp_path, act, limits=ConnectionLimits(connections_max=4))


def test_a_process_that_may_open_few_files_takes_few_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resource = pytest.importorskip("resource")
    for soft, most in ((100, 50), (1, 1), (1_000_000, CLIENT_CONNECTIONS_MAX)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, soft))
        assert own_limits().connections_max == most
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert own_limits().connections_max == CLIENT_CONNECTIONS_MAX


def test_requests_cut_off_by_a_stopping_server_are_told_to_ask_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async def whole() -> None:
        began = asyncio.Event()

        async def never(_: Any) -> None:
            began.set()
            await asyncio.Event().wait()

        # The client goes last: it hears what the server says when that ends.
        with closing(bind("127.0.0.1", 0)) as listener:
            async with httpx2.AsyncClient(base_url=address_of(listener)) as client:
                settings = ApiSettings(hosts=frozenset({"127.0.0.1"}))
                async with (
                    open_server_engine(str(tmp_path / "anew.db")) as engine,
                    served_app(engine, settings, listener, drain_seconds=1),
                ):
                    monkeypatch.setattr(engine.database.archive, "run", never)
                    waiting = asyncio.create_task(client.get("/api/v1/runs/1"))
                    await began.wait()
                answer = await waiting
        answered(answer, 503)
        assert answer.headers["retry-after"] == "1"

    asyncio.run(asyncio.wait_for(whole(), 60))
    assert capfd.readouterr().err == ""
