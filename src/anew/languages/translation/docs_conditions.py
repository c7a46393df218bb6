"""Say an arc's `when` in the condition language of DOT graphs (docs dialect).

The other way round than `languages.dot.conditions.jinja`, whose expressions it all understands. A
missing key makes every comparison of a graph false, so `x != v` becomes `NOT x == v` unless the
expression itself asks whether x is there.
"""

from __future__ import annotations

from anew.expressions import DEFAULT_LIMITS, ExpressionError, syntax
from anew.expressions.parse import parse_expression
from anew.expressions.tokens import scan_expression
from anew.languages.playbook.translate import inner_expression
from anew.values import Value

_FAILED = frozenset({"step.failed", "call.error"})
_ENDED = frozenset({"step.done", "call.done", "loop.done"})
_VERDICT = ("event", "outcome", "verdict")
_VERDICTS = {word: word.upper() for word in ("success", "partial", "skipped", "failure")}
_RUN_WORDS = {
    ("_retries",): "_retry_count",
    ("_step",): "_current_node",
    ("run_id",): "_run_id",
    ("_branch",): "_branch_id",
    ("event", "outcome", "label"): "preferred_label",
}
# What only asks for the type or the presence of a key, which a comparison does by itself.
_GUARDS = frozenset({"defined", "none", "number", "boolean", "string", "sequence"})
_ENDS = {"startswith": "STARTS_WITH", "endswith": "ENDS_WITH"}
# What a graph reads in place of a key that the context does not have.
_STAND_INS = frozenset(
    "retry_count error_type error_message retryable failure_reason last_stage".split()
)
_SIGNS = {"==": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class CannotSay(Exception):
    """A graph has no condition with this meaning; the text says why."""


def docs_condition(source: str) -> str:
    """The condition of an edge for the `when` of an arc; raises CannotSay."""
    expression = inner_expression(source)
    if expression is None:
        raise CannotSay("it is a text around expressions")
    try:
        tokens = scan_expression(expression)
        tree = parse_expression(expression, tokens, depth_max=DEFAULT_LIMITS.depth_max)
    except ExpressionError as error:
        raise CannotSay(error.message) from error
    return _condition(tree, frozenset())


def _condition(node: syntax.Expression, there: frozenset[str]) -> str:
    """`there` are the keys that are known to have a value."""
    match node:
        case syntax.Logic():
            return _logic(node, there)
        case syntax.Negation():
            return _negated(node.target, there)
        case syntax.ComparisonChain() if len(node.links) == 1:
            return _compared(node.left, node.links[0], there)
        case syntax.Test() if node.name in ("true", "false"):
            return f"{_key(node.target)} == {node.name}"
        case syntax.Method() if node.name in _ENDS and len(node.arguments.positional) == 1:
            (end,) = node.arguments.positional
            return f"{_key(node.target)} {_ENDS[node.name]} {_literal(_value(end))}"
        case syntax.Constant() if isinstance(node.value, bool):
            return "true" if node.value else "false"
        case _:
            return _key(node)


def _logic(node: syntax.Logic, there: frozenset[str]) -> str:
    alone = _truth(node)
    if alone is not None:
        return alone
    parts = list(node.parts)
    guarded: set[str] = set()
    if node.operator == "and":
        guarded = {key for part in parts if (key := _guarded(part)) is not None}
        parts = [part for part in parts if _guarded(part) is None]
    said = [_condition(part, there | guarded) for part in parts]
    for key in guarded - {"status"}:
        # A comparison is false for a missing key, so that it asks for the key as well.
        if not any(part == key or part.startswith(f"{key} ") for part in said):
            raise CannotSay(f"it asks whether {key!r} is there")
    if len(said) == 1:
        return said[0]
    return f" {node.operator.upper()} ".join(f"({part})" for part in said)


def _truth(node: syntax.Logic) -> str | None:
    """The key whose truth a condition asks for in the way of graphs: 'false' is false as well."""
    if node.operator != "or" or len(node.parts) != 2:
        return None
    as_text, other = node.parts
    if not isinstance(as_text, syntax.Logic) or not isinstance(other, syntax.Logic):
        return None
    key = _guarded(other.parts[0])
    is_same = key is not None and key == _guarded(as_text.parts[0])
    return key if is_same and _path(other.parts[-1]) and _key(other.parts[-1]) == key else None


def _guarded(node: syntax.Expression) -> str | None:
    """The key that `node` only asks the presence or type of."""
    inner = node.target if isinstance(node, syntax.Negation) else node
    if not isinstance(inner, syntax.Test) or inner.name not in _GUARDS:
        return None
    try:
        return _key(inner.target)
    except CannotSay:
        return None


def _negated(node: syntax.Expression, there: frozenset[str]) -> str:
    inner = _without_guards(node)
    if isinstance(inner, syntax.ComparisonChain) and inner.links[0].operator == "==":
        link = inner.links[0]
        return _compared(inner.left, syntax.Comparison("!=", link.right, link.at), there)
    return f"NOT ({_condition(node, there)})"


def _without_guards(node: syntax.Expression) -> syntax.Expression:
    """`x == 1` of `x is number and x == 1`: a comparison of a graph asks for the type itself."""
    if not isinstance(node, syntax.Logic) or node.operator != "and":
        return node
    rest = [part for part in node.parts if _guarded(part) is None]
    return rest[0] if len(rest) == 1 else node


def _compared(left: syntax.Expression, link: syntax.Comparison, there: frozenset[str]) -> str:
    if isinstance(left, syntax.Constant) and link.operator in ("in", "not in"):
        found = f"{_key(link.right)} CONTAINS {_literal(left.value)}"
        return found if link.operator == "in" else f"NOT ({found})"
    path, value = _path(left), _value(link.right)
    if path == ("event", "name"):
        return _event(link.operator, value)
    key = _key(left)
    if path == _VERDICT:
        value = _status(value)
    match link.operator:
        case "in":
            return f"{key} IN {_literal(value)}"
        case "not in":
            return f"NOT ({key} IN {_literal(value)})"
        case "!=" if key in there or key == "status":
            return f"{key} != {_literal(value)}"
        case "!=":
            return f"NOT ({key} == {_literal(value)})"
        case sign if sign in _SIGNS:
            return f"{key} {_SIGNS[sign]} {_literal(value)}"
        case sign:
            raise CannotSay(f"it compares with {sign!r}")


def _event(operator: str, value: Value) -> str:
    words = frozenset(value if isinstance(value, list) else [value])
    failed, ended = words & _FAILED, words & _ENDED
    if "step.exit" in words or (failed and ended) or not (failed or ended):
        raise CannotSay("it asks for an event that a graph does not have")
    is_asked = operator in ("==", "in")
    if not is_asked and operator not in ("!=", "not in"):
        raise CannotSay("it compares the name of the event")
    return f"status {'==' if bool(failed) is is_asked else '!='} 'FAILURE'"


def _status(value: Value) -> Value:
    words = value if isinstance(value, list) else [value]
    found = [_VERDICTS.get(str(word)) for word in words]
    if None in found:
        raise CannotSay("it compares the verdict with a word that it never is")
    return found if isinstance(value, list) else found[0]


# --- keys and values -----------------------------------------------------------------------------


def _path(node: syntax.Expression) -> tuple[str, ...]:
    """The names and keys of a path; empty when it is none."""
    match node:
        case syntax.Name():
            return (node.name,)
        case syntax.GetAttribute() if isinstance(node.key, str):
            before = _path(node.target)
            return (*before, node.key) if before else ()
        case _:
            return ()


def _key(node: syntax.Expression) -> str:
    """What a graph calls the thing a path reads."""
    if isinstance(node, syntax.Choice):
        return _chosen(node)
    if isinstance(node, syntax.Filter) and node.name == "upper":
        node = node.target if _path(node.target) == _VERDICT else node
    if isinstance(node, syntax.Logic) and node.operator == "or":
        node = node.parts[0]  # `(_retries or 0)`: what is missing is null or nothing anyway
    path = _path(node)
    if path == _VERDICT:
        return "status"
    if path in _RUN_WORDS:
        return _RUN_WORDS[path]
    if path[:2] == ("event", "error") and len(path) > 2:
        return "error." + ".".join(path[2:])
    if path[:1] == ("ctx",) and len(path) > 1:
        return ".".join(path[1:])
    raise CannotSay(f"it reads {'.'.join(path)!r}" if path else "it computes what it compares")


def _chosen(node: syntax.Choice) -> str:
    """One key, where a choice only tells where it is found."""
    asked = node.condition
    if _asks_for_flat_key(node):
        return _key(node.then)
    if isinstance(asked, syntax.Negation) and _path(asked.target) == ("event", "error"):
        return "error.type"  # with the words for errors that have none of their own
    if isinstance(asked, syntax.Logic) and all(_guarded(part) for part in asked.parts):
        key = _key(node.then)
        if key in _STAND_INS:
            return key
    raise CannotSay("it computes what it compares")


def _asks_for_flat_key(node: syntax.Choice) -> bool:
    """`ctx['a.b'] if 'a.b' in ctx else …`: a key with a dot in it, or what is inside."""
    asked = node.condition
    return (
        isinstance(asked, syntax.ComparisonChain)
        and isinstance(asked.left, syntax.Constant)
        and asked.links[0].operator == "in"
        and _path(asked.links[0].right) == ("ctx",)
    )


def _value(node: syntax.Expression) -> Value:
    match node:
        case syntax.Constant():
            return node.value
        case syntax.ListOf():
            return [_value(item) for item in node.items]
        case syntax.Sign() if isinstance(node.target, syntax.Constant) and node.operator == "-":
            value = node.target.value
            if isinstance(value, int | float):
                return -value
    raise CannotSay("it compares with something that only the run knows")


def _literal(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str):
        raise CannotSay(f"a graph cannot write the value {value!r}")
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
