"""What one step-run or loop is at, in words: what it waits for, until when, and why.

The moment something is due is given as data beside the words, so that a page can count down
without asking again.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from anew.engine.moments import NANOSECONDS
from anew.engine.statuses import DELAYED, ActivityKind
from anew.program.program import Program
from anew.store import RunRow
from anew.views.routing_words import choices_text
from anew.views.step_progress import Activity, StepProgress
from anew.views.wording import counted, duration, joined, one_line


class VerdictText(Struct, frozen=True):
    """`headline` (since …) (in …): `reason`. `until` and `since` are moments for a countdown."""

    headline: str
    reason: str = ""
    details: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None

    def sentence(self, now: int) -> str:
        """The headline with its time and its reason, as of now."""
        text = self.headline
        if self.until is not None:
            left = (self.until - now) / NANOSECONDS
            text += f" in {duration(left)}" if left > 0 else ", due now"
        elif self.since is not None:
            text += f" for {duration((now - self.since) / NANOSECONDS)}"
        return f"{text}: {self.reason}" if self.reason else text

    def lines(self, now: int) -> list[str]:
        """The sentence, then the details."""
        return [self.sentence(now), *self.details]


def loop_verdict(step: StepProgress) -> VerdictText:
    """How far a loop is, and when the next of its iterations is due if none is at work."""
    loops = step.loops.values()
    total, done = sum(x.total for x in loops), sum(x.done for x in loops)
    failed = sum(x.failed for x in loops)
    open_ = list(step.open.values())
    at_work = sum(a.doing is ActivityKind.WORKING for a in open_)
    queued = sum(a.doing is ActivityKind.QUEUED for a in open_)
    delayed = [a for a in open_ if a.doing in DELAYED]
    polling = sum(a.doing is ActivityKind.POLL for a in delayed)
    retrying = len(delayed) - polling
    parts = [f"{done:,} done"]
    parts += [f"{failed:,} failed"] if failed else []
    parts += [f"{at_work:,} running"] if at_work else []
    parts += [f"{retrying:,} waiting to retry"] if retrying else []
    parts += [f"{polling:,} polling"] if polling else []
    parts += [f"{queued:,} waiting for a worker"] if queued else []
    awaiting = sum(a.doing is ActivityKind.SIGNAL for a in open_)
    parts += [f"{awaiting:,} waiting for a signal"] if awaiting else []
    due = min((a.until for a in delayed if a.until is not None), default=None)
    said = f"{', '.join(parts)}"
    headline = f"Loop {step.name} over {counted(total, 'item')}"
    if at_work or due is None:
        return VerdictText(headline, said)
    if not retrying:
        return VerdictText(f"{headline} is polling, next look", said, until=due)
    return VerdictText(
        f"{headline} waits to retry", f"{said}; {step.trouble}".rstrip("; "), until=due
    )


def activity_verdict(
    program: Program | None, activity: Activity, children: Sequence[RunRow]
) -> VerdictText:
    """What a step-run does or waits for; `children` are the runs it may have started."""
    step, since = activity.step, activity.since
    task = f"task {activity.task}" if activity.task else "its first task"
    match activity.doing:
        case ActivityKind.WORKING:
            said = f"{task}, attempt {activity.attempt}"
            return VerdictText(f"Running {step} ({said})", since=since)
        case ActivityKind.RETRY | ActivityKind.RETRY_AFTER:
            return _retry_verdict(program, activity)
        case ActivityKind.JUMP:
            headline = f"Waiting to continue in {step} with task {activity.task}"
            reason = activity.reason + _rule_text(program, activity)
            return VerdictText(headline, reason, until=activity.until)
        case ActivityKind.POLL:
            return _poll_verdict(program, activity)
        case ActivityKind.SLEEP:
            if activity.until is None:
                return VerdictText(f"Sleeping in {step}", task, since=since)
            return VerdictText(f"Sleeping in {step}, continues", task, until=activity.until)
        case ActivityKind.CHILD:
            return VerdictText(_child_headline(activity, children), since=since)
        case ActivityKind.PERSON:
            return _asking(f"Waiting for a person in {step}", activity)
        case ActivityKind.SIGNAL:
            told = f"Waiting for the signal {one_line(activity.reason)} in {step}"
            if activity.until is None:
                return VerdictText(told, since=since)
            return VerdictText(f"{told}, {activity.silence}", until=activity.until)
        case ActivityKind.GUARD:
            headline = f"Holding {step} ({task}, attempt {activity.attempt})"
            if activity.until is None:
                return VerdictText(headline, activity.reason, since=since)
            return VerdictText(headline, activity.reason, until=activity.until)
        case ActivityKind.QUEUED:
            lost = "its worker was lost, or handed it back" if activity.is_again else ""
            lost = lost or activity.skipped
            pool = _pool_of(program, step)
            who = "a worker" if pool is None else f"a worker of pool {pool}"
            return VerdictText(f"{step} is ready, waiting for {who}", lost, since=since)


def _pool_of(program: Program | None, name: str) -> str | None:
    """The pool that the author named for a step."""
    step = program.steps.get(name) if program else None
    return None if step is None else step.pool


def _asking(headline: str, activity: Activity) -> VerdictText:
    choices = choices_text(list(activity.choices))
    reason = joined(one_line(activity.reason), f"choices: {choices}" if choices else "")
    if activity.until is None:
        return VerdictText(headline, reason, since=activity.since)
    then = activity.silence or "gives up"
    return VerdictText(f"{headline}, {then}", reason, until=activity.until)


def _retry_verdict(program: Program | None, activity: Activity) -> VerdictText:
    of = f" of {activity.attempts}" if activity.attempts else ""
    way = f" by way of {activity.via}" if activity.via else ""
    headline = f"Waiting to retry {activity.step}{way} (attempt {activity.attempt}{of})"
    reason = activity.reason
    if activity.doing is ActivityKind.RETRY_AFTER and activity.retry_after_seconds:
        reason += f", Retry-After {duration(activity.retry_after_seconds)}"
    return VerdictText(headline, reason + _rule_text(program, activity), until=activity.until)


def _poll_verdict(program: Program | None, activity: Activity) -> VerdictText:
    of = f" of {activity.attempts}" if activity.attempts else ""
    count = f" (attempt {activity.attempt}{of})" if activity.attempts else ""
    headline = f"Polling in {activity.step}{count}, next look"
    reason = activity.reason + _rule_text(program, activity)
    return VerdictText(headline, reason, until=activity.until)


def _rule_text(program: Program | None, activity: Activity) -> str:
    """` (rule 2, line 31)`: which rule said so, and where it stands in the document."""
    if activity.rule is None:
        return ""
    task = program.task_of(activity.step, activity.rule_task) if program else None
    rules = task.policy.rules if task else ()
    if not 1 <= activity.rule <= len(rules):
        return f" (rule {activity.rule})"
    rule = rules[activity.rule - 1]
    return f" ({rule.name or f'rule {activity.rule}'}, line {rule.span.line})"


def _child_headline(activity: Activity, children: Sequence[RunRow]) -> str:
    place = (activity.step, activity.visit, activity.iteration)
    for child in children:
        parent = child.parent.key if child.parent else None
        if parent and (parent.step, parent.visit, parent.iteration) == place:
            return f"Waiting in {activity.step} for child run {child.run} ({child.status.value})"
    return f"Waiting in {activity.step} for a child run"
