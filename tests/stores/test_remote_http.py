"""Requests and answers on the wire: what a server, a proxy or a stranger may send back."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
import uvloop

from anew.stores.remote import http
from anew.stores.remote.http import Client, NotAnswered, NotHttp, ReplyTooLarge
from anew.stores.remote.route import NotSent, find_route

LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]
SIZE = 60_000_000
HALF = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@pytest.fixture(params=LOOPS, ids=["asyncio", "uvloop"])
def run(request):
    def run(work):
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(work)

    return run


class Peer:
    """Answers requests, in their order and on any connection, with bytes it was told.

    An answer of None closes the connection instead, and one that never comes is an Event.
    """

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.connections = 0
        self.writers = []

    async def serve(self, reader, writer):
        self.connections += 1
        self.writers.append(writer)
        try:
            while request := await self.request(reader):
                self.asked.append(request)
                answer = self.answers.pop(0) if self.answers else OK
                if isinstance(answer, asyncio.Event):
                    await answer.wait()
                    break
                if answer is None:
                    break
                writer.write(answer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        writer.close()

    async def request(self, reader):
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        return head, await reader.readexactly(size)


@asynccontextmanager
async def asking(peer, connections_max=4, headers=None, path=""):
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    route = find_route(f"http://127.0.0.1:{port}{path}")
    client = Client(route, headers or {}, connections_max=connections_max)
    try:
        yield client
    finally:
        await client.close()
        server.close()


async def post(client, body=b"x", seconds=20.0, **more):
    return await client.post("/a", body, answer_seconds=seconds, **more)


def test_a_request_says_what_it_was_told_to(run):
    async def go():
        peer = Peer()
        async with asking(peer, headers={"token": "t"}, path="/prefix") as client:
            reply = await post(client, b"body", headers=b"again: 1\r\n")
        head, body = peer.asked[0]
        assert head.startswith(b"POST /prefix/a HTTP/1.1\r\nhost: 127.0.0.1:")
        assert b"\r\ntoken: t\r\nagain: 1\r\ncontent-length: 4\r\n" in head
        assert (body, reply.status, reply.body) == (b"body", 200, b"ok")

    run(go())


ANSWERS = {
    "sized": OK,
    "in chunks": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
    "after a word": b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_connections_are_used_again_whatever_the_form_of_an_answer(run, answer):
    async def go():
        peer = Peer(*[answer] * 3)
        async with asking(peer) as client:
            assert [(await post(client)).body for _ in range(3)] == [b"ok"] * 3
        assert peer.connections == 1

    run(go())


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_an_answer_may_end_with_the_connection(run, version):
    async def go():
        peer = Peer()

        async def serve(reader, writer):
            await peer.request(reader)
            writer.write(b"HTTP/%s 200 OK\r\ncontent-type: text/plain\r\n\r\nok" % version)
            writer.close()

        peer.serve = serve
        async with asking(peer) as client:
            reply = await post(client)
        assert (reply.body, reply.headers) == (b"ok", {b"content-type": b"text/plain"})

    run(go())


def test_an_answer_that_stops_coming_is_none(run):
    async def go():
        async with asking(Peer(HALF)) as client:
            with pytest.raises(NotAnswered, match=r"no answer came within 0.05 s"):
                await post(client, seconds=0.05)

    run(go())


def test_an_answer_that_is_cut_off_is_none(run):
    async def go():
        peer = Peer()

        async def serve(reader, writer):
            await peer.request(reader)
            writer.write(HALF)
            writer.close()

        peer.serve = serve
        async with asking(peer) as client:
            with pytest.raises(NotAnswered, match="closed the connection"):
                await post(client)

    run(go())


def test_a_connection_that_is_to_be_closed_is_not_used_again(run):
    async def go():
        closing = OK.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
        peer = Peer(closing, OK)
        async with asking(peer) as client:
            await post(client)
            await post(client)
        assert peer.connections == 2

    run(go())


def test_a_connection_that_the_server_closed_meanwhile_costs_nothing(run):
    async def go():
        peer = Peer()
        async with asking(peer) as client:
            await post(client)
            peer.writers[0].close()
            await peer.writers[0].wait_closed()
            assert (await post(client)).body == b"ok"
        assert (peer.connections, len(peer.asked)) == (2, 2)

    run(go())


def test_what_nobody_asked_for_is_not_taken_for_an_answer(run):
    async def go():
        peer = Peer(OK, OK.replace(b"ok", b"hi"))
        async with asking(peer) as client:
            await post(client)
            peer.writers[0].write(OK)
            await peer.writers[0].drain()
            assert (await post(client)).body == b"hi"
        assert peer.connections == 2

    run(go())


def test_two_answers_in_one_piece_are_one_too_many(run):
    async def go():
        peer = Peer(OK + OK.replace(b"ok", b"no"), OK.replace(b"ok", b"hi"))
        async with asking(peer) as client:
            assert (await post(client)).body == b"ok"
            assert (await post(client)).body == b"hi"
        assert peer.connections == 2

    run(go())


def test_a_connection_nobody_used_for_a_while_is_closed(run, monkeypatch):
    async def go():
        peer = Peer()
        async with asking(peer) as client:
            await post(client)
            monkeypatch.setattr(http, "SERVER_IDLE_SECONDS_MAX", -1.0)
            await post(client)
        assert peer.connections == 2

    run(go())


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (b"SSH-2.0-x\r\n", NotHttp, "Expected HTTP"),
        (None, NotAnswered, "without an answer"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200, ReplyTooLarge, "its headers are over 100 bytes"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n" + b"z" * 900,
            ReplyTooLarge,
            "over 500 bytes",
        ),
    ],
)
def test_what_is_no_answer(run, monkeypatch, answer, kind, says):
    monkeypatch.setattr(http, "ANSWER_HEADER_BYTES_MAX", 100)
    monkeypatch.setattr(http, "ANSWER_BYTES_MAX", 500)

    async def go():
        peer = Peer(answer)
        async with asking(peer) as client:
            with pytest.raises(kind, match=says) as caught:
                await post(client)
            assert type(caught.value) is kind
            assert (await post(client)).body == b"ok"

    run(go())


def test_a_request_whose_caller_goes_away_leaves_no_answer_behind(run):
    async def go():
        late = asyncio.Event()
        peer = Peer(late, OK.replace(b"ok", b"hi"))
        async with asking(peer) as client:
            first = asyncio.create_task(post(client))
            while not peer.asked:
                await asyncio.sleep(0.001)
            first.cancel()
            await asyncio.wait({first})
            assert (await post(client)).body == b"hi"
            late.set()
        assert peer.connections == 2

    run(go())


def test_a_slow_line_is_not_a_silent_one(run):
    """What is large is sent for as long as some of it gets through."""

    async def go():
        peer = Peer()

        async def serve(reader, writer):
            peer.writers.append(writer)
            left = SIZE
            while left > 0:
                left -= len(await reader.read(100_000))
                await asyncio.sleep(0.002)
            writer.write(OK)

        peer.serve = serve
        async with asking(peer) as client:
            assert (await post(client, b"x" * SIZE, seconds=0.5)).body == b"ok"
            peer.writers[0].close()

    run(go())


def test_there_are_no_more_connections_than_allowed(run):
    async def go():
        silent = asyncio.Event()
        peer = Peer(silent)
        async with asking(peer, connections_max=1) as client:
            first = asyncio.create_task(post(client))
            while not peer.asked:
                await asyncio.sleep(0.001)
            with pytest.raises(NotSent, match="all connections to it are in use"):
                await post(client, seconds=0.05)
            first.cancel()
            await asyncio.wait({first})
            assert (await post(client)).body == b"ok"
            silent.set()

    run(go())


def test_who_waits_when_the_client_is_closed_hears_of_it(run):
    async def go():
        silent = asyncio.Event()
        peer = Peer(silent)
        async with asking(peer) as client:
            first = asyncio.create_task(post(client))
            while not peer.asked:
                await asyncio.sleep(0.001)
            await client.close()
            with pytest.raises(NotAnswered):
                await first
            silent.set()

    run(go())


def test_nobody_listens(run):
    async def go():
        async with asking(Peer()) as client:
            pass
        client = Client(client._route, {}, connections_max=1)
        with pytest.raises(NotSent):
            await post(client)

    run(go())
