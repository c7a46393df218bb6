"""Judge what expressions read: names, and the keys below them.

Knows which of them exist at which place. Does not know how rules or arcs are written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from anew.languages.nodes import Node, scalars
from anew.languages.playbook.compilation import (
    Compilation,
    NameRead,
    Path,
    Site,
    place_in,
)
from anew.languages.playbook.refusals import report_references
from anew.languages.playbook.words import check_event_words
from anew.program.findings import Severity
from anew.program.kind import OutcomeSource
from anew.program.kinds import HELPERS, KINDS
from anew.program.names import LOOP_NAMES, RESERVED, RESULT_WORDS, RETRY_WORDS
from anew.program.policy import PatchTarget
from anew.program.program import Dialect, Step
from anew.program.span import Span

# Nobody reads more findings, and looking for the place of each goes through the whole value again.
_PLACED_FINDINGS = 500
_OUTCOME = frozenset({"outcome", "output"})
# Names that exist in some places only (playbook.md#names-a-template-reads).
_ABSENT: Mapping[Site, frozenset[str]] = {
    Site.INPUTS: _OUTCOME | {"event"},
    Site.POLICY: frozenset({"event"}),
    Site.RETRY: frozenset({"event"}),
    Site.ROUTING: _OUTCOME,
    Site.ARC: frozenset({"outcome"}),
    Site.TASK_SET: frozenset({"event"}),
    Site.VISIT_SET: frozenset({"outcome"}),
    Site.LOOP: _OUTCOME | {"event"},
    Site.START: _OUTCOME | {"event"},
}
_WHERE: Mapping[Site, str] = {
    Site.INPUTS: "a task's inputs",
    Site.POLICY: "a task's rules",
    Site.RETRY: "a retry condition",
    Site.ROUTING: "an arc or gate",
    Site.ARC: "an arc or gate",
    Site.TASK_SET: "a task's `set`",
    Site.VISIT_SET: "the `set` of a step or arc",
    Site.LOOP: "a loop's source",
    Site.START: "the document's `ctx`",
}
_SCOPES: Mapping[str, str] = {
    "outcome": "Read it in a task's rules; elsewhere use `_prev` or the name of a task or step.",
    "output": "Read it in a task's rules; elsewhere use `_prev` or the name of a task or step.",
    "event": "Read it in an arc's `when`; in a task's rules use `outcome`.",
}
# Where the tasks of a loop are read; its source and its arcs are not in it.
_IN_TASKS = frozenset({Site.INPUTS, Site.POLICY, Site.RETRY, Site.TASK_SET})
# Where `output` is the result itself, where a visit has ended, and where no step-run is left.
_RESULT_SITES = frozenset({Site.TASK_SET, Site.VISIT_SET, Site.ARC})
_AT_THE_END = frozenset({Site.VISIT_SET, Site.ARC})
_ENDED = _AT_THE_END | {Site.ROUTING, Site.LOOP}
# How other languages call `none`.
_NOTHING = frozenset({"null", "nil", "undefined"})
# What says in a task's rules what a bare word says in a retry condition.
_RETRY_MEANINGS: Mapping[str, str] = {
    "status_code": "outcome.http.status",
    "error": "outcome.error.message",
    "success": "outcome.status == 'ok'",
    "result": "outcome.result",
    "data": "outcome.result.data",
    "attempt": "_attempt",
}
# Two names as alike as this are one with a slip in it; `api_url` and `api_key` are not.
TYPO_LIKENESS_MIN = 0.75

# The keys that outcomes and events have (playbook.md#an-arc, events.md#the-outcome).
_META = ("attempt", "duration_ms", "started_at", "ended_at", "trace_id")
ADVICE = ("verdict", "word", "label", "suggested")
_VOCABULARY: Mapping[Path, tuple[str, ...]] = {
    ("outcome",): ("status", "result", "error", "meta", *ADVICE, *HELPERS),
    ("output",): ("status", "data", "response", "error", "meta", *ADVICE, *HELPERS),
    **{
        (outcome, helper.name): helper.keys
        for outcome in ("outcome", "output")
        for helper in HELPERS.values()
        if helper.keys
    },
    ("outcome", "meta"): _META,
    ("output", "meta"): _META,
    ("event",): ("name", "step", "visit", "result", "error", "outcome", "total", "done", "failed"),
    ("event", "outcome"): (*ADVICE, "error"),
}
# The keys of an error; tools may add others, so only what is much like one of these is a slip.
_ERRORS = frozenset({("outcome", "error"), ("output", "error"), ("event", "error")})
_ERROR_KEYS = frozenset(
    "kind retryable message code type reason where retry retry_after loop".split()
)
# The names whose keys are checked.
_HOLDERS = frozenset({"outcome", "output", "event", "workload", "ctx", "iter"})
# Keys that are there, but elsewhere or under another name.
_KEY_SYNONYMS: Mapping[Path, str] = {
    ("outcome", "data"): "outcome.result",
    ("output", "result"): "output.data",
    ("outcome", "status_code"): "outcome.http.status",
    ("output", "status_code"): "output.http.status",
    ("outcome", "http", "status_code"): "outcome.http.status",
    ("output", "http", "status_code"): "output.http.status",
    ("outcome", "attempt"): "outcome.meta.attempt",
    ("output", "attempt"): "output.meta.attempt",
    ("outcome", "message"): "outcome.error.message",
    ("output", "message"): "output.error.message",
}


def check_names(c: Compilation, steps: Mapping[str, Step], shared: frozenset[str]) -> None:
    """Tell of every name that is not there. `shared` are the workload's and other global names."""
    always = shared | c.ctx_keys | steps.keys() | RESERVED
    told: set[str] = set()
    of_loops = _names_of_loops(steps)
    below = _Below(shared, frozenset(c.ctx_keys))
    for read in c.reads:
        step = steps.get(read.step)
        absent = _ABSENT[read.place]
        for path in sorted(read.paths):
            if len(path) > 1 and path[0] in _HOLDERS and path[0] not in absent:
                if path[0] == "output" and read.place in _RESULT_SITES:
                    continue  # it has the keys of the result
                _check_path(c, read, path, step=step, below=below)
        if any("_ref" in path[1:] for path in read.paths):
            report_references(c, read)
        if read.compares and read.place is Site.ARC:
            check_event_words(c, read, step)
        for name in sorted(read.names):
            if name in absent:
                _report_scope(c, read, name)
            elif name in always or _is_local(name, read, step, of_loops):
                continue
            elif read.place in _ENDED and step is not None and name in _local_names(step):
                _report_ended(c, read, name)
            else:
                _report_unknown(c, read, name, step=step, known=always, told=told)


