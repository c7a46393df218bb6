"""Say whether a call may begin, or what holds it and until when.

One function for each guard; the first that objects holds the call. Reads the state and leaves it as
it is. `ahead` is how many held calls come first.
"""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from anew.guards.state import LOOKAHEAD, PATIENCE, GuardState, Phase, QueuedCall
from anew.program.guards import NANOSECONDS, Breaker, GuardKey, RateLimit, RetryBudget, ScopeLimits

# Who waits for others asks again after this, and so much later for each that comes first: a net for
# calls that went away without a word.
LOOK_AGAIN = 30 * NANOSECONDS
LOOK_AGAIN_EACH = NANOSECONDS // 10


class Objection(Struct, frozen=True):
    """Why a call may not begin: until a moment, or `behind` so many others.

    `is_own`: the moment is meant for this call alone, and not for all that wait.
    """

    guard: GuardKey
    reason: str
    until: int | None = None
    behind: int | None = None
    is_own: bool = False


def objection(
    limits: ScopeLimits,
    state: GuardState,
    now: int,
    *,
    order: tuple[int, float, int],
    cost: float = 0.0,
) -> Objection | None:
    """What holds a call with this place in the queue; `cost` is what its retry still has to pay."""
    in_line, retries = ahead_of(state, order, now)
    if limits.pause_until is not None and now < limits.pause_until:
        return Objection(GuardKey.PAUSE, "it is paused by an operator", limits.pause_until)
    if now < state.held_until:
        return Objection(GuardKey.COOLDOWN, "a Retry-After holds all calls", state.held_until)
    if limits.breaker is not None:
        found = _by_breaker(limits.breaker, state, now, in_line)
        if found is not None:
            return found
    if limits.budget is not None and cost > 0:
        found = _by_budget(limits.budget, state, now, retries, cost)
        if found is not None:
            return found
    if limits.rate is not None:
        found = _by_rate(limits.rate, state, now, in_line)
        if found is not None:
            return found
    if limits.concurrency is not None and len(state.running) + in_line >= limits.concurrency:
        used = f"{len(state.running)} of {limits.concurrency} calls are running"
        return Objection(GuardKey.CONCURRENCY, used, behind=in_line)
    return None


def due_of(found: Objection, ahead: int) -> int | None:
    """When the call is expected to ask again; None for one that will be called."""
    return found.until if found.is_own or ahead < LOOKAHEAD else None


def look_again_at(found: Objection, now: int, ahead: int) -> int:
    """When a held call asks again by itself, if nobody calls it before."""
    due = due_of(found, ahead)
    if due is not None:
        return due
    return max(found.until or now, now) + LOOK_AGAIN + LOOK_AGAIN_EACH * ahead


def ahead_of(state: GuardState, order: tuple[int, float, int], now: int) -> tuple[int, int]:
    """How many held calls come first; and how many of those that wait for the budget alone."""
    before = bisect_right(state.waiting, order, key=lambda one: one.order)
    others = [one for one in state.waiting[:before] if one.order != order]
    for_budget = sum(one.guard is GuardKey.BUDGET for one in others)
    gone = sum(is_gone(one, now) and one.guard is not GuardKey.BUDGET for one in others)
    return len(others) - for_budget - gone, for_budget


def is_gone(waiter: QueuedCall, now: int) -> bool:
    """Whether it was expected long ago and has not come."""
    return waiter.due is not None and waiter.due + PATIENCE < now


# --- one guard each -------------------------------------------------------------------------------


def _by_rate(rate: RateLimit, state: GuardState, now: int, ahead: int) -> Objection | None:
    """Those in line are taken to begin as soon as they may."""
    recent = [at for at in state.begun if at > now - rate.per][-rate.count :]
    free = rate.count - len(recent)
    if ahead < free:
        return None
    windows, place = divmod(ahead - free, rate.count)
    began = (recent + [now] * free)[place]
    reason = f"{rate.count} calls have started within {seconds_text(rate.per)}"
    return Objection(GuardKey.RATE, reason, began + rate.per * (windows + 1), is_own=True)


def _by_budget(
    budget: RetryBudget, state: GuardState, now: int, ahead: int, cost: float
) -> Objection | None:
    if not budget.waits:
        return None  # it was decided when the retry was scheduled
    missing = cost * (ahead + 1) - tokens_of(budget, state, now)
    if missing <= 0:
        return None
    reason = f"the retry budget has fewer than {cost:g} tokens"
    if not budget.refill or cost > budget.capacity:
        return Objection(GuardKey.BUDGET, reason, behind=ahead)
    wait = missing / budget.refill * NANOSECONDS
    return Objection(GuardKey.BUDGET, reason, now + max(1, -int(-wait // 1)))


def _by_breaker(breaker: Breaker, state: GuardState, now: int, ahead: int) -> Objection | None:
    match phase_of(breaker, state, now):
        case Phase.CLOSED:
            return None
        case Phase.OPEN:
            return Objection(GuardKey.BREAKER, "the breaker is open", state.since + breaker.open)
        case Phase.HALF_OPEN:
            if ahead < breaker.probes - state.passed - len(state.probing):
                return None
            probes = f"{breaker.probes} call" + ("s probe" if breaker.probes > 1 else " probes")
            return Objection(GuardKey.BREAKER, f"the breaker is half open: {probes}", behind=ahead)
        case Phase.RECOVERING:
            at = _released_at(breaker, state, state.released + ahead)
            if at <= now:
                return None
            return Objection(
                GuardKey.BREAKER, "the breaker lets calls through in cohorts", at, is_own=True
            )


def _released_at(breaker: Breaker, state: GuardState, place: int) -> int:
    """When the held call at this place belongs to a cohort."""
    at, size, released = state.since, float(breaker.cohort), breaker.cohort
    while released <= place:
        at += breaker.every
        size *= breaker.growth
        released += int(size)
    return at


def phase_of(breaker: Breaker, state: GuardState, now: int) -> Phase:
    if state.phase is Phase.OPEN and now >= state.since + breaker.open:
        return Phase.HALF_OPEN
    return state.phase


def tokens_of(budget: RetryBudget, state: GuardState, now: int) -> float:
    """What is in the bucket now; at first it is full."""
    if state.tokens is None:
        return budget.capacity
    # Whole parts first: a float of nanoseconds is exact for a hundred days.
    refilled = budget.refill * (max(0, now - state.tokens_at) / NANOSECONDS)
    return min(budget.capacity, state.tokens + refilled)


def seconds_text(nanoseconds: int) -> str:
    return f"{nanoseconds / NANOSECONDS:g} s"
