"""Judge the words a condition compares with, where only a few can ever be right.

`outcome.status` and `event.name` have closed vocabularies; another word is a condition that never
holds, which nothing but this would tell. Tools that are not built in may have kinds of errors of
their own, so of those only a slip in a known one is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from anew.engine.outcome import RETRYABLE
from anew.expressions import Condition
from anew.languages.nodes import Node, ScalarNode
from anew.languages.playbook.compilation import Compilation, NameRead, place_in
from anew.program.program import Dialect, Step
from anew.program.span import Span

_STATUS = (("outcome", "status"), ("output", "status"))
_KIND = frozenset({(owner, "error", "kind") for owner in ("outcome", "output", "event")})
# `ratelimit` and `time_out` are slips; `connection_error` may be a tool's own.
_SLIP_LIKENESS_MIN = 0.85
# What a dialect calls an `outcome` that is no error, where that is not `ok`.
_OK_WORDS: Mapping[Dialect, str] = {Dialect.EVAL: "success"}
# What other dialects and engines call it, and one that is.
_OK_SYNONYMS = frozenset({"ok", "success", "successful", "succeeded", "done", "completed"})
_ERROR_SYNONYMS = frozenset({"failed", "failure", "fail", "err"})

# The words of `event.name` (playbook.md#an-arc).
_EVENT_WORDS = ["step.done", "call.done", "step.exit", "step.failed", "call.error", "loop.done"]
_EVENT_SYNONYMS: Mapping[str, str] = {
    "done": "step.done",
    "success": "step.done",
    "step.success": "step.done",
    "step.completed": "step.done",
    "error": "step.failed",
    "failed": "step.failed",
    "step.error": "step.failed",
    "loop.failed": "step.failed",
    "call.failed": "call.error",
}
_STEP_ENDS = frozenset({"step.done", "call.done"})
_LOOP_ENDS = frozenset({"loop.done"})


def check_words(c: Compilation, node: Node, condition: Condition, dialect: Dialect) -> None:
    """Warn where `outcome.status` is compared with a word that it never is."""
    asked = [(path, word) for path, word in sorted(condition.compares) if path in _STATUS]
    words = {word for _, word in asked}
    for path, word in asked:
        right = _OK_WORDS.get(dialect, "ok") if path[0] == "outcome" else "ok"
        meant = _status_meant(c, word, right) if word not in (right, "error") else word
        # Where the right word is asked for too, another one for the same does no harm.
        if meant is None or meant not in words:
            message = f"{'.'.join(path)} is never {word!r} here; it is {right!r} or 'error'"
            remedy = f"Did you mean {meant!r}?" if meant is not None else "Write one of the two."
            c.report("outcome.word", _word_place(node, word), message, remedy)


def _status_meant(c: Compilation, word: str, right: str) -> str | None:
    if word.lower() in _OK_SYNONYMS:
        return right
    if word.lower() in _ERROR_SYNONYMS:
        return "error"
    return c.suggestions.near(word, [right, "error"])


def check_kind_words(c: Compilation) -> None:
    """Warn where the kind of an error is compared with a known one that is misspelt."""
    for read in c.reads:
        for path, word in sorted(read.compares):
            if path in _KIND and word not in RETRYABLE:
                meant = c.suggestions.near(word, RETRYABLE, _SLIP_LIKENESS_MIN)
                if meant is not None:
                    message = f"no error is of the kind {word!r}"
                    place = _word_place(read.node, word)
                    c.report("outcome.word", place, message, f"Did you mean {meant!r}?")


def check_event_words(c: Compilation, read: NameRead, step: Step | None) -> None:
    """Warn where `event.name` is compared with a word that no event of the step has."""
    words = {word for path, word in read.compares if path == ("event", "name")}
    has_loop = step is not None and step.loop is not None
    for word in sorted(words.difference(_EVENT_WORDS)):
        message = f"event.name is never {word!r}; it is one of {', '.join(_EVENT_WORDS)}"
        meant = _EVENT_SYNONYMS.get(word) or c.suggestions.near(word, _EVENT_WORDS)
        if has_loop and meant in _STEP_ENDS:
            meant = "loop.done"
        remedy = f"Did you mean {meant!r}?" if meant is not None else "Write one of these words."
        c.report("event.word", _word_place(read.node, word), message, remedy)
    if step is None or read.step in c.lost_loops:
        return
    never, ends = (_STEP_ENDS, _LOOP_ENDS) if has_loop else (_LOOP_ENDS, _STEP_ENDS)
    # Arcs that ask for the right word too are written for any step.
    if words & ends or "step.exit" in words:
        return
    for word in sorted(words & never):
        _report_other_end(c, read, word, has_loop=has_loop)


def _report_other_end(c: Compilation, read: NameRead, word: str, *, has_loop: bool) -> None:
    if has_loop:
        message = f"event.name is never {word!r} here: step {read.step!r} has a loop"
        remedy = "A loop is asked on 'loop.done'."
    else:
        message = f"event.name is never {word!r} here: step {read.step!r} has no loop"
        remedy = "A step without a loop is asked on 'step.done'."
    c.report("event.word", _word_place(read.node, word), message, remedy)


def _word_place(node: Node, word: str) -> Span:
    """Where a word stands in quotes."""
    if not isinstance(node, ScalarNode):
        return node.span
    found = re.search(rf"(?<=['\"]){re.escape(word)}(?=['\"])", node.text)
    return place_in(node, found.start() if found is not None else 0)
