"""Turn the author's text into code that runs at module level, top-level `return` included.

Knows Python's syntax only. Line numbers stay those of the author.
"""

from __future__ import annotations

import ast
import symtable
from functools import lru_cache
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from types import CodeType
from typing import NamedTuple

# Code in a loop comes again and again; compiling costs more than most of it takes to run.
_PROGRAMS_KEPT = 64
# No name an author can write, and the one tracebacks show for code outside functions.
BODY = "<module>"
RETURN_OUTSIDE = "'return' outside function"


class CompiledCode(NamedTuple):
    """`has_body`: running `code` defines the function BODY, which does the work and returns."""

    code: CodeType
    defines_main: bool
    has_body: bool


@lru_cache(_PROGRAMS_KEPT)
def compiled(source: str | bytes, filename: str) -> CompiledCode:
    """Raises what the compiler raises: SyntaxError, ValueError and for monstrous code worse."""
    tree = ast.parse(source, filename)
    defines_main = _binds_main(source, filename)
    try:
        return CompiledCode(_code(tree, filename), defines_main, has_body=False)
    except SyntaxError as problem:
        if problem.msg != RETURN_OUTSIDE:
            raise
    # Compiling may change a tree, so the second attempt gets one of its own.
    tree = ast.parse(source, filename)
    return CompiledCode(_with_body(tree, filename), defines_main, has_body=True)


def _code(tree: ast.Module, filename: str) -> CodeType:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code: CodeType = compile(tree, filename, "exec", flags=flags, dont_inherit=True)
    return code


def _binds_main(source: str | bytes, filename: str) -> bool:
    try:
        table = symtable.symtable(source, filename, "exec")  # type: ignore[arg-type]
        symbol = table.lookup("main")
    except KeyError:
        return False
    return symbol.is_assigned() or symbol.is_imported()


def _with_body(tree: ast.Module, filename: str) -> CodeType:
    """The module as one function in which every name is global, as it is outside functions."""
    try:
        return _as_function(tree, filename, "def f(): pass")
    except SyntaxError as problem:
        try:
            return _as_function(tree, filename, "async def f(): pass")
        except SyntaxError:
            raise problem from None


def _as_function(tree: ast.Module, filename: str, template: str) -> CodeType:
    start = _length_of_preamble(tree.body)
    (function,) = ast.parse(template).body
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    function.name = BODY
    function.body = [_Unannotated().visit(statement) for statement in tree.body[start:]]
    module = ast.Module([*tree.body[:start], function], type_ignores=[])
    names = _local_names(_code(module, filename))
    if names:
        function.body.insert(0, ast.copy_location(ast.Global(names), function))
    return _code(module, filename)


def _length_of_preamble(body: list[ast.stmt]) -> int:
    """How many statements stay outside: a docstring and imports, some of which have to."""
    for number, statement in enumerate(body):
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_import and not is_text:
            return number
    return len(body)


def _local_names(module: CodeType) -> list[str]:
    inner = (const for const in module.co_consts if isinstance(const, CodeType))
    body = next(code for code in inner if code.co_name == BODY)
    if body.co_flags & (CO_GENERATOR | CO_ASYNC_GENERATOR):
        raise SyntaxError("'yield' outside function")
    return [*body.co_varnames, *body.co_cellvars]


class _Unannotated(ast.NodeTransformer):
    """`x: int = 1` as `x = 1`: an annotated name cannot be declared global."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return node
        plain = ast.Assign([node.target], node.value) if node.value else ast.Pass()
        return ast.copy_location(plain, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node
