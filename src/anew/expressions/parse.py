"""Parse the tokens of one expression into its syntax tree.

Precedence and associativity are Jinja's, also where they differ from Python's: `-2 ** 2` is 4 and
`2 ** 3 ** 2` is 64. Does not know which filters, tests and functions exist.
"""

from __future__ import annotations

from collections.abc import Iterator

from anew.expressions.problems import ExpressionError
from anew.expressions.syntax import (
    Arguments,
    Arithmetic,
    Choice,
    Comparison,
    ComparisonChain,
    Concat,
    Constant,
    DictOf,
    Expression,
    Filter,
    FunctionCall,
    GetAttribute,
    GetItem,
    ListOf,
    Logic,
    Method,
    Name,
    Negation,
    Sign,
    Slice,
    Test,
    height,
)
from anew.expressions.tokens import TemplateToken

_WORDS = frozenset({"and", "or", "not", "if", "else", "in", "is"})
_CONSTANTS = {
    "true": True, "True": True, "false": False, "False": False, "none": None, "None": None,
}  # fmt: skip
# How tightly operators bind, from loose to tight.
_LOOSEST, _NOT, _COMPARING = 1, 3, 4
_BINDING = {
    "or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "not in": 4,
    "+": 5, "-": 5, "~": 6, "*": 7, "/": 7, "//": 7, "%": 7, "**": 8,
}  # fmt: skip
# Tests that are comparisons spelled as words become comparisons.
_COMPARING_TESTS = {
    "eq": "==", "equalto": "==", "ne": "!=", "lt": "<", "lessthan": "<", "le": "<=",
    "gt": ">", "greaterthan": ">", "ge": ">=", "in": "in",
}  # fmt: skip
_LITERALS = frozenset({"name", "string", "int", "float"})


