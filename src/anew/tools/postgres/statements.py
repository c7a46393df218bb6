"""Cut SQL text into statements, and put the values of `params` to their placeholders.

Values never become part of the text: the server gets `$1`, `$2`, … and the values beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from anew.tools.postgres.tokens import SqlToken, SqlTokenKind, tokens_of
from anew.tools.sql.failure import wrong_input
from anew.tools.sql.request import Params, Supply
from anew.values import Value

# A list is an array in ANY(…) and where it is cast to one, and JSON everywhere else.
_ARRAY_BEFORE = re.compile(r"\b(?:any|all|some)\s*\(\s*$", re.IGNORECASE)
_ARRAY_AFTER = re.compile(r'\s*(?:::|as\s)\s*[\w ."]+?(?:\(\d+\))?\s*\[', re.IGNORECASE)
_BEFORE_CHARS = 16

_VERBS = frozenset({"SELECT", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", "MERGE"})
_QUERIES = frozenset({"SELECT", "VALUES", "TABLE"})
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE"})


class Placeholder(Struct, frozen=True):
    """Where a value goes: a name, or a place in the statement's share of the list, from 1."""

    key: str | int
    is_array: bool = False


class Statement(Struct, frozen=True):
    """One statement. `is_query` when it is sure to give rows, so that they can be streamed."""

    parts: tuple[str | Placeholder, ...]
    is_query: bool


class Argument(NamedTuple):
    value: Value
    is_array: bool


class BoundStatement(NamedTuple):
    """A statement as the server takes it."""

    sql: str
    arguments: list[Argument]
    is_query: bool


def statements_of(texts: Sequence[str], params: Params) -> list[Statement]:
    """The statements of all texts. Without params nothing in them is a placeholder."""
    found = [statement for text in texts for statement in _cut(text, params)]
    if not found:
        raise wrong_input("command holds no statement")
    return found


def bind(statement: Statement, supply: Supply) -> BoundStatement:
    """The statement with its values; a placeholder used twice is one parameter."""
    places = [part for part in statement.parts if isinstance(part, Placeholder)]
    values = _values_of(places, supply)
    numbers = {place: number for number, place in enumerate(dict.fromkeys(places), 1)}
    parts = (part if isinstance(part, str) else f"${numbers[part]}" for part in statement.parts)
    arguments = [Argument(values[place.key], place.is_array) for place in numbers]
    return BoundStatement("".join(parts), arguments, statement.is_query)


def _values_of(places: Sequence[Placeholder], supply: Supply) -> dict[str | int, Value]:
    names = [place.key for place in places if isinstance(place.key, str)]
    if names:
        return dict(supply.named(names).items())
    count = max((place.key for place in places if isinstance(place.key, int)), default=0)
    return dict(enumerate(supply.next(count), 1))


def _cut(text: str, params: Params) -> Iterator[Statement]:
    draft = _Draft(text, params)
    for token in tokens_of(text):
        if token.kind is not SqlTokenKind.END or draft.is_inside:
            draft.add(token)
            continue
        yield from draft.finished()
        draft = _Draft(text, params)
    yield from draft.finished()


class _Draft:
    """A statement being read."""

    def __init__(self, text: str, params: Params) -> None:
        self._text = text
        self._params = params
        self._parts: list[str | Placeholder] = []
        self._words: list[str] = []  # outside of parentheses, in capitals
        self._depth = 0
        self._bodies = 0
        self._is_blank = True
        self._unnumbered = 0
        self._has_numbered = False

    @property
    def is_inside(self) -> bool:
        """Whether a semicolon here belongs to the statement: a rule's or a function's body."""
        return self._depth > 0 or self._bodies > 0

    def finished(self) -> Iterator[Statement]:
        if not self._is_blank:
            yield Statement(tuple(self._parts), self._is_query())

    def add(self, token: SqlToken) -> None:
        self._is_blank = self._is_blank and token.kind is SqlTokenKind.SPACE
        if token.kind is SqlTokenKind.OPEN:
            self._depth += 1
        elif token.kind is SqlTokenKind.CLOSE:
            self._depth = max(0, self._depth - 1)
        elif token.kind is SqlTokenKind.WORD and not self._depth:
            self._add_word(token.text.upper())
        self._parts.append(token.text if self._params is None else self._part_of(token))

    def _add_word(self, word: str) -> None:
        """Follow BEGIN ATOMIC … END, the one body that stands in a statement without quotes."""
        self._words.append(word)
        if word == "END":
            self._bodies = max(0, self._bodies - 1)
        elif (word == "CASE" and self._bodies) or (word == "BEGIN" and self._is_routine()):
            self._bodies += 1

    def _is_routine(self) -> bool:
        words = [word for word in self._words[:4] if word not in ("OR", "REPLACE")]
        return words[0] == "CREATE" and len(words) > 1 and words[1] in _ROUTINES

    def _is_query(self) -> bool:
        verb = next((word for word in self._words if word in _VERBS), None)
        starts = self._words[:1] in (["WITH"], [verb])
        return starts and verb in _QUERIES and "INTO" not in self._words

    def _part_of(self, token: SqlToken) -> str | Placeholder:
        is_named = isinstance(self._params, Mapping)
        match token.kind:
            case SqlTokenKind.PERCENT:
                return "%"
            case SqlTokenKind.NAMED:
                return self._named(token) if is_named else self._refuse(token, "a mapping")
            case SqlTokenKind.NEXT:
                return self._refuse(token, "a list") if is_named else self._numbered(token)
            case SqlTokenKind.NUMBERED:
                return token.text if is_named else self._numbered(token)
            case _:
                return token.text

    def _named(self, token: SqlToken) -> str | Placeholder:
        if token.text.startswith("%"):
            return Placeholder(token.text[2:-2], self._is_array(token))
        name = token.text[1:]
        # `array[:n]` looks the same, so a colon only counts before a name that was given.
        known = isinstance(self._params, Mapping) and name in self._params
        return Placeholder(name, self._is_array(token)) if known else token.text

    def _numbered(self, token: SqlToken) -> Placeholder:
        if token.kind is SqlTokenKind.NUMBERED:
            self._has_numbered = True
        else:
            self._unnumbered += 1
        if self._has_numbered and self._unnumbered:
            raise wrong_input("the statement mixes %s and $1: use one of them")
        number = self._unnumbered or int(token.text[1:])
        return Placeholder(number, self._is_array(token))

    def _refuse(self, token: SqlToken, wanted: str) -> str:
        if token.text.startswith(":"):
            return token.text
        raise wrong_input(
            f"the statement has the placeholder {token.text}: params must be {wanted}"
        )

    def _is_array(self, token: SqlToken) -> bool:
        before = self._text[max(0, token.start - _BEFORE_CHARS) : token.start]
        after = _ARRAY_AFTER.match(self._text, token.start + len(token.text))
        return after is not None or _ARRAY_BEFORE.search(before) is not None
