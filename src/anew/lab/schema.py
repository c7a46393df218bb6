"""The JSON Schema of scenarios and scripts, for editors: made from the tables they are read by."""

from __future__ import annotations

from anew.engine.outcome import RETRYABLE
from anew.engine.verdicts import ErrorType
from anew.lab import script
from anew.lab.expectations import EXPECT_KEYS, STATUSES
from anew.lab.scenario import SCENARIO_KEYS
from anew.languages.schema.forms import (
    ANYTHING,
    DRAFT,
    Schema,
    about,
    at_most_one,
    by_type,
    has,
    nullable,
    ref,
    table,
    when,
    word,
)
from anew.languages.schema.scalars import MAPPING, scalar_definitions
from anew.program.kind import Helper
from anew.program.kinds import HELPERS

_TEXT: Schema = {"type": "string"}
_FRACTION: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_STEPS: Schema = {"type": "array", "items": _TEXT}
_SCALAR: Schema = {"type": ["string", "number", "boolean", "null"]}
_TAKES: Schema = {
    "anyOf": [
        {"type": "number", "minimum": 0, "exclusiveMaximum": script.TAKES_SECONDS_MAX},
        ref("duration"),
    ]
}


def scenario_schema() -> Schema:
    """The schema of a scenario; a script is one that names no document."""
    text = "Which outcomes the world gives a document, and what is expected to follow from them."
    keys = (*SCENARIO_KEYS, *script._KEYS)
    definitions = {"entry": _entry(), "error": _error(), "expect": _expect()}
    scalars = scalar_definitions()
    return {
        "$schema": DRAFT,
        "$id": "anew/scenario.schema.json",
        "title": "A scenario of Anew",
        **about(text, table(keys, _root())),
        "definitions": {**definitions, "duration": scalars["duration"]},
    }


def _root() -> dict[str, Schema]:
    name = {"type": "string", "pattern": r"\S"}
    lags = {"type": "array", "items": _TAKES}
    return {
        "document": about(
            "The playbook or graph, relative to this file; else the one next to this file.", name
        ),
        "dialect": about("For a graph: `docs` or `spec` instead of the one detected.", name),
        "description": about("What the scenario shows.", name),
        "workload": about("Laid over the document's own input.", MAPPING),
        "outcomes": about(
            "What tasks give, by `step.task`, task label or step name; `fetch#2.call` names a "
            "visit, `fetch#1[3].call` an iteration. A list is used up in order and its last entry "
            "repeats. A task that is not named succeeds with {}.",
            nullable({"type": "object", "additionalProperties": _entries()}),
        ),
        "signals": about(
            "Signals that come whether or not anyone waits.",
            nullable({"type": "array", "items": _signal()}),
        ),
        "random": about(
            "What chance draws: a fraction that every draw gives, `{seed: N}`, or "
            "`{draws: [fractions]}`. Default 0.5.",
            _chance(),
        ),
        "now": about("The moment it starts. Default 2000-01-01T00:00:00Z.", _moment()),
        "lags": about(
            "How long a worker takes to come, by step-run (`fetch#1`): a list of seconds.",
            nullable({"type": "object", "additionalProperties": lags}),
        ),
        "invariants": about(
            "Conditions that hold for every run there can be, whatever goes wrong.",
            nullable(_TEXTS),
        ),
        "expect": about("What the simulation has to give.", nullable(ref("expect"))),
    }


def _moment() -> Schema:
    return {"type": ["string", "null"], "pattern": r"^\d{4}-?(\d\d|W\d\d)"}


def _chance() -> Schema:
    drawn = {"type": "array", "items": _FRACTION}
    shapes = {
        "seed": about("Where the stream of random numbers starts.", {"type": "integer"}),
        "draws": about("The first numbers drawn.", drawn),
    }
    one = {"anyOf": [has("seed"), has("draws")], "allOf": at_most_one(shapes)}
    return by_type(number=_FRACTION, object={**table(shapes, shapes), **one})


def _signal() -> Schema:
    shapes = {
        "signal": about("The signal's name.", {"type": "string", "pattern": r"^[^\s/]+$"}),
        "payload": about("What the signal brings.", ANYTHING),
        "id": about("The same id is taken once.", {"type": ["string", "null"]}),
        "at": about("After how many seconds it comes.", _TAKES),
    }
    return {**table(script._SIGNAL_KEYS, shapes), **has("signal")}


# --- outcomes ------------------------------------------------------------------------------------


def _entries() -> Schema:
    listed = {"type": "array", "minItems": 1, "items": nullable(ref("entry"))}
    return {"anyOf": [listed, ref("entry"), {"type": "null"}]}


