"""Where the keys of conditions and variables are read: the outcome, the run, and the context.

The words of a dialect that are reserved come from the run even where the context has such a key;
then comes the context; then names that only stand in where the context has none: the aliases of
the docs and the words of the other dialect. Knows scopes, and no grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from anew.expressions import UNDEFINED, Scope, WordAliases
from anew.languages.dot.graph import DotDialect
from anew.values import Object, Value

# What the spec dialect calls a verdict.
SPEC_WORDS: Final = {
    "success": "success",
    "partial": "partial_success",
    "skipped": "skipped",
    "failure": "fail",
}
DOCS_WORDS: Final = {verdict: verdict.upper() for verdict in SPEC_WORDS}
RETRY_WORD: Final = "retry"
# Words that authors write for a verdict. The engine takes only those for failures as one.
SYNONYMS: Final = {"ok": "success", "done": "success", "failed": "failure", "error": "failure"}
# A word of a handler that is one of these says no more than its verdict does.
KNOWN_WORDS: Final = frozenset({*SPEC_WORDS, *SPEC_WORDS.values(), "failed", "error", RETRY_WORD})
# Longer beginnings of a path are no key of a context: looking for each would take too long.
KEY_SEGMENTS_MAX: Final = 32
RETRY_COUNT_PREFIX: Final = "internal.retry_count."


class Names(Struct, frozen=True):
    """What a graph tells its conditions and texts.

    `goal` is what `$goal` stands for: the node's own goal in docs, the graph's in spec.
    """

    dialect: DotDialect
    pipeline: str = ""
    gates: tuple[str, ...] = ()
    goal: str = ""


Read: TypeAlias = Callable[[Scope, Names], Value]


def outcome_of(scope: Scope) -> Object:
    """The outcome a condition speaks of: that of the ended visit, else of the visit before."""
    event = scope.get("event")
    if isinstance(event, Mapping) and isinstance(event.get("outcome"), Mapping):
        return dict(event["outcome"])
    outcome = scope.get("outcome")
    if isinstance(outcome, Mapping):
        return dict(outcome)
    origin = _below(scope.get("_origin"), "outcome")
    return dict(origin) if isinstance(origin, Mapping) else {}


def error_of(scope: Scope) -> Value:
    """The error as docs conditions see it: with a type, and without what is null."""
    event_error = _below(scope.get("event"), "error")
    error = event_error if isinstance(event_error, Mapping) else outcome_of(scope).get("error")
    if not isinstance(error, Mapping):
        return UNDEFINED
    told = {key: value for key, value in error.items() if value is not None}
    return {"type": _type_of(told), **told}


def _type_of(error: Mapping[str, Value]) -> str:
    """The type of an error whose tool named only a kind."""
    if error.get("kind") in ("timeout", "db_timeout"):
        return "TIMEOUT"
    can_help = error.get("retryable")
    if can_help is None:
        return "UNKNOWN"
    return "TRANSIENT" if can_help else "TERMINAL"


def status_word(scope: Scope, names: Names) -> Value:
    """The docs word of the verdict."""
    del names
    verdict = outcome_of(scope).get("verdict")
    return UNDEFINED if verdict is None else str(verdict).upper()


def outcome_word(scope: Scope, names: Names) -> Value:
    """The very word the handler gave, else the spec word of the verdict.

    A failure always answers to `fail`, so that an edge for failures is also taken when a handler
    asked for a retry that was not to be had; it answers to `retry` then too.
    """
    del names
    outcome = outcome_of(scope)
    verdict, word = outcome.get("verdict"), outcome.get("word")
    if verdict is None:
        return UNDEFINED
    said = word.lower() if isinstance(word, str) else ""
    if verdict == "failure":
        return WordAliases(RETRY_WORD, "fail") if said == RETRY_WORD else "fail"
    if said and said not in KNOWN_WORDS:
        return word
    return SPEC_WORDS.get(str(verdict), str(verdict))


def _label(scope: Scope, names: Names) -> Value:
    del names
    return outcome_of(scope).get("label") or UNDEFINED


def _retries(scope: Scope, names: Names) -> Value:
    del names
    return scope.get("_retries") or 0


def _last_stage(scope: Scope, names: Names) -> Value:
    del names
    has_ended = scope.get("event") is not UNDEFINED
    return scope.get("_step") if has_ended else _below(scope.get("_origin"), "step")


def _gates(scope: Scope, names: Names) -> Value:
    verdicts = scope.get("_verdicts")
    told = verdicts if isinstance(verdicts, Mapping) else {}
    return {gate: str(told.get(gate) or "pending").upper() for gate in names.gates}


def _scope_name(name: str, *keys: str) -> Read:
    def read(scope: Scope, names: Names) -> Value:
        del names
        value = scope.get(name)
        for key in keys:
            value = _below(value, key)
        return value

    return read


def _error(*keys: str) -> Read:
    def read(scope: Scope, names: Names) -> Value:
        del names
        value = error_of(scope)
        for key in keys:
            value = _below(value, key)
        return value

    return read


_OUTCOME: dict[DotDialect, dict[str, Read]] = {
    DotDialect.DOCS: {"status": status_word, "preferred_label": _label, "error": _error()},
    DotDialect.SPEC: {"outcome": outcome_word, "preferred_label": _label},
}
# Keys of the context that the run keeps, whatever a handler writes there.
_RESERVED: dict[DotDialect, dict[str, Read]] = {
    DotDialect.DOCS: {
        "_retry_count": _retries,
        "_current_node": _scope_name("_step"),
        "_previous_node": _scope_name("_origin", "step"),
        "_pipeline_name": lambda _, names: names.pipeline,
        "_run_id": _scope_name("run_id"),
        "_branch_id": _scope_name("_branch"),
        "_start_time": _scope_name("_began", "run"),
        "_node_start_time": _scope_name("_began", "step"),
        "_goal_gates": _gates,
    },
    DotDialect.SPEC: {"current_node": _scope_name("_step")},
}
_STAND_INS: dict[str, Read] = {
    "retry_count": _retries,
    "error_type": _error("type"),
    "error_message": _error("message"),
    "retryable": _error("retryable"),
    "failure_reason": _error("message"),
    "last_stage": _last_stage,
}
# The other dialect's words stand in too: the author means them, and nothing else has their name.
_OTHER_WORDS: dict[DotDialect, dict[str, Read]] = {
    DotDialect.DOCS: {"outcome": outcome_word, "current_node": _scope_name("_step")},
    DotDialect.SPEC: {
        "status": outcome_word, "error": _error(), **_RESERVED[DotDialect.DOCS],
    },
}  # fmt: skip


def reader(path: str, names: Names, *, is_prefixed: bool = False) -> Callable[[Scope], Value]:
    """How the key `path` is read. The value is UNDEFINED where it is missing or null.

    After `context.` the words of the outcome only stand in: the author asks for the context.
    """
    outcome, reserved = _OUTCOME[names.dialect], _RESERVED[names.dialect]
    stand_ins = {**_STAND_INS, **_OTHER_WORDS[names.dialect]}
    if is_prefixed:
        stand_ins |= outcome
    else:
        reserved = {**reserved, **outcome}
    first, last = _from_table(path, reserved), _from_table(path, stand_ins)
    segments = path.split(".")
    counted = path.removeprefix(RETRY_COUNT_PREFIX) if path.startswith(RETRY_COUNT_PREFIX) else ""

    def read(scope: Scope) -> Value:
        if first is not None:
            return _present(first(scope, names))
        # A scope knows the counter of the one step it stands in.
        if counted and scope.get("_step") == counted:
            return _retries(scope, names)
        ctx = scope.get("ctx")
        found = UNDEFINED
        if isinstance(ctx, Mapping):
            full = ctx.get(f"context.{path}", UNDEFINED) if is_prefixed else UNDEFINED
            found = in_context(ctx, segments) if full is UNDEFINED else full
        if last is not None and (found is UNDEFINED or found is None):
            found = last(scope, names)
        return _present(found)

    return read


def in_context(ctx: Mapping[str, Value], segments: list[str]) -> Value:
    """What a path reads in a flat context: the longest key it begins with, then what is inside."""
    for count in range(min(len(segments), KEY_SEGMENTS_MAX), 0, -1):
        key = ".".join(segments[:count])
        if key in ctx:
            value = ctx[key]
            for segment in segments[count:]:
                value = _below(value, segment)
            return value
    return UNDEFINED


def _from_table(path: str, table: Mapping[str, Read]) -> Read | None:
    """The row for a path that is a word of the table, or lies below one."""
    head, _, rest = path.partition(".")
    row = table.get(head)
    if row is None or not rest:
        return row

    def read(scope: Scope, names: Names) -> Value:
        value = row(scope, names)
        for segment in rest.split("."):
            value = _below(value, segment)
        return value

    return read


def _below(value: Value, segment: str) -> Value:
    if isinstance(value, Mapping):
        return value.get(segment, UNDEFINED)
    if isinstance(value, list) and segment.isascii() and segment.isdigit():
        return value[int(segment)] if len(segment) < 10 and int(segment) < len(value) else UNDEFINED
    return UNDEFINED


def _present(value: Value) -> Value:
    return UNDEFINED if value is None else value
