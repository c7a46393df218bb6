"""Which error each way of failing is. Messages name the host, never a value of the author's."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator

import httpcore2
import httpx2

from anew.engine.outcome import error_of
from anew.tools.http.problems import AddressRefused, LimitPassed
from anew.tools.inputs import BadInput
from anew.values import Object

# The request itself is impossible; a host name with an empty label is a UnicodeError.
_UNSENDABLE = (
    httpx2.InvalidURL,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    httpcore2.LocalProtocolError,
    UnicodeError,
)
_TIMEOUTS = (httpx2.TimeoutException, httpcore2.TimeoutException)
_NETWORK = (
    httpx2.TransportError,
    httpx2.DecodingError,
    httpx2.StreamError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    OSError,
)
# What may end a call without being a mistake of ours.
FAILURES: tuple[type[Exception], ...] = (
    BadInput,
    LimitPassed,
    AddressRefused,
    *_UNSENDABLE,
    *_TIMEOUTS,
    *_NETWORK,
)
# An exception's chain of causes is walked no further than this.
_CAUSES = 20


def error_from(failure: Exception, what: str) -> Object:
    """The error of a call that got no response; `what` is its method and place."""
    if isinstance(failure, BadInput):
        return error_of("config", str(failure))
    if isinstance(failure, LimitPassed):
        return error_of("limit_exceeded", f"{what}: {failure}")
    if isinstance(failure, AddressRefused):
        return error_of("config", f"{what}: {failure}")
    if isinstance(failure, _UNSENDABLE):
        why = "the host's name" if isinstance(failure, UnicodeError) else str(failure)
        return error_of("config", f"{what}: the request cannot be sent ({why})")
    if isinstance(failure, _TIMEOUTS):
        return error_of("timeout", f"{what}: {_timeout_words(failure)}")
    return _network_error(failure, what)


def _timeout_words(failure: Exception) -> str:
    if isinstance(failure, (httpx2.ConnectTimeout, httpcore2.ConnectTimeout)):
        return "no connection within `connect` of the timeout"
    if isinstance(failure, (httpx2.PoolTimeout, httpcore2.PoolTimeout)):
        return "no free connection in time"
    return "nothing came within `read` of the timeout"


def _network_error(failure: Exception, what: str) -> Object:
    for cause in _causes(failure):
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = cause.verify_message or "it cannot be verified"
            remedy = "`verify` may name a file with the right CA"
            message = f"{what}: the server's certificate is not trusted ({why}); {remedy}"
            # A certificate does not heal between two attempts.
            return error_of("connection", message) | {"retryable": False}
        if isinstance(cause, socket.gaierror):
            return error_of("connection", f"{what}: the name of the host cannot be resolved")
    return error_of("connection", f"{what}: {_words(failure)}")


def _words(failure: Exception) -> str:
    """What the system said went wrong, else what the library did."""
    for cause in _causes(failure):
        if isinstance(cause, ssl.SSLError):
            return f"TLS failed ({cause.reason or 'no reason given'})"
        if isinstance(cause, OSError) and cause.errno is not None:
            return os.strerror(cause.errno).lower()
    if isinstance(failure, httpx2.DecodingError):
        return "the body is not compressed as its header says"
    return str(failure) or "the connection was lost"


def _causes(failure: BaseException) -> Iterator[BaseException]:
    """The failure and what led to it, nearest first."""
    waiting: list[BaseException] = [failure]
    for _ in range(_CAUSES):
        if not waiting:
            return
        found = waiting.pop(0)
        yield found
        if isinstance(found, BaseExceptionGroup):
            waiting.extend(found.exceptions)
        following = found.__cause__ or found.__context__
        if following is not None:
            waiting.append(following)