def names_by_step(
    c: Compilation, steps: Mapping[str, Step], shared: frozenset[str]
) -> dict[str, frozenset[str]]:
    """What the tasks of each step can read; under "", what those of the workbook can."""
    always = shared | c.ctx_keys | steps.keys() | RESERVED
    of_loop = {name: {s.loop.iterator, *LOOP_NAMES} for name, s in steps.items() if s.loop}
    own = {name: always | s.index_of.keys() | of_loop.get(name, set()) for name, s in steps.items()}
    return {"": always | _names_of_loops(steps), **own}


def _names_of_loops(steps: Mapping[str, Step]) -> frozenset[str]:
    return LOOP_NAMES.union(step.loop.iterator for step in steps.values() if step.loop)


def _is_local(name: str, read: NameRead, step: Step | None, of_loops: frozenset[str]) -> bool:
    """Whether it is a label, a name of the loop, or a word of the retry block it stands in."""
    if read.place is Site.RETRY and name in RETRY_WORDS:
        return True
    if read.place in _AT_THE_END and name in RESULT_WORDS:
        return True
    if step is None:
        return read.place in _IN_TASKS and name in of_loops  # any loop may call the workbook
    if name in step.index_of:
        return True
    if read.place not in _IN_TASKS:
        return False
    return name in _local_names(step) or (step.loop is not None and _is_of_loop(name, step))


