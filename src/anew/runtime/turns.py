"""One turn of a run: decide what follows from a boundary, and put it into one commit.

A worker that is free takes over the step-runs its turn hands out, in the same commit: that is why a
step of one task costs a single commit. Pure bookkeeping; nothing here waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from random import randrange

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine.boundaries import (
    Answered,
    Boundary,
    Lost,
    Paused,
    Resumed,
    Signalled,
    Skipped,
    Taken,
)
from anew.engine.decide import Transition, decide
from anew.engine.events import Event, StepSkipped
from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.next_actions import Invoke, Wait
from anew.engine.record import Moment
from anew.engine.state import FOR_OTHERS, RunStatus, StepRun, StepRunKey, StepRunStatus
from anew.expressions import Allowance
from anew.runtime.guards import TurnGuards
from anew.runtime.live_runs import LiveRun
from anew.store import (
    DEFAULT_POOL,
    Commit,
    JobRef,
    Lease,
    NewJob,
    NewRun,
    Park,
    RunHead,
    WaitReason,
)

# A shorter wait is slept in place while nothing else waits for its slot; one of this length or more
# gives it back at once.
PARK_SECONDS = 1.0
# One commit stays small, even where a program goes in circles without calling a tool.
TURN_EVENTS_MAX = 1_000
# How far the clocks of processes that share a database may be apart.
SKEW_SECONDS_MAX = 1
SKEW_NANOSECONDS = 1_000_000
# What a store gives a job that its own commit leases; it counts up from here.
FIRST_TOKEN = 1
# What these hand out has been handed out before.
_AGAIN = frozenset({Lost, Resumed, Answered, Signalled})


class Assignment(Struct, frozen=True, gc=False):
    """Something to do once the turn is durable, and the right to do it."""

    ask: Invoke | Wait
    lease: Lease


class Turn(Struct, frozen=True):
    """A commit, and what follows when it has happened.

    `next_due` is the soonest moment at which a job this turn left behind can be worked on. Calls of
    the `stopped` step-runs have no use any more.
    """

    commit: Commit
    assignments: list[Assignment]
    next_due: int | None
    stopped: list[StepRunKey] = []
    guards: TurnGuards | None = None


class TurnContext(Struct, frozen=True):
    """What the worker brings along: the time, chance, and how many more step-runs it can take.

    Those of its `pools` (None: of any), and it may keep them until `until`. `allowance` is the work
    that a turn may take; TakesLong is raised beyond it. With `parks_all`, others wait for the slot
    of even a short wait. `guards` say when calls may begin.
    """

    now: int
    draw: Callable[[], float]
    slots: int = 0
    pools: frozenset[str] | None = None
    until: int = LAST_MOMENT
    allowance: Allowance | None = None
    parks_all: bool = False
    guards: TurnGuards | None = None


def take_turn(
    live: LiveRun,
    boundary: Boundary,
    ctx: TurnContext,
    *,
    lease: Lease | None = None,
    new: NewRun | None = None,
) -> Turn:
    """Decide `boundary`. The run in memory is then ahead of the store, until this is committed."""
    ctx = _not_before(ctx, live)
    guards = None if ctx.guards is None else ctx.guards.guards
    moment = Moment(ctx.now, ctx.draw, live.secrets, ctx.allowance, guards)
    draft = _Draft(live, ctx, moment, live.state.version)
    transition = draft.decide(boundary)
    park, keeps_lease = None, False
    if lease is not None:
        park = draft.own_job(transition, lease)
        keeps_lease = bool(draft.assignments)
    own = lease.job.key if lease else None
    if type(boundary) is Skipped:
        draft.woken = transition.jobs
    else:
        are_fresh = type(boundary) not in _AGAIN
        draft.hand_out([key for key in transition.jobs if key != own], are_fresh=are_fresh)
    draft.let_go_of_stopped()
    if own in draft.stopped:
        park, keeps_lease = None, False
    commit = draft.commit(lease, park=park, keeps_lease=keeps_lease, new=new)
    return Turn(commit, draft.assignments, _next_due(commit), draft.stopped, ctx.guards)


def reopening_turn(
    live: LiveRun, shared: list[Event], cut: Paused, ctx: TurnContext, *, new: NewRun
) -> Turn:
    """Begin a run with the events of another, and go on: what was at work there is done again."""
    draft = _Draft(live, ctx, Moment(ctx.now, ctx.draw, live.secrets), 0, list(shared))
    draft.decide(cut)
    for run in live.state.live_step_runs():
        if run.status is StepRunStatus.EXECUTING:
            draft.decide(Lost(run.key, was_handed_back=True))
    draft.hand_out(draft.decide(Resumed()).jobs, are_fresh=False)
    draft.let_go_of_stopped()
    commit = draft.commit(None, park=None, keeps_lease=False, new=new)
    return Turn(commit, [], _next_due(commit))


def _not_before(ctx: TurnContext, live: LiveRun) -> TurnContext:
    live.last_at = moment_after(live.last_at, ctx.now)
    return ctx if live.last_at == ctx.now else replace(ctx, now=live.last_at)


def moment_after(last: int, now: int, *, draw: Callable[[int, int], int] = randrange) -> int:
    """Clocks of two machines never agree wholly: the log must not go back in time for that.

    A clock that was set back by more is believed, or whatever waits would wait as much longer.
    """
    if not 0 < last - now <= SKEW_SECONDS_MAX * NANOSECONDS:
        return now
    # Two processes that are both behind must not come to the same moment: the store takes the
    # very same events for one commit that is made twice.
    return last + draw(1, SKEW_NANOSECONDS)


class _Draft(Struct):
    """A turn in the making."""

    live: LiveRun
    ctx: TurnContext
    moment: Moment
    expected: int
    events: list[Event] = field(default_factory=list)
    jobs: list[NewJob] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    stopped: list[StepRunKey] = field(default_factory=list)
    # Put aside by whoever goes on with them; one that still holds a lease must not lose it.
    woken: list[StepRunKey] = field(default_factory=list)

    def decide(self, boundary: Boundary) -> Transition:
        transition = decide(self.live.program, self.live.state, boundary, self.moment)
        self.events.extend(transition.events)
        self.stopped.extend(transition.stopped)
        return transition

    def own_job(self, transition: Transition, lease: Lease) -> Park | None:
        """What becomes of the job whose lease this turn answers; None when it goes, or goes on."""
        key, ask = lease.job.key, transition.ask
        run = self.live.state.step_run(key)
        if run is None:
            return None
        if isinstance(ask, Invoke) or (ask is not None and self._is_short(ask)):
            self.assignments.append(Assignment(ask, lease))
            return None
        if ask is not None:
            return put_aside(ask, run)
        if self.live.state.status is RunStatus.PAUSED:
            return Park(None, WaitReason.HELD, max(run.attempt, 1))
        due = run.resume_at or self.ctx.now
        return Park(due, WaitReason.READY, max(run.attempt, 1))

    def _is_short(self, wait: Wait) -> bool:
        # An answer or a signal may come at any time, and must find the job where it can be
        # handed out again.
        if wait.is_for_others or wait.for_guard or self.ctx.parks_all:
            return False
        return wait.until - self.ctx.now < PARK_SECONDS * NANOSECONDS

    def hand_out(self, keys: Iterable[StepRunKey], *, are_fresh: bool) -> None:
        """Take over what there are slots for; the rest is for whoever is free.

        Jobs that were handed out before have tokens already, which only a lease can tell.
        """
        todo = deque(keys)
        places = (
            self.ctx.slots + 1
        )  # the one it has is used by the first assignment, whatever it is
        while todo:
            key = todo.popleft()
            full = len(self.assignments) >= places or len(self.events) >= TURN_EVENTS_MAX
            if full or not are_fresh or not self._is_of_ours(key):
                self.jobs.append(self._for_others(key, is_fresh=are_fresh))
                continue
            taken = self.decide(Taken(key))
            todo.extend(taken.jobs)
            if taken.ask is not None:
                self._take(key, taken.ask)

    def _is_of_ours(self, key: StepRunKey) -> bool:
        return self.ctx.pools is None or self._pool(key) in self.ctx.pools

    def let_go_of_stopped(self) -> None:
        """What this turn took over may be in a branch that this very turn ended."""
        if self.stopped:
            self.jobs = [job for job in self.jobs if job.key not in self.stopped]
            self.assignments = [
                one for one in self.assignments if one.lease.job.key not in self.stopped
            ]

    def _take(self, key: StepRunKey, ask: Invoke | Wait) -> None:
        if not isinstance(ask, Invoke) and not self._is_short(ask):
            self.jobs.append(self._parked(key, ask))
            return
        until, pool = self.ctx.until, self._pool(key)
        lease = Lease(JobRef(self.live.id, key), FIRST_TOKEN, until)
        self.assignments.append(Assignment(ask, lease))
        self.jobs.append(NewJob(key, pool=pool, taken_until=until, is_fresh=True))

    def _parked(self, key: StepRunKey, wait: Wait) -> NewJob:
        run = self.live.state.step_run(key)
        assert run is not None
        return NewJob(
            key,
            due_at=_due_of(wait),
            reason=_reason_of(wait),
            pool=self._pool(key),
            attempt=_next_attempt(wait, run),
            is_fresh=True,
        )

    def _for_others(self, key: StepRunKey, *, is_fresh: bool) -> NewJob:
        run = self.live.state.step_run(key)
        # One that waits for a person or a signal is put aside again by whoever takes it.
        is_asking = run is not None and run.status in FOR_OTHERS
        if run is None or is_asking or run.resume_at is None or run.resume_at <= self.ctx.now:
            now, pool = self.ctx.now, self._pool(key)
            return NewJob(key, due_at=now, pool=pool, is_fresh=is_fresh)
        return NewJob(
            key,
            due_at=run.resume_at,
            reason=WaitReason.RETRY,
            pool=self._pool(key),
            attempt=run.attempt + 1,
        )

    def _pool(self, key: StepRunKey) -> str:
        return self.live.program.steps[key.step].pool or DEFAULT_POOL

    def commit(
        self, lease: Lease | None, *, park: Park | None, keeps_lease: bool, new: NewRun | None
    ) -> Commit:
        live, state = self.live, self.live.state
        keep = live.wants_snapshot() and not state.is_final
        if keep:
            live.snapshot_version = state.version
        return Commit(
            run=live.id,
            expected=self.expected,
            at=self.ctx.now,
            events=self.events,
            head=head_of(live, self.ctx.now),
            lease=lease,
            park=park,
            keeps_lease=keeps_lease,
            jobs=self.jobs,
            drops=self._withdrawn(),
            drop_all=state.is_final,
            wakes=self._wakes(),
            new=new,
            snapshot=state if keep else None,
            guards=self.ctx.guards.writes() if self.ctx.guards is not None else (),
        )

    def _wakes(self) -> list[JobRef]:
        live = self.live
        own = [JobRef(live.id, key) for key in self.woken]
        if self.ctx.guards is not None:
            own += self.ctx.guards.wakes()
        return [*own, live.parent] if live.state.is_final and live.parent else own

    def _withdrawn(self) -> list[StepRunKey]:
        """Jobs that were handed out and are not wanted any more: the run or its branch is over."""
        skipped = [
            StepRunKey(event.step or "", event.visit or 0)
            for event in self.events
            if type(event) is StepSkipped and event.token is None
        ]
        return [*self.stopped, *skipped]


def put_aside(wait: Wait, run: StepRun) -> Park:
    """How the job of a step-run that waits is put aside."""
    return Park(_due_of(wait), _reason_of(wait), _next_attempt(wait, run))


def _due_of(wait: Wait) -> int | None:
    """When to come back by itself; None when only someone else can say."""
    return None if wait.is_for_others and wait.until >= LAST_MOMENT else wait.until


def _reason_of(wait: Wait) -> WaitReason:
    if wait.for_guard:
        return WaitReason.HELD
    if wait.for_signal:
        return WaitReason.SIGNAL
    return WaitReason.PERSON if wait.for_person else WaitReason.RETRY


def _next_attempt(wait: Wait, run: StepRun) -> int:
    if wait.for_guard:
        return max(run.attempt, 1)
    return run.attempt if wait.is_for_others else run.attempt + 1


def head_of(live: LiveRun, now: int) -> RunHead:
    """What lists show of the run."""
    state = live.state
    if state.status is RunStatus.FAILED:
        return RunHead(state.status, state.failure, now, state.cause)
    return RunHead(state.status, None, now if state.is_final else None)


def _next_due(commit: Commit) -> int | None:
    left = [job.due_at for job in commit.jobs if job.taken_until is None and job.due_at is not None]
    if commit.park is not None and commit.park.due_at is not None:
        left.append(commit.park.due_at)
    return min(left, default=None)
