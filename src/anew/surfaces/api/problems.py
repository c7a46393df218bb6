"""What a refused request is told: RFC 9457 problem details, one kind for each thing gone wrong.

Nothing of the inside is told: no traceback, no path of the server, no secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response

from anew.errors import AnewError, ConfigError, EngineBug, ProgramError
from anew.http_server.connections import STOPPING
from anew.runtime.keys import KeyInUse
from anew.runtime.payloads import WorkloadTooLarge
from anew.runtime.program_names import PathOfSeveral, PathTaken
from anew.store import KeyTaken, StaleLease, StaleVersion, StoreError
from anew.stores.damage import DamagedRun
from anew.views.findings import finding_row, in_file_order

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:anew:problem:"


class ProblemKind(Struct, frozen=True):
    status: int
    title: str


KINDS: dict[str, ProblemKind] = {
    "bad-request": ProblemKind(400, "The request cannot be used"),
    "not-authenticated": ProblemKind(401, "A token is needed"),
    "foreign-origin": ProblemKind(403, "Requests from this page are not allowed"),
    "not-found": ProblemKind(404, "Not found"),
    "method-not-allowed": ProblemKind(405, "Method not allowed"),
    "not-acceptable": ProblemKind(406, "Not available in that format"),
    "too-slow": ProblemKind(408, "The request took too long to arrive"),
    "conflict": ProblemKind(409, "Conflict with the current state"),
    "damaged-run": ProblemKind(409, "The run is damaged"),
    "too-large": ProblemKind(413, "The request is too large"),
    "not-json": ProblemKind(415, "The body is not JSON"),
    "foreign-host": ProblemKind(421, "Wrong host name"),
    "bad-document": ProblemKind(422, "The document has errors"),
    "unfit-answer": ProblemKind(422, "The answer fits no open question"),
    "too-many-failures": ProblemKind(429, "Too many wrong tokens"),
    "headers-too-large": ProblemKind(431, "The headers are too large"),
    "engine-bug": ProblemKind(500, "Internal error"),
    "unavailable": ProblemKind(503, "Not available now"),
}


class ApiError(Exception):
    """A request that is not carried out; `more` are further members of the problem."""

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.headers = headers
        self.more = more

    @property
    def status(self) -> int:
        return KINDS[self.kind].status


def problem_response(error: ApiError) -> Response:
    kind = KINDS[error.kind]
    problem = {
        "type": TYPE_PREFIX + error.kind,
        "title": kind.title,
        "status": kind.status,
        "detail": error.detail,
        **error.more,
    }
    headers = dict(error.headers or {})
    return Response(msgspec.json.encode(problem), kind.status, headers, media_type=MEDIA_TYPE)


def api_error_of(error: AnewError) -> ApiError:
    """What to tell of an error that Anew raised on purpose."""
    match error:
        case ProgramError():
            return bad_document(error)
        case KeyTaken():
            return ApiError("conflict", str(error), run=str(error.run))
        case StaleVersion() | StaleLease():
            return ApiError("conflict", "the run has changed meanwhile. Try again.")
        case DamagedRun():
            run, event = str(error.run), error.seq or None
            return ApiError("damaged-run", str(error), run=run, event=event, reason=error.reason)
        case StoreError():
            # The text of the error has paths, hosts or SQL; the server's log has the text.
            detail = "the database cannot do this now. Try again; the log of the server says why."
            return ApiError("unavailable", detail, headers={"Retry-After": "1"})
        case KeyInUse() | PathTaken() | PathOfSeveral():
            return ApiError("conflict", str(error))
        case WorkloadTooLarge(size=size, limit=limit):
            return too_large("the input", size, limit=limit, name="ANEW_PAYLOAD_BYTES_MAX")
        case ConfigError():
            return ApiError("bad-request", str(error))
        case EngineBug():
            return internal_error()
        case _:
            return ApiError("bad-request", str(error))


def bad_document(error: ProgramError) -> ApiError:
    rows = [finding_row(found) for found in in_file_order(error.findings)]
    return ApiError("bad-document", str(error) or "the document has errors", findings=rows)


def internal_error() -> ApiError:
    """For what is our fault; its cause is in the server's log only."""
    return ApiError("engine-bug", "the server failed to answer this request. Its log says why.")


def stopping() -> ApiError:
    """For whoever a server that stops has no time for any more."""
    return ApiError(STOPPING.kind, STOPPING.detail, headers=STOPPING.headers)


def too_large(what: str, size: int | None, *, limit: int, name: str) -> ApiError:
    """413: which limit, how large it is, and how large this was if that is known."""
    found = "more" if size is None else f"{size:,} bytes"
    detail = f"{what} has {found}; the limit ({name}) is {limit:,} bytes"
    return ApiError("too-large", detail, headers={"Connection": "close"}, limit=limit, name=name)


def statuses(kinds: Sequence[str]) -> list[int]:
    return sorted({KINDS[kind].status for kind in kinds})
