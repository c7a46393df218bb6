"""Put the picture of a run together from what its log amounts to and what the store says of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from anew.engine.fingerprints import fingerprint_of
from anew.engine.moments import moment_text
from anew.store import JobRow, RunRow
from anew.views.context import context_of
from anew.views.lost import LostWorker
from anew.views.picture.bars import lanes_shown
from anew.views.picture.leaving_out import bounded, bounded_object
from anew.views.picture.shown import ChildShown, Pictured, VerdictShown
from anew.views.picture.states import state_of
from anew.views.picture.steps import graph_of_run
from anew.views.picture.tracing import Trace
from anew.views.picture.waits import waits_of
from anew.views.verdict import verdict

# Of the workload, of ctx and of the result, each; what is larger is in the log.
PICTURE_VALUE_BYTES_MAX = 64 * 1024
PICTURE_ERROR_BYTES_MAX = 16 * 1024


class PictureContext(Struct, frozen=True, kw_only=True):
    """What the log does not say: the run's row, its jobs and children, and which document it has.

    `now` is the moment the picture is of. With `is_past` that is the moment of its newest event:
    nothing is counted down, and of jobs nothing is known.
    """

    row: RunRow
    now: int
    is_past: bool = False
    jobs: Sequence[JobRow] = ()
    children: Sequence[RunRow] = ()
    lost: Sequence[LostWorker] = ()
    version: int | None = None
    file: str | None = None
    key: str | None = None


def pictured(trace: Trace, beside: PictureContext) -> Pictured:
    """The picture as of the newest event of the trace."""
    row, progress, state = beside.row, trace.progress, trace.state
    program, error = trace.program, trace.state.failure or trace.progress.error
    cause = state.cause
    end = progress.last_at if progress.is_final else max(beside.now, progress.last_at)
    waits, more_waits = waits_of(
        progress, now=beside.now, children=beside.children, is_past=beside.is_past
    )
    rules, more_rules = trace.rules.rows(program)
    ctx = context_of(program, progress.passage, state.ctx)
    return Pictured(
        run=str(row.run),
        program=row.program,
        digest=row.digest,
        version=beside.version,
        language=None if program is None else program.language,
        file=beside.file,
        status=state.status.value,
        state=state_of(progress, error),
        at=trace.version,
        events=max(row.version, trace.version),
        now=moment_text(beside.now),
        created_at=moment_text(row.created_at),
        updated_at=moment_text(progress.last_at),
        ended_at=moment_text(progress.last_at) if progress.is_final else None,
        key=beside.key,
        labels=dict(row.labels),
        parent=None if row.parent is None else str(row.parent.run),
        parent_step=None if row.parent is None else row.parent.key.step,
        continues=trace.continues,
        continued_as=progress.continued_as,
        shared_with=trace.shared_with,
        children=[_child(child) for child in beside.children],
        error=None if error is None else bounded_object(error, PICTURE_ERROR_BYTES_MAX),
        fingerprint=None if error is None else fingerprint_of(cause.error if cause else error),
        failed_step=cause.step if cause else progress.failed_step,
        verdict=_verdict(trace, beside),
        waits=waits,
        more_waits=more_waits,
        graph=graph_of_run(progress, trace.ways),
        lanes=lanes_shown(trace.drawing.lanes(end)),
        rules=rules,
        more_rules=more_rules,
        workload=bounded_object(state.workload, PICTURE_VALUE_BYTES_MAX),
        ctx=bounded_object(ctx, PICTURE_VALUE_BYTES_MAX),
        result=bounded(progress.result, PICTURE_VALUE_BYTES_MAX),
    )


def _verdict(trace: Trace, beside: PictureContext) -> VerdictShown:
    told = verdict(
        trace.progress,
        trace.state,
        now=beside.now,
        jobs=beside.jobs,
        children=beside.children,
        lost=beside.lost,
    )
    return VerdictShown(
        headline=told.headline,
        reason=told.reason,
        details=told.details,
        since=None if told.since is None else moment_text(told.since),
        until=None if told.until is None else moment_text(told.until),
    )


def _child(row: RunRow) -> ChildShown:
    place = row.parent.key if row.parent else None
    return ChildShown(
        run=str(row.run),
        program=row.program,
        status=row.status.value,
        step=place.step if place else None,
        visit=place.visit if place else None,
        iteration=place.iteration if place else None,
    )
