"""Take out of values what looks like a secret, so that a scenario can be shown and kept.

What the engine knows to be secret is a reference in the log already and becomes a plain text. On
top of that, values under names that secrets go by are taken out, what texts themselves show to be
one, and wherever else their texts occur, encoded too. Equal values stay equal, so that what
compares them decides alike. The words of the engine and of the author, such as names of keys, stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from anew.credentials.secret_forms import forms_of
from anew.engine.secret_texts import KEY_PREFIX, MASK, MASK_BEGIN, PART_CHARS_MIN, PLAIN
from anew.lab.recording.secret_names import HiddenPart, hidden_by
from anew.lab.recording.secrets_in_text import OUT_ALREADY, with_replaced
from anew.values import Object, Value, json_text
from anew.weight import RESERVED_KEY

# What of an entry the engine reads as one of its words.
_WORDS_OF_ENTRY = frozenset({"status", "label", "suggested"})
_WORDS_OF_ERROR = frozenset({"kind", "type"})
_MARK = re.compile(rf"{re.escape(MASK_BEGIN)}(?: (\d+))?")


class Redaction:
    """Learns what is to be taken out, then takes it out of any value.

    `marks` has what stands in the place of each secret.
    """

    def __init__(self, values: Iterable[Value]) -> None:
        self.marks: dict[str, str] = {}
        self._alone: set[str] = set()  # taken out wherever one is the whole text
        self._inside = _Inside()
        for value in values:
            self._learn(value, HiddenPart.NOTHING)

    def _learn(self, value: Value, hides: HiddenPart) -> None:
        match value:
            case str() if value.strip() and hides:
                self._alone.add(value)
                self._mark(value, is_everywhere=True)
            case str():
                with_replaced(value, self._mark_shown)
                for inner in _json_in(value):
                    self._learn(inner, HiddenPart.NOTHING)
            case bool():
                pass
            case int() | float() if hides is HiddenPart.EVERYTHING:
                self._mark(json_text(value), is_everywhere=True)
            case list():
                for item in value:
                    self._learn(item, hides)
            case dict() if RESERVED_KEY not in value:
                for key, item in value.items():
                    self._learn(item, max(hides, hidden_by(key)))
            case _:
                pass

    def _mark_shown(self, secret: str) -> str:
        # A plain word in such a place is too often no secret to be taken out of other texts.
        return self._mark(secret, is_everywhere=not secret.isalpha())

    def _mark(self, text: str, *, is_everywhere: bool) -> str:
        if text.startswith(OUT_ALREADY):
            return text
        number = len(self.marks) + 1
        mark = self.marks.setdefault(text, MASK if number == 1 else f"{MASK_BEGIN} {number}]")
        if is_everywhere and len(text) >= PART_CHARS_MIN:
            self._inside.add(text, mark)
        return mark

    def clean(self, value: Value, hides: HiddenPart = HiddenPart.NOTHING) -> Value:
        """`value` as anybody may see it."""
        match value:
            case str():
                return self.text(value)
            case bool():
                return value
            case int() | float():
                return self._number(value, hides)
            case list():
                return [self.clean(item, hides) for item in value]
            case dict() if RESERVED_KEY in value and not isinstance(value[RESERVED_KEY], bool):
                return self.text(_named(value[RESERVED_KEY]))
            case dict():
                return {
                    self.key(key): self.clean(item, max(hides, hidden_by(key)))
                    for key, item in value.items()
                    if key != RESERVED_KEY
                }
            case _:
                return value

    def clean_entry(self, said: Object) -> Object:
        """An entry of a script: what the engine reads as a word of its own stays."""
        clean = {
            key: value if key in _WORDS_OF_ENTRY else self.clean(value)
            for key, value in said.items()
        }
        error = said.get("error")
        if isinstance(error, dict):
            words = {key: value for key, value in error.items() if key in _WORDS_OF_ERROR}
            clean["error"] = {**self.clean(error), **words}
        return clean

    def text(self, text: str) -> str:
        if text in self._alone:
            return self.marks[text]
        return self._inside.replaced(with_replaced(text, self._mark_shown))

    def of_number(self, number: float) -> str | None:
        """What may stand in the place of a number."""
        return self.marks.get(json_text(number))

    def _number(self, number: float, hides: HiddenPart) -> Value:
        mark = self.of_number(number)
        is_long = len(json_text(number)) >= PART_CHARS_MIN
        return mark if mark and (is_long or hides is HiddenPart.EVERYTHING) else number

    def key(self, key: str) -> str:
        if key.startswith(KEY_PREFIX):
            return self.text(_named(_decoded(key.removeprefix(KEY_PREFIX))))
        # A word that is also someone's password is a word where it is a name.
        return key if key.replace("_", "").isalpha() else self._inside.replaced(key)


def marks_in(value: Value) -> int:
    """How many different secrets were taken out of a value that is clean."""
    return len(set(_MARK.findall(json_text(value))))


class _Inside:
    """Texts that are taken out of longer ones, in every form. Longest first, then leftmost."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}
        # How long they are, by how they begin: many of them cost no more than a few.
        self._lengths: dict[str, list[int]] = {}

    def add(self, text: str, mark: str) -> None:
        if text in self._marks:
            return
        for form, told in forms_of(text):
            if told not in self._marks:
                self._marks[told] = mark if form == PLAIN else f"{mark[:-1]} {form}]"
                lengths = self._lengths.setdefault(told[:PART_CHARS_MIN], [])
                if len(told) not in lengths:
                    lengths.append(len(told))
                    lengths.sort(reverse=True)

    def replaced(self, text: str) -> str:
        pieces, end = [], 0
        for begin in self._hits(text):
            found = self._found(text, begin) if begin >= end else None
            if found is not None:
                pieces += [text[end:begin], self._marks[found]]
                end = begin + len(found)
        return "".join([*pieces, text[end:]])

    def _hits(self, text: str) -> list[int]:
        known, width = self._lengths, PART_CHARS_MIN
        if not known:
            return []
        return [at for at in range(len(text) - width + 1) if text[at : at + width] in known]

    def _found(self, text: str, begin: int) -> str | None:
        lengths = self._lengths[text[begin : begin + PART_CHARS_MIN]]
        parts = (text[begin : begin + length] for length in lengths)
        return next((part for part in parts if part in self._marks), None)


def _json_in(text: str) -> Iterator[Value]:
    """The values of a text that is JSON, or has lines that are."""
    if text.lstrip().startswith(("{", "[")):
        value = _decoded(text)
        lines = [_decoded(line) for line in text.splitlines() if line.startswith("{")]
        yield from [value] if isinstance(value, dict | list) else lines


def _decoded(text: str) -> Value:
    """None for what is no JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _named(sealed: Value) -> str:
    """A reference in words: the secret's name in the place of the secret."""
    if isinstance(sealed, list):
        return "".join(piece if isinstance(piece, str) else _named(piece) for piece in sealed)
    name = sealed.get("ref") if isinstance(sealed, dict) else sealed
    return f"[secret {name}]"
