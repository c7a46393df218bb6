"""What the lab server answers: one row per path, each with a behaviour of its own.

A behaviour is set by the query alone, and remembers only what the ledger holds for its key.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import formatdate
from typing import NamedTuple, TypeAlias
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from anew.lab.server.ledger import CallLedger
from anew.values import Object, Value

LAB_SLOW_SECONDS_MAX = 600.0
LAB_ANSWER_BYTES_MAX = 64 << 20
LAB_PAGE_ITEMS_MAX = 10_000
LAB_REDIRECTS_MAX = 100

# Where a count in the query has no limit of its own.
_COUNT_BOUND = 1_000_000


class LabRequest(Struct, frozen=True):
    """`headers` have lower-case names, repeated ones joined; of a repeated query key the last.

    `key` is what follows the route in its path.
    """

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    ledger: CallLedger
    key: str = ""


class LabResponse(Struct, frozen=True):
    """What is sent back; `cut_at` sends only so many bytes of the body and resets."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    cut_at: int | None = None


class LabProblem(Exception):
    """A request the server does not take; the text is for the person who sent it.

    `is_last`: what follows on its connection is not read.
    """

    def __init__(self, status: int, text: str, *, is_last: bool = False) -> None:
        super().__init__(text)
        headers = {"connection": "close"} if is_last else {}
        self.response = json_response({"error": text, "status": status}, status, **headers)


def json_response(value: Value, status: int = 200, **headers: str) -> LabResponse:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    body = json.dumps(value).encode() + b"\n"
    return LabResponse(status, body, {"content-type": "application/json", **named})


Behaviour: TypeAlias = Callable[[LabRequest], Awaitable[LabResponse]]


class LabRoute(NamedTuple):
    """`path` begins a route; what follows it is the key where `has_key` is true."""

    path: str
    has_key: bool
    query: str
    summary: str
    behave: Behaviour

    @property
    def shown(self) -> Object:
        path = f"{self.path}/{{key}}" if self.has_key else self.path
        return {"path": path, "query": self.query, "does": self.summary}


async def _index(_request: LabRequest) -> LabResponse:
    return json_response({"routes": [route.shown for route in ROUTES]})


async def _flaky(request: LabRequest) -> LabResponse:
    calls = request.ledger.call("flaky", request.key)
    fails = _count(request, "fail", default=2)
    if calls <= fails:
        return _failure(request, {"key": request.key, "calls": calls, "left": fails - calls})
    return json_response({"key": request.key, "calls": calls, "ok": True})


async def _status(request: LabRequest) -> LabResponse:
    code = _status_code(request.key)
    if code < 300:
        return json_response({"status": code}, code)
    return _failure(request, {"status": code}, code=code)


async def _slow(request: LabRequest) -> LabResponse:
    seconds = _seconds(request, "seconds", default=1.0)
    await asyncio.sleep(seconds)
    return json_response({"slept": seconds})


async def _pages(request: LabRequest) -> LabResponse:
    page = _count(request, "page", default=1)
    size = _count(request, "size", default=10, most=LAB_PAGE_ITEMS_MAX)
    total = _count(request, "total", default=25)
    calls = request.ledger.call(f"pages/{page}", request.query.get("key", "pages"))
    fails = _count(request, "fail", default=1)
    if page == _count(request, "fail_page", default=0) and calls <= fails:
        return _failure(request, {"page": page, "calls": calls})
    first = (page - 1) * size
    items = [{"id": n + 1} for n in range(max(0, first), min(first + size, total))]
    following = page + 1 if first + size < total else None
    return json_response({"items": items, "page": page, "next": following, "total": total})


async def _job(request: LabRequest) -> LabResponse:
    polls = request.ledger.call("job", request.key)
    needed = _count(request, "polls", default=3)
    state = "done" if polls >= needed else "pending"
    return json_response({"key": request.key, "state": state, "polls": polls})


async def _reset(request: LabRequest) -> LabResponse:
    sent = _count(request, "after", default=512, most=LAB_ANSWER_BYTES_MAX - 1)
    return LabResponse(body=b"x" * (sent + 1), headers={"content-type": "text/plain"}, cut_at=sent)


async def _echo(request: LabRequest) -> LabResponse:
    return json_response(
        {
            "method": request.method,
            "path": request.path,
            "query": request.query,
            "headers": request.headers,
            "body": request.body.decode("utf-8", "replace"),
        }
    )


