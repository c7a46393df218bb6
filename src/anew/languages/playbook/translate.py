"""Say an expression of an older dialect in the words of `policy`.

Works on tokens, so spacing, quoting and everything else an author wrote stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from anew.expressions import DEFAULT_LIMITS, syntax
from anew.expressions.parse import parse_expression
from anew.expressions.tokens import CodePart, Token, scan_expression, scan_template

_RETRY_WORDS = {
    "status_code": "outcome.http.status",
    "error": "(outcome.error.message | default(none))",
    "success": "(outcome.status == 'ok')",
    "data": "(outcome.result.data | default(outcome.result))",
    "result": "outcome.result",
    "attempt": "_attempt",
}
_STRING = re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"", re.DOTALL)
_ONE_EXPRESSION = re.compile(r"\{\{[-+]?(.*?)[-+]?\}\}", re.DOTALL)
_BOOLEAN_NODES = (syntax.Compare, syntax.Not, syntax.Test)


class Change(Struct, frozen=True):
    """Replace the characters from `start` to `end`."""

    start: int
    end: int
    text: str


Translator = Callable[[list[Token], str], Iterator[Change]]


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


def as_operand(expression: str) -> str:
    """An expression that is true for the words of a retry block only, ready to follow `and`."""
    tree = _tree(expression)
    if not _is_boolean(tree):
        return f"(({expression}) | string | lower) in ['true', '1', 'yes']"
    is_loose = isinstance(tree, syntax.Logic) and tree.operator == "or"
    return f"({expression})" if is_loose else expression


def _tree(expression: str) -> syntax.Expression:
    tokens = scan_expression(expression)
    return parse_expression(expression, tokens, depth_max=DEFAULT_LIMITS.depth_max)


def _is_boolean(node: syntax.Expression) -> bool:
    if isinstance(node, syntax.Logic):
        return all(_is_boolean(part) for part in node.parts)
    if isinstance(node, syntax.Constant):
        return isinstance(node.value, bool)
    return isinstance(node, _BOOLEAN_NODES)


# --- the dialects --------------------------------------------------------------------------------


def retry_words(tokens: list[Token], _text: str) -> Iterator[Change]:
    """`status_code`, `error`, … of a retry block."""
    for index, token in enumerate(tokens):
        if _is_read(tokens, index) and token.value in _RETRY_WORDS:
            yield _renamed(token, _RETRY_WORDS[token.value])


def eval_words(tokens: list[Token], text: str) -> Iterator[Change]:
    """`success` where `outcome.status` is compared with it."""
    for index, token in enumerate(tokens):
        if token.kind == "string" and token.value == "success" and _is_compared(tokens, index):
            yield _literal(token, text, "ok")


def output_words(ctx_keys: frozenset[str], workload: frozenset[str]) -> Translator:
    """`output` and its `data`, and a `ctx` that reads the workload where nothing was set."""

    def changes(tokens: list[Token], text: str) -> Iterator[Change]:
        for index, token in enumerate(tokens):
            if not _is_read(tokens, index):
                continue
            if token.value == "output":
                yield _renamed(token, "outcome")
                yield from _data_key(tokens, index, text)
            elif token.value == "ctx":
                yield from _ctx_key(tokens, index, ctx_keys, workload)

    return changes


def _data_key(tokens: list[Token], index: int, text: str) -> Iterator[Change]:
    key = tokens[index + 2] if len(tokens) > index + 2 else None
    if key is None or key.value != "data":
        return
    opener = tokens[index + 1].value
    if opener == "." and key.kind == "name":
        yield _renamed(key, "result")
    elif opener == "[" and key.kind == "string":
        yield _literal(key, text, "result")


def _ctx_key(
    tokens: list[Token], index: int, ctx_keys: frozenset[str], workload: frozenset[str]
) -> Iterator[Change]:
    key = tokens[index + 2] if len(tokens) > index + 2 else None
    if key is None or key.kind != "name" or tokens[index + 1].value != ".":
        return
    if key.value not in ctx_keys:
        yield _renamed(tokens[index], "workload")
    elif key.value in workload:
        end = key.at + len(key.value)
        yield Change(tokens[index].at, end, f"(ctx.{key.value} | default(workload.{key.value}))")


def _is_read(tokens: list[Token], index: int) -> bool:
    """Whether a token is a name read from the scope: no attribute, filter, call or keyword."""
    token = tokens[index]
    if token.kind != "name":
        return False
    before = tokens[index - 1] if index else None
    after = tokens[index + 1]
    if before is not None and before.value in (".", "|", "is") and before.kind != "string":
        return False
    return not (after.kind == "operator" and after.value in ("(", "="))


def _is_compared(tokens: list[Token], index: int) -> bool:
    """Whether the text at `index` is compared with `outcome.status`."""
    values = [token.value for token in tokens]
    path = ["outcome", ".", "status"]
    if index >= 4 and values[index - 1] in ("==", "!=") and values[index - 4 : index - 1] == path:
        return True
    if values[index + 1] in ("==", "!=") and values[index + 2 : index + 5] == path:
        return True
    opening = index - 1
    while opening >= 0 and (tokens[opening].kind == "string" or values[opening] == ","):
        opening -= 1
    return opening >= 4 and values[opening] in ("[", "(") and _ends_with_path(values[:opening])


def _ends_with_path(values: list[object]) -> bool:
    before = values[:-1] if values and values[-1] == "in" else []
    if before and before[-1] == "not":
        before = before[:-1]
    return before[-3:] == ["outcome", ".", "status"]


def _renamed(token: Token, text: str) -> Change:
    return Change(token.at, token.at + len(str(token.value)), text)


def _literal(token: Token, text: str, value: str) -> Change:
    found = _STRING.match(text, token.at)
    end = found.end() if found is not None else token.at
    quote = text[token.at]
    return Change(token.at, end, f"{quote}{value}{quote}")
