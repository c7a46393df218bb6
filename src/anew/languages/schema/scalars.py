"""The shapes of single values: texts, conditions, delays, numbers and yes or no.

They follow how the compiler reads a scalar: a number or a boolean is a text where a text is wanted,
and a template stands for any value that is known only later.
"""

from __future__ import annotations

from anew import values
from anew.languages.playbook.durations import JITTER_WORDS
from anew.languages.schema.forms import Schema, nullable, ref

TEXT: Schema = {"type": ["string", "number", "boolean"]}
NAME: Schema = {**TEXT, "minLength": 1}
STEP: Schema = {"type": ["string", "number", "boolean", "null"]}
FLAG: Schema = {"type": "boolean"}
MAPPING: Schema = {"type": ["object", "null"]}
TEMPLATE: Schema = {"type": "string", "pattern": r"\{[{%]"}
EXPRESSION: Schema = {"type": "string", "pattern": r"\{\{"}
CONDITION: Schema = {**TEXT, "pattern": r"\S"}
PRIORITY: Schema = {
    "anyOf": [{"type": ["integer", "null"]}, {"type": "string", "pattern": "^[-+]?[0-9]{1,9}$"}]
}
FACTOR: Schema = {"type": "number", "exclusiveMinimum": 0}

# Those that are long are defined once.
WHOLE, WHOLE_OR_LATER = ref("whole-number"), ref("whole-number-or-template")
SECONDS, SECONDS_ABOVE_0 = ref("seconds"), ref("seconds-above-0")
DELAY, JITTER, POOL = ref("delay"), ref("jitter"), ref("pool")

_NUMBER_FORM, _DURATION_FORM = values._NUMBER.pattern, values._DURATION.pattern


def scalar_definitions() -> dict[str, Schema]:
    whole_text = {"type": "string", "pattern": "^(?=[0-9]*[1-9])[0-9]{1,9}$"}
    duration = ref("duration")
    http_date = {"type": "string", "pattern": "GMT$"}
    return {
        "whole-number": {"anyOf": [{"type": "integer", "minimum": 1}, whole_text]},
        "whole-number-or-template": {"anyOf": [WHOLE, EXPRESSION]},
        "duration": {
            "type": "string",
            "pattern": rf"^\s*(?:(?!-){_NUMBER_FORM}|(?:{_DURATION_FORM})+)\s*$",
        },
        "seconds": {"anyOf": [{"type": "number", "minimum": 0}, duration]},
        "seconds-above-0": {"anyOf": [FACTOR, duration]},
        "delay": {"anyOf": [SECONDS, EXPRESSION, http_date]},
        "jitter": _jitter(),
        "pool": nullable({**TEXT, "pattern": r"\S", "not": EXPRESSION}),
    }


def _jitter() -> Schema:
    words = [each for each in JITTER_WORDS if each not in ("true", "false")]
    texts = [*map(_any_case, JITTER_WORDS), rf"\s*(?!-){_NUMBER_FORM}\s*"]
    return {
        "anyOf": [
            {"enum": [True, False, *words]},
            {"type": "number", "minimum": 0},
            {"type": "string", "pattern": f"^(?:{'|'.join(texts)})$"},
        ]
    }


def _any_case(text: str) -> str:
    return "".join(f"[{letter.upper()}{letter}]" for letter in text)
