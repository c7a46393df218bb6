"""Make a new run out of the beginning of another: plan where it is cut, then begin it.

A fork shares the log up to an event and may go on under another program or with a changed workload;
a retry is a fork before a step. The old run stays as it is. `planned` only reads, so that whoever
asks can be shown what a fork will do before there is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.fitting import Misfit, misfits_of
from anew.engine.fork_points import fork_point
from anew.engine.shared_logs import share_at
from anew.engine.state import RunState
from anew.errors import ConfigError
from anew.runtime.damage import check_row, folded, readable_log
from anew.runtime.families import existing_run
from anew.runtime.fork_points import events_before, step_to_retry
from anew.runtime.keys import KeyInUse
from anew.runtime.programs import Document, Programs
from anew.runtime.records import EVENTS_FOLDED_AT_ONCE
from anew.runtime.run_starts import RunStarter, Started
from anew.runtime.shared_history import SharedHistory
from anew.store import Archive, RunId
from anew.values import Object

Documents: TypeAlias = Callable[[str], Awaitable[Document]]  # by digest

_T = TypeVar("_T")

# Tell of which run another is the retry, or the fork.
RETRY_LABEL = "retry_of"
FORK_LABEL = "fork_of"
_MADE_LABELS = (RETRY_LABEL, FORK_LABEL)
UNFIT_REMEDY = "Fork it at an earlier event, or under a document that has what is live."


class Unfit(ConfigError):
    """A run cannot go on under another program from where it is cut."""

    def __init__(self, run: RunId, seq: int, misfits: Sequence[Misfit]) -> None:
        reasons = "; ".join(told_misfit(found) for found in misfits)
        super().__init__(
            f"run {run} cannot continue there from event {seq}: {reasons}. {UNFIT_REMEDY}"
        )
        self.misfits = tuple(misfits)


class ForkPoint(Struct, frozen=True):
    """Where a log is cut: after event `at`, or before a visit of `step`; else after the last.

    `seen` is how many events the log had for whoever wants the last. `is_failure`: before the step
    whose failure the run failed from, unless `step` is given.
    """

    at: int | None = None
    step: str | None = None
    visit: int | None = None
    seen: int | None = None
    is_failure: bool = False

    @property
    def is_latest(self) -> bool:
        """Whether the new run goes on from where the old one stands, at its own moment."""
        return self.at is None and self.step is None and not self.is_failure


class ForkRequest(Struct, frozen=True):
    """Which fork of `run` to make, under `document` where one is given.

    `workload` is laid over the run's own. `cancels`: end `run` once the fork is durable.
    """

    run: RunId
    where: ForkPoint = ForkPoint()
    document: Document | None = None
    workload: Object = field(default_factory=dict)
    key: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    cancels: bool = False


class ForkPlan(Struct, frozen=True):
    """A fork before there is one: the events it shares, and how the run stands after them.

    `asked` is the event that was named; `at` the one that the shared part ends with. `own` is the
    document of the run, `old` the one that decided the last shared event: the run may share the log
    of another itself.
    """

    log: Sequence[e.Event]
    where: ForkPoint
    asked: int
    at: int
    state: RunState
    own: Document
    old: Document
    new: Document
    misfits: list[Misfit]

    @property
    def is_moved(self) -> bool:
        """Whether it goes on under another program."""
        return self.own.program.digest != self.new.program.digest

    def history(
        self, run: RunId, reason: str, *, labels: Mapping[str, str], workload: Object
    ) -> SharedHistory:
        """What the new run begins with; Unfit when the new program cannot go on from there."""
        if self.misfits:
            raise Unfit(run, self.at, self.misfits)
        share = share_at(self.log, self.at)
        decided_by = share.decided_by
        if decided_by is None and (self.is_moved or workload):
            decided_by = self.own.program.digest
        return SharedHistory(
            self.log[: self.at],
            self.new,
            share.owner or str(run),
            reason,
            labels,
            is_moved=self.is_moved,
            workload=workload,
            decided_by=decided_by,
            is_latest=self.where.is_latest,
        )


async def planned(
    archive: Archive,
    documents: Documents,
    run: RunId,
    *,
    where: ForkPoint,
    new: Document | None = None,
) -> ForkPlan:
    """Where a fork of the run would be cut; ConfigError when it cannot be."""
    row = await existing_run(archive, run)
    own, found = await documents(row.digest), await readable_log(archive, check_row(row))
    log = found.events
    is_named = where.at is not None or where.step is not None
    if found.damage is not None and (not is_named or (where.at or 0) > len(log)):
        raise found.damage
    if where.is_failure and where.step is None:
        step = await _beside(log, partial(step_to_retry, log, run, own.program))
        where = replace(where, step=step)
    asked = _asked(log, run, own, where)
    decided_by = share_at(log, asked).decided_by
    old = own if decided_by is None else await documents(decided_by)
    plan = partial(_plan, log, run, where, asked=asked, own=own, old=old, new=new or own)
    return await _beside(log, plan)


async def _beside(log: Sequence[e.Event], work: Callable[[], _T]) -> _T:
    """What folds a log; a long one in a thread, as others wait for the event loop."""
    return work() if len(log) <= EVENTS_FOLDED_AT_ONCE else await asyncio.to_thread(work)


def _plan(
    log: Sequence[e.Event],
    run: RunId,
    where: ForkPoint,
    *,
    asked: int,
    own: Document,
    old: Document,
    new: Document,
) -> ForkPlan:
    """How the run stands where the log is cut; ConfigError when it cannot go on."""
    folded(run, log[:asked])  # what does not follow is told as the damage it is
    at = fork_point(log, asked)
    if not at:
        raise ConfigError(
            f"nothing has started by event {asked} of run {run}. Start it from the start; "
            "a fork shares 2 events or more."
        )
    state = folded(run, log[:at])
    if state.is_final or state.is_stopping:
        raise _too_late(log, run, asked, state)
    if state.compensable and any(isinstance(event, e.RunCompensating) for event in log):
        raise _undone(run, state)
    misfits = misfits_of(state, old.program, new.program)
    return ForkPlan(log, where, asked, at, state, own, old, new, misfits)


def _asked(log: Sequence[e.Event], run: RunId, own: Document, where: ForkPoint) -> int:
    if where.at is None and where.step is not None:
        return events_before(log, run, own.program, step=where.step, visit=where.visit)
    if where.at is not None and not 1 <= where.at <= len(log):
        raise ConfigError(f"run {run} has the events 1 to {len(log)}; there is no {where.at}.")
    return where.at or min(where.seen or len(log), len(log))


def _too_late(log: Sequence[e.Event], run: RunId, asked: int, state: RunState) -> ConfigError:
    """Nothing is left to do there; what is the last event from which something is?"""
    how = f"had ended ({state.status.value})" if state.is_final else "was failing"
    told = f"run {run} {how} by event {asked}: nothing is left to continue with"
    if isinstance(log[asked - 1], e.RunCancelled):
        return ConfigError(f"{told}. It was cancelled after event {asked - 1}: fork it there.")
    for index in range(asked - 1, 0, -1):
        event = log[index]
        if isinstance(event, e.StepScheduled):
            at = fork_point(log, index)
            return ConfigError(f"{told}. Fork it at event {at}, or from step {event.step!r}.")
    return ConfigError(f"{told}.")


def _undone(run: RunId, state: RunState) -> ConfigError:
    """A run that goes on must not count on what its model has undone."""
    steps = list(dict.fromkeys(one.step for one in state.compensable))
    return ConfigError(
        f"run {run} has undone {', '.join(steps)}, which a run from there would count as done. "
        f"Continue from step {steps[0]!r}, or start a new run."
    )


def told_misfit(found: Misfit) -> str:
    """A reason with its place in the new document."""
    return f"{found.span}: {found.message}"


class Forks(Struct, frozen=True, eq=False):
    """Begins runs that share the log of others, for one engine."""

    archive: Archive
    programs: Programs
    starter: RunStarter
    adopt: Callable[[Iterable[RunId]], Awaitable[None]]
    cancel: Callable[[RunId, str], Awaitable[bool]]

    async def plan(self, run: RunId, where: ForkPoint, new: Document | None = None) -> ForkPlan:
        """What a fork would begin with."""
        return await planned(self.archive, self.programs.get, run, where=where, new=new)

    async def fork(self, request: ForkRequest) -> Started:
        """A new run that shares the beginning of another. The same key gives the same run.

        A crash after the fork is durable may leave the old run as it is, though `cancels` is asked.
        """
        run = request.run
        started = await self._known(run, request.key, FORK_LABEL)
        if started is None:
            plan = await self.plan(run, request.where, request.document)
            if request.cancels:
                _check_unmoved(plan, run)
            labels = {**await self._labels(run), **request.labels, FORK_LABEL: str(run)}
            reason = f"forked at event {plan.at}"
            history = plan.history(run, reason, labels=labels, workload=request.workload)
            started = await self._reopen(history, run, request.key, label=FORK_LABEL)
        if request.cancels:
            await self.cancel(run, f"it continues as run {started.run}")
        await self.adopt([started.run])
        return started

    async def retry(
        self, run: RunId, step: str | None, *, at: int | None = None, key: str | None
    ) -> Started:
        """A new run that goes on before a step of `run`, as if it had not been visited.

        `at` is where that was when whoever asks has seen it.
        """
        started = await self._known(run, key, RETRY_LABEL)
        if started is None:
            plan = await self.plan(run, ForkPoint(at, step, is_failure=True))
            labels = {**await self._labels(run), RETRY_LABEL: str(run)}
            reason = f"retried from step {plan.where.step}"
            history = plan.history(run, reason, labels=labels, workload={})
            history = replace(history, retry_of=run)
            started = await self._reopen(history, run, key, label=RETRY_LABEL)
        await self.adopt([started.run])
        return started

    async def _labels(self, run: RunId) -> dict[str, str]:
        """What a run is found by, and the one that goes on from it, too."""
        row = await self.archive.run(run)
        labels = {} if row is None else row.labels
        return {name: value for name, value in labels.items() if name not in _MADE_LABELS}

    async def _known(self, run: RunId, key: str | None, label: str) -> Started | None:
        """The run that the key names already: asked again, the old one may have moved on."""
        known = None if key is None else await made_before(self.archive, run, key, label=label)
        return None if known is None else Started(known, is_new=False)

    async def _reopen(
        self, history: SharedHistory, run: RunId, key: str | None, *, label: str
    ) -> Started:
        started = await self.starter.reopen(history, key)
        if not started.is_new and key is not None:
            await made_before(self.archive, run, key, label=label)
        return started


async def made_before(
    archive: Archive, run: RunId, key: str, *, label: str = FORK_LABEL
) -> RunId | None:
    """The run that was made of `run` with this key; KeyInUse when the key is another's."""
    known = await archive.run_of_key(key)
    row = None if known is None else await archive.run(known)
    if row is not None and row.labels.get(label) != str(run):
        what = label.partition("_")[0]
        raise KeyInUse(
            f"the key {key!r} belongs to run {known}, which is not a {what} of run {run}. "
            "Choose another key."
        )
    return known


def _check_unmoved(plan: ForkPlan, run: RunId) -> None:
    """What a run did since it was looked at would be done again, and its other half cancelled."""
    seen = plan.where.seen
    if seen is not None and len(plan.log) > seen:
        raise ConfigError(
            f"run {run} has moved on meanwhile, from event {seen} to event {len(plan.log)}. Look "
            "at what a fork would do now, or pause the run first."
        )
