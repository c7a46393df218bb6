"""A condition written in the other dialect: told by its marks, and put into this one.

The translation is a suggestion for the author to read. Where a dialect has no such thing, the
reasons say so instead.
"""

from __future__ import annotations

import re

from msgspec import Struct

from anew.languages.dot.conditions.docs_grammar import SIGNS, parse_docs
from anew.languages.dot.conditions.problems import ConditionError
from anew.languages.dot.conditions.spec_grammar import parse_spec
from anew.languages.dot.conditions.subjects import DOCS_WORDS, SPEC_WORDS
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

_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_DOCS_MARK = re.compile(
    r"==|<|>|\b(?:AND|OR|NOT|CONTAINS|STARTS_WITH|ENDS_WITH)\b|\bIN\b\s*(?:\[|''|\w)"
)
_SPEC_MARK = re.compile(r"&&|(?<![=!<>])=(?!=)|\boutcome\b")
_DOCS_TO_SPEC = {word: SPEC_WORDS[verdict] for verdict, word in DOCS_WORDS.items()}
_SPEC_TO_DOCS = {spec: docs for docs, spec in _DOCS_TO_SPEC.items()}
_BARE_VALUE = re.compile(r"[^\s'\"&|=][^'\"&|]*(?<!\s)")


class Translation(Struct, frozen=True):
    """`text` is None where the other dialect cannot say it; `reasons` tell why."""

    text: str | None
    reasons: tuple[str, ...] = ()


class _Untranslatable(Exception):
    pass


def in_other_dialect(text: str, dialect: DotDialect) -> Tree | None:
    """The tree of a text that bears the marks of the dialect `dialect` is not, else None."""
    bare = _QUOTED.sub("''", text)
    mark = _SPEC_MARK if dialect is DotDialect.DOCS else _DOCS_MARK
    if not mark.search(bare):
        return None
    try:
        return parse_spec(text) if dialect is DotDialect.DOCS else parse_docs(text)[0]
    except ConditionError:
        return None


def translate(tree: Tree, to: DotDialect) -> Translation:
    """A tree of the other dialect as a text of the dialect `to`."""
    try:
        return Translation(_to_docs(tree) if to is DotDialect.DOCS else _to_spec(tree))
    except _Untranslatable as error:
        return Translation(None, (str(error),))


def docs_literal(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(docs_literal, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


# spec to docs


def _to_docs(tree: Tree) -> str:
    match tree:
        case All():
            return " AND ".join(map(_to_docs, tree.parts))
        case Holds(operand=ContextKey() as key):
            return _status_or_key(key)
        case Compare(left=ContextKey() as key, right=ConditionLiteral(value=str() as value)):
            return _comparison_in_docs(tree.sign, key, value)
        case _:
            raise _Untranslatable("this is not a condition of the spec dialect")


def _comparison_in_docs(sign: str, key: ContextKey, value: str) -> str:
    if key.path == "outcome" and value in _SPEC_TO_DOCS:
        return f"status {sign} '{_SPEC_TO_DOCS[value]}'"
    name = _status_or_key(key) if value in _SPEC_TO_DOCS else key.path
    if value == "":
        return f"NOT {name}" if sign == "==" else name
    compared = f"{name} == {docs_literal(value)}"
    # What is missing differs from every text in spec, and from none in docs.
    return compared if sign == "==" else f"NOT ({compared})"


def _status_or_key(key: ContextKey) -> str:
    return "status" if key.path == "outcome" else key.path


# docs to spec


def _to_spec(tree: Tree) -> str:
    match tree:
        case All():
            return " && ".join(map(_to_spec, tree.parts))
        case AnyOf():
            raise _Untranslatable("there is no OR: write one edge for each side")
        case Not(inner=Compare(sign="==" | "!=") as inner):
            return _comparison_in_spec("!=" if inner.sign == "==" else "==", inner)
        case Not(inner=Not(inner=inner)):
            return _to_spec(inner)
        case Not():
            raise _Untranslatable("there is no NOT: compare the key with a value, as key!=true")
        case Holds(operand=ContextKey() as key):
            return _spec_key(key)
        case Compare():
            return _comparison_in_spec(tree.sign, tree)
        case _:
            raise _Untranslatable("a condition needs a key")


def _comparison_in_spec(sign: str, tree: Compare) -> str:
    if (
        sign == "IN"
        and isinstance(tree.right, ConditionLiteral)
        and isinstance(tree.right.value, list)
    ):
        if len(tree.right.value) != 1:
            raise _Untranslatable("there is no IN: write one edge for each value")
        sign, tree = "==", Compare("==", tree.left, ConditionLiteral(tree.right.value[0]))
    if sign not in ("==", "!="):
        assert sign in SIGNS
        raise _Untranslatable(f"there is no {sign}: only = and != exist")
    key, value = tree.left, tree.right
    if isinstance(key, ConditionLiteral):
        key, value = value, key
    if not isinstance(key, ContextKey) or not isinstance(value, ConditionLiteral):
        raise _Untranslatable("only a key can be compared with a value")
    return f"{_spec_key(key)}{'=' if sign == '==' else '!='}{_spec_value(key, value.value)}"


def _spec_key(key: ContextKey) -> str:
    if key.is_prefixed:
        return f"context.{key.path}"
    return "outcome" if key.path == "status" else key.path


def _spec_value(key: ContextKey, value: Value) -> str:
    if key.path == "status" and not key.is_prefixed and value in _DOCS_TO_SPEC:
        return _DOCS_TO_SPEC[value]
    if isinstance(value, list):
        raise _Untranslatable("there are no lists")
    text = value if isinstance(value, str) else docs_literal(value)
    return text if text == "" or _BARE_VALUE.fullmatch(text) else docs_literal(text)
