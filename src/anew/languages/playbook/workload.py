"""Read the data a playbook starts with: workload, keychain and workbook."""

from __future__ import annotations

from collections.abc import Iterator

from anew.expressions import ExpressionError, Template, compile_value
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, plain
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.tasks import read_task
from anew.program.program import Task
from anew.values import Object

# Only what a run itself is may be rendered into its workload (playbook.md#the-document).
_RUN_CONSTANTS = frozenset({"run_id", "execution_id", "job"})
_TEXT_KEPT = "this default stays a text: only `run_id`, `execution_id` and `job` are rendered here"
_TEXT_REMEDY = "Write the value, and give another one with the request, or write it in the task."


def workload_templates(c: Compilation, node: MapNode) -> dict[tuple[str | int, ...], Template]:
    """The defaults that name the run, by their path. All others stay text, which is reported."""
    return dict(_templates(c, node, ()))


def _templates(
    c: Compilation, node: Node, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Template]]:
    if isinstance(node, MapNode):
        for entry in node:
            yield from _templates(c, entry.node, (*path, entry.key))
    elif isinstance(node, ListNode):
        for index, item in enumerate(node.items):
            yield from _templates(c, item.node, (*path, index))
    elif path and "{{" in node.text:
        template = _run_constant(node)
        if template is not None:
            yield path, template
        else:
            c.report("workload.text", node.span, _TEXT_KEPT, _TEXT_REMEDY)


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
    """The reusable tasks by name."""
    c.step = ""
    tasks: dict[str, Task] = {}
    for item in entry.node.items if entry is not None and isinstance(entry.node, ListNode) else ():
        assert isinstance(item.node, MapNode)
        name, tool = item.node.entries["name"].node, item.node.entries["tool"]
        assert isinstance(name, ScalarNode)
        if name.text in tasks:
            message = f"the workbook already has a task {name.text!r}"
            c.report("workbook.duplicate", name.span, message, "Give it another name.")
            continue
        task = Entry(name.text, tool.name, tool.node, tool.alias_end)
        tasks[name.text] = read_task(c, task, labels=frozenset({name.text})).task
    return tasks
