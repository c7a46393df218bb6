"""Make a new run out of the beginning of another: plan where it is cut, then begin it.

A fork shares the log up to an event and may go on under another program or with a changed workload;
a retry is a fork before a step. The old run stays as it is. `plan_of` is pure, so that whoever asks
can be shown what a fork will do before there is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.fitting import Misfit, misfits_of
from anew.engine.fold import fold
from anew.engine.resting import resting_point
from anew.engine.state import RunState
from anew.errors import ConfigError
from anew.runtime.beginnings import Beginning
from anew.runtime.keys import KeyInUse
from anew.runtime.ledger import Ledger, Started
from anew.runtime.programs import Document, Programs
from anew.runtime.records import EVENTS_FOLDED_AT_ONCE
from anew.runtime.retrying import events_before, failed_step, whole_log
from anew.store import Database, RunId
from anew.values import Object

# Tell of which run another is the retry, or the fork.
RETRY_LABEL = "retry_of"
FORK_LABEL = "fork_of"


class Unfit(ConfigError):
    """A run cannot go on under another program from where it is cut."""

    def __init__(self, run: RunId, seq: int, misfits: Sequence[Misfit]) -> None:
        reasons = "; ".join(told_misfit(found) for found in misfits)
        super().__init__(
            f"run {run} cannot go on under the new program from event {seq}: {reasons}. "
            "Fork it at an earlier event, or keep what is live in the new document."
        )
        self.misfits = tuple(misfits)


class Where(Struct, frozen=True):
    """Where a log is cut: after event `at`, or before a visit of `step`; else after the last."""

    at: int | None = None
    step: str | None = None
    visit: int | None = None


class ForkOrder(Struct, frozen=True):
    """A wish for a fork of `run`, under `document` where one is given.

    `workload` is laid over the run's own. `cancels`: end `run` once the fork is durable.
    """

    run: RunId
    where: Where = Where()
    document: Document | None = None
    workload: Object = field(default_factory=dict)
    key: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    cancels: bool = False


class Plan(Struct, frozen=True):
    """A fork before there is one: the events it shares, and how the run stands after them.

    `asked` is the event that was named; `at` the one that the shared part ends with.
    """

    log: Sequence[e.Event]
    asked: int
    at: int
    state: RunState
    old: Document
    new: Document
    misfits: list[Misfit]

    @property
    def is_moved(self) -> bool:
        """Whether it goes on under another program."""
        return self.old.program.digest != self.new.program.digest

    def beginning(
        self, run: RunId, reason: str, *, labels: Mapping[str, str], workload: Object
    ) -> Beginning:
        """What the new run begins with; Unfit when the new program cannot go on from there."""
        if self.misfits:
            raise Unfit(run, self.at, self.misfits)
        owner, decided_by = self._decided()
        if decided_by is None and (self.is_moved or workload):
            decided_by = self.old.program.digest
        return Beginning(
            self.log[: self.at],
            self.new,
            owner or str(run),
            reason,
            labels,
            is_moved=self.is_moved,
            workload=workload,
            decided_by=decided_by,
        )

    def _decided(self) -> tuple[str | None, str | None]:
        """Whose the last shared events are and who decided them, where not the run itself."""
        later = [event for event in self.log[self.at :] if isinstance(event, e.RunPaused)]
        cuts = [event for event in later if event.shared_with is not None]
        foreign = (cut.decided_by for cut in cuts if cut.decided_by is not None)
        return (cuts[0].shared_with if cuts else None), next(foreign, None)


def plan_of(
    log: Sequence[e.Event], run: RunId, old: Document, where: Where, new: Document | None = None
) -> Plan:
    """Where the log is cut and how the run stands there; ConfigError when it cannot go on."""
    asked = _asked(log, run, old, where)
    at = resting_point(log, asked)
    if not at:
        raise ConfigError(
            f"nothing has begun by event {asked} of run {run}. `anew run` starts it from the "
            "beginning; a fork shares 2 events or more."
        )
    state = fold(log[:at])
    if state.is_final or state.is_stopping:
        raise _too_late(log, run, asked, state)
    document = new or old
    return Plan(
        log, asked, at, state, old, document, misfits_of(state, old.program, document.program)
    )


async def _planned(
    log: Sequence[e.Event], run: RunId, old: Document, where: Where, new: Document | None = None
) -> Plan:
    """`plan_of`, beside the event loop where the log is long: others wait for that."""
    if len(log) <= EVENTS_FOLDED_AT_ONCE:
        return plan_of(log, run, old, where, new)
    return await asyncio.to_thread(plan_of, log, run, old, where, new)


def _asked(log: Sequence[e.Event], run: RunId, old: Document, where: Where) -> int:
    if where.step is not None:
        return events_before(log, run, old.program, step=where.step, visit=where.visit)
    if where.at is not None and not 1 <= where.at <= len(log):
        raise ConfigError(f"run {run} has the events 1 to {len(log)}; there is no {where.at}.")
    return where.at or len(log)


def _too_late(log: Sequence[e.Event], run: RunId, asked: int, state: RunState) -> ConfigError:
    """Nothing is left to do there; what is the last event from which something is?"""
    how = f"had ended ({state.status.value})" if state.is_final else "was failing"
    told = f"run {run} {how} by event {asked}: there is nothing left to go on with"
    if isinstance(log[asked - 1], e.RunCancelled):
        return ConfigError(f"{told}. `--at {asked - 1}` is where it was cancelled.")
    for index in range(asked - 1, 0, -1):
        event = log[index]
        if isinstance(event, e.StepScheduled):
            at = resting_point(log, index)
            where = f"`--at {at}`, or `--from {event.step}`"
            return ConfigError(f"{told}. {where}, goes on before step {event.step!r}.")
    return ConfigError(f"{told}.")


def told_misfit(found: Misfit) -> str:
    """A reason with its place in the new document."""
    return f"{found.span}: {found.message}"


class Forks:
    """Begins runs that share the log of others, for one engine."""

    def __init__(
        self,
        database: Database,
        programs: Programs,
        ledger: Ledger,
        *,
        adopt: Callable[[Iterable[RunId]], Awaitable[None]],
        cancel: Callable[[RunId, str], Awaitable[bool]],
    ) -> None:
        self._archive = database.archive
        self._programs = programs
        self._ledger = ledger
        self._adopt = adopt
        self._cancel = cancel

    async def plan(self, run: RunId, where: Where, new: Document | None = None) -> Plan:
        """What a fork would begin with."""
        old, log = await self._read(run)
        return await _planned(log, run, old, where, new)

    async def plan_retry(self, run: RunId, step: str | None) -> Plan:
        """What a retry would begin with: before `step`, or the step that failed the run."""
        old, log = await self._read(run)
        where = Where(step=step or failed_step(log, run, old.program))
        return await _planned(log, run, old, where)

    async def fork(self, order: ForkOrder) -> Started:
        """A new run that shares the beginning of another. The same key gives the same run.

        A crash after the fork is durable may leave the old run as it is, though `cancels` is asked.
        """
        run = order.run
        started = await self._known(run, order.key, FORK_LABEL)
        if started is None:
            plan = await self.plan(run, order.where, order.document)
            labels = {**order.labels, FORK_LABEL: str(run)}
            reason = f"forked at event {plan.at}"
            beginning = plan.beginning(run, reason, labels=labels, workload=order.workload)
            started = await self._begin(beginning, run, order.key, label=FORK_LABEL)
        if order.cancels:
            await self._cancel(run, f"it goes on as run {started.run}")
        await self._adopt([started.run])
        return started

    async def retry(self, run: RunId, step: str | None, *, key: str | None) -> Started:
        """A new run that goes on before a step of `run`, as if it had not been visited."""
        started = await self._known(run, key, RETRY_LABEL)
        if started is None:
            old, log = await self._read(run)
            name = step or failed_step(log, run, old.program)
            plan = await _planned(log, run, old, Where(step=name))
            labels, reason = {RETRY_LABEL: str(run)}, f"begins again at step {name}"
            beginning = plan.beginning(run, reason, labels=labels, workload={})
            started = await self._begin(beginning, run, key, label=RETRY_LABEL)
        await self._adopt([started.run])
        return started

    async def _read(self, run: RunId) -> tuple[Document, list[e.Event]]:
        row = await self._archive.run(run)
        if row is None:
            raise ConfigError(f"there is no run {run}. `anew runs` lists those there are.")
        return await self._programs.get(row.digest), await whole_log(self._archive, run)

    async def _known(self, run: RunId, key: str | None, label: str) -> Started | None:
        """The run that the key names already: asked again, the old one may have moved on."""
        known = None if key is None else await self._archive.run_of_key(key)
        if known is None:
            return None
        await self._check(known, run, key, label=label)
        return Started(known, is_new=False)

    async def _begin(
        self, beginning: Beginning, run: RunId, key: str | None, *, label: str
    ) -> Started:
        started = await self._ledger.reopen(beginning, key)
        if not started.is_new:
            await self._check(started.run, run, key, label=label)
        return started

    async def _check(self, known: RunId, run: RunId, key: str | None, *, label: str) -> None:
        row = await self._archive.run(known)
        if row is not None and row.labels.get(label) != str(run):
            what = label.partition("_")[0]
            raise KeyInUse(
                f"the key {key!r} belongs to run {known}, which is no {what} of run {run}. "
                "Choose another key."
            )
