"""Check what a task of kind `human` asks: its choices, and what happens when nobody answers."""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.nodes import Entry, ListNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.durations import seconds_of
from anew.program.policy import TimeoutAction

_CHOICES_FORM = "Write `choices: [Yes, No]`; without `choices` any text is an answer."


def check_question(c: Compilation, inputs: Mapping[str, Entry]) -> None:
    """Report what can never be asked that way; templates are judged when they are rendered."""
    given = {key: e for key, e in inputs.items() if not (is_null(e.node) or _is_template(e.node))}
    choices = _labels(c, given.get("choices"))
    c.word(
        given.get("timeout_action"),
        TimeoutAction,
        rule="human.timeout-action",
        what="timeout_action",
    )
    default = given.get("default")
    if default is not None and choices:
        _check_default(c, default, choices)
    timeout = given.get("timeout")
    if timeout is not None and not seconds_of(timeout.node):
        message = f"timeout must be seconds above 0; found {shown(timeout.node)}"
        c.report("tool.timeout", timeout.node.span, message, "Write `timeout: 30m`.")
    for key in ("timeout_action", "default"):
        if key in inputs and "timeout" not in inputs:
            c.ignored(inputs[key], "without `timeout`", "Add `timeout: 30m`, or remove it.")


def _labels(c: Compilation, entry: Entry | None) -> list[str]:
    """The choices that are known now."""
    if entry is None:
        return []
    if not isinstance(entry.node, ListNode):
        message = f"choices must be a list of texts; found {shown(entry.node)}"
        c.report("human.choices", entry.node.span, message, _CHOICES_FORM)
        return []
    labels = []
    for node in (item.node for item in entry.node.items):
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            labels.append(node.value)
        else:
            message = f"a choice must be a text; found {shown(node)}"
            c.report("human.choices", node.span, message, "Put it in quotes.")
    return [] if any(_has_mark(label) for label in labels) else labels


def _check_default(c: Compilation, entry: Entry, choices: list[str]) -> None:
    name = c.text(entry, "default")
    if name is not None and name not in choices:
        message = f"default {name!r} is none of the choices"
        remedy = c.suggestions.remedy(name, choices)
        c.report("tool.input", entry.node.span, message, remedy)


def _is_template(node: Node) -> bool:
    return isinstance(node, ScalarNode) and _has_mark(node.text)


def _has_mark(text: str) -> bool:
    return "{{" in text or "{%" in text
