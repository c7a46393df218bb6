"""One step in its canonical form: `step`, `loop`, `args`, `tool`, `spec` and `next`.

Each key of a step has a row here that says what it becomes: the place to add an older word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.forms import SAVE_NAMES, TaskForm, read_forms, uses_policy
from anew.languages.playbook.desugar.routes import next_of
from anew.languages.playbook.desugar.sets import set_of
from anew.languages.playbook.desugar.specs import loop_of, note_when, spec_of
from anew.languages.playbook.desugar.tasks import labelled_item, report_unsupported, task_node
from anew.languages.playbook.keys import (
    ARGS_KEYS,
    STEP_IDLE,
    STEP_KEYS,
    STEP_SET_KEYS,
    UNSUPPORTED_KEYS,
)

_OF_LONE_TASK = ("retry", "eval")


def step_name(item: Item) -> ScalarNode | None:
    """The node of a step's name, if it has one that can be a name."""
    if not isinstance(item.node, MapNode):
        return None
    entry = item.node.get("step")
    node = entry.node if entry is not None else None
    return node if isinstance(node, ScalarNode) and node.text and not is_null(node) else None


class _Step(Struct, frozen=True):
    """A step while its keys are brought to canonical form, one after the other.

    `args` are what it gives all its tasks, `moved` the keys that belong to a task.
    """

    c: Compilation
    node: MapNode
    forms: list[TaskForm]
    saved: tuple[Item, ...]
    args: Entry | None
    moved: frozenset[str]


def canonical_step(c: Compilation, item: Item) -> Item:
    """The canonical step: the author's own where nothing has to change."""
    node, name = item.node, step_name(item)
    if not isinstance(node, MapNode):
        return item
    if "case" in node:
        # Few documents have it.
        from anew.languages.playbook.desugar.cases import without_case  # noqa: PLC0415

        node = without_case(c, node)
    forms = _forms(c, node, name.text if name is not None else "", item)
    moved = frozenset(key for form in forms for key in form.fields if _has_moved(node, form, key))
    step = _Step(c, node, forms, _saved(c, node, forms), _shared_args(c, node, forms), moved)
    if "when" in node:
        note_when(c, node.entries["when"], has_policy=any(map(uses_policy, forms)))
    return made.with_node(item, made.with_entries(node, _with_tool(step, list(_keys(step)), item)))


def _has_moved(step: MapNode, form: TaskForm, key: str) -> bool:
    """Whether a key of the step belongs to the task; both may have a `set` of their own."""
    own = step.get(key)
    return own is not None and (key not in STEP_SET_KEYS or own is form.fields[key])


def _keys(step: _Step) -> Iterator[Entry]:
    for entry in step.node:
        becomes = _BECOMES.get(entry.key)
        if becomes is not None:
            found = becomes(step, entry)
        else:
            found = None if entry.key in step.moved else entry
        if found is not None:
            yield found


def _with_tool(step: _Step, keys: list[Entry], item: Item) -> list[Entry]:
    """A step without a tool does nothing, or what stands on it says."""
    if "tool" in step.node or "type" in step.node:
        return keys
    task = task_node(step.c, step.forms[0])
    is_bare = len(task.entries) == 1
    node = _with_saved(step, task) if step.saved else replace(task, is_flow=is_bare)
    tool = made.entry("tool", node, item.place)
    at = next((index for index, key in enumerate(keys) if key.key == "next"), len(keys))
    return [*keys[:at], tool, *keys[at:]]


def _with_saved(step: _Step, task: MapNode) -> ListNode:
    """The step's only task, and those that its `save` stands for."""
    form = step.forms[0]
    row = made.mapping([made.entry(form.label, task, form.holder)], form.holder)
    return made.sequence([Item(form.holder, row), *step.saved], form.holder)


# --- what each key becomes -----------------------------------------------------------------------


def _tool(step: _Step, entry: Entry) -> Entry | None:
    if entry.key == "type" and "tool" in step.node:
        return None if entry.key in step.moved else entry
    if isinstance(entry.node, ListNode):
        rows = [labelled_item(step.c, form) for form in step.forms]
        rows = _with_pages(step, rows)
        return made.renamed(entry, "tool", made.with_items(entry.node, [*rows, *step.saved]))
    if not step.forms:
        return entry
    form = step.forms[0]
    task = task_node(step.c, form)
    if "paginate" in task:
        row = made.mapping([made.entry(form.label, task, form.holder)], form.holder)
        rows = _with_pages(step, [Item(form.holder, row)])
        return made.renamed(entry, "tool", made.sequence([*rows, *step.saved], form.holder))
    if not step.saved:
        return made.renamed(entry, "tool", task)
    return made.renamed(entry, "tool", _with_saved(step, task))


def _with_pages(step: _Step, rows: list[Item]) -> list[Item]:
    if not any("paginate" in form.fields for form in step.forms):
        return rows
    # Few documents have it.
    from anew.languages.playbook.desugar.paginating import with_pages  # noqa: PLC0415

    return with_pages(step.c, rows)


def _spec(step: _Step, entry: Entry) -> Entry | None:
    drops = _is_string_tool(step.node)
    return spec_of(step.c, entry, step.node.get("when"), drops_timeout=drops)


def _when(step: _Step, entry: Entry) -> Entry | None:
    return None if "spec" in step.node else spec_of(step.c, None, entry, drops_timeout=False)


def _args(step: _Step, entry: Entry) -> Entry | None:
    return made.renamed(entry, "args") if entry is step.args else None


