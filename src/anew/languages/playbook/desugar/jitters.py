"""Give the retry rules of a task the jitter that its `spec` names, where they name none."""

from __future__ import annotations

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, plain
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.canonical import RuleNode
from anew.program.policy import DirectiveKind


def with_jitter(item: Item, jitter: Entry | None) -> Item:
    """A canonical rule; one that retries and names no jitter has this one."""
    node = item.node
    if jitter is None or not isinstance(node, MapNode) or isinstance(node, RuleNode):
        return item
    return made.with_node(item, _with_jitter(node, jitter))


def _with_jitter(node: MapNode, jitter: Entry) -> MapNode:
    return made.with_entries(node, (_entry(entry, jitter) for entry in node))


def _entry(entry: Entry, jitter: Entry) -> Entry:
    inner = entry.node
    if entry.key not in ("then", "else") or not isinstance(inner, MapNode):
        return entry
    if entry.key == "else":
        return made.renamed(entry, "else", _with_jitter(inner, jitter))
    do = inner.get("do")
    if do is None or plain(do.node) != DirectiveKind.RETRY or "jitter" in inner:
        return entry
    return made.renamed(entry, "then", made.with_entries(inner, (*inner, jitter)))


def check_jitter(c: Compilation, jitter: Entry | None, policy: Entry | None) -> None:
    """Tell of a task's jitter where it is not canonical, and where no rule of it has it."""
    if jitter is None:
        return
    if policy is None or not _holds(policy.node, jitter):
        why = "without a retry rule that names none of its own"
        c.ignored(jitter, why, "Remove it, or retry with it.")
    message, canonical = "`jitter` is in the `spec` of a task", "`jitter` in its retry rules"
    c.noncanonical("strict.place", jitter.place, message, canonical)


def _holds(node: Node, wanted: Entry) -> bool:
    if isinstance(node, MapNode):
        return any(entry is wanted or _holds(entry.node, wanted) for entry in node)
    return isinstance(node, ListNode) and any(_holds(item.node, wanted) for item in node.items)
