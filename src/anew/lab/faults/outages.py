"""When the other side refuses calls, and in which words.

Refusals come in bursts: a dependency is out for a while, and every task that calls it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from random import Random
from urllib.parse import urlsplit

from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import with_word
from anew.lab.faults.chance import Chance
from anew.lab.faults.kinds import REFUSE
from anew.lab.outcome_sources import ExecutionStart
from anew.lab.script import ScriptEntry
from anew.program.kind import RETRY_AFTER, OutcomeSource, TargetForm
from anew.program.kinds import kind_named
from anew.values import Object, Value

OUTAGE_SECONDS_MEAN = 30.0
# What is out more rarely than once in so long is never out in a run.
RAREST_SECONDS = 1e12
# After so long without a call, nothing is left of what a dependency was like.
FORGOTTEN_SECONDS = 86_400
RETRY_AFTER_SECONDS = 60
# The share of those that name a date instead of seconds.
DATES = 0.25


class Outages:
    """Which dependencies are out at a moment of one run."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._known: dict[str, _Dependency] = {}

    def refusal(self, asking: ExecutionStart) -> ScriptEntry | None:
        """What a call that begins now is answered instead, if its other side is out."""
        is_own = kind_named(asking.kind).outcome_from is not OutcomeSource.WORLD
        if is_own or not self._chance.rate(REFUSE):
            return None
        name = dependency_of(asking)
        if name not in self._known:
            seed = f"{self._chance.seed}:{REFUSE}:{name}"
            self._known[name] = _Dependency(Random(seed), self._chance.rate(REFUSE), asking.now)
        left = self._known[name].seconds_left(asking.now)
        if left is None:
            return None
        self._chance.note(REFUSE, f"{place_of(asking)} is refused by {name}", at=asking.now)
        return ScriptEntry(_failure(asking, left, self._chance.stream(REFUSE)), 1, 0)


class _Dependency:
    """Out and back in turn, for times that are drawn; out for `rate` of all time."""

    def __init__(self, random: Random, rate: float, now: int) -> None:
        self._random = random
        self._rate = rate
        self._begin(now)

    def _begin(self, now: int) -> None:
        self._is_out = self._random.random() < self._rate
        self._until = now + self._span()

    def seconds_left(self, now: int) -> float | None:
        """How long it is still out; None when it is not."""
        if now - self._until > FORGOTTEN_SECONDS * NANOSECONDS:
            self._begin(now)
        while self._until <= now:
            self._is_out = self._rate >= 1 or not self._is_out
            self._until += self._span()
        return (self._until - now) / NANOSECONDS if self._is_out else None

    def _span(self) -> int:
        mean = OUTAGE_SECONDS_MEAN
        if not self._is_out:
            mean = min(mean * (1 - self._rate) / self._rate, RAREST_SECONDS)
        return 1 + round(self._random.expovariate(1 / mean) * NANOSECONDS)


def place_of(asking: ExecutionStart) -> str:
    """How a fault names what it struck."""
    return f"{asking.key.step}.{asking.label}"


def dependency_of(asking: ExecutionStart) -> str:
    """Whom a call goes to: a host, a database, a model; else only the task itself."""
    inputs: Object = asking.inputs if isinstance(asking.inputs, dict) else {}
    target = kind_named(asking.kind).target
    if target is not None and target.form is TargetForm.HOST:
        url = inputs.get(target.inputs[0])
        if isinstance(url, str):
            return f"{asking.kind} {_host(url)}"
    for word in ("auth", "database", "provider", "backend", "model"):
        if isinstance(inputs.get(word), str):
            return f"{asking.kind} {inputs[word]}"
    if target is not None and target.default is not None:
        return asking.kind
    return f"{asking.kind} {asking.key.step}.{asking.label}"


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc or url
    except ValueError:
        return url


def _failure(asking: ExecutionStart, left: float, random: Random) -> Object:
    outage = kind_named(asking.kind).outage
    seconds = random.randint(1, max(1, min(RETRY_AFTER_SECONDS, round(left))))
    retry_after = _retry_after(seconds, asking.now, random)
    said = {key: _filled(value, retry_after) for key, value in outage.says.items()}
    message = with_word(outage.kind, f"{outage.message} (fault)")
    return {"error": {"kind": outage.kind, "message": message}, **said}


def _filled(value: Value, retry_after: str) -> Value:
    """The value with the time to wait in the place that is kept for it."""
    if isinstance(value, Mapping):
        return {key: _filled(one, retry_after) for key, one in value.items()}
    return retry_after if value == RETRY_AFTER else value


def _retry_after(seconds: int, now: int, random: Random) -> str:
    if random.random() >= DATES:
        return str(seconds)
    date = datetime.fromtimestamp(now // NANOSECONDS + seconds, UTC)
    return date.strftime("%a, %d %b %Y %H:%M:%S GMT")
