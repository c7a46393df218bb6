"""Compile one task: its kind, its inputs, its policy and the dialect it speaks."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from anew.languages.nodes import Entry, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.durations import seconds_of
from anew.languages.playbook.forms import TaskForm, timeout_beside
from anew.languages.playbook.inputs import UNSUPPORTED_KEYS, gather_inputs, warn_unsafe_retry
from anew.languages.playbook.patches import has_dotted_keys, read_patches
from anew.languages.playbook.policies import read_eval, read_policy
from anew.languages.playbook.retries import read_retry
from anew.program.kind import Kind
from anew.program.kinds import KINDS, find_kind, installed_kinds, kind_named
from anew.program.policy import NO_POLICY, Patch, Policy
from anew.program.program import Dialect, Task

_LOOP_FORM = (
    '`loop: {in: "{{ … }}", iterator: item, spec: {mode: parallel}}` with the task as `tool`'
)
_TIMEOUT_FORM = "`spec: {timeout: …}`"


class TaskRead(Struct, frozen=True):
    """A compiled task, and whether it showed the words of its dialect."""

    task: Task
    shows_dialect: bool


def read_task(
    c: Compilation, form: TaskForm, *, labels: frozenset[str], args: Entry | None = None
) -> TaskRead:
    """The compiled task; what is wrong is reported and left out. `args` are the step's own."""
    kind = _read_kind(c, form)
    spec = None if form.is_on_step else c.mapping(form.fields.get("spec"), "spec")
    for key, remedy in UNSUPPORTED_KEYS.items():
        if key in form.fields:
            report_unsupported(c, form.fields[key], remedy)
    start = len(c.reads)
    given = gather_inputs(c, form, kind, spec=spec, args=args) if kind is not None else {}
    inputs = c.inputs(given, verbatim=kind.verbatim if kind is not None else frozenset())
    policy = _read_policy(c, form, spec, labels)
    if kind is not None:
        warn_unsafe_retry(c, form, kind, inputs=given, policy=policy)
    policy = replace(policy, patches=_task_patches(c, form)) if "set" in form.fields else policy
    dialect = _dialect(c, form, start)
    if dialect is Dialect.OUTPUT:
        c.noncanonical(
            "strict.output",
            form.holder,
            "the words of `output` are used",
            "`outcome` and `.result`",
        )
    name = kind.name if kind is not None else "noop"
    timeout = _read_timeout(c, form, kind, spec)
    task = Task(form.label, name, inputs, policy, dialect, timeout, form.holder)
    shows = dialect is not Dialect.POLICY or policy is not NO_POLICY
    return TaskRead(task, shows)


def report_unsupported(c: Compilation, entry: Entry, remedy: str) -> None:
    message = f"`{entry.key}` is an older form that is not run"
    c.report("dialect.unsupported", entry.place, message, f"Write {remedy}.")


def _task_patches(c: Compilation, form: TaskForm) -> tuple[Patch, ...]:
    return read_patches(c, {"set": form.fields["set"]})


# --- kind ----------------------------------------------------------------------------------------


def _read_kind(c: Compilation, form: TaskForm) -> Kind | None:
    node = form.kind
    if node is None:
        return KINDS["noop"] if form.is_on_step else None
    if not isinstance(node, ScalarNode) or is_null(node):
        message = f"kind must be a word; found {shown(node)}"
        c.report("tool.kind", node.span, message, "Write `kind: http`, or another known kind.")
        return None
    kind = find_kind(node.text)
    if kind is not None:
        return kind
    if node.text in c.kinds:
        return kind_named(node.text)
    if node.text == "iterator":
        message = "`tool: iterator` is an older form that is not run"
        c.report("dialect.unsupported", node.span, message, f"Write {_LOOP_FORM}.")
        return None
    known = sorted(KINDS.keys() | installed_kinds() | c.kinds)
    message = f"tool kind {node.text!r} is unknown; known are {', '.join(known)}"
    c.report("tool.kind", node.span, message, c.suggestions.remedy(node.text, known))
    return None


