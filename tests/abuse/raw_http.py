"""Say bytes to a server, exactly these, and read what it answers.

For requests that no client would send. Knows nothing of what they mean.
"""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from typing import Any, NamedTuple

PATIENCE_SECONDS = 30.0
# Longer than any answer is held back, and than a server lingers.
SILENCE_SECONDS = 3.0


class Raw(NamedTuple):
    """An answer: its status (0 for a connection that was closed without one), headers and body."""

    status: int
    headers: dict[str, str]
    body: bytes
    count: int

    @property
    def problem(self) -> str:
        """The kind of problem it tells."""
        found: dict[str, Any] = json.loads(self.body)
        return str(found["type"]).rpartition(":")[2]


def exchanged(url: str, *pieces: bytes, source: str = "127.0.0.1") -> Raw:
    """What is answered to these bytes until the server closes; the first answer, and how many.

    Where it says nothing and does not close, it is told that nothing more will come. `source` is
    the address of this machine that the request comes from.
    """
    host, _, port = url.removeprefix("http://").rpartition(":")
    answer = b""
    with (
        socket.create_connection(
            (host, int(port)), timeout=PATIENCE_SECONDS, source_address=(source, 0)
        ) as line,
        suppress(ConnectionResetError, BrokenPipeError),
    ):  # it would not hear any more
        for piece in pieces:
            line.sendall(piece)
        while part := _next(line):
            answer += part
    return _read(answer)


def _next(line: socket.socket) -> bytes:
    line.settimeout(SILENCE_SECONDS)
    try:
        return line.recv(65536)
    except TimeoutError:
        line.settimeout(PATIENCE_SECONDS)
        with suppress(OSError):
            line.shutdown(socket.SHUT_WR)
        return line.recv(65536)


def _read(answer: bytes) -> Raw:
    if not answer:
        return Raw(0, {}, b"", 0)
    head, _, rest = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    headers = {name.lower(): value for name, _, value in pairs}
    size = int(headers.get("content-length", len(rest)))
    return Raw(int(first.split()[1]), headers, rest[:size], answer.count(b"HTTP/1.1 "))


def request(
    target: str = "/api/v1/runs",
    *headers: str | bytes,
    method: str = "GET",
    body: bytes = b"",
    host: str | None = "127.0.0.1",
    version: str = "1.1",
) -> bytes:
    """One request, which asks for the connection to be closed after it."""
    named = [] if host is None else [f"Host: {host}"]
    sized = [f"Content-Length: {len(body)}"] if body else []
    lines = [f"{method} {target} HTTP/{version}", *named, *headers, *sized, "Connection: close"]
    told = [line if isinstance(line, bytes) else line.encode("latin-1") for line in lines]
    return b"\r\n".join([*told, b"", b""]) + body
