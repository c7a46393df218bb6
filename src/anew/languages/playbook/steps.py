"""Compile one step: its tasks, gate, loop and router."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, Place, shown
from anew.languages.playbook.forms import SAVE_NAMES, STEP_KEYS, TaskForm, read_forms
from anew.languages.playbook.gates import StepSpec, read_pool, read_step_spec
from anew.languages.playbook.inputs import ARGS_KEYS, UNSUPPORTED_KEYS
from anew.languages.playbook.loops import read_loop
from anew.languages.playbook.routes import read_router
from anew.languages.playbook.tasks import (
    TaskRead,
    read_task,
    report_unsupported,
    uses_policy,
)
from anew.program.program import AdmitRule, Dialect, Step

_SET_REMEDY = "`set_ctx` in a rule of the task that gives the value"


class StepRead(Struct, frozen=True):
    """A compiled step, and the dialects its tasks showed."""

    step: Step
    dialects: frozenset[Dialect]


def step_name(item: Item) -> ScalarNode | None:
    """The node of a step's name, if it has one that can be a name."""
    if not isinstance(item.node, MapNode):
        return None
    entry = item.node.get("step")
    node = entry.node if entry is not None else None
    return node if isinstance(node, ScalarNode) and node.text and not is_null(node) else None


def read_step(c: Compilation, item: Item) -> StepRead | None:
    """The compiled step; what is wrong is reported and left out. None when it has no name."""
    node, name = item.node, step_name(item)
    if not isinstance(node, MapNode):
        c.report(
            "step.name", node.span, f"a step must be a mapping; found {shown(node)}", _STEP_FORM
        )
        return None
    if name is None:
        _report_name(c, node, item)
    label = name.text if name is not None else ""
    c.step = label
    forms = read_step_forms(c, node, label, item)
    has_policy = any(uses_policy(form) for form in forms)
    labels = frozenset(form.label for form in forms)
    args = _shared_args(c, node, forms)
    reads = [read_task(c, form, labels=labels, args=args) for form in forms]
    if any(key in node for key in SAVE_NAMES):
        # Only documents that use the older block pay for reading it.
        from anew.languages.playbook.storing import read_storing  # noqa: PLC0415

        reads += read_storing(c, node, forms, args)
    dialect = _step_dialect(reads)
    spec = _read_spec(c, node, has_policy=has_policy)
    loop = read_loop(c, node.get("loop"))
    if "loop" in node and loop is None:
        c.lost_loops.add(label)
    step = Step(
        name=label,
        tasks=tuple(read.task for read in reads),
        router=read_router(c, node.get("next")),
        loop=loop,
        admit=spec.admit,
        join=spec.join,
        failure=spec.failure,
        deadline_seconds=spec.deadline_seconds,
        dialect=dialect,
        pool=_read_pool(c, forms, spec.pool),
        gather=spec.gather,
        gate=spec.gate,
        is_exit=spec.is_exit,
        rescue=spec.rescue,
        rescue_span=spec.rescue_span,
        visits_max=spec.visits_max,
        span=name.span if name is not None else item.place,
    )
    shown_dialects = frozenset(read.task.dialect for read in reads if read.shows_dialect)
    return StepRead(step, shown_dialects) if name is not None else None


def _report_name(c: Compilation, node: MapNode, item: Item) -> None:
    entry = node.get("step")
    if entry is None:
        c.report("step.name", item.place, "a step has no name", _STEP_FORM)
    else:
        message = f"a step's name must be a text; found {shown(entry.node)}"
        c.report("step.name", entry.node.span, message, _STEP_FORM)


def _step_dialect(reads: list[TaskRead]) -> Dialect:
    says_output = any(read.task.dialect is Dialect.OUTPUT for read in reads)
    return Dialect.OUTPUT if says_output else Dialect.POLICY


# --- the tasks' forms, with what stands on the step but belongs to a task ------------------------


