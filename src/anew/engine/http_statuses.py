"""What HTTP statuses are called, and which kind of error each is.

Our own table: servers may send any phrase or, since HTTP/2, none, and authors look for these words
in messages.
"""

from __future__ import annotations

from collections.abc import Mapping

# RFC 9110, and what the registry of statuses has beside it. Below 300 nothing is an error.
_PHRASES: Mapping[int, str] = {
    300: "Multiple Choices",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    304: "Not Modified",
    305: "Use Proxy",
    307: "Temporary Redirect",
    308: "Permanent Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    407: "Proxy Authentication Required",
    408: "Request Timeout",
    409: "Conflict",
    410: "Gone",
    411: "Length Required",
    412: "Precondition Failed",
    413: "Content Too Large",
    414: "URI Too Long",
    415: "Unsupported Media Type",
    416: "Range Not Satisfiable",
    417: "Expectation Failed",
    418: "I'm a Teapot",
    421: "Misdirected Request",
    422: "Unprocessable Content",
    423: "Locked",
    424: "Failed Dependency",
    425: "Too Early",
    426: "Upgrade Required",
    428: "Precondition Required",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    451: "Unavailable For Legal Reasons",
    500: "Internal Server Error",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
    506: "Variant Also Negotiates",
    507: "Insufficient Storage",
    508: "Loop Detected",
    510: "Not Extended",
    511: "Network Authentication Required",
}
# By the first digit, for a status that nobody has registered.
_CLASSES: Mapping[int, str] = {
    1: "Informational",
    3: "Redirection",
    4: "Client Error",
    5: "Server Error",
}
_KINDS: Mapping[int, str] = {401: "auth", 403: "auth", 404: "not_found", 429: "rate_limit"}


def http_status_text(status: int) -> str:
    """`HTTP 503 Service Unavailable`; by its class where nobody has named it."""
    phrase = _PHRASES.get(status) or _CLASSES.get(status // 100)
    return f"HTTP {status} {phrase}" if phrase else f"HTTP {status}"


def http_error_kind(status: int) -> str:
    """The kind of error an HTTP status outside 200–299 is."""
    if status >= 500:
        return "server_error"
    return _KINDS.get(status, "client_error")
