"""The few forms that every part of a schema is written in.

Draft 7, because that is what editors read without gaps. Knows nothing of playbooks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from itertools import combinations
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
# What a key may hold that nobody reads, or whose value is the author's own.
ANYTHING: Schema = {}
GIVEN: Schema = {"type": ["string", "number", "boolean", "array", "object"]}


def ref(name: str) -> Schema:
    """What the definition of that name says; a `/` in it goes further down."""
    return {"$ref": f"#/definitions/{name}"}


def about(text: str, shape: Schema | None = None) -> Schema:
    """A shape with the text an editor shows for it."""
    shown = {"description": text, **_beside_ref(shape or {})}
    # A shape that has a text of its own is used for another purpose here.
    shown["description"] = text
    return shown


def _beside_ref(shape: Schema) -> Schema:
    # In draft 7 whatever stands beside `$ref` is not read.
    return {"allOf": [shape]} if "$ref" in shape else shape


def word(words: type[StrEnum] | Collection[str]) -> Schema:
    """One of a few words."""
    return {"enum": [str(each) for each in words]}


def nullable(shape: Schema) -> Schema:
    """The shape, or nothing, which counts as absent."""
    kind = shape.get("type")
    if kind is None:
        return {"anyOf": [shape, {"type": "null"}]}
    # With one shape for both, an editor says what is wrong inside it.
    return {**shape, "type": [*([kind] if isinstance(kind, str) else kind), "null"]}


def by_type(*plain: str, **shapes: Schema) -> Schema:
    """A shape for each type of value, so that an editor says what is wrong with that one.

    Values of the `plain` types are right as they are. Without them the last shape is also what an
    editor offers where nothing stands yet.
    """
    rows = list(shapes.items())
    chain = ANYTHING if plain else rows.pop()[1]
    for kind, shape in reversed(rows):
        chain = when({"type": kind}, shape, chain)
    return {"type": [*shapes, *plain], **_beside_ref(chain)}


def table(keys: Collection[str], shapes: Mapping[str, Schema]) -> Schema:
    """A mapping that has these keys and no other. Each key has its shape, in this order.

    `keys` is the table that the compiler checks by, so a key that is new there is missed here.
    """
    unknown = sorted(set(keys) ^ set(shapes))
    assert not unknown, f"the compiler's keys and those described differ: {unknown}"
    return {"type": "object", "properties": dict(shapes), "additionalProperties": False}


def idle(keys: Iterable[str]) -> dict[str, Schema]:
    """The shapes of keys of another runtime, which are accepted."""
    return {key: about("Accepted; has no effect.", ANYTHING) for key in keys}


def refused(keys: Iterable[str]) -> Schema:
    """A mapping without these keys."""
    return {"properties": dict.fromkeys(sorted(keys), False)}


def has(*keys: str) -> Schema:
    """A mapping with all these keys, if it is one."""
    return {"required": list(keys)}


def holds(*keys: str) -> Schema:
    """Whether it is a mapping, and has all these keys."""
    return {"type": "object", **has(*keys)}


def at_most_one(keys: Collection[str]) -> list[Schema]:
    """That no two of the keys stand in one mapping."""
    return [{"not": has(*pair)} for pair in combinations(sorted(keys), 2)]


def when(condition: Schema, then: Schema, otherwise: Schema | None = None) -> Schema:
    found: Schema = {"if": condition, "then": then}
    return found if otherwise is None else {**found, "else": otherwise}


def is_word(key: str, value: str) -> Schema:
    """Whether it is a mapping in which a key has this very word."""
    return {"properties": {key: {"const": value}}, **holds(key)}
