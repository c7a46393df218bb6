"""The schema of where a token goes next: `next` in all its forms, and its arcs."""

from __future__ import annotations

from anew.languages.playbook.keys import (
    ARC_ARGS_KEYS,
    ARC_KEYS,
    BRANCH_KEYS,
    CASE_ACTIONS,
    CASE_BRANCH_KEYS,
    ROUTER_KEYS,
    ROUTER_SPEC_KEYS,
)
from anew.languages.schema.forms import (
    ANYTHING,
    Schema,
    about,
    at_most_one,
    by_type,
    has,
    holds,
    nullable,
    ref,
    table,
    when,
    word,
)
from anew.languages.schema.rules import visit_set_shape
from anew.languages.schema.scalars import CONDITION, FLAG, MAPPING, STEP, TEXT, WHOLE
from anew.program.program import RouteMode

# A policy that cannot say anything: only a task decides on outcomes.
NO_POLICY: Schema = nullable(table((), {}))

_NAME = ("string", "number", "boolean")


def route_definitions() -> dict[str, Schema]:
    return {
        "next": _next(),
        "router": _router(),
        "arc": _arc(),
        "arc-mapping": _arc_mapping(),
        "arc-or-branch": _arc_or_branch(),
        "case": _case(),
    }


def _next() -> Schema:
    is_arc = {**holds("step"), "not": {"anyOf": [has("arcs"), has("spec")]}}
    listed = {"items": ref("arc-or-branch")}
    mapping = when(is_arc, ref("arc-mapping"), ref("router"))
    forms = by_type(*_NAME, "null", object=mapping, array=listed)
    text = (
        "Where tokens go when the step ends: `{spec: {mode: …}, arcs: [{step: …, when: …}]}`. Also "
        "a name, a list of names or arcs, or one arc."
    )
    return {"title": "Where tokens go", "description": text, **forms}


def _router() -> Schema:
    spec = {
        "mode": about(
            "exclusive (default): the first arc that holds; inclusive: all that hold; preferred: "
            "one, by what the outcome prefers; fork: all, as branches.",
            word(RouteMode),
        ),
        "must_choose": about("true: a visit that succeeds and finds no arc has failed.", FLAG),
        "gives_up": about("true, with `must_choose`: that failure fails the run.", FLAG),
        "join": about("For `fork`: the step at which the branches meet.", STEP),
        "max_in_flight": about("For `fork`: branches running at a time; all unless given.", WHOLE),
        "policy": about("Has no effect here; a task decides on outcomes.", NO_POLICY),
        "on_no_match": about("Accepted; has no effect.", ANYTHING),
    }
    shapes = {
        "spec": about("How arcs are chosen.", nullable(table(ROUTER_SPEC_KEYS, spec))),
        "arcs": about("Asked in file order.", {"type": ["array", "null"], "items": ref("arc")}),
    }
    return {"title": "A router", **table(ROUTER_KEYS, shapes), **has("arcs")}


def _arc() -> Schema:
    text = "`{step: …, when: …, args: {…}}`, or the name of a step."
    return {"title": "An arc", **about(text, by_type(*_NAME, object=ref("arc-mapping")))}


_IS_BRANCH: Schema = {"type": "object", "anyOf": [has("then"), has("else")]}


def _arc_or_branch() -> Schema:
    text = "An arc; or an older branch, `{when: …, then: [{step: …}]}` or `{else: [{step: …}]}`."
    return {"title": "An arc", **about(text, when(_IS_BRANCH, _branch(), ref("arc")))}


def _branch() -> Schema:
    """An older branch of `next`."""
    return table(BRANCH_KEYS, _branch_shapes(_targets()))


def _branch_shapes(then: Schema) -> dict[str, Schema]:
    wrapped = {"properties": {"then": then}, "maxProperties": 1}
    otherwise = when(holds("then"), wrapped, then)
    return {
        "when": about("Whether the branch is taken; the first that holds is.", nullable(CONDITION)),
        "then": about("What it does.", then),
        "else": about("What is done where no branch was taken; the last one.", otherwise),
        "desc": about("What the branch is for.", ANYTHING),
        "description": about("What the branch is for.", ANYTHING),
    }


def _targets() -> Schema:
    """The steps that an older branch leads to."""
    arc = {"allOf": [ref("arc")], "not": holds("when")}
    return when({"type": "array"}, {"items": arc}, nullable(arc))


def _case() -> Schema:
    shapes = {
        "next": about("The steps to go to.", _targets()),
        "set": about("What is written to `ctx` on the way.", MAPPING),
        "retry": about("For a branch on `call.error`: a retry block of the task.", ref("retry")),
        "result": about("Accepted; has no effect.", ANYTHING),
    }
    action = when({"not": {"type": "object"}}, ref("arc"), _action(shapes))
    does = when({"type": "array"}, {"items": action}, nullable(action))
    named = {"name": about("What the branch is called.", ANYTHING)}
    branch = table(CASE_BRANCH_KEYS, {**_branch_shapes(does), **named})
    text = "An older form of arcs, and of a retry block: the first branch that holds decides."
    items = {**branch, "anyOf": [has("then"), has("else")]}
    return about(text, {"type": ["array", "null"], "items": items})


def _action(shapes: dict[str, Schema]) -> Schema:
    return when(holds("step"), _targets(), table(CASE_ACTIONS, shapes))


def _arc_mapping() -> Schema:
    shapes = {
        "step": about("The step it leads to.", TEXT),
        "when": about(
            "Whether it is taken; reads `event`. Without it the arc answers success only.",
            CONDITION,
        ),
        "args": about("Arguments for the step it leads to, read there as `args`.", MAPPING),
        "on_failure": about("true: an arc without `when` takes failures too.", FLAG),
        "most": about("How often one run may take it.", WHOLE),
        "label": about("For mode preferred: the label of outcomes that prefer it.", TEXT),
        "weight": about("For mode preferred: the larger one is asked first.", {"type": "integer"}),
        "input": about("Another name for `args`.", MAPPING),
        "with": about("Another name for `args`.", MAPPING),
        "set_ctx": visit_set_shape("An older form of `set`."),
        "set": visit_set_shape(
            "Written to the run's `ctx` when the arc is chosen, before its token: `{ctx.page: …}`."
        ),
        "desc": about("What the arc is for.", ANYTHING),
        "description": about("What the arc is for.", ANYTHING),
        "spec": about("Accepted; has no effect.", {"properties": {"policy": NO_POLICY}}),
    }
    one = {"allOf": at_most_one(ARC_ARGS_KEYS)}
    return {"title": "An arc", **table(ARC_KEYS, shapes), **has("step"), **one}
