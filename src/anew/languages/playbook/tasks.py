"""Compile one canonical task: its kind, its inputs, its policy and the dialect it speaks."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from anew.languages.nodes import Entry, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.backoffs import note_unused, task_backoff
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.desugar.canonical import TaskNode
from anew.languages.playbook.desugar.tasks import kind_of
from anew.languages.playbook.durations import seconds_of
from anew.languages.playbook.guarding import with_guard_words
from anew.languages.playbook.inputs import gather_inputs, warn_unsafe_retry
from anew.languages.playbook.patches import has_dotted_keys, read_task_patches
from anew.languages.playbook.policies import read_policy
from anew.program.kind import Kind
from anew.program.kinds import KINDS, installed_kinds
from anew.program.policy import NO_POLICY, Policy
from anew.program.program import Dialect, Task


class TaskRead(Struct, frozen=True):
    """A compiled task, and whether it showed the words of its dialect."""

    task: Task
    shows_dialect: bool


def read_task(
    c: Compilation, entry: Entry, *, labels: frozenset[str], args: Entry | None = None
) -> TaskRead:
    """The task under its label; what is wrong is reported and left out. `args` are the step's."""
    node = entry.node
    fields = node.entries if isinstance(node, MapNode) else {}
    kind = _read_kind(c, fields.get("kind"))
    below = fields.get("spec")
    spec = below.node if below is not None and isinstance(below.node, MapNode) else None
    start = len(c.reads)
    given = gather_inputs(c, entry, kind, args=args) if kind is not None else {}
    inputs = c.inputs(given, verbatim=kind.verbatim if kind is not None else frozenset())
    shown_dialect = node.dialect if isinstance(node, TaskNode) else None
    c.backoff = task_backoff(c, spec, is_open=kind is not None and kind.is_open)
    policy = _read_policy(c, spec, labels, shown_dialect or Dialect.POLICY)
    note_unused(c, spec, policy)
    if kind is not None:
        warn_unsafe_retry(c, entry, kind, inputs=given, policy=policy)
    written = read_task_patches(c, fields, labels)
    if written:
        policy = replace(policy, patches=written)
    dialect = shown_dialect or _dialect_of_expressions(c, node, start)
    if dialect is Dialect.OUTPUT:
        c.noncanonical(
            "strict.output",
            entry.holder,
            "the words of `output` are used",
            "`outcome` and `.result`",
        )
    name = kind.name if kind is not None else "noop"
    timeout = _read_timeout(c, kind, spec)
    once = _read_exactly_once(c, kind, spec, given)
    task = Task(entry.key, name, inputs, policy, dialect, timeout, once, entry.holder)
    if spec is not None:
        task = with_guard_words(c, task, spec)
    shows = dialect is not Dialect.POLICY or policy is not NO_POLICY
    return TaskRead(task, shows)


# --- kind ----------------------------------------------------------------------------------------


def _read_kind(c: Compilation, entry: Entry | None) -> Kind | None:
    if entry is None:
        return None
    node = entry.node
    if not isinstance(node, ScalarNode) or is_null(node):
        message = f"kind must be a word; found {shown(node)}"
        c.report("tool.kind", node.span, message, "Write `kind: http`, or another known kind.")
        return None
    kind = kind_of(c, node)
    if kind is not None:
        return kind
    # Only a document with a mistake pays for the table.
    from anew.languages.playbook.refusals import report_foreign_kind  # noqa: PLC0415

    if report_foreign_kind(c, node):
        return None
    known = sorted(KINDS.keys() | installed_kinds() | c.kinds.keys())
    message = f"tool kind {node.text!r} is unknown; known are {', '.join(known)}"
    remedy = c.suggestions.remedy(node.text, known)
    if not remedy.startswith("Did you mean"):
        remedy += " Python code of your own is loaded with `--tools MODULE`."
    c.report("tool.kind", node.span, message, remedy)
    return None


# --- policy and dialect --------------------------------------------------------------------------


def _read_policy(
    c: Compilation, spec: MapNode | None, labels: frozenset[str], dialect: Dialect
) -> Policy:
    policy = spec.get("policy") if spec is not None else None
    return NO_POLICY if policy is None else read_policy(c, policy, labels, dialect)


def _dialect_of_expressions(c: Compilation, node: Node, start: int) -> Dialect:
    """The dialect that expressions show: `output` is a word of one of them."""
    says_output = any("output" in read.names for read in c.reads[start:])
    return Dialect.OUTPUT if says_output or _sets_dotted(node) else Dialect.POLICY


def _sets_dotted(node: Node) -> bool:
    fields = node.entries if isinstance(node, MapNode) else {}
    return any(_holds_dotted_set(fields[key]) for key in ("set", "spec") if key in fields)


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


def _read_exactly_once(
    c: Compilation, kind: Kind | None, spec: MapNode | None, given: dict[str, Entry]
) -> bool:
    entry = spec.get("exactly_once") if spec is not None else None
    if entry is None:
        return False
    # Few tasks have it.
    from anew.languages.playbook.exactly_once import read_exactly_once  # noqa: PLC0415

    return read_exactly_once(c, entry, kind, given)


# --- timeout -------------------------------------------------------------------------------------


def _read_timeout(c: Compilation, kind: Kind | None, spec: MapNode | None) -> object:
    entry = spec.get("timeout") if spec is not None else None
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
