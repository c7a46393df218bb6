"""How the state of a dependency changes: a call is held, begins, ends or goes away.

Changes the state it is given. What can begin because of it is told, so that someone wakes it.
Knows no clock: moments come in.
"""

from __future__ import annotations

from msgspec import Struct

from anew.guards.holding import Objection, is_gone, objection, phase_of, tokens_of
from anew.guards.state import LOOKAHEAD, CallId, GuardState, Phase, QueuedCall
from anew.program.guards import Breaker, GuardKey, RetryBudget, ScopeLimits

# What a breaker counts is kept by slices of its window: calls that end in one are as old as it.
SLICES = 500


class CallEnd(Struct, frozen=True):
    """What a call came to. `cools_until`: the other side asked everyone to wait.

    `began_at` tells whether it is news for a breaker that has tripped meanwhile. `is_first`, and
    what its last retry `took`, say what it gives back to a budget.
    """

    is_ok: bool
    is_retryable: bool
    began_at: int
    is_first: bool = True
    took: float = 0.0
    cools_until: int | None = None


def place_for(
    state: GuardState, call: CallId, *, priority: int, key: str
) -> tuple[int, float, int]:
    """The place in the queue: the one it has, or the next of its priority and its fair share."""
    held = state.waiter(call)
    if held is not None:
        return held.order
    turn = max(state.turn, state.turns.get(key, 0.0))
    return -priority, turn, state.numbered


def hold(
    state: GuardState,
    call: CallId,
    found: Objection,
    *,
    order: tuple[int, float, int],
    key: str,
    due: int | None,
) -> bool:
    """Put it into the queue, or note what holds it now; whether that changed anything."""
    held = state.waiter(call)
    if held is None:
        state.numbered += 1
        state.turns[key] = order[1] + 1
        state.enter(QueuedCall(order, call, found.guard, key, due))
        return True
    if (held.guard, held.due) == (found.guard, due):
        return False
    held.guard, held.due = found.guard, due
    return True


def begin(limits: ScopeLimits, state: GuardState, call: CallId, now: int, *, cost: float) -> None:
    """It may begin, and does."""
    _leave_queue(state, call)
    state.running[call.text] = now
    if limits.rate is not None:
        oldest = now - limits.rate.per
        state.begun = [*(at for at in state.begun if at > oldest), now][-limits.rate.count :]
    if limits.budget is not None and cost > 0:
        state.tokens = tokens_of(limits.budget, state, now) - cost
        state.tokens_at = now
    if limits.breaker is not None:
        _begin_under(limits.breaker, state, call, now)


def end(limits: ScopeLimits, state: GuardState, call: CallId, now: int, what: CallEnd) -> None:
    """It gave an outcome."""
    state.running.pop(call.text, None)
    if limits.breaker is not None:
        _end_under(limits.breaker, state, call, now, what)
    if limits.cooldown and what.cools_until is not None:
        state.held_until = max(state.held_until, what.cools_until)
    if limits.budget is not None and what.is_ok:
        back = limits.budget.refund if what.is_first else what.took
        _put(limits.budget, state, now, back)


def leave(state: GuardState, call: CallId) -> None:
    """It went away without an outcome: its worker was lost, or nobody wants it any more."""
    state.running.pop(call.text, None)
    if call.text in state.probing:
        state.probing.remove(call.text)
    _leave_queue(state, call)


def pay(budget: RetryBudget, state: GuardState, now: int, cost: float) -> bool:
    """Take what a retry costs; False, and nothing taken, when there is too little."""
    left = tokens_of(budget, state, now)
    if left < cost:
        return False
    state.tokens, state.tokens_at = left - cost, now
    return True


def trip(state: GuardState, now: int) -> None:
    """Open the breaker, as an operator may too."""
    state.phase, state.since = Phase.OPEN, now
    state.ended, state.probing, state.passed, state.released = [], [], 0, 0


def clear(state: GuardState) -> None:
    """Forget what holds calls: the breaker closes, the bucket is full, nobody has to cool down."""
    state.phase, state.since, state.ended, state.probing = Phase.CLOSED, 0, [], []
    state.passed = state.released = state.held_until = 0
    state.tokens, state.tokens_at, state.begun = None, 0, []


def called(limits: ScopeLimits, state: GuardState, now: int) -> list[CallId]:
    """Who of those that are held is to ask again now: it may begin, or can learn when."""
    for gone in [one for one in state.waiting[:LOOKAHEAD] if is_gone(one, now)]:
        _leave_queue(state, gone.call)
    if not state.waiting and state.phase is Phase.RECOVERING:
        state.phase, state.since = Phase.CLOSED, now
    found: list[CallId] = []
    for waiter in state.waiting[:LOOKAHEAD]:
        if waiter.due is not None and (waiter.due <= now or waiter.guard is GuardKey.BUDGET):
            continue  # it is on its way, or waits for what it has to pay itself
        why = objection(limits, state, now, order=waiter.order)
        if why is not None and why.until is None:
            break
        if waiter.due is None or why is None or (why.until or now) < waiter.due:
            # One that is to learn when it is due asks at once, and is expected now.
            waiter.due = now
            found.append(waiter.call)
    return found


# --- parts ----------------------------------------------------------------------------------------


def _leave_queue(state: GuardState, call: CallId) -> None:
    held = state.waiter(call)
    if held is None:
        return
    state.waiting.remove(held)
    state.turn = max(state.turn, held.order[1])
    if len(state.turns) > 2 * len(state.waiting) or not state.waiting:
        # A key that has used up no more than the others have needs no row.
        state.turns = {key: turn for key, turn in state.turns.items() if turn > state.turn}


def _put(budget: RetryBudget, state: GuardState, now: int, tokens: float) -> None:
    if state.tokens is None:
        return  # it is full
    state.tokens = min(budget.capacity, tokens_of(budget, state, now) + tokens)
    state.tokens_at = now


def _begin_under(breaker: Breaker, state: GuardState, call: CallId, now: int) -> None:
    phase = phase_of(breaker, state, now)
    if phase is Phase.HALF_OPEN:
        if state.phase is not phase:
            state.phase = phase
        state.probing.append(call.text)
    elif phase is Phase.RECOVERING:
        state.released += 1


def _end_under(breaker: Breaker, state: GuardState, call: CallId, now: int, what: CallEnd) -> None:
    is_probe = call.text in state.probing
    if is_probe:
        state.probing.remove(call.text)
    match state.phase:
        case Phase.CLOSED:
            if _count(breaker, state, now, is_bad=what.is_retryable):
                trip(state, now)
        case Phase.HALF_OPEN if is_probe and what.is_retryable:
            trip(state, now)
        case Phase.HALF_OPEN if is_probe:
            state.passed += 1
            if state.passed >= breaker.probes and not state.probing:
                state.phase, state.since, state.released = Phase.RECOVERING, now, 0
        case Phase.RECOVERING if what.is_retryable and what.began_at >= state.since:
            trip(state, now)
        case _:
            pass


def _count(breaker: Breaker, state: GuardState, now: int, *, is_bad: bool) -> bool:
    """Count a call that ended; whether there are too many bad ones among those of the window."""
    state.ended = [one for one in state.ended if one[0] > now - breaker.window]
    if state.ended and now - state.ended[-1][0] < breaker.window // SLICES:
        at, ended, bad = state.ended.pop()
        state.ended.append((at, ended + 1, bad + is_bad))
    else:
        state.ended.append((now, 1, int(is_bad)))
    ended = sum(one[1] for one in state.ended)
    bad = sum(one[2] for one in state.ended)
    return is_bad and bad >= breaker.failures and bad >= breaker.ratio * ended
