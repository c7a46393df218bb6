"""Nodes that are a run of another graph: manager loops and sub-pipelines."""

from __future__ import annotations

import posixpath

from anew.expressions import Scope
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Attribute, Node
from anew.languages.dot.node_type import Work
from anew.languages.dot.scoped import computed, object_of, unable, writes
from anew.languages.dot.settings import Holder, given, seconds, text, whole
from anew.program.policy import Patch
from anew.values import Object, Value

_FILE_KEYS = ("stack.child_dotfile", "child_dotfile", "child_graph", "dotfile", "dot_file")
CHILD_TYPES = ("sub_pipeline", "stack.manager_loop")
_POLL_SECONDS = 45.0
_CYCLES = 1000
# What belongs to this run and not to its child.
_OWN_KEYS = ("_", "graph.", "internal.", "tool.", "human.", "parallel.", "stack.")


def child_of(c: GraphCompilation, node: Node) -> str:
    """The file of the child, beside this one unless a folder is named; empty without one."""
    stated = child_stated(c, node)
    if stated is None:
        return ""
    folder = text(node, "stack.child_workdir") or text(c.graph, "stack.child_workdir")
    return posixpath.join(folder.strip(), stated.raw.strip())


def child_stated(c: GraphCompilation, node: Node) -> Attribute | None:
    """The attribute that names the child: the node's own, else the graph's."""
    return given(node, *_FILE_KEYS) or given(c.graph, *_FILE_KEYS)


def names_child(node: Node) -> bool:
    return given(node, *_FILE_KEYS) is not None


def build_child(c: GraphCompilation, node: Node) -> Work:
    file = child_of(c, node)
    if not file:
        message = f"node {node.id!r} runs a child and names no file; give it stack.child_dotfile"
        return Work("relay", unable(message), patches=_kept(node))

    def inputs(scope: Scope) -> Value:
        return {"file": file, "args": _inherited(scope)}

    timeout = seconds(node, "timeout")
    return Work(
        "playbook",
        computed({"file": file}, inputs, "ctx"),
        patches=_kept(node),
        timeout_seconds=_patience(node) if timeout is None else timeout,
    )


def _kept(node: Node) -> tuple[Patch, ...]:
    status = computed("(status)", _status, "outcome")
    return (writes("stack.child.status", status, span=node.span),)


def _inherited(scope: Scope) -> Object:
    ctx = object_of(scope, "ctx")
    return {key: value for key, value in ctx.items() if not key.startswith(_OWN_KEYS)}


def _status(scope: Scope) -> Value:
    return "failed" if object_of(scope, "outcome").get("status") == "error" else "completed"


def _patience(holder: Holder) -> float | None:
    """How long the cycles of a manager take in all, when it says how many or how long they are."""
    cycles = whole(holder, "manager.max_cycles", "max_cycles", least=1)
    poll = seconds(holder, "manager.poll_interval")
    poll = seconds(holder, "poll_interval") if poll is None else poll
    if cycles is None and poll is None:
        return None
    return (cycles or _CYCLES) * (_POLL_SECONDS if poll is None else poll)