# --- policy and dialect --------------------------------------------------------------------------


def uses_policy(form: TaskForm) -> bool:
    """Whether the task has `spec.policy`."""
    spec = form.fields.get("spec")
    return spec is not None and isinstance(spec.node, MapNode) and "policy" in spec.node


def _read_policy(
    c: Compilation, form: TaskForm, spec: MapNode | None, labels: frozenset[str]
) -> Policy:
    policy = spec.get("policy") if spec is not None else None
    retry, evaluation = form.fields.get("retry"), form.fields.get("eval")
    given = [entry for entry in (policy, evaluation, retry) if entry is not None]
    for extra in given[1:]:
        message = f"task {form.label!r} has both `{given[0].key}` and `{extra.key}`"
        c.report("policy.conflict", extra.place, message, "Keep one of them.")
    if policy is not None:
        c.uses_policy = True
        return read_policy(c, policy, labels)
    if evaluation is not None:
        return read_eval(c, evaluation, labels)
    return read_retry(c, retry) if retry is not None else NO_POLICY


def _dialect(c: Compilation, form: TaskForm, start: int) -> Dialect:
    if "eval" in form.fields:
        return Dialect.EVAL
    is_string_tool = form.is_on_step and form.kind is not None
    if "retry" in form.fields or is_string_tool:
        return Dialect.RETRY
    says_output = any("output" in read.names for read in c.reads[start:])
    return Dialect.OUTPUT if says_output or _sets_dotted(form) else Dialect.POLICY


def _sets_dotted(form: TaskForm) -> bool:
    found = form.fields.get("set")
    if found is not None and has_dotted_keys(found.node):
        return True
    spec = form.fields.get("spec")
    return spec is not None and _holds_dotted_set(spec)


def _holds_dotted_set(entry: Entry) -> bool:
    todo = [entry]
    while todo:
        found = todo.pop()
        if found.key == "set" and has_dotted_keys(found.node):
            return True
        todo += _entries_below(found)
    return False


def _entries_below(entry: Entry) -> list[Entry]:
    node = entry.node
    if isinstance(node, MapNode):
        return list(node)
    if isinstance(node, ScalarNode):
        return []
    return [inner for item in node.items if isinstance(item.node, MapNode) for inner in item.node]


# --- timeout -------------------------------------------------------------------------------------


def _read_timeout(
    c: Compilation, form: TaskForm, kind: Kind | None, spec: MapNode | None
) -> object:
    entry = spec.get("timeout") if spec is not None else None
    beside = timeout_beside(form.fields)
    if entry is None and beside is not None and not (kind is not None and "timeout" in kind.inputs):
        c.noncanonical(
            "strict.place", beside.place, f"`{beside.key}` stands on the task", _TIMEOUT_FORM
        )
        entry = beside
    if entry is not None and kind is not None and isinstance(entry.node, MapNode):
        _check_phases(c, entry, entry.node, kind)
    return read_timeout(c, entry)


def _check_phases(c: Compilation, entry: Entry, node: MapNode, kind: Kind) -> None:
    if kind.timeout_phases:
        c.check_keys(node, kind.timeout_phases, "a timeout")
    elif not kind.is_open:
        c.ignored(entry, f"as a mapping on kind {kind.name}", "Write one number of seconds.")


def read_timeout(c: Compilation, entry: Entry | None) -> object:
    """Seconds, or a mapping of phases to seconds; None when absent or (reported) wrong."""
    if entry is None or is_null(entry.node):
        return None
    node = entry.node
    if isinstance(node, MapNode):
        phases = {part.key: seconds_of(part.node) for part in node}
        if phases and all(seconds for seconds in phases.values()):
            return phases
    seconds = seconds_of(node)
    if seconds:
        return seconds
    message = f"timeout must be seconds above 0, or {{connect, read}} of them; found {shown(node)}"
    c.report("tool.timeout", node.span, message, "Write `timeout: 30`.")
    return None
