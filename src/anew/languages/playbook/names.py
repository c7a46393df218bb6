"""Judge the names that expressions read: whether anything provides them at that place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from anew.expressions import Condition
from anew.languages.nodes import Node, ScalarNode, scalars
from anew.languages.playbook.compilation import Compilation, Place, Read, place_in
from anew.program.names import RESERVED, RETRY_WORDS
from anew.program.program import Dialect, Step
from anew.program.span import Span

_OUTCOME = frozenset({"outcome", "output"})
# Names that exist in some places only (SEMANTICS 2.9).
_ABSENT: Mapping[Place, frozenset[str]] = {
    Place.INPUTS: _OUTCOME | {"event"},
    Place.POLICY: frozenset({"event"}),
    Place.RETRY: frozenset({"event"}),
    Place.ROUTING: _OUTCOME,
    Place.LOOP: _OUTCOME | {"event"},
}
_WHERE: Mapping[Place, str] = {
    Place.INPUTS: "a task's inputs",
    Place.POLICY: "a task's rules",
    Place.RETRY: "a retry condition",
    Place.ROUTING: "an arc or gate",
    Place.LOOP: "a loop's source",
}
_SCOPES: Mapping[str, str] = {
    "outcome": "Read it in a task's rules; elsewhere use `_prev` or the name of a task or step.",
    "output": "Read it in a task's rules; elsewhere use `_prev` or the name of a task or step.",
    "event": "Read it in an arc's `when`; in a task's rules use `outcome`.",
}
# How other languages call `none`.
_NOTHING = frozenset({"null", "nil", "undefined"})
# Two names as alike as this are one with a slip in it; `api_url` and `api_key` are not.
TYPO_LIKENESS_MIN = 0.75
# The word of each dialect for an outcome that is no error, and the one it is mistaken for.
_OK_WORDS: Mapping[Dialect, tuple[str, str]] = {
    Dialect.POLICY: ("ok", "success"),
    Dialect.EVAL: ("success", "ok"),
}


def check_names(c: Compilation, steps: Mapping[str, Step], shared: frozenset[str]) -> None:
    """Tell of every name that is not there. `shared` are the workload's and other global names."""
    always = shared | c.ctx_keys | steps.keys() | RESERVED
    told: set[str] = set()
    for read in c.reads:
        step = steps.get(read.step)
        absent = _ABSENT[read.place]
        for name in sorted(read.names):
            if name in absent:
                _report_scope(c, read, name)
            elif name not in always and not _is_local(name, read, step):
                _report_unknown(c, read, name, step=step, known=always, told=told)


def _is_local(name: str, read: Read, step: Step | None) -> bool:
    """Whether it is a label of the pipeline, or a word of the retry block it stands in."""
    if read.place is Place.RETRY and name in RETRY_WORDS:
        return True
    return step is not None and name in step.index_of


def _report_scope(c: Compilation, read: Read, name: str) -> None:
    message = f"{name!r} does not exist in {_WHERE[read.place]}"
    c.report("name.scope", _place(read.node, name), message, _SCOPES[name])


def _report_unknown(
    c: Compilation,
    read: Read,
    name: str,
    *,
    step: Step | None,
    known: frozenset[str],
    told: set[str],
) -> None:
    """A likely typo is a warning; any other name is one that the request may provide."""
    meant = _meant(c, name, known, step)
    if meant is not None:
        message = f"nothing provides the name {name!r}; it would be undefined"
        c.report("name.unknown", _place(read.node, name), message, f"Did you mean {meant!r}?")
    elif name not in told:
        told.add(name)
        message = f"nothing in this document provides {name!r}; the request has to"
        remedy = f"Give it a default: `workload: {{{name}: …}}`."
        c.report("name.unprovided", _place(read.node, name), message, remedy)


def _meant(c: Compilation, name: str, known: frozenset[str], step: Step | None) -> str | None:
    if step is not None and step.loop is not None and step.loop.iterator == name:
        return f"iter.{name}"
    if name in _NOTHING:
        return "none"
    labels = step.index_of.keys() if step is not None else frozenset[str]()
    return c.suggestions.near(name, known | labels, TYPO_LIKENESS_MIN)


def _place(node: Node, name: str) -> Span:
    """Where a name is read first below a node."""
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


def _report_reserved(c: Compilation, place: Span, what: str) -> None:
    message = f"{what} has a reserved name, so no template can read its result"
    c.report("name.reserved", place, message, "Give it another name.")


def check_words(c: Compilation, node: Node, condition: Condition, dialect: Dialect) -> None:
    """Warn where `outcome.status` is compared with another dialect's word, which never holds."""
    right, wrong = _OK_WORDS[dialect]
    for path, word in condition.compares:
        if word == wrong and path in (("outcome", "status"), ("output", "status")):
            place = node.span
            if isinstance(node, ScalarNode):
                place = place_in(node, max(node.text.find(wrong), 0))
            message = f"{'.'.join(path)} is never {wrong!r} here; it is {right!r} or 'error'"
            c.report("outcome.word", place, message, f"Did you mean {right!r}?")
