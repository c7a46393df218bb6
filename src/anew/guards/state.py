"""What is kept of the calls to one dependency, for all runs together.

`guards.holding` reads it, `guards.changing` changes it, and stores keep it as JSON. Moments are
nanoseconds since 1970. Decides nothing.
"""

from __future__ import annotations

from bisect import insort
from enum import StrEnum

import msgspec
from msgspec import Struct, field

from anew.program.guards import NANOSECONDS, GuardKey

# So many who wait are told when they may begin; for the others it is not worth the writing.
LOOKAHEAD = 64
# Who was called and does not come for so long is passed over: its run may be paused, or gone.
PATIENCE = 10 * NANOSECONDS


class CallId(Struct, frozen=True, array_like=True):
    """The step-run that calls. It has one call at a time."""

    run: str
    step: str
    visit: int
    iteration: int | None = None

    @property
    def text(self) -> str:
        return f"{self.run}:{self.step}:{self.visit}:{self.iteration}"


class HeldCall(Struct, frozen=True, gc=False):
    """As a run knows of it: what holds its call, since when, and until when where that is known."""

    guard: GuardKey
    dependency: str
    at: int
    until: int | None = None


class QueuedCall(Struct, array_like=True):
    """A call that is held. Those with the lowest `order` begin first.

    `order` is its priority (negative: the highest is first), its turn among those that share fairly
    and a number. `due` is when it is expected to ask again, None before that is known.
    """

    order: tuple[int, float, int]
    call: CallId
    guard: GuardKey
    key: str
    due: int | None = None


class Phase(StrEnum):
    """Of a breaker."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"
    RECOVERING = "recovering"


class GuardState(Struct, omit_defaults=True):
    """`running` has when each call began. `begun` has the moments a rate counts, in order.

    `ended` has what a breaker counts: moments with how many calls ended then, and how many of them
    badly. `since` is when its phase began; `probing` calls are tried and `passed` have gone well;
    `released` have begun since it recovers. `turn` is that of the held call that began last, and
    `turns` those that keys have used up, for fairness.
    """

    running: dict[str, int] = field(default_factory=dict)
    begun: list[int] = field(default_factory=list)
    tokens: float | None = None
    tokens_at: int = 0
    ended: list[tuple[int, int, int]] = field(default_factory=list)
    phase: Phase = Phase.CLOSED
    since: int = 0
    probing: list[str] = field(default_factory=list)
    passed: int = 0
    released: int = 0
    held_until: int = 0
    waiting: list[QueuedCall] = field(default_factory=list)
    turn: float = 0.0
    turns: dict[str, float] = field(default_factory=dict)
    numbered: int = 0

    def waiter(self, call: CallId) -> QueuedCall | None:
        return next((one for one in self.waiting if one.call == call), None)

    def enter(self, waiter: QueuedCall) -> None:
        insort(self.waiting, waiter, key=lambda one: one.order)


_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(GuardState)


def encode_state(state: GuardState) -> str:
    return _encode(state).decode()


def decode_state(text: str | None) -> GuardState:
    """Nothing was kept: nothing has happened."""
    return GuardState() if text is None else _decoder.decode(text)
