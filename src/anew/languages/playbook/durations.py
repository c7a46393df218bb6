"""Read delays, attempts and jitter: constants become numbers, expressions stay templates.

A constant that can never be right is reported here; an expression is judged when it is rendered.
"""

from __future__ import annotations

import math
import re
from typing import TypeVar

from anew.expressions import Template
from anew.languages.nodes import Entry, Node, ScalarNode
from anew.languages.playbook.compilation import Compilation, Site, shown
from anew.program.retry import Delay, Jitter, JitterKind
from anew.values import parse_seconds

# Each by its own word, but one that is written as a number.
JITTER_WORDS = {
    "true": JitterKind.PLUS_MINUS_HALF,
    "false": JitterKind.NONE,
    **{kind.value: kind for kind in JitterKind if kind is not JitterKind.ADDED},
}
_WHOLE = re.compile(r"[-+]?\d{1,9}", re.ASCII)
_Default = TypeVar("_Default")


def read_delay(c: Compilation, entry: Entry | None, default: _Default) -> Delay | _Default:
    """Seconds, or a template of them; what is neither is reported and fails when it is used."""
    if entry is None:
        return default
    node = entry.node
    if _is_template(node):
        return c.template(node, Site.POLICY)
    seconds = seconds_of(node)
    if seconds is not None:
        return seconds
    if isinstance(node, ScalarNode) and _is_http_date(node.text):
        return c.template(node, Site.POLICY)
    message = f"{entry.name.text} must be seconds (2.5), a duration (500ms, 1m30s) or a template"
    found = f"found {shown(node)}, which fails the task when the rule matches"
    c.report("rule.delay", node.span, f"{message}; {found}", f"Write `{entry.name.text}: 2s`.")
    return c.template(node, Site.POLICY)


def read_attempts(c: Compilation, entry: Entry | None, default: int) -> int | Template:
    """The total number of executions, or a template of it."""
    if entry is None:
        return default
    if _is_template(entry.node):
        return c.template(entry.node, Site.POLICY)
    if isinstance(entry.node, ScalarNode) and _WHOLE.fullmatch(entry.node.text):
        number = c.whole_number(entry, entry.name.text, rule="rule.attempts")
        return default if number is None else number
    word = entry.name.text
    message = f"{word} must be a whole number of at least 1; found {shown(entry.node)}, which"
    problem, remedy = f"{message} fails the task when it matches", f"Write `{word}: 3`."
    c.report("rule.attempts-type", entry.node.span, problem, remedy)
    return c.template(entry.node, Site.POLICY)


def read_jitter(c: Compilation, entry: Entry | None, default: Jitter) -> Jitter:
    """A word, true or false, or the fraction to add at most."""
    if entry is None:
        return default
    node = entry.node
    if isinstance(node, ScalarNode):
        kind = JITTER_WORDS.get(node.text.lower())
        if kind is not None:
            return Jitter(kind)
        fraction = _fraction(node)
        if fraction is not None:
            return Jitter(JitterKind.ADDED, fraction)
    _report_jitter(c, node)
    return default


def _report_jitter(c: Compilation, node: Node) -> None:
    words = ", ".join(JITTER_WORDS)
    message = f"jitter {shown(node)} is unknown; use {words} or a fraction"
    remedy = "Write `jitter: true`."
    if isinstance(node, ScalarNode) and node.text:
        remedy = c.suggestions.remedy(node.text, JITTER_WORDS)
    c.report("rule.jitter", node.span, message, remedy)


def _fraction(node: ScalarNode) -> float | None:
    try:
        fraction = float(node.text)
    except ValueError:
        return None
    return fraction if math.isfinite(fraction) and fraction >= 0 else None


def read_factor(c: Compilation, entry: Entry | None, default: float) -> float:
    """The number a delay is multiplied by from attempt to attempt."""
    if entry is None:
        return default
    node = entry.node
    value = node.value if isinstance(node, ScalarNode) else None
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    message = f"{entry.name.text} must be a number above 0; found {shown(node)}"
    c.report("rule.multiplier", node.span, message, f"Write `{entry.name.text}: 2`.")
    return default


def _is_template(node: Node) -> bool:
    return isinstance(node, ScalarNode) and isinstance(node.value, str) and "{{" in node.value


def seconds_of(node: Node) -> float | None:
    """Constant seconds, from 0 on; None when the node is anything else."""
    if not isinstance(node, ScalarNode) or isinstance(node.value, bool) or node.value is None:
        return None
    value = node.value
    try:
        seconds = parse_seconds(value) if isinstance(value, str) else float(value)
    except OverflowError:
        return None
    return seconds if seconds is not None and seconds >= 0 and math.isfinite(seconds) else None


def _is_http_date(text: str) -> bool:
    if not text.endswith("GMT"):
        return False
    # Only a document with a date as a delay pays for this import.
    from email.utils import parsedate_to_datetime  # noqa: PLC0415

    try:
        parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return False
    return True
