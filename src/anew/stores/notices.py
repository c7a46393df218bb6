"""What a commit changes for others, and who is told of it in this process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from msgspec import Struct

from anew.engine import events as e
from anew.engine.state import RunStatus
from anew.store import ANY_POOL, JobRef, Notice, NoticeListener, PackedCommit, RunId

# Those who wait for a run, or for what it waits for, want to know at once.
_TURNS = frozenset(
    event.name
    for event in (
        e.RunPaused,
        e.RunResumed,
        e.HumanWaiting,
        e.HumanAnswered,
        e.HumanTimedOut,
        e.SignalWaiting,
        e.SignalReceived,
        e.SignalTimedOut,
        e.WaitSkipped,
    )
)


class NoticeFilter(Struct, frozen=True):
    """Which notices somebody has a use for."""

    turns_only: bool = False
    runs: frozenset[RunId] | None = None

    def matches(self, notice: Notice) -> bool:
        if self.turns_only and not notice.has_turned:
            return False
        return self.runs is None or notice.run in self.runs


def notice_filter(*, turns_only: bool, runs: Collection[RunId] | None) -> NoticeFilter:
    return NoticeFilter(turns_only, None if runs is None else frozenset(runs))


class LocalNotices:
    """Tells the tasks of one event loop."""

    def __init__(self) -> None:
        self._listeners: list[tuple[NoticeListener, NoticeFilter]] = []

    def listen(
        self,
        hear: NoticeListener,
        *,
        turns_only: bool = False,
        runs: Collection[RunId] | None = None,
    ) -> Callable[[], None]:
        listener = hear, notice_filter(turns_only=turns_only, runs=runs)
        self._listeners.append(listener)

        def stop() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    @property
    def are_heard(self) -> bool:
        """Whether there is anybody to tell."""
        return bool(self._listeners)

    def tell(self, notices: Sequence[Notice]) -> None:
        for notice in notices:
            for hear, chosen in list(self._listeners):
                if chosen.matches(notice):
                    hear(notice)


def notices_of(commit: PackedCommit) -> list[Notice]:
    """The run's own, and one for each job of another run that it wakes."""
    due: dict[str, int] = {}
    for job in commit.jobs:
        if job.taken_until is None and job.due_at is not None:
            due[job.pool] = min(job.due_at, due.get(job.pool, job.due_at))
    if commit.park is not None:
        # A wake-up may have come before it was put aside; then it is due at once.
        due[ANY_POOL] = commit.at if commit.park.due_at is None else commit.park.due_at
    has_turned = (
        commit.drop_all
        or bool(commit.drops)
        or commit.status is not RunStatus.RUNNING
        or any(row.name in _TURNS for row in commit.rows)
    )
    own = Notice(commit.run, commit.version, due, has_turned)
    return [own, *(woken(job, commit.at) for job in commit.wakes)]


def woken(job: JobRef, at: int) -> Notice:
    """A job that was put aside can be worked on now."""
    return Notice(job.run, due={ANY_POOL: at})


def is_for_others(notice: Notice) -> bool:
    """Whether other processes have a use for it."""
    return bool(notice.due) or notice.has_turned
