"""Parse the parts of a template into statements. Expressions inside are parsed by `parse`."""

from __future__ import annotations

from anew.expressions.parse import ExpressionParser, parse_expression
from anew.expressions.problems import ExpressionError
from anew.expressions.syntax import (
    Choice,
    Expression,
    For,
    If,
    IfBranch,
    Output,
    Set,
    SetText,
    Statement,
    Text,
)
from anew.expressions.tokens import CodePart, Part, TextPart

ALLOWED = "if, elif, else, for, set, raw"
_ENDS = frozenset({"elif", "else", "endif", "endfor", "endset"})


def parse_statements(source: str, parts: list[Part], *, depth_max: int) -> tuple[Statement, ...]:
    """The statements of a whole template."""
    return _TextParser(source, parts, depth_max=depth_max).whole()


class _TextParser:
    def __init__(self, source: str, parts: list[Part], *, depth_max: int) -> None:
        self.source = source
        self.parts = parts
        self.position = 0
        self.depth = 0
        self.depth_max = depth_max

    def error(self, message: str, at: int) -> ExpressionError:
        return ExpressionError(message, source=self.source, offset=at)

    def whole(self) -> tuple[Statement, ...]:
        statements = self.body()
        if self.position < len(self.parts):
            tag = self.tag()
            raise self.error(f"{tag.current.value!r} ends nothing that was started", tag.current.at)
        return statements

    def tag(self) -> ExpressionParser:
        """A parser at the first token of the statement at hand."""
        part = self.parts[self.position]
        assert isinstance(part, CodePart)
        return ExpressionParser(self.source, part.tokens, depth_max=self.depth_max)

    def body(self) -> tuple[Statement, ...]:
        """Statements up to a tag that ends or divides a block, which is left to the caller."""
        found: list[Statement] = []
        while self.position < len(self.parts):
            part = self.parts[self.position]
            if isinstance(part, TextPart):
                found.append(Text(part.text, part.at))
            elif not part.is_statement:
                tree = parse_expression(self.source, part.tokens, depth_max=self.depth_max)
                found.append(Output(tree, part.at))
            elif part.tokens[0].value in _ENDS:
                break
            else:
                found.append(self.statement(part))
                continue
            self.position += 1
        return tuple(found)

    def statement(self, part: CodePart) -> Statement:
        tag = self.tag()
        word = tag.advance()
        if word.value not in ("if", "for", "set"):
            found = repr(word.value) if word.value != "" else "nothing"
            raise self.error(
                f"{found} is not a statement of templates. Allowed: {ALLOWED}", word.at
            )
        self.position += 1
        self.depth += 1
        if self.depth > self.depth_max:
            raise self.error(f"statements nested more than {self.depth_max} deep", part.at)
        parse = {"if": self.if_, "for": self.for_, "set": self.set_}[word.value]
        made = parse(tag, part.at)
        self.depth -= 1
        return made

    def if_(self, tag: ExpressionParser, at: int) -> Statement:
        branches = [IfBranch(tag.whole(), self.body())]
        while (ending := self.ending("if", at, "elif", "else", "endif"))[0] == "elif":
            branches.append(IfBranch(ending[1].whole(), self.body()))
        otherwise: tuple[Statement, ...] = ()
        ending[1].expect_end()
        if ending[0] == "else":
            otherwise = self.body()
            self.ending("if", at, "endif")[1].expect_end()
        return If(tuple(branches), otherwise, at)

    def for_(self, tag: ExpressionParser, at: int) -> Statement:
        targets = self.targets(tag)
        if not tag.take_word("in"):
            raise tag.unexpected("expected 'in'")
        source, condition = self.loop_source(tag)
        tag.expect_end()
        body = self.body()
        otherwise: tuple[Statement, ...] = ()
        word, ending = self.ending("for", at, "else", "endfor")
        ending.expect_end()
        if word == "else":
            otherwise = self.body()
            self.ending("for", at, "endfor")[1].expect_end()
        return For(targets, source, condition, body, otherwise, at)

    def loop_source(self, tag: ExpressionParser) -> tuple[Expression, Expression | None]:
        """`rows` or `rows if condition`; a condition without else chooses rows, not the source."""
        tree = tag.expression_list()
        if isinstance(tree, Choice) and tree.otherwise is None:
            return tree.then, tree.condition
        return tree, None

    def set_(self, tag: ExpressionParser, at: int) -> Statement:
        targets = self.targets(tag)
        if tag.take_operator("="):
            return Set(targets, tag.whole(), at)
        tag.expect_end()
        if len(targets) != 1:
            raise self.error("a set block has one name", at)
        body = self.body()
        self.ending("set", at, "endset")[1].expect_end()
        return SetText(targets[0], body, at)

    def targets(self, tag: ExpressionParser) -> tuple[str, ...]:
        names = [tag.expect_name("a name").value]
        while tag.take_operator(","):
            names.append(tag.expect_name("a name").value)
        return tuple(names)

    def ending(self, opened: str, at: int, *words: str) -> tuple[str, ExpressionParser]:
        """The tag that ends or divides the block at hand, and a parser behind its word."""
        if self.position >= len(self.parts):
            raise self.error(f"this {opened!r} is never closed by {words[-1]!r}", at)
        tag = self.tag()
        word = tag.advance()
        if word.value not in words:
            raise self.error(f"{word.value!r} does not belong to the {opened!r} before it", word.at)
        self.position += 1
        return word.value, tag
