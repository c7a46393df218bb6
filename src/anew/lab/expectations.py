"""Compare what a simulation gave with what its author expects of it.

The rules of `expect`: which keys there are, what each may say, and when it is met. Knows reports
and texts; not how they came about, nor how a difference is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import zip_longest
from json import dumps

from msgspec import Struct

from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.lab import expect_forms as forms
from anew.program.findings import did_you_mean
from anew.values import Object, Value, is_number, is_whole, json_text

# As far as two numbers of seconds, or two fractions, may differ and still be the same.
TOLERANCE = 1e-6
# What a message quotes of a value; its difference shows the rest.
_QUOTED_CHARACTERS = 120
# Fewer lines are told apart at a glance.
_DIFF_LINES_MIN = 6
# A difference of longer texts would take longer to find than anybody reads.
DIFF_LINES_MAX = 20_000


class UnmetExpectation(Struct, frozen=True):
    """An expectation that was not met. `what` is its place below `expect`."""

    what: str
    message: str
    expected: Value = None
    found: Value = None


class Observed(Struct, frozen=True):
    """What a simulation gave: its report, exit status and timeline, as `anew simulate` has them."""

    report: Object
    exit_status: int
    timeline: str = ""


def checked(expect: Object, where: str) -> Object:
    """The same expectations; ConfigError when a key is unknown, or says what it cannot."""
    for key, value in expect.items():
        known = _KEYS.get(key)
        if known is None:
            hint = did_you_mean(str(key), _KEYS) or f"Known: {', '.join(_KEYS)}."
            raise ConfigError(f"{where}: unknown key {key!r}. {hint}")
        if not known.fits(value):
            raise ConfigError(f"{where}.{key} must be {known.form}, not {quoted(value)}")
    if expect.get("parallel") and any("seconds" not in one for one in _named_delays(expect)):
        raise ConfigError(f"{where}.delays: with `parallel` every delay must say its seconds")
    return expect


def unmet(expect: Object, seen: Observed) -> list[UnmetExpectation]:
    """Every expectation that `seen` does not meet, in the order of the keys."""
    is_parallel = bool(expect.get("parallel"))
    return [
        failure
        for key, value in expect.items()
        for failure in _KEYS[key].unmet(value, seen, is_parallel)
    ]


def difference(failure: UnmetExpectation) -> list[str]:
    """The lines of a unified diff; none where the message has said it all."""
    expected, found = _lines(failure.expected), _lines(failure.found)
    if max(len(expected), len(found)) < _DIFF_LINES_MIN:
        return []
    wanted, told = expected[:DIFF_LINES_MAX], found[:DIFF_LINES_MAX]
    return list(unified_diff(wanted, told, "expected", "found", lineterm=""))


def quoted(value: Value) -> str:
    """A value on one line, cut to what a message can hold."""
    text = json_text(value)
    return text if len(text) <= _QUOTED_CHARACTERS else f"{text[: _QUOTED_CHARACTERS - 1]}…"


def _lines(value: Value) -> list[str]:
    """One line per part of a value. A comma would make the last part differ from itself."""
    if isinstance(value, str):
        return value.splitlines()
    lines = dumps(value, ensure_ascii=False, indent=2).splitlines()
    return [line.removesuffix(",") for line in lines]


# --- what each key asks --------------------------------------------------------------------------


def _failure(what: str, expected: Value, found: Value) -> UnmetExpectation:
    message = f"{what}: expected {quoted(expected)}, found {quoted(found)}"
    return UnmetExpectation(what, message, expected, found)


def _equal(key: str) -> _Asks:
    def asks(expected: Value, seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
        if not _is_same(expected, seen.report[key]):
            yield _failure(key, expected, seen.report[key])

    return asks


def _part(key: str) -> _Asks:
    def asks(expected: Value, seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
        yield from _missing(key, expected, seen.report.get(key))

    return asks


def _missing(what: str, part: Value, whole: Value) -> Iterator[UnmetExpectation]:
    """What of a mapping the other one does not have; 12 and 12.0 are alike here."""
    if not (isinstance(part, dict) and isinstance(whole, dict)):
        if not _is_same(part, whole, is_typed=False):
            yield _failure(what, part, whole)
        return
    for key, value in part.items():
        if key not in whole:
            message = f"{what}.{key}: expected {quoted(value)}, but it is not there"
            yield UnmetExpectation(f"{what}.{key}", message, value, None)
        else:
            yield from _missing(f"{what}.{key}", value, whole[key])


def _ctx(expected: Object, seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
    """Other keys are allowed; a key that is named has exactly this value."""
    ctx = seen.report["ctx"]
    for key, value in expected.items():
        if key not in ctx:
            message = f"ctx.{key}: expected {quoted(value)}, but nothing was written there"
            yield UnmetExpectation(f"ctx.{key}", message, value, None)
        elif not _is_same(value, ctx[key]):
            yield _failure(f"ctx.{key}", value, ctx[key])


def _noctx(expected: list[str], seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
    ctx = seen.report["ctx"]
    for key in expected:
        if key in ctx:
            message = f"noctx: ctx.{key} should not be there, and is {quoted(ctx[key])}"
            yield UnmetExpectation(f"noctx.{key}", message, None, ctx[key])


def _visits(expected: list[str], seen: Observed, is_parallel: bool) -> Iterator[UnmetExpectation]:
    found = seen.report["visits"]
    order: Callable[[list[str]], list[str]] = sorted if is_parallel else list
    if order(expected) != order(found):
        yield _failure("visits", order(expected), order(found))


def _branches(expected: list[list[str]], seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
    visits = seen.report["visits"]
    for number, branch in enumerate(expected):
        rest = iter(visits)
        if not all(step in rest for step in branch):
            what = f"branches[{number}]"
            message = f"{what}: {quoted(branch)} were not visited in this order: {quoted(visits)}"
            yield UnmetExpectation(what, message, branch, visits)


def _attempts(expected: Mapping[str, int], seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
    found = seen.report["attempts"]
    for label, count in expected.items():
        if found.get(label, 0) != count:
            hint = did_you_mean(label, found) if label not in found else None
            failure = _failure(f"attempts.{label}", count, found.get(label, 0))
            message = f"{failure.message}. {hint}" if hint else failure.message
            yield UnmetExpectation(failure.what, message, count, found.get(label, 0))


def _delays(expected: list[Value], seen: Observed, is_parallel: bool) -> Iterator[UnmetExpectation]:
    wanted = [one if isinstance(one, dict) else {"seconds": one} for one in expected]
    found = list(seen.report["delays"])
    if is_parallel:
        wanted.sort(key=_seconds)
        found.sort(key=_seconds)
    pairs = zip_longest(wanted, found)
    if all(a is not None and b is not None and _is_delay(a, b) for a, b in pairs):
        return
    is_plain = all(not isinstance(one, dict) for one in expected)
    told = [one["seconds"] for one in found] if is_plain else found
    yield _failure("delays", [one["seconds"] for one in wanted] if is_plain else wanted, told)


def _seconds(delay: Object) -> float:
    return float(delay["seconds"])


def _is_delay(wanted: Object, found: Object) -> bool:
    return all(
        _is_near(value, found[key]) if key == "seconds" else value == found[key]
        for key, value in wanted.items()
    )


def _elapsed(expected: float, seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
    if not _is_near(expected, seen.report["elapsed"]):
        yield _failure("elapsed", expected, seen.report["elapsed"])


def _error_kind(expected: str | None, seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
    kind = (seen.report["error"] or {}).get("kind")
    if kind != expected:
        yield _failure("error_kind", expected, kind)


def _exit_status(expected: int, seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
    if seen.exit_status != expected:
        yield _failure("exit_status", expected, seen.exit_status)


def _timeline(expected: str, seen: Observed, _: bool) -> Iterator[UnmetExpectation]:
    yield from timeline_failure(expected, seen.timeline)


def timeline_failure(expected: str, found: str) -> Iterator[UnmetExpectation]:
    """Where two timelines part.

    One that an author writes into a scenario may leave out the spaces before the times, which YAML
    would need to be told of.
    """
    trim = str.rstrip if expected.startswith(" ") else str.strip
    wanted, told = _lines_of(expected, trim), _lines_of(found, trim)
    if wanted == told:
        return
    pairs = enumerate(zip_longest(wanted, told), 1)
    line = next(number for number, (a, b) in pairs if a != b)
    message = f"timeline: another one from line {line} on"
    yield UnmetExpectation("timeline", message, "\n".join(wanted), "\n".join(told))


def _lines_of(timeline: str, trim: Callable[[str], str]) -> list[str]:
    return [trim(line) for line in timeline.rstrip().splitlines()]


def _nothing(*_: Value) -> Iterator[UnmetExpectation]:
    """A key that says how others are compared."""
    return iter(())


# --- values --------------------------------------------------------------------------------------


def _is_same(expected: Value, found: Value, *, is_typed: bool = True) -> bool:
    """Equal down to the leaves; `is_typed` tells whole numbers from fractions."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(
            _is_same(value, found[key], is_typed=is_typed) for key, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(found, list):
        pairs = zip(expected, found, strict=False)
        is_like = (_is_same(a, b, is_typed=is_typed) for a, b in pairs)
        return len(expected) == len(found) and all(is_like)
    if is_number(expected) and is_number(found):
        return _is_near(expected, found) and (not is_typed or type(expected) is type(found))
    return type(expected) is type(found) and bool(expected == found)


