"""How long the waits between the attempts of one task can be, at least and at most.

Every delay is the engine's own, with the draw of chance at either end: a delay grows or shrinks
evenly with its draw, so that the ends are the extremes.
"""

from __future__ import annotations

from msgspec import Struct

from anew.engine.outcome import outcome_of, wait_seconds
from anew.engine.record import Moment, Recorder
from anew.engine.retry import DELAY_SECONDS_MAX, RetryTimes, delay_of
from anew.engine.state import RunState, StepRun, StepRunKey
from anew.expressions import Template
from anew.lab.bounds.amounts import Bound, BoundReason, endless
from anew.lab.bounds.static_values import UNKNOWN, Workload, value_known
from anew.program.policy import Jump, Retry
from anew.program.program import Program
from anew.program.retry import Backoff, BackoffKind, Delay, JitterKind
from anew.program.span import NOWHERE, Span

_ENDS = f"the longest delay there is, {DELAY_SECONDS_MAX:,.0f} s"
_NO_PROGRAM = Program("", "", "", "", {}, "")
_NO_KEY = StepRunKey("", 1)
_SILENT = outcome_of({})


class Range(Struct, frozen=True):
    """The shortest and the longest delay one decision can come to.

    `drawn` is the longest before any Retry-After: what the next one may grow from.
    """

    least: float
    most: Bound
    drawn: float


def seconds_known(delay: Delay | None, workload: Workload) -> float | None:
    """The seconds every run will find; None when a run has to tell, or there are none."""
    if delay is None or isinstance(delay, (int, float)):
        return None if delay is None else float(delay)
    value = value_known(delay, workload)
    return None if value is UNKNOWN else plain_seconds(value)


def plain_seconds(value: object) -> float | None:
    """Seconds that do not depend on when they are asked for, as a date would."""
    early, late = wait_seconds(value, 0), wait_seconds(value, 10**9)
    return early if early is not None and early == late and early >= 0 else None


def attempts_known(attempts: int | Template, workload: Workload) -> int | None:
    """The number every run will find; None when a run has to tell."""
    if isinstance(attempts, int):
        return attempts
    value = value_known(attempts, workload)
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value < 1:
        return None
    return int(value) if value == value // 1 else None


def jump_delay(jump: Jump, workload: Workload) -> Bound:
    """How long a jump waits before it is made."""
    if jump.delay is None:
        return Bound(0.0)
    seconds = seconds_known(jump.delay, workload)
    if seconds is None:
        return _unknown(jump.span, "the delay of this jump")
    return Bound(min(seconds, DELAY_SECONDS_MAX))


def jumps_known(jump: Jump, workload: Workload) -> float | None:
    """How often a rule jumps at most; None when nothing in the document says."""
    delay = 0.0 if jump.delay is None else seconds_known(jump.delay, workload)
    elapsed = seconds_known(jump.max_elapsed, workload)
    # The first jump is made after its delay, each other one a delay later at the earliest.
    by_time = elapsed // delay if elapsed is not None and delay else None
    known = [float(one) for one in (jump.most, by_time) if one is not None]
    return min(known, default=None)


def retry_range(retry: Retry, workload: Workload, *, after: int, previous: float | None) -> Range:
    """The delays after the execution of this number; `previous` is the longest drawn before it."""
    ranges = [
        _range(backoff, workload, retry.span, after=after, previous=previous)
        for backoff in retry.backoffs
    ]
    if len(ranges) == 1:
        return ranges[0]
    longest = max(ranges, key=lambda found: found.most.at_most)
    least, drawn = (min(r.least for r in ranges), max(r.drawn for r in ranges))
    return Range(least, longest.most, drawn)


def _range(
    backoff: Backoff, workload: Workload, span: Span, *, after: int, previous: float | None
) -> Range:
    place = backoff.span if backoff.span != NOWHERE else span
    first = seconds_known(backoff.first_after(after), workload)
    cap = seconds_known(backoff.cap, workload)
    is_growing = backoff.jitter.kind is JitterKind.DECORRELATED
    if first is None and backoff.kind is BackoffKind.NONE and not is_growing:
        first = 0.0
    known = RetryTimes(DELAY_SECONDS_MAX if first is None else first, cap, None)
    ends = [_drawn(backoff, known, after, previous, draw=draw) for draw in (0.0, 1.0)]
    # A cap that only a run knows, or a shorter delay before, may bring it down to nothing.
    is_capped = backoff.cap is not None and cap is None
    is_open = first is None or is_capped or (is_growing and previous is not None)
    least = 0.0 if is_open else min(seconds for seconds, _ in ends)
    most = Bound(max(seconds for seconds, _ in ends))
    if first is None and (cap is None or most.at_most > cap):
        most = _unknown(place, "the delay of this retry")
    if backoff.honor_retry_after:
        most = _retry_after(place, cap)
    return Range(least, most, max(spread for _, spread in ends))


def _drawn(
    backoff: Backoff, bounds: RetryTimes, after: int, previous: float | None, *, draw: float
) -> tuple[float, float]:
    recorder = Recorder(_NO_PROGRAM, RunState(), Moment(0, lambda: draw))
    run = StepRun(_NO_KEY, {}, {}, previous_seconds=previous)
    delay = delay_of(backoff, bounds, run, _SILENT, recorder, after=after)
    return delay.seconds, delay.spread


def _retry_after(place: Span, cap: float | None) -> Bound:
    """A server may ask for any wait; only the cap comes after it."""
    if cap is not None:
        return Bound(min(cap, DELAY_SECONDS_MAX))
    what = "the server says how long to wait (Retry-After), and no max_delay caps it"
    return endless(BoundReason("retry-after", place, what, _ENDS), DELAY_SECONDS_MAX)


def _unknown(place: Span, what: str) -> Bound:
    reason = BoundReason(
        "delay", place, f"{what} is an expression whose value is known only at run time", _ENDS
    )
    return endless(reason, DELAY_SECONDS_MAX)
