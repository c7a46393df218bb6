"""The guards of one database, for whoever decides whether a call may begin.

Holds the states that were read, changes them, and remembers which were asked, which have changed
and who is to be woken. A state that was not read is asked for by `MissingStates`. Knows no clock
and no store: who decides in real time keeps what has changed, a simulation keeps it in here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct

from anew.guards.changing import CallEnd, begin, called, end, hold, leave, pay, place_for
from anew.guards.holding import Objection, ahead_of, look_again_at, objection
from anew.guards.state import CallId, GuardState
from anew.program.guards import (
    Governing,
    GuardKey,
    GuardRule,
    ScopeLimits,
    governing,
)

# Names of which it is known what governs them.
GOVERNING_MAX = 10_000

States: TypeAlias = dict[str, GuardState]


class MissingStates(Exception):
    """What was decided needs the states of these scopes."""

    def __init__(self, scopes: Collection[str]) -> None:
        super().__init__(f"the states of {', '.join(sorted(scopes))} were not read")
        self.scopes = frozenset(scopes)


class CallRequest(Struct, frozen=True):
    """A call that wants to begin; `key` is what it shares fairly by.

    `cost` is what its retry has not paid yet.
    """

    call: CallId
    dependency: str
    key: str
    priority: int = 0
    cost: float = 0.0


class CallStart(Struct, frozen=True):
    """It begins, and counts in these scopes. `paid` is what its retry took just now."""

    scopes: tuple[str, ...]
    paid: float = 0.0


class Held(Struct, frozen=True):
    """It waits in the queue of a scope. It looks again at a moment, if nobody calls it before."""

    scope: str
    guard: GuardKey
    reason: str
    until: int | None
    behind: int | None
    look_at: int


class RetryCost(Struct, frozen=True):
    """What a retry `took` from the budget, or `owes` it; a budget that `is_empty` ends it."""

    took: float = 0.0
    owes: float = 0.0
    is_empty: bool = False


class Guards:
    """Rules and states; `sources` are the operator's rules, then the file's, then a document's."""

    def __init__(
        self,
        sources: Sequence[Iterable[GuardRule]],
        states: States,
        *,
        is_whole: bool = False,
        known: dict[str, Governing] | None = None,
    ) -> None:
        self._sources = sources
        self._states = states
        # A simulation has all there is: what is not there is a dependency nobody has called yet.
        self._is_whole = is_whole
        self._governing: dict[str, Governing] = {} if known is None else known
        self.was_asked = False
        self.asked: set[str] = set()
        self.changed: set[str] = set()
        self.woken: list[CallId] = []

    def governing(self, dependency: str) -> Governing:
        known = self._governing.get(dependency)
        if known is None:
            if len(self._governing) >= GOVERNING_MAX:
                self._governing.clear()
            known = self._governing[dependency] = governing(self._sources, dependency)
        return known

    def ask(self, asked: CallRequest, now: int) -> CallStart | Held | None:
        """Whether it may begin now; None when nothing governs it."""
        self.was_asked = True
        scopes = self.governing(asked.dependency).scopes
        if not scopes:
            return None
        states = self._read([limits.scope for limits in scopes])
        for limits in scopes:
            state = states[limits.scope]
            order = place_for(state, asked.call, priority=asked.priority, key=asked.key)
            cost = asked.cost if limits.budget is not None else 0.0
            found = objection(limits, state, now, order=order, cost=cost)
            if found is not None:
                return self._held(asked, limits, found, order, now)
        for limits in scopes:
            begin(limits, states[limits.scope], asked.call, now, cost=asked.cost)
            self._changed(limits, now)
        has_paid = any(limits.budget is not None for limits in scopes)
        return CallStart(tuple(limits.scope for limits in scopes), asked.cost if has_paid else 0.0)

    def _held(
        self,
        asked: CallRequest,
        limits: ScopeLimits,
        found: Objection,
        order: tuple[int, float, int],
        now: int,
    ) -> Held:
        for other in self.governing(asked.dependency).scopes:
            if other is not limits and self._states[other.scope].waiter(asked.call) is not None:
                leave(self._states[other.scope], asked.call)
                self._changed(other, now)
        state = self._states[limits.scope]
        ahead = sum(ahead_of(state, order, now))
        look_at = look_again_at(found, now, ahead)
        due = look_at if look_at == found.until else None
        if hold(state, asked.call, found, order=order, key=asked.key, due=due):
            self.changed.add(limits.scope)
        return Held(limits.scope, found.guard, found.reason, found.until, found.behind, look_at)

    def ended(
        self, dependency: str, scopes: Iterable[str], call: CallId, what: CallEnd, now: int
    ) -> None:
        """A call gave its outcome."""
        known = self.governing(dependency)
        for scope, state in self._read(scopes).items():
            end(known.of(scope), state, call, now, what)
            self._changed(known.of(scope), now)

    def left(self, dependency: str, scopes: Iterable[str], call: CallId, now: int) -> None:
        """It went away: held, or in the middle of the call."""
        known = self.governing(dependency)
        for scope, state in self._read(scopes).items():
            if call.text not in state.running and state.waiter(call) is None:
                continue
            leave(state, call)
            self._changed(known.of(scope), now)

    def retry_cost(self, dependency: str, *, is_throttled: bool, now: int) -> RetryCost:
        """Take what a retry costs, if there is enough; otherwise it waits, or is none."""
        for limits in self.governing(dependency).scopes:
            if limits.budget is None:
                continue
            cost = limits.budget.throttled if is_throttled else limits.budget.retry
            if pay(limits.budget, self._read([limits.scope])[limits.scope], now, cost):
                self.changed.add(limits.scope)
                return RetryCost(took=cost)
            return RetryCost(owes=cost) if limits.budget.waits else RetryCost(is_empty=True)
        return RetryCost()

    def cools(self, dependency: str) -> bool:
        """Whether a Retry-After holds all calls to it."""
        return any(limits.cooldown for limits in self.governing(dependency).scopes)

    def _changed(self, limits: ScopeLimits, now: int) -> None:
        self.changed.add(limits.scope)
        self.woken += called(limits, self._states[limits.scope], now)

    def _read(self, scopes: Iterable[str]) -> States:
        wanted = list(scopes)
        self.asked.update(wanted)
        missing = [scope for scope in wanted if scope not in self._states]
        if missing and not self._is_whole:
            raise MissingStates(missing)
        return {scope: self._states.setdefault(scope, GuardState()) for scope in wanted}