def _is_of_loop(name: str, step: Step) -> bool:
    return name in LOOP_NAMES or (step.loop is not None and step.loop.iterator == name)


def _local_names(step: Step) -> frozenset[str]:
    """What the step's tasks set under bare names."""
    patches = (patch for task in step.tasks for patch in task.policy.patches)
    return frozenset(patch.path[0] for patch in patches if patch.target is PatchTarget.LOCAL)


def _report_ended(c: Compilation, read: NameRead, name: str) -> None:
    message = f"{name!r} was set by a task, and such names end with the step-run"
    remedy = f"Write `set: {{ctx.{name}: …}}` on the task, or read the step's result."
    c.report("name.scope", _place(c, read.node, name), message, remedy)


def _report_scope(c: Compilation, read: NameRead, name: str) -> None:
    message = f"{name!r} does not exist in {_WHERE[read.place]}"
    c.report("name.scope", _place(c, read.node, name), message, _SCOPES[name])


def _report_unknown(
    c: Compilation,
    read: NameRead,
    name: str,
    *,
    step: Step | None,
    known: frozenset[str],
    told: set[str],
) -> None:
    """A likely typo, or any such name in a condition, is a warning; the request may give others."""
    if step is not None and _is_of_loop(name, step):
        if step.name not in c.lost_loops:
            _report_loop_name(c, read, name, step)
        return
    meant = _meant(c, name, known, step, read.place)
    message = f"nothing provides the name {name!r}; it would be undefined"
    if meant is not None:
        c.report("name.unknown", _place(c, read.node, name), message, f"Did you mean {meant!r}?")
    elif name in told:
        return
    elif read.is_condition:
        told.add(name)
        message = f"{message}, unless the request gives it"
        remedy = f"Give it a default: `workload: {{{name}: …}}`."
        c.report("name.unknown", _place(c, read.node, name), message, remedy)
    else:
        told.add(name)
        message = f"nothing in this document provides {name!r}; the request has to"
        remedy = f"Give it a default: `workload: {{{name}: …}}`."
        c.report("name.unprovided", _place(c, read.node, name), message, remedy)


def _report_loop_name(c: Compilation, read: NameRead, name: str, step: Step) -> None:
    """Where no iteration is: at a step without a loop, in a loop's source, in its arcs."""
    if step.loop is None:
        message = f"{name!r} exists in the tasks of a loop, and step {step.name!r} has none"
        remedy = "Read it in a step with `loop`."
    else:
        message = f"{name!r} does not exist in {_WHERE[read.place]}, only in the loop's tasks"
        remedy = f"After the loop, read `{step.name}.results`."
    c.report("name.scope", _place(c, read.node, name), message, remedy)


def _meant(
    c: Compilation, name: str, known: frozenset[str], step: Step | None, site: Site
) -> str | None:
    if site is Site.POLICY and name in _RETRY_MEANINGS:
        return _RETRY_MEANINGS[name]
    if name in _NOTHING:
        return "none"
    here = (known | _beside(step, site)) - _ABSENT[site]
    return c.suggestions.near(name, here, TYPO_LIKENESS_MIN)


def _beside(step: Step | None, site: Site) -> frozenset[str]:
    """The names that exist at this place beside those that exist in the whole document."""
    found = RETRY_WORDS if site is Site.RETRY else frozenset[str]()
    found |= RESULT_WORDS if site in _AT_THE_END else frozenset()
    if step is None:
        return found
    found |= step.index_of.keys()
    if site in _IN_TASKS:
        found |= _local_names(step)
        found |= {step.loop.iterator, *LOOP_NAMES} if step.loop is not None else set()
    return found


