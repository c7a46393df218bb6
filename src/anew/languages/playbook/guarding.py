"""Read what a document says to guards: rules of dependencies, and the words of tasks about them."""

from __future__ import annotations

import re

from msgspec.structs import replace

from anew.languages.nodes import Entry, MapNode, Node, ScalarNode, is_null, plain
from anew.languages.playbook.compilation import Compilation, Site, shown
from anew.languages.playbook.durations import seconds_of
from anew.program.guard_rules import read_rules
from anew.program.guards import GuardRule
from anew.program.program import Task

_WHOLE = re.compile(r"[-+]?\d{1,9}", re.ASCII)


def read_dependencies(c: Compilation, entry: Entry | None) -> tuple[GuardRule, ...]:
    """`executor.spec.dependencies`; what is wrong is reported at its place and left out."""
    node = c.mapping(entry, "dependencies")
    if node is None:
        return ()
    rules, problems = read_rules(plain(node))
    for problem in problems:
        place = _node_at(node, problem.path).span
        c.report("guard.rule", place, problem.message, problem.remedy)
    found = []
    for rule in rules:
        said = _fair_by(node, rule.pattern)
        # Compiled with the document's other expressions, so that its names are checked.
        fair_by = None if said is None else c.template(said, Site.INPUTS)
        found.append(replace(rule, fair_by=fair_by))
    return tuple(found)


def _fair_by(node: MapNode, pattern: str) -> Node | None:
    below = node.get(pattern)
    if below is None or not isinstance(below.node, MapNode):
        return None
    entry = below.node.get("fair_by")
    return None if entry is None or is_null(entry.node) else entry.node


def _node_at(node: Node, path: tuple[str, ...]) -> Node:
    """The node at a path, or the last one on the way."""
    for key in path:
        entry = node.get(key) if isinstance(node, MapNode) else None
        if entry is None:
            return node
        node = entry.node
    return node


def read_priority(c: Compilation, entry: Entry | None) -> int | None:
    """A whole number; higher ones begin first."""
    if entry is None or is_null(entry.node):
        return None
    node = entry.node
    if isinstance(node, ScalarNode) and _WHOLE.fullmatch(node.text):
        return int(node.text)
    message = f"priority must be a whole number, higher first; found {shown(node)}"
    c.report("guard.priority", node.span, message, "Write `priority: 10`.")
    return None


def with_guard_words(c: Compilation, task: Task, spec: MapNode) -> Task:
    """The task with what its `spec` says to guards."""
    dependency = spec.get("dependency")
    is_named = dependency is not None and not is_null(dependency.node)
    return replace(
        task,
        dependency=c.template(dependency.node, Site.INPUTS) if is_named and dependency else None,
        priority=read_priority(c, spec.get("priority")),
        hold_timeout=_read_hold_timeout(c, spec.get("hold_timeout")),
    )


def _read_hold_timeout(c: Compilation, entry: Entry | None) -> float | None:
    if entry is None or is_null(entry.node):
        return None
    seconds = seconds_of(entry.node)
    if not seconds:
        message = f"hold_timeout must be a duration above 0; found {shown(entry.node)}"
        c.report("guard.timeout", entry.node.span, message, "Write `hold_timeout: 30s`.")
    return seconds or None