def _set(step: _Step, entry: Entry) -> Entry | None:
    """All that the step writes, where the first of it stands."""
    given = [e for e in step.node if e.key in STEP_SET_KEYS and e.key not in step.moved]
    return set_of(step.c, given, "a step") if given and entry is given[0] else None


def _next_mode(step: _Step) -> Entry | None:
    """An older place of the router's mode: `spec: {next_mode: …}` of the step."""
    spec = step.node.get("spec")
    return spec.node.get("next_mode") if spec and isinstance(spec.node, MapNode) else None


def _compensate(step: _Step, entry: Entry) -> Entry | None:
    if is_null(entry.node):
        return None
    # Few documents have it.
    from anew.languages.playbook.desugar.compensations import canonical_compensation  # noqa: PLC0415

    name = step.node.get("step")
    said = name.node.text if name is not None and isinstance(name.node, ScalarNode) else ""
    return canonical_compensation(step.c, said, entry)


def _gone(step: _Step, entry: Entry) -> None:
    """What stands elsewhere in the canonical step."""


_BECOMES: Mapping[str, Callable[[_Step, Entry], Entry | None]] = {
    "tool": _tool,
    "type": _tool,
    "spec": _spec,
    "when": _when,
    "compensate": _compensate,
    "loop": lambda step, entry: loop_of(step.c, entry),
    "next": lambda step, entry: next_of(step.c, entry, said=_next_mode(step)),
    **dict.fromkeys(ARGS_KEYS, _args),
    **dict.fromkeys(STEP_SET_KEYS, _set),
    **dict.fromkeys(SAVE_NAMES, _gone),
}


# --- tasks, with what stands on the step but belongs to one --------------------------------------


def _forms(c: Compilation, node: MapNode, name: str, item: Item) -> list[TaskForm]:
    """The tasks of a step, each with the fields on the step that belong to it."""
    forms = read_forms(c, node, name, item.place)
    _report_duplicates(c, forms)
    _report_outside(c, node.get("tool"))
    for key, remedy in UNSUPPORTED_KEYS.items():
        if key in node and key not in SAVE_NAMES and key not in STEP_SET_KEYS:
            report_unsupported(c, node.entries[key], remedy)
    if _is_string_tool(node):
        return forms
    c.check_keys(node, STEP_KEYS.union(ARGS_KEYS), "a step", idle=STEP_IDLE)
    return _with_step_fields(c, node, forms)


def _is_string_tool(node: MapNode) -> bool:
    tool = node.get("tool") or node.get("type")
    return tool is not None and isinstance(tool.node, ScalarNode)


def _with_step_fields(c: Compilation, node: MapNode, forms: list[TaskForm]) -> list[TaskForm]:
    """Give a lone task the `retry` and `eval` that stand on its step."""
    given = {key: node.entries[key] for key in _OF_LONE_TASK if key in node}
    if not given:
        return forms
    if len(forms) == 1:
        return [replace(forms[0], fields={**given, **forms[0].fields}, source=None)]
    for key, entry in given.items():
        message = f"`{key}` is on a step with {len(forms)} tasks; it belongs to one of them"
        c.report("policy.misplaced", entry.place, message, "Move it to the task it is meant for.")
    return forms


def _report_duplicates(c: Compilation, forms: list[TaskForm]) -> None:
    seen: dict[str, TaskForm] = {}
    for form in forms:
        first = seen.setdefault(form.label, form)
        if first is not form:
            message = f"the label {form.label!r} was already used in line {first.name.line}"
            c.report("task.duplicate", form.name.span, message, "Give each task its own label.")


def _report_outside(c: Compilation, tool: Entry | None) -> None:
    """Tell of a `spec` that stands beside the label of its task instead of under it."""
    if tool is None or not isinstance(tool.node, ListNode):
        return
    for node in (item.node for item in tool.node.items):
        label = _label_beside_spec(node)
        if label is not None and isinstance(node, MapNode):
            message = f"`spec` is next to the label {label!r}, where it has no effect"
            remedy = f"Indent it: `spec` belongs under {label!r}, next to `kind`."
            c.report("key.unknown", node.entries["spec"].place, message, remedy)


def _label_beside_spec(node: Node) -> str | None:
    if not isinstance(node, MapNode) or "spec" not in node or "kind" in node or "tool" in node:
        return None
    labels = (
        entry.key for entry in node if isinstance(entry.node, MapNode) and "kind" in entry.node
    )
    return next(labels, None)


def _shared_args(c: Compilation, node: MapNode, forms: list[TaskForm]) -> Entry | None:
    """The arguments a step gives all its tasks; those beside a string tool are its inputs."""
    given = [node.entries[key] for key in ARGS_KEYS if key in node]
    if not given or any(form.is_on_step for form in forms):
        return None
    entry = given[0]
    if entry.key != "args":
        message = f"a step gives its arguments as `{entry.key}`"
        c.noncanonical("strict.input", entry.place, message, "`args`")
    for extra in given[1:]:
        message = f"a step has both `{entry.key}` and `{extra.key}`"
        c.report("tool.input-twice", extra.place, message, "Keep `args`.")
    is_template = isinstance(entry.node, ScalarNode) and "{{" in entry.node.text
    return entry if is_template or c.mapping(entry, entry.key) is not None else None


def _saved(c: Compilation, node: MapNode, forms: list[TaskForm]) -> tuple[Item, ...]:
    if not any(key in node for key in SAVE_NAMES):
        return ()
    # Only documents that use the older block pay for reading it.
    from anew.languages.playbook.desugar.saves import tasks_of_save  # noqa: PLC0415

    return tasks_of_save(c, node, forms)
