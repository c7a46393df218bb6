"""How an expression of a playbook reads what a key of a graph reads."""

from __future__ import annotations

from anew.languages.dot.conditions.subjects import RETRY_COUNT_PREFIX, Names
from anew.languages.dot.conditions.tree import ContextKey
from anew.languages.dot.graph import DotDialect
from anew.values import Value

_ERROR = "event.error"
_ERROR_TYPE = (
    f"(none if not {_ERROR} else {_ERROR}.type if {_ERROR}.type is defined"
    f" and {_ERROR}.type is not none else 'TIMEOUT' if {_ERROR}.kind in ['timeout', 'db_timeout']"
    f" else 'TRANSIENT' if {_ERROR}.retryable else 'TERMINAL' if {_ERROR}.retryable is false"
    f" else 'UNKNOWN')"
)
_LABEL = "(event.outcome.label or none)"
_RETRIES = "(_retries or 0)"
_RUN_NAMES = {
    "_retry_count": _RETRIES,
    "_current_node": "_step",
    "_previous_node": "_origin.step",
    "_run_id": "run_id",
    "_branch_id": "_branch",
    "_start_time": "_began.run",
    "_node_start_time": "_began.step",
}
_STAND_INS = {
    "retry_count": _RETRIES,
    "error_type": _ERROR_TYPE,
    "error_message": f"{_ERROR}.message",
    "retryable": f"{_ERROR}.retryable",
    "failure_reason": f"{_ERROR}.message",
    "last_stage": "_step",
}


class NotExpressible(Exception):
    """A playbook has no expression with this meaning; the text says why."""


def text(value: Value) -> str:
    """A literal of the expression language."""
    if isinstance(value, list):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    for character, escape in (("\n", "\\n"), ("\r", "\\r"), ("{", "\\x7b"), ("}", "\\x7d")):
        # Braces are escaped too: a condition that holds `{{` would be read as a template.
        escaped = escaped.replace(character, escape)
    return f"'{escaped}'"


def is_there(read: str) -> str:
    return f"{read} is defined and {read} is not none"


def expression_of(key: ContextKey, names: Names) -> str:
    """The expression that reads `key`, ready to stand before a filter or a test."""
    reserved = _reserved(key, names)
    if reserved is not None:
        return reserved
    read = _in_context(key)
    stand_in = _stand_in(key, names)
    if stand_in is None:
        return read
    return f"({read} if {is_there(read)} else {stand_in})"


def _reserved(key: ContextKey, names: Names) -> str | None:
    head, _, rest = key.path.partition(".")
    if key.path.startswith(RETRY_COUNT_PREFIX):
        raise NotExpressible("it reads the retries of a step by its name")
    if not key.is_prefixed and key.path == "preferred_label":
        return _LABEL
    if names.dialect is DotDialect.SPEC:
        return "_step" if key.path == "current_node" else None
    if not key.is_prefixed and key.path == "status":
        return "(event.outcome.verdict | upper)"
    if not key.is_prefixed and head == "error":
        return _error(rest)
    return _run_name(key.path, names)


def _run_name(path: str, names: Names) -> str | None:
    head, _, rest = path.partition(".")
    if path == "_pipeline_name":
        return text(names.pipeline)
    if head == "_goal_gates":
        return _gate(rest, names)
    if head in _RUN_NAMES and rest:
        raise NotExpressible(f"{head!r} has no keys")
    return _RUN_NAMES.get(path)


def _gate(gate: str, names: Names) -> str:
    if gate not in names.gates:
        raise NotExpressible("it reads the state of a gate that does not exist")
    return f"(_verdicts[{text(gate)}] | default('pending') | upper)"


def _error(rest: str) -> str:
    if rest == "type":
        return _ERROR_TYPE
    if not rest:
        raise NotExpressible("it reads the error as a whole")
    return _below(_ERROR, rest.split("."))


def _stand_in(key: ContextKey, names: Names) -> str | None:
    is_docs = names.dialect is DotDialect.DOCS
    if key.path in _STAND_INS:
        return _STAND_INS[key.path]
    head = key.segments[0]
    other = {"outcome", "current_node"} if is_docs else {"status", "error", *_RUN_NAMES}
    other |= {"_pipeline_name", "_goal_gates", "preferred_label"}
    if is_docs and key.is_prefixed:
        other |= {"status", "error"}
    if head in other or (head in _STAND_INS):
        raise NotExpressible(f"{key.path!r} is a word of the run that a context key may hide")
    return None


def _in_context(key: ContextKey) -> str:
    """The longest key of the flat context that the path begins with, then what is inside.

    That a context may have a key which itself begins with `context.` is not kept: nothing that a
    playbook runs writes one.
    """
    segments = key.segments
    choices = []
    for count in range(len(segments), 1, -1):
        flat = text(".".join(segments[:count]))
        choices.append(f"{_below(f'ctx[{flat}]', segments[count:])} if {flat} in ctx else ")
    last = _below("ctx", segments)
    return f"({''.join(choices)}{last})" if choices else last


def _below(read: str, segments: list[str]) -> str:
    for segment in segments:
        if segment.isdigit():
            raise NotExpressible("it reads an item of a list by its number")
        if segment == "body":
            raise NotExpressible("a playbook may read 'data' where 'body' is written")
        is_name = segment.isascii() and segment.isidentifier()
        read = f"{read}.{segment}" if is_name else f"{read}[{text(segment)}]"
    return read
