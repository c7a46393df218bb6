"""Judge the names that expressions read.

Knows which of them exist at which place. Does not know the keys below them, nor how rules or arcs
are written.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.playbook.compilation import Compilation, NameRead, Site
from anew.languages.playbook.keys_below import (
    HOLDERS,
    TYPO_LIKENESS_MIN,
    KnownKeys,
    check_path,
    place_of_name,
)
from anew.languages.playbook.refusals import report_references
from anew.languages.playbook.words import check_event_words
from anew.program.names import LOOP_NAMES, RESERVED, RESULT_WORDS, RETRY_WORDS
from anew.program.policy import PatchTarget
from anew.program.program import Step
from anew.program.span import Span

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


def check_names(
    c: Compilation,
    steps: Mapping[str, Step],
    shared: frozenset[str],
    *,
    credentials: frozenset[str],
) -> None:
    """Tell of every name that is not there. `shared` are the workload's and other global names.

    `credentials` are those that the keychain declares.
    """
    always = shared | c.ctx_keys | steps.keys() | RESERVED
    told: set[str] = set()
    of_loops = _names_of_loops(steps)
    loops = frozenset(name for name, step in steps.items() if step.loop) - RESERVED
    below = KnownKeys(shared, frozenset(c.ctx_keys), loops=loops, credentials=credentials)
    holders = HOLDERS | loops
    for read in c.reads:
        step = steps.get(read.step)
        absent = _ABSENT[read.place]
        for path in sorted(read.paths):
            if len(path) > 1 and path[0] in holders and path[0] not in absent:
                if path[0] == "output" and read.place in _RESULT_SITES:
                    continue  # it has the keys of the result
                check_path(c, read, path, step=step, below=below)
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
    c.report("name.scope", place_of_name(c, read.node, name), message, remedy)


def _report_scope(c: Compilation, read: NameRead, name: str) -> None:
    message = f"{name!r} does not exist in {_WHERE[read.place]}"
    c.report("name.scope", place_of_name(c, read.node, name), message, _SCOPES[name])


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
        c.report(
            "name.unknown", place_of_name(c, read.node, name), message, f"Did you mean {meant!r}?"
        )
    elif name in told:
        return
    elif read.is_condition:
        told.add(name)
        message = f"{message}, unless the request gives it"
        remedy = f"Give it a default: `workload: {{{name}: …}}`."
        c.report("name.unknown", place_of_name(c, read.node, name), message, remedy)
    else:
        told.add(name)
        message = f"nothing in this document provides {name!r}; the request has to"
        remedy = f"Give it a default: `workload: {{{name}: …}}`."
        c.report("name.unprovided", place_of_name(c, read.node, name), message, remedy)


def _report_loop_name(c: Compilation, read: NameRead, name: str, step: Step) -> None:
    """Where no iteration is: at a step without a loop, in a loop's source, in its arcs."""
    if step.loop is None:
        message = f"{name!r} exists in the tasks of a loop, and step {step.name!r} has none"
        remedy = "Read it in a step with `loop`."
    else:
        message = f"{name!r} does not exist in {_WHERE[read.place]}, only in the loop's tasks"
        remedy = f"After the loop, read `{step.name}.results`."
    c.report("name.scope", place_of_name(c, read.node, name), message, remedy)


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
            c.report(
                "name.reserved", place_of_name(c, read.node, name), message, f"Write `iter.{name}`."
            )


def _report_reserved(c: Compilation, place: Span, what: str) -> None:
    message = f"{what} has a reserved name, so no template can read its result"
    c.report("name.reserved", place, message, "Give it another name.")
