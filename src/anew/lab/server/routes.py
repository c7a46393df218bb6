"""What the lab server answers: one row per path, each with a behaviour of its own.

A behaviour is set by the query alone, and remembers only what the ledger holds for its key.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from typing import NamedTuple, TypeAlias
from urllib.parse import urlencode

from anew.lab.server.ledger import CallLedger
from anew.lab.server.wire import Answer, Refused, Request, json_answer
from anew.values import Object

LAB_SLOW_SECONDS_MAX = 600.0
LAB_ANSWER_BYTES_MAX = 64 << 20
LAB_PAGE_ITEMS_MAX = 10_000
LAB_REDIRECTS_MAX = 100

# Where a count in the query has no limit of its own.
_COUNT_BOUND = 1_000_000


class Asked(NamedTuple):
    """One request of a route: `key` is what follows the route in its path."""

    request: Request
    ledger: CallLedger
    key: str


Behaviour: TypeAlias = Callable[[Asked], Awaitable[Answer]]


class Route(NamedTuple):
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


async def _index(_asked: Asked) -> Answer:
    return json_answer({"routes": [route.shown for route in ROUTES]})


async def _flaky(asked: Asked) -> Answer:
    calls = asked.ledger.call("flaky", asked.key)
    fails = _count(asked.request, "fail", default=2)
    if calls <= fails:
        return _failure(asked.request, {"key": asked.key, "calls": calls, "left": fails - calls})
    return json_answer({"key": asked.key, "calls": calls, "ok": True})


async def _status(asked: Asked) -> Answer:
    code = _status_code(asked.key)
    if code < 300:
        return json_answer({"status": code}, code)
    return _failure(asked.request, {"status": code}, code=code)


async def _slow(asked: Asked) -> Answer:
    seconds = _seconds(asked.request, "seconds", default=1.0)
    await asyncio.sleep(seconds)
    return json_answer({"slept": seconds})


async def _pages(asked: Asked) -> Answer:
    page = _count(asked.request, "page", default=1)
    size = _count(asked.request, "size", default=10, most=LAB_PAGE_ITEMS_MAX)
    total = _count(asked.request, "total", default=25)
    calls = asked.ledger.call(f"pages/{page}", asked.request.query.get("key", "pages"))
    fails = _count(asked.request, "fail", default=1)
    if page == _count(asked.request, "fail_page", default=0) and calls <= fails:
        return _failure(asked.request, {"page": page, "calls": calls})
    first = (page - 1) * size
    items = [{"id": n + 1} for n in range(max(0, first), min(first + size, total))]
    following = page + 1 if first + size < total else None
    return json_answer({"items": items, "page": page, "next": following, "total": total})


async def _job(asked: Asked) -> Answer:
    polls = asked.ledger.call("job", asked.key)
    needed = _count(asked.request, "polls", default=3)
    state = "done" if polls >= needed else "pending"
    return json_answer({"key": asked.key, "state": state, "polls": polls})


async def _reset(asked: Asked) -> Answer:
    sent = _count(asked.request, "after", default=512, most=LAB_ANSWER_BYTES_MAX - 1)
    return Answer(body=b"x" * (sent + 1), headers={"content-type": "text/plain"}, cut_at=sent)


async def _echo(asked: Asked) -> Answer:
    return json_answer(
        {
            "method": asked.request.method,
            "path": asked.request.path,
            "query": asked.request.query,
            "headers": asked.request.headers,
            "body": asked.request.body.decode("utf-8", "replace"),
        }
    )


async def _bytes(asked: Asked) -> Answer:
    size = _count(asked.request, "n", default=1024, most=LAB_ANSWER_BYTES_MAX)
    kind = asked.request.query.get("type", "application/octet-stream")
    body = (bytes(range(256)) * (size // 256 + 1))[:size]
    return Answer(body=body, headers={"content-type": kind})


async def _redirect(asked: Asked) -> Answer:
    left = _number(asked.key, "the number of redirects", most=LAB_REDIRECTS_MAX)
    query = asked.request.query
    if left == 0:
        return json_answer({"arrived": True, "method": asked.request.method})
    code = _status_code(query.get("status", "302"))
    following = f"/redirect/{left - 1}?{urlencode(query)}"
    to = query.get("to", following) if left == 1 else following
    return Answer(code, headers={"location": to})


async def _idempotent(asked: Asked) -> Answer:
    if asked.request.method != "POST":
        raise Refused(405, "send a POST")
    name = asked.request.headers.get("idempotency-key", "")
    entry = asked.ledger.entry(name or "without a key")
    calls = asked.ledger.call("idempotent", name or "without a key")
    is_repeated = bool(name) and entry.effects > 0
    entry.effects += not is_repeated
    if entry.lost < _count(asked.request, "lose", default=0):
        entry.lost += 1
        return Answer(body=b"lost", cut_at=0)
    told = {"key": name, "calls": calls, "effects": entry.effects, "repeated": is_repeated}
    return json_answer(told, 200 if is_repeated else 201)


async def _private(asked: Asked) -> Answer:
    token = asked.request.query.get("token", "open-sesame")
    if asked.request.headers.get("authorization") == f"Bearer {token}":
        return json_answer({"ok": True})
    return json_answer({"error": "send the bearer token"}, 401, www_authenticate="Bearer")


async def _ledger(asked: Asked) -> Answer:
    ledger = asked.ledger
    return json_answer(ledger.shown(asked.key) if asked.key else {"keys": ledger.all_shown()})


def _failure(request: Request, told: Object, *, code: int | None = None) -> Answer:
    """A failing answer with the wish to wait that the query asks for, in either form."""
    status = _status_code(request.query.get("status", "503")) if code is None else code
    answer = json_answer({"error": "a failure on purpose", **told}, status)
    if "retry_after" not in request.query:
        return answer
    seconds = _seconds(request, "retry_after", default=0.0)
    wish = f"{seconds:g}"
    if request.query.get("date"):
        wish = formatdate(time.time() + seconds, usegmt=True)
    return Answer(answer.status, answer.body, {**answer.headers, "retry-after": wish})


def _status_code(text: str) -> int:
    code = _number(text, "the status", most=599)
    if code < 200:
        raise Refused(400, "the status must be from 200 to 599")
    return code


def _count(request: Request, name: str, *, default: int, most: int = _COUNT_BOUND) -> int:
    return _number(request.query.get(name, str(default)), f"`{name}`", most=most)


def _number(text: str, what: str, *, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16) or int(text) > most:
        raise Refused(400, f"{what} must be a whole number from 0 to {most:,}")
    return int(text)


def _seconds(request: Request, name: str, *, default: float) -> float:
    try:
        seconds = float(request.query.get(name, default))
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds <= LAB_SLOW_SECONDS_MAX:
        raise Refused(400, f"`{name}` must be from 0 to {LAB_SLOW_SECONDS_MAX:g} seconds")
    return seconds


ROUTES = (
    Route("/", False, "", "lists these routes", _index),
    Route(
        "/flaky",
        True,
        "fail=2 status=503 retry_after= date=",
        "fails the first `fail` calls of a key; `date=1` writes Retry-After as a date",
        _flaky,
    ),
    Route("/status", True, "retry_after= date=", "answers with that status", _status),
    Route("/slow", False, "seconds=1", "answers after so long", _slow),
    Route(
        "/pages",
        False,
        "page=1 size=10 total=25 fail_page= fail=1 status=503 key=",
        "a page of items and the number of the next; `fail_page` fails `fail` times per `key`",
        _pages,
    ),
    Route("/job", True, "polls=3", "is pending until it was asked `polls` times", _job),
    Route("/reset", False, "after=512", "resets the connection within the body", _reset),
    Route("/echo", False, "", "tells what was sent", _echo),
    Route("/bytes", False, "n=1024 type=application/octet-stream", "so many bytes", _bytes),
    Route(
        "/redirect", True, "status=302 to=", "redirects so many times, at last to `to`", _redirect
    ),
    Route(
        "/idempotent",
        False,
        "lose=0",
        "a POST that takes effect once per Idempotency-Key; `lose` answers are never sent",
        _idempotent,
    ),
    Route("/private", False, "token=open-sesame", "401 without that bearer token", _private),
    Route("/ledger", True, "", "how often a key was called, and what took effect", _ledger),
)


async def answer_to(request: Request, ledger: CallLedger) -> Answer:
    """The answer to one request."""
    for route in ROUTES:
        key = _key_in(request.path, route)
        if key is not None:
            return await route.behave(Asked(request, ledger, key))
    raise Refused(404, f"there is no {request.path}; GET / lists what there is")


def _key_in(path: str, route: Route) -> str | None:
    """The key in a path that is this route's; empty where the route has none."""
    if path == route.path:
        return "" if not route.has_key or route.path == "/ledger" else None
    prefix = f"{route.path}/"
    return path[len(prefix) :] if route.has_key and path.startswith(prefix) else None