def read_step_forms(c: Compilation, node: MapNode, name: str, item: Item) -> list[TaskForm]:
    """The tasks of a step, each with the fields on the step that belong to it."""
    forms = read_forms(c, node, name, item.place)
    _report_duplicates(c, forms)
    _report_outside(c, node.get("tool"))
    for key, remedy in UNSUPPORTED_KEYS.items():
        if key in node and key not in SAVE_NAMES:
            report_unsupported(c, node.entries[key], remedy)
    if _is_string_tool(node):
        return forms
    c.check_keys(node, STEP_KEYS.union(ARGS_KEYS), "a step")
    return _with_step_fields(c, node, forms)


def _is_string_tool(node: MapNode) -> bool:
    tool = node.get("tool") or node.get("type")
    return tool is not None and isinstance(tool.node, ScalarNode)


def _with_step_fields(c: Compilation, node: MapNode, forms: list[TaskForm]) -> list[TaskForm]:
    """Give a lone task the `retry`, `eval` and `set` that stand on its step."""
    given = {key: node.entries[key] for key in ("retry", "eval", "set") if key in node}
    if not given:
        return forms
    if len(forms) == 1:
        return [replace(forms[0], fields={**given, **forms[0].fields})]
    for key, entry in given.items():
        if key == "set":
            report_unsupported(c, entry, _SET_REMEDY)
        else:
            message = f"`{key}` stands on a step with {len(forms)} tasks; it belongs to one of them"
            c.report(
                "policy.misplaced", entry.place, message, "Move it to the task it is meant for."
            )
    return forms


def _report_duplicates(c: Compilation, forms: list[TaskForm]) -> None:
    seen: dict[str, TaskForm] = {}
    for form in forms:
        first = seen.setdefault(form.label, form)
        if first is not form:
            message = f"the label {form.label!r} was already used in line {first.label_place.line}"
            c.report("task.duplicate", form.label_place, message, "Give each task its own label.")


def _report_outside(c: Compilation, tool: Entry | None) -> None:
    """Tell of a `spec` that stands beside the label of its task instead of under it."""
    if tool is None or not isinstance(tool.node, ListNode):
        return
    for node in (item.node for item in tool.node.items):
        label = _label_beside_spec(node)
        if label is not None and isinstance(node, MapNode):
            message = f"`spec` stands beside the label {label!r}, where it has no effect"
            remedy = f"Indent it: `spec` belongs under {label!r}, beside `kind`."
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
    if not given or any(form.is_on_step and form.kind is not None for form in forms):
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


# --- spec and the older `when` -------------------------------------------------------------------


def _read_spec(c: Compilation, node: MapNode, *, has_policy: bool) -> StepSpec:
    spec = read_step_spec(c, node.get("spec"), takes_timeout=_is_string_tool(node))
    when = node.get("when")
    if when is None:
        return spec
    condition = c.condition(when.node, Place.ROUTING, what="when")
    canonical = (
        "`spec: {policy: {admit: {rules: [{when: …, then: {allow: true}}, "
        "{else: {then: {allow: false}}}]}}}`"
    )
    if has_policy:
        message = "`when` on a step is not allowed where a task uses `spec.policy`"
        c.report("step.when", when.place, message, f"Write {canonical}.")
        return spec
    c.noncanonical("strict.step-when", when.place, "a step has `when`", canonical)
    if spec.admit:
        c.report(
            "policy.conflict",
            when.place,
            "a step has both `when` and admission rules",
            "Keep the rules.",
        )
    rules = (AdmitRule(True, condition, when.place), AdmitRule(False, span=when.place))
    return replace(spec, admit=rules)


def _read_pool(c: Compilation, forms: list[TaskForm], own: str | None) -> str | None:
    """The pool of the whole pipeline: one worker runs it, so its tasks cannot ask for several."""
    pool = own
    for form in forms:
        spec = form.fields.get("spec")
        entry = spec.node.get("pool") if spec and isinstance(spec.node, MapNode) else None
        asked = read_pool(c, entry)
        if entry is not None and asked not in (None, pool) and pool is not None:
            message = f"task {form.label!r} asks for pool {asked!r}, its step for {pool!r}"
            remedy = "Write one `spec: {pool: …}` on the step, or move the task to its own step."
            c.report("step.pool", entry.node.span, message, remedy)
        pool = pool or asked
    return pool


_STEP_FORM = "Write `- step: <name>` with its `tool` and `next`."
