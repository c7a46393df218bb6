"""The whole HTTP application: every route, behind the guard."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import Scope

from anew.runtime.engine import Engine
from anew.surfaces.aliases import attractor, noetl, noetl_catalog
from anew.surfaces.api import (
    actions,
    analyses,
    attempts,
    bulk,
    credentials,
    events,
    failures,
    forks,
    health,
    inspection,
    picture,
    programs,
    questions,
    run_changes,
    run_list,
    run_texts,
    runs,
    signals,
    workers,
)
from anew.surfaces.api.access_log import AccessLog
from anew.surfaces.api.control import ControlFirst, control_routes
from anew.surfaces.api.endpoint import Endpoint, Endpoints, JsonResponse, routes_of
from anew.surfaces.api.guards import Guard
from anew.surfaces.api.openapi import description
from anew.surfaces.api.problems import ApiError, internal_error, problem_response
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.service import Service
from anew.surfaces.api.settings import ApiSettings
from anew.surfaces.web.pages import Pages

_BY_STATUS = {404: "not-found", 405: "method-not-allowed", 406: "not-acceptable"}


_DESCRIPTION = Endpoints("server", base="")


@_DESCRIPTION.get("/openapi.json", "This description", dict)
async def _describe(_: ApiRequest) -> JsonResponse:
    return JsonResponse(description(ENDPOINTS))


ENDPOINTS: tuple[Endpoint, ...] = (
    # What ends in a fixed word comes before what takes any: it could be the id of a run.
    *run_list.ENDPOINTS,
    *run_changes.ENDPOINTS,
    *bulk.ENDPOINTS,
    *failures.ENDPOINTS,
    *runs.ENDPOINTS,
    *picture.ENDPOINTS,
    *attempts.ENDPOINTS,
    *run_texts.ENDPOINTS,
    *events.ENDPOINTS,
    *actions.ENDPOINTS,
    *forks.ENDPOINTS,
    *signals.ENDPOINTS,
    # Names may have slashes in them: what ends in a fixed word comes first.
    *analyses.ENDPOINTS,
    *inspection.ENDPOINTS,
    *programs.ENDPOINTS,
    *questions.ENDPOINTS,
    *workers.ENDPOINTS,
    *credentials.ENDPOINTS,
    *health.ENDPOINTS,
    # The paths of other engines, for the same runs and programs.
    *noetl.ENDPOINTS,
    *noetl_catalog.ENDPOINTS,
    *attractor.ENDPOINTS,
    *_DESCRIPTION,
)
_PATHS = [compile_path(row.path)[0] for row in ENDPOINTS]
_OPEN_PATHS = [compile_path(row.path)[0] for row in ENDPOINTS if row.is_open]


def create_app(engine: Engine, settings: ApiSettings) -> Starlette:
    """The application for one engine. `await app.state.service.close()` ends what waits in it."""
    service = Service(engine, settings)
    engine.keychain.hide(token=settings.token)
    [control] = control_routes(engine, service.dispatcher)
    pages = Pages(is_taken=_is_endpoint)

    def is_open(scope: Scope) -> bool:
        return pages.is_for(scope) or _is_open(scope["path"])

    app = Starlette(
        routes=[control, pages, *routes_of(ENDPOINTS, service)],
        middleware=[
            Middleware(AccessLog, metrics=service.metrics, logs=settings.logs),
            Middleware(Guard, settings=settings, throttle=service.throttle, is_open=is_open),
            Middleware(ControlFirst, route=control),
        ],
        exception_handlers={HTTPException: _refused, Exception: _broken},
    )
    # A path with a slash too many is another path; nobody is sent elsewhere.
    app.router.redirect_slashes = False
    app.state.service = service
    return app


def _is_endpoint(path: str) -> bool:
    return any(pattern.match(path) for pattern in _PATHS)


def _is_open(path: str) -> bool:
    return any(pattern.match(path) for pattern in _OPEN_PATHS)


async def _refused(request: Request, error: Exception) -> Response:
    """What the router itself refuses."""
    assert isinstance(error, HTTPException)
    kind = _BY_STATUS.get(error.status_code, "bad-request")
    detail = f"{request.method} {request.url.path[:200]}: {error.detail}"
    return problem_response(ApiError(kind, detail, headers=error.headers))


async def _broken(_: Request, error: Exception) -> Response:
    del error
    return problem_response(internal_error())
