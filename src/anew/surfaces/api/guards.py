"""Who is let in, and what every answer says to browsers.

Plain ASGI around the whole application: what is refused here has reached no route.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anew.surfaces.api.problems import Refusal, problem_response
from anew.surfaces.api.settings import ApiSettings

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# As they go over the wire, where names are in small letters.
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# What a browser says of a request of our own page, or of one that a person typed.
_OWN_SITES = frozenset({"same-origin", "none"})


class Guard:
    """Asks for the token, or without one for a request that can only come from this machine."""

    def __init__(
        self, app: ASGIApp, *, settings: ApiSettings, is_open: Callable[[Scope], bool]
    ) -> None:
        self._app = app
        self._settings = settings
        self._is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", ())
                said = {name for name, _ in headers}
                ours = [header for header in _RAW_HEADERS if header[0] not in said]
                message["headers"] = [*headers, *ours]
            await send(message)

        refusal = self._refusal(scope)
        answer = self._app if refusal is None else problem_response(refusal)
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        token = self._settings.token
        count = len(headers.getlist("host"))
        # Those who look after a server's health in the old way name no host.
        if count > 1 or (count == 0 and (token is None or scope["http_version"] != "1.0")):
            return Refusal("bad-request", f"there are {count} Host headers; one is needed")
        if token is None:
            return self._foreign(headers, scope["method"])
        if self._is_open(scope) or _has_token(headers, token):
            return None
        detail = "send the server's token: `Authorization: Bearer …` (ANEW_TOKEN)"
        return Refusal("not-authenticated", detail, headers={"WWW-Authenticate": "Bearer"})

    def _foreign(self, headers: Headers, method: str) -> Refusal | None:
        """Without a token, a page from elsewhere could have a browser on this machine ask us."""
        host = headers["host"]
        if host_name(host) not in self._settings.hosts:
            return Refusal(
                "foreign-host", f"the Host header says {host[:80]!r}; ask by my own name"
            )
        if method in _SAFE_METHODS:
            return None
        # A page of another port of this machine is another's page, too.
        origin, own = headers.get("origin"), f"http://{host}"
        is_own = headers.get("sec-fetch-site", "none").lower() in _OWN_SITES
        if is_own and (origin is None or origin.lower() == own.lower()):
            return None
        page = repr(origin[:80]) if origin is not None else "another site"
        return Refusal("foreign-origin", f"a page of {page} may change nothing here")


def _has_token(headers: Headers, token: str) -> bool:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    # Compared in full, so that the time it takes tells nothing of how much was right.
    is_same = hmac.compare_digest(given.strip().encode(), token.encode())
    return scheme.lower() == "bearer" and is_same


def host_name(authority: str) -> str:
    """The host of `host:port`, in small letters; of an IPv6 address without its brackets."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0].lower()
    return authority.partition(":")[0].lower()
