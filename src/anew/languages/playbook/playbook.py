"""Compile a whole playbook document, collecting every problem on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from os.path import basename, splitext

from msgspec import Struct
from msgspec.structs import replace

from anew.expressions import Template
from anew.languages.document import read_yaml
from anew.languages.loaded import Loaded, ordered
from anew.languages.nodes import Entry, ListNode, MapNode, Node, ScalarNode, is_null, plain
from anew.languages.playbook.compilation import Compilation, Site, shown
from anew.languages.playbook.desugar.document import desugar
from anew.languages.playbook.desugar.steps import step_name
from anew.languages.playbook.forking import with_joins
from anew.languages.playbook.guarding import read_dependencies, read_priority
from anew.languages.playbook.keys import (
    EXECUTOR_IDLE,
    EXECUTOR_KEYS,
    EXECUTOR_POLICY_IDLE,
    EXECUTOR_SPEC_KEYS,
    ROOT_IDLE,
    ROOT_KEYS,
)
from anew.languages.playbook.keys_below import check_ctx
from anew.languages.playbook.message_texts import check_message_texts
from anew.languages.playbook.names import (
    check_iterators,
    check_names,
    check_reserved,
    names_by_step,
)
from anew.languages.playbook.other_policies import read_failure, read_other_policy
from anew.languages.playbook.refusals import report_other_document
from anew.languages.playbook.steps import StepRead, read_compensation, read_step
from anew.languages.playbook.words import check_kind_words
from anew.languages.playbook.workbook import with_workbook
from anew.languages.playbook.workload import read_keychain, read_workbook, workload_templates
from anew.languages.rules import finding
from anew.program.check import check_program
from anew.program.findings import Finding, has_error
from anew.program.guards import GuardRule
from anew.program.kind import Kind
from anew.program.kinds import kind_named
from anew.program.program import Dialect, FailureMode, Limits, Program, Step
from anew.program.span import NOWHERE, Span
from anew.values import Object

# Settings of another runtime that documents bring along.
_WITHOUT_EFFECT = {
    "final_step": "A run ends when no token is left; use `return_step` for its result.",
    "no_next_is_error": "A step with no matching arc ends its token; add an arc to a failing step.",
}
_LIMITS = tuple(Limits.__struct_fields__)
# PostgreSQL has 2,704 bytes for an entry of an index, and a character may take four.
PATH_CHARACTERS_MAX = 500
_ENTRY = "entry_step names"
_WORKFLOW_FORM = "Add `workflow: [{step: …, tool: …}]`."


_NO_LIMITS = Limits()


class CtxStart(StrEnum):
    """What `ctx` holds when a run starts."""

    EMPTY = "empty"
    WORKLOAD = "workload"


class _Executor(Struct, frozen=True):
    entry: Entry | None = None
    return_step: Entry | None = None
    limits: Limits = _NO_LIMITS
    dependencies: tuple[GuardRule, ...] = ()
    priority: int = 0
    failure: FailureMode = FailureMode.FAIL_FAST
    fallback: str | None = None
    fallback_span: Span = NOWHERE
    ctx: CtxStart = CtxStart.EMPTY


def load_playbook(text: str | bytes, file: str, *, kinds: Iterable[str] = ()) -> Loaded:
    """Compile a playbook. Never raises: whatever is wrong with the document is a finding.

    `kinds` are tools that code brings, besides those that are built in or installed.
    """
    return compile_playbook(text, file, kinds=kinds).loaded


class CompiledPlaybook(Struct, frozen=True):
    """What became of a document, and its nodes: as written, and the canonical ones."""

    loaded: Loaded
    written: Node | None
    canonical: Node | None


def _rows(kinds: Iterable[str]) -> Mapping[str, Kind]:
    return kinds if isinstance(kinds, Mapping) else {name: kind_named(name) for name in kinds}


def compile_playbook(
    text: str | bytes, file: str, *, kinds: Iterable[str] = ()
) -> CompiledPlaybook:
    """As `load_playbook`, with the nodes that the program was compiled from."""
    root, findings = read_yaml(text, file)
    c = Compilation(file, findings, kinds=_rows(kinds))
    program, canonical = None, root
    if isinstance(root, MapNode):
        canonical = desugar(c, root)
        program = _compile(c, canonical, digest_of_playbook(text))
    elif not findings:
        findings.append(_no_document(root, file))
    # Each once: an aliased value is compiled wherever it is used.
    told = ordered(findings)
    loaded = Loaded(
        None if has_error(told) else program, told, ordered(c.strict), scripts=tuple(c.scripts)
    )
    return CompiledPlaybook(loaded, root, canonical)


def digest_of_playbook(text: str | bytes) -> str:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()


def path_in_playbook(text: str | bytes, file: str) -> str | None:
    """The path in a document that need not be a good one in any other respect."""
    root, _ = read_yaml(text, file)
    return _read_path(root) if isinstance(root, MapNode) else None


def _no_document(root: Node | None, file: str) -> Finding:
    if root is None:
        return finding("document.empty", Span(file, 1, 1), "the document is empty", _WORKFLOW_FORM)
    message = f"a playbook must be a mapping; found {shown(root)}"
    return finding("document.shape", root.span, message, _WORKFLOW_FORM)


# --- the document --------------------------------------------------------------------------------


def _compile(c: Compilation, root: MapNode, digest: str) -> Program | None:
    if "workflow" not in root and report_other_document(c, root):
        return None
    c.steps = _step_names(root)
    executor = _read_executor(c, root.get("executor"))
    workload, templates = c.mapping(root.get("workload"), "workload"), {}
    defaults: Object = {}
    if workload is not None:
        defaults, templates = plain(workload), workload_templates(c, workload)
    workbook = read_workbook(c, root.get("workbook"))
    c.workbook = frozenset(workbook)
    keychain = read_keychain(c, root.get("keychain"))
    credentials = frozenset(str(one["name"]) for one in keychain if one.get("name"))
    reads = _read_steps(c, root)
    steps = {read.step.name: with_workbook(read.step, workbook) for read in reads}
    steps = with_joins(c, steps)
    ctx = _read_ctx(c, root.get("ctx"))
    _check_sections(c, root, frozenset(defaults))
    check_names(c, steps, frozenset(defaults), credentials=credentials)
    if executor.ctx is not CtxStart.WORKLOAD:
        check_ctx(c, steps, frozenset(defaults))
    check_message_texts(c)
    check_kind_words(c)
    check_reserved(c, steps)
    check_iterators(c, steps)
    if c.codes:
        # Python's own parser, which no other document needs.
        from anew.languages.playbook.code_texts import check_code_texts  # noqa: PLC0415

        check_code_texts(c, names_by_step(c, steps, frozenset(defaults)))
    if c.shell_texts:
        # With it comes the parser of templates, which most documents do without.
        from anew.languages.playbook.shell_values import check_shell_texts  # noqa: PLC0415

        check_shell_texts(c, steps)
    if not steps:
        return None
    program = Program(
        name=_read_name(c, root),
        language="playbook",
        dialect=_dialect(reads),
        entry=_entry(steps, c.known_step(executor.entry, rule="entry.unknown", what=_ENTRY)),
        steps=steps,
        digest=digest,
        workload=defaults,
        workload_templates=templates,
        limits=executor.limits,
        failure=executor.failure,
        return_step=c.known_step(
            executor.return_step, rule="return.unknown", what="return_step names", is_way=False
        ),
        fallback=executor.fallback,
        fallback_span=executor.fallback_span,
        workload_is_ctx=executor.ctx is CtxStart.WORKLOAD,
        ctx=ctx,
        workbook=workbook,
        keychain=keychain,
        span=root.span,
        path=_read_path(root),
        dependencies=executor.dependencies,
        priority=executor.priority,
    )
    c.findings += check_program(
        program, also_reached=c.guessed_targets, knows_routes=not c.has_lost_routes
    )
    return program


def _check_sections(c: Compilation, root: MapNode, workload: frozenset[str]) -> None:
    """Refuse a section that is not known where an expression reads it, else warn of it."""
    read = frozenset[str]().union(*(found.names for found in c.reads))
    read -= workload | c.ctx_keys | c.steps
    for entry in root:
        # `x-…` holds what anchors share, as in other YAML formats.
        if entry.key in ROOT_IDLE:
            c.without_effect(entry, ROOT_IDLE[entry.key])
        elif entry.key in ROOT_KEYS or entry.key.startswith("x-"):
            continue
        elif entry.key in read:
            message = f"a playbook has no key {entry.key!r}, so what reads it finds nothing"
            remedy = f"Put it below `workload`: `workload: {{{entry.key}: …}}`."
            c.report("key.unknown", entry.place, message, remedy)
        else:
            c.unknown_key(entry, ROOT_KEYS, "a playbook", is_input=True)


def _read_name(c: Compilation, root: MapNode) -> str:
    metadata = c.mapping(root.get("metadata"), "metadata")
    name = metadata.get("name") if metadata is not None else None
    if name is None or is_null(name.node):
        return splitext(basename(c.file))[0]
    return c.text(name, "metadata.name") or splitext(basename(c.file))[0]


def _read_path(root: MapNode) -> str | None:
    """A text of a length that an index can hold; whatever else stands there is for others."""
    metadata = root.get("metadata")
    path = metadata.node.get("path") if metadata and isinstance(metadata.node, MapNode) else None
    said = path.node.value if path is not None and isinstance(path.node, ScalarNode) else None
    return said if isinstance(said, str) and 0 < len(said) <= PATH_CHARACTERS_MAX else None


def _dialect(reads: list[StepRead]) -> str:
    """The dialect all tasks agree on that show one."""
    shown_dialects = frozenset[Dialect]().union(*(read.dialects for read in reads))
    if len(shown_dialects) > 1:
        return "mixed"
    return str(next(iter(shown_dialects), Dialect.POLICY))


def _read_ctx(c: Compilation, entry: Entry | None) -> Template | None:
    """What `ctx` starts with. An older word for it is forbidden where tasks have rules of today."""
    if entry is None:
        return None
    if entry.name.text == "vars" and c.uses_policy:
        message = "root `vars` is not allowed where a task uses `spec.policy`"
        c.report("vars.root", entry.place, message, "Call it `ctx`, or move values to `workload`.")
    node = c.mapping(entry, entry.name.text)
    if node is None:
        return None
    c.step = ""
    c.ctx_keys.update(node.entries)
    return c.template(node, Site.START)


# --- steps ---------------------------------------------------------------------------------------


def _read_steps(c: Compilation, root: MapNode) -> list[StepRead]:
    node = _workflow(c, root)
    if node is None:
        return []
    reads: dict[str, StepRead] = {}
    lines: dict[str, int] = {}
    undoing: list[StepRead] = []
    for item in node.items:
        name, read = step_name(item), read_step(c, item)
        undo = read_compensation(c, item)
        if read is not None and undo is not None:
            undoing.append(undo)
            read = replace(read, step=replace(read.step, compensation=undo.step.name))
        if read is None or name is None:
            continue
        first = lines.setdefault(name.text, name.span.line)
        if name.text in reads:
            message = f"a step named {name.text!r} is already in line {first}"
            c.report("step.duplicate", name.span, message, "Give it another name.")
        else:
            reads[name.text] = read
    return [*reads.values(), *undoing]


def _step_names(root: MapNode) -> frozenset[str]:
    """The names of all steps, whatever else is right or wrong with them."""
    entry = root.get("workflow")
    if entry is None or not isinstance(entry.node, ListNode):
        return frozenset()
    found = (step_name(item) for item in entry.node.items)
    return frozenset(name.text for name in found if name is not None)


def _workflow(c: Compilation, root: MapNode) -> ListNode | None:
    entry = root.get("workflow")
    if entry is None:
        message = "the playbook has no `workflow`"
        c.report("workflow.missing", root.span, message, _WORKFLOW_FORM)
        return None
    if is_null(entry.node) or (isinstance(entry.node, ListNode) and not entry.node.items):
        c.report("workflow.empty", entry.node.span, "the workflow has no steps", _WORKFLOW_FORM)
        return None
    return c.sequence(entry, "workflow")


# --- executor ------------------------------------------------------------------------------------


def _read_executor(c: Compilation, entry: Entry | None) -> _Executor:
    node = c.mapping(entry, "executor")
    if node is None:
        return _Executor()
    c.check_keys(node, EXECUTOR_KEYS, "executor", idle=EXECUTOR_IDLE)
    spec = c.mapping(node.get("spec"), "executor.spec")
    if spec is None:
        return _Executor()
    c.check_keys(spec, EXECUTOR_SPEC_KEYS, "executor.spec", idle=EXECUTOR_IDLE)
    for key, remedy in _WITHOUT_EFFECT.items():
        if key in spec:
            c.without_effect(spec.entries[key], remedy)
    policy = read_other_policy(c, spec, ("failure",), "the executor", idle=EXECUTOR_POLICY_IDLE)
    failure = policy.get("failure") if policy is not None else None
    failing = read_failure(c, failure, way="fallback", what="the fallback is")
    ctx = c.word(spec.get("ctx"), CtxStart, rule="ctx.start", what="ctx")
    return _Executor(
        entry=spec.get("entry_step"),
        return_step=spec.get("return_step"),
        limits=_read_limits(c, spec.get("limits")),
        dependencies=read_dependencies(c, spec.get("dependencies")),
        priority=read_priority(c, spec.get("priority")) or 0,
        failure=failing.mode or FailureMode.FAIL_FAST,
        fallback=failing.to,
        fallback_span=failing.place,
        ctx=ctx or CtxStart.EMPTY,
    )


def _read_limits(c: Compilation, entry: Entry | None) -> Limits:
    node = c.mapping(entry, "limits")
    if node is None:
        return Limits()
    c.check_keys(node, _LIMITS, "limits")
    given = {key: c.whole_number(node.get(key), key, rule="limit.value") for key in _LIMITS}
    return Limits(**{key: value for key, value in given.items() if value is not None})


def _entry(steps: Mapping[str, Step], named: str | None) -> str:
    if named is not None:
        return named
    return "start" if "start" in steps else next(iter(steps))
