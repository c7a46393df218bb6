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
    about,
    by_type,
    has,
    idle,
    is_word,
    nullable,
    ref,
    refused,
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
        "admit": about("Who may enter: `{rules: [{when: …, then: {allow: true}}]}`.", _admit()),
        "failure": about("What a failure of this step does.", failure_shape("goto")),
        "lifecycle": about("`{timeout_s: 60}`: the deadline of the step.", _lifecycle()),
    }
    shapes = {
        "policy": about(
            "`admit`, `failure` and `lifecycle`; only a task decides on outcomes.",
            nullable(table(STEP_POLICY_KEYS, policy)),
        ),
        "join": ref("join"),
        "pool": about("The workers that may run the step: those with this `--pool`.", POOL),
        "runs_on": about("Accepted; has no effect.", ANYTHING),
        "gate": ref("gate"),
        "exit": about("true: the run ends here, if the gates allow it.", FLAG),
        "visits_max": about("How often a run may visit the step.", WHOLE),
        "timeout": timeout_shape(None),
        "next_mode": about("An older place of `next.spec.mode`.", word(RouteMode)),
    }
    idle_keys = idle(STEP_SPEC_IDLE)
    mapping = table((*STEP_SPEC_KEYS, "timeout", "next_mode", *idle_keys), {**shapes, **idle_keys})
    return about("The step's gate, join, failure, deadline and pool.", nullable(mapping))


def failure_shape(way: str) -> Schema:
    """`failure` of a step (`goto`) or of the executor (`fallback`)."""
    mapping = table(
        ("mode", way),
        {
            "mode": about(
                "fail_fast (default): no new step starts; best_effort: other branches continue.",
                word(FailureMode),
            ),
            way: about("The step that takes a failure which no arc handles.", STEP),
        },
    )
    return nullable(mapping)


def _lifecycle() -> Schema:
    deadline = about("The deadline of the step, in seconds.", SECONDS_ABOVE_0)
    return nullable(table(LIFECYCLE_KEYS, {"timeout_s": deadline}))


def _admit() -> Schema:
    rules = {"type": ["array", "null"], "items": ref("admission-rule")}
    text = "Tried in order; the first that matches decides. Without one, every token may enter."
    shapes = {"rules": about(text, rules), **idle(ADMIT_IDLE)}
    return nullable(table((*ADMIT_KEYS, *ADMIT_IDLE), shapes))


def _admission_rule() -> Schema:
    shapes = {
        "when": about("The rule matches when this holds.", CONDITION),
        "then": about("`{allow: true}` or `{allow: false}`.", ANYTHING),
        "else": about("Always matches: `{then: {allow: false}}`.", ANYTHING),
        "allow": about("Whether a token may enter.", FLAG),
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
        "accepts": about(
            "The verdicts that satisfy it. Default success.",
            nullable({"anyOf": [verdicts, {"type": "array", "minItems": 1, "items": verdicts}]}),
        ),
        "when": about(
            "What must also have held when its last visit ended; it reads what arcs read.",
            nullable(CONDITION),
        ),
        "to": about("The step that the run is sent back to.", STEP),
        "most": about("How often it is sent back.", WHOLE),
        "visited_only": about("true: only a step that was visited counts.", FLAG),
        "budget": about("What these times come out of.", word(GateBudget)),
    }
    forms = by_type("boolean", "null", object=table(GATE_KEYS, shapes))
    return about("The step must have succeeded before the run may end: true or a mapping.", forms)


def _join() -> Schema:
    shapes = {
        "policy": about("When the branches of a split have done enough.", word(JoinPolicy)),
        "k": about("For k_of_n: how many have to succeed.", ANYTHING),
        "merge": about("Whether what branches wrote to `ctx` is merged. Default true.", FLAG),
        "lenient": about("true: fails only when every branch has failed.", FLAG),
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
    return about(text, by_type("null", string=words, object=mapping))
