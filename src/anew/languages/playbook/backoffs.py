"""Read how long a retry waits: what its rule says, else the task's `backoff` by kind of error.

Such a `backoff` is a row for each kind: one delay, a list of them, or a mapping of settings. A rule
that names a delay of its own is not asked about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anew.engine.outcome import RETRYABLE
from anew.languages.nodes import Entry, ListNode, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.durations import read_delay, read_factor, read_jitter
from anew.languages.playbook.keys import BACKOFF_ROW_KEYS, DELAY_WORDS
from anew.program.policy import Policy, Retry
from anew.program.retry import (
    ANY_ERROR,
    DELAY_SECONDS_DEFAULT,
    Backoff,
    BackoffKind,
    Delay,
    Jitter,
)
from anew.program.span import Span

# What a row takes over from the rule that retries, where it says nothing itself.
_OF_RULE = ("jitter", "max_delay", "honor_retry_after")
_SYNONYMS = {"constant": BackoffKind.FIXED, "exp": BackoffKind.EXPONENTIAL}
_FORM = "Write `backoff: {rate_limit: 1m, default: [1s, 5s, 30s]}`."
_ROW_FORM = "Write a delay (`1m`), a list (`[1s, 5s]`) or `{kind: exponential, delay: 1s}`."


def read_backoff(c: Compilation, fields: Mapping[str, Entry], span: Span) -> Backoff:
    """What a rule says of its own delay; nothing of kinds of errors."""
    given = fields.get("backoff") or fields.get("delay")
    listed = fields.get("delay")
    kind = _kind(c, fields)
    table = _table(c, listed) if kind is BackoffKind.TABLE else ()
    return Backoff(
        kind=kind,
        first=DELAY_SECONDS_DEFAULT if table else read_delay(c, listed, DELAY_SECONDS_DEFAULT),
        factor=read_factor(c, fields.get("multiplier"), 2.0),
        cap=read_delay(c, fields.get("max_delay"), None),
        jitter=read_jitter(c, fields.get("jitter"), Jitter()),
        honor_retry_after=bool(c.flag(fields.get("honor_retry_after"), "honor_retry_after")),
        table=table,
        span=given.node.span if given else span,
    )


def _kind(c: Compilation, fields: Mapping[str, Entry]) -> BackoffKind:
    entry, delay = fields.get("backoff"), fields.get("delay")
    is_listed = delay is not None and isinstance(delay.node, ListNode)
    if entry is not None and not isinstance(entry.node, MapNode):
        kind = _word(c, entry)
        if not is_listed or kind is BackoffKind.TABLE:
            return kind
        message = f"backoff {kind.value!r} has one delay, and `delay` is a list"
        c.report("rule.backoff", entry.node.span, message, "Remove `backoff`, or write one delay.")
    if is_listed:
        return BackoffKind.TABLE
    if "multiplier" in fields:
        return BackoffKind.EXPONENTIAL
    return BackoffKind.FIXED if "delay" in fields else BackoffKind.NONE


def _word(c: Compilation, entry: Entry) -> BackoffKind:
    node = entry.node
    meant = _SYNONYMS.get(node.text) if isinstance(node, ScalarNode) else None
    if meant is not None:
        message = f"backoff {shown(node)} is unknown"
        c.report("rule.backoff", node.span, message, f"Did you mean {meant.value!r}?")
        return meant
    word = c.word(entry, BackoffKind, rule="rule.backoff", what="backoff")
    return BackoffKind.NONE if word is None else word


def _table(c: Compilation, entry: Entry | None) -> tuple[Delay, ...]:
    if entry is None or not isinstance(entry.node, ListNode):
        return (read_delay(c, entry, DELAY_SECONDS_DEFAULT),)
    if not entry.node.items:
        message = f"the list of delays of `{entry.name.text}` is empty"
        c.report("rule.delay", entry.node.span, message, _ROW_FORM)
        return (DELAY_SECONDS_DEFAULT,)
    listed = (Entry(entry.key, entry.name, item.node) for item in entry.node.items)
    return tuple(read_delay(c, each, DELAY_SECONDS_DEFAULT) for each in listed)


# --- by kind of error ----------------------------------------------------------------------------


def rows_of(c: Compilation, fields: Mapping[str, Entry]) -> MapNode | None:
    """The rows that a retry rule waits by: its own, else the task's if it names no delay."""
    own = fields.get("backoff")
    if own is not None and isinstance(own.node, MapNode):
        for word in ("delay", "multiplier"):
            if word in fields:
                why = "next to a `backoff` that has delays"
                c.ignored(fields[word], why, "Move it into a row of `backoff`.")
        check_rows(c, own, own.node, is_open=False)
        return own.node
    return None if any(word in fields for word in DELAY_WORDS) else c.backoff


def read_rows(
    c: Compilation, rows: MapNode, fields: Mapping[str, Entry]
) -> tuple[tuple[str, Backoff], ...]:
    """The delays by kind of error; `fields` are those of the rule."""
    shared = {key: fields[key] for key in _OF_RULE if key in fields}
    return tuple((row.key, read_backoff(c, {**shared, **_row(c, row)}, row.place)) for row in rows)


def _row(c: Compilation, row: Entry) -> dict[str, Entry]:
    node = row.node
    if is_null(node):
        c.report("backoff.shape", row.place, f"backoff of {row.key!r} is empty", _ROW_FORM)
        return {}
    if not isinstance(node, MapNode):
        return {"delay": Entry("delay", row.name, node)}
    c.check_keys(node, BACKOFF_ROW_KEYS, "a backoff")
    said = {entry.key: entry for entry in node if entry.key in BACKOFF_ROW_KEYS}
    kind = said.pop("kind", None)
    return said if kind is None else {**said, "backoff": kind}


def task_backoff(c: Compilation, spec: MapNode | None, *, is_open: bool) -> MapNode | None:
    """The `backoff` of a task; `is_open`: a tool of others, whose errors have kinds of its own."""
    entry = spec.get("backoff") if spec is not None else None
    if entry is None:
        return None
    if not isinstance(entry.node, MapNode) or not entry.node.entries:
        message = f"`spec.backoff` must say a delay for kinds of errors; found {shown(entry.node)}"
        c.report("backoff.shape", entry.place, message, _FORM)
        return None
    check_rows(c, entry, entry.node, is_open=is_open)
    return entry.node


def check_rows(c: Compilation, entry: Entry, rows: MapNode, *, is_open: bool) -> None:
    """Report kinds of errors that there are none of, and errors that get no delay."""
    known = (*RETRYABLE, ANY_ERROR)
    for row in rows:
        if row.key not in known and not is_open:
            message = f"backoff names the error kind {row.key!r}, which no task has"
            c.report("backoff.kind", row.place, message, c.suggestions.remedy(row.key, known))
    if ANY_ERROR not in rows:
        message = "errors of other kinds are retried at once: `backoff` has no `default`"
        c.report("backoff.default", entry.place, message, "Add `default: 1s`, or another delay.")


def note_unused(c: Compilation, spec: MapNode | None, policy: Policy) -> None:
    """Tell of a task's `backoff` that none of its rules waits by."""
    entry = spec.get("backoff") if spec is not None else None
    if entry is not None and isinstance(entry.node, MapNode) and not _is_used(policy):
        why = "without a retry rule that names no delay of its own"
        c.ignored(entry, why, "Remove it, or retry without `delay` and `backoff`.")


def _is_used(policy: Policy) -> bool:
    return any(bool(then.by_error) for then in _retries(policy))


def _retries(policy: Policy) -> Iterator[Retry]:
    return (rule.then for rule in policy.rules if isinstance(rule.then, Retry))
