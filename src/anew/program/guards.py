"""What protects a dependency, as data: rules by pattern, and which of them hold for a name.

A pattern is a name in levels (`stripe/acme`); `*` stands for one level and `**` for the rest. One
without either counts everything below its name together, the others count each name by itself.
`guards/` decides with these; `program/guard_rules.py` reads them. Knows nothing of what happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from anew.expressions import Template

NANOSECONDS = 1_000_000_000
# The moments of so many calls are kept, to be exact; a longer list would be written with each call.
RATE_COUNT_MAX = 10_000


class GuardKey(StrEnum):
    """What a rule may say; all but the last hold calls, and are asked in this order."""

    PAUSE = "pause_until"
    COOLDOWN = "cooldown"
    BREAKER = "breaker"
    BUDGET = "budget"
    RATE = "rate"
    CONCURRENCY = "concurrency"
    FAIR_BY = "fair_by"


class RateLimit(Struct, frozen=True):
    """At most `count` calls begin in any window of `per` nanoseconds."""

    count: int
    per: int


class RetryBudget(Struct, frozen=True):
    """A bucket of tokens. The defaults are those of the standard retry mode of the AWS SDKs.

    `refill` is tokens a second. When it is empty a retry `waits`, or counts as exhausted.
    """

    capacity: float = 500.0
    retry: float = 14.0
    throttled: float = 5.0
    refund: float = 1.0
    refill: float = 0.0
    waits: bool = False


class Breaker(Struct, frozen=True):
    """When calls that fail stop others, and how they begin again. Durations are nanoseconds."""

    failures: int = 10
    ratio: float = 0.5
    window: int = 60 * NANOSECONDS
    open: int = 30 * NANOSECONDS
    probes: int = 1
    cohort: int = 2
    growth: float = 2.0
    every: int = NANOSECONDS


class GuardRule(Struct, frozen=True):
    """What one pattern says; None where it says nothing. `pause_until` is a moment."""

    pattern: str
    concurrency: int | None = None
    rate: RateLimit | None = None
    fair_by: Template | None = None
    budget: RetryBudget | None = None
    breaker: Breaker | None = None
    cooldown: bool | None = None
    pause_until: int | None = None


class ScopeLimits(Struct, frozen=True):
    """What holds where: the state named `scope` is kept for it, and each key is from some rule."""

    scope: str
    concurrency: int | None = None
    rate: RateLimit | None = None
    budget: RetryBudget | None = None
    breaker: Breaker | None = None
    cooldown: bool = False
    pause_until: int | None = None


class Governing(Struct, frozen=True):
    """All that holds for one dependency."""

    scopes: tuple[ScopeLimits, ...] = ()
    fair_by: Template | None = None

    def of(self, scope: str) -> ScopeLimits:
        """Nothing but the name, for a scope that does not govern it any more."""
        return next((one for one in self.scopes if one.scope == scope), ScopeLimits(scope))


def governing(sources: Sequence[Iterable[GuardRule]], dependency: str) -> Governing:
    """The most specific pattern gives each key; of an earlier source before those of later ones."""
    found: dict[str, dict[str, object]] = {}
    fair_by, seen = None, set[GuardKey]()
    for rules in sources:
        fitting = [rule for rule in rules if matches(rule.pattern, dependency)]
        for rule in sorted(fitting, key=lambda rule: _specificity(rule.pattern), reverse=True):
            for key in GuardKey:
                value = getattr(rule, key.value)
                if value is None or key in seen:
                    continue
                seen.add(key)
                if key is GuardKey.FAIR_BY:
                    fair_by = value
                elif value is not False:
                    found.setdefault(scope_of(rule.pattern, dependency), {})[key.value] = value
    scopes = (ScopeLimits(scope, **given) for scope, given in found.items())  # type: ignore[arg-type]
    return Governing(tuple(scopes), fair_by)


def scope_of(pattern: str, dependency: str) -> str:
    """Whose calls are counted together."""
    return dependency if "*" in pattern else pattern


def matches(pattern: str, dependency: str) -> bool:
    """Whether a pattern is of this name, or of one above it."""
    levels, names = pattern.split("/"), dependency.split("/")
    for index, level in enumerate(levels):
        if level == "**":
            return True
        if index >= len(names) or level not in ("*", names[index]):
            return False
    return len(levels) == len(names) or "*" not in pattern


def _specificity(pattern: str) -> tuple[int, int, int]:
    levels = pattern.split("/")
    stars = levels.count("*")
    return len(levels) - stars - levels.count("**"), stars, len(levels)
