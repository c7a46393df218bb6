"""Decide whether a matched retry rule executes again, and after how long.

Backoff, cap, jitter, then Retry-After, then the cap again (playbook.md#how-long-a-retry-waits).
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.outcome import Outcome, retry_after_seconds
from anew.engine.record import Recorder
from anew.engine.render import seconds_of
from anew.engine.scope import RunScope
from anew.engine.state import StepRun
from anew.program.policy import Retry
from anew.program.retry import Backoff, BackoffKind, Jitter, JitterKind

# Past this a delay is a mistake; it also keeps due times inside 64 bits of nanoseconds.
DELAY_SECONDS_MAX = 100 * 366 * 86400.0


class RetryTimes(Struct, frozen=True):
    """What the author's expressions amount to for this outcome."""

    first: float
    cap: float | None
    max_elapsed: float | None


class RetryDelay(Struct, frozen=True):
    """One decided delay and how it came about."""

    base: float
    draw: float | None
    spread: float  # after cap and jitter, before Retry-After
    retry_after: float | None
    seconds: float


def bounds_of(
    retry: Retry, backoff: Backoff, scope: RunScope, now: int, *, after: int
) -> RetryTimes:
    """Evaluate the rule's numbers; raises Rejected when one is not usable."""
    cap, elapsed, first = backoff.cap, retry.max_elapsed, backoff.first_after(after)
    return RetryTimes(
        # Bounded before it is multiplied, so that nothing endless reaches the log.
        first=min(seconds_of(first, scope, "delay", now=now), DELAY_SECONDS_MAX),
        cap=None if cap is None else seconds_of(cap, scope, "max_delay", now=now),
        max_elapsed=None if elapsed is None else seconds_of(elapsed, scope, "max_elapsed", now=now),
    )


def delay_of(
    backoff: Backoff,
    bounds: RetryTimes,
    run: StepRun,
    outcome: Outcome,
    recorder: Recorder,
    *,
    after: int,
) -> RetryDelay:
    """How long to wait after the execution with this number."""
    base = _base_seconds(backoff, bounds.first, after)
    draw = None if backoff.jitter.kind is JitterKind.NONE else recorder.draw()
    if backoff.jitter.kind is JitterKind.DECORRELATED:
        previous = bounds.first if run.previous_seconds is None else run.previous_seconds
        base = bounds.first + (3 * previous - bounds.first) * (draw or 0.0)
        spread = _capped(base, bounds.cap)
    else:
        spread = _spread(_capped(base, bounds.cap), backoff.jitter, draw)
    spread = min(spread, DELAY_SECONDS_MAX)
    asked = None
    seconds = spread
    if backoff.honor_retry_after:
        asked = retry_after_seconds(outcome.error, outcome.helpers, recorder.moment.now) or 0.0
        seconds = _capped(max(spread, asked), bounds.cap)
    return RetryDelay(base, draw, spread, asked, min(seconds, DELAY_SECONDS_MAX))


def due_at(now: int, seconds: float) -> int:
    """The moment `seconds` from now."""
    return min(now + round(min(seconds, DELAY_SECONDS_MAX) * NANOSECONDS), LAST_MOMENT)


def is_too_late(bounds: RetryTimes, run: StepRun, not_before: int) -> bool:
    """Whether the next attempt would start past `max_elapsed` after the first."""
    if bounds.max_elapsed is None:
        return False
    return not_before - run.first_at > round(bounds.max_elapsed * NANOSECONDS)


def jitter_word(jitter: Jitter) -> JitterKind | float:
    """How the log names a jitter: its word, or its fraction."""
    return jitter.fraction if jitter.kind is JitterKind.ADDED else jitter.kind


def _base_seconds(backoff: Backoff, first: float, k: int) -> float:
    match backoff.kind:
        case BackoffKind.NONE:
            return 0.0
        case BackoffKind.FIXED | BackoffKind.TABLE:
            return first
        case BackoffKind.LINEAR:
            return first * k
        case BackoffKind.EXPONENTIAL:
            return _power(first, backoff.factor, k - 1)
        case _:
            assert_never(backoff.kind)


def _power(first: float, factor: float, exponent: int) -> float:
    try:
        return min(first * factor**exponent, DELAY_SECONDS_MAX)
    except OverflowError:
        return DELAY_SECONDS_MAX if first else 0.0


def _capped(seconds: float, cap: float | None) -> float:
    return seconds if cap is None else min(seconds, cap)


def _spread(seconds: float, jitter: Jitter, draw: float | None) -> float:
    chance = 0.0 if draw is None else draw
    match jitter.kind:
        case JitterKind.NONE | JitterKind.DECORRELATED:
            return seconds
        case JitterKind.PLUS_MINUS_HALF:
            return seconds * (0.5 + chance)
        case JitterKind.ADDED:
            return seconds * (1 + jitter.fraction * chance)
        case JitterKind.FULL:
            return seconds * chance
        case JitterKind.EQUAL:
            return seconds / 2 + seconds / 2 * chance
        case _:
            assert_never(jitter.kind)
