"""Answers a browser with the page, at every address that the page has.

Some of these addresses answer programs as well: there a browser is told by what it accepts. At an
address that nobody has, a browser gets the page too, which says so, with the status 404. The page
itself holds nothing of anyone, so it asks for no token; what it shows it gets from the API,
which does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from anew.surfaces.web.files import INDEX, File, built_files

# The areas of the page, as `web/src/App.tsx` has them.
_AREAS = re.compile(r"/(?:runs(?:/[^/]*)?|programs(?:/.*)?|failures|people|workers)?")
_METHODS = frozenset({"GET", "HEAD"})
_ROOT = "/"
# Whoever looks for something of the API hears from the API that there is nothing.
_API = "/api/"
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
    """One route for all of the page: its files, and its addresses when a browser asks.

    `is_taken` tells the paths that the API answers.
    """

    def __init__(
        self,
        files: Mapping[str, File] | None = None,
        *,
        is_taken: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._files = _read_once() if files is None else files
        self._is_taken = is_taken

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        is_ours = self.is_for(scope)
        return (Match.FULL, {"endpoint": self}) if is_ours else (Match.NONE, {})

    def is_for(self, scope: Scope) -> bool:
        """Whether this is a request for the page, or for a file of it."""
        if scope["type"] != "http" or scope["method"] not in _METHODS:
            return False
        path = scope["path"]
        # Programs have nothing at the root: whoever asks there gets the page.
        if path == _ROOT or (path in self._files and path != INDEX):
            return True
        if not _is_browser(Headers(scope=scope)):
            return False
        return _is_area(path) or not (path.startswith(_API) or self._is_taken(path))

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        file = self._files.get(path) or self._files.get(INDEX)
        if file is None:
            response = _not_built()
        elif path in self._files or _is_area(path):
            response = _answer(file, Headers(scope=scope))
        else:
            response = _answer(file, Headers(scope=scope), status=404)
        await response(scope, receive, send)


@cache
def _read_once() -> dict[str, File]:
    return built_files()


def _is_area(path: str) -> bool:
    return _AREAS.fullmatch(path) is not None


def _is_browser(headers: Headers) -> bool:
    """Whoever asks for HTML by name; what only takes anything is a program."""
    accepted = headers.get("accept", "").lower().split(",")
    return any(part.partition(";")[0].strip() == _HTML for part in accepted)


def _answer(file: File, asked: Headers, *, status: int = 200) -> Response:
    headers = {
        "Cache-Control": file.cache,
        "Content-Security-Policy": POLICY,
        "ETag": file.etag,
        # The same address answers programs with JSON, and the same file packed or not.
        "Vary": "Accept, Accept-Encoding",
    }
    if status == 200 and asked.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    data = file.data
    if file.packed is not None and "gzip" in asked.get("accept-encoding", ""):
        data, headers["Content-Encoding"] = file.packed, "gzip"
    return Response(data, status, media_type=file.media_type, headers=headers)


def _not_built() -> Response:
    return Response(_NOT_BUILT, 503, media_type=_HTML)
