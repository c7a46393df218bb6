"""The condition language of the docs dialect: text to tree.

    condition  = either {OR either}        either = one {AND one}
    one        = NOT one | comparison      comparison = side [operator side]
    side       = ( condition ) | key | text | number | true | false | [ literals ]

NOT binds looser than a comparison: `NOT a == 1` is `NOT (a == 1)`. Operators that are words are
written in capitals. Texts stand in single or double quotes; a backslash takes the quote and
itself literally. Knows no context and no outcome.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from anew.expressions import DEFAULT_LIMITS
from anew.languages.dot.conditions.problems import ConditionError, ConditionProblem, Topic, too_long
from anew.languages.dot.conditions.tree import (
    All,
    AnyOf,
    Compare,
    ConditionLiteral,
    ContextKey,
    Holds,
    Not,
    Operand,
    Tree,
    key_of,
)
from anew.program.findings import Severity
from anew.values import Value

WORD_SIGNS: Final = ("CONTAINS", "STARTS_WITH", "ENDS_WITH", "IN")
SIGNS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", *WORD_SIGNS})
_WORDS: Final = frozenset({"AND", "OR", "NOT", *WORD_SIGNS})
_NULLS: Final = frozenset({"null", "none", "nil", "undefined"})
# Deeper conditions are refused before they could use up Python's stack.
_DEPTH_MAX = 50
_DIGITS_MAX = 300

_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<name>[^\W\d][\w-]*(?:\.[\w-]+)*)
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<sign>==|!=|<=|>=|<|>|\(|\)|\[|\]|,)
    | (?P<other>&&|\|\||=|!)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"""\\(['"\\])""")
_INSTEAD = {"&&": "AND", "||": "OR", "=": "==", "!": "NOT"}


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def parse_docs(text: str) -> tuple[Tree, list[ConditionProblem]]:
    """The tree and hints about it. Raises ConditionError when the text is no such condition."""
    parser = _Parser(text)
    return parser.whole(), parser.hints


def _scan(text: str) -> list[_Token]:
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _unreadable(text, position)
        if match.lastgroup == "other":
            mark = match.group()
            raise ConditionError(
                f"{mark!r} is not an operator here",
                position,
                suggestion=f"Write {_INSTEAD[mark]!r}.",
            )
        if match.lastgroup != "space":
            tokens.append(_Token(match.lastgroup or "", match.group(), position))
            if len(tokens) > DEFAULT_LIMITS.tokens_max:
                raise too_long(position)
        position = match.end()
    tokens.append(_Token("end", "", len(text)))
    return tokens


def _unreadable(text: str, at: int) -> ConditionError:
    if text[at] in "'\"":
        return ConditionError(
            "this text is never closed by its quote", at, suggestion=f"Add {text[at]} at its end."
        )
    return ConditionError(
        f"unexpected character {text[at]!r}", at, suggestion="Put texts in single quotes."
    )


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = _scan(text)
        self.position = 0
        self.depth = 0
        self.hints: list[ConditionProblem] = []

    @property
    def current(self) -> _Token:
        return self.tokens[self.position]

    def advance(self) -> _Token:
        token = self.current
        self.position += token.kind != "end"
        return token

    def take(self, *texts: str) -> _Token | None:
        """The current token, passed by, if it is one of these words or signs."""
        token = self.current
        return self.advance() if token.kind in ("name", "sign") and token.text in texts else None

    def whole(self) -> Tree:
        if self.current.kind == "end":
            raise ConditionError("the condition is empty", 0, suggestion="Remove it.")
        tree = self._either()
        if self.current.kind != "end":
            raise self._unexpected("expected AND, OR or the end")
        return tree

    def _unexpected(self, expected: str) -> ConditionError:
        token = self.current
        upper = token.text.upper().replace("-", "_")
        if token.kind == "name" and upper in _WORDS and token.text != upper:
            return ConditionError(
                f"{token.text!r} is not an operator",
                token.at,
                suggestion=f"Did you mean {upper!r}?",
            )
        found = repr(token.text) if token.text else "the end"
        suggestion = None
        if token.kind in ("name", "text", "number"):
            known = ", ".join(["==", "!=", "<", "<=", ">", ">=", *WORD_SIGNS])
            suggestion = f"Operators are {known}, AND, OR and NOT."
        return ConditionError(f"{expected}, found {found}", token.at, suggestion=suggestion)

    def _either(self) -> Tree:
        parts = [self._both()]
        while self.take("OR"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _both(self) -> Tree:
        parts = [self._one()]
        while self.take("AND"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _one(self) -> Tree:
        token = self.current
        self.depth += 1
        if self.depth > _DEPTH_MAX:
            raise ConditionError(
                f"the condition is nested deeper than {_DEPTH_MAX} levels",
                token.at,
                suggestion="Split it over several edges.",
            )
        tree = self._negation(token) if self.take("NOT") else self._comparison()
        self.depth -= 1
        return tree

    def _negation(self, token: _Token) -> Tree:
        is_bracketed = self.current.text == "("
        inner = self._one()
        if isinstance(inner, Compare) and not is_bracketed:
            message = "NOT applies to the whole comparison after it"
            suggestion = "Put the comparison in parentheses: NOT (key == value)."
            self.hints.append(
                ConditionProblem(Severity.INFO, Topic.NOT_SCOPE, message, token.at, suggestion)
            )
        return Not(inner)

    def _comparison(self) -> Tree:
        if self.take("("):
            inner = self._either()
            if not self.take(")"):
                raise self._unexpected("expected ')'")
            if self.current.text in SIGNS:
                raise self._unexpected("expected AND, OR or the end after ')'")
            return inner
        left = self._side()
        sign = self.take(*SIGNS)
        if sign is None:
            return Holds(left)
        right = self._right(left, sign)
        if self.current.text in SIGNS:
            raise ConditionError(
                "a comparison has two sides",
                self.current.at,
                suggestion="Join two comparisons with AND.",
            )
        return Compare(sign.text, left, right)

    def _right(self, left: Operand, sign: _Token) -> Operand:
        token = self.current
        if token.kind == "name" and token.text.lower() in _NULLS:
            raise _no_null(token, left, sign.text)
        right = self._side()
        are_keys = isinstance(left, ContextKey) and isinstance(right, ContextKey)
        if are_keys and sign.text != "IN" and _looks_like_text(token.text):
            raise ConditionError(
                f"the text {token.text!r} has no quotes",
                token.at,
                suggestion=f"Write '{token.text}', or context.{token.text} for a key.",
            )
        return right

    def _side(self) -> Operand:
        token = self.current
        if self.take("["):
            return ConditionLiteral(self._items(), token.at)
        if token.kind != "name":
            return ConditionLiteral(self._literal(), token.at)
        word = token.text.lower()
        if word in _NULLS:
            raise _no_null(token, None, "")
        if word in ("true", "false"):
            return ConditionLiteral(self._literal(), token.at)
        if token.text.upper() in _WORDS:
            raise self._unexpected("expected a key or a value")
        self.advance()
        return key_of(token.text, token.at)

    def _items(self) -> list[Value]:
        items: list[Value] = []
        while not self.take("]"):
            if items and not self.take(","):
                raise self._unexpected("expected ',' or ']'")
            if items and self.take("]"):
                break
            items.append(self._literal())
        return items

    def _literal(self) -> Value:
        token = self.current
        match token.kind:
            case "text":
                self.advance()
                return _ESCAPE.sub(r"\1", token.text[1:-1])
            case "number":
                self.advance()
                return _number(token)
            case "name" if token.text.lower() in ("true", "false"):
                self.advance()
                return token.text.lower() == "true"
        raise self._unexpected("expected a value")


def _number(token: _Token) -> int | float:
    # Asked before conversion: Python refuses very long ones with an error of its own.
    if len(token.text) <= _DIGITS_MAX:
        number = float(token.text)
        if number not in (float("inf"), float("-inf")):
            return int(token.text) if re.fullmatch(r"[+-]?\d+", token.text) else number
    raise ConditionError("this number is too large", token.at)


def _no_null(token: _Token, left: Operand | None, sign: str) -> ConditionError:
    key = left.path if isinstance(left, ContextKey) else "key"
    wanted = key if sign == "!=" else f"NOT {key}"
    return ConditionError(
        f"there is no {token.text!r} in conditions: a missing key compares as false",
        token.at,
        suggestion=f"Use {wanted}.",
        topic=Topic.NULL,
    )


def _looks_like_text(word: str) -> bool:
    """A single bare word on the right is far more often a text without quotes than a key."""
    return "." not in word and not word.startswith("_")
