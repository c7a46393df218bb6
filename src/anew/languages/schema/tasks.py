"""The schema of tasks: the inputs of every kind, and the ways a task can be written.

A kind has one definition with its inputs, and one that closes the mapping: draft 7 closes it only
over keys that stand beside `additionalProperties`. The ways to write a task refer to both.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from anew.languages.playbook.desugar.tasks import TIMEOUT_NAMES
from anew.languages.playbook.keys import (
    ARGS_KEYS,
    SQL_IDLE,
    TASK_IDLE,
    TASK_KEYS,
    TASK_SPEC_KEYS,
)
from anew.languages.schema.backoffs import task_backoff_shape
from anew.languages.schema.forms import (
    ANYTHING,
    GIVEN,
    Schema,
    about,
    at_most_one,
    has,
    holds,
    idle,
    is_word,
    nullable,
    ref,
    refused,
    when,
    word,
)
from anew.languages.schema.inputs import input_shapes, timeout_shape
from anew.languages.schema.repeating import paginate_shape, poll_shape
from anew.languages.schema.rules import one_policy, task_set_shapes
from anew.languages.schema.scalars import FLAG, JITTER, POOL, PRIORITY, SECONDS_ABOVE_0, TEXT
from anew.program.kind import Kind
from anew.program.kinds import KINDS

_LABEL = "The task's label: others jump to it and read its result under this name."
_WRAPPED = "The kind of tool and its inputs."
_OLDER_PLACE = "An older place for an input; it belongs next to `kind`."
Path: TypeAlias = tuple[str, ...]
_HERE: tuple[Path, ...] = ((), ("spec",))


def task_definitions(kinds: Collection[str]) -> dict[str, Schema]:
    """All there is to say about tasks. `kinds` are installed tools, which take any input."""
    definitions: dict[str, Schema] = {
        "kind": about("The tool that is called.", word([*KINDS, *sorted(kinds)])),
        "task": _task(),
        "named-task": _named_task(),
        "wrapped-task": _wrapped_task(),
        "labelled-task": _labelled_task(),
        "pipeline-task": _pipeline_task(),
        "task-words": _task_words(),
    }
    for kind in KINDS.values():
        definitions |= _kind_definitions(kind)
    return definitions


def _kind_definitions(kind: Kind) -> dict[str, Schema]:
    name = kind.name
    inner: list[Path] = [("tool", *path) for path in _HERE]
    return {
        f"inputs-{name}": _inputs(kind),
        f"spec-{name}": _spec(kind),
        f"keys-{name}": _keys(kind),
        **{_given(kind, group): _any_given(kind, group) for group in kind.required},
        f"task-{name}": {"allOf": [ref(f"keys-{name}"), *required(kind, _HERE)]},
        f"wrapped-{name}": {
            "properties": {"tool": ref(f"keys-{name}")},
            "allOf": [ref(f"keys-{name}"), *required(kind, [*_HERE, *inner])],
        },
    }


def _keys(kind: Kind) -> Schema:
    """A task of the kind, in whichever way it is written and whatever it still lacks."""
    keys = ("kind", "name", "tool", *input_keys(kind), *_task_words()["properties"])
    return {
        "properties": dict.fromkeys(keys, True),
        "additionalProperties": False,
        "allOf": [
            ref(f"inputs-{kind.name}"),
            ref("task-words"),
            {"properties": {"spec": ref(f"spec-{kind.name}")}},
        ],
    }


# --- one kind ------------------------------------------------------------------------------------


def input_keys(kind: Kind) -> list[str]:
    """Every key that stands beside the kind for its sake: inputs and timeouts."""
    return [*_inputs(kind)["properties"]]


def _inputs(kind: Kind) -> Schema:
    shapes = input_shapes(kind)
    shapes |= idle(key for key in _idle_keys(kind) if key not in shapes)
    if "timeout" not in kind.inputs:
        shapes |= {name: timeout_shape(kind) for name in TIMEOUT_NAMES}
    title = f"A task of kind {kind.name}"
    meaning = {"title": title, "description": kind.title}
    return {**meaning, "properties": shapes, "allOf": exclusive(kind)}


def _idle_keys(kind: Kind) -> list[str]:
    return [*TASK_IDLE, *(SQL_IDLE if kind.sql else ())]


def _task_words() -> Schema:
    """What a task of any kind says besides its inputs."""
    shapes = {
        "spec": about("The task's policy, its timeout and its pool.", nullable(_any_spec())),
        "eval": ref("eval"),
        "retry": ref("retry"),
        "paginate": paginate_shape(),
        "poll": poll_shape(),
        **task_set_shapes(),
        "desc": about("What the task is for.", ANYTHING),
        "description": about("What the task is for.", ANYTHING),
    }
    assert shapes.keys() == TASK_KEYS
    return {"properties": shapes, "allOf": one_policy()}


def _any_spec() -> Schema:
    """The `spec` of a task of any kind; `_spec` says what else it may hold."""
    shapes = {
        "policy": ref("policy"),
        "timeout": timeout_shape(None),
        "jitter": about("The jitter of the retry rules that name none.", JITTER),
        "backoff": task_backoff_shape(),
        "pool": about("The workers that may run it.", POOL),
        "runs_on": about("Accepted; has no effect.", ANYTHING),
        "exactly_once": about("true: the changes of the statements are made once.", FLAG),
        "dependency": about("Whom it calls, for guards; by default its inputs say it.", TEXT),
        "priority": about("Of held calls, those with the highest start first.", PRIORITY),
        "hold_timeout": about("How long guards may hold a call.", SECONDS_ABOVE_0),
    }
    assert shapes.keys() == TASK_SPEC_KEYS
    return {"type": "object", "properties": shapes}


def _spec(kind: Kind) -> Schema:
    older = f"^(?:{'|'.join(input_shapes(kind))})$"
    return {
        "properties": {
            **dict.fromkeys((*sorted(TASK_SPEC_KEYS), *_idle_keys(kind)), True),
            "timeout": timeout_shape(kind),
        },
        "patternProperties": {older: about(_OLDER_PLACE)},
        "additionalProperties": False,
    }


def exclusive(kind: Kind) -> list[Schema]:
    """That no input is given under two names, nor beside one that excludes it."""
    spellings = [_spellings(kind, name) for name in (*sorted(kind.inputs), "auth", "args")]
    # A task may be labelled by the very `name` that is an input, beside the input's other name.
    pairs = [names for names in spellings if len(names) > 1 and "name" not in names]
    found = [limit for names in pairs for limit in at_most_one(names)]
    for group in kind.choices:
        given = [{"properties": {name: GIVEN}, **has(name)} for name in group]
        one = {"oneOf": [*given, {"not": {"anyOf": given}}]}
        found.append(one)
    return found


def _spellings(kind: Kind, name: str) -> list[str]:
    """The input's own name, then the others."""
    words = kind.spellings.union(ARGS_KEYS)
    return [name, *sorted(other for other in words - {name} if kind.canonical(other) == name)]


