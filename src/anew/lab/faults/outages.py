"""When the other side refuses calls, and in which words.

Refusals come in bursts: a dependency is out for a while, and every task that calls it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from random import Random
from urllib.parse import urlsplit

from anew.engine.moments import NANOSECONDS
from anew.lab.faults.chance import Chance
from anew.lab.faults.kinds import REFUSE
from anew.lab.playing import Asking
from anew.lab.script import ScriptEntry
from anew.values import Object, Value

OUTAGE_SECONDS_MEAN = 30.0
# What is out more rarely than once in so long is never out in a run.
RAREST_SECONDS = 1e12
# After so long without a call, nothing is left of what a dependency was like.
FORGOTTEN_SECONDS = 86_400
RETRY_AFTER_SECONDS = 60
# The share of those that name a date instead of seconds.
DATES = 0.25
# Nobody is on the other side of these.
_OWN = frozenset({"noop", "relay", "sleep", "restart", "human", "wait", "secrets", "playbook"})


class Outages:
    """Which dependencies are out at a moment of one run."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._known: dict[str, _Dependency] = {}

    def refusal(self, asking: Asking) -> ScriptEntry | None:
        """What a call that begins now is answered instead, if its other side is out."""
        if asking.kind in _OWN or not self._chance.rate(REFUSE):
            return None
        name = dependency_of(asking)
        if name not in self._known:
            seed = f"{self._chance.seed}:{REFUSE}:{name}"
            self._known[name] = _Dependency(Random(seed), self._chance.rate(REFUSE), asking.now)
        left = self._known[name].seconds_left(asking.now)
        if left is None:
            return None
        self._chance.note(REFUSE, f"{place_of(asking)} is refused by {name}", at=asking.now)
        return ScriptEntry(_said(asking, left, self._chance.stream(REFUSE)), 1, 0)


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


def place_of(asking: Asking) -> str:
    """How a fault names what it struck."""
    return f"{asking.key.step}.{asking.label}"


def dependency_of(asking: Asking) -> str:
    """Whom a call goes to: a host, a database, a model; else only the task itself."""
    inputs: Object = asking.inputs if isinstance(asking.inputs, dict) else {}
    url = inputs.get("url")
    if asking.kind == "http" and isinstance(url, str):
        return f"http {_host(url)}"
    for word in ("auth", "database", "provider", "backend", "model"):
        if isinstance(inputs.get(word), str):
            return f"{asking.kind} {inputs[word]}"
    if asking.kind in ("postgres", "duckdb", "sqlite", "agent"):
        return asking.kind
    return f"{asking.kind} {asking.key.step}.{asking.label}"


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc or url
    except ValueError:
        return url


def _said(asking: Asking, left: float, random: Random) -> Object:
    say = _WORDS.get(asking.kind, _connection)
    wish = random.randint(1, max(1, min(RETRY_AFTER_SECONDS, round(left))))
    return say(_retry_after(wish, asking.now, random))


def _retry_after(seconds: int, now: int, random: Random) -> str:
    if random.random() >= DATES:
        return str(seconds)
    date = datetime.fromtimestamp(now // NANOSECONDS + seconds, UTC)
    return date.strftime("%a, %d %b %Y %H:%M:%S GMT")


def _error(kind: str, message: str, **helpers: Value) -> Object:
    return {"error": {"kind": kind, "message": f"{message} (fault)"}, **helpers}


def _http(wish: str) -> Object:
    http = {"status": 429, "headers": {"retry-after": wish}}
    result = {"status_code": 429, "headers": http["headers"], "data": None}
    return _error("rate_limit", "Too Many Requests", http=http, result=result)


def _connection(_: str) -> Object:
    return _error("connection", "the connection was reset")


_WORDS: Mapping[str, Callable[[str], Object]] = {
    "http": _http,
    "agent": lambda wish: _error(
        "rate_limit", "Too Many Requests", http={"status": 429, "headers": {"retry-after": wish}}
    ),
    "postgres": lambda _: _error(
        "db_connection",
        "the server closed the connection",
        pg={"code": "08006", "sqlstate": "08006"},
    ),
    "sqlite": lambda _: _error("db_timeout", "the database is locked"),
    "duckdb": lambda _: _error("db_connection", "the file is locked by another process"),
    "python": lambda _: _error(
        "connection",
        "the connection was reset",
        py={"exception": "the connection was reset", "exception_type": "ConnectionResetError"},
    ),
    "shell": lambda _: _error(
        "exit_code",
        "exit status 75",
        shell={"exit_code": 75},
        result={"exit_code": 75, "stdout": "", "stderr": ""},
    ),
}
