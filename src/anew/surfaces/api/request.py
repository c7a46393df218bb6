"""One HTTP request as a handler sees it: its path, query, headers, body, and the run it names.

Everything is read against its limits, and what cannot be used becomes a problem. Knows nothing of
routes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request

from anew.runtime.damage import check_row
from anew.runtime.engine import Engine
from anew.runtime.ids import RUN_ID_DIGITS_MAX, RUN_ID_MAX
from anew.store import RunId, RunRow
from anew.surfaces.api.allowed_values import allowed_values
from anew.surfaces.api.problems import ApiError, too_large
from anew.surfaces.api.service import Service
from anew.surfaces.api.settings import STORE_SECONDS_MAX

JSON = "application/json"
_QUALITY = re.compile(r";\s*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)")

# How much of a body that is too large is read and thrown away, and for how long.
DISCARDED_BYTES_MAX = 64 * 1024 * 1024
DISCARDING_SECONDS_MAX = 10.0

T = TypeVar("T")


class ApiRequest:
    """A request, and the service that answers it. `http` is the request as Starlette has it."""

    def __init__(self, http: Request, service: Service) -> None:
        self.http = http
        self.service = service
        self._timer = asyncio.timeout(None)

    async def in_time(self, answer: Awaitable[T]) -> T:
        """The answer; ApiError when the database takes longer than anybody would wait.

        How long a body takes to arrive does not count.
        """
        try:
            async with self._timer:
                if self.http.method in ("GET", "HEAD"):
                    self._start_timer()
                return await answer
        except TimeoutError:
            if not self._timer.expired():
                raise
            detail = f"the database gave no answer within {STORE_SECONDS_MAX:g} s"
            raise ApiError("unavailable", detail, headers={"Retry-After": "1"}) from None

    def _start_timer(self) -> None:
        self._timer.reschedule(asyncio.get_running_loop().time() + STORE_SECONDS_MAX)

    @property
    def engine(self) -> Engine:
        return self.service.engine

    @property
    def name(self) -> str:
        """What was asked, without anything the caller made up."""
        return f"{self.http.method} {self.http.scope['route'].path}"

    def path(self, name: str) -> str:
        return str(self.http.path_params[name])

    def header(self, name: str) -> str | None:
        return self.http.headers.get(name)

    def accepts(self, media_type: str) -> bool:
        """Whether the Accept header names this media type."""
        return self.quality_of(media_type) > 0

    def quality_of(self, media_type: str) -> float:
        """How much the Accept header prefers this media type, from 0 to 1."""
        parts = (self.header("accept") or "").lower().split(",")
        named = [part for part in parts if part.partition(";")[0].strip() == media_type]
        return max(map(_quality, named), default=0.0)

    def query(self, kind: type[T]) -> T:
        """The query as a struct of this kind; ApiError when it has something else."""
        return read_query(self.http.query_params.multi_items(), kind)

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
        body = self.http.stream()
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
        self._start_timer()
        return b"".join(chunks)

    async def _discard(self, body: AsyncIterator[bytes]) -> None:
        """Read on for a while: who is cut off while sending never learns why."""
        if self.header("expect"):
            return  # whoever asks first sends nothing before our answer
        left = DISCARDED_BYTES_MAX
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCARDING_SECONDS_MAX):
                async for chunk in body:
                    left -= len(chunk)
                    if left < 0:
                        return

    async def run(self, name: str = "run") -> RunRow:
        """The run that the path names; ApiError when there is none, or its row is damaged."""
        return check_row(await self.find_run(self.path(name)))

    async def find_run(self, text: str) -> RunRow:
        run = run_id(text)
        row = None if run is None else await self.engine.database.archive.run(run)
        if row is None:
            raise ApiError("not-found", f"there is no run {text[:40]}")
        return row


def _quality(part: str) -> float:
    """The `q` of one media type in an Accept header; one that makes no sense counts as 1."""
    found = _QUALITY.search(part)
    return float(found[1]) if found is not None else 1.0


def run_id(text: str) -> RunId | None:
    """The id that is written so; None when there can be none."""
    if not (text.isascii() and text.isdigit() and len(text) <= RUN_ID_DIGITS_MAX):
        return None
    return RunId(int(text)) if int(text) <= RUN_ID_MAX else None


def run_in_query(text: str | None) -> RunId | None:
    """The run that a query names; ApiError when no run can have this id."""
    if text is None:
        return None
    run = run_id(text)
    if run is None:
        detail = f"the query names the run {text[:40]!r}, which is not a run id"
        raise ApiError("bad-request", detail)
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
            raise ApiError("bad-request", f"the query has {name[:40]!r} twice; once is enough")
        else:
            found[name] = value
    try:
        return msgspec.convert(found, kind, strict=False)
    except msgspec.ValidationError as error:
        choices = allowed_values(str(error), kind)
        raise ApiError("bad-request", f"the query cannot be used: {error}{choices}") from None


def _is_list(kind: Any) -> bool:
    """Whether a field takes a word more than once; a list may have limits around it."""
    origin = getattr(kind, "__origin__", None)
    return origin is list or getattr(origin, "__origin__", None) is list


def is_json(content_type: str | None) -> bool:
    """Whether a body of this type is JSON; one that does not say is."""
    media_type = (content_type or JSON).partition(";")[0].strip().lower()
    return media_type == JSON or media_type.endswith("+json")


def check_media_type(content_type: str | None) -> None:
    """ApiError when a body says that it is something else than JSON."""
    if not is_json(content_type):
        media_type = (content_type or "").partition(";")[0].strip().lower()
        detail = f"the body is {media_type[:80]!r}. Send JSON, with `Content-Type: {JSON}`."
        raise ApiError("not-json", detail)


def text_of(data: bytes, what: str) -> str:
    """A body that is not JSON, as text; ApiError when it is neither JSON nor `what`."""
    try:
        return data.decode()
    except UnicodeError:
        raise ApiError("not-json", f"the body is neither JSON nor {what} in UTF-8") from None


def decoded(data: bytes, kind: type[T]) -> T:
    """A JSON body of this kind; ApiError when it is none."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        choices = allowed_values(str(error), kind)
        raise ApiError("bad-request", f"the body cannot be used: {error}{choices}") from None
    except RecursionError:
        raise ApiError("bad-request", "the body is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise ApiError("bad-request", f"the body is not JSON: {error}") from None
