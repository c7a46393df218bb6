"""Find the tasks of a step in every spelling of its tool: their labels, kinds and fields.

Decides labels and who holds what. Does not look into the fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.keys import STEP_KEYS
from anew.program.kinds import KINDS
from anew.program.span import Span

# The older block that stores what a step's tool gave.
SAVE_NAMES = ("save", "sink")
_TASK_FORM = "Write `- label: {kind: …}`."


class TaskForm(Struct, frozen=True):
    """`holder` is the key or dash the task hangs on, `name` what labels it.

    `fields` are all its keys but label and kind. `source` is the mapping that the author wrote,
    where nothing of the task stands elsewhere. `is_on_step`: its tool is a word, and its fields
    stand beside it on the step.
    """

    label: str
    name: ScalarNode
    holder: Span
    kind: Entry | None
    fields: Mapping[str, Entry]
    source: MapNode | None = None
    item: Item | None = None
    is_on_step: bool = False


def uses_policy(form: TaskForm) -> bool:
    """Whether the task has `spec.policy`."""
    spec = form.fields.get("spec")
    return spec is not None and isinstance(spec.node, MapNode) and "policy" in spec.node


def read_forms(c: Compilation, step: MapNode, name: str, holder: Span) -> list[TaskForm]:
    """The tasks of a step, in order. None (reported) for a tool that has no known form."""
    tool = step.get("tool") or step.get("type")
    if tool is None:
        c.noncanonical(
            "strict.tool-missing", holder, f"step {name!r} has no tool", "`tool: {kind: noop}`"
        )
        noop = made.entry("kind", made.scalar("noop", holder), holder)
        return [TaskForm(name, noop.name, holder, noop, {})]
    node = tool.node
    match node:
        case ScalarNode():
            return _on_step(c, step, name, tool=tool, holder=holder)
        case MapNode():
            _report_type(c, step)
            return [_single(c, node, name, tool)]
        case ListNode():
            _report_type(c, step)
            return list(_pipeline(c, node))


def _report_type(c: Compilation, step: MapNode) -> None:
    if "tool" in step and "type" in step:
        c.ignored(step.entries["type"], "next to `tool`", "Remove it; `kind` names the tool.")


def _on_step(
    c: Compilation, step: MapNode, name: str, *, tool: Entry, holder: Span
) -> list[TaskForm]:
    node = tool.node
    assert isinstance(node, ScalarNode)
    if is_null(node):
        c.report("tool.kind-missing", tool.place, f"the tool of step {name!r} is empty", _TASK_FORM)
        return []
    canonical = "`tool: [{label: {kind: …, …}}]`"
    c.noncanonical("strict.tool-string", tool.place, "the tool is a string", canonical)
    fields = {key: entry for key, entry in step.entries.items() if key not in STEP_KEYS}
    for key in ("eval", "retry", "set"):
        if key in step:
            fields[key] = step.entries[key]
    if tool.key == "tool" and "type" in step:
        fields["type"] = step.entries["type"]
    spec = step.get("spec")
    if spec is not None and isinstance(spec.node, MapNode) and "timeout" in spec.node:
        fields["timeout"] = spec.node.entries["timeout"]
    # The comments of the word stay with it, those of its key with `tool`.
    written = made.scalar(node.value, node.span)
    kind = Entry("kind", node, written, origins=(Entry("kind", node, node),))
    return [TaskForm(name, tool.name, holder, kind, fields, is_on_step=True)]


def _single(c: Compilation, node: MapNode, name: str, tool: Entry) -> TaskForm:
    kind = node.get("kind")
    if kind is None:
        c.report("tool.kind-missing", tool.holder, "a tool has no `kind`", _missing_kind(node))
    fields = {key: entry for key, entry in node.entries.items() if key != "kind"}
    return TaskForm(name, tool.name, tool.holder, kind, fields, node)


def _missing_kind(node: MapNode) -> str:
    inner = [entry for entry in node if isinstance(entry.node, MapNode) and "kind" in entry.node]
    return "Write the labelled tasks as a list: `- label: {…}`." if inner else "Add `kind: …`."


def _pipeline(c: Compilation, node: ListNode) -> Iterator[TaskForm]:
    if not node.items:
        c.report("tool.shape", node.span, "the pipeline has no tasks", _TASK_FORM)
    for index, item in enumerate(node.items):
        form = read_task_form(c, item, f"task_{index}")
        if form is not None:
            yield form


def read_task_form(c: Compilation, item: Item, default_label: str) -> TaskForm | None:
    """One element of a pipeline (or workbook) in any of its spellings."""
    node = item.node
    if not isinstance(node, MapNode):
        c.report(
            "tool.shape", node.span, f"a task must be a mapping; found {shown(node)}", _TASK_FORM
        )
        return None
    inner = node.get("tool")
    if "kind" in node or "name" in node or (inner and isinstance(inner.node, MapNode)):
        return _named(c, node, item, default_label)
    if len(node.entries) == 1:
        return _labelled(c, next(iter(node)), item)
    c.report("tool.kind-missing", item.place, "a task has no `kind`", _TASK_FORM)
    return None


def _named(c: Compilation, node: MapNode, item: Item, default_label: str) -> TaskForm:
    c.noncanonical(
        "strict.task-form", item.place, "a task is not labelled by its key", "`- label: {kind: …}`"
    )
    fields = _unwrapped(node)
    kind, name = fields.pop("kind", None), node.get("name")
    label, holder = default_label, _holder(node, item.place)
    labelled_by = made.scalar(label, item.place)
    if name is not None:
        # `workbook` and `secrets` have an input called name; beside the kind it is both.
        if kind is None or not _has_name_input(kind.node) or "task" in fields:
            fields.pop("name", None)
        label = c.text(name, "name") or default_label
        labelled_by = made.scalar(label, name.node.span)
    if kind is None:
        c.report("tool.kind-missing", holder, f"task {label!r} has no `kind`", _TASK_FORM)
    return TaskForm(label, labelled_by, holder, kind, fields, item=item)


def _has_name_input(kind: Node) -> bool:
    known = KINDS.get(kind.text) if isinstance(kind, ScalarNode) else None
    return known is not None and "name" in known.inputs


def _labelled(c: Compilation, entry: Entry, item: Item) -> TaskForm:
    node = entry.node
    kind, source, fields, holder = None, None, {}, entry.holder
    if isinstance(node, MapNode):
        holder = _holder(node, entry.holder)
        if "kind" not in node and "tool" in node:
            c.noncanonical(
                "strict.task-form",
                entry.place,
                "`tool` is inside a label",
                "`- label: {kind: …}`",
            )
        source = node if _wrapped(node) is None else None
        fields = _unwrapped(node)
        kind = fields.pop("kind", None)
    if kind is None:
        found = "" if isinstance(node, MapNode) else f"; found {shown(node)}"
        c.report(
            "tool.kind-missing", holder, f"task {entry.key!r} has no `kind`{found}", _TASK_FORM
        )
    return TaskForm(entry.key, entry.name, holder, kind, fields, source, item)


def _wrapped(node: MapNode) -> Entry | None:
    """The `tool` key a task's fields are wrapped in, if they are."""
    inner = node.get("tool")
    is_wrapped = inner is not None and "kind" not in node and isinstance(inner.node, MapNode)
    return inner if is_wrapped else None


def _holder(node: MapNode, outside: Span) -> Span:
    inner = _wrapped(node)
    return outside if inner is None else inner.holder


def _unwrapped(node: MapNode) -> dict[str, Entry]:
    """The fields of a task whose tool may be wrapped in a `tool` key."""
    inner = _wrapped(node)
    if inner is None or not isinstance(inner.node, MapNode):
        return dict(node.entries)
    outer = {key: entry for key, entry in node.entries.items() if key != "tool"}
    return outer | inner.node.entries
