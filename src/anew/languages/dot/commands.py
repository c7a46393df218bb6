"""Nodes that run a command of the author. Variables reach it through its environment only."""

from __future__ import annotations

from collections.abc import Mapping

from anew.expressions import Scope, Template
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Attribute, Node
from anew.languages.dot.node_type import Work
from anew.languages.dot.scoped import computed, object_of, text_of, unable, within, writes_all
from anew.languages.dot.settings import given, seconds
from anew.languages.dot.texts import command_inputs
from anew.values import Value

# The kind of task that such a node becomes.
COMMAND_KIND = "shell"
_DOCS_KEYS = ("tool_command", "command", "goal")
_SPEC_KEYS = ("tool_command", "command")


def command_of(c: GraphCompilation, node: Node) -> Attribute | None:
    """The attribute that holds the command; the docs dialect names none, so its goal may."""
    return given(node, *(_DOCS_KEYS if c.is_docs else _SPEC_KEYS))


def build_command(c: GraphCompilation, node: Node) -> Work:
    found, kept = command_of(c, node), writes_all(_KEPT, span=node.span)
    if found is None:
        message = f"the tool node {node.id!r} has no command; give it tool_command"
        return Work("relay", unable(message), patches=kept)
    inputs, timeout = command_inputs(c, node, found.raw), seconds(node, "timeout")
    return Work(COMMAND_KIND, inputs, patches=kept, timeout_seconds=timeout)


def _stdout(scope: Scope) -> str:
    return text_of(within(object_of(scope, "outcome"), "result").get("stdout"))


def _exit_code(scope: Scope) -> Value:
    return within(object_of(scope, "outcome"), "result").get("exit_code")


def _last_line(scope: Scope) -> str:
    lines = _stdout(scope).strip().splitlines()
    return lines[-1].strip() if lines else ""


_KEPT: Mapping[str, Template] = {
    "tool.output": computed("(standard output)", _stdout, "outcome"),
    "tool.exit_code": computed("(exit status)", _exit_code, "outcome"),
    "tool.last_line": computed("(last line)", _last_line, "outcome"),
    "tool_stdout": computed("(output)", lambda scope: _stdout(scope).strip(), "outcome"),
}
