"""The shape of an input that is a side of a transfer: an object by its `type`.

Names and meanings come from the rows of the sides.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.schema.forms import ANYTHING, GIVEN, Schema, about, at_most_one, has, word
from anew.languages.schema.scalars import TEMPLATE
from anew.program.kind import SHARED_INPUTS, SIDE_WORDS, Kind

_AUTH = "auth"


def side_shape(rows: Mapping[str, Kind]) -> Schema:
    """One of the sides, one whose type is known later, or a template."""
    later: Schema = {"type": "object", **_with_type(TEMPLATE)}
    return {"anyOf": [*map(_side, rows.values()), later, {"type": "null"}, TEMPLATE]}


def _with_type(shape: Schema) -> Schema:
    types = {name: about("What it is.", shape) for name in SIDE_WORDS}
    needed = {"anyOf": [has(name) for name in SIDE_WORDS]}
    return {"properties": types, "allOf": [needed, *at_most_one(list(SIDE_WORDS))]}


def _side(row: Kind) -> Schema:
    shape = _with_type(word([row.name]))
    needed = [{"anyOf": [_given(name) for name in _spellings(row, *g)]} for g in row.required]
    return {
        "type": "object",
        "properties": {**shape["properties"], **_inputs(row)},
        "additionalProperties": False,
        "allOf": [*shape["allOf"], *needed],
    }


def _inputs(row: Kind) -> dict[str, Schema]:
    meanings = {**row.inputs, _AUTH: SHARED_INPUTS[_AUTH]}
    shapes = {name: about(meaning, ANYTHING) for name, meaning in meanings.items()}
    for name in meanings:
        for other in _spellings(row, name)[1:]:
            shapes.setdefault(other, about(f"Another name for `{name}`.", ANYTHING))
    return shapes


def _spellings(row: Kind, *names: str) -> list[str]:
    """The names of inputs, then every other word for them."""
    others = row.spellings - {*row.inputs, *SHARED_INPUTS}
    return [*names, *sorted(other for other in others if row.canonical(other) in names)]


def _given(name: str) -> Schema:
    return {"properties": {name: GIVEN}, **has(name)}
