"""Say a compiled directive in the words of playbooks, with the value of every setting it has.

Knows programs only. What an author need not write is `USUAL`; whoever wants less leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from anew.expressions import Template
from anew.program.policy import Break, Continue, Directive, Fail, Jump, Retry
from anew.program.retry import Backoff, Jitter, JitterKind
from anew.values import Object, Value


def directive_values(then: Directive) -> Object:
    return {"do": then.kind.value, **dict(_settings(then))}


def _settings(then: Directive) -> Iterator[tuple[str, Value]]:
    match then:
        case Continue():
            if then.verdict is not None:
                yield "verdict", then.verdict.value
        case Break():
            pass
        case Fail():
            if then.message is not None:
                yield "message", then.message.source
        case Jump():
            yield "to", then.to
            if then.delay is not None:
                yield "delay", source_of(then.delay)
            if then.most is not None:
                yield "most", then.most
            if then.max_elapsed is not None:
                yield "max_elapsed", source_of(then.max_elapsed)
        case Retry():
            yield from _retry(then)
        case _:
            assert_never(then)


def _retry(retry: Retry) -> Iterator[tuple[str, Value]]:
    yield "attempts", source_of(retry.attempts)
    if retry.by_error:
        yield "backoff", {row: _row(backoff) for row, backoff in retry.by_error}
        yield "honor_retry_after", retry.backoff.honor_retry_after
    else:
        yield from _backoff(retry.backoff)
    if retry.max_elapsed is not None:
        yield "max_elapsed", source_of(retry.max_elapsed)
    yield "budget", retry.budget.value
    if retry.to is not None:
        yield "to", retry.to
    yield (
        "on_exhausted",
        directive_values(retry.on_exhausted.then if retry.on_exhausted else Fail()),
    )


def _backoff(backoff: Backoff) -> Iterator[tuple[str, Value]]:
    yield "backoff", backoff.kind.value
    listed = [source_of(delay) for delay in backoff.table]
    yield "delay", listed or source_of(backoff.first)
    if backoff.kind.has_factor:
        yield "multiplier", backoff.factor
    if backoff.cap is not None:
        yield "max_delay", source_of(backoff.cap)
    yield "jitter", jitter_value(backoff.jitter)
    yield "honor_retry_after", backoff.honor_retry_after


def _row(backoff: Backoff) -> Object:
    """The delays after one kind of error."""
    found = {"kind" if key == "backoff" else key: value for key, value in _backoff(backoff)}
    del found["honor_retry_after"]
    return found


def jitter_value(jitter: Jitter) -> Value:
    """A jitter as documents write it."""
    match jitter.kind:
        case JitterKind.NONE:
            return False
        case JitterKind.PLUS_MINUS_HALF:
            return True
        case JitterKind.ADDED:
            return jitter.fraction
        case JitterKind.FULL | JitterKind.EQUAL | JitterKind.DECORRELATED:
            return jitter.kind.value
        case _:
            assert_never(jitter.kind)


def source_of(value: float | int | Template) -> Value:
    """A number, or the template that yields it."""
    return value.source if isinstance(value, Template) else value


# What each setting of a retry is where nobody says it.
USUAL: Mapping[str, Value] = {**dict(_retry(Retry())), "multiplier": Backoff().factor}
