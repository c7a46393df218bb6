"""What a remote database and its server say to each other: one POST per operation, in msgpack.

Both sides read this file and nothing else of each other. Events travel as they were written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import astuple

from anew.errors import AnewError, ConfigError, EngineBug
from anew.store import (
    FailureFilter,
    GuardWrite,
    JobRef,
    KeyTaken,
    Lease,
    NewArtifact,
    Notice,
    PackedCommit,
    PackedEvents,
    PackedRun,
    Presence,
    RunFilter,
    RunId,
    SealedCredential,
    StaleLease,
    StaleVersion,
    StoredProgram,
    StoreError,
)
from anew.stores.damage import DamagedRun

# Raise it when one side could misunderstand the other. Both must have the same.
PROTOCOL = 5
PATH = "/api/v1/control/"
MEDIA_TYPE = "application/msgpack"
PROTOCOL_HEADER = "anew-protocol"
# Sent along when an earlier try of the same request may have been heard.
REPEATED_HEADER = "anew-repeated"
# Comes with every answer: how far the server's notices had come when it was asked.
CURSOR_HEADER = "anew-notices"

# Of commits or runs in one request.
TOGETHER_MAX = 100
# What makes them a list.
LIST_BYTES = 3
# A commit holds the results of one turn; each may be kept apart as a blob, and a snapshot of all.
COMMIT_BYTES_MAX = 64 * 1024 * 1024
# Anything else: a document, the files it names, and a payload.
REQUEST_BYTES_MAX = 16 * 1024 * 1024
# Events that have more together come in several answers.
PAGE_BYTES_MAX = 16 * 1024 * 1024
# A page, and the largest event and the largest snapshot that a commit can hold besides.
ANSWER_BYTES_MAX = PAGE_BYTES_MAX + 2 * COMMIT_BYTES_MAX
# Proxies between the two often give up on a silent connection after 30 seconds.
WAIT_SECONDS_MAX = 25.0
# Of jobs, runs or events in one answer. Who wants more asks again.
ROWS_MAX = 1_000_000
# Of pools that one worker takes jobs of: each is looked for by itself.
POOLS_ASKED_MAX = 1_000
# Of runs that one request names, or of leases that it keeps.
RUNS_ASKED_MAX = 100_000
# What a column of every database can hold.
NUMBER_MAX = 2**63 - 1

Limit = Annotated[int, Meta(ge=0, le=ROWS_MAX)]
Seconds = Annotated[float, Meta(ge=0)]
Pools = Annotated[Sequence[str], Meta(max_length=POOLS_ASKED_MAX)]
Runs = Annotated[Sequence[RunId], Meta(max_length=RUNS_ASKED_MAX)]


class EmptyRequest(Struct, frozen=True):
    """For operations that need not be told anything."""


class Hello(Struct, frozen=True):
    """`boot` names this life of the server, `schema` the shape of the states it keeps."""

    protocol: int
    version: str
    schema: str
    boot: str
    now: int


class ErrorReply(Struct, frozen=True, omit_defaults=True, tag="Refusal"):
    """An error, instead of an answer. In a list of answers it is that of one."""

    kind: str
    message: str
    run: RunId | None = None


class RunRequest(Struct, frozen=True):
    run: RunId


class LoadRequest(Struct, frozen=True):
    run: RunId
    knows: str


class LoadedRun(Struct, frozen=True, tag="Loaded"):
    """A run up to `version`. Events that did not fit have to be asked for."""

    run: PackedRun
    version: int


class LeaseRequest(Struct, frozen=True):
    """`ticket` is the same when it is asked again: then it gets the same leases."""

    now: int
    until: int
    limit: Limit
    ticket: str
    pools: Pools | None = None
    runs: Runs | None = None
    wait_seconds: Seconds = 0.0


class TicketRequest(Struct, frozen=True):
    ticket: str


class ExtendRequest(Struct, frozen=True):
    leases: Annotated[Sequence[Lease], Meta(max_length=RUNS_ASKED_MAX)]
    until: int


class ExpiredRequest(Struct, frozen=True):
    now: int
    runs: Runs | None = None


class ReleaseRequest(Struct, frozen=True):
    lease: Lease
    due_at: int


class EventsRequest(Struct, frozen=True):
    run: RunId
    after: int
    limit: Limit


class PackedPage(Struct, frozen=True):
    """`is_cut`: there are more of those that were asked for."""

    events: PackedEvents
    is_cut: bool


class PruneRequest(Struct, frozen=True):
    ended_before: int
    limit: Limit


class TextRequest(Struct, frozen=True):
    """A key, a digest, a name or a path."""

    text: str


class LimitRequest(Struct, frozen=True):
    limit: Limit


class DigestsRequest(Struct, frozen=True):
    digests: Annotated[list[str], Meta(max_length=ROWS_MAX)]


class GuardsRequest(Struct, frozen=True):
    scopes: Annotated[list[str], Meta(max_length=POOLS_ASKED_MAX)]


class GuardWrites(Struct, frozen=True):
    writes: Annotated[Sequence[GuardWrite], Meta(max_length=POOLS_ASKED_MAX)]


class LoadsRequest(Struct, frozen=True):
    now: int


class ProgramRequest(Struct, frozen=True):
    name: str
    version: int | None = None


class StoredArtifactRequest(Struct, frozen=True):
    owner: str
    name: str
    version: int | None = None


class NoticesRequest(Struct, frozen=True):
    """`after` is a cursor; those from before are not told.

    `turns_only`: only of what `has_turned`. `runs`: only of these; None is all of them.
    """

    after: str
    wait_seconds: Seconds
    turns_only: bool = False
    runs: Runs | None = None


class NoticePage(Struct, frozen=True):
    cursor: str
    notices: list[Notice]


class OrderRequest(Struct, frozen=True):
    """`request` is JSON, and so is the answer. One `id` is obeyed once."""

    id: str
    request: bytes


# What each operation takes. What takes a list answers with one, in which there is an answer or a
# refusal for each; where all would be more than PAGE_BYTES_MAX, for the first of them.
OPERATIONS: dict[str, Any] = {
    "hello": EmptyRequest,
    "time": EmptyRequest,
    "order": OrderRequest,
    "notices": NoticesRequest,
    "store.commit": Annotated[list[PackedCommit], Meta(min_length=1, max_length=TOGETHER_MAX)],
    "store.load": Annotated[list[LoadRequest], Meta(min_length=1, max_length=TOGETHER_MAX)],
    "store.lease": LeaseRequest,
    "store.leave": TicketRequest,
    "store.extend": ExtendRequest,
    "store.expired": ExpiredRequest,
    "store.release": ReleaseRequest,
    "store.wake": JobRef,
    "archive.run": RunRequest,
    "archive.runs": RunFilter,
    "archive.run_of_key": TextRequest,
    "archive.events": EventsRequest,
    "archive.jobs": RunRequest,
    "archive.prune": PruneRequest,
    "archive.remove": RunRequest,
    "survey.counts": RunFilter,
    "survey.points": RunFilter,
    "survey.failures": FailureFilter,
    "survey.programs": LimitRequest,
    "survey.versions": DigestsRequest,
    "catalog.keep": StoredProgram,
    "catalog.register": StoredProgram,
    "catalog.get": TextRequest,
    "catalog.find": ProgramRequest,
    "catalog.at_path": TextRequest,
    "catalog.programs": EmptyRequest,
    "artifacts.put": NewArtifact,
    "artifacts.get": StoredArtifactRequest,
    "vault.seal": SealedCredential,
    "vault.sealed": TextRequest,
    "vault.names": EmptyRequest,
    "vault.forget": TextRequest,
    "guards.read": GuardsRequest,
    "guards.listed": LimitRequest,
    "guards.write": GuardWrites,
    "roster.beat": Presence,
    "roster.leave": TextRequest,
    "roster.workers": LimitRequest,
    "roster.loads": LoadsRequest,
    "roster.asking": LimitRequest,
}

# Those that bring the values of tasks.
_WITH_VALUES = ("store.commit", "artifacts.put")

# What those that take a list answer with.
COMMIT_ANSWERS = Annotated[list[ErrorReply | None], Meta(min_length=1)]
LOAD_ANSWERS = Annotated[list[LoadedRun | ErrorReply | None], Meta(min_length=1)]

# The first that fits says how an error travels. One that is asked again in vain has no 503.
STATUSES: tuple[tuple[type[AnewError], int], ...] = (
    (StaleVersion, 409),
    (StaleLease, 409),
    (KeyTaken, 409),
    (DamagedRun, 409),
    (StoreError, 503),
    (EngineBug, 500),
    (AnewError, 400),
)
_KINDS: dict[str, type[AnewError]] = {
    kind.__name__: kind for kind in (StaleVersion, StaleLease, StoreError, EngineBug)
}


def bytes_max(operation: str) -> int:
    """How much a request may hold."""
    return COMMIT_BYTES_MAX if operation in _WITH_VALUES else REQUEST_BYTES_MAX


def check_numbers(asked: Any) -> None:
    """ConfigError for a number that no database can hold, wherever in a request it is.

    What people send along (JSON, in texts and mappings) is theirs.
    """
    left = [asked]
    for one in left:
        # By exact type, the most frequent first: every commit comes along here.
        kind = type(one)
        if kind is int:
            _check_integer(one)
        elif kind is list or kind is tuple:
            left += one
        elif kind is float:
            _check_seconds(one)
        elif kind is not str and isinstance(one, Struct):
            left += astuple(one)


def _check_integer(number: int) -> None:
    if number > NUMBER_MAX:
        raise ConfigError(f"{number} is too large: numbers go up to {NUMBER_MAX}.")


def _check_seconds(number: float) -> None:
    if not isfinite(number):
        raise ConfigError(f"{number} is not a number of seconds.")


def refusal_of(error: AnewError) -> tuple[int, ErrorReply]:
    """The status of an error, and what to say."""
    kind, status = next(entry for entry in STATUSES if isinstance(error, entry[0]))
    run = error.run if isinstance(error, KeyTaken) else None
    return status, ErrorReply(kind.__name__, str(error), run)


def error_of(refusal: ErrorReply) -> AnewError:
    """The error again. What a server does not tell apart is for whoever asked to change."""
    if refusal.kind == KeyTaken.__name__ and refusal.run is not None:
        return KeyTaken(refusal.run)
    if refusal.kind == DamagedRun.__name__:
        return StoreError(refusal.message)
    return _KINDS.get(refusal.kind, ConfigError)(refusal.message)
