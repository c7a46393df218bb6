"""Say how a delay came about, number by number, from the event that stores them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from anew.engine.events import TaskRetryScheduled
from anew.program.policy import Retry, Rule
from anew.program.retry import BackoffKind, JitterKind
from anew.views.explain.paragraph import DelayParts
from anew.views.wording import exact_seconds


def delay_parts(event: TaskRetryScheduled, rule: Rule | None, previous: float | None) -> DelayParts:
    """The numbers of the decision; `previous` is the delay drawn before it for the same task."""
    retry = rule.then if rule is not None and isinstance(rule.then, Retry) else None
    backoff = retry.backoff_for(event.backoff_row)[1] if retry is not None else None
    first = backoff.first if backoff is not None and not backoff.table else None
    is_decorrelated = event.jitter == JitterKind.DECORRELATED
    known = float(first) if isinstance(first, int | float) else None
    return DelayParts(
        backoff=event.backoff,
        base=event.base_seconds,
        jitter=event.jitter,
        draw=event.draw,
        cap=event.cap_seconds,
        spread=event.spread_seconds,
        retry_after=event.retry_after_seconds,
        seconds=event.delay_seconds,
        first=known,
        factor=backoff.factor if backoff is not None and event.backoff.has_factor else None,
        k=event.count or event.attempt or 1,
        row=event.backoff_row,
        entry=event.entry,
        previous=(previous if previous is not None else known) if is_decorrelated else None,
    )


def delay_sentence(parts: DelayParts) -> str:
    """`Delay: exponential, 1.0 s × 2^0 = 1.0 s, no cap, jitter true drew 0.42: 0.92 s.`"""
    told = ", ".join(_steps(parts))
    return f"Delay: {told}{_retry_after(parts)}."


def _steps(parts: DelayParts) -> Iterator[str]:
    if parts.jitter == JitterKind.DECORRELATED:
        yield _decorrelated(parts)
        yield _cap(parts)
        return
    row = "" if parts.row is None else f"the task's backoff for {parts.row}, "
    yield f"{row}{parts.backoff}"
    yield _base(parts)
    if parts.backoff is not BackoffKind.NONE:
        yield _cap(parts)
    yield _jitter(parts)


def _base(parts: DelayParts) -> str:
    total = exact_seconds(parts.base)
    if parts.entry is not None:
        return f"delay {parts.entry} of the list = {total}"
    if parts.first is None:
        return total
    first = exact_seconds(parts.first)
    match parts.backoff:
        case BackoffKind.NONE | BackoffKind.FIXED | BackoffKind.TABLE:
            return total
        case BackoffKind.LINEAR:
            return f"{first} × {parts.k} = {total}"
        case BackoffKind.EXPONENTIAL:
            return f"{first} × {parts.factor:g}^{parts.k - 1} = {total}"
        case other:
            assert_never(other)


def _cap(parts: DelayParts) -> str:
    if parts.cap is None:
        return "no cap"
    if parts.base > parts.cap:
        return f"capped at {exact_seconds(parts.cap)}"
    return f"below the cap of {exact_seconds(parts.cap)}"


def _jitter(parts: DelayParts) -> str:
    if parts.draw is None:
        return "no jitter"
    return f"jitter {parts.jitter} drew {parts.draw:.3g}: {exact_seconds(parts.spread)}"


def _decorrelated(parts: DelayParts) -> str:
    drawn = f"decorrelated jitter drew {parts.draw or 0.0:.3g}"
    if parts.first is None or parts.previous is None:
        return f"{drawn}: {exact_seconds(parts.base)}"
    low, high = exact_seconds(parts.first), exact_seconds(parts.previous)
    return f"{drawn} between {low} and 3 × {high}: {exact_seconds(parts.base)}"


def _retry_after(parts: DelayParts) -> str:
    if parts.retry_after is None:
        return ""
    if parts.retry_after == 0:
        return "; no Retry-After asks for more"
    asked = f"; Retry-After asked for {exact_seconds(parts.retry_after)}"
    if parts.retry_after <= parts.spread:
        return f"{asked}, which is no longer"
    end = exact_seconds(parts.seconds)
    if parts.seconds < parts.retry_after:
        return f"{asked}, which is longer; the cap allows {end}"
    return f"{asked}, which is longer: {end}"
