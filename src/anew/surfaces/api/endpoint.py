"""One row for each thing that can be asked: its path, what it takes, what it answers.

The rows make both the routes and the OpenAPI description, so that neither can lack what the other
has. Here a request is read against its limits, and every way of going wrong becomes a problem.
"""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from anew.errors import AnewError, EngineBug
from anew.runtime.damage import check_row
from anew.runtime.engine import Engine
from anew.store import RunId, RunRow, StoreError
from anew.stores.damage import DamagedRun
from anew.surfaces.api.choices import choices_for
from anew.surfaces.api.problems import Refusal, broken, problem_response, refusal_of, too_large
from anew.surfaces.api.service import Service
from anew.surfaces.api.settings import STORE_SECONDS_MAX

JSON = "application/json"
RUN_ID_MAX = 2**63 - 1
RUN_ID_DIGITS_MAX = len(str(RUN_ID_MAX))
_QUALITY = re.compile(r";\s*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)")
_LOG = logging.getLogger("anew.api")

# How much of a body that is too large is read and thrown away, and for how long.
DISCARDED_BYTES_MAX = 64 * 1024 * 1024
DISCARDING_SECONDS_MAX = 10.0

T = TypeVar("T")


class Reply(Struct, frozen=True):
    """JSON to answer with."""

    content: Any
    status: int = 200
    headers: Mapping[str, str] = {}


class Asked:
    """A request, and what it can be answered with."""

    def __init__(self, request: Request, service: Service) -> None:
        self.request = request
        self.service = service
        self._timer = asyncio.timeout(None)

    async def answer(self, act: Act) -> Reply | Response:
        """What comes of it; Refusal when the database takes longer than anybody would wait.

        How long a body takes to arrive does not count.
        """
        try:
            async with self._timer:
                if self.request.method in ("GET", "HEAD"):
                    self._begin_timer()
                return await act(self)
        except TimeoutError:
            if not self._timer.expired():
                raise
            said = f"the database gave no answer within {STORE_SECONDS_MAX:g} s"
            raise Refusal("unavailable", said, headers={"Retry-After": "1"}) from None

    def _begin_timer(self) -> None:
        self._timer.reschedule(asyncio.get_running_loop().time() + STORE_SECONDS_MAX)

    @property
    def engine(self) -> Engine:
        return self.service.engine

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    def header(self, name: str) -> str | None:
        return self.request.headers.get(name)

    def accepts(self, media_type: str) -> bool:
        """Whether this form is asked for by name."""
        return self.wish_for(media_type) > 0

    def wish_for(self, media_type: str) -> float:
        """How much this form is wished for by name, from 0 to 1."""
        parts = (self.header("accept") or "").lower().split(",")
        named = [part for part in parts if part.partition(";")[0].strip() == media_type]
        return max(map(_quality, named), default=0.0)

    def query(self, kind: type[T]) -> T:
        """The query as a struct of this kind; Refusal when it has something else."""
        return read_query(self.request.query_params.multi_items(), kind)

    async def json(self, kind: type[T], default: T | None = None) -> T:
        """The body; `default` stands for an empty one, where it may be."""
        data = await self.data()
        if not data and default is not None:
            return default
        check_media_type(self.header("content-type"))
        return decoded(data, kind)

    async def data(self, limit: int | None = None, name: str = "REQUEST_BYTES_MAX") -> bytes:
        """The whole body, never more than the limit of this name in memory."""
        most = self.service.settings.request_bytes_max
        if limit is None or limit > most:
            limit, name = most, "REQUEST_BYTES_MAX"
        size, chunks = 0, []
        body = self.request.stream()
        declared = self.header("content-length") or ""
        if declared.isdecimal() and int(declared) > limit:
            await self._discard(body)
            raise too_large("the request", int(declared), limit=limit, name=name)
        async for chunk in body:
            size += len(chunk)
            if size > limit:
                await self._discard(body)
                raise too_large("the request", None, limit=limit, name=name)
            chunks.append(chunk)
        self._begin_timer()
        return b"".join(chunks)

    async def _discard(self, body: AsyncIterator[bytes]) -> None:
        """Read on for a while: who is cut off while sending never hears why."""
        if self.header("expect"):
            return  # whoever asks first sends nothing before our answer
        left = DISCARDED_BYTES_MAX
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCARDING_SECONDS_MAX):
                async for chunk in body:
                    left -= len(chunk)
                    if left < 0:
                        return

    async def row(self, name: str = "run") -> RunRow:
        """The run that the path names; Refusal when there is none, or its row is damaged."""
        return check_row(await self.run_row(self.path(name)))

    async def run_row(self, said: str) -> RunRow:
        run = run_id(said)
        row = None if run is None else await self.engine.database.archive.run(run)
        if row is None:
            raise Refusal("not-found", f"there is no run {said[:40]}")
        return row


Act = Callable[[Asked], Awaitable[Reply | Response]]


class Endpoint(Struct, frozen=True):
    """`answers` has the type of the JSON by status, None where there is none.

    `forms` are the media types of an answer. `refusals` are the kinds of problems besides those
    that every request can meet. `is_open`: whoever asks needs no token.
    """

    method: str
    path: str
    act: Act
    summary: str
    tag: str
    answers: Mapping[int, Any]
    body: Any = None
    has_optional_body: bool = False
    query: type[Struct] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    refusals: tuple[str, ...] = ()
    forms: tuple[str, ...] = (JSON,)
    is_open: bool = False


