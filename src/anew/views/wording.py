"""Small texts that several views share: durations, errors, places, the shortest telling fact.

Everything here is for people. It may hold whatever a document or the world said, so a surface
makes it safe for a terminal before it prints it.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple, assert_never

from anew.engine.events import Fact, StepDone, TaskHeld, TaskRetryExhausted, WaitSkipped
from anew.engine.events.words import RetryLimit
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import Outcome
from anew.program.kinds import HELPERS
from anew.program.policy import Verdict
from anew.values import Object, Value, json_text

TEXT_CHARACTERS_MAX = 100
# Where an error is what someone looks for, it may say what to do about it.
ERROR_CHARACTERS_MAX = 500

# How a path writes a dot that belongs to a key.
_DOT_IN_KEY = "\\."
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
# Below this, tenths of a second say something.
_TENTHS_BELOW_SECONDS = 10


def exact_seconds(seconds: float) -> str:
    """Up to three decimals, at least one: `2.0 s`, `2.34 s`."""
    text = f"{seconds:.3f}".rstrip("0")
    return f"{text}0 s" if text.endswith(".") else f"{text} s"


def duration(seconds: float) -> str:
    """As a person would say it: `3.2 s`, `41 s`, `2 min 5 s`, `1 h 3 min`, `2 d 4 h`."""
    seconds = max(0.0, seconds)
    if seconds < 1:
        return f"{round(seconds, 3):g} s"
    if seconds < _TENTHS_BELOW_SECONDS:
        return f"{seconds:.1f} s".replace(".0 ", " ")
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return _two(whole, (_MINUTE, "min"), (1, "s"))
    if whole < _DAY:
        return _two(whole, (_HOUR, "h"), (_MINUTE, "min"))
    return _two(whole, (_DAY, "d"), (_HOUR, "h"))


def _two(whole: int, large: tuple[int, str], small: tuple[int, str]) -> str:
    count, rest = divmod(whole, large[0])
    rest //= small[0]
    return f"{count} {large[1]} {rest} {small[1]}" if rest else f"{count} {large[1]}"


def counted(number: int, noun: str) -> str:
    """`1 step`, `2 steps`, `2 retries`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def one_line(text: str, *, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
    """On one line, and not longer than a line should be."""
    line = " ".join(text.split())
    return line if len(line) <= characters_max else f"{line[: characters_max - 1]}…"


def error_text(error: Object, *, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
    """The kind and the message of an error; of which type it is, where it says so."""
    kind, message = str(error.get("kind")), str(error.get("message"))
    named = f"{kind} ({error['type']})" if error.get("type") else kind
    # Some messages begin with the word of their kind.
    told = message.removeprefix(f"{kind}: ")
    return one_line(f"{named}: {told}", characters_max=characters_max)


class ToolCode(NamedTuple):
    """The code by which people know an error of a tool: `HTTP`, 503."""

    name: str
    value: Value


def tool_code(outcome: Outcome) -> ToolCode | None:
    """What the helper of the tool has as its code."""
    for name, said in outcome.helpers.items():
        helper = HELPERS.get(name)
        if helper is not None and helper.code is not None and isinstance(said, dict):
            value = said.get(helper.code)
            if value not in (None, ""):
                return ToolCode(helper.code_name, value)
    return None


def failure_text(outcome: Outcome) -> str:
    """What went wrong: the tool's own code first, then what the error says beyond it."""
    error = outcome.error or {}
    message = str(error.get("message") or "")
    found = tool_code(outcome)
    if found is None:
        return error_text(error)
    code = f"{found.name} {found.value}"
    said = message.removeprefix(code).lstrip(" :")
    is_news = said and said not in (str(error.get("kind")), str(found.value))
    if not is_news:
        return code
    # A sentence that begins with the code goes on as it is.
    return one_line(message if message.startswith(f"{code} ") else f"{code}: {said}")


def lesser_verdict(event: StepDone) -> str | None:
    """`partial` or `skipped`: what a step that is done may be instead of a success.

    One that went on after an error has told the error already.
    """
    return event.verdict if event.verdict in (Verdict.PARTIAL, Verdict.SKIPPED) else None


def held_text(event: TaskHeld) -> str:
    """By which guard of what, why, and behind how many."""
    behind = f"behind {event.behind}" if event.behind else ""
    return joined(f"{event.guard.value} of {event.scope}", event.reason, behind)


def spent_text(event: TaskRetryExhausted) -> str:
    """Which limit of a retry is used up."""
    match event.reason:
        case RetryLimit.ATTEMPTS:
            return f"the rule allows {event.attempts}"
        case RetryLimit.MAX_ELAPSED:
            return "its time is over"
        case RetryLimit.BUDGET:
            return "the retry budget of its dependency is empty"
        case _:
            assert_never(event.reason)


def skipped_text(event: WaitSkipped) -> str:
    """Who ended a wait, and how long before its time: `wait skipped by ann, 41 s early`."""
    return f"wait {skip_text(event.by, seconds_early(event))}"


def skip_text(by: str | None, early: float | None) -> str:
    """`skipped by ann, 41 s early`, as far as it is known."""
    who = f" by {one_line(by)}" if by else ""
    return f"skipped{who}" if early is None else f"skipped{who}, {duration(early)} early"


def seconds_early(event: WaitSkipped) -> float | None:
    """How long a wait would have lasted; None when the log does not tell."""
    return None if event.not_before is None else (event.not_before - event.at) / NANOSECONDS


def place_text(event: Fact) -> str:
    """Where: `run`, `fetch`, `fetch[3]`; with the task's label where that is another word."""
    if event.step is None:
        return "run"
    step = event.step if event.iteration is None else f"{event.step}[{event.iteration}]"
    return step if event.task in (None, event.step) else f"{step}.{event.task}"


def writes_of(patches: Object, *, only: Container[str] | None = None) -> list[str]:
    """`ctx.page = 2` for each value written; `only` those of these keys."""
    return [
        f"{place}.{key.replace(_DOT_IN_KEY, '.')} = {one_line(json_text(value))}"
        for place, values in patches.items()
        for key, value in values.items()
        if only is None or key.replace(_DOT_IN_KEY, ".") in only
    ]


def joined(*parts: str) -> str:
    """The parts that say something."""
    return " · ".join(part for part in parts if part)