def _place(c: Compilation, node: Node, name: str) -> Span:
    """Where a name or dotted path is read first below a node; of very many, only the node."""
    if len(c.findings) > _PLACED_FINDINGS:
        return node.span
    pattern = re.compile(rf"(?<![\w.'\"]){re.escape(name)}\b")
    for scalar in scalars(node):
        if scalar is not node and "{" not in scalar.text:
            continue
        found = pattern.search(scalar.text)
        if found is not None:
            return place_in(scalar, found.start())
    return node.span


def check_reserved(c: Compilation, steps: Mapping[str, Step]) -> None:
    """Warn of steps and labels whose bare name always means something else."""
    for step in steps.values():
        if step.name in RESERVED:
            _report_reserved(c, step.span, f"step {step.name!r}")
        for task in step.tasks:
            if task.label in RESERVED and task.label != step.name:
                _report_reserved(c, task.span, f"task {task.label!r}")


def check_iterators(c: Compilation, steps: Mapping[str, Step]) -> None:
    """Warn where a task reads its loop's item by a bare name that is a reserved word."""
    loops = {step.name: step.loop.iterator for step in steps.values() if step.loop}
    hidden = {step: name for step, name in loops.items() if name in RESERVED}
    for read in c.reads if hidden else ():
        name = hidden.get(read.step)
        if name is not None and name in read.names and read.place in _IN_TASKS:
            message = f"{name!r} is a reserved word here, not the item of the loop"
            c.report("name.reserved", _place(c, read.node, name), message, f"Write `iter.{name}`.")


def _report_reserved(c: Compilation, place: Span, what: str) -> None:
    message = f"{what} has a reserved name, so no template can read its result"
    c.report("name.reserved", place, message, "Give it another name.")


# --- keys below a name ---------------------------------------------------------------------------


class _Below:
    """The keys that a document itself puts below `workload`, `ctx` and `iter`.

    Remembers what it was asked: documents read the same few keys again and again.
    """

    def __init__(self, workload: frozenset[str], ctx: frozenset[str]) -> None:
        self._workload = workload
        self._ctx = ctx
        self._either = ctx | workload
        self._iter: dict[str, frozenset[str]] = {}
        self._meant: dict[tuple[frozenset[str], str], str | None] = {}

    def known(self, name: str, step: Step | None) -> frozenset[str]:
        """Empty where anything may be there."""
        if name == "workload":
            return self._workload
        if name == "ctx":
            says_output = step is not None and step.dialect is Dialect.OUTPUT
            return self._either if says_output else self._ctx
        if name != "iter" or step is None or step.loop is None:
            return frozenset()
        if step.name not in self._iter:
            self._iter[step.name] = _iter_keys(step, step.loop.iterator)
        return self._iter[step.name]

    def meant(self, c: Compilation, key: str, known: frozenset[str]) -> str | None:
        """The known key that this one probably is, with a slip in it."""
        if (known, key) not in self._meant:
            near = c.suggestions.near(key, known, TYPO_LIKENESS_MIN)
            is_sibling = near is not None and _without_digits(near) == _without_digits(key)
            self._meant[known, key] = None if is_sibling else near
        return self._meant[known, key]


def _without_digits(name: str) -> str:
    """`page_1` and `page_2` are two names, not one with a slip in it."""
    return re.sub(r"\d+", "0", name)


def _iter_keys(step: Step, iterator: str) -> frozenset[str]:
    patches = (patch for task in step.tasks for patch in task.policy.all_patches)
    written = {patch.path[0] for patch in patches if patch.target is PatchTarget.ITER}
    return frozenset({iterator, "index", "parent"} | written)


