"""What is known of a template or a condition before any run: its value, its truth, if it can fail.

A value that depends on nothing but the workload is known. A condition may be anything unless what
is known of the outcome or the event decides it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from anew.expressions import (
    DEFAULT_LIMITS,
    UNDEFINED,
    Condition,
    ExpressionError,
    ProbeScope,
    Template,
    compile_value,
    syntax,
)
from anew.expressions.parse import parse_expression
from anew.expressions.problems import OperationError
from anew.expressions.reads import chain_of, literal
from anew.expressions.statements import parse_statements
from anew.expressions.tokens import scan_expression, scan_template
from anew.values import Object, Value, is_number


class _Unknown:
    """Stands for a value that only a run can tell."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()
# What is known of paths: a value, or UNDEFINED for a path that leads nowhere, and all below it.
Facts: TypeAlias = Mapping[tuple[str, ...], Value]

_TREES_MAX = 10_000
_ORDERS: Mapping[str, Callable[[Value, Value], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Workload(Struct, frozen=True):
    """What is known of a run's workload. A caller may give it any value for the keys in `open`."""

    values: Object
    open: frozenset[str] = frozenset()
    is_open: bool = False

    def knows(self, template: Template) -> bool:
        """Whether all the template reads of the workload is known."""
        if not self.open and not self.is_open:
            return True
        read = [path for path in template.paths if path[0] == "workload"]
        if self.is_open or ("workload" in template.names and not read):
            return not read and "workload" not in template.names
        return all(len(path) > 1 and path[1] not in self.open for path in read)


def value_known(template: Template, workload: Workload) -> Value | _Unknown:
    """The value every run with this workload will find, UNDEFINED included; else UNKNOWN."""
    if not workload.knows(template):
        return UNKNOWN
    probe = ProbeScope({"workload": workload.values})
    try:
        value = template.evaluate(probe)
    except ExpressionError:
        return UNKNOWN
    return UNKNOWN if probe.is_unsure else value


def inputs_known(inputs: Template, workload: Workload) -> Object:
    """The inputs of a task that are known, by name; one that a run has to tell is UNKNOWN."""
    whole = value_known(inputs, workload)
    if isinstance(whole, dict):
        return whole
    if not isinstance(inputs.source, Mapping):
        return {}
    return {key: part_known(part, workload) for key, part in inputs.source.items()}


def part_known(source: Value, workload: Workload) -> Value | _Unknown:
    """The value of a part of inputs; what the workload does not give may yet be given."""
    try:
        value = value_known(compile_value(source), workload)
    except ExpressionError:
        return UNKNOWN
    return UNKNOWN if value is UNDEFINED else value


def truth_of(condition: Condition | None, facts: Facts) -> bool | None:
    """Whether it holds whatever else is true; None when that depends. No condition holds."""
    if condition is None:
        return True
    if condition.is_constant:
        return condition.holds(ProbeScope({"workload": {}}))
    tree = _tree(condition.source)
    return None if tree is None else _truth(tree, facts)


def may_raise(template: Template | Condition | None) -> bool:
    """Whether evaluating it can go wrong. Reading data and comparing for equality cannot."""
    if template is None or template.is_constant:
        return False
    if isinstance(template.source, Mapping | list):
        return True
    tree = _tree(template.source)
    if tree is None:
        # A text without marks that is no expression stands for code of ours, as graphs have it.
        return any(mark in str(template.source) for mark in ("{{", "{%"))
    return not _is_safe(tree)


@lru_cache(maxsize=_TREES_MAX)
def _tree(source: Value) -> syntax.Expression | None:
    """The one expression a text is; None where it is something else."""
    if not isinstance(source, str):
        return None
    depth = DEFAULT_LIMITS.depth_max
    try:
        if "{%" not in source and "{{" not in source:
            return parse_expression(source, scan_expression(source), depth_max=depth)
        parts = parse_statements(source, scan_template(source), depth_max=depth)
    except (ExpressionError, RecursionError):
        return None
    shown = [part for part in parts if not (isinstance(part, syntax.Text) and part.text.isspace())]
    is_one = len(shown) == 1 and isinstance(shown[0], syntax.Output)
    return shown[0].expression if is_one else None  # type: ignore[union-attr]


def _truth(tree: syntax.Expression, facts: Facts) -> bool | None:
    match tree:
        case syntax.Logic():
            return _logic(tree, facts)
        case syntax.Negation():
            inner = _truth(tree.target, facts)
            return None if inner is None else not inner
        case syntax.ComparisonChain():
            return _comparison(tree, facts)
        case syntax.Constant():
            return tree.value if isinstance(tree.value, bool) else None
        case _:
            value = _fact(tree, facts)
            if value is UNDEFINED or value is None:
                return False
            return value if isinstance(value, bool) else None


def _logic(tree: syntax.Logic, facts: Facts) -> bool | None:
    parts = [_truth(part, facts) for part in tree.parts]
    decides = tree.operator == "or"
    if decides in parts:
        return decides
    return None if None in parts else not decides


def _comparison(tree: syntax.ComparisonChain, facts: Facts) -> bool | None:
    if len(tree.links) != 1:
        return None
    sign, left = tree.links[0].operator, _fact(tree.left, facts)
    try:
        right = literal(tree.links[0].right)
    except OperationError:
        return None
    if left is UNKNOWN:
        return None
    match sign:
        case "==":
            return bool(left == right)
        case "!=":
            return bool(left != right)
        case "in" if isinstance(right, list):
            return left in right
        case "not in" if isinstance(right, list):
            return left not in right
        case "<" | "<=" | ">" | ">=" if left is UNDEFINED:
            return False
        case _ if is_number(left) and is_number(right):
            return _ORDERS[sign](left, right) if sign in _ORDERS else None
        case _:
            return None


def _fact(tree: syntax.Expression, facts: Facts) -> Value | _Unknown:
    root, keys = chain_of(tree)
    if not isinstance(root, syntax.Name):
        return UNKNOWN
    path = (root.name, *map(str, keys))
    if path in facts:
        return facts[path]
    above = (path[:length] for length in range(1, len(path)))
    return UNDEFINED if any(facts.get(part, 0) in (None, UNDEFINED) for part in above) else UNKNOWN


def _is_safe(tree: syntax.Expression) -> bool:
    match tree:
        case syntax.Constant() | syntax.Name():
            return True
        case syntax.GetAttribute():
            return _is_safe(tree.target)
        case syntax.Negation():
            return _is_safe(tree.target)
        case syntax.Logic():
            return all(map(_is_safe, tree.parts))
        case syntax.ComparisonChain():
            return _is_safe(tree.left) and all(_is_safe_link(link) for link in tree.links)
        case _:
            return False


def _is_safe_link(link: syntax.Comparison) -> bool:
    if link.operator in ("==", "!="):
        return _is_safe(link.right)
    if link.operator not in ("in", "not in") or not isinstance(link.right, syntax.ListOf):
        return False
    return all(map(_is_safe, link.right.items))
