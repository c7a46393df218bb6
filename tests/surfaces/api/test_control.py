"""The route of workers stands before all others, and is guarded and counted as they are."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from anew.http_server.write_coalescing import CoalescedWrites
from anew.stores.remote import wire
from anew.surfaces.api.guards import HEADERS
from tests.surfaces.api.served import TOKEN, WAITS, Site, play

PROTOCOL = {wire.PROTOCOL_HEADER: str(wire.PROTOCOL)}
NOTHING = msgspec.msgpack.encode(wire.EmptyRequest())


def test_an_operation_is_answered_with_what_every_answer_says(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        url = f"{wire.PATH}time"
        answer = await site.client.post(url, content=NOTHING, headers=PROTOCOL)
        assert answer.status_code == 200
        assert msgspec.msgpack.decode(answer.content, type=int) > 0
        assert answer.headers["content-type"] == wire.MEDIA_TYPE
        assert answer.headers[wire.CURSOR_HEADER] == site.service.dispatcher.board.cursor
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        counted = (
            f'http_requests_total{{method="POST",path="{wire.PATH}{{operation}}",status="200"}} 1'
        )
        assert counted in (await site.client.get("/metrics")).text

    play(tmp_path, act)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{wire.PATH}time", 405),
        ("POST", f"{wire.PATH}time/", 404),
        ("POST", f"{wire.PATH}time/more", 404),
        ("POST", wire.PATH.rstrip("/"), 404),
    ],
)
def test_what_is_nearly_the_route_is_refused_as_elsewhere(
    tmp_path: Path, method: str, path: str, status: int
) -> None:
    async def act(site: Site) -> None:
        answer = await site.client.request(method, path, headers=PROTOCOL)
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"

    play(tmp_path, act)


@pytest.mark.parametrize("token", ["", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x"])
def test_nobody_without_the_token_reaches_an_operation(tmp_path: Path, token: str) -> None:
    async def act(site: Site) -> None:
        headers = PROTOCOL | {"authorization": token}
        answer = await site.client.post(f"{wire.PATH}time", content=NOTHING, headers=headers)
        assert answer.status_code == 401
        assert answer.json()["type"] == "urn:anew:problem:not-authenticated"

    play(tmp_path, act)


def test_a_body_that_says_how_large_it_is_is_not_read_when_it_is_too_large(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        url, size = f"{wire.PATH}time", wire.REQUEST_BYTES_MAX + 1
        answer = await site.client.post(url, content=b"x" * size, headers=PROTOCOL)
        assert answer.status_code == 413
        refusal = msgspec.msgpack.decode(answer.content, type=wire.ErrorReply)
        assert "time has more than 16,777,216 bytes" in refusal.message

    play(tmp_path, act)


class Written:
    """What a transport is told, in order."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def write(self, data: bytes) -> None:
        self.calls.append(data)

    def writelines(self, pieces: list[bytes]) -> None:
        self.calls.append(b"".join(pieces))

    def close(self) -> None:
        self.calls.append("close")

    def abort(self) -> None:
        self.calls.append("abort")


def written(*acts: str | bytes | None) -> list[object]:
    """What comes of writing bytes, calling a method, or letting the loop come round (None)."""

    async def go() -> list[object]:
        transport = Written()
        answer = CoalescedWrites(transport, asyncio.get_running_loop())  # type: ignore[arg-type]
        for act in acts:
            if act is None:
                await asyncio.sleep(0)
            elif isinstance(act, bytes):
                answer.write(act)
            else:
                getattr(answer, act)()
        await asyncio.sleep(0)
        return transport.calls

    return asyncio.run(go())


def test_a_head_leaves_with_its_body() -> None:
    assert written(b"head ", b"body", b"more", "close") == [b"head body", b"more", "close"]


def test_a_head_whose_body_does_not_come_leaves_alone() -> None:
    assert written(b"head", None, b"body") == [b"head", b"body"]


def test_a_head_is_not_forgotten_when_a_connection_is_closed() -> None:
    assert written(b"head", "close") == [b"head", "close"]
    assert written(b"head", "flush", "flush") == [b"head"]


def test_nothing_is_written_to_a_connection_that_was_given_up() -> None:
    assert written(b"head", "abort") == ["abort"]


def test_a_stream_begins_before_its_first_event(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(WAITS)
        path = f"/api/v1/runs/{run}/events/stream"
        async with (
            asyncio.timeout(site.service.settings.keep_alive_seconds / 2),
            site.client.stream("GET", path, headers={"Last-Event-ID": "999"}) as answer,
        ):
            assert answer.status_code == 200

    play(tmp_path, act)
