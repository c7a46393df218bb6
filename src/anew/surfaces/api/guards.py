"""Who is let in, and what every answer says to browsers.

Plain ASGI around the whole application: what is refused here has reached no route.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anew.surfaces.api.failure_throttle import FailureThrottle
from anew.surfaces.api.host_header import host_of
from anew.surfaces.api.problems import ApiError, problem_response
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
_OWN_SITES = frozenset({b"same-origin", b"none"})


# What a request may say once: of two, another reader might believe the other.
_SINGLE = frozenset({b"host", b"authorization", b"origin", b"sec-fetch-site"})


class Guard:
    """Asks for the token, or without one for a request that can only come from this machine."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ApiSettings,
        throttle: FailureThrottle,
        is_open: Callable[[Scope], bool],
    ) -> None:
        self._app = app
        self._settings = settings
        self._throttle = throttle
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
        if isinstance(refusal, WrongToken):
            refusal = await held_back(refusal, scope, self._throttle)
        answer = self._app if refusal is None else problem_response(refusal)
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> ApiError | None:
        said: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in _SINGLE:
                if name in said:
                    word = name.decode().title()
                    return ApiError("bad-request", f"there are several {word} headers; send one")
                said[name] = value
        token = self._settings.token
        host = host_of(said[b"host"]) if b"host" in said else None
        # Those who look after a server's health in the old way name no host.
        is_hostless = b"host" not in said and token is not None and scope["http_version"] == "1.0"
        if host is None and not is_hostless:
            detail = "the Host header must name one host, as `name:port`, `address:port` or `name`"
            return ApiError("bad-request", detail)
        if token is None:
            return self._foreign(said, host or "", scope["method"])
        if self._is_open(scope):
            return None
        shown = said.get(b"authorization", b"")
        return None if _has_token(shown, token) else _unknown(shown)

    def _foreign(self, said: Mapping[bytes, bytes], host: str, method: str) -> ApiError | None:
        """Without a token, a page from elsewhere could have a browser on this machine ask us."""
        if host not in self._settings.hosts:
            return ApiError(
                "foreign-host", f"the Host header says {host!r}; use the server's own name"
            )
        if method in _SAFE_METHODS:
            return None
        # A page of another port of this machine is another's page, too.
        origin, own = said.get(b"origin"), b"http://" + said[b"host"]
        is_own = said.get(b"sec-fetch-site", b"none").lower() in _OWN_SITES
        if is_own and (origin is None or origin.lower() == own.lower()):
            return None
        page = repr(origin[:80].decode("latin-1")) if origin is not None else "another site"
        return ApiError("foreign-origin", f"a page of {page} may change nothing here")


class WrongToken(ApiError):
    """A token, or the signature of an address, that someone may be guessing."""


async def held_back(refusal: ApiError, scope: Scope, throttle: FailureThrottle) -> ApiError:
    """The refusal of a guess, once it may be given; another where too many wait."""
    client = scope.get("client")
    if await throttle.hold(client[0] if client else ""):
        return refusal
    detail = "too many wrong tokens were sent from your address. Wait a second, and try again"
    return ApiError("too-many-failures", detail, headers={"Retry-After": "1"})


def _has_token(shown: bytes, token: str) -> bool:
    scheme, _, given = shown.partition(b" ")
    # Compared in full, so that the time it takes tells nothing of how much was right.
    is_same = hmac.compare_digest(given.strip(), token.encode())
    return scheme.lower() == b"bearer" and is_same


def _unknown(shown: bytes) -> ApiError:
    detail = "send the server's token: `Authorization: Bearer …` (ANEW_TOKEN)"
    # Who shows nothing guesses nothing: that is how a page finds out that it has to ask.
    kind = WrongToken if shown.strip() else ApiError
    return kind("not-authenticated", detail, headers={"WWW-Authenticate": "Bearer"})