def _check_path(
    c: Compilation, read: NameRead, path: Path, *, step: Step | None, below: _Below
) -> None:
    """Warn of a key that a closed vocabulary lacks, or that is nearly one the document gives."""
    for end in range(1, len(path)):
        keys = _VOCABULARY.get(path[:end])
        if keys is not None and path[end] not in keys and not _may_add(path[:end], step):
            _report_key(c, read, path[: end + 1], keys)
            return
    is_error = path[:2] in _ERRORS and len(path) > 2
    depth = 2 if is_error else 1
    known = _ERROR_KEYS if is_error else below.known(path[0], step)
    if not known or path[depth] in known or (read.place is Site.LOOP and path[0] == "iter"):
        return
    meant = below.meant(c, path[depth], known)
    if meant is not None:
        holder = ".".join(path[:depth])
        message = f"nothing provides '{holder}.{path[depth]}'; it would be undefined"
        remedy = f"Did you mean '{holder}.{meant}'?"
        c.report("name.unknown", _path_place(c, read.node, path[: depth + 1]), message, remedy)


def check_ctx(c: Compilation, steps: Mapping[str, Step], workload: frozenset[str]) -> None:
    """Warn of keys of `ctx` that decide something, and that nothing in the document writes."""
    kinds = {task.kind for step in steps.values() for task in step.tasks}
    if any(kind not in KINDS or KINDS[kind].writes_ctx for kind in kinds):
        return  # a tool may write them
    if any(found.severity is Severity.ERROR for found in c.findings):
        return  # what writes them may not have been understood
    told: set[str] = set()
    below = _Below(workload, frozenset(c.ctx_keys))
    for read in c.reads:
        step = steps.get(read.step)
        says_output = step is None or step.dialect is Dialect.OUTPUT
        for path in sorted(read.paths) if read.is_condition else ():
            if len(path) < 2 or path[0] != "ctx" or path[1] in c.ctx_keys | told:
                continue
            key = path[1]
            is_told = below.meant(c, key, below.known("ctx", step)) is not None
            if is_told or (says_output and key in workload) or _allows_absence(read.node, key):
                continue
            told.add(key)
            near = key if key in workload else below.meant(c, key, workload)
            meant = f"Did you mean 'workload.{near}'?" if near is not None else None
            message = f"nothing in this document writes 'ctx.{key}'; it would be undefined"
            remedy = meant or f"Write it with `set: {{ctx.{key}: …}}`, or read another name."
            c.report("name.unknown", _path_place(c, read.node, path[:2]), message, remedy)


def _allows_absence(node: Node, key: str) -> bool:
    """Whether an expression says what holds where the key of `ctx` is not there."""
    name = rf"\bctx(?:\.{re.escape(key)}\b|\[['\"]{re.escape(key)}['\"]\])(?:\.\w+|\[[^\]]*\])*"
    asked = re.compile(rf"{name}\s*(?:is\b|\|\s*(?:default|d)\b|or\b)")
    return any(asked.search(scalar.text) for scalar in scalars(node))


def _may_add(path: Path, step: Step | None) -> bool:
    """Whether a tool that is not built in may add keys of its own to the outcome."""
    if len(path) > 1 or path[0] not in _OUTCOME:
        return False
    tasks = step.tasks if step is not None else ()
    return not tasks or any(
        task.kind not in KINDS or task.outcome_from is OutcomeSource.WORKBOOK for task in tasks
    )


def _report_key(c: Compilation, read: NameRead, path: Path, keys: tuple[str, ...]) -> None:
    holder, key = ".".join(path[:-1]), path[-1]
    message = f"{holder} has no key {key!r}; it has {', '.join(keys)}"
    meant = _KEY_SYNONYMS.get(path)
    if meant is None:
        near = c.suggestions.near(key, keys)
        meant = f"{holder}.{near}" if near is not None else None
    remedy = f"Did you mean {meant!r}?" if meant is not None else "Read one of the keys it has."
    c.report("outcome.key", _path_place(c, read.node, path), message, remedy)


def _path_place(c: Compilation, node: Node, path: Path) -> Span:
    """Where a path is read; written with brackets, where its name is."""
    place = _place(c, node, ".".join(path))
    return place if place != node.span else _place(c, node, path[0])
