"""Compile texts that have something to compute: parse them, and make closures of their trees.

With it come the parser, the compiler and every filter, most of this package. `template.py` imports
it for the first such text, so that a document whose texts are all plain starts without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from anew.expressions import syntax
from anew.expressions.compile import TemplateCompiler
from anew.expressions.evaluation import Evaluation, Run
from anew.expressions.limits import OPERATIONS_FREE, TemplateLimits
from anew.expressions.parse import parse_expression
from anew.expressions.problems import ExpressionError, OperationError
from anew.expressions.reads import literal
from anew.expressions.scope import Scope
from anew.expressions.statements import parse_statements
from anew.expressions.template import Template
from anew.expressions.text import text_run
from anew.expressions.tokens import scan_expression, scan_template
from anew.values import Value


def expression_template(text: str, limits: TemplateLimits) -> Template:
    """A bare expression, without braces."""
    with _bounded_stack(text):
        tree = parse_expression(text, scan_expression(text, limits), depth_max=limits.depth_max)
        return _of_expression(text, tree, limits)


def text_template(text: str, limits: TemplateLimits) -> Template:
    """A text with marks in it; one `{{ expression }}` and nothing else keeps its type."""
    with _bounded_stack(text):
        return _of_statements(text, _statements(text, limits), limits)


def condition_template(text: str, limits: TemplateLimits) -> Template:
    """As `text_template`, but white space around `{{ expression }}` does not make it a text."""
    with _bounded_stack(text):
        statements = _statements(text, limits)
        outputs = [s for s in statements if not (isinstance(s, syntax.Text) and s.text.isspace())]
        if len(outputs) == 1:
            return _of_statements(text, tuple(outputs), limits)
        return _of_statements(text, statements, limits)


def _statements(text: str, limits: TemplateLimits) -> tuple[syntax.Statement, ...]:
    return parse_statements(text, scan_template(text, limits), depth_max=limits.depth_max)


@contextmanager
def _bounded_stack(source: str) -> Iterator[None]:
    """A caller that is deep in its own calls may leave too little stack to compile in."""
    try:
        yield
    except RecursionError as error:
        message = "nested too deeply for the stack that is left"
        raise ExpressionError(message, source=source, offset=0) from error


def _of_statements(
    source: str, statements: tuple[syntax.Statement, ...], limits: TemplateLimits
) -> Template:
    # With a comment beside it, an expression is part of a text.
    is_alone = len(statements) == 1 and "{#" not in source
    if is_alone and isinstance(statements[0], syntax.Output):
        return _of_expression(source, statements[0].expression, limits)
    compiler = TemplateCompiler(source, statements, limits)
    return Template(source, _start(compiler, text_run(compiler, statements)), reads=compiler.reads)


def _of_expression(source: str, tree: syntax.Expression, limits: TemplateLimits) -> Template:
    try:
        return Template(source, None, constant=literal(tree))
    except OperationError:
        compiler = TemplateCompiler(source, [tree], limits)
    return Template(source, _start(compiler, compiler.compile(tree)), reads=compiler.reads)


def _start(compiler: TemplateCompiler, run: Run) -> Callable[[Scope], Value]:
    if not compiler.is_counted:
        # It uses no more of an Evaluation than a scope has.
        return cast(Callable[[Scope], Value], run)
    limits = compiler.limits
    granted = min(OPERATIONS_FREE, limits.operations_max)
    return lambda scope: run(Evaluation(scope, limits, granted))
