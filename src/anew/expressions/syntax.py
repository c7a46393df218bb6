"""The syntax trees of expressions and of text. `at` is an offset in the template's source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from anew.values import Value


@dataclass(frozen=True, slots=True)
class Constant:
    value: Value
    at: int


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Attribute:
    """`target.key`, and `target['key']` or `target[0]`: the key is in the source."""

    target: Expression
    key: str | int
    at: int


@dataclass(frozen=True, slots=True)
class Item:
    """`target[index]` with an index that is computed."""

    target: Expression
    index: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Slice:
    target: Expression
    start: Expression | None
    stop: Expression | None
    step: Expression | None
    at: int


@dataclass(frozen=True, slots=True)
class Arguments:
    positional: tuple[Expression, ...] = ()
    named: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A global function, such as `rand()`."""

    function: str
    arguments: Arguments
    at: int


@dataclass(frozen=True, slots=True)
class Method:
    target: Expression
    name: str
    arguments: Arguments
    at: int


@dataclass(frozen=True, slots=True)
class Filter:
    target: Expression
    name: str
    arguments: Arguments
    at: int


@dataclass(frozen=True, slots=True)
class Test:
    """`target is name(arguments)`."""

    target: Expression
    name: str
    arguments: Arguments
    at: int


@dataclass(frozen=True, slots=True)
class Sign:
    operator: str
    target: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Not:
    target: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: str
    left: Expression
    right: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """One link of a chain `a < b < c`: the operator and what is on its right."""

    operator: str
    right: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Compare:
    left: Expression
    links: tuple[Comparison, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Concat:
    """`a ~ b ~ c`, flat, so that long texts do not nest."""

    parts: tuple[Expression, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Logic:
    """`a and b and c` or `a or b or c`, flat for the same reason."""

    operator: str
    parts: tuple[Expression, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Choice:
    """`then if condition else otherwise`; without an else, undefined."""

    then: Expression
    condition: Expression
    otherwise: Expression | None
    at: int


@dataclass(frozen=True, slots=True)
class ListOf:
    items: tuple[Expression, ...]
    at: int


@dataclass(frozen=True, slots=True)
class DictOf:
    pairs: tuple[tuple[Expression, Expression], ...]
    at: int


Expression: TypeAlias = (
    Constant | Name | Attribute | Item | Slice | Call | Method | Filter | Test | Sign | Not
    | Arithmetic | Compare | Concat | Logic | Choice | ListOf | DictOf
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Output:
    """`{{ expression }}`."""

    expression: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Branch:
    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    branches: tuple[Branch, ...]
    otherwise: tuple[Statement, ...]
    at: int


@dataclass(frozen=True, slots=True)
class For:
    targets: tuple[str, ...]
    source: Expression
    condition: Expression | None
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Set:
    """`{% set a, b = value %}`."""

    targets: tuple[str, ...]
    value: Expression
    at: int


@dataclass(frozen=True, slots=True)
class SetText:
    """`{% set a %}text{% endset %}`."""

    target: str
    body: tuple[Statement, ...]
    at: int


Statement: TypeAlias = Text | Output | If | For | Set | SetText
Node: TypeAlias = Expression | Statement | Arguments | Comparison | Branch

_EXPRESSIONS = (
    Constant, Name, Attribute, Item, Slice, Call, Method, Filter, Test, Sign, Not,
    Arithmetic, Compare, Concat, Logic, Choice, ListOf, DictOf,
)  # fmt: skip
_NODES = (*_EXPRESSIONS, Text, Output, If, For, Set, SetText, Arguments, Comparison, Branch)
_LEAVES = (Constant, Name, Text)


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below `node`, in source order."""
    if not isinstance(node, _LEAVES):
        for field in node.__slots__:
            yield from _nodes_in(getattr(node, field))


def _nodes_in(part: object) -> Iterator[Node]:
    if isinstance(part, _NODES):
        yield part
    elif isinstance(part, tuple):
        for item in part:
            yield from _nodes_in(item)


def height(root: Node) -> int:
    """How deep the tree is. Does not recurse, so it may be asked of any tree."""
    deepest, level = 0, [root]
    while level:
        deepest += 1
        level = [child for node in level for child in children(node)]
    return deepest


def descendants(root: Node) -> Iterator[Node]:
    """`root` and every node below it, without recursion."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))
