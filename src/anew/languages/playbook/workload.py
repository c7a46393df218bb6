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

# Only what a run itself is may be rendered into its workload (SEMANTICS 2.9).
_RUN_CONSTANTS = frozenset({"run_id", "execution_id", "job"})


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
        named = [(item.key, item.node) for item in node]
        return tuple({"name": name, **_object(c, inner)} for name, inner in named)
    found = c.sequence(entry, "keychain")
    return tuple(_object(c, item.node) for item in (found.items if found else ()))


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
            # The list of `{name, tool}` is the canonical workbook, so strict has no say in it.
            before = len(c.strict)
            form = read_task_form(c, item, f"task_{index}")
            del c.strict[before:]
            if form is not None:
                yield form
        return
    found = c.mapping(entry, "workbook")
    if found is None:
        return
    c.noncanonical(
        "strict.workbook",
        entry.place,
        "the workbook is a mapping",
        "a list of `{name, tool: {kind, …}}`",
    )
    inner = found.get("tasks")
    is_wrapped = inner is not None and len(found.entries) == 1 and isinstance(inner.node, MapNode)
    yield from _mapped(c, inner.node if is_wrapped and inner else found)


def _mapped(c: Compilation, node: Node) -> Iterator[TaskForm]:
    for entry in node if isinstance(node, MapNode) else ():
        single = MapNode({entry.key: entry}, entry.place, entry.name.begin, entry.node.end)
        form = read_task_form(c, Item(entry.place, single, entry.name.begin), entry.key)
        if form is not None:
            yield form
