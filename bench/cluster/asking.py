"""Asks a server for many runs at once, at as little cost as possible: who asks shares the cores.

One thread and a few sockets that do not block. Knows as much HTTP as the server's answers need.
"""

from __future__ import annotations

import json
import selectors
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

ANSWER_SECONDS_MAX = 60.0
PIECE_BYTES = 65536


def started(address: str, body: bytes, *, number: int, connections: int) -> list[int]:
    """The runs that so many requests with this body have begun."""
    place = urlsplit(address)
    head = f"POST /api/v1/runs HTTP/1.1\r\nHost: {place.netloc}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    request, runs, left = head.encode() + body, list[int](), number
    with selectors.DefaultSelector() as selector:
        for _ in range(min(connections, number)):
            asking = socket.create_connection((place.hostname, place.port), ANSWER_SECONDS_MAX)
            asking.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asking.sendall(request)
            selector.register(asking, selectors.EVENT_READ, bytearray())
            left -= 1
        while len(runs) < number:
            for asked, heard in _heard(selector):
                runs.append(int(json.loads(heard)["run"]))
                if left > 0:
                    left -= 1
                    asked.sendall(request)
        for key in list(selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
    return runs


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
    """The body of an answer that has come to its end."""
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    sizes = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
    if not sizes or len(body) < sizes[0]:
        return None
    if not lines[0].startswith(b"http/1.1 201"):
        raise RuntimeError(f"the server answered {answer.decode(errors='replace')}")
    return body
