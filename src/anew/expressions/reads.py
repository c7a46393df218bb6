"""What a template reads, calls and compares: gathered while it is compiled, asked by checkers."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct, field

from anew.expressions import syntax
from anew.expressions.problems import OperationError
from anew.values import Value

Path: TypeAlias = tuple[str, ...]


class Reads(Struct):
    """Names of the scope, paths below them, functions, and texts that paths are compared with."""

    names: set[str] = field(default_factory=set)
    paths: set[Path] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    compares: set[tuple[Path, str]] = field(default_factory=set)

    def add_path(self, name: str, keys: tuple[str | int, ...]) -> None:
        """Note `name.key.key`, as far as the keys are texts."""
        self.names.add(name)
        path = [name]
        for key in keys:
            if not isinstance(key, str):
                break
            path.append(key)
        self.paths.add(tuple(path))

    def add_comparison(self, sign: str, left: syntax.Expression, right: syntax.Expression) -> None:
        """Note `path == 'text'` either way round, and `path in ['text', …]`."""
        if sign in ("==", "!="):
            self._add_texts(left, right)
            self._add_texts(right, left)
        elif sign in ("in", "not in") and isinstance(right, syntax.ListOf):
            for item in right.items:
                self._add_texts(left, item)

    def _add_texts(self, side: syntax.Expression, other: syntax.Expression) -> None:
        if isinstance(other, syntax.Constant) and isinstance(other.value, str):
            root, keys = chain_of(side)
            if isinstance(root, syntax.Name) and all(isinstance(key, str) for key in keys):
                self.compares.add(((root.name, *map(str, keys)), other.value))


def chain_of(node: syntax.Expression) -> tuple[syntax.Expression, tuple[str | int, ...]]:
    """`a.b.c` as its root and its keys."""
    keys: list[str | int] = []
    while isinstance(node, syntax.GetAttribute):
        keys.append(node.key)
        node = node.target
    return node, tuple(reversed(keys))


def name_of(node: syntax.Expression) -> str | None:
    """How an error message calls a path: `outcome.http.status`; None for anything else."""
    root, keys = chain_of(node)
    if isinstance(root, syntax.Name):
        return ".".join([root.name, *map(str, keys)])
    return None


def literal(node: syntax.Expression) -> Value:
    """The value of a node that is all constants; raises OperationError for any other."""
    if isinstance(node, syntax.Constant):
        return node.value
    if isinstance(node, syntax.ListOf):
        return [literal(item) for item in node.items]
    if isinstance(node, syntax.DictOf):
        pairs = [(literal(key), literal(value)) for key, value in node.pairs]
        if all(isinstance(key, str) for key, _ in pairs):
            return dict(pairs)
    raise OperationError("not a constant")
