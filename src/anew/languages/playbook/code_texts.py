"""Judge what a task says about its Python code: `libs`, and templates inside the code.

Code is never rendered, so a template in it stays text, or does not even compile. Whether braces are
meant as a template shows by Python's grammar and by the names in them. Executes nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from anew.expressions import ExpressionError, compile_template
from anew.languages.nodes import Entry, ListNode, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation

_TEMPLATE = re.compile(r"\{\{(?P<inside>[^{}]*)\}\}")
# What a template in an f-string is to Python, which takes each two braces for one.
_HALVED = re.compile(r"(?<!\{)\{(?P<inside>[^{}]*[.\[(|][^{}]*)\}(?!\})")
_STATEMENT = re.compile(r"\{%.*?%\}", re.DOTALL)
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")
_PATH = re.compile(r"[^\W\d]\w*(\.\w+)*\Z")
_FORMATTING = frozenset({"format", "format_map"})
_LIBS_FORM = "Write `libs: {pd: pandas}`, or `libs: {name: {from: module, import: name}}`."
_UNCOMPILABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class _Found(Struct, frozen=True):
    """A template in code; `is_sure` where it can be nothing else.

    `is_halved`: in an f-string, where two braces are meant for one, as a rule.
    """

    text: str
    line: int
    is_sure: bool
    is_halved: bool = False


def check_libs(c: Compilation, entry: Entry | None) -> None:
    """Report what cannot be imported by anybody, and lists, which other runtimes install."""
    if entry is None or is_null(entry.node):
        return
    if isinstance(entry.node, ListNode):
        message = "`libs` as a list of packages has no effect: Anew installs nothing"
        c.report("key.without-effect", entry.place, message, _LIBS_FORM)
    elif not isinstance(entry.node, MapNode):
        message = "`libs` must be a mapping of names to modules, or the task will fail"
        c.report("tool.input", entry.node.span, message, _LIBS_FORM)
    else:
        for lib in entry.node:
            if not lib.key.isidentifier() or not _is_library(lib.node):
                message = f"`libs.{lib.key}` names no module, which fails the task"
                c.report("tool.input", lib.place, message, _LIBS_FORM)


def _is_library(node: Node) -> bool:
    if isinstance(node, MapNode):
        parts = [node.get(key) for key in ("from", "import")]
        return len(node.entries) == 2 and all(p is not None and _is_module(p.node) for p in parts)
    return _is_module(node)


def _is_module(node: Node) -> bool:
    return isinstance(node, ScalarNode) and _MODULE.match(node.text) is not None


def check_code_texts(c: Compilation, known: Mapping[str, frozenset[str]]) -> None:
    """Refuse templates in code, where they stay as they are; `known` are the names by step."""
    for code in c.codes:
        for found in _templates_in(code.node.text):
            is_known = _reads_known(found.text, known.get(code.step, known[""]))
            if found.is_halved and not is_known:
                continue
            if found.is_sure or (is_known and not found.is_halved):
                message = (
                    f"{found.text} is in Python code (line {found.line}), which is not rendered"
                )
                c.report("code.template", code.node.span, message, _remedy(found.text))
                break
            end = "which is not rendered" if found.is_halved else "and stays as it is"
            what = (
                f"an f-string (line {found.line}),"
                if found.is_halved
                else (f"Python code (line {found.line})")
            )
            message = f"{found.text} is in {what} {end}"
            c.report("code.braces", code.node.span, message, _remedy(found.text))


def _templates_in(code: str) -> Iterator[_Found]:
    if "{{" not in code and "{%" not in code:
        return
    try:
        tree = ast.parse(code)
    except _UNCOMPILABLE:
        yield from _breaking(code)
        return
    skipped = {id(node) for holder in ast.walk(tree) for node in _not_meant(holder)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield from _halved(node)
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Set) and len(node.elts) == 1 and _is_unhashable(node.elts[0]):
            text = ast.get_source_segment(code, node) or "{{ … }}"
            yield _Found(text, node.lineno, is_sure=True)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for match in _TEMPLATE.finditer(node.value):
                yield _Found(match.group(), node.lineno, is_sure=False)


def _halved(node: ast.JoinedStr) -> Iterator[_Found]:
    """What stands in double braces in an f-string."""
    for part in node.values:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            for match in _HALVED.finditer(part.value):
                yield _Found(f"{{{match.group()}}}", node.lineno, is_sure=False, is_halved=True)


def _breaking(code: str) -> Iterator[_Found]:
    """The template that keeps code from being Python: without templates, it is."""
    bare = _STATEMENT.sub("", _TEMPLATE.sub(lambda match: "_" * len(match.group()), code))
    try:
        ast.parse(bare)
    except _UNCOMPILABLE:
        return  # it has other problems, and the task says which
    for match in re.finditer(f"{_TEMPLATE.pattern}|{_STATEMENT.pattern}", code, re.DOTALL):
        line = code.count("\n", 0, match.start()) + 1
        yield _Found(match.group(), line, is_sure=True)
        return


def _is_unhashable(node: ast.expr) -> bool:
    """`{{ x }}` is a set with a set in it, which Python cannot make."""
    return isinstance(node, ast.Set | ast.Dict | ast.SetComp | ast.DictComp)


def _not_meant(node: ast.AST) -> Iterator[ast.AST]:
    """Texts in which braces mean something to Python, or nothing at all."""
    match node:
        case ast.JoinedStr():
            yield from (part for part in node.values if isinstance(part, ast.Constant))
        case ast.Expr(value=ast.Constant() as text):
            yield text
        case ast.Call(func=ast.Attribute(value=ast.Constant() as text, attr=attr)):
            if attr in _FORMATTING:
                yield text
        case _:
            pass


def _reads_known(text: str, known: frozenset[str]) -> bool:
    """Whether it computes something of what the document or the run provides."""
    try:
        template = compile_template(text)
    except ExpressionError:
        return False
    return template.names <= known and (bool(template.names) or "(" in text)


def _remedy(text: str) -> str:
    if text.startswith("{%"):
        return "Pass what it reads with `input`, and write it as Python: `if …:` or `for …:`."
    inside = text.strip("{} \n")
    name = inside.rpartition(".")[2] if _PATH.match(inside) else "value"
    name = name if name.isidentifier() else "value"
    return f'Pass it with `input: {{{name}: "{{{{ {inside} }}}}"}}`, and read `{name}` in the code.'
