"""Check what a task of kind `wait` waits for: the name of the signal, and how long."""

from __future__ import annotations

from collections.abc import Mapping

from anew.engine.signals import NAME_FORM, is_name
from anew.languages.nodes import Entry, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.durations import seconds_of


def check_wait(c: Compilation, inputs: Mapping[str, Entry]) -> None:
    """Report what no signal can be; templates are judged when they are rendered."""
    given = {key: e for key, e in inputs.items() if not (is_null(e.node) or _is_template(e.node))}
    signal, timeout = given.get("signal"), given.get("timeout")
    if signal is not None and isinstance(signal.node, ScalarNode) and not is_name(signal.node.text):
        message = f"`signal` must be a name ({NAME_FORM}); found {shown(signal.node)}"
        c.report("tool.input", signal.node.span, message, "Write `signal: paid`.")
    if timeout is not None and seconds_of(timeout.node) is None:
        message = f"timeout must be seconds from 0 on; found {shown(timeout.node)}"
        c.report("tool.timeout", timeout.node.span, message, "Write `timeout: 30m`.")


def _is_template(node: Node) -> bool:
    return isinstance(node, ScalarNode) and ("{{" in node.text or "{%" in node.text)
