"""What the inputs of each kind mean, and the shape of those whose values the checker looks at.

Names and meanings come from the table of kinds.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.playbook.keys import ARGS_KEYS
from anew.languages.schema.forms import ANYTHING, Schema, about, nullable, word
from anew.languages.schema.scalars import SECONDS, SECONDS_ABOVE_0, TEMPLATE
from anew.languages.schema.sides import side_shape
from anew.program.kind import SHARED_INPUTS, Kind, OutcomeSource
from anew.program.policy import TimeoutAction

_ARGS = {"args": "Arguments, by name."}
_LATER: list[Schema] = [{"type": "null"}, TEMPLATE]
_SCALAR: Schema = {"type": ["string", "number", "boolean", "null"]}
_MODULE: Schema = {"type": "string", "pattern": r"^[^\W\d]\w*(\.[^\W\d]\w*)*$"}
_LIBS: Schema = {
    "type": ["object", "array", "null"],
    "additionalProperties": {
        "anyOf": [
            _MODULE,
            {
                "type": "object",
                "properties": {
                    "from": about("The module.", _MODULE),
                    "import": about("What of it is imported.", _MODULE),
                },
                "required": ["from", "import"],
                "additionalProperties": False,
            },
        ]
    },
}
_SHAPES: Mapping[tuple[OutcomeSource, str], Schema] = {
    (OutcomeSource.CLOCK, "seconds"): {"anyOf": [*_LATER, SECONDS]},
    (OutcomeSource.SIGNAL, "signal"): {
        **_SCALAR,
        "if": TEMPLATE,
        "else": {"pattern": r"^[^\s/]+$"},
    },
    (OutcomeSource.SIGNAL, "timeout"): {"anyOf": [*_LATER, SECONDS]},
    (OutcomeSource.PERSON, "choices"): {
        "anyOf": [{"type": "array", "items": {"type": "string"}}, *_LATER]
    },
    (OutcomeSource.PERSON, "timeout"): {"anyOf": [*_LATER, SECONDS_ABOVE_0]},
    (OutcomeSource.PERSON, "timeout_action"): {"anyOf": [word(TimeoutAction), *_LATER]},
}
_SCRIPT: Schema = {
    "anyOf": [
        _SCALAR,
        {
            "type": "object",
            "properties": {
                "uri": about("Where it is, as its source names it.", ANYTHING),
                "source": about(
                    "`type` is file, inline, http, or one of a package.",
                    {"type": "object", "required": ["type"]},
                ),
            },
            "required": ["source"],
        },
    ]
}


def input_shapes(kind: Kind) -> dict[str, Schema]:
    """Every word for an input of the kind, the canonical ones first."""
    meanings = {**kind.inputs, **SHARED_INPUTS, **_ARGS, **kind.inputs}
    shapes = {name: about(meaning, _shape(kind, name)) for name, meaning in meanings.items()}
    others = sorted(kind.spellings.union(ARGS_KEYS) - shapes.keys())
    for other in others:
        name = kind.canonical(other)
        shapes[other] = about(f"Another name for `{name}`.", _shape(kind, name))
    return shapes


def _shape(kind: Kind, name: str) -> Schema:
    special = _SHAPES.get((kind.outcome_from, name))
    if special is not None:
        return special
    if name == "script" and kind.script_for is not None:
        return _SCRIPT
    if kind.has_names and name == "libs":
        return _LIBS
    if name in kind.sides:
        return side_shape(kind.sides[name])
    if name in kind.word_inputs:
        return {"anyOf": [word(kind.word_inputs[name]), *_LATER]}
    return _SCALAR if name in kind.texts else ANYTHING


def timeout_shape(kind: Kind | None) -> Schema:
    """`spec.timeout` of a task; few kinds have phases."""
    default = f"; {kind.timeout_seconds:g} s unless given" if kind and kind.timeout_seconds else ""
    text = f"The longest time of one attempt: seconds or a duration{default}."
    if kind is not None and not kind.timeout_phases:
        return about(text, nullable(SECONDS_ABOVE_0))
    phases: Schema = {"type": "object", "additionalProperties": SECONDS_ABOVE_0, "minProperties": 1}
    if kind is not None:
        phases = {
            "type": "object",
            "properties": {
                name: about(meaning, SECONDS_ABOVE_0)
                for name, meaning in kind.timeout_phases.items()
            },
            "additionalProperties": False,
            "minProperties": 1,
        }
    return about(text, nullable({"anyOf": [SECONDS_ABOVE_0, phases]}))