# --- what is required, and where it may stand ----------------------------------------------------


def required(kind: Kind, paths: Collection[Path] = ((),)) -> list[Schema]:
    """What a mapping must have that holds the inputs of the kind, at one of these paths."""
    if kind.takes_args_apart:
        paths = [*paths, *((*path, key) for path in paths for key in ARGS_KEYS)]
    return [
        {"anyOf": [_below(path, _given(kind, group)) for path in paths]} for group in kind.required
    ]


def _given(kind: Kind, group: tuple[str, ...]) -> str:
    return f"has-{kind.name}-{'-or-'.join(group)}"


def _any_given(kind: Kind, group: tuple[str, ...]) -> Schema:
    names = [word for name in group for word in _spellings(kind, name)]
    return {"anyOf": [{**has(name), "properties": {name: GIVEN}} for name in names]}


def _below(path: Path, definition: str) -> Schema:
    shape = ref(definition)
    for key in reversed(path):
        shape = {**has(key), "properties": {key: {"type": "object", "allOf": [shape]}}}
    return shape


# --- the ways to write a task --------------------------------------------------------------------


def _by_kind(form: str, *holder: str) -> list[Schema]:
    """The definition of that form which fits the kind; any other kind takes any input."""
    rows = []
    for name in KINDS:
        asked = is_word("kind", name)
        for key in holder:
            asked = {"properties": {key: asked}, **holds(key)}
        rows.append(when(asked, ref(f"{form}-{name}")))
    return rows


def _unlabelled() -> Schema:
    """Where a task has its label outside, `name` is an input; few kinds have it."""
    nameless = [kind.name for kind in KINDS.values() if "name" not in kind.inputs]
    return {"allOf": [when(_of_kinds(nameless), refused(("name",))), _unwrapped()]}


def _unwrapped() -> Schema:
    """`tool` is no wrapper next to `kind`, but an input of a few kinds."""
    having = [kind.name for kind in KINDS.values() if "tool" in kind.inputs]
    return when({"not": _of_kinds(having)}, refused(("tool",)))


def _of_kinds(names: list[str]) -> Schema:
    return {"properties": {"kind": {"enum": names}}, **has("kind")}


def _task() -> Schema:
    return {
        "title": "A task",
        "description": "`kind` names the tool, its inputs are next to it.",
        "type": "object",
        "properties": {"kind": ref("kind")},
        **has("kind"),
        "allOf": [ref("task-words"), _unlabelled(), *_by_kind("task")],
    }


def _named_task() -> Schema:
    return {
        "title": "A task with its `name`",
        "description": "The canonical form is `label: {kind: …}`.",
        "properties": {"kind": ref("kind"), "name": about(_LABEL, TEXT)},
        "allOf": [ref("task-words"), _unwrapped(), *_by_kind("task")],
    }


def _wrapped_task() -> Schema:
    tool = {"type": "object", "properties": {"kind": ref("kind")}, **has("kind")}
    return {
        "title": "A task with its `tool`",
        "type": "object",
        "properties": {
            "name": about(_LABEL, TEXT),
            "tool": about(_WRAPPED, {**tool, "allOf": [_unwrapped()]}),
        },
        **has("tool"),
        "allOf": _by_kind("wrapped", "tool"),
    }


def _labelled_task() -> Schema:
    is_wrapped = {"properties": {"tool": {"type": "object"}}, **holds("tool"), "not": has("kind")}
    wrapped = {"allOf": [ref("wrapped-task"), refused(("name",))]}
    return {"type": "object", **when(is_wrapped, wrapped, ref("task"))}


def _pipeline_task() -> Schema:
    """An element of a list of tasks."""
    is_wrapped = {"properties": {"tool": {"type": "object"}}, **holds("tool")}
    unlabelled = {"anyOf": [is_wrapped, holds("name")]}
    by_label = {
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": ref("labelled-task"),
    }
    return {
        "title": "A task of a pipeline",
        "description": "`label: {kind: …, …}`. The label is the name others jump to and read.",
        "type": "object",
        **when(holds("kind"), ref("named-task"), when(unlabelled, ref("wrapped-task"), by_label)),
    }
