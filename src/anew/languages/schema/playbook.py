"""The JSON Schema of a whole playbook, for editors.

Made from the tables the compiler reads by, so that it accepts and refuses what `anew check` does,
as far as a shape can tell: it does not follow names, nor look into expressions.
"""

from __future__ import annotations

from collections.abc import Collection

from anew.languages.playbook.keys import (
    EXECUTOR_IDLE,
    EXECUTOR_KEYS,
    EXECUTOR_POLICY_IDLE,
    EXECUTOR_SPEC_KEYS,
    ROOT_IDLE,
    ROOT_KEYS,
)
from anew.languages.playbook.playbook import CtxStart
from anew.languages.schema.forms import (
    ANYTHING,
    DRAFT,
    Schema,
    about,
    by_type,
    has,
    holds,
    idle,
    nullable,
    ref,
    table,
    when,
    word,
)
from anew.languages.schema.guards import guard_rule
from anew.languages.schema.routes import route_definitions
from anew.languages.schema.rules import rule_definitions
from anew.languages.schema.scalars import MAPPING, PRIORITY, STEP, TEXT, WHOLE, scalar_definitions
from anew.languages.schema.specs import failure_shape, spec_definitions
from anew.languages.schema.steps import step_definitions
from anew.languages.schema.tasks import task_definitions
from anew.program.program import Limits

_NO_EFFECT = "Accepted; has no effect."
_LIMITS = {
    "tasks_per_step_run": "How many tasks one step-run may execute, retries included.",
    "deliveries": "How many workers a step-run may lose before it is given up.",
    "loop_iterations": "How many items a loop may have.",
    "steps_per_run": "How many visits a run may make in all.",
    "visits_per_step": "How often a run may visit one step.",
    "same_failures": "How often a step may fail with the same error before the run stops.",
    "restarts": "How often a run may be restarted.",
}


def playbook_schema(kinds: Collection[str] = ()) -> Schema:
    """The schema of playbooks. `kinds` are installed tools beside those that are built in."""
    root = table((*ROOT_KEYS, *ROOT_IDLE), _root())
    return {
        "$schema": DRAFT,
        "$id": "anew/playbook.schema.json",
        "title": "A playbook of Anew",
        **about("A workflow of steps, whose tasks map their outcomes to what is done next.", root),
        "patternProperties": {"^x-": about("Free for values that anchors share.", ANYTHING)},
        **has("workflow"),
        "definitions": {
            **step_definitions(),
            **spec_definitions(),
            **task_definitions(kinds),
            **rule_definitions(),
            **route_definitions(),
            **scalar_definitions(),
        },
    }


def _root() -> dict[str, Schema]:
    steps = {"type": "array", "minItems": 1, "items": ref("step")}
    return {
        "apiVersion": about(_NO_EFFECT, ANYTHING),
        "kind": about(_NO_EFFECT, ANYTHING),
        "metadata": about("For readers; `name` is the program's name.", _metadata()),
        "executor": about("Settings of the run.", _executor()),
        "workload": about("Defaults of the run's input; a request is laid over them.", MAPPING),
        "keychain": about("Declared credentials: a list of `{name: …}`.", _keychain()),
        "workflow": about("The steps.", steps),
        "workbook": about("Tasks that tasks of kind workbook call.", _workbook()),
        "ctx": about("What `ctx` starts with; rendered when a run starts.", MAPPING),
        "vars": about("An older name for `ctx`.", MAPPING),
        **idle(ROOT_IDLE),
    }


def _metadata() -> Schema:
    name = about("The program's name; the file's unless given.", nullable(TEXT))
    return nullable({"type": "object", "properties": {"name": name}})


def _keychain() -> Schema:
    named = {
        "type": "object",
        "properties": {
            "name": about("How tasks name it.", {"not": {"enum": ["", None, False, 0]}})
        },
        **has("name"),
    }
    by_name = {"type": "object", "additionalProperties": {"type": "object"}}
    return by_type("null", array={"items": named}, object=by_name)


def _workbook() -> Schema:
    tasks = {"type": "object", "additionalProperties": _or_older(ref("labelled-task"))}
    wrapped = {"type": "object", "properties": {"tasks": tasks}, **has("tasks"), "maxProperties": 1}
    listed = {"items": _or_older(ref("pipeline-task"))}
    return by_type("null", array=listed, object={"anyOf": [tasks, wrapped]})


def _or_older(task: Schema) -> Schema:
    """A task, or an older one whose kind is a text; of those, the compiler knows the inputs."""
    words = [{"properties": {key: TEXT}, **holds(key)} for key in ("tool", "type")]
    is_older = {"anyOf": words, "not": {"anyOf": [has("kind"), _WRAPPED]}}
    older = {"properties": {"tool": ref("kind"), "type": TEXT}}
    by_type_only = {"properties": {"type": ref("kind")}}
    return when(is_older, when(has("tool"), older, by_type_only), task)


_WRAPPED: Schema = {"properties": {"tool": {"type": "object"}}, **has("tool")}


def _dependencies() -> Schema:
    """By pattern; `program/guard_rules.py` reads them."""
    return nullable({"type": "object", "additionalProperties": nullable(guard_rule())})


def _executor() -> Schema:
    shapes = {
        "profile": about("`local`: bash reads shell commands that name no shell.", ANYTHING),
        "version": about(_NO_EFFECT, ANYTHING),
        "requires": about(_NO_EFFECT, ANYTHING),
        "spec": about("Where the run starts, its limits and its policy.", _executor_spec()),
    }
    return nullable(table((*EXECUTOR_KEYS, *EXECUTOR_IDLE), {**shapes, **idle(EXECUTOR_IDLE)}))


def _executor_spec() -> Schema:
    limits = {name: about(text, WHOLE) for name, text in _LIMITS.items()}
    policy = {
        "failure": about("What a failure does that no arc handles.", failure_shape("fallback")),
        **idle(EXECUTOR_POLICY_IDLE),
    }
    shapes = {
        "entry_step": about("The first step; else `start`, else the first in the file.", STEP),
        "final_step": about(_NO_EFFECT, ANYTHING),
        "return_step": about("The step whose result is the run's.", STEP),
        "no_next_is_error": about(_NO_EFFECT, ANYTHING),
        "policy": about("`failure: {mode: …, fallback: …}`.", nullable(table(policy, policy))),
        "limits": about("Bounds of a run.", nullable(table(Limits.__struct_fields__, limits))),
        "ctx": about("What `ctx` holds at first: empty (default) or the input.", word(CtxStart)),
        "dependencies": about("What protects whom the tasks call, by name.", _dependencies()),
        "priority": about("Of held calls, those with the highest start first.", PRIORITY),
        **idle(EXECUTOR_IDLE),
    }
    return nullable(table((*EXECUTOR_SPEC_KEYS, *EXECUTOR_IDLE), shapes))
