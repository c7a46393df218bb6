"""Read the data a playbook starts with: workload, keychain and workbook."""

from __future__ import annotations

from collections.abc import Iterator

from anew.expressions import ExpressionError, Template, compile_value
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, plain
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.forms import TaskForm, read_task_form
from anew.languages.playbook.tasks import read_task
from anew.program.program import Task
from anew.values import Object

# Only what a run itself is may be rendered into its workload (playbook.md#the-document).
_RUN_CONSTANTS = frozenset({"run_id", "execution_id", "job"})
_WORKBOOK_FORM = "`{name: …, tool: {kind: …}}`"


def workload_templates(node: MapNode) -> dict[tuple[str | int, ...], Template]:
    """The defaults that name the run, by their path. All others stay text."""
    return dict(_templates(node, ()))


def _templates(
    node: Node, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Template]]:
    if isinstance(node, MapNode):
        for entry in node:
            yield from _templates(entry.node, (*path, entry.key))
    elif isinstance(node, ListNode):
        for index, item in enumerate(node.items):
            yield from _templates(item.node, (*path, index))
    elif path and "{{" in node.text:
        template = _run_constant(node)
        if template is not None:
            yield path, template


def _run_constant(node: Node) -> Template | None:
    try:
        template = compile_value(plain(node))
    except ExpressionError:
        return None
    is_constant = bool(template.names) and template.names <= _RUN_CONSTANTS and not template.calls
    return template if is_constant else None


def read_keychain(c: Compilation, entry: Entry | None) -> tuple[Object, ...]:
    """The declared credentials, each an object with its `name`."""
    if entry is None:
        return ()
    node = entry.node
    if isinstance(node, MapNode):
        message, canonical = "the keychain is a mapping", "a list of `{name, …}`"
        c.noncanonical("strict.keychain", entry.place, message, canonical)
        named = [(item.key, item.node) for item in node]
        return tuple({"name": name, **_object(c, inner)} for name, inner in named)
    found = c.sequence(entry, "keychain")
    return tuple(_credential(c, item) for item in (found.items if found else ()))


def _credential(c: Compilation, item: Item) -> Object:
    value = _object(c, item.node)
    if isinstance(item.node, MapNode) and not value.get("name"):
        message = "a credential of the keychain has no `name`, so nothing can use it"
        c.report("keychain.name", item.place, message, "Add `name: …`.")
    return value


def _object(c: Compilation, node: Node) -> Object:
    if isinstance(node, MapNode):
        value: Object = plain(node)
        return value
    c.wrong_type(node, "a keychain entry", "a mapping")
    return {}


# --- workbook ------------------------------------------------------------------------------------


def read_workbook(c: Compilation, entry: Entry | None) -> dict[str, Task]:
    """The reusable tasks by name, from a list or a mapping of them."""
    if entry is None or (isinstance(entry.node, ScalarNode) and entry.node.value is None):
        return {}
    c.step = ""
    tasks: dict[str, Task] = {}
    for form in _workbook_forms(c, entry):
        if form.label in tasks:
            message = f"the workbook already has a task {form.label!r}"
            c.report("workbook.duplicate", form.label_place, message, "Give it another name.")
            continue
        tasks[form.label] = read_task(c, form, labels=frozenset({form.label})).task
    return tasks


def _workbook_forms(c: Compilation, entry: Entry) -> Iterator[TaskForm]:
    node = entry.node
    if isinstance(node, ListNode):
        for index, item in enumerate(node.items):
            # In a workbook `{name, tool}` is canonical and `{label: {…}}` is not.
            before = len(c.strict)
            form = read_task_form(c, item, f"task_{index}")
            del c.strict[before:]
            if not _is_canonical(item.node):
                message = "a workbook task is not written as `{name, tool}`"
                c.noncanonical("strict.workbook", item.place, message, _WORKBOOK_FORM)
            if form is not None:
                yield form
        return
    found = c.mapping(entry, "workbook")
    if found is None:
        return
    message, canonical = "the workbook is a mapping", f"a list of {_WORKBOOK_FORM}"
    c.noncanonical("strict.workbook", entry.place, message, canonical)
    inner = found.get("tasks")
    is_wrapped = inner is not None and len(found.entries) == 1 and isinstance(inner.node, MapNode)
    yield from _mapped(c, inner.node if is_wrapped and inner else found)


def _is_canonical(node: Node) -> bool:
    return isinstance(node, MapNode) and "name" in node and "tool" in node and "kind" not in node


def _mapped(c: Compilation, node: Node) -> Iterator[TaskForm]:
    for entry in node if isinstance(node, MapNode) else ():
        single = MapNode({entry.key: entry}, entry.place, entry.name.begin, entry.node.end)
        form = read_task_form(c, Item(entry.place, single, entry.name.begin), entry.key)
        if form is not None:
            yield form