def _quality(part: str) -> float:
    """The `q` of one form in an Accept header; what makes no sense takes nothing away."""
    found = _QUALITY.search(part)
    return float(found[1]) if found is not None else 1.0


def run_id(text: str) -> RunId | None:
    """The id that is written so; None when there can be none."""
    if not (text.isascii() and text.isdigit() and len(text) <= RUN_ID_DIGITS_MAX):
        return None
    return RunId(int(text)) if int(text) <= RUN_ID_MAX else None


def run_asked(text: str | None) -> RunId | None:
    """The run that a query names; Refusal when no run can have this id."""
    if text is None:
        return None
    run = run_id(text)
    if run is None:
        raise Refusal(
            "bad-request", f"the query names the run {text[:40]!r}, which is no id of one"
        )
    return run


def read_query(items: Iterable[tuple[str, str]], kind: type[T]) -> T:
    lists = {
        one.encode_name
        for one in msgspec.structs.fields(kind)  # type: ignore[arg-type]
        if _is_list(one.type)
    }
    found: dict[str, Any] = {}
    for name, value in items:
        if name in lists:
            found.setdefault(name, []).append(value)
        elif name in found:
            raise Refusal("bad-request", f"the query has {name[:40]!r} twice; once is enough")
        else:
            found[name] = value
    try:
        return msgspec.convert(found, kind, strict=False)
    except msgspec.ValidationError as error:
        choices = choices_for(str(error), kind)
        raise Refusal("bad-request", f"the query cannot be used: {error}{choices}") from None


def _is_list(kind: Any) -> bool:
    """Whether a field takes a word more than once; a list may have limits around it."""
    origin = getattr(kind, "__origin__", None)
    return origin is list or getattr(origin, "__origin__", None) is list


def check_media_type(said: str | None) -> None:
    """Refusal when a body says that it is something else than JSON."""
    media_type = (said or JSON).partition(";")[0].strip().lower()
    if media_type != JSON and not media_type.endswith("+json"):
        detail = f"the body is {media_type[:80]!r}. Send JSON, with `Content-Type: {JSON}`."
        raise Refusal("not-json", detail)


def decoded(data: bytes, kind: type[T]) -> T:
    """A JSON body of this kind; Refusal when it is none."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        choices = choices_for(str(error), kind)
        raise Refusal("bad-request", f"the body cannot be used: {error}{choices}") from None
    except RecursionError:
        raise Refusal("bad-request", "the body is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Refusal("bad-request", f"the body is not JSON: {error}") from None


def routes_of(endpoints: Iterable[Endpoint], service: Service) -> list[Route]:
    """One route for each path, so that a wrong method is told all right ones."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    return [_route(path, methods, service) for path, methods in by_path.items()]


def _route(path: str, methods: Mapping[str, Endpoint], service: Service) -> Route:
    return Route(path, _Place(methods, service), methods=list(methods))


class _Place(Struct, frozen=True):
    """What one path answers, by method. Raises nothing, so that nothing need stand around it."""

    methods: Mapping[str, Endpoint]
    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        endpoint = self.methods["GET" if method == "HEAD" else method]
        answer = await answered(endpoint.act, Asked(Request(scope, receive), self.service))
        await answer(scope, receive, send)


async def answered(act: Act, asked: Asked) -> Response:
    """The answer, or the problem that came in its way."""
    try:
        reply = await asked.answer(act)
    except Refusal as refusal:
        return problem_response(refusal)
    except EngineBug as error:
        return problem_response(_logged(error, asked))
    except StoreError as error:
        if isinstance(error, DamagedRun):
            asked.engine.damages.keep(error)
        log_refusal(error, _name(asked), asked.service)
        return problem_response(refusal_of(error))
    except AnewError as error:
        return problem_response(refusal_of(error))
    except ClientDisconnect:
        return Response(status_code=400)  # nobody hears it
    except Exception as error:
        return problem_response(_logged(error, asked))
    return reply if isinstance(reply, Response) else json_response(reply)


def json_response(reply: Reply) -> Response:
    content = msgspec.json.encode(reply.content)
    return Response(content, reply.status, dict(reply.headers), media_type=JSON)


def _logged(error: Exception, asked: Asked) -> Refusal:
    """The log of the server is told; the caller hears nothing of it."""
    log_failure(error, _name(asked), asked.service)
    return broken()


def _name(asked: Asked) -> str:
    """What was asked, without anything the caller made up."""
    return f"{asked.request.method} {asked.request.scope['route'].path}"


def log_failure(error: Exception, what: str, service: Service) -> None:
    """Write down a mistake of ours, without secrets."""
    text = "".join(traceback.format_exception(error))
    _LOG.error("%s failed: %s", what, service.engine.keychain.redactor.redact_text(text))


def log_refusal(error: StoreError, what: str, service: Service) -> None:
    """Write down what the database said: callers are not told where it is. Races are no news."""
    if refusal_of(error).kind == "unavailable":
        said = service.engine.keychain.redactor.redact_text(str(error))
        _LOG.error("%s: %s", what, said)
