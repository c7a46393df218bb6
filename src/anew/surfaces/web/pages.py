"""Answers a browser with the page, at every address that the page has.

Some of these addresses answer programs as well: there a browser is told by what it accepts. The
page itself holds nothing of anyone, so it asks for no token; what it shows it gets from the API,
which does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from anew.surfaces.web.files import INDEX, File, built_files

# The areas of the page, as `web/src/App.tsx` has them.
_AREAS = re.compile(r"/(?:runs(?:/[^/]*)?|programs(?:/.*)?|failures|people|workers)?")
_METHODS = frozenset({"GET", "HEAD"})
_HTML = "text/html"

# Scripts, styles and data of this server only, nothing written into the page, no frame around it.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
_NOT_BUILT = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Anew</title>
<h1>The page is not part of this installation</h1>
<p>The server works: the command line and the HTTP API have everything the page shows.
In a checkout of Anew, <code>make web</code> builds the page; start the server again after that.</p>
</html>
"""


class Pages(BaseRoute):
    """One route for all of the page: its files, and its addresses when a browser asks."""

    def __init__(self, files: Mapping[str, File] | None = None) -> None:
        self._files = _read_once() if files is None else files

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        is_ours = self.is_for(scope)
        return (Match.FULL, {"endpoint": self}) if is_ours else (Match.NONE, {})

    def is_for(self, scope: Scope) -> bool:
        """Whether this is a request for the page, or for a file of it."""
        if scope["type"] != "http" or scope["method"] not in _METHODS:
            return False
        path = scope["path"]
        if path in self._files and path != INDEX:
            return True
        return _AREAS.fullmatch(path) is not None and _is_browser(Headers(scope=scope))

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        file = self._files.get(scope["path"]) or self._files.get(INDEX)
        response = _not_built() if file is None else _answer(file, Headers(scope=scope))
        await response(scope, receive, send)


@cache
def _read_once() -> dict[str, File]:
    return built_files()


def _is_browser(headers: Headers) -> bool:
    """Whoever asks for HTML by name; what only takes anything is a program."""
    accepted = headers.get("accept", "").lower().split(",")
    return any(part.partition(";")[0].strip() == _HTML for part in accepted)


def _answer(file: File, asked: Headers) -> Response:
    headers = {
        "Cache-Control": file.cache,
        "Content-Security-Policy": POLICY,
        "ETag": file.etag,
        # The same address answers programs with JSON, and the same file packed or not.
        "Vary": "Accept, Accept-Encoding",
    }
    if asked.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    data = file.data
    if file.packed is not None and "gzip" in asked.get("accept-encoding", ""):
        data, headers["Content-Encoding"] = file.packed, "gzip"
    return Response(data, media_type=file.media_type, headers=headers)


def _not_built() -> Response:
    return Response(_NOT_BUILT, 503, media_type=_HTML)
