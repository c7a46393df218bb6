"""Count what was answered, and log it where that is wanted.

Counted by the path as the routes write it. The log has neither queries nor headers: people put
secrets there.
"""

from __future__ import annotations

import logging
import re
import time

from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anew.surfaces.api.metrics import Metrics

_LOG = logging.getLogger("anew.requests")
# What no route answered is counted together: a stranger must not make up series.
NO_ROUTE = "-"
# The address of a webhook is as good as a token, also where someone misspelt the rest of it.
_SECRET_PATHS = re.compile(r"\bhooks\b", re.IGNORECASE)
_HIDDEN = "…"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class AccessLog:
    """Around everything else, so that what is refused is counted too."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, logs: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._logs = logs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope, message["status"], time.monotonic() - began)
            await send(message)

        await self._app(scope, receive, send_counted)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else NO_ROUTE
        route = scope.get("route")
        path = route.path if isinstance(route, Route) else NO_ROUTE
        self._metrics.requests.labels(method, path, str(status)).inc()
        if self._logs:
            where = logged_path(scope["path"])
            _LOG.info("%s %s %s %.1f ms", method, where, status, seconds * 1000)


def logged_path(path: str) -> str:
    """A path as the log shows it: on one line, and without what opens something."""
    found = _SECRET_PATHS.search(path)
    shown = path if found is None else path[: found.end()] + "/"
    return ascii(shown)[1:-1] + (_HIDDEN if found else "")
