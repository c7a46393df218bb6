"""HTTP/1.1 as far as the lab server speaks it: a request read, an answer written.

Knows limits and framing. Does not know routes.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from anew.values import Object, Value

# Room for any header a client really sends; a longer head is a mistake or an attack.
LAB_HEAD_BYTES_MAX = 32 << 10
LAB_HEADERS_MAX = 100
LAB_BODY_BYTES_MAX = 1 << 20
# A connection that says nothing for so long is closed.
LAB_IDLE_SECONDS_MAX = 60.0

_WITHOUT_BODY = (204, 304)


class Request(Struct, frozen=True):
    """`headers` have lower-case names, repeated ones joined; of a repeated query key the last."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    is_last: bool  # the client wants the connection closed after it


class Answer(Struct, frozen=True):
    """What is sent back; `cut_at` sends only so many bytes of the body and resets."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    cut_at: int | None = None


class Refused(Exception):
    """A request the server does not take; the text is for the person who sent it."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def json_answer(value: Value, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): said for name, said in headers.items()}
    body = json.dumps(value).encode() + b"\n"
    return Answer(status, body, {"content-type": "application/json", **named})


def refusal(refused: Refused) -> Answer:
    told: Object = {"error": str(refused), "status": refused.status}
    return json_answer(told, refused.status)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None when there is none any more."""
    try:
        async with asyncio.timeout(LAB_IDLE_SECONDS_MAX):
            head = await _read_head(reader)
            return None if head is None else await _with_body(reader, head)
    except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
        return None


async def _read_head(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise Refused(431, f"the head is longer than {LAB_HEAD_BYTES_MAX:,} bytes") from None
    first, *lines = _text(head[:-4]).split("\r\n")
    if len(lines) > LAB_HEADERS_MAX:
        raise Refused(431, f"there are more than {LAB_HEADERS_MAX} headers")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Refused(400, "the request line must be METHOD PATH HTTP/1.1")
    headers = _headers(lines)
    is_last = words[2] == "HTTP/1.0" or headers.get("connection", "").lower() == "close"
    return _addressed(words[0], words[1], headers, is_last=is_last)


def _text(head: bytes) -> str:
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError:
        return head.decode("latin-1")


def _headers(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        name, colon, said = line.partition(":")
        if not colon or not name or name != name.strip():
            raise Refused(400, "a header must be NAME: VALUE")
        known = found.get(name.lower())
        found[name.lower()] = said.strip() if known is None else f"{known}, {said.strip()}"
    return found


def _addressed(method: str, target: str, headers: dict[str, str], *, is_last: bool) -> Request:
    try:
        parts = urlsplit(target)
        pairs = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=LAB_HEADERS_MAX)
    except ValueError:
        raise Refused(400, "the address cannot be read") from None
    return Request(method.upper(), unquote(parts.path), dict(pairs), headers, b"", is_last)


async def _with_body(reader: asyncio.StreamReader, head: Request) -> Request:
    if "transfer-encoding" in head.headers:
        raise Refused(411, "send the body with Content-Length")
    said = head.headers.get("content-length", "0")
    if not (said.isascii() and said.isdigit()):
        raise Refused(400, "Content-Length must be a whole number")
    if len(said) > 12 or int(said) > LAB_BODY_BYTES_MAX:
        raise Refused(413, f"the body is longer than {LAB_BODY_BYTES_MAX:,} bytes")
    body = await reader.readexactly(int(said))
    return Request(head.method, head.path, head.query, head.headers, body, head.is_last)


async def write_answer(
    writer: asyncio.StreamWriter, answer: Answer, *, is_head: bool = False, is_last: bool = False
) -> None:
    """Send an answer; one that is cut ends with a reset, as a crashing server would."""
    writer.write(_head_of(answer, is_last=is_last or answer.cut_at is not None))
    if not is_head and answer.status not in _WITHOUT_BODY:
        writer.write(answer.body if answer.cut_at is None else answer.body[: answer.cut_at])
    await writer.drain()
    if answer.cut_at is not None:
        _reset(writer)


def _reset(writer: asyncio.StreamWriter) -> None:
    """End the connection as a crashed server does: a reset instead of a farewell."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _head_of(answer: Answer, *, is_last: bool) -> bytes:
    if answer.cut_at == 0:
        return b""  # not even a status line: the answer is lost as a whole
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {answer.status} {phrase}"]
    # Parts of the query come back in headers: white space must not end one.
    lines += [f"{name}: {' '.join(said.split())}" for name, said in answer.headers.items()]
    if answer.status not in _WITHOUT_BODY:
        lines.append(f"content-length: {len(answer.body)}")
    lines.append(f"connection: {'close' if is_last else 'keep-alive'}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
