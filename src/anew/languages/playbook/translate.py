"""Say an expression of an older dialect in the words of `policy`.

Works on tokens, so spacing, quoting and everything else an author wrote stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from anew.expressions import DEFAULT_LIMITS, ExpressionError, syntax
from anew.expressions.parse import parse_expression
from anew.expressions.tokens import CodePart, TemplateToken, scan_expression, scan_template

STRING = re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"", re.DOTALL)
_STRING_OR_BREAK = re.compile(rf"({STRING.pattern})|\s*\n\s*", re.DOTALL)
_ONE_EXPRESSION = re.compile(r"\{\{[-+]?(.*?)[-+]?\}\}", re.DOTALL)
_BOOLEAN_NODES = (syntax.ComparisonChain, syntax.Negation, syntax.Test)


class Untranslatable(Exception):
    """An expression reads something that has no name in the words of `policy`."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy


class Change(Struct, frozen=True):
    """Replace the characters from `start` to `end`."""

    start: int
    end: int
    text: str


Translator = Callable[[list[TemplateToken], str], Iterator[Change]]


def translate(text: str, translator: Translator, *, is_condition: bool = False) -> str:
    """The text with every expression in it translated."""
    if is_condition and "{{" not in text and "{%" not in text:
        lists = [scan_expression(text)]
    else:
        lists = [part.tokens for part in scan_template(text) if isinstance(part, CodePart)]
    changes = [change for tokens in lists for change in translator(tokens, text)]
    for change in sorted(changes, key=lambda found: found.start, reverse=True):
        text = text[: change.start] + change.text + text[change.end :]
    return text


def inner_expression(text: str) -> str | None:
    """The one expression a condition consists of; None when it is a longer text."""
    stripped = text.strip()
    if "{{" not in stripped and "{%" not in stripped:
        return stripped
    found = _ONE_EXPRESSION.fullmatch(stripped)
    return found.group(1).strip() if found and "{{" not in found.group(1) else None


def one_line(text: str) -> str:
    """A condition on one line, if it is nothing but an expression, where breaks mean nothing."""
    if inner_expression(text) is None:
        return text
    return _STRING_OR_BREAK.sub(lambda found: found.group(1) or " ", text.strip())


def as_operand(expression: str) -> str:
    """An expression that is true for the words of a retry block only, ready to follow `and`."""
    tree = _tree(expression)
    if not _is_boolean(tree):
        return f"(({expression}) | string | lower) in ['true', '1', 'yes']"
    is_loose = isinstance(tree, syntax.Logic) and tree.operator == "or"
    return f"({expression})" if is_loose else expression


def as_truth(expression: str) -> str:
    """An expression as a condition takes it, in brackets: true or false, and never a value."""
    return f"({expression})" if _is_boolean(_tree(expression)) else f"(({expression}) | bool)"


def is_joined(expression: str, operator: str) -> bool:
    """Whether an expression is one operand, or some that only this operator joins."""
    try:
        tree = _tree(expression)
    except ExpressionError:
        return False
    return not isinstance(tree, syntax.Logic) or tree.operator == operator


def _tree(expression: str) -> syntax.Expression:
    tokens = scan_expression(expression)
    return parse_expression(expression, tokens, depth_max=DEFAULT_LIMITS.depth_max)


def _is_boolean(node: syntax.Expression) -> bool:
    if isinstance(node, syntax.Logic):
        return all(_is_boolean(part) for part in node.parts)
    if isinstance(node, syntax.Constant):
        return isinstance(node.value, bool)
    return isinstance(node, _BOOLEAN_NODES)