def _is_near(expected: float, found: float) -> bool:
    if isinstance(expected, int) and isinstance(found, int):
        return expected == found
    return expected == found or abs(expected - found) <= TOLERANCE


def _named_delays(expect: Object) -> Sequence[Object]:
    return [one for one in expect.get("delays", ()) if isinstance(one, dict)]


def _is_status(value: Value) -> bool:
    return value in STATUSES


_Asks = Callable[[Value, Observed, bool], Iterator[UnmetExpectation]]


class _Key(Struct, frozen=True):
    """A row of the table below: what may be said, in words, and what is then asked."""

    fits: Callable[[Value], bool]
    form: str
    unmet: _Asks


# A run that is played has begun.
STATUSES = [word for word in RunStatus if word is not RunStatus.NEW]
_UNDONE = "{done, failed} as whole numbers, or null"
_STEPS, _TEXT = "a list of step names", "a text"
_KEYS: Mapping[str, _Key] = {
    "status": _Key(_is_status, f"one of {', '.join(STATUSES)}", _equal("status")),
    "exit_status": _Key(is_whole, "a whole number", _exit_status),
    "visits": _Key(forms.are_texts, _STEPS, _visits),
    "branches": _Key(forms.are_lists, "a list of lists of step names", _branches),
    "attempts": _Key(forms.are_counts, "a mapping of task labels to whole numbers", _attempts),
    "delays": _Key(forms.are_delays, "a list of seconds or of {task, attempt, seconds}", _delays),
    "elapsed": _Key(is_number, "a number of seconds", _elapsed),
    "ctx": _Key(forms.is_mapping, "a mapping", _ctx),
    "noctx": _Key(forms.are_texts, "a list of keys", _noctx),
    "error": _Key(forms.or_null(forms.is_mapping), "a mapping, or null", _part("error")),
    "error_kind": _Key(forms.or_null(forms.is_text), "a text, or null", _error_kind),
    "result": _Key(forms.is_anything, "a value", _part("result")),
    "handled": _Key(forms.are_texts, _STEPS, _equal("handled")),
    "compensation": _Key(forms.or_null(forms.are_counts), _UNDONE, _part("compensation")),
    "unsatisfied": _Key(forms.are_texts, _STEPS, _equal("unsatisfied")),
    "language": _Key(forms.is_text, _TEXT, _equal("language")),
    "dialect": _Key(forms.is_text, _TEXT, _equal("dialect")),
    "timeline": _Key(forms.is_text, _TEXT, _timeline),
    "parallel": _Key(forms.is_flag, "true or false", _nothing),
    "loops": _Key(forms.are_texts, _STEPS, _nothing),
}
EXPECT_KEYS = tuple(_KEYS)
