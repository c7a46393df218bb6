"""Read what a rule does: continue, retry, jump, break or fail, with their settings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import assert_never

from anew.languages.nodes import Entry, MapNode
from anew.languages.playbook.backoffs import read_backoff, read_rows, rows_of
from anew.languages.playbook.compilation import Compilation, Site
from anew.languages.playbook.durations import read_attempts, read_delay
from anew.languages.playbook.keys import (
    DIRECTIVE_KEYS,
    DIRECTIVE_SETTINGS,
    PATCH_KEYS,
    SPENT_DIRECTIVES,
)
from anew.languages.playbook.patches import read_patches
from anew.program.policy import (
    Break,
    Budget,
    Continue,
    Directive,
    DirectiveKind,
    Exhausted,
    Fail,
    Jump,
    Retry,
    Verdict,
)
from anew.program.retry import ATTEMPTS_DEFAULT
from anew.program.span import Span


class Counted(StrEnum):
    """As what an outcome may count that its task goes on with."""

    SUCCESS = Verdict.SUCCESS.value
    PARTIAL = Verdict.PARTIAL.value
    SKIPPED = Verdict.SKIPPED.value


# How other engines call the task before this one.
_PREVIOUS = frozenset({"previous", "prev", "_previous", "@previous"})
# Stands for a directive that was reported: it ends the step, so that nothing looks endless.
_BROKEN = Fail()


def read_directive(
    c: Compilation, fields: Mapping[str, Entry], *, holder: Span, labels: frozenset[str]
) -> Directive:
    """The directive among the fields of a rule; a wrong one is reported and gives `fail`."""
    entry = fields.get("do")
    if entry is None:
        return _BROKEN
    do = c.word(entry, DirectiveKind, rule="rule.do", what="do")
    if do is None:
        return _BROKEN
    if not entry.node.is_made:
        _check_settings(c, fields, do)
    span = entry.node.span
    match do:
        case DirectiveKind.CONTINUE:
            return Continue(_read_verdict(c, fields.get("verdict")), span)
        case DirectiveKind.BREAK:
            return Break(span)
        case DirectiveKind.FAIL:
            message = fields.get("message")
            return Fail(c.template(message.node, Site.POLICY) if message else None, span)
        case DirectiveKind.JUMP:
            return _read_jump(c, fields, holder, labels)
        case DirectiveKind.RETRY:
            return _read_retry(c, fields, span, labels)
        case _:
            assert_never(do)


def _check_settings(c: Compilation, fields: Mapping[str, Entry], do: DirectiveKind) -> None:
    known = {"do", *PATCH_KEYS, *DIRECTIVE_SETTINGS[do]}
    for key, entry in fields.items():
        if key in DIRECTIVE_KEYS and key not in known:
            c.ignored(entry, f"with `do: {do}`", f"Remove it; {setting_owner(key)} knows it.")


def setting_owner(key: str) -> str:
    """The directives that have a setting."""
    owners = sorted(do for do, settings in DIRECTIVE_SETTINGS.items() if key in settings)
    return " or ".join(f"`do: {do}`" for do in owners)


def _read_verdict(c: Compilation, entry: Entry | None) -> Verdict | None:
    word = c.word(entry, Counted, rule="rule.verdict", what="verdict")
    return None if word is None else Verdict(word.value)


def _read_jump(
    c: Compilation, fields: Mapping[str, Entry], holder: Span, labels: frozenset[str]
) -> Directive:
    target = fields.get("to")
    if target is None:
        message = "do: jump does not say where to: `to` is missing"
        c.report("rule.jump-to-missing", holder, message, "Add `to: <label>`.")
        return _BROKEN
    to = c.text(target, "to")
    if to is None:
        return _BROKEN
    if to not in labels:
        message = f"jump to {to!r}: this step has no task with that label"
        if to in _PREVIOUS:
            remedy = "Jumps by position are not supported; name the label: `to: <label>`."
        else:
            remedy = c.suggestions.remedy(to, labels)
        c.report("rule.jump-unknown", target.node.span, message, remedy)
        return _BROKEN
    return Jump(
        to,
        read_delay(c, fields.get("delay"), None),
        c.whole_number(fields.get("most"), "most", rule="rule.attempts"),
        read_delay(c, fields.get("max_elapsed"), None),
        target.node.span,
    )


def _read_retry(
    c: Compilation, fields: Mapping[str, Entry], span: Span, labels: frozenset[str]
) -> Retry:
    exhausted = fields.get("on_exhausted")
    budget = c.word(fields.get("budget"), Budget, rule="rule.budget", what="budget")
    what = f"a retry of step {c.step!r} goes to"
    rows = rows_of(c, fields)
    return Retry(
        attempts=read_attempts(c, fields.get("attempts"), ATTEMPTS_DEFAULT),
        backoff=read_backoff(c, fields, span),
        max_elapsed=read_delay(c, fields.get("max_elapsed"), None),
        on_exhausted=_read_exhausted(c, exhausted, labels) if exhausted else None,
        budget=Budget.VISIT if budget is None else budget,
        to=c.known_step(fields.get("to"), rule="target.unknown", what=what),
        by_error=() if rows is None else read_rows(c, rows, fields),
        span=span,
    )


def _read_exhausted(c: Compilation, entry: Entry, labels: frozenset[str]) -> Exhausted | None:
    node = entry.node
    fields = node.entries if isinstance(node, MapNode) else {}
    then = read_directive(c, fields, holder=entry.holder, labels=labels)
    if isinstance(then, Retry):
        message = "on_exhausted cannot retry: the attempts are spent"
        remedy = f"Use {', '.join(SPENT_DIRECTIVES[:-1])} or {SPENT_DIRECTIVES[-1]}."
        c.report("rule.on-exhausted", fields["do"].node.span, message, remedy)
        return None
    return Exhausted(then, read_patches(c, fields))