class ExpressionParser:
    """Reads one expression after another from a list of tokens."""

    def __init__(self, source: str, tokens: list[TemplateToken], *, depth_max: int) -> None:
        self.source = source
        self.tokens = tokens
        self.position = 0
        self.depth = 0
        self.depth_max = depth_max

    # Reading tokens

    @property
    def current(self) -> TemplateToken:
        return self.tokens[self.position]

    def advance(self) -> TemplateToken:
        token = self.tokens[self.position]
        if token.kind != "end":
            self.position += 1
        return token

    def at_operator(self, *operators: str) -> bool:
        return self.current.kind == "operator" and self.current.value in operators

    def at_word(self, *words: str) -> bool:
        return self.current.kind == "name" and self.current.value in words

    def take_operator(self, operator: str) -> bool:
        taken = self.at_operator(operator)
        self.position += taken
        return taken

    def take_word(self, word: str) -> bool:
        taken = self.at_word(word)
        self.position += taken
        return taken

    def expect_operator(self, operator: str) -> None:
        if not self.take_operator(operator):
            raise self.unexpected(f"expected {operator!r}")

    def expect_name(self, what: str) -> TemplateToken:
        if self.current.kind != "name" or self.current.value in _WORDS:
            raise self.unexpected(f"expected {what}")
        return self.advance()

    def expect_end(self) -> None:
        if self.current.kind != "end":
            raise self.unexpected("expected the end")

    def error(self, message: str, at: int) -> ExpressionError:
        return ExpressionError(message, source=self.source, offset=at)

    def unexpected(self, expected: str) -> ExpressionError:
        token = self.current
        found = "the end" if token.kind == "end" else repr(token.value)
        return self.error(f"{expected}, found {found}", token.at)

    # The grammar, from loose to tight

    def whole(self) -> Expression:
        """An expression, or several with commas between them, to the end of the tokens."""
        expression = self.expression_list()
        self.expect_end()
        return expression

    def expression_list(self) -> Expression:
        """As `whole`, for what goes on behind it."""
        return self.bounded(self._list())

    def _list(self) -> Expression:
        at = self.current.at
        first = self.expression()
        if not self.at_operator(","):
            return first
        items = [first]
        while self.take_operator(",") and not self._at_list_end():
            items.append(self.expression())
        return ListOf(tuple(items), at)

    def _at_list_end(self) -> bool:
        return self.current.kind == "end" or self.at_operator(")", "=")

    def bounded(self, expression: Expression) -> Expression:
        """`expression`, unless chains such as `a.b.c` or `1 + 1 + 1` made it too deep."""
        if height(expression) > self.depth_max:
            raise self.too_deep(expression.at)
        return expression

    def too_deep(self, at: int) -> ExpressionError:
        return self.error(f"nested more than {self.depth_max} deep", at)

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > self.depth_max:
            raise self.too_deep(self.current.at)
        then = self._binary(_LOOSEST)
        while self.at_word("if"):
            at = self.advance().at
            condition = self._binary(_LOOSEST)
            otherwise = self.expression() if self.take_word("else") else None
            then = Choice(then, condition, otherwise, at)
        self.depth -= 1
        return then

    def _binary(self, least: int) -> Expression:
        """Operands and the operators between them that bind at least as tightly as `least`.

        One function for all levels, so that a bracket costs few frames of Python's stack.
        """
        is_negated = least <= _NOT and self.at_word("not")
        left = self._negation() if is_negated else self._operand()
        while (operator := self._operator()) and _BINDING[operator] >= least:
            left = self._joined(left, operator)
        return left

    def _negation(self) -> Expression:
        places = []
        while self.at_word("not"):
            places.append(self.advance().at)
        expression = self._binary(_NOT + 1)
        for at in reversed(places):
            expression = Negation(expression, at)
        return expression

    def _operator(self) -> str | None:
        """The operator at hand, or None."""
        token = self.current
        if token.kind not in ("operator", "name"):
            return None
        if token.value == "not" and self.tokens[self.position + 1][:2] == ("name", "in"):
            return "not in"
        return token.value if token.value in _BINDING else None

    def _joined(self, left: Expression, operator: str) -> Expression:
        """`left operator …`; what chains or is flat takes all operators of its level."""
        binding, at = _BINDING[operator], self.current.at
        if binding == _COMPARING:
            return ComparisonChain(left, tuple(self._links()), at)
        if operator not in ("or", "and", "~"):
            self.advance()
            return Arithmetic(operator, left, self._binary(binding + 1), at)
        parts = [left]
        while self._operator() == operator:
            self.advance()
            parts.append(self._binary(binding + 1))
        if operator == "~":
            return Concat(tuple(parts), at)
        return Logic(operator, tuple(parts), at)

    def _links(self) -> Iterator[Comparison]:
        while (operator := self._operator()) and _BINDING[operator] == _COMPARING:
            at = self.advance().at
            if operator == "not in":
                self.advance()
            yield Comparison(operator, self._binary(_COMPARING + 1), at)

    def _operand(self) -> Expression:
        signs = []
        while self.at_operator("-", "+"):
            signs.append(self.advance())
        expression = self._postfix(self._primary())
        for token in reversed(signs):
            expression = Sign(token.value, expression, token.at)
        # A filter applies to the signed number: `-1 | abs` is 1.
        return self._filters(expression)

    # Literals, names and brackets

    def _primary(self) -> Expression:
        token = self.current
        if token.kind == "operator":
            return self._bracketed(token)
        if token.kind == "name" and token.value not in _WORDS:
            self.advance()
            if token.value in _CONSTANTS:
                return Constant(_CONSTANTS[token.value], token.at)
            return Name(token.value, token.at)
        if token.kind == "string":
            return self._string()
        if token.kind in ("int", "float"):
            return Constant(self.advance().value, token.at)
        raise self.unexpected("expected a value")

    def _string(self) -> Expression:
        at, texts = self.current.at, []
        while self.current.kind == "string":
            texts.append(self.advance().value)
        return Constant("".join(texts), at)

    def _bracketed(self, token: TemplateToken) -> Expression:
        if self.take_operator("("):
            inner = ListOf((), token.at) if self.at_operator(")") else self._list()
            self.expect_operator(")")
            return inner
        if self.take_operator("["):
            return ListOf(tuple(self._items("]")), token.at)
        if self.take_operator("{"):
            return self._dict(token.at)
        raise self.unexpected("expected a value")

    def _items(self, closing: str) -> list[Expression]:
        items: list[Expression] = []
        while not self.take_operator(closing):
            if items:
                self.expect_operator(",")
                if self.take_operator(closing):
                    break
            items.append(self.expression())
        return items

    def _dict(self, at: int) -> Expression:
        pairs: list[tuple[Expression, Expression]] = []
        while not self.take_operator("}"):
            if pairs:
                self.expect_operator(",")
                if self.take_operator("}"):
                    break
            key = self.expression()
            self.expect_operator(":")
            pairs.append((key, self.expression()))
        return DictOf(tuple(pairs), at)

    # What follows a value

    def _postfix(self, target: Expression) -> Expression:
        while True:
            token = self.current
            if self.take_operator("."):
                target = self._attribute(target, token.at)
            elif self.take_operator("["):
                target = self._subscript(target, token.at)
            elif self.take_operator("("):
                target = self._call(target, token.at)
            else:
                return target

    def _attribute(self, target: Expression, at: int) -> Expression:
        if self.current.kind not in ("name", "int"):
            raise self.unexpected("expected a key after '.'")
        return GetAttribute(target, self.advance().value, at)

    def _subscript(self, target: Expression, at: int) -> Expression:
        if self.at_operator(":"):
            return self._slice(target, None, at)
        index = self.expression()
        if self.at_operator(":"):
            return self._slice(target, index, at)
        self.expect_operator("]")
        if isinstance(index, Constant) and type(index.value) in (str, int):
            return GetAttribute(target, index.value, at)
        return GetItem(target, index, at)

    def _slice(self, target: Expression, start: Expression | None, at: int) -> Expression:
        self.expect_operator(":")
        stop = None if self.at_operator(":", "]") else self.expression()
        step = None
        if self.take_operator(":") and not self.at_operator("]"):
            step = self.expression()
        self.expect_operator("]")
        return Slice(target, start, stop, step, at)

    def _call(self, target: Expression, at: int) -> Expression:
        arguments = self._arguments()
        if isinstance(target, Name):
            return FunctionCall(target.name, arguments, target.at)
        if isinstance(target, GetAttribute) and isinstance(target.key, str):
            return Method(target.target, target.key, arguments, target.at)
        raise self.error("only functions and methods can be called", at)

    def _arguments(self) -> Arguments:
        """What is between the parentheses; the first has been read."""
        positional: list[Expression] = []
        named: dict[str, Expression] = {}
        is_first = True
        while not self.take_operator(")"):
            if not is_first:
                self.expect_operator(",")
                if self.take_operator(")"):
                    break
            is_first = False
            self._argument(positional, named)
        return Arguments(tuple(positional), tuple(named.items()))

    def _argument(self, positional: list[Expression], named: dict[str, Expression]) -> None:
        token = self.current
        if token.kind == "name" and self.tokens[self.position + 1][:2] == ("operator", "="):
            self.position += 2
            if token.value in named:
                raise self.error(f"argument {token.value!r} is given twice", token.at)
            named[token.value] = self.expression()
        elif named:
            raise self.error("arguments without a name come before those with one", token.at)
        else:
            positional.append(self.expression())

    def _filters(self, target: Expression) -> Expression:
        while True:
            if self.take_operator("|"):
                token = self.expect_name("the name of a filter")
                arguments = self._arguments() if self.take_operator("(") else Arguments()
                target = Filter(target, token.value, arguments, token.at)
            elif self.take_word("is"):
                target = self._test(target)
            else:
                return target

    def _test(self, target: Expression) -> Expression:
        negated = self.take_word("not")
        token = self.current
        # `in` is a word of the grammar and the name of a test.
        if not self.take_word("in"):
            self.expect_name("the name of a test")
        arguments = self._test_arguments()
        made: Expression = Test(target, token.value, arguments, token.at)
        operator = _COMPARING_TESTS.get(token.value)
        if operator and len(arguments.positional) == 1 and not arguments.named:
            link = Comparison(operator, arguments.positional[0], token.at)
            made = ComparisonChain(target, (link,), token.at)
        return Negation(made, token.at) if negated else made

    def _test_arguments(self) -> Arguments:
        """In parentheses, or one value right after the name: `is divisibleby 3`."""
        if self.take_operator("("):
            return self._arguments()
        is_value = self.current.kind in _LITERALS and not self.at_word(*_WORDS)
        if is_value or self.at_operator("[", "{"):
            return Arguments((self._postfix(self._primary()),))
        return Arguments()


def parse_expression(source: str, tokens: list[TemplateToken], *, depth_max: int) -> Expression:
    """The tree of the one expression that `tokens` are."""
    return ExpressionParser(source, tokens, depth_max=depth_max).whole()
