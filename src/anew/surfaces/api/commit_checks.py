"""What comes from a worker elsewhere must be before it is written: readable, whole, and allowed.

A log is never changed, so what is wrong with an event has to be found before it is in one. Looks at
one commit or document alone: whether a lease is held and a version the newest is for the store,
and whether an event makes sense where it stands for whoever folds the log. A log that begins is
folded (`new_run_checks`); what is no commit and no program is for `input_checks`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from anew.engine.boundaries import FOLLOWING, ORDERED
from anew.engine.events import Event, RunCancelled, RunDone, RunFailed, RunRequested
from anew.engine.state import FINAL
from anew.errors import ConfigError
from anew.guards.state import decode_state
from anew.languages import digest_of, path_in
from anew.runtime.records import EVENTS_FOLDED_AT_ONCE
from anew.store import OPERATOR_SCOPE, GuardWrite, PackedCommit, PackedEvents, RunId, StoredProgram
from anew.stores.codec import decode_snapshot, snapshot_format
from anew.stores.damage import DamagedRun
from anew.stores.packing import unpack_events
from anew.surfaces.api.input_checks import check_document, check_moment
from anew.surfaces.api.new_run_checks import check_new_run
from anew.values import Object
from anew.weight import VALUE_DEPTH_MAX, problem_of

# More than this is looked at beside the event loop, which others wait for.
CHECKED_AT_ONCE_BYTES = 256 * 1024
# Nothing is visited, executed or tried more often; every reader can hold the number.
_COUNT_MAX = 2**31 - 1
_ENDS = frozenset({RunDone, RunFailed, RunCancelled})
_UNLEASED = ORDERED | FOLLOWING
_object_in = msgspec.json.Decoder(Object).decode


def check_commit(commit: PackedCommit) -> None:
    """ConfigError for a commit that must not become a part of its run."""
    run = commit.run
    if [row.seq for row in commit.rows] != list(range(commit.expected + 1, commit.version + 1)):
        raise ConfigError(f"the events of a commit of run {run} have gaps.")
    if commit.park is not None and commit.lease is None:
        raise ConfigError(f"a commit of run {run} suspends a job without its lease.")
    if commit.lease is not None and commit.lease.job.run != run:
        raise ConfigError(f"a commit of run {run} answers a lease of run {commit.lease.job.run}.")
    events = _events_in(commit)
    _check_moments(commit)
    _check_places(commit, events)
    _check_beginning(commit, events)
    _check_end(commit, events)
    if commit.new is not None:
        check_new_run(commit, commit.new, events)
    elif commit.lease is None:
        _check_unleased(commit, events)
    _check_error(commit)
    _check_snapshot(commit)
    check_guards(f"a commit of run {run}", commit.guards)


def check_guards(what: str, writes: Sequence[GuardWrite]) -> None:
    """ConfigError for a state that guards could not read."""
    for write in writes:
        try:
            if write.token is not None and write.scope != OPERATOR_SCOPE:
                decode_state(write.state)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ConfigError(
                f"{what} has a state of a guard that cannot be read: {error}"
            ) from None


def is_checked_at_once(commit: PackedCommit) -> bool:
    """Whether there is so little to look at that others need not mind."""
    if len(commit.rows) > EVENTS_FOLDED_AT_ONCE:
        return False
    size = sum(len(row.data) for row in commit.rows) + sum(len(one.data) for one in commit.blobs)
    return size <= CHECKED_AT_ONCE_BYTES


def _events_in(commit: PackedCommit) -> list[Event]:
    try:
        packed = PackedEvents(commit.rows, commit.blobs)
        events = unpack_events(commit.run, packed, after=commit.expected)
    except DamagedRun as damage:
        raise ConfigError(
            f"event {damage.seq} of a commit of run {commit.run} cannot be read: {damage.reason}. "
            "Use the same version of Anew on both sides."
        ) from damage
    texts = [row.data for row in commit.rows]
    texts += [blob.data.decode("utf-8", "replace") for blob in commit.blobs]
    for text in texts:
        _check_depth(commit.run, text)
    return events


def _check_depth(run: RunId, text: str) -> None:
    """Weigh only what could be too deep: to count characters takes next to nothing."""
    if text.count("[") + text.count("{") <= VALUE_DEPTH_MAX:
        return
    problem = problem_of(msgspec.json.decode(text), is_sealed=True)
    if problem is not None:
        raise ConfigError(f"an event of a commit of run {run} {problem}.")


def _check_moments(commit: PackedCommit) -> None:
    what = f"a commit of run {commit.run}"
    for at in (commit.at, commit.ended_at or 0, *(row.at for row in commit.rows)):
        check_moment(what, at)
    for job in commit.jobs:
        check_moment(what, job.due_at or 0)
        check_moment(what, job.taken_until or 0)
    if commit.park is not None:
        check_moment(what, commit.park.due_at or 0)


def _check_places(commit: PackedCommit, events: Sequence[Event]) -> None:
    """Visits and attempts count from 1, iterations from 0."""
    for event in events:
        visit, iteration, attempt = event.visit, event.iteration, event.attempt
        if visit is not None or iteration is not None or attempt is not None:
            _check_place(commit.run, _or_1(visit), iteration, _or_1(attempt))
    for job in commit.jobs:
        _check_place(commit.run, job.key.visit, job.key.iteration, job.attempt)
    if commit.park is not None:
        _check_place(commit.run, 1, None, commit.park.attempt)


def _or_1(number: int | None) -> int:
    return 1 if number is None else number


def _check_place(run: RunId, visit: int, iteration: int | None, attempt: int) -> None:
    is_place = 1 <= visit <= _COUNT_MAX and 0 <= (iteration or 0) <= _COUNT_MAX
    if not (is_place and 0 <= attempt <= _COUNT_MAX):
        raise ConfigError(
            f"a commit of run {run} names visit {visit}, iteration {iteration}, attempt {attempt}, "
            "which there cannot be."
        )


def _check_beginning(commit: PackedCommit, events: Sequence[Event]) -> None:
    """A log begins with whose it is, and nothing else says so."""
    for event in events:
        is_request = type(event) is RunRequested
        if is_request != (event.seq == 1):
            raise ConfigError(
                f"event {event.seq} of run {commit.run} is {event.name}; a log starts with "
                "run.requested, and has it once."
            )
        if isinstance(event, RunRequested) and event.run != str(commit.run):
            raise ConfigError(
                f"a commit of run {commit.run} starts with the request of run {event.run[:40]}."
            )
        if isinstance(event, RunRequested) and commit.new and event.digest != commit.new.digest:
            raise ConfigError(f"a commit of run {commit.run} names two programs.")


def _check_end(commit: PackedCommit, events: Sequence[Event]) -> None:
    """Lists show the head of a run: it must not say that the run has ended where it has not."""
    ends = [event.seq for event in events if type(event) in _ENDS]
    if ends not in ([], [commit.version]):
        raise ConfigError(f"run {commit.run} ends at event {ends[0]}, and continues after it.")
    is_final = commit.status in FINAL
    # Without events it answers the lease of a job whose run may have ended before.
    if events and is_final != bool(ends):
        raise ConfigError(
            f"a commit of run {commit.run} says {commit.status.value}, and its last event is "
            f"{events[-1].name}."
        )
    if commit.drop_all and not is_final:
        raise ConfigError(f"a commit of run {commit.run} takes the jobs of a run that continues.")


def _check_unleased(commit: PackedCommit, events: Sequence[Event]) -> None:
    """Who holds no lease may say what people want of a run, and what follows by itself."""
    run = commit.run
    if not events:
        raise ConfigError(f"a commit of run {run} has no event and no lease.")
    first, strange = events[0], [one for one in events if type(one) not in _UNLEASED]
    if type(first) not in ORDERED:
        strange.insert(0, first)
    if strange:
        raise ConfigError(
            f"a commit of run {run} writes {strange[0].name} without a lease. Only who holds the "
            "lease of a job can say what became of it."
        )
    if any(job.taken_until is not None for job in commit.jobs):
        raise ConfigError(f"a commit of run {run} takes a job without a lease of that run.")


def _check_error(commit: PackedCommit) -> None:
    if commit.error is None:
        return
    try:
        problem = problem_of(_object_in(commit.error), is_sealed=True)
    except (msgspec.DecodeError, RecursionError) as error:
        problem = f"cannot be read: {error}"
    if problem is not None:
        raise ConfigError(f"the error of a commit of run {commit.run} {problem}.")


def _check_snapshot(commit: PackedCommit) -> None:
    """One of another version is nobody's here; one of this version must be what it says."""
    kept = commit.snapshot
    if kept is None:
        return
    is_right = kept.version == commit.version
    if is_right and kept.format == snapshot_format():
        state = decode_snapshot(kept.format, kept.data)
        is_right = state is not None and state.version == commit.version
    if not is_right:
        raise ConfigError(f"the snapshot in a commit of run {commit.run} is not of its version.")


def checked_program(program: StoredProgram) -> StoredProgram:
    """The document with the path that is in it; ConfigError when the digest is not its own."""
    check_document(program)
    digest = digest_of(program.source, program.file, dialect=program.dialect, files=program.files)
    if digest != program.digest:
        raise ConfigError(
            f"program {program.name[:200]!r} was sent under the digest {program.digest[:80]!r}, "
            f"and its document has {digest}. Send it under its own."
        )
    return msgspec.structs.replace(program, path=path_in(program.source, program.file))
