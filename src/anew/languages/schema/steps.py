"""The schema of a step: its tool in all spellings, and its loop. `specs` has its `spec`."""

from __future__ import annotations

from anew.languages.playbook import loops
from anew.languages.playbook.keys import (
    ARGS_KEYS,
    LOOP_KEYS,
    LOOP_POLICY_IDLE,
    LOOP_SPEC_KEYS,
    STEP_IDLE,
    STEP_KEYS,
    UNSUPPORTED_KEYS,
)
from anew.languages.schema.forms import (
    ANYTHING,
    Schema,
    about,
    at_most_one,
    by_type,
    has,
    holds,
    idle,
    is_word,
    nullable,
    ref,
    refused,
    table,
    when,
    word,
)
from anew.languages.schema.rules import task_set_shapes, visit_set_shape
from anew.languages.schema.saves import SAVE
from anew.languages.schema.scalars import (
    CONDITION,
    EXPRESSION,
    MAPPING,
    NAME,
    TEXT,
    WHOLE_OR_LATER,
)
from anew.languages.schema.tasks import input_keys, required
from anew.program.kind import Kind
from anew.program.kinds import KINDS
from anew.program.program import LoopMode


def step_definitions() -> dict[str, Schema]:
    return {
        "step": _step(),
        "string-tool": _string_tool(),
        "loop": _loop(),
        **{f"step-with-{kind.name}": _step_with(kind) for kind in KINDS.values()},
    }


# --- the step ------------------------------------------------------------------------------------


def _step() -> Schema:
    is_string = {
        "anyOf": [
            {"properties": {"tool": TEXT}, **has("tool")},
            {"properties": {"type": TEXT}, **has("type"), "not": has("tool")},
        ]
    }
    several = {"properties": {"tool": {"type": "array", "minItems": 2}}, **has("tool")}
    return {
        "title": "A step",
        "description": "Tasks that run in order, and where tokens go when they have ended.",
        "type": "object",
        "properties": _step_shapes(),
        **has("step"),
        "allOf": [
            when(is_string, ref("string-tool"), _with_tasks()),
            when(several, refused(("retry", "eval"))),
            *at_most_one(("eval", "retry")),
            *at_most_one(("save", "sink")),
        ],
    }


def _step_shapes() -> dict[str, Schema]:
    arguments = "Arguments for every task of the step that takes them; the task's own win."
    shapes = {
        "step": about("The step's name.", NAME),
        "desc": about("What the step is for.", ANYTHING),
        "description": about("What the step is for.", ANYTHING),
        "spec": ref("spec-of-a-step"),
        "loop": ref("loop"),
        "tool": about(
            "The step's tasks: a list of `label: {kind: …}`, one `{kind: …}`, or a kind with its "
            "inputs on the step. Without it the step does nothing and succeeds.",
            _tools(),
        ),
        "compensate": about(
            "Tasks, as in `tool`, that undo a visit which ended done, should the run fail or be "
            "cancelled. The step's name reads its result.",
            nullable(_tools()),
        ),
        "type": about("An older name for `tool`.", _tools()),
        "next": ref("next"),
        "set": about(
            "Written to the run's `ctx` when a visit ends done, before arcs are asked: "
            "`{ctx.page: …}`. `output` is the step's result. Next to a tool that is a word, it is "
            "the task's.",
            MAPPING,
        ),
        "set_ctx": visit_set_shape("An older form of `set`."),
        "vars": visit_set_shape("An older form of `set`."),
        "retry": ref("retry"),
        "eval": ref("eval"),
        "when": about("An older form of `spec.policy.admit`: who may enter.", CONDITION),
        "case": ref("case"),
        "save": SAVE,
        "sink": SAVE,
    }
    assert shapes.keys() | UNSUPPORTED_KEYS.keys() == STEP_KEYS
    return {
        **shapes,
        **idle(STEP_IDLE),
        **{key: about(arguments, ANYTHING) for key in ARGS_KEYS},
    }


def _tools() -> Schema:
    pipeline = {"type": "array", "minItems": 1, "items": ref("pipeline-task")}
    return by_type(array=pipeline, object=ref("task"), string=ref("kind"))


def _with_tasks() -> Schema:
    """A step whose tasks are mappings, or that has none."""
    arguments = nullable({"anyOf": [{"type": "object"}, EXPRESSION]})
    shapes = {**dict.fromkeys(_step_shapes(), True), **dict.fromkeys(ARGS_KEYS, arguments)}
    shapes["set"] = visit_set_shape()
    timeless = {"properties": {"spec": {"properties": {"timeout": False}}}}
    return {
        "properties": shapes,
        "additionalProperties": False,
        "allOf": [timeless, *at_most_one(ARGS_KEYS)],
    }


def _string_tool() -> Schema:
    """A step whose tool is a word: the inputs of that kind stand on the step."""
    rows = []
    for name in KINDS:
        typed = {**is_word("type", name), "not": has("tool")}
        asked = {"anyOf": [is_word("tool", name), typed]}
        rows.append(when(asked, ref(f"step-with-{name}")))
    return {"properties": {"set": task_set_shapes()["set"]}, "allOf": rows}


def _step_with(kind: Kind) -> Schema:
    own = dict.fromkeys(_step_shapes(), True)
    given = dict.fromkeys(input_keys(kind), True)
    return {
        "properties": {**own, **given},
        "additionalProperties": False,
        "allOf": [{"not": has("tool", "type")}, ref(f"inputs-{kind.name}"), *required(kind)],
    }


# --- loop ----------------------------------------------------------------------------------------


# As Python has it: a letter or _ first, then digits too.
ITERATOR: Schema = {
    "type": ["string", "boolean"],
    "pattern": r"^(?![0-9])[^\s!-/:-@\[-\^`{-~]+$",
    "not": {"enum": sorted(loops._TAKEN)},
}


def _loop() -> Schema:
    settings = {
        "mode": about("sequential (default) or parallel.", word(LoopMode)),
        "max_in_flight": about(
            "Iterations of a parallel loop at a time. Default 32.", WHOLE_OR_LATER
        ),
    }
    execution = {"exec": about("Accepted; has no effect.", TEXT), **idle(LOOP_POLICY_IDLE)}
    policy = about("Has no effect here.", nullable(table(execution, execution)))
    spec = table(LOOP_SPEC_KEYS, {**settings, "policy": policy})
    source = {"anyOf": [EXPRESSION, {"type": ["array", "object"]}]}
    shapes = {
        "in": about("A list, a mapping (gives `{key, value}`) or a template of one.", source),
        "iterator": about("The name of the item: `iter.<iterator>`.", ITERATOR),
        "spec": about("How iterations run.", nullable(spec)),
        **{key: about(f"Belongs into `spec`. {settings[key]['description']}") for key in settings},
    }
    # Beside a `spec` that says the same, they are not read.
    beside = [
        when(
            {"properties": {"spec": holds(key)}, **has("spec")},
            ANYTHING,
            {"properties": {key: shape}},
        )
        for key, shape in settings.items()
    ]
    text = "Runs the tasks once per item; each iteration is a step-run of its own."
    mapping = table(LOOP_KEYS, shapes)
    return {"title": "A loop", **about(text, mapping), **has("in", "iterator"), "allOf": beside}
