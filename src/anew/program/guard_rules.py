"""Read the rules of guards from plain values, wherever they were written.

A document, the server's file and an operator write them alike. What is wrong is told with the path
to it, and is left out. Knows nothing of what reads the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from anew.expressions import ExpressionError, compile_template
from anew.program.findings import Suggestions
from anew.program.guards import (
    NANOSECONDS,
    RATE_COUNT_MAX,
    Breaker,
    GuardRule,
    RateLimit,
    RetryBudget,
)
from anew.values import Object, Value, json_text, parse_seconds

# More than anyone has; what is written down must be a number of JSON.
_MOST = 1e12
# What any of these may be at most: a hundred years.
_SECONDS_MAX = 100 * 366 * 86400.0
_FORM = "Write `{stripe: {concurrency: 8}}`: rules by the name of the dependency."


class RuleProblem(Struct, frozen=True):
    """What is wrong with the value at `path`, and what to write instead."""

    path: tuple[str, ...]
    message: str
    remedy: str


class _Wrong(Exception):
    """A value is not what its key takes."""

    def __init__(self, needs: str, example: str) -> None:
        super().__init__(needs)
        self.needs, self.example = needs, example


_Reader: TypeAlias = Callable[[Value], Any]


def read_rules(value: Value) -> tuple[list[GuardRule], list[RuleProblem]]:
    """The rules of a mapping from pattern to what holds there."""
    if not isinstance(value, Mapping):
        return [], [_problem((), f"the rules must be a mapping; found {_shown(value)}", _FORM)]
    rules, problems = [], []
    for pattern, said in value.items():
        rule, wrong = read_rule(str(pattern), said)
        problems += wrong
        if rule is not None:
            rules.append(rule)
    return rules, problems


def read_rule(pattern: str, value: Value) -> tuple[GuardRule | None, list[RuleProblem]]:
    """What one pattern says."""
    wrong = _pattern_problem(pattern)
    if wrong is not None:
        return None, [wrong]
    if not isinstance(value, Mapping):
        message = f"what holds for {pattern} must be a mapping; found {_shown(value)}"
        return None, [_problem((pattern,), message, _FORM)]
    given, problems = _fields((pattern,), value, RULE_KEYS, "a dependency")
    return GuardRule(pattern, **given), problems


def _pattern_problem(pattern: str) -> RuleProblem | None:
    levels = pattern.split("/")
    has_star = any("*" in level and level not in ("*", "**") for level in levels)
    if not pattern.strip() or has_star or "**" in levels[:-1]:
        message = f"{pattern!r} is not a pattern: `*` is a whole level, and `**` the last one"
        return _problem((pattern,), message, "Write `stripe`, `stripe/*` or `stripe/**`.")
    return None


def _fields(
    path: tuple[str, ...], value: Mapping[str, Value], readers: Mapping[str, _Reader], what: str
) -> tuple[dict[str, Any], list[RuleProblem]]:
    """The keys of a mapping, each by its reader."""
    given: dict[str, Any] = {}
    problems: list[RuleProblem] = []
    for key, said in value.items():
        place, reader = (*path, str(key)), readers.get(str(key))
        if reader is None:
            remedy = Suggestions().remedy(str(key), list(readers))
            problems.append(_problem(place, f"key {str(key)!r} is unknown in {what}", remedy))
            continue
        if said is None:
            continue
        try:
            given[str(key)] = reader(said)
        except _Wrong as wrong:
            message = f"{key} must be {wrong.needs}; found {_shown(said)}"
            problems.append(_problem(place, message, f"Write `{key}: {wrong.example}`."))
        except _Several as several:
            problems += several.below(place)
    return given, problems


class _Several(Exception):
    """What is wrong inside a mapping."""

    def __init__(self, problems: list[RuleProblem]) -> None:
        super().__init__("several")
        self.problems = problems

    def below(self, path: tuple[str, ...]) -> list[RuleProblem]:
        return [RuleProblem((*path, *one.path), one.message, one.remedy) for one in self.problems]


def _problem(path: tuple[str, ...], message: str, remedy: str) -> RuleProblem:
    return RuleProblem(path, message, remedy)


def _shown(value: Value) -> str:
    text = json_text(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


# --- values ---------------------------------------------------------------------------------------


def _whole(most: int = 1_000_000_000) -> _Reader:
    def read(value: Value) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise _Wrong(f"a whole number from 1 to {most:,}", "8")
        return value

    return read


def _number(least: float, most: float, example: str) -> _Reader:
    def read(value: Value) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not least <= value <= most:
            upper = "" if most == _MOST else f" and at most {most:g}"
            raise _Wrong(f"a number of at least {least:g}{upper}", example)
        return float(value)

    return read


def _duration(value: Value) -> int:
    """In nanoseconds, and longer than nothing."""
    seconds = parse_seconds(value) if isinstance(value, str) else value
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds <= _SECONDS_MAX:  # type: ignore[operator]
        raise _Wrong("a duration above 0 (2.5, 500ms, 1m30s)", "30s")
    return max(1, round(seconds * NANOSECONDS))  # type: ignore[operator]


def _flag(value: Value) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("true or false", "true")
    return value


def _template(value: Value) -> object:
    if not isinstance(value, str):
        raise _Wrong("a text or an expression", '"{{ workload.tenant }}"')
    try:
        return compile_template(value)
    except ExpressionError as error:
        raise _Wrong(
            f"an expression that can be read ({error.message})", '"{{ workload.x }}"'
        ) from None


def _waits(value: Value) -> bool:
    if value not in ("wait", "fail"):
        raise _Wrong("`wait` or `fail`", "wait")
    return bool(value == "wait")


def _mapping(
    readers: Mapping[str, _Reader],
    make: Callable[..., object],
    what: str,
    *,
    required: tuple[str, ...] = (),
    example: str,
    renamed: Mapping[str, str] | None = None,
) -> _Reader:
    def read(value: Value) -> object:
        if not isinstance(value, Mapping):
            raise _Wrong("a mapping", example)
        given, problems = _fields((), value, readers, what)
        missing = [key for key in required if key not in value]
        if missing:
            problems.append(
                _problem((), f"{what} needs {' and '.join(missing)}", f"Write {example}.")
            )
        if problems:
            raise _Several(problems)
        names = renamed or {}
        return make(**{names.get(key, key): said for key, said in given.items()})

    return read


RULE_KEYS: Mapping[str, _Reader] = {
    "concurrency": _whole(),
    "rate": _mapping(
        {"count": _whole(RATE_COUNT_MAX), "per": _duration},
        RateLimit,
        "a rate",
        required=("count", "per"),
        example="{count: 100, per: 1s}",
    ),
    "fair_by": _template,
    "budget": _mapping(
        {
            "capacity": _number(0, _MOST, "500"),
            "retry": _number(0, _MOST, "14"),
            "throttled": _number(0, _MOST, "5"),
            "refund": _number(0, _MOST, "1"),
            "refill": _number(0, _MOST, "1"),
            "on_empty": _waits,
        },
        RetryBudget,
        "a budget",
        example="{capacity: 500}",
        renamed={"on_empty": "waits"},
    ),
    "breaker": _mapping(
        {
            "failures": _whole(),
            "ratio": _number(0, 1, "0.5"),
            "window": _duration,
            "open": _duration,
            "probes": _whole(),
            "cohort": _whole(),
            "growth": _number(1, _MOST, "2"),
            "every": _duration,
        },
        Breaker,
        "a breaker",
        example="{failures: 10}",
    ),
    "cooldown": _flag,
}


# --- back to values -------------------------------------------------------------------------------


def written(rules: Iterable[GuardRule]) -> Object:
    """The rules as `read_rules` takes them."""
    return {rule.pattern: _written(rule) for rule in rules}


def _written(rule: GuardRule) -> Object:
    found: Object = {}
    if rule.concurrency is not None:
        found["concurrency"] = rule.concurrency
    if rule.rate is not None:
        found["rate"] = {"count": rule.rate.count, "per": _seconds(rule.rate.per)}
    if rule.fair_by is not None:
        found["fair_by"] = rule.fair_by.source
    if rule.budget is not None:
        found["budget"] = asdict(rule.budget)
        found["budget"]["on_empty"] = "wait" if found["budget"].pop("waits") else "fail"
    if rule.breaker is not None:
        durations = ("window", "open", "every")
        found["breaker"] = {
            key: _seconds(value) if key in durations else value
            for key, value in asdict(rule.breaker).items()
        }
    if rule.cooldown is not None:
        found["cooldown"] = rule.cooldown
    return found


def _seconds(nanoseconds: int) -> float:
    return nanoseconds / NANOSECONDS
