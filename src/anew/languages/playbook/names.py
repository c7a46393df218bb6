"""Judge the names that expressions read: whether anything provides them at that place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from anew.expressions import Condition
from anew.languages.nodes import Node, ScalarNode, scalars
from anew.languages.playbook.compilation import Compilation, Place, Read, place_in
from anew.program.findings import did_you_mean
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
# The word of each dialect for an outcome that is no error, and the one it is mistaken for.
_OK_WORDS: Mapping[Dialect, tuple[str, str]] = {
    Dialect.POLICY: ("ok", "success"),
    Dialect.EVAL: ("success", "ok"),
}


def check_names(c: Compilation, steps: Mapping[str, Step], shared: frozenset[str]) -> None:
    """Warn of every name that is not there. `shared` are the workload's and other global names."""
    always = shared | c.ctx_keys | steps.keys()
    for read in c.reads:
        step = steps.get(read.step)
        known = always | (step.index_of.keys() if step is not None else set())
        for name in sorted(read.names):
            _check_name(c, read, name, known, step)


def _check_name(
    c: Compilation, read: Read, name: str, known: frozenset[str], step: Step | None
) -> None:
    if name in _ABSENT[read.place]:
        message = f"{name!r} does not exist in {_WHERE[read.place]}"
        c.report("name.scope", _place(read.node, name), message)
        return
    if name in RESERVED or name in known or (read.place is Place.RETRY and name in RETRY_WORDS):
        return
    message = f"nothing provides the name {name!r}; it would be undefined"
    c.report("name.unknown", _place(read.node, name), message, _remedy(name, known, step))


def _remedy(name: str, known: frozenset[str], step: Step | None) -> str | None:
    if step is not None and step.loop is not None and step.loop.iterator == name:
        return f"Did you mean 'iter.{name}'?"
    return did_you_mean(name, known | RESERVED)


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
