"""One row for each thing that can be asked: its path, what it takes, what it answers.

A handler's decorator is its row. The rows make both the routes and the OpenAPI description, so that
neither can lack what the other has. Here every way of going wrong becomes a problem.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from anew.errors import AnewError, EngineBug
from anew.store import StoreError
from anew.stores.damage import DamagedRun
from anew.surfaces.api.problems import ApiError, api_error_of, internal_error, problem_response
from anew.surfaces.api.request import JSON, ApiRequest
from anew.surfaces.api.service import Service

_LOG = logging.getLogger("anew.api")


class JsonResponse(Response):
    """JSON to answer with; msgspec writes it."""

    media_type = JSON

    def __init__(
        self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(msgspec.json.encode(content), status, headers)


Handler: TypeAlias = Callable[[ApiRequest], Awaitable[Response]]
Decorator: TypeAlias = Callable[[Handler], Handler]
Paths: TypeAlias = str | Iterable[str]


class Endpoint(Struct, frozen=True):
    """`answers` has the type of the JSON by status, None where there is none.

    `forms` are the media types of an answer. `problems` are the kinds that a request can meet
    besides those of every request. `is_open`: whoever asks needs no token.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    tag: str
    answers: Mapping[int, Any]
    body: Any = None
    has_optional_body: bool = False
    query: type[Struct] | None = None
    headers: Mapping[str, str] = {}
    problems: tuple[str, ...] = ()
    forms: tuple[str, ...] = (JSON,)
    is_open: bool = False


class Endpoints:
    """The rows of one module, in the order they are written there; its methods are decorators.

    Paths begin with `base`.
    """

    def __init__(self, tag: str, base: str = "/api/v1") -> None:
        self._tag = tag
        self._base = base
        self._rows: list[Endpoint] = []

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(self._rows)

    def get(self, paths: Paths, summary: str, shape: Any = None, **row: Any) -> Decorator:
        return self._add("GET", paths, summary, shape, **row)

    def post(self, paths: Paths, summary: str, shape: Any = None, **row: Any) -> Decorator:
        return self._add("POST", paths, summary, shape, **row)

    def delete(self, paths: Paths, summary: str, shape: Any = None, **row: Any) -> Decorator:
        return self._add("DELETE", paths, summary, shape, **row)

    def _add(
        self,
        method: str,
        paths: Paths,
        summary: str,
        shape: Any,
        *,
        status: int = 200,
        answers: Mapping[int, Any] | None = None,
        problems: tuple[str, ...] = (),
        **more: Any,
    ) -> Decorator:
        """`answers` where there is more than the one `status` with JSON of this `shape`.

        A path that names something may meet not-found, and a body may be too large or not JSON.
        """
        answers = {status: shape} if answers is None else answers

        def register(handler: Handler) -> Handler:
            for ending in [paths] if isinstance(paths, str) else paths:
                path = self._base + ending
                found = ("not-found",) if "{" in path else ()
                body = ("too-large", "not-json") if "body" in more else ()
                every = tuple(dict.fromkeys((*found, *body, *problems)))
                row = Endpoint(
                    method, path, handler, summary, self._tag, answers, problems=every, **more
                )
                self._rows.append(row)
            return handler

        return register


def routes_of(endpoints: Iterable[Endpoint], service: Service) -> list[Route]:
    """One route for each path, so that a wrong method is told all right ones."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    return [
        Route(path, _PathApp(methods, service), methods=list(methods))
        for path, methods in by_path.items()
    ]


class _PathApp(Struct, frozen=True):
    """What one path answers, by method. Raises nothing, so that nothing need stand around it."""

    methods: Mapping[str, Endpoint]
    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        endpoint = self.methods["GET" if method == "HEAD" else method]
        request = ApiRequest(Request(scope, receive), self.service)
        response = await _response(endpoint.handler, request)
        await response(scope, receive, send)


async def _response(handler: Handler, request: ApiRequest) -> Response:
    """The answer, or the problem that came in its way."""
    try:
        return await request.in_time(handler(request))
    except ApiError as error:
        return problem_response(error)
    except EngineBug as error:
        return _failed(error, request)
    except StoreError as error:
        if isinstance(error, DamagedRun):
            request.engine.damages.keep(error)
        log_unavailable(error, request.name, request.service)
        return problem_response(api_error_of(error))
    except AnewError as error:
        return problem_response(api_error_of(error))
    except ClientDisconnect:
        return Response(status_code=400)  # nobody receives it
    except Exception as error:
        return _failed(error, request)


def _failed(error: Exception, request: ApiRequest) -> Response:
    """The server's log has the cause; the caller does not."""
    log_failure(error, request.name, request.service)
    return problem_response(internal_error())


def log_failure(error: Exception, what: str, service: Service) -> None:
    """Log a mistake of ours, without secrets."""
    text = "".join(traceback.format_exception(error))
    _LOG.error("%s failed: %s", what, service.engine.keychain.redactor.redact_text(text))


def log_unavailable(error: StoreError, what: str, service: Service) -> None:
    """Log what the database said: callers must not learn where it is. Races are not logged."""
    if api_error_of(error).kind == "unavailable":
        text = service.engine.keychain.redactor.redact_text(str(error))
        _LOG.error("%s: %s", what, text)
