"""Asks a server many times at once, at as little cost as possible: who asks shares the cores.

One thread and a few sockets. Knows as much HTTP as the answers of the servers here need. Also runs
in the peers' environments: it needs nothing but the standard library.
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterator

ANSWER_SECONDS_MAX = 60.0
PIECE_BYTES = 65536


def answers(port: int, path: str, body: bytes, *, number: int, connections: int) -> list[bytes]:
    """What so many requests with this body are answered, on the loopback."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    request, given, left = head.encode() + body, list[bytes](), number
    with selectors.DefaultSelector() as selector:
        for _ in range(min(connections, number)):
            asking = socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS_MAX)
            asking.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asking.sendall(request)
            selector.register(asking, selectors.EVENT_READ, bytearray())
            left -= 1
        while len(given) < number:
            for asked, heard in _heard(selector):
                given.append(heard)
                if left > 0:
                    left -= 1
                    asked.sendall(request)
        for key in list(selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
    return given


def _heard(selector: selectors.BaseSelector) -> Iterator[tuple[socket.socket, bytes]]:
    """Who has a whole answer, and its body."""
    ready = selector.select(ANSWER_SECONDS_MAX)
    if not ready:
        raise RuntimeError("the server does not answer")
    for key, _ in ready:
        asked: socket.socket = key.fileobj  # type: ignore[assignment]
        piece = asked.recv(PIECE_BYTES)
        if not piece:
            raise RuntimeError("the server closed a connection")
        key.data.extend(piece)
        body = _whole(key.data)
        if body is not None:
            key.data.clear()
            yield asked, body


def _whole(answer: bytearray) -> bytes | None:
    """The body of an answer that has come to its end, in pieces if it came so."""
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    sizes = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
    is_whole = len(body) >= sizes[0] if sizes else body.endswith(b"0\r\n\r\n")
    if not is_whole:
        return None
    if not lines[0].startswith(b"http/1.1 20"):
        raise RuntimeError(f"the server answered {answer.decode(errors='replace')}")
    return body
