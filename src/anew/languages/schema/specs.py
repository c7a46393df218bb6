"""The schema of a step's `spec`: who may enter, how tokens join, and what a failure does."""

from __future__ import annotations

from anew.languages.playbook.goals import GateBudget
from anew.languages.playbook.joining import JoinWord
from anew.languages.playbook.keys import (
    ADMIT_IDLE,
    ADMIT_KEYS,
    GATE_KEYS,
    JOIN_KEYS,
    LIFECYCLE_KEYS,
    STEP_POLICY_KEYS,
    STEP_SPEC_IDLE,
    STEP_SPEC_KEYS,
)
from anew.languages.schema.forms import (
    ANYTHING,
    Schema,
    by_type,
    has,
    idle,
    is_word,
    nullable,
    ref,
    refused,
    said,
    table,
    when,
    word,
)
from anew.languages.schema.inputs import timeout_shape
from anew.languages.schema.scalars import CONDITION, FLAG, POOL, SECONDS_ABOVE_0, STEP, WHOLE
from anew.program.policy import Verdict
from anew.program.program import FailureMode, JoinPolicy, RouteMode


def spec_definitions() -> dict[str, Schema]:
    return {
        "spec-of-a-step": _spec(),
        "gate": _gate(),
        "join": _join(),
        "admission-rule": _admission_rule(),
        "admission-answer": _admission_answer(),
    }


def _spec() -> Schema:
    policy = {
        "admit": said("Who may enter: `{rules: [{when: …, then: {allow: true}}]}`.", _admit()),
        "failure": said("What a failure of this step does.", failure_shape("goto")),
        "lifecycle": said("`{timeout_s: 60}`: the deadline of the step.", _lifecycle()),
    }
    shapes = {
        "policy": said(
            "`admit`, `failure` and `lifecycle`; only a task decides on outcomes.",
            nullable(table(STEP_POLICY_KEYS, policy)),
        ),
        "join": ref("join"),
        "pool": said("The workers that may run the step: those with this `--pool`.", POOL),
        "runs_on": said("Accepted; has no effect.", ANYTHING),
        "gate": ref("gate"),
        "exit": said("true: the run ends here, if the gates allow it.", FLAG),
        "visits_max": said("How often a run may visit the step.", WHOLE),
        "timeout": timeout_shape(None),
        "next_mode": said("An older place of `next.spec.mode`.", word(RouteMode)),
    }
    idle_keys = idle(STEP_SPEC_IDLE)
    mapping = table((*STEP_SPEC_KEYS, "timeout", "next_mode", *idle_keys), {**shapes, **idle_keys})
    return said("The step's gate, join, failure, deadline and pool.", nullable(mapping))


def failure_shape(way: str) -> Schema:
    """`failure` of a step (`goto`) or of the executor (`fallback`)."""
    mapping = table(
        ("mode", way),
        {
            "mode": said(
                "fail_fast (default): no new step starts; best_effort: other branches continue.",
                word(FailureMode),
            ),
            way: said("The step that takes a failure which no arc handles.", STEP),
        },
    )
    return nullable(mapping)


def _lifecycle() -> Schema:
    deadline = said("The deadline of the step, in seconds.", SECONDS_ABOVE_0)
    return nullable(table(LIFECYCLE_KEYS, {"timeout_s": deadline}))


def _admit() -> Schema:
    rules = {"type": ["array", "null"], "items": ref("admission-rule")}
    text = "Tried in order; the first that matches decides. Without one, every token may enter."
    shapes = {"rules": said(text, rules), **idle(ADMIT_IDLE)}
    return nullable(table((*ADMIT_KEYS, *ADMIT_IDLE), shapes))


def _admission_rule() -> Schema:
    shapes = {
        "when": said("The rule matches when this holds.", CONDITION),
        "then": said("`{allow: true}` or `{allow: false}`.", ANYTHING),
        "else": said("Always matches: `{then: {allow: false}}`.", ANYTHING),
        "allow": said("Whether a token may enter.", FLAG),
    }
    is_else = {"properties": {"else": {"type": "object"}}, **has("else")}
    answer = ref("admission-answer")
    return {
        "title": "An admission rule",
        **table(shapes, shapes),
        **when(is_else, {"properties": {"else": answer}}, answer),
    }


def _admission_answer() -> Schema:
    """`allow`, in `then` or beside it."""
    allow = {"properties": {"allow": FLAG, "do": False}, **has("allow")}
    is_then = {"properties": {"then": {"type": "object"}}, **has("then")}
    return when(is_then, {"properties": {"then": allow}}, allow)


def _gate() -> Schema:
    verdicts = word(Verdict)
    shapes = {
        "accepts": said(
            "The verdicts that satisfy it. Default success.",
            nullable({"anyOf": [verdicts, {"type": "array", "minItems": 1, "items": verdicts}]}),
        ),
        "when": said(
            "What must also have held when its last visit ended; it reads what arcs read.",
            nullable(CONDITION),
        ),
        "to": said("The step that the run is sent back to.", STEP),
        "most": said("How often it is sent back.", WHOLE),
        "visited_only": said("true: only a step that was visited counts.", FLAG),
        "budget": said("What these times come out of.", word(GateBudget)),
    }
    forms = by_type("boolean", "null", object=table(GATE_KEYS, shapes))
    return said("The step must have succeeded before the run may end: true or a mapping.", forms)


def _join() -> Schema:
    shapes = {
        "policy": said("When the branches of a split have done enough.", word(JoinPolicy)),
        "k": said("For k_of_n: how many have to succeed.", ANYTHING),
        "merge": said("Whether what branches wrote to `ctx` is merged. Default true.", FLAG),
        "lenient": said("true: fails only when every branch has failed.", FLAG),
    }
    k = {"properties": {"k": WHOLE}, **has("k")}
    mapping = {
        **table(JOIN_KEYS, shapes),
        **when(is_word("policy", JoinPolicy.K_OF_N), k, refused(("k",))),
    }
    words = word([each for each in JoinWord if each is not JoinWord.K_OF_N])
    text = (
        "How tokens meet here. all (default): one visit for all that can still come; each: one "
        "visit a token; the other words: how the branches of a split are taken up."
    )
    return said(text, by_type("null", string=words, object=mapping))
