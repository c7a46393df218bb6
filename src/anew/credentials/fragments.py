"""Find what a cut has left of a secret: a long beginning of it, or a long end.

Tools keep only a part of what is too long, and a cut may go through a secret. A whole secret is
its own longest beginning, so it is found here too. Knows texts and values, no credentials.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct

from anew.engine.secret_texts import HAS_SEALED_KEYS, MASK, Probes
from anew.values import Value
from anew.weight import RESERVED_KEY

# So many characters of a secret, from its beginning or up to its end, are never left in sight.
# Fewer would hide the beginnings that unrelated texts share, such as https://api.
STRETCH_CHARS_MIN = 16

# What tools write where they have left something out, and what may stand between it and the rest:
# a new line, a character of which only some bytes were kept.
_CUT = "…"
_AROUND_CUT = " \r\n\ufffd"
_CUT_CHARS_MAX = 8

T = TypeVar("T")


class _Edge(Struct, frozen=True):
    """The first or the last characters of some secrets; found quickly, then followed."""

    text: str
    is_first: bool
    wholes: list[str]


class _Span(Struct, frozen=True, order=True):
    start: int
    end: int


class Stretches:
    """The beginnings and ends of texts that must not be seen, and where they occur."""

    def __init__(self, forms: Iterable[str]) -> None:
        found: dict[tuple[str, bool], list[str]] = {}
        for form in forms:
            if len(form) > STRETCH_CHARS_MIN:
                found.setdefault((form[:STRETCH_CHARS_MIN], True), []).append(form)
                found.setdefault((form[-STRETCH_CHARS_MIN:], False), []).append(form)
        edges = [_Edge(text, is_first, wholes) for (text, is_first), wholes in found.items()]
        self._has_edges = bool(edges)
        self._edges = Probes((edge.text, edge) for edge in edges)

    def masked(self, value: T, *, is_data: bool = False) -> T:
        """`value` with `[redacted]` for each stretch; itself when there is none.

        In data that others go on to use, only beside the mark of a cut: two tokens of one issuer
        begin alike, and the one that is no secret must stay what it is.
        """
        edges = [] if is_data and not _may_be_cut(value) else self._edges_in(value)

        def masked(text: str) -> str:
            return _masked_text(text, edges, is_data=is_data)

        return _walked(value, masked) if edges else value

    def _edges_in(self, value: Value) -> list[_Edge]:
        if not self._has_edges:
            return []
        if isinstance(value, str):
            return self._edges.in_text(value)
        return self._edges.in_json(msgspec.json.encode(value))


def _may_be_cut(value: Value) -> bool:
    """Whether a search is worth its time: most results are whole, and the largest values."""
    encoded = msgspec.json.encode(value)
    return _CUT.encode() in encoded or RESERVED_KEY.encode() in encoded


def _walked(value: Value, masked: Callable[[str], str]) -> Value:
    match value:
        case str():
            return masked(value)
        case dict() if value.get(RESERVED_KEY, HAS_SEALED_KEYS) is not HAS_SEALED_KEYS:
            return _walked_reference(value, masked)
        case dict():
            return {
                key if key.startswith(RESERVED_KEY) else masked(key): _walked(item, masked)
                for key, item in value.items()
            }
        case list():
            return [_walked(item, masked) for item in value]
        case _:
            return value


def _walked_reference(value: dict[str, Value], masked: Callable[[str], str]) -> Value:
    """A reference names secrets; the texts between them may hold what is left of others."""
    pieces = value[RESERVED_KEY]
    if not isinstance(pieces, list):
        return value
    return {RESERVED_KEY: [masked(each) if isinstance(each, str) else each for each in pieces]}


def _masked_text(text: str, edges: Iterable[_Edge], *, is_data: bool) -> str:
    spans = [span for edge in edges for span in _spans(text, edge, is_data=is_data)]
    pieces: list[str] = []
    end = 0
    for span in sorted(spans):
        if span.start >= end:
            pieces += text[end : span.start], MASK
        end = max(end, span.end)
    return "".join(pieces) + text[end:] if spans else text


def _spans(text: str, edge: _Edge, *, is_data: bool) -> Iterator[_Span]:
    """Each occurrence of the edge, followed as far as it is one of the secrets."""
    at = text.find(edge.text)
    while at >= 0:
        step = 1
        for whole in edge.wholes:
            span = _followed(text, at, edge=edge, whole=whole)
            is_whole = span.end - span.start == len(whole)
            if is_whole or not is_data or _is_cut(text, span, edge):
                yield span
            if is_whole:
                # One that repeats itself is not followed again from each of its characters.
                step = STRETCH_CHARS_MIN
        at = text.find(edge.text, at + step)


def _followed(text: str, at: int, *, edge: _Edge, whole: str) -> _Span:
    if edge.is_first:
        chars = _longest(lambda n: text.startswith(whole[:n], at), whole)
        return _Span(at, at + chars)
    end = at + STRETCH_CHARS_MIN
    return _Span(end - _longest(lambda n: text.endswith(whole[-n:], 0, end), whole), end)


def _longest(fits: Callable[[int], bool], whole: str) -> int:
    """How many characters fit, of which the first ones are known to."""
    if fits(len(whole)):
        return len(whole)
    counts = range(STRETCH_CHARS_MIN, len(whole))
    return counts[bisect_left(counts, True, key=lambda n: not fits(n)) - 1]


def _is_cut(text: str, span: _Span, edge: _Edge) -> bool:
    if edge.is_first:
        after = text[span.end : span.end + _CUT_CHARS_MAX]
        return after.lstrip(_AROUND_CUT).startswith(_CUT)
    before = text[max(0, span.start - _CUT_CHARS_MAX) : span.start]
    return before.rstrip(_AROUND_CUT).endswith(_CUT)
