"""Cut a template into text, expressions and statements, and those into tokens.

Decides what is a literal, where a `{{ … }}` ends and what whitespace control strips. Does not
know the grammar.
"""

from __future__ import annotations

import math
import re
import sys
from typing import NamedTuple

from msgspec import Struct

from anew.expressions.limits import DEFAULT_LIMITS, TemplateLimits
from anew.expressions.problems import ExpressionError
from anew.values import Value


class TemplateToken(NamedTuple):
    # "name", "string", "int", "float", "operator" or "end"
    kind: str
    # The name, the operator, or the literal's value.
    value: Value
    at: int


class TextPart(Struct, frozen=True):
    text: str
    at: int


class CodePart(Struct, frozen=True):
    """The tokens between `{{ }}` or `{% %}`, closed by an "end" token."""

    tokens: list[TemplateToken]
    is_statement: bool
    at: int


Part = TextPart | CodePart

_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<float>[0-9]+(?:_[0-9]+)*
        (?:\.[0-9]+(?:_[0-9]+)*(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
    | (?P<int>0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[0-9a-fA-F])+|[0-9]+(?:_[0-9]+)*)
    | (?P<name>[^\W\d]\w*)
    | (?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<operator>\*\*|//|==|!=|<=|>=|[-+*/%~<>=.:|,()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)
_INDEX = re.compile(r"[0-9]+")
_OPENING = re.compile(r"\{[{%#][-+]?")
_CLOSING = {"{{": re.compile(r"[-+]?\}\}"), "{%": re.compile(r"[-+]?%\}")}
_COMMENT_END = re.compile(r"[-+]?#\}")
_RAW = re.compile(r"\s*raw\s*([-+]?)%\}")
_RAW_END = re.compile(r"\{%([-+]?)\s*endraw\s*([-+]?)%\}")
_BRACKETS = {")": "(", "]": "[", "}": "{"}
# Halves of characters, which no encoding can write.
_SURROGATES = range(0xD800, 0xE000)
# Enough for 64 bits in base 2.
_DIGITS_MAX = 70

_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ESCAPED = {
    "\n": "", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f",
    "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


def scan_expression(source: str, limits: TemplateLimits = DEFAULT_LIMITS) -> list[TemplateToken]:
    """The tokens of a bare expression, closed by an "end" token."""
    tokens, _ = _Scanner(source, limits).tokens(0, closing=None)
    return tokens


def scan_template(source: str, limits: TemplateLimits = DEFAULT_LIMITS) -> list[Part]:
    """The parts of a template in order, comments gone, raw text as it is."""
    return _Scanner(source, limits).parts()


class _Scanner:
    def __init__(self, source: str, limits: TemplateLimits) -> None:
        self.source = source
        self._tokens_max = limits.tokens_max
        self._tokens_left = limits.tokens_max

    def error(self, message: str, at: int) -> ExpressionError:
        return ExpressionError(message, source=self.source, offset=at)

    def parts(self) -> list[Part]:
        found: list[Part] = []
        position, strips_left = 0, False
        while opening := _OPENING.search(self.source, position):
            mark = opening.group()
            text = self.source[position : opening.start()]
            self._add_text(found, text, position, strips_left, mark.endswith("-"))
            position, strips_left = self._code(found, mark[:2], opening)
            self._count(1, opening.start())
        self._add_text(found, self.source[position:], position, strips_left, False)
        return found

    def _add_text(
        self, found: list[Part], text: str, at: int, strips_left: bool, strips_right: bool
    ) -> None:
        if strips_left:
            text = text.lstrip()
        if strips_right:
            text = text.rstrip()
        if text:
            found.append(TextPart(text, at))

    def _code(self, found: list[Part], mark: str, opening: re.Match[str]) -> tuple[int, bool]:
        """Read what `opening` opens; where text goes on, and whether it is stripped there."""
        at, start = opening.start(), opening.end()
        if mark == "{#":
            return self._after(_COMMENT_END.search(self.source, start), "{#", at)
        if mark == "{%" and (raw := _RAW.match(self.source, start)):
            return self._raw(found, raw, at)
        tokens, end = self.tokens(start, closing=_CLOSING[mark])
        found.append(CodePart(tokens, mark == "{%", at))
        return self._after(end, mark, at)

    def _after(self, end: re.Match[str] | None, mark: str, at: int) -> tuple[int, bool]:
        if end is None:
            closing = {"{{": "}}", "{%": "%}", "{#": "#}"}[mark]
            raise self.error(f"this {mark!r} is never closed by {closing!r}", at)
        return end.end(), end.group().startswith("-")

    def _raw(self, found: list[Part], raw: re.Match[str], at: int) -> tuple[int, bool]:
        end = _RAW_END.search(self.source, raw.end())
        if end is None:
            raise self.error("this raw block is never closed by '{% endraw %}'", at)
        text = self.source[raw.end() : end.start()]
        self._add_text(found, text, raw.end(), raw.group(1) == "-", end.group(1) == "-")
        return end.end(), end.group(2) == "-"

    def tokens(
        self, position: int, *, closing: re.Pattern[str] | None
    ) -> tuple[list[TemplateToken], re.Match[str] | None]:
        """Tokens up to `closing` outside all brackets, or to the end of the source."""
        found: list[TemplateToken] = []
        open_brackets: list[TemplateToken] = []
        size = len(self.source)
        while position < size:
            # `}}` may also close two dictionaries.
            end = closing.match(self.source, position) if closing and not open_brackets else None
            if end:
                found.append(TemplateToken("end", "", position))
                self._count(1, position)
                return found, end
            token, position = self._token(position, found)
            if token is None:
                continue
            found.append(token)
            self._count(1, token.at)
            if token.kind == "operator":
                self._balance(token, open_brackets)
        if open_brackets:
            raise self.error(
                f"this {open_brackets[-1].value!r} is never closed", open_brackets[-1].at
            )
        found.append(TemplateToken("end", "", size))
        return found, None

    def _count(self, tokens: int, at: int) -> None:
        """Refuse a text that takes too long to compile, at the first token that is too many."""
        self._tokens_left -= tokens
        if self._tokens_left < 0:
            message = f"longer than {self._tokens_max:,} names, literals and signs. Split it"
            raise self.error(message, at)

    def _balance(self, token: TemplateToken, open_brackets: list[TemplateToken]) -> None:
        if token.value in ("(", "[", "{"):
            open_brackets.append(token)
        elif token.value in _BRACKETS:
            if not open_brackets or open_brackets[-1].value != _BRACKETS[token.value]:
                raise self.error(f"{token.value!r} closes nothing", token.at)
            open_brackets.pop()

    def _token(self, at: int, before: list[TemplateToken]) -> tuple[TemplateToken | None, int]:
        # In `rows.0.1` both are indexes, not the number 0.1.
        follows_dot = bool(before) and before[-1][:2] == ("operator", ".")
        match = (follows_dot and _INDEX.match(self.source, at)) or _TOKEN.match(self.source, at)
        if not match:
            raise self._bad_character(at)
        kind, text = match.lastgroup or "int", match.group()
        if kind == "space":
            return None, match.end()
        return TemplateToken(kind, self._value(kind, text, at), at), match.end()

    def _bad_character(self, at: int) -> ExpressionError:
        character = self.source[at]
        if character in "'\"":
            return self.error("this text is never closed by its quote", at)
        return self.error(f"unexpected character {character!r}", at)

    def _value(self, kind: str, text: str, at: int) -> Value:
        if kind == "string":
            return self._unescape(text[1:-1], at + 1)
        if kind == "int":
            return self._integer(text, at)
        if kind == "float":
            return self._float(text, at)
        return text

    def _integer(self, text: str, at: int) -> int:
        digits = text.replace("_", "")
        if digits.isdigit() and digits[0] == "0" and digits.strip("0"):
            raise self.error("a number cannot start with 0", at)
        # Asked before conversion: Python refuses very long ones with an error of its own.
        number = int(digits, 0) if len(digits) <= _DIGITS_MAX else None
        if number is None or number > DEFAULT_LIMITS.int_max:
            raise self.error("this number does not fit in 64 bits", at)
        return number

    def _float(self, text: str, at: int) -> float:
        number = float(text)
        if math.isinf(number):
            raise self.error("this number is too large", at)
        return number

    def _unescape(self, text: str, at: int) -> str:
        if "\\" not in text:
            return text

        def replace(match: re.Match[str]) -> str:
            hexadecimal = match.group(1) or match.group(2) or match.group(3)
            if hexadecimal or match.group(4):
                code = int(hexadecimal, 16) if hexadecimal else int(match.group(4), 8)
                return self._character(code, at + match.start())
            return _ESCAPED.get(match.group(5), match.group())

        return _ESCAPE.sub(replace, text)

    def _character(self, code: int, at: int) -> str:
        if code > sys.maxunicode or code in _SURROGATES:
            raise self.error("this escape is not a character", at)
        return chr(code)
