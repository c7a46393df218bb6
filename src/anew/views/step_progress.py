"""Where one step of a run stands: what its step-runs are at, and how its visits ended.

Plain records. `views.progress` keeps them up to date, the other views read them.
"""

from __future__ import annotations

from msgspec import Struct, field

from anew.engine.statuses import ACTIVITIES, ActivityKind, StepStatus
from anew.values import Object

# Of several step-runs the first of these says how their step stands.
_TELLING = (StepStatus.RUNNING, StepStatus.RETRYING, StepStatus.POLLING, StepStatus.WAITING)


class Activity(Struct):
    """What one step-run does now, or waits for, and why."""

    step: str
    visit: int
    iteration: int | None
    doing: ActivityKind
    since: int
    task: str | None = None
    attempt: int = 1
    attempts: int | None = None  # how many the rule that retries allows
    rule: int | None = None
    rule_task: str | None = None  # whose rule that is
    until: int | None = None
    reason: str = ""
    choices: tuple[str, ...] = ()  # the answers a person can give
    silence: str = ""  # what follows when nobody answers
    via: str | None = None  # the step by way of which its retry comes
    retry_after_seconds: float | None = None
    is_poll: bool = False  # its last outcome was ok: what follows is a look, not a retry
    has_outcome: bool = False  # its execution has ended, and nothing follows yet
    skipped: str = ""  # who ended its wait before its time, in words
    is_again: bool = False  # a lost worker's execution, to be made once more
    asked_at: int = 0  # when its attempt was first started, however many workers it takes


class LoopProgress(Struct):
    """How far the iterations of one visit are."""

    total: int
    done: int = 0
    failed: int = 0

    @property
    def ended(self) -> int:
        return self.done + self.failed


class StepProgress(Struct):
    """One step, all its visits together.

    `attempts` counts executions; one made again because its worker was lost is not counted twice.
    """

    name: str
    first_at: int
    visits: int = 0
    attempts: int = 0
    retries: int = 0
    open: dict[tuple[int, int | None], Activity] = field(default_factory=dict)
    loops: dict[int, LoopProgress] = field(default_factory=dict)
    loop: LoopProgress | None = None
    ended: StepStatus | None = None
    ended_at: int | None = None
    error: Object | None = None
    is_handled: bool = False
    passed_on: str | None = None  # whose failure its last visit passed on, in words
    trouble: str = ""  # what the last execution that failed said
    reply: str = ""  # what its agent replied last, in one line
    verdict: str | None = None  # of the visit that ended last, where it is less than a success
    depth: int = 0  # in how many forks its first visit was
    branch_of: dict[int, int] = field(default_factory=dict)  # the branch of each live visit in one

    @property
    def is_live(self) -> bool:
        return bool(self.open or self.loops)

    @property
    def status(self) -> StepStatus:
        if self.is_live:
            live = {ACTIVITIES[activity.doing].step for activity in self.open.values()}
            usual = StepStatus.RUNNING if self.loops else StepStatus.SCHEDULED
            return next((status for status in _TELLING if status in live), usual)
        return self.ended or StepStatus.SCHEDULED

    @property
    def shown_status(self) -> StepStatus:
        """For people: a step that only passed a failure on has done its part."""
        return StepStatus.DONE if self.passed_on and not self.is_live else self.status
