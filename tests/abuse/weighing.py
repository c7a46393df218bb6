"""The package of expressions with its work weighed, so that a bound on work needs no clock.

Its modules are loaded once more, under another name, with every call, operator and pass through a
loop replaced by one that counts. What Python does without interpreting anything is counted by what
it is given: a text costs its characters, a set of characters the product with the text. A function
that this model does not know costs the product of everything it is given, so that nothing new is
cheap before someone has thought about it.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

import anew.expressions

SOURCE = "anew.expressions"
WEIGHED = "weighed_expressions"
# What the package looks results up with; processes of Python tasks use it, too.
ALIASES = "anew.result_aliases"
# Nanoseconds, generously: what one interpreted step takes, one character that is copied or
# scanned, one item that is gone through, and one pair that is compared.
STEP, CHARACTER, ITEM, PAIR = 60, 10, 20, 1
# What one operation of an evaluation may take, see `anew/expressions/limits.py`.
PER_OPERATION = 2_500
# Ten seconds.
ENDLESS = 10 * 10**9

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.BitOr: operator.or_, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
}  # fmt: skip
_BY_NAME = {kind.__name__: operate for kind, operate in _OPERATORS.items()}

# What looks at no more than the head of its arguments.
_AT_ONCE = {
    "isinstance", "len", "type", "id", "getattr", "iter", "next", "chr", "append", "get",
    "setdefault", "add", "pop", "isascii", "bit_length", "values", "items", "keys", "range",
    "format", "isfinite", "bool", "partial", "clear", "cache", "is_integer", "callable", "group", "end",
    "start", "hasattr", "match", "ceil", "floor",
}  # fmt: skip
# Iterators: whoever goes through them pays.
_LAZY = {"map", "zip", "enumerate", "reversed", "finditer", "iterencode"}
# Each character of the text is looked for among those that are given.
_PRODUCTS = {"strip", "lstrip", "rstrip"}
# Once through the items they are given, without looking into them.
_SHALLOW = {
    "list", "tuple", "set", "frozenset", "dict", "sum", "any", "all", "min", "max", "extend",
    "update", "isdisjoint", "issuperset", "sorted",
}  # fmt: skip
_OPERATOR_FUNCTIONS = {"eq", "ne", "lt", "le", "gt", "ge"}
_COMPARING = {"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"}
_SIZED = (str, bytes, list, tuple, set, frozenset, dict)
# Once through everything they are given and give back.
_LINEAR = {
    "lower", "upper", "capitalize", "split", "rsplit", "splitlines", "join", "replace", "count",
    "find", "isdigit", "isdecimal", "isspace", "isalnum", "islower",
    "isupper", "encode", "decode", "center", "ljust", "rjust", "translate", "b64encode",
    "b64decode", "str", "int", "float", "abs", "round", "partition", "index", "repr",
    "dumps", "loads", "maketrans", "sub", "get_close_matches", "findall", "hash",
}  # fmt: skip


class Scale:
    """What has been done since it was set to nothing."""

    def __init__(self) -> None:
        self.nanoseconds = 0

    def step(self) -> None:
        self.nanoseconds += STEP

    def call(self, function: Any, /, *given: Any, **named: Any) -> Any:
        self.nanoseconds += STEP
        if _is_ours(function):
            return function(*given, **named)
        name = getattr(function, "__name__", type(function).__name__)
        if name in _OPERATOR_FUNCTIONS:
            self.nanoseconds += compared(*given) * CHARACTER
            self._stop_endless()
            return function(*given)
        if name in ("startswith", "endswith"):
            self.nanoseconds += CHARACTER * compared(function.__self__, given[0])
            return function(*given)
        if name == "search":
            return self._search(function, *given)
        if name in _LAZY:
            return self.passes(function(*given, **named))
        if name in _AT_ONCE:
            return function(*given, **named)
        parts = [*given, *named.values()]
        self._weigh(name, getattr(function, "__self__", None), parts)
        self._stop_endless()
        result = function(*given, **named)
        self.nanoseconds += (length(result) if name in _SHALLOW else size(result)) * CHARACTER
        return result

    def _stop_endless(self) -> None:
        """What nobody could wait for is not done: the test fails of what it would have taken."""
        if self.nanoseconds > ENDLESS:
            raise MemoryError

    def _search(self, search: Any, text: str, begin: int = 0) -> Any:
        """Goes as far as there is nothing to find."""
        found = search(text, begin)
        self.nanoseconds += CHARACTER * ((found.end() if found else len(text)) - begin)
        return found

    def _weigh(self, name: str, owner: Any, parts: list[Any]) -> None:
        """Before it is done: what is refused later must not have been done for nothing."""
        measure = length if name in _SHALLOW else size
        # What is put into a list or a set does not depend on what is there.
        owner = None if name in _SHALLOW else owner
        sizes = [measure(part) for part in (owner, *parts) if not isinstance(part, ModuleType)]
        self.nanoseconds += sum(sizes) * CHARACTER
        if name in _PRODUCTS:
            self.nanoseconds += PAIR * sizes[0] * sum(sizes[1:])
        elif name == "sorted":
            self.nanoseconds += ITEM * len(parts[0]) * len(parts[0]).bit_length()
        elif name not in _LINEAR and name not in _SHALLOW:
            for place, one in enumerate(sizes):
                self.nanoseconds += PAIR * one * sum(sizes[:place])

    def operate(self, name: str, left: Any, right: Any) -> Any:
        self.nanoseconds += STEP
        if name in _COMPARING:
            self.nanoseconds += compared(left, right) * CHARACTER
        elif name in ("In", "NotIn"):
            self.nanoseconds += sought(left, right) * CHARACTER
        self._stop_endless()
        result = _BY_NAME[name](left, right)
        self.nanoseconds += length(result) * CHARACTER
        return result

    def item(self, container: Any, key: Any) -> Any:
        self.nanoseconds += STEP
        result = container[key]
        if isinstance(key, slice):
            self.nanoseconds += len(result) * CHARACTER
        return result

    def passes(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.nanoseconds += ITEM
            yield item


def length(value: Any) -> int:
    """How much there is of a value itself."""
    return len(value) if isinstance(value, _SIZED) else 0


def compared(left: Any, right: Any) -> int:
    """Texts are compared with texts and lists with lists; the shorter one ends it."""
    if isinstance(left, str) and isinstance(right, str):
        return min(len(left), len(right))
    if isinstance(left, (list, tuple, dict)) and isinstance(right, (list, tuple, dict)):
        return min(size(left), size(right))
    return 1


def sought(item: Any, container: Any) -> int:
    """What is looked for is held against every item of a list; sets find it at once."""
    if isinstance(container, str):
        return len(container) + length(item)
    if isinstance(container, (list, tuple)):
        return len(container) + sum(compared(item, part) for part in container)
    return size(item)


def _is_ours(function: Any) -> bool:
    """Whether its own steps are counted."""
    if isinstance(function, partial):
        function = function.func
    return isinstance(function, (type, FunctionType, MethodType)) and str(
        function.__module__
    ).startswith(WEIGHED)


def size(value: Any) -> int:
    """How much there is of a value, with all it holds, as often as it holds it."""
    return _size(value, {})


def _size(value: Any, known: dict[int, int]) -> int:
    """Each part is looked at once: one list in many places can be endless to go through."""
    if not isinstance(value, _SIZED):
        return 0
    if isinstance(value, (str, bytes)):
        return len(value)
    if id(value) not in known:
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = len(value) + sum(_size(part, known) for part in parts)
    return known[id(value)]


class _Weigher(ast.NodeTransformer):
    """Puts the scale between the code of functions and what it uses."""

    def __init__(self) -> None:
        self.depth = 0

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.module and (node.module == SOURCE or node.module.startswith(f"{SOURCE}.")):
            node.module = WEIGHED + node.module.removeprefix(SOURCE)
        elif node.module == ALIASES:
            node.module = f"{WEIGHED}.{ALIASES.rpartition('.')[2]}"
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        node.body = [self.visit(part) for part in node.body]
        self.depth -= 1
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.depth += 1
        node.body = self.visit(node.body)
        self.depth -= 1
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super"
        if not self.depth or is_super:
            return node
        return _scaled("call", [node.func, *node.args], node.keywords)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not self.depth:
            return node
        return _scaled("operate", [ast.Constant(type(node.op).__name__), node.left, node.right])

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not self.depth or len(node.ops) != 1 or type(node.ops[0]) not in _OPERATORS:
            return node
        name = ast.Constant(type(node.ops[0]).__name__)
        return _scaled("operate", [name, node.left, node.comparators[0]])

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not self.depth or not isinstance(node.ctx, ast.Load):
            return node
        key = node.slice
        if isinstance(key, ast.Slice):
            bounds = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
            key = ast.Call(ast.Name("slice", ast.Load()), bounds, [])
        return _scaled("item", [node.value, key])

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        if self.depth:
            node.iter = _scaled("passes", [node.iter])
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        if self.depth:
            node.body.insert(0, ast.Expr(_scaled("step", [])))
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if self.depth:
            node.iter = _scaled("passes", [node.iter])
        return node


def _scaled(name: str, given: list[Any], named: list[ast.keyword] | None = None) -> ast.Call:
    scale = ast.Attribute(ast.Name("__scale__", ast.Load()), name, ast.Load())
    return ast.Call(scale, given, named or [])


SCALE = Scale()


class _Loader(importlib.abc.Loader):
    def __init__(self, file: Path) -> None:
        self.file = file

    def exec_module(self, module: ModuleType) -> None:
        tree = _Weigher().visit(ast.parse(self.file.read_text(encoding="utf-8")))
        module.__dict__["__scale__"] = SCALE
        exec(compile(ast.fix_missing_locations(tree), str(self.file), "exec"), module.__dict__)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, _path: object = None, _target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != WEIGHED and not fullname.startswith(f"{WEIGHED}."):
            return None
        package = Path(anew.expressions.__file__).parent
        place = package.joinpath(*fullname.split(".")[1:])
        if place.name == ALIASES.rpartition(".")[2]:
            place = package.parent / place.name
        is_package = (place / "__init__.py").exists()
        file = place / "__init__.py" if is_package else place.with_suffix(".py")
        return importlib.util.spec_from_loader(fullname, _Loader(file), is_package=is_package)


# It stays: some modules are imported on use.
sys.meta_path.insert(0, _Finder())


def weighed(name: str) -> Any:
    """A module of the package, weighed."""
    return importlib.import_module(f"{WEIGHED}.{name}" if name else WEIGHED)
