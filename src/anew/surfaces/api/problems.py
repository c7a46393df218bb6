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
from anew.runtime.engine import WorkloadTooLarge
from anew.runtime.keys import KeyInUse
from anew.store import KeyTaken, StaleLease, StaleVersion, StoreError
from anew.stores.damage import DamagedRun
from anew.views.findings import finding_row, in_file_order

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:anew:problem:"


class Kind(Struct, frozen=True):
    status: int
    title: str


KINDS: dict[str, Kind] = {
    "bad-request": Kind(400, "The request cannot be used"),
    "not-authenticated": Kind(401, "A token is needed"),
    "foreign-origin": Kind(403, "This page may not ask this server"),
    "not-found": Kind(404, "There is no such thing"),
    "method-not-allowed": Kind(405, "That cannot be done here"),
    "not-acceptable": Kind(406, "There is no answer in that form"),
    "too-slow": Kind(408, "The request did not come in time"),
    "conflict": Kind(409, "It does not fit what is there"),
    "damaged-run": Kind(409, "The run is damaged"),
    "too-large": Kind(413, "The request is too large"),
    "not-json": Kind(415, "The body is not JSON"),
    "foreign-host": Kind(421, "This server has another name"),
    "bad-document": Kind(422, "The document has errors"),
    "unfit-answer": Kind(422, "The answer fits no open question"),
    "too-many-failures": Kind(429, "Too many wrong tokens"),
    "headers-too-large": Kind(431, "The headers are too large"),
    "engine-bug": Kind(500, "The engine made a mistake"),
    "unavailable": Kind(503, "It cannot be done now"),
}


class Refusal(Exception):
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


def problem_response(refusal: Refusal) -> Response:
    kind = KINDS[refusal.kind]
    problem = {
        "type": TYPE_PREFIX + refusal.kind,
        "title": kind.title,
        "status": kind.status,
        "detail": refusal.detail,
        **refusal.more,
    }
    headers = dict(refusal.headers or {})
    return Response(msgspec.json.encode(problem), kind.status, headers, media_type=MEDIA_TYPE)


def refusal_of(error: AnewError) -> Refusal:
    """What to tell of an error that Anew raised on purpose."""
    match error:
        case ProgramError():
            return bad_document(error)
        case KeyTaken():
            return Refusal("conflict", str(error), run=str(error.run))
        case StaleVersion() | StaleLease():
            return Refusal("conflict", "the run has moved on meanwhile. Ask again.")
        case DamagedRun():
            run, event = str(error.run), error.seq or None
            return Refusal("damaged-run", str(error), run=run, event=event, reason=error.reason)
        case StoreError():
            # The text of the error has paths, hosts or SQL; the server's log has the text.
            detail = "the database cannot do this now. Ask again; the log of the server says why."
            return Refusal("unavailable", detail, headers={"Retry-After": "1"})
        case KeyInUse():
            return Refusal("conflict", str(error))
        case WorkloadTooLarge(size=size, limit=limit):
            return too_large("the workload", size, limit=limit, name="ANEW_PAYLOAD_BYTES_MAX")
        case ConfigError():
            return Refusal("bad-request", str(error))
        case EngineBug():
            return broken()
        case _:
            return Refusal("bad-request", str(error))


def bad_document(error: ProgramError) -> Refusal:
    rows = [finding_row(found) for found in in_file_order(error.findings)]
    return Refusal("bad-document", str(error) or "the document has errors", findings=rows)


def broken() -> Refusal:
    """For what is our fault; its cause is in the server's log only."""
    return Refusal("engine-bug", "the server failed over this request. Its log tells why.")


def stopping() -> Refusal:
    """For whoever a server that stops has no time for any more."""
    detail = "the server is stopping. Ask again, or ask another."
    return Refusal("unavailable", detail, headers={"Retry-After": "1"})


def too_large(what: str, size: int | None, *, limit: int, name: str) -> Refusal:
    """413: which limit, how large it is, and how large this was if that is known."""
    found = "more" if size is None else f"{size:,} bytes"
    detail = f"{what} has {found}; the limit ({name}) is {limit:,} bytes"
    return Refusal("too-large", detail, headers={"Connection": "close"}, limit=limit, name=name)


def statuses(kinds: Sequence[str]) -> list[int]:
    return sorted({KINDS[kind].status for kind in kinds})