async def _bytes(request: LabRequest) -> LabResponse:
    size = _count(request, "n", default=1024, most=LAB_ANSWER_BYTES_MAX)
    kind = request.query.get("type", "application/octet-stream")
    body = (bytes(range(256)) * (size // 256 + 1))[:size]
    return LabResponse(body=body, headers={"content-type": kind})


async def _redirect(request: LabRequest) -> LabResponse:
    left = _number(request.key, "the number of redirects", most=LAB_REDIRECTS_MAX)
    query = request.query
    if left == 0:
        return json_response({"arrived": True, "method": request.method})
    code = _status_code(query.get("status", "302"))
    following = f"/redirect/{left - 1}?{urlencode(query)}"
    to = query.get("to", following) if left == 1 else following
    return LabResponse(code, headers={"location": to})


async def _idempotent(request: LabRequest) -> LabResponse:
    if request.method != "POST":
        raise LabProblem(405, "send a POST")
    name = request.headers.get("idempotency-key", "")
    entry = request.ledger.entry(name or "without a key")
    calls = request.ledger.call("idempotent", name or "without a key")
    is_repeated = bool(name) and entry.effects > 0
    entry.effects += not is_repeated
    if entry.lost < _count(request, "lose", default=0):
        entry.lost += 1
        return LabResponse(body=b"lost", cut_at=0)
    await asyncio.sleep(_seconds(request, "seconds", default=0.0))
    row = {"key": name, "calls": calls, "effects": entry.effects, "repeated": is_repeated}
    return json_response(row, 200 if is_repeated else 201)


async def _private(request: LabRequest) -> LabResponse:
    token = request.query.get("token", "open-sesame")
    if request.headers.get("authorization") == f"Bearer {token}":
        return json_response({"ok": True})
    return json_response({"error": "send the bearer token"}, 401, www_authenticate="Bearer")


async def _ledger(request: LabRequest) -> LabResponse:
    ledger = request.ledger
    return json_response(ledger.shown(request.key) if request.key else {"keys": ledger.all_shown()})


def _failure(request: LabRequest, facts: Object, *, code: int | None = None) -> LabResponse:
    """A failing answer, with Retry-After in either form where the query wants one."""
    status = _status_code(request.query.get("status", "503")) if code is None else code
    answer = json_response({"error": "a failure on purpose", **facts}, status)
    if "retry_after" not in request.query:
        return answer
    seconds = _seconds(request, "retry_after", default=0.0)
    retry_after = f"{seconds:g}"
    if request.query.get("date"):
        retry_after = formatdate(time.time() + seconds, usegmt=True)
    return LabResponse(answer.status, answer.body, {**answer.headers, "retry-after": retry_after})


def _status_code(text: str) -> int:
    code = _number(text, "the status", most=599)
    if code < 200:
        raise LabProblem(400, "the status must be from 200 to 599")
    return code


def _count(request: LabRequest, name: str, *, default: int, most: int = _COUNT_BOUND) -> int:
    return _number(request.query.get(name, str(default)), f"`{name}`", most=most)


def _number(text: str, what: str, *, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16) or int(text) > most:
        raise LabProblem(400, f"{what} must be a whole number from 0 to {most:,}")
    return int(text)


def _seconds(request: LabRequest, name: str, *, default: float) -> float:
    try:
        seconds = float(request.query.get(name, default))
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds <= LAB_SLOW_SECONDS_MAX:
        raise LabProblem(400, f"`{name}` must be from 0 to {LAB_SLOW_SECONDS_MAX:g} seconds")
    return seconds


ROUTES = (
    LabRoute("/", False, "", "lists these routes", _index),
    LabRoute(
        "/flaky",
        True,
        "fail=2 status=503 retry_after= date=",
        "fails the first `fail` calls of a key; `date=1` writes Retry-After as a date",
        _flaky,
    ),
    LabRoute("/status", True, "retry_after= date=", "answers with that status", _status),
    LabRoute("/slow", False, "seconds=1", "answers after this time", _slow),
    LabRoute(
        "/pages",
        False,
        "page=1 size=10 total=25 fail_page= fail=1 status=503 key=",
        "a page of items and the number of the next; `fail_page` fails `fail` times per `key`",
        _pages,
    ),
    LabRoute("/job", True, "polls=3", "is pending until it was asked `polls` times", _job),
    LabRoute("/reset", False, "after=512", "resets the connection within the body", _reset),
    LabRoute("/echo", False, "", "answers with what was sent", _echo),
    LabRoute("/bytes", False, "n=1024 type=application/octet-stream", "this many bytes", _bytes),
    LabRoute(
        "/redirect", True, "status=302 to=", "redirects this many times, at last to `to`", _redirect
    ),
    LabRoute(
        "/idempotent",
        False,
        "lose=0 seconds=0",
        "a POST that takes effect once per Idempotency-Key, and is answered after `seconds`; "
        "`lose` answers are never sent",
        _idempotent,
    ),
    LabRoute("/private", False, "token=open-sesame", "401 without that bearer token", _private),
    LabRoute("/ledger", True, "", "how often a key was called, and what took effect", _ledger),
)


async def response_to(request: LabRequest) -> LabResponse:
    """The answer to one request."""
    for route in ROUTES:
        key = _key_in(request.path, route)
        if key is not None:
            return await route.behave(replace(request, key=key))
    raise LabProblem(404, f"there is no {request.path}; GET / lists what there is")


def _key_in(path: str, route: LabRoute) -> str | None:
    """The key in a path that is this route's; empty where the route has none."""
    if path == route.path:
        return "" if not route.has_key or route.path == "/ledger" else None
    prefix = f"{route.path}/"
    return path[len(prefix) :] if route.has_key and path.startswith(prefix) else None
