"""What the inputs of each kind mean, and the shape of those whose values the checker looks at.

The names come from the table of kinds; an input that is new there is missed here by a test.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.playbook.asking import TimeoutAction
from anew.languages.playbook.inputs import ARGS_KEYS
from anew.languages.schema.forms import ANYTHING, Schema, nullable, said, word
from anew.languages.schema.scalars import SECONDS, SECONDS_ABOVE_0, TEMPLATE
from anew.program.kinds import FIDELITIES, Kind

TITLES: Mapping[str, str] = {
    "http": "Sends an HTTP request.",
    "python": "Runs Python code in a process of its own.",
    "postgres": "Runs SQL statements on PostgreSQL, in one transaction.",
    "duckdb": "Runs SQL statements on DuckDB, in one transaction.",
    "sqlite": "Runs SQL statements on SQLite, in one transaction.",
    "shell": "Runs a shell command.",
    "noop": "Calls nothing and gives `result`.",
    "relay": "Calls nothing: the outcome is what its inputs describe.",
    "sleep": "Waits, as durably as a retry.",
    "playbook": "Runs another playbook or graph as a child run.",
    "restart": "Begins the run anew at a step, as another run in its place.",
    "workbook": "Calls a task of the workbook.",
    "secrets": "Gives a reference to a secret.",
    "wait": "Waits for a signal.",
    "human": "Asks a person.",
    "agent": "Asks a model or an agent program.",
}
_EVERYWHERE: Mapping[str, str] = {
    "auth": "The name of a credential, or of an entry of the keychain.",
    "idempotency_key": "true: a key that all attempts of one visit of the task share; or a "
    "template of one.",
    "args": "Arguments, by name.",
}
_SQL: Mapping[str, str] = {
    "command": "One statement or a list of them. Values belong into `params`.",
    "params": "Values that are bound, never spliced into the text.",
    "transaction": "false: every statement commits by itself. Default true.",
    "database": "A database file, relative to the document; a file of the run unless given.",
}
_MEANINGS: Mapping[str, Mapping[str, str]] = {
    "http": {
        "url": "The address, with http:// or https://.",
        "method": "GET unless given.",
        "params": "The query, by name.",
        "headers": "Header fields, by name.",
        "json": "The body, sent as JSON.",
        "body": "The body: a mapping or list as JSON, a text as it is.",
        "payload": "As `body`.",
        "data": "As `body`; with GET, HEAD or DELETE a mapping is the query.",
        "form": "The body, sent as a form.",
        "follow_redirects": "true unless given; at most 10.",
        "verify": "Whether certificates are verified. Default true.",
    },
    "python": {
        "code": "The code. `main(…)` is called with the arguments; what it returns is the result.",
        "script": "A file with the code, beside the document.",
    },
    "postgres": _SQL,
    "duckdb": _SQL,
    "sqlite": _SQL,
    "shell": {
        "command": "One command, or a list that stops at the first that fails. Values belong into "
        "`env`, or go through the filter `shquote`.",
        "env": "Variables beside PATH, HOME and LANG; the place for values and secrets.",
        "cwd": "The folder it runs in.",
        "stdin": "What it reads from its standard input.",
    },
    "noop": {"result": "What the task gives; {} unless given."},
    "relay": {"outcome": "status, verdict, word, label, suggested, result, error, updates."},
    "sleep": {
        "seconds": "How long: a number of seconds, a duration (`500ms`, `1m`) or a template.",
        "until": "Until when: an ISO 8601 moment.",
    },
    "playbook": {
        "path": "The name of a registered program.",
        "file": "Its file, beside the document.",
        "args": "Laid over its workload.",
        "version": "The version of a registered program; the newest unless given.",
        "async": "true: do not wait for it; the result is `{run_id}`.",
        "return_step": "The step whose result is returned.",
    },
    "restart": {"entry": "The step to begin at."},
    "workbook": {"name": "The name of a task of the workbook."},
    "secrets": {
        "name": "The name of the secret.",
        "provider": "Where it is kept.",
    },
    "wait": {
        "signal": "The signal's name: letters, digits and _ . : @ -",
        "timeout": "How long to wait; for ever unless given.",
    },
    "human": {
        "question": "What is asked.",
        "choices": "The labels to choose from; without them any text is an answer.",
        "timeout": "How long to wait; for ever unless given.",
        "timeout_action": "What follows then: fail (default), first, skip or retry.",
        "default": "The label that is chosen then.",
    },
    "agent": {
        "prompt": "What the agent is asked.",
        "backend": "How the agent is reached.",
        "provider": "Whose model it is.",
        "model": "Which model.",
        "system": "Instructions that stand above the conversation.",
        "preamble": "What happened so far; it stands before the prompt.",
        "goal": "What the whole run is for.",
        "fidelity": f"How much of the run so far it is told: {', '.join(FIDELITIES)}.",
        "thread": "The conversation this belongs to.",
        "history": "What was said earlier in the thread: a list of `{role, text}`.",
        "reasoning_effort": "As the model knows it: low, medium, high.",
        "max_tokens": "How long the answer may be.",
        "temperature": "As the model knows it.",
        "context": "Values for backends that want more than the prompt.",
        "command": "The program to start, for backends that are one.",
        "cwd": "The folder it works in.",
        "env": "Variables it gets.",
        "status_file": "Where it writes how it went.",
        "auto_status": "true: no status file counts as success.",
        "base_url": "The address of the server.",
        "extra_body": "Further fields of the request's body.",
        "settings": "Inputs of other backends, by name.",
    },
}
_LATER: list[Schema] = [{"type": "null"}, TEMPLATE]
_SCALAR: Schema = {"type": ["string", "number", "boolean", "null"]}
_SHAPES: Mapping[tuple[str, str], Schema] = {
    ("sleep", "seconds"): {"anyOf": [*_LATER, SECONDS]},
    ("wait", "signal"): {**_SCALAR, "if": TEMPLATE, "else": {"pattern": r"^[^\s/]+$"}},
    ("wait", "timeout"): {"anyOf": [*_LATER, SECONDS]},
    ("human", "choices"): {"anyOf": [{"type": "array", "items": {"type": "string"}}, *_LATER]},
    ("human", "timeout"): {"anyOf": [*_LATER, SECONDS_ABOVE_0]},
    ("human", "timeout_action"): {"anyOf": [word(TimeoutAction), *_LATER]},
}


def input_shapes(kind: Kind) -> dict[str, Schema]:
    """Every word for an input of the kind, the canonical ones first."""
    own = _MEANINGS[kind.name]
    meanings = {**_EVERYWHERE, **own}
    names = [*own, *(name for name in _EVERYWHERE if name not in own)]
    shapes = {name: said(meanings[name], _shape(kind, name)) for name in names}
    others = sorted(kind.spellings.union(ARGS_KEYS) - shapes.keys())
    for other in others:
        name = kind.canonical(other)
        shapes[other] = said(f"Another name for `{name}`.", _shape(kind, name))
    return shapes


def _shape(kind: Kind, name: str) -> Schema:
    special = _SHAPES.get((kind.name, name))
    if special is not None:
        return special
    return _SCALAR if name in kind.texts else ANYTHING


def timeout_shape(kind: Kind | None) -> Schema:
    """`spec.timeout` of a task; only http has phases."""
    default = f"; {kind.timeout_seconds:g} s unless given" if kind and kind.timeout_seconds else ""
    text = f"The longest time of one attempt: seconds or a duration{default}."
    if kind is not None and kind.name != "http":
        return said(text, nullable(SECONDS_ABOVE_0))
    phases: Schema = {"type": "object", "additionalProperties": SECONDS_ABOVE_0, "minProperties": 1}
    if kind is not None:
        phases = {
            "type": "object",
            "properties": {
                "connect": said("Until the connection stands.", SECONDS_ABOVE_0),
                "read": said("Between two pieces of the answer.", SECONDS_ABOVE_0),
            },
            "additionalProperties": False,
            "minProperties": 1,
        }
    return said(text, nullable({"anyOf": [SECONDS_ABOVE_0, phases]}))
