"""Turn a `retry` block (playbook.md#the-retry-block) into rules.

`stop_when` is asked first and wins; without `retry_when` every error is retried. An ok result
that merely kept matching `retry_when` is returned when the attempts are spent.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.expressions import Condition
from anew.languages.nodes import Entry, ListNode, MapNode, ScalarNode
from anew.languages.playbook.compilation import Compilation, Place
from anew.languages.playbook.durations import read_attempts, read_delay, read_factor, read_jitter
from anew.program.policy import (
    NO_POLICY,
    Continue,
    Exhausted,
    Fail,
    OutcomeStatus,
    Policy,
    Retry,
    Rule,
)
from anew.program.retry import (
    ATTEMPTS_DEFAULT,
    DELAY_SECONDS_DEFAULT,
    Backoff,
    BackoffKind,
    Jitter,
    JitterKind,
)
from anew.program.span import Span

MAX_DELAY_DEFAULT = 60.0
RETRY_KEYS = (
    "max_attempts",
    "initial_delay",
    "max_delay",
    "backoff_multiplier",
    "jitter",
    "retry_when",
    "stop_when",
)
_UNSUPPORTED = ("on_error", "on_success")
_CANONICAL = "`spec: {policy: {rules: [{when: …, then: {do: retry, attempts: 3, …}}]}}`"


def read_retry(c: Compilation, entry: Entry) -> Policy:
    """The policy a `retry` block stands for."""
    node = entry.node
    c.noncanonical("strict.retry", entry.place, "a `retry` block is used", _CANONICAL)
    if isinstance(node, ListNode) or (
        isinstance(node, MapNode) and any(k in node for k in _UNSUPPORTED)
    ):
        message = "`retry` with when/then, on_error or on_success is an older form that is not run"
        place = node.span if isinstance(node, ListNode) else _first_unsupported(node).place
        c.report("dialect.unsupported", place, message, f"Write {_CANONICAL}.")
        return NO_POLICY
    if isinstance(node, MapNode):
        c.check_keys(node, RETRY_KEYS, "retry")
        return _policy(c, node.entries, entry.place)
    if node.value is False or node.value is None:
        return NO_POLICY
    fields: dict[str, Entry] = {}
    if node.value is not True:
        fields["max_attempts"] = Entry("retry", entry.name, node)
    return _policy(c, fields, entry.place)


def _first_unsupported(node: MapNode) -> Entry:
    return next(entry for entry in node if entry.key in _UNSUPPORTED)


def _policy(c: Compilation, fields: Mapping[str, Entry], place: Span) -> Policy:
    rules: list[Rule] = []
    stop = _condition(c, fields.get("stop_when"))
    again = _condition(c, fields.get("retry_when"))
    attempts = read_attempts(c, fields.get("max_attempts"), ATTEMPTS_DEFAULT)
    retry = Retry(attempts, _backoff(c, fields, place), span=place)
    if stop is not None:
        where = fields["stop_when"].place
        failing, going_on = Fail(span=where), Continue(span=where)
        rules.append(Rule(failing, stop, OutcomeStatus.ERROR, name="stop_when", span=where))
        rules.append(Rule(going_on, stop, OutcomeStatus.OK, name="stop_when", span=where))
    where = fields["retry_when"].place if "retry_when" in fields else place
    rules.append(Rule(retry, again, OutcomeStatus.ERROR, name="retry_when", span=where))
    if again is not None:
        kept = Exhausted(Continue(span=where))
        polling = Retry(attempts, retry.backoff, on_exhausted=kept, span=place)
        rules.append(Rule(polling, again, OutcomeStatus.OK, name="retry_when", span=where))
    return Policy(tuple(rules), span=place)


def _condition(c: Compilation, entry: Entry | None) -> Condition | None:
    if entry is None or (isinstance(entry.node, ScalarNode) and entry.node.value is None):
        return None
    return c.condition(entry.node, Place.RETRY, what=entry.key)


def _backoff(c: Compilation, fields: Mapping[str, Entry], place: Span) -> Backoff:
    given = fields.get("initial_delay")
    return Backoff(
        kind=BackoffKind.EXPONENTIAL,
        first=read_delay(c, fields.get("initial_delay"), DELAY_SECONDS_DEFAULT),
        factor=read_factor(c, fields.get("backoff_multiplier"), 2.0),
        cap=read_delay(c, fields.get("max_delay"), MAX_DELAY_DEFAULT),
        jitter=read_jitter(c, fields.get("jitter"), Jitter(JitterKind.PLUS_MINUS_HALF)),
        span=given.node.span if given else place,
    )
