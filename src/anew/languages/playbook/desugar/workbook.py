"""The playbook's own tasks and credentials in their canonical form: lists of `{name, …}`."""

from __future__ import annotations

from collections.abc import Iterator

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.forms import TaskForm, read_task_form
from anew.languages.playbook.desugar.tasks import task_node

_BESIDE_TOOL = frozenset("name tool desc description".split())
_WORKBOOK_FORM = "`{name: …, tool: {kind: …}}`"


def workbook_of(c: Compilation, entry: Entry) -> Entry:
    """The workbook as a list of `{name, tool}`."""
    if is_null(entry.node):
        return entry
    if isinstance(entry.node, ListNode):
        return made.renamed(entry, "workbook", made.with_items(entry.node, _listed(c, entry.node)))
    found = c.mapping(entry, "workbook")
    if found is None:
        return entry
    message, canonical = "the workbook is a mapping", f"a list of {_WORKBOOK_FORM}"
    c.noncanonical("strict.workbook", entry.place, message, canonical)
    inner = found.get("tasks")
    is_wrapped = inner is not None and len(found.entries) == 1 and isinstance(inner.node, MapNode)
    tasks = inner.node if is_wrapped and inner else found
    return made.renamed(entry, "workbook", made.sequence(_mapped(c, tasks), entry.place))


def _listed(c: Compilation, node: ListNode) -> Iterator[Item]:
    for index, item in enumerate(_with_kind(c, item) for item in node.items):
        # In a workbook `{name, tool}` is canonical and `{label: {…}}` is not.
        before = len(c.strict)
        form = read_task_form(c, item, f"task_{index}")
        del c.strict[before:]
        if not _is_canonical(item.node):
            message = "a workbook task is not written as `{name, tool}`"
            c.noncanonical("strict.workbook", item.place, message, _WORKBOOK_FORM)
        if form is not None:
            yield _named(c, form, item)


def _with_kind(c: Compilation, item: Item) -> Item:
    return made.with_node(item, _with_kind_key(c, item.node))


def _with_kind_key(c: Compilation, node: Node) -> Node:
    """A task with its kind under `kind`: older ones name it under `tool` or `type`, as a text."""
    if not isinstance(node, MapNode) or "kind" in node:
        return node
    texts = [e for e in node if e.key in ("tool", "type") and isinstance(e.node, ScalarNode)]
    said = [e for e in sorted(texts, key=lambda e: e.key) if not is_null(e.node)]
    if not said or any(e.key == "tool" and e not in texts for e in node):
        return node
    for extra in said[1:]:
        c.ignored(extra, f"next to `{said[0].key}`", "Remove it; `kind` names the tool.")
    entries = (made.renamed(e, "kind") if e is said[0] else e for e in node if e not in said[1:])
    return made.with_entries(node, entries)


def _is_canonical(node: Node) -> bool:
    return isinstance(node, MapNode) and "name" in node and "tool" in node and "kind" not in node


def _mapped(c: Compilation, node: Node) -> Iterator[Item]:
    for entry in node if isinstance(node, MapNode) else ():
        kinded = made.renamed(entry, entry.key, _with_kind_key(c, entry.node))
        item = Item(entry.place, made.mapping([kinded], entry.place), entry.name.begin)
        form = read_task_form(c, item, entry.key)
        if form is not None:
            yield _named(c, form, item)


def _named(c: Compilation, form: TaskForm, item: Item) -> Item:
    """`{name, tool}` of a task in any form."""
    node = item.node
    assert isinstance(node, MapNode)
    name, tool = node.get("name"), node.get("tool")
    is_apart = _is_canonical(node) and node.entries.keys() <= _BESIDE_TOOL
    if is_apart and tool is not None and isinstance(tool.node, MapNode):
        task = task_node(c, _held(form, tool.node))
        if task is tool.node:
            return item
    else:
        task = task_node(c, form)
    label = node.get(form.label) or name
    origins = () if label is None else (label,)
    named = Entry("name", form.name, made.scalar(form.label, form.name.span), origins=origins)
    below = made.entry("tool", task, form.holder, *(() if tool is None else (tool,)))
    return Item(item.place, made.mapping([named, below], item.place), item.begin, origin=item)


def _held(form: TaskForm, source: MapNode) -> TaskForm:
    """The form of a task whose mapping stands under `tool` as the author wrote it."""
    return TaskForm(form.label, form.name, form.holder, form.kind, form.fields, source)


def keychain_of(c: Compilation, entry: Entry) -> Entry:
    """The credentials as a list of `{name, …}`; a name of their own wins."""
    node = entry.node
    if not isinstance(node, MapNode):
        return entry
    message, canonical = "the keychain is a mapping", "a list of `{name, …}`"
    c.noncanonical("strict.keychain", entry.place, message, canonical)
    return made.renamed(entry, "keychain", made.sequence(map(_credential, node), entry.place))


def _credential(entry: Entry) -> Item:
    inner = entry.node
    if not isinstance(inner, MapNode):
        return Item(entry.place, inner)  # reported where it is compiled
    name = made.entry("name", made.scalar(entry.key, entry.place), entry.place, entry)
    own = [] if "name" in inner else [name]
    return Item(entry.place, made.mapping([*own, *inner], inner.span))
