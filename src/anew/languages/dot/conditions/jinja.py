"""A condition as an expression of playbooks that is true for the same runs.

Used when a graph is rewritten as a playbook. Where an expression would not mean the same, there is
none, and the reason says what stands in the way.
"""

from __future__ import annotations

from msgspec import Struct

from anew.expressions import UNDEFINED
from anew.languages.dot.conditions.evaluation import truth
from anew.languages.dot.conditions.jinja_reads import NotExpressible, expression_of, is_there, text
from anew.languages.dot.conditions.subjects import (
    DOCS_WORDS,
    KNOWN_WORDS,
    RETRY_WORD,
    SPEC_WORDS,
    Names,
)
from anew.languages.dot.conditions.tree import (
    All,
    AnyOf,
    Compare,
    ConditionLiteral,
    ContextKey,
    Holds,
    Not,
    Tree,
)
from anew.languages.dot.graph import DotDialect
from anew.values import Value

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "IN": "CONTAINS", "CONTAINS": "IN"}
_VERDICT = "event.outcome.verdict"
_WORD = "event.outcome.word"
_VERDICT_OF_STATUS = {word: verdict for verdict, word in DOCS_WORDS.items()}
_VERDICT_OF_OUTCOME = {word: verdict for verdict, word in SPEC_WORDS.items()}


class InJinja(Struct, frozen=True):
    """`text` is None where a playbook cannot say the same; `reasons` tell why."""

    text: str | None
    reasons: tuple[str, ...] = ()


def to_jinja(tree: Tree, names: Names) -> InJinja:
    """The condition for the arc of a playbook whose ctx is the graph's context."""
    try:
        return InJinja(_written(tree, names))
    except NotExpressible as error:
        return InJinja(None, (str(error),))


def _written(tree: Tree, names: Names) -> str:
    is_docs = names.dialect is DotDialect.DOCS
    match tree:
        case Compare():
            return _docs_comparison(tree, names) if is_docs else _spec_comparison(tree, names)
        case Holds():
            return _truth_of(tree, names)
        case Not():
            return f"not ({_written(tree.inner, names)})"
        case All():
            return " and ".join(f"({_written(part, names)})" for part in tree.parts)
        case AnyOf():
            return " or ".join(f"({_written(part, names)})" for part in tree.parts)


def _truth_of(tree: Holds, names: Names) -> str:
    if isinstance(tree.operand, ConditionLiteral):
        return _constant(tree, names)
    read = expression_of(tree.operand, names)
    if names.dialect is DotDialect.SPEC:
        return f"{is_there(read)} and {read} | string not in ['', 'false', '0']"
    as_text = f"{read} is string and {read} | lower not in ['', 'false']"
    return f"({as_text}) or ({read} is not string and {read})"


def _constant(tree: Tree, names: Names) -> str:
    holds = truth(tree, lambda _: UNDEFINED, names.dialect)
    return "true" if holds else "false"


# docs


def _docs_comparison(tree: Compare, names: Names) -> str:
    sign, left, right = tree.sign, tree.left, tree.right
    if isinstance(left, ConditionLiteral) and isinstance(right, ConditionLiteral):
        return _constant(tree, names)
    if isinstance(left, ConditionLiteral) and sign not in ("STARTS_WITH", "ENDS_WITH"):
        sign, left, right = _MIRRORED.get(sign, sign), right, left
    if not isinstance(left, ContextKey) or not isinstance(right, ConditionLiteral):
        raise NotExpressible("it compares two keys, whose types only the run knows")
    if left.path == "status" and not left.is_prefixed and sign in ("==", "!=", "IN"):
        return _status(sign, right.value)
    return _with_value(sign, expression_of(left, names), right.value)


def _status(sign: str, value: Value) -> str:
    words = value if isinstance(value, list) else [value]
    if sign == "IN" and not isinstance(value, list):
        raise NotExpressible("it looks for the status in a text")
    verdicts = [_VERDICT_OF_STATUS[word] for word in words if word in _VERDICT_OF_STATUS]
    if sign == "!=":
        there = is_there(_VERDICT)
        return f"{there} and {_VERDICT} not in {text(verdicts)}" if verdicts else there
    if len(verdicts) == 1:
        return f"{_VERDICT} == {text(verdicts[0])}"
    return f"{_VERDICT} in {text(verdicts)}"


def _with_value(sign: str, read: str, value: Value) -> str:
    match sign:
        case "==":
            return _equal(read, value)
        case "!=":
            return f"{is_there(read)} and not ({_equal(read, value)})"
        case "IN":
            return _among(read, value)
        case "CONTAINS":
            return _containing(read, value)
        case "STARTS_WITH" | "ENDS_WITH":
            method = sign.replace("_", "").lower()
            is_text = isinstance(value, str)
            return f"{read} is string and {read}.{method}({text(value)})" if is_text else "false"
        case _:
            return _ordered(sign, read, value)


def _equal(read: str, value: Value) -> str:
    """Python takes 1 for true, which conditions do not: the type is asked for as well."""
    if isinstance(value, bool):
        word = text("true" if value else "false")
        return f"{read} is {word[1:-1]} or ({read} is string and {read} | lower == {word})"
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return f"{read} == {text(value)} or {read} is {value.lower()}"
    if isinstance(value, (int, float)):
        return f"{_is_number(read)} and {read} == {text(value)}"
    return f"{read} == {text(value)}"


def _among(read: str, value: Value) -> str:
    if isinstance(value, list):
        return " or ".join(f"({_equal(read, item)})" for item in value) or "false"
    if isinstance(value, str):
        return f"{read} is string and {read} in {text(value)}"
    return "false"


def _containing(read: str, value: Value) -> str:
    if not isinstance(value, str) or value.lower() in ("true", "false"):
        raise NotExpressible("it looks for a number or boolean in a list, which takes 1 for true")
    return f"{read} is sequence and {text(value)} in {read}"


def _ordered(sign: str, read: str, value: Value) -> str:
    if isinstance(value, str):
        return f"{read} is string and {read} {sign} {text(value)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{_is_number(read)} and {read} {sign} {text(value)}"
    return "false"


def _is_number(read: str) -> str:
    return f"{read} is number and {read} is not boolean"


# spec


def _spec_comparison(tree: Compare, names: Names) -> str:
    assert isinstance(tree.left, ContextKey)
    assert isinstance(tree.right, ConditionLiteral)
    key, value = tree.left, str(tree.right.value)
    if key.path == "outcome" and not key.is_prefixed:
        same = _outcome_is(value)
    else:
        read = expression_of(key, names)
        same = f"{is_there(read)} and {read} | string == {text(value)}"
        if value == "":
            same = f"not ({is_there(read)}) or {read} == ''"
    return same if tree.sign == "==" else f"not ({same})"


def _outcome_is(word: str) -> str:
    failed = f"{_VERDICT} == 'failure'"
    if word == SPEC_WORDS["failure"]:
        return failed
    if word == RETRY_WORD:
        return f"{failed} and {_WORD} is string and {_WORD} | lower == {text(word)}"
    if word in _VERDICT_OF_OUTCOME:
        known = text(sorted(KNOWN_WORDS))
        own = f"{_WORD} is string and {_WORD} | lower not in {known} and {_WORD} != ''"
        return f"{_VERDICT} == {text(_VERDICT_OF_OUTCOME[word])} and not ({own})"
    if word == "":
        return f"not ({is_there(_VERDICT)})"
    if word.lower() in KNOWN_WORDS:
        return "false"
    return f"{is_there(_VERDICT)} and not ({failed}) and {_WORD} == {text(word)}"
