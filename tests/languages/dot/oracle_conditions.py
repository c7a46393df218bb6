"""What a condition is worth, read from the text of the reference alone (graphs.md#conditions).

A second opinion on the conditions of both dialects: it shares no code with the engine's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

MISSING = object()
Read = Callable[[str], Any]

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^'\\]|\\.)*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<op>==|!=|<=|>=|<|>)"
    r"|(?P<mark>[()\[\],])|(?P<word>[A-Za-z_][\w.]*))"
)
_COMPARE = {"==", "!=", "<", "<=", ">", ">=", "CONTAINS", "STARTS_WITH", "ENDS_WITH", "IN"}
_ALIASES = {
    "retry_count": "_retry_count",
    "error_type": "error.type",
    "error_message": "error.message",
    "retryable": "error.retryable",
}


class Condition(Struct):
    """`operators` and `segments` are its specificity."""

    holds: Callable[[Read], bool]
    operators: int = 0
    segments: int = 0


class Facts(Struct):
    """What a condition may ask: the last outcome, and the context as it is after its updates."""

    status: str
    context: Mapping[str, Any]
    error: Mapping[str, Any] | None = None
    label: str | None = None
    retries: int = 0


def docs_reader(facts: Facts) -> Read:
    def read(path: str) -> Any:
        found = _docs_value(facts, path)
        if found is MISSING and path in _ALIASES:
            return _docs_value(facts, _ALIASES[path])
        return found

    return read


def _docs_value(facts: Facts, path: str) -> Any:
    if path == "status":
        return facts.status
    if path == "preferred_label":
        return MISSING if facts.label is None else facts.label
    if path.startswith("error."):
        return (facts.error or {}).get(path.removeprefix("error."), MISSING)
    if path == "_retry_count":
        return facts.retries
    return facts.context.get(path.removeprefix("context."), MISSING)


def spec_reader(facts: Facts) -> Read:
    def read(key: str) -> str:
        if key == "outcome":
            return facts.status
        if key == "preferred_label":
            return facts.label or ""
        return _as_text(facts.context.get(key.removeprefix("context."), ""))

    return read


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def spec_condition(text: str) -> Condition:
    """`key = value`, `key != value` or a bare key, joined by `&&`."""
    clauses = [_clause(part.strip()) for part in text.split("&&")]
    return Condition(lambda read: all(clause(read) for clause in clauses))


def _clause(text: str) -> Callable[[Read], bool]:
    key, sign, value = re.fullmatch(r"([\w.]+)\s*(?:(!?=)\s*(.*))?", text).groups()  # type: ignore[union-attr]
    if sign is None:
        return lambda read: bool(read(key))
    wanted = value.strip().strip('"')
    if sign == "=":
        return lambda read: read(key) == wanted
    return lambda read: read(key) != wanted


def docs_condition(text: str) -> Condition:
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = [match for match in _TOKEN.finditer(text) if match.group().strip()]
        self._at = 0
        self._operators = 0
        self._segments = 0

    def whole(self) -> Condition:
        holds = self._any()
        assert self._at == len(self._tokens)
        return Condition(holds, self._operators, self._segments)

    def _peek(self) -> str:
        return self._tokens[self._at].group().strip() if self._at < len(self._tokens) else ""

    def _take(self, *words: str) -> bool:
        if self._peek() not in words:
            return False
        self._at += 1
        return True

    def _any(self) -> Callable[[Read], bool]:
        parts = [self._all()]
        while self._take("OR"):
            self._operators += 1
            parts.append(self._all())
        return lambda read: any(part(read) for part in parts)

    def _all(self) -> Callable[[Read], bool]:
        parts = [self._not()]
        while self._take("AND"):
            self._operators += 1
            parts.append(self._not())
        return lambda read: all(part(read) for part in parts)

    def _not(self) -> Callable[[Read], bool]:
        if not self._take("NOT"):
            return self._comparison()
        self._operators += 1
        inner = self._not()
        return lambda read: not inner(read)

    def _comparison(self) -> Callable[[Read], bool]:
        if self._take("("):
            inner = self._any()
            assert self._take(")")
            return inner
        left = self._operand()
        sign = self._peek()
        if not self._take(*_COMPARE):
            return lambda read: left(read) is not MISSING and bool(left(read))
        self._operators += 1
        right = self._operand()
        return lambda read: _compared(sign, left(read), right(read))

    def _operand(self) -> Read:
        token = self._tokens[self._at]
        self._at += 1
        if token["text"] is not None:
            text = re.sub(r"\\(.)", r"\1", token["text"][1:-1])
            return lambda _: text
        if token["number"] is not None:
            number = float(token["number"])
            return lambda _: number
        if token["mark"] == "[":
            return self._list()
        word = token["word"]
        if word in ("true", "false"):
            return lambda _: word == "true"
        self._segments += word.count(".") + 1
        return lambda read: read(word)

    def _list(self) -> Read:
        parts: list[Read] = []
        while not self._take("]"):
            parts.append(self._operand())
            self._take(",")
        return lambda read: [part(read) for part in parts]


def _compared(sign: str, left: Any, right: Any) -> bool:
    if left is MISSING or right is MISSING:
        return False
    if sign == "IN":
        return isinstance(right, list) and any(_equal(left, one) for one in right)
    if sign == "CONTAINS":
        return _contains(left, right)
    if sign == "STARTS_WITH":
        return isinstance(left, str) and isinstance(right, str) and left.startswith(right)
    if sign == "ENDS_WITH":
        return isinstance(left, str) and isinstance(right, str) and left.endswith(right)
    if sign in ("==", "!="):
        return _equal(left, right) is (sign == "==")
    return _ordered(sign, left, right)


def _contains(left: Any, right: Any) -> bool:
    if isinstance(left, list):
        return any(_equal(one, right) for one in left)
    return isinstance(left, str) and isinstance(right, str) and right in left


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return _as_bool(left) is _as_bool(right)
    if _is_number(left) != _is_number(right):
        return False
    return bool(left == right)


def _as_bool(value: Any) -> Any:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _ordered(sign: str, left: Any, right: Any) -> bool:
    comparable = (_is_number(left) and _is_number(right)) or (
        isinstance(left, str) and isinstance(right, str)
    )
    if not comparable:
        return False
    verdicts = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
    return verdicts[sign]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