def _entry() -> Schema:
    suggested = nullable(_TEXTS)
    words = {
        "result": about("What the tool gives; {} unless given.", ANYTHING),
        "error": about("Makes it an error outcome.", nullable({"anyOf": [ref("error"), _TEXT]})),
        "times": about("For how many executions. Default 1.", {"type": "integer", "minimum": 1}),
        "takes": about("How many seconds each takes. Default 0.", _TAKES),
        "late": about("How many seconds later its outcome is known. Default 0.", _TAKES),
        "answer": about("What a person answers.", _SCALAR),
        "status": about("How it went, in the words of graphs: SUCCESS, FAILURE, RETRY…", _TEXT),
        "label": about("Which arc the outcome prefers.", _SCALAR),
        "context": about("Written to the run's context.", MAPPING),
        "suggested": about("The steps that the outcome suggests.", suggested),
        "notes": about("What an agent notes.", ANYTHING),
        "signal": about("The signal that the task waits for: its payload.", ANYTHING),
        **{name: _helper(one) for name, one in HELPERS.items()},
    }
    for other, name in script._ALIASES.items():
        words[other] = about(f"Another name for `{name}`.", words[name])
    return {"title": "An outcome", **table(script._ENTRY_KEYS, words)}


def _error() -> Schema:
    kinds = f"What went wrong: {', '.join(RETRYABLE)}, or a word of a tool of your own."
    return {
        "type": "object",
        "properties": {
            "kind": about(kinds, _TEXT),
            "message": about("What the error says.", ANYTHING),
            "retryable": about("Whether trying again can help; else as its kind has it.", ANYTHING),
            "code": about("The code of the error.", ANYTHING),
            "retry_after": about("How many seconds the server asks to wait.", ANYTHING),
            "type": about(f"In the words of graphs: {', '.join(ErrorType)}.", _TEXT),
        },
    }


# --- expectations --------------------------------------------------------------------------------


def _expect() -> Schema:
    whole = {"type": "integer"}
    number = {"type": "number"}
    shapes = {
        "status": about("How the run ends.", word(STATUSES)),
        "exit_status": about("What `anew simulate` exits with.", whole),
        "visits": about("The steps, in the order they start.", _STEPS),
        "branches": about(
            "With `parallel`: steps that come in this order.", {"type": "array", "items": _STEPS}
        ),
        "attempts": about(
            "Executions by task label; labels that are not named are not compared.",
            {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        ),
        "delays": about("The wait before every retry, in order.", _delays()),
        "elapsed": about("Virtual seconds from start to end.", number),
        "ctx": about("Keys that have these values; other keys are allowed.", {"type": "object"}),
        "noctx": about("Keys that are absent from `ctx`.", _TEXTS),
        "error": about("Part of the run's error, or null.", MAPPING),
        "error_kind": about("The kind of the run's error, or null.", {"type": ["string", "null"]}),
        "result": about("Part of the run's result.", ANYTHING),
        "handled": about("The steps whose failure was handled, in order.", _STEPS),
        "compensation": about(
            "How many visits were undone: `{done, failed}`; null: none.", MAPPING
        ),
        "unsatisfied": about("The goal gates that were not satisfied.", _STEPS),
        "language": about("playbook or dot.", _TEXT),
        "dialect": about("The dialect of the document.", _TEXT),
        "timeline": about("What `anew simulate` prints, line by line.", _TEXT),
        "parallel": about(
            "true: the order of visits and delays does not count.", {"type": "boolean"}
        ),
        "loops": about("Steps that are loops; for readers.", _STEPS),
    }
    # Delays that come in any order are told apart by their length alone.
    is_parallel = {"properties": {"parallel": {"const": True}}, **has("parallel")}
    sorted_delays = {"properties": {"delays": {"items": {"anyOf": [number, has("seconds")]}}}}
    limit = when(is_parallel, sorted_delays)
    return {"title": "What is expected", **table(EXPECT_KEYS, shapes), **limit}


def _delays() -> Schema:
    shapes = {
        "task": about("The task's label.", ANYTHING),
        "attempt": about("The attempt that just ended.", ANYTHING),
        "seconds": about("How long the wait is.", {"type": "number"}),
    }
    mapping = {**table(shapes, shapes), "minProperties": 1}
    return {"type": "array", "items": {"anyOf": [{"type": "number"}, mapping]}}


def _helper(helper: Helper) -> Schema:
    return about(f"What `outcome.{helper.name}` holds: {helper.meaning}.", ANYTHING)
