"""The syntax trees of expressions and of text. `at` is an offset in the template's source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from anew.values import Value


class Constant(Struct, frozen=True):
    value: Value
    at: int


class Name(Struct, frozen=True):
    name: str
    at: int


class GetAttribute(Struct, frozen=True):
    """`target.key`, and `target['key']` or `target[0]`: the key is in the source."""

    target: Expression
    key: str | int
    at: int


class GetItem(Struct, frozen=True):
    """`target[index]` with an index that is computed."""

    target: Expression
    index: Expression
    at: int


class Slice(Struct, frozen=True):
    target: Expression
    start: Expression | None
    stop: Expression | None
    step: Expression | None
    at: int


class Arguments(Struct, frozen=True):
    positional: tuple[Expression, ...] = ()
    named: tuple[tuple[str, Expression], ...] = ()


class FunctionCall(Struct, frozen=True):
    """A global function, such as `rand()`."""

    function: str
    arguments: Arguments
    at: int


class Method(Struct, frozen=True):
    target: Expression
    name: str
    arguments: Arguments
    at: int


class Filter(Struct, frozen=True):
    target: Expression
    name: str
    arguments: Arguments
    at: int


class Test(Struct, frozen=True):
    """`target is name(arguments)`."""

    target: Expression
    name: str
    arguments: Arguments
    at: int


class Sign(Struct, frozen=True):
    operator: str
    target: Expression
    at: int


class Negation(Struct, frozen=True):
    target: Expression
    at: int


class Arithmetic(Struct, frozen=True):
    operator: str
    left: Expression
    right: Expression
    at: int


class Comparison(Struct, frozen=True):
    """One link of a chain `a < b < c`: the operator and what is on its right."""

    operator: str
    right: Expression
    at: int


class ComparisonChain(Struct, frozen=True):
    left: Expression
    links: tuple[Comparison, ...]
    at: int


class Concat(Struct, frozen=True):
    """`a ~ b ~ c`, flat, so that long texts do not nest."""

    parts: tuple[Expression, ...]
    at: int


class Logic(Struct, frozen=True):
    """`a and b and c` or `a or b or c`, flat for the same reason."""

    operator: str
    parts: tuple[Expression, ...]
    at: int


class Choice(Struct, frozen=True):
    """`then if condition else otherwise`; without an else, undefined."""

    then: Expression
    condition: Expression
    otherwise: Expression | None
    at: int


class ListOf(Struct, frozen=True):
    items: tuple[Expression, ...]
    at: int


class DictOf(Struct, frozen=True):
    pairs: tuple[tuple[Expression, Expression], ...]
    at: int


Expression: TypeAlias = (
    Constant | Name | GetAttribute | GetItem | Slice | FunctionCall | Method | Filter | Test | Sign
    | Negation | Arithmetic | ComparisonChain | Concat | Logic | Choice | ListOf | DictOf
)  # fmt: skip


class Text(Struct, frozen=True):
    text: str
    at: int


class Output(Struct, frozen=True):
    """`{{ expression }}`."""

    expression: Expression
    at: int


class IfBranch(Struct, frozen=True):
    condition: Expression
    body: tuple[Statement, ...]


class If(Struct, frozen=True):
    branches: tuple[IfBranch, ...]
    otherwise: tuple[Statement, ...]
    at: int


class For(Struct, frozen=True):
    targets: tuple[str, ...]
    source: Expression
    condition: Expression | None
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    at: int


class Set(Struct, frozen=True):
    """`{% set a, b = value %}`."""

    targets: tuple[str, ...]
    value: Expression
    at: int


class SetText(Struct, frozen=True):
    """`{% set a %}text{% endset %}`."""

    target: str
    body: tuple[Statement, ...]
    at: int


Statement: TypeAlias = Text | Output | If | For | Set | SetText
Node: TypeAlias = Expression | Statement | Arguments | Comparison | IfBranch

_EXPRESSIONS = (
    Constant, Name, GetAttribute, GetItem, Slice, FunctionCall, Method, Filter, Test, Sign,
    Negation, Arithmetic, ComparisonChain, Concat, Logic, Choice, ListOf, DictOf,
)  # fmt: skip
_NODES = frozenset(
    {*_EXPRESSIONS, Text, Output, If, For, Set, SetText, Arguments, Comparison, IfBranch}
)
_LEAVES = frozenset({Constant, Name, Text})


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below `node`, in source order."""
    if type(node) not in _LEAVES:
        for field in node.__struct_fields__:
            yield from _nodes_in(getattr(node, field))


def _nodes_in(part: Any) -> Iterator[Node]:
    if type(part) in _NODES:
        yield part
    elif type(part) is tuple:
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
