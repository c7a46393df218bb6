"""Runs as lists show them, which of them are asked for, and what groups they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus, state_of
from anew.store.jobs import JobRef, JobRow, RunId
from anew.values import Object

# Keys that begin so were made because nobody gave one. They are not shown, nor searched.
HIDDEN_KEYS = "asked:"
# A problem of more programs than these is no problem of theirs.
PROGRAMS_OF_FAILURE_MAX = 20


class RunRow(Struct, frozen=True):
    """One run as lists show it.

    `error_kind` and `fingerprint` are there once it has failed; not at once where an older version
    of Anew wrote that. `open` is the job that says most: the lowest rank, then the one due first.
    `retried_as` is the newest run that takes it up. `damage` says what of the row cannot be read.
    """

    run: RunId
    program: str
    digest: str
    status: RunStatus
    version: int
    created_at: int
    updated_at: int
    ended_at: int | None
    error: Object | None
    key: str | None
    labels: Mapping[str, str]
    parent: JobRef | None
    depth: int
    error_kind: str | None = None
    fingerprint: str | None = None
    open: JobRow | None = None
    retried_as: RunId | None = None
    damage: str | None = None

    @property
    def state(self) -> DetailedStatus:
        """How it stands."""
        rank = self.open.rank if self.open is not None else None
        return state_of(self.status, error_kind=self.error_kind, rank=rank)


class RunFilter(Struct, frozen=True, forbid_unknown_fields=True):
    """Which runs to list, newest first. `before` is a cursor: older than this run.

    They began at `since` or later, and before `until`. `attempt_min`: a job of it is at this
    attempt or a later one. `due_before`: a retry of it is due by then. `text` is in its id, its
    program, its key, its labels or the message of its error; A to Z and a to z are alike.
    `is_child`: it has a parent. `is_delayed`: a job of it waits for the moment of a retry or a
    sleep. `is_retried`: whether another run takes it up.
    """

    statuses: Sequence[RunStatus] = ()
    program: str | None = None
    retrying: bool = False
    since: int | None = None
    parent: RunId | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    before: RunId | None = None
    limit: int = 50
    states: Sequence[DetailedStatus] = ()
    digests: Sequence[str] | None = None
    runs: Sequence[RunId] | None = None
    until: int | None = None
    attempt_min: int | None = None
    due_before: int | None = None
    error_kind: str | None = None
    fingerprint: str | None = None
    text: str | None = None
    is_child: bool = False
    is_delayed: bool = False
    is_retried: bool | None = None


class RunPoint(Struct, frozen=True):
    """One run among very many."""

    run: RunId
    created_at: int
    ended_at: int | None
    state: DetailedStatus


class FailureFilter(Struct, frozen=True):
    """Which failed runs to group: those that ended at `since` or later, and before `until`.

    Those that were retried are counted apart, and are in their group only if `with_retried`.
    """

    since: int | None = None
    until: int | None = None
    program: str | None = None
    limit: int = 50
    with_retried: bool = False


class FailedRunGroup(Struct, frozen=True):
    """The failed runs with one fingerprint; `message` is that of the `newest`, which ended last.

    `dead` of them were given up because workers died over them. `retried` tells of all that were
    asked for, in the group or not, how many another run takes up.
    """

    fingerprint: str
    kind: str
    message: str
    programs: Sequence[str]
    count: int
    dead: int
    first_at: int
    last_at: int
    newest: RunId
    retried: int = 0
