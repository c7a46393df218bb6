"""The condition language of the spec dialect: text to tree.

    condition = clause {&& clause}     clause = key | key = value | key != value

A value is a bare text up to the next `&&`, or a quoted one; it may be empty. There is neither
`or` nor `not` nor order: those are further edges. Reads no context and no outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anew.expressions import DEFAULT_LIMITS
from anew.languages.dot.conditions.problems import ConditionError, too_long
from anew.languages.dot.conditions.tree import (
    All,
    Compare,
    ConditionLiteral,
    ContextKey,
    Holds,
    Tree,
    key_of,
)

_KEY = re.compile(r"[^\W\d][\w-]*(?:\.[\w-]+)*")
_SIGN = re.compile(r"!=|=")
# A quote opens a text only where a value begins: `label=Don't` has none.
_PIECE = re.compile(r"""=\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|&&|.""", re.DOTALL)
_QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL)
_ESCAPE = re.compile(r"""\\(['"\\])""")
_OTHER_WORD = re.compile(r"(\|\||(?<=\s)(?:AND|OR)(?=\s))")
# A clause is a key, a sign and a value, with `&&` before it.
_CLAUSES_MAX = DEFAULT_LIMITS.tokens_max // 4
_ONE_EDGE = "Write one edge for each alternative."


def parse_spec(text: str) -> Tree:
    """The tree. Raises ConditionError when the text is no such condition."""
    clauses: list[Tree] = []
    for part, at in _parts(text):
        if len(clauses) == _CLAUSES_MAX:
            raise too_long(at)
        clauses.append(_clause(part, at))
    return clauses[0] if len(clauses) == 1 else All(tuple(clauses))


def _parts(text: str) -> Iterator[tuple[str, int]]:
    """What stands between the `&&` outside quotes, with its place."""
    start = 0
    for piece in _PIECE.finditer(text):
        if piece.group() == "&&":
            yield text[start : piece.start()], start
            start = piece.end()
    yield text[start:], start


def _clause(part: str, start: int) -> Tree:
    at = start + len(part) - len(part.lstrip())
    clause = part.strip()
    if not clause:
        raise ConditionError("a clause is empty", at, suggestion="Remove it, or name a key.")
    key = _KEY.match(clause)
    if key is None:
        raise _no_key(clause, at)
    rest = clause[key.end() :].lstrip()
    if not rest:
        return Holds(_key(key.group(), at))
    sign = _SIGN.match(rest)
    if sign is None:
        raise ConditionError(
            f"expected '=', '!=' or '&&' after {key.group()!r}, found {rest[:20]!r}",
            at + len(clause) - len(rest),
            suggestion="Conditions are key=value and key!=value, joined by &&.",
        )
    written = rest[sign.end() :].strip()
    value = _value(written, at + len(clause) - len(written))
    name = "!=" if sign.group() == "!=" else "=="
    return Compare(name, _key(key.group(), at), ConditionLiteral(value, at))


def _key(written: str, at: int) -> ContextKey:
    key = key_of(written, at)
    # This dialect keeps both in its context: `context.outcome` is `outcome`.
    return ContextKey(key.path, at=at) if key.path in ("outcome", "preferred_label") else key


def _no_key(clause: str, at: int) -> ConditionError:
    negated = _KEY.fullmatch(clause[1:].strip()) if clause.startswith("!") else None
    if negated is not None:
        return ConditionError(
            "'!' is not an operator here", at, suggestion=f"Write {negated.group()}!=true."
        )
    return ConditionError(
        f"expected a key, found {clause[:20]!r}",
        at,
        suggestion="Conditions are key=value and key!=value, joined by &&.",
    )


def _value(written: str, at: int) -> str:
    if written[:1] in ("'", '"'):
        quoted = _QUOTED.fullmatch(written)
        if quoted is None:
            raise ConditionError(
                "this text is not closed by its quote, or something follows it",
                at,
                suggestion=f"End it with {written[0]} before the next &&.",
            )
        return _ESCAPE.sub(r"\1", written[1:-1])
    word = _OTHER_WORD.search(written)
    if word is not None:
        suggestion = "Write && instead." if word.group(1) == "AND" else _ONE_EDGE
        raise ConditionError(
            f"{word.group(1)!r} is not an operator here", at + word.start(1), suggestion=suggestion
        )
    if written.startswith("="):
        raise ConditionError("'==' is not an operator here", at, suggestion="Write one '='.")
    return written
