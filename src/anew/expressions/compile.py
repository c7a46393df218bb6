"""Compile syntax trees of expressions into closures, and note what they read.

Decides how each node is computed, with short ways for the usual shapes. The closures are given
an Evaluation, or a bare scope where nothing has to be counted (see `evaluation.Run`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from anew.expressions import syntax
from anew.expressions.calling import invocation
from anew.expressions.comparing import (
    chain,
    comparison,
    counted_comparison,
    lone_comparison,
    pair_comparison,
)
from anew.expressions.constants import ABSENT
from anew.expressions.evaluation import Evaluation, Run, evaluation_of
from anew.expressions.filters import FILTERS
from anew.expressions.functions import FUNCTIONS
from anew.expressions.limits import BULK, TemplateLimits
from anew.expressions.lookup import chain_reader, cut, local_reader, look_up, path_reader
from anew.expressions.methods import METHOD_NAMES, method_of, methods_named
from anew.expressions.operators import ARITHMETIC, SIGNS
from anew.expressions.predicates import PREDICATES
from anew.expressions.problems import (
    COMPUTING_ERRORS,
    ExpressionError,
    OperationError,
    Placed,
    reason,
    unknown,
)
from anew.expressions.reads import Reads, chain_of, name_of
from anew.expressions.rendering import check_chars, kind, to_text
from anew.expressions.signature import Callee
from anew.expressions.survey import TemplateSurvey
from anew.expressions.undefined import UNDEFINED, plain
from anew.values import Value


class TemplateCompiler:
    """Compiles the expressions of one template; `reads` grows as it goes."""

    def __init__(self, source: str, nodes: Iterable[syntax.Node], limits: TemplateLimits) -> None:
        self.source = source
        self.limits = limits
        self.reads = Reads()
        # Names that statements have set at the point that is being compiled, and those of
        # them that every way to this point has set.
        self.locals: frozenset[str] = frozenset()
        self.sure_locals: frozenset[str] = frozenset()
        self.survey = TemplateSurvey(nodes)
        self.is_counted = self.survey.is_counted

    def compile(self, node: syntax.Expression) -> Run:
        return _COMPILE[type(node)](self, node)

    def error(self, message: str, at: int) -> ExpressionError:
        return ExpressionError(message, source=self.source, offset=at)

    def placed(self, at: int) -> Placed:
        """Makes what went wrong while computing the error of this place."""
        source = self.source
        return lambda error: ExpressionError(reason(error), source=source, offset=at)

    # Values and where they come from

    def constant(self, node: syntax.Constant) -> Run:
        return _constantly(node.value)

    def name(self, node: syntax.Name) -> Run:
        name = node.name
        if name in self.sure_locals:
            return lambda rt: rt.locals[name]
        if name in self.locals:
            return lambda rt: _local(rt, name)
        self.reads.add_path(name, ())
        return lambda rt: rt.get(name)

    def attribute(self, node: syntax.GetAttribute) -> Run:
        root, keys = chain_of(node)
        if isinstance(root, syntax.Name) and root.name not in self.locals:
            self.reads.add_path(root.name, keys)
            return path_reader(root.name, keys)
        if isinstance(root, syntax.Name) and root.name in self.sure_locals and len(keys) == 1:
            return local_reader(root.name, keys[0])
        return chain_reader(self.compile(root), keys)

    def item(self, node: syntax.GetItem) -> Run:
        target, index = self.compile(node.target), self.compile(node.index)
        placed, limits = self.placed(node.at), self.limits

        def run(rt: Evaluation) -> Value:
            value, key = target(rt), index(rt)
            if type(key) is str and len(key) >= BULK:
                try:
                    # Held against the key that is there, character by character.
                    evaluation_of(rt, limits).spend_bulk(len(key))
                except OperationError as error:
                    raise placed(error) from error
            return look_up(value, key)

        return run

    def slice(self, node: syntax.Slice) -> Run:
        target, placed = self.compile(node.target), self.placed(node.at)
        given = (node.start, node.stop, node.step)
        bounds = [_constantly(None) if bound is None else self.compile(bound) for bound in given]
        limits = self.limits

        def run(rt: Evaluation) -> Value:
            value, (start, stop, step) = target(rt), [bound(rt) for bound in bounds]
            try:
                piece = cut(value, start, stop, step)
                if piece and len(piece) >= BULK:
                    evaluation_of(rt, limits).spend_bulk(len(piece))
                return piece
            except COMPUTING_ERRORS as error:
                raise placed(error) from error

        return run

    def list_of(self, node: syntax.ListOf) -> Run:
        constant = self.survey.constants.of(node)
        if constant is not ABSENT:
            return _constantly(constant)
        items = [self.compile(item) for item in node.items]
        return lambda rt: [plain(item(rt)) for item in items]

    def dict_of(self, node: syntax.DictOf) -> Run:
        constant = self.survey.constants.of(node)
        if constant is not ABSENT:
            return _constantly(constant)
        pairs = [(self.compile(key), self.compile(value)) for key, value in node.pairs]
        placed, limits = self.placed(node.at), self.limits

        def run(rt: Evaluation) -> Value:
            made = {}
            for key, value in pairs:
                name = key(rt)
                try:
                    _check_key(rt, name, limits)
                except OperationError as error:
                    raise placed(error) from error
                made[str(name)] = plain(value(rt))
            return made

        return run

    # Logic and comparison

    def choice(self, node: syntax.Choice) -> Run:
        then, condition = self.compile(node.then), self.compile(node.condition)
        otherwise = self.compile(node.otherwise) if node.otherwise else _constantly(UNDEFINED)
        return lambda rt: then(rt) if condition(rt) else otherwise(rt)

    def not_(self, node: syntax.Negation) -> Run:
        target = self.compile(node.target)
        return lambda rt: not target(rt)

    def logic(self, node: syntax.Logic) -> Run:
        parts = [self.compile(part) for part in node.parts]
        first, second = parts[0], parts[1]
        if parts[2:]:
            return _any_of(parts) if node.operator == "or" else _all_of(parts)
        if node.operator == "or":
            return lambda rt: first(rt) or second(rt)
        return lambda rt: first(rt) and second(rt)

    def compare(self, node: syntax.ComparisonChain) -> Run:
        left = node.left
        for link in node.links:
            self.reads.add_comparison(link.operator, left, link.right)
            left = link.right
        if len(node.links) == 1:
            return self._comparison(node.left, node.links[0])
        return self._chain(node)

    def _comparison(self, first: syntax.Expression, link: syntax.Comparison) -> Run:
        left, right, placed = self.compile(first), self.compile(link.right), self.placed(link.at)
        if not self.survey.is_narrow(first, link):
            wide = counted_comparison if self.is_counted else lone_comparison
            return wide(link.operator, left, right, placed, self.limits)
        constant = self.survey.constants.of(link.right)
        if constant is ABSENT:
            return comparison(link.operator, left, right, placed)
        return comparison(link.operator, left, right, placed, (constant,))

    def _chain(self, node: syntax.ComparisonChain) -> Run:
        links = [
            (self.compile(link.right), pair_comparison(link.operator, self.placed(link.at)))
            for link in node.links
        ]
        return chain(self.compile(node.left), links, is_counted=self.is_counted)

    # Computing

    def arithmetic(self, node: syntax.Arithmetic) -> Run:
        left, right = self.compile(node.left), self.compile(node.right)
        operate, placed = ARITHMETIC[node.operator], self.placed(node.at)

        def run(rt: Evaluation) -> Value:
            one, two = left(rt), right(rt)
            try:
                return operate(rt, one, two)
            except COMPUTING_ERRORS as error:
                problem = _missing(node.operator, (one, node.left), (two, node.right)) or error
                raise placed(problem) from error

        return run

    def sign(self, node: syntax.Sign) -> Run:
        target, operate = self.compile(node.target), SIGNS[node.operator]
        placed = self.placed(node.at)

        def run(rt: Evaluation) -> Value:
            value = target(rt)
            try:
                return operate(rt, value)
            except COMPUTING_ERRORS as error:
                raise placed(_missing(node.operator, (value, node.target)) or error) from error

        return run

    def concat(self, node: syntax.Concat) -> Run:
        parts, placed = [self.compile(part) for part in node.parts], self.placed(node.at)
        limits = self.limits

        def run(rt: Evaluation) -> Value:
            values = [part(rt) for part in parts]
            texts, size = [], 0
            try:
                for value in values:
                    text = to_text(value, limits)
                    size += len(text)
                    check_chars(size, limits)
                    texts.append(text)
                if size >= BULK:
                    evaluation_of(rt, limits).spend_bulk(size)
                return "".join(texts)
            except COMPUTING_ERRORS as error:
                raise placed(error) from error

        return run

    # Calling what has a name

    def function(self, node: syntax.FunctionCall) -> Run:
        callee = self._callee(FUNCTIONS, "function", node.function, node)
        self.reads.calls.add(node.function)
        return self._invocation(callee.call, (), node)

    def filter(self, node: syntax.Filter) -> Run:
        callee = self._callee(FILTERS, "filter", node.name, node)
        if self.survey.is_plain_default(node):
            return self._default(node)
        self._check_named_operation(node)
        return self._invocation(callee.call, (self.compile(node.target),), node)

    def test(self, node: syntax.Test) -> Run:
        callee = self._callee(PREDICATES, "test", node.name, node)
        target = self.compile(node.target)
        if node.name == "defined":
            return lambda rt: target(rt) is not UNDEFINED
        return self._invocation(callee.call, (target,), node)

    def method(self, node: syntax.Method) -> Run:
        if node.name not in METHOD_NAMES:
            raise self.error(unknown("method", node.name, METHOD_NAMES), node.at)
        for callee in methods_named(node.name):
            self._check_arguments(callee, node)
        name = node.name

        def call(rt: Evaluation, value: Value, *arguments: Value, **named: Value) -> Value:
            return method_of(value, name).call(rt, value, *arguments, **named)

        return self._invocation(call, (self.compile(node.target),), node)

    def _default(self, node: syntax.Filter) -> Run:
        """`x | default(y)` is so common that it costs no call, and `y` only when needed."""
        target = self.compile(node.target)
        given = node.arguments.positional
        fallback = self.compile(given[0]) if given else _constantly("")
        also_false = len(given) > 1 and bool(self.survey.constants.of(given[1]))

        def run(rt: Evaluation) -> Value:
            value = target(rt)
            if value is UNDEFINED or (also_false and not value):
                return fallback(rt)
            return value

        return run

    def _callee(
        self,
        table: dict[str, Callee],
        what: str,
        name: str,
        node: syntax.FunctionCall | syntax.Filter | syntax.Test,
    ) -> Callee:
        callee = table.get(name)
        if callee is None:
            raise self.error(unknown(what, name, table), node.at)
        self._check_arguments(callee, node)
        return callee

    def _check_arguments(
        self,
        callee: Callee,
        node: syntax.FunctionCall | syntax.Filter | syntax.Test | syntax.Method,
    ) -> None:
        names = tuple(name for name, _ in node.arguments.named)
        try:
            callee.check(len(node.arguments.positional), names)
        except OperationError as error:
            raise self.error(str(error), node.at) from error

    def _check_named_operation(self, node: syntax.Filter) -> None:
        """`map('uper')` and `selectattr('a', 'eqal')` are found before they run."""
        places = {"map": 0, "select": 0, "reject": 0, "selectattr": 1, "rejectattr": 1}
        position, given = places.get(node.name), node.arguments.positional
        if position is None or len(given) <= position:
            return
        table, what = (FILTERS, "filter") if node.name == "map" else (PREDICATES, "test")
        named = given[position]
        if isinstance(named, syntax.Constant) and named.value not in table:
            raise self.error(unknown(what, str(named.value), table), named.at)

    def _invocation(
        self,
        call: Callable[..., Value],
        leading: tuple[Run, ...],
        node: syntax.FunctionCall | syntax.Filter | syntax.Test | syntax.Method,
    ) -> Run:
        inputs = [*leading, *(self.compile(argument) for argument in node.arguments.positional)]
        named = [(name, self.compile(value)) for name, value in node.arguments.named]
        return invocation(call, inputs, named, self.placed(node.at))


def _missing(sign: str, *operands: tuple[Value, syntax.Expression]) -> OperationError | None:
    """Names the operand that is undefined, which is what computing fails of most."""
    for value, node in operands:
        if value is UNDEFINED:
            name = name_of(node)
            who = "a value" if name is None else repr(name)
            return OperationError(f"{who} is undefined, {sign!r} needs a value. Use default(…)")
    return None


def _check_key(rt: Evaluation, name: Value, limits: TemplateLimits) -> None:
    """Refuses what cannot be a key; a long one is held against others, which is paid for."""
    if not isinstance(name, str):
        raise OperationError(f"a key must be a text, found {kind(name)}")
    if len(name) >= BULK:
        evaluation_of(rt, limits).spend_bulk(len(name))


def _local(rt: Evaluation, name: str) -> Value:
    # A set inside an if that was not taken leaves the name to the scope.
    value = rt.locals.get(name, ABSENT)
    return rt.get(name) if value is ABSENT else value


def _any_of(parts: list[Run]) -> Run:
    def run(rt: Evaluation) -> Value:
        value = None
        for part in parts:
            value = part(rt)
            if value:
                break
        return value

    return run


def _all_of(parts: list[Run]) -> Run:
    def run(rt: Evaluation) -> Value:
        value = None
        for part in parts:
            value = part(rt)
            if not value:
                break
        return value

    return run


def _constantly(value: Value) -> Run:
    return lambda _: value


_COMPILE: dict[type, Callable[[TemplateCompiler, Any], Run]] = {
    syntax.Constant: TemplateCompiler.constant,
    syntax.Name: TemplateCompiler.name,
    syntax.GetAttribute: TemplateCompiler.attribute,
    syntax.GetItem: TemplateCompiler.item,
    syntax.Slice: TemplateCompiler.slice,
    syntax.ListOf: TemplateCompiler.list_of,
    syntax.DictOf: TemplateCompiler.dict_of,
    syntax.Choice: TemplateCompiler.choice,
    syntax.Negation: TemplateCompiler.not_,
    syntax.Logic: TemplateCompiler.logic,
    syntax.ComparisonChain: TemplateCompiler.compare,
    syntax.Arithmetic: TemplateCompiler.arithmetic,
    syntax.Sign: TemplateCompiler.sign,
    syntax.Concat: TemplateCompiler.concat,
    syntax.FunctionCall: TemplateCompiler.function,
    syntax.Filter: TemplateCompiler.filter,
    syntax.Test: TemplateCompiler.test,
    syntax.Method: TemplateCompiler.method,
}
