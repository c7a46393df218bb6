"""Older words for what a run keeps: root `vars`, and `vars.x` in expressions, which is `ctx.x`.

They are canonical when they leave here. Does not know what steps write: that is `sets`.
"""

from __future__ import annotations

from functools import partial

from anew.expressions import ExpressionError
from anew.languages import made
from anew.languages.nodes import Entry, ListNode, MapNode, Node, ScalarNode
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.dialect_words import vars_words
from anew.languages.playbook.keys import CONDITION_WORDS, STEP_SET_KEYS
from anew.languages.playbook.translate import Untranslatable, translate
from anew.program.kinds import KINDS

_OLDER = tuple(key for key in STEP_SET_KEYS if key != "set")
# Below these stand steps, tasks, arcs and rules, and nothing that is data.
_HOLDERS = frozenset(
    "workflow workbook tool case next arcs then else eval spec policy rules on_exhausted".split()
)
_TASK_SIGNS = ("kind", "tool", "type")
# A mapping with one of these is a task, a step or a directive, and holds no tasks under labels.
_NO_LABELS = (*_TASK_SIGNS, "step", "do")
_VARS = "vars."
# What is never rendered, whatever it looks like.
_VERBATIM = frozenset[str]().union(*(kind.verbatim for kind in KINDS.values()))
_EXPRESSIONS = ("workflow", "workbook")


def with_ctx(c: Compilation, root: MapNode) -> MapNode:
    """The document with `ctx` for root `vars`, and for the `vars` that its expressions read."""
    if not _is_older(root):
        return root
    entries = [_renamed(c, root, entry) for entry in root]
    if not _gives_vars(root):
        entries = [_reading_ctx(c, entry) for entry in entries]
    return made.with_entries(root, entries)


def _is_older(root: MapNode) -> bool:
    """Whether the document has state of an older form."""
    if "vars" in root or "ctx" in root:
        return True
    return any(key in step for step in _steps(root) for key in _OLDER)


def _steps(root: MapNode) -> list[MapNode]:
    entry = root.get("workflow")
    items = entry.node.items if entry is not None and isinstance(entry.node, ListNode) else ()
    return [item.node for item in items if isinstance(item.node, MapNode)]


def _gives_vars(root: MapNode) -> bool:
    """Whether `vars` is a name of the author's own: a step, or a key of the workload."""
    workload = root.get("workload")
    if workload is not None and isinstance(workload.node, MapNode) and "vars" in workload.node:
        return True
    names = (step.get("step") for step in _steps(root))
    return any(e is not None and getattr(e.node, "text", "") == "vars" for e in names)


def _renamed(c: Compilation, root: MapNode, entry: Entry) -> Entry:
    if entry.key != "vars":
        return entry
    if "ctx" in root:
        message = "the document has both `ctx` and root `vars`, which is an older name for it"
        c.report("vars.root", entry.place, message, "Move the values to `ctx`.")
        return entry
    c.noncanonical("strict.vars", entry.place, "root `vars` is used", "`ctx`")
    return made.renamed(entry, "ctx")


def _reading_ctx(c: Compilation, entry: Entry) -> Entry:
    if entry.key not in _EXPRESSIONS:
        return entry
    node = made.rewritten(entry.node, partial(_translated, c))
    return _writing_ctx(c, made.renamed(entry, entry.key, node))


def _writing_ctx(c: Compilation, entry: Entry) -> Entry:
    """What stands here with `ctx.x` for every `vars.x` that a `set` writes."""
    if entry.key == "set" and isinstance(entry.node, MapNode):
        return made.renamed(entry, "set", _with_ctx_keys(c, entry.node))
    return made.renamed(entry, entry.key, _below(c, entry.node)) if entry.key in _HOLDERS else entry


def _below(c: Compilation, node: Node) -> Node:
    if isinstance(node, ListNode):
        return made.with_items(node, (made.with_node(i, _below(c, i.node)) for i in node.items))
    if not isinstance(node, MapNode):
        return node
    has_labels = not any(key in node for key in _NO_LABELS)
    return made.with_entries(
        node,
        (
            made.renamed(entry, entry.key, _below(c, entry.node))
            if has_labels and _is_task(entry.node)
            else _writing_ctx(c, entry)
            for entry in node
        ),
    )


def _is_task(node: Node) -> bool:
    return isinstance(node, MapNode) and any(key in node for key in _TASK_SIGNS)


def _with_ctx_keys(c: Compilation, node: MapNode) -> MapNode:
    found: dict[str, Entry] = {}
    for entry in node:
        name = entry.key.removeprefix(_VARS)
        key = f"ctx.{name}" if name not in ("", entry.key) else entry.key
        if key != entry.key:
            c.noncanonical("strict.vars", entry.place, "`set` writes `vars`", f"`{key}`")
        if key in found:
            message = f"`{key}` is already written in line {found[key].place.line}"
            c.report("set.twice", entry.place, message, "Keep one of the two.")
        found[key] = made.renamed(entry, key)
    return made.with_entries(node, found.values())


def _translated(c: Compilation, node: ScalarNode, key: str) -> ScalarNode:
    value, is_condition = node.value, key in CONDITION_WORDS
    if not isinstance(value, str) or "vars" not in value or key in _VERBATIM:
        return node
    if not is_condition and "{{" not in value and "{%" not in value:
        return node
    try:
        text = translate(value, vars_words, is_condition=is_condition)
    except ExpressionError:
        return node  # reported where it is compiled
    except Untranslatable as problem:
        c.report("dialect.unsupported", node.span, f"`{key}` {problem}", problem.remedy)
        return node
    if text == value:
        return node
    c.noncanonical("strict.vars", node.span, "an expression reads `vars`", "`ctx`")
    return made.scalar(text, node.span)
