"""The schema of what a task does with its outcome: `spec.policy`, `eval`, and the `retry` block."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from anew.languages.playbook.desugar.retries import RETRY_KEYS
from anew.languages.playbook.desugar.retry_words import OLDER_RETRY_KEYS
from anew.languages.playbook.directives import Counted
from anew.languages.playbook.keys import (
    DIRECTIVE_KEYS,
    DIRECTIVE_SETTINGS,
    IN_ELSE,
    PATCH_KEYS,
    RULE_KEYS,
    SPENT_DIRECTIVES,
    TASK_POLICY_KEYS,
)
from anew.languages.playbook.patches import OTHER_SCOPES, SET_TARGETS
from anew.languages.playbook.policies import Unmatched
from anew.languages.schema.backoffs import backoff_definitions, rule_backoff_shape
from anew.languages.schema.forms import (
    ANYTHING,
    Schema,
    about,
    at_most_one,
    by_type,
    has,
    is_word,
    nullable,
    ref,
    refused,
    table,
    when,
    word,
)
from anew.languages.schema.scalars import (
    CONDITION,
    DELAY,
    FACTOR,
    FLAG,
    JITTER,
    MAPPING,
    STEP,
    TEXT,
    WHOLE,
    WHOLE_OR_LATER,
)
from anew.program.names import RESERVED
from anew.program.policy import Budget, DirectiveKind

_PATCHES = {
    "set_ctx": "Written to the run's `ctx` when the rule matches, before the directive.",
    "set_iter": "Written to `iter` of this iteration; outside loops to the step-run's own scratch.",
    "set": "As `set_ctx` and `set_iter`, with the target in the key: `ctx.page`, `iter.tries`.",
    "set_vars": "An older name for `set_ctx`.",
}
_RETRY_WORDS = {
    "max_attempts": about("How often the task is executed in all. Default 3.", WHOLE_OR_LATER),
    "initial_delay": about("The wait before the second attempt. Default 1 s.", DELAY),
    "max_delay": about("No wait is longer. Default 60 s.", DELAY),
    "backoff_multiplier": about("The factor from wait to wait. Default 2.", FACTOR),
    "jitter": about("How chance spreads the waits. Default true: d · U(0.5, 1.5).", JITTER),
    "retry_when": about(
        "Whether to try again; without it every error is retried. Reads `status_code`, `error`, "
        "`success`, `data`, `result`, `attempt`.",
        nullable(CONDITION),
    ),
    "stop_when": about("Asked before `retry_when`, and wins.", nullable(CONDITION)),
    "max_elapsed": about("No attempt starts later than this after the first.", DELAY),
    "honor_retry_after": about("Wait at least as long as the server asks for.", FLAG),
}


def _spent() -> Schema:
    """What follows spent attempts, as a mapping or a word alone."""
    forms = by_type(object=ref("on_exhausted"), string=_bare(SPENT_DIRECTIVES))
    return about("What to do when the attempts are spent, instead of failing.", forms)


def _directive_shapes() -> dict[str, Schema]:
    return {
        "do": about(
            " ".join(f"{do}: {do.meaning}." for do in DirectiveKind),
            word(DirectiveKind),
        ),
        "attempts": about("How often the task is executed in all. Default 3.", WHOLE_OR_LATER),
        "backoff": rule_backoff_shape(),
        "delay": about(
            "Seconds, a duration (`500ms`, `2s`, `1m30s`) or a template of them. Default 1. "
            "retry: or a list of them, in order.",
            ref("delay-or-list"),
        ),
        "multiplier": about("The factor of an exponential backoff. Default 2.", FACTOR),
        "max_delay": about("No wait is longer.", DELAY),
        "jitter": about(
            "true: d·U(0.5, 1.5); a fraction f: d·(1+U(0, f)); full: U(0, d); equal: d/2+U(0, d/2);"
            " decorrelated: U(delay, 3·previous).",
            JITTER,
        ),
        "max_elapsed": about(
            "retry: no attempt starts later than this after the first. jump: the rule does not "
            "match when its jump would be made later than this after its first.",
            DELAY,
        ),
        "most": about(
            "jump: how often the rule may jump in a step-run; then it does not match.", WHOLE
        ),
        "honor_retry_after": about("Wait at least as long as the server asks for.", FLAG),
        "on_exhausted": _spent(),
        "budget": about(
            "What the counter belongs to: this visit of the task, or the step over all visits.",
            word(Budget),
        ),
        "to": about("jump: a label of this step. retry: the step to continue at.", STEP),
        "verdict": about("As what the outcome counts that the task continues with.", word(Counted)),
        "message": about("The error's message, where the outcome was ok. A template.", ANYTHING),
        **{key: about(text, MAPPING) for key, text in _PATCHES.items()},
    }


def _bare(words: Iterable[DirectiveKind] = DirectiveKind) -> Schema:
    """A directive as a word alone; `jump` has to say where to."""
    return word([each for each in words if each is not DirectiveKind.JUMP])


def _closed(own: Mapping[str, Schema], keys: Collection[str]) -> Schema:
    """A mapping with these keys, among them those of directives, which `does` describes."""
    shared: dict[str, Schema] = {key: {} for key in sorted(DIRECTIVE_KEYS)}
    return table(keys, {**own, **shared})


def _limits_of_do() -> list[Schema]:
    """Which settings each directive has; without one there are only patches."""
    known = DIRECTIVE_KEYS - {"do", *PATCH_KEYS}
    rows = [
        when(is_word("do", do), refused(known - DIRECTIVE_SETTINGS[do])) for do in DirectiveKind
    ]
    target = {"to": TEXT, "delay": DELAY}
    jump = when(is_word("do", DirectiveKind.JUMP), {**has("to"), "properties": target})
    return [*rows, jump, when({"not": has("do")}, refused(known))]


def _any_of(keys: Iterable[str]) -> Schema:
    return {"anyOf": [has(key) for key in dict.fromkeys(keys)]}


def _then() -> Schema:
    forms = by_type("null", object=ref("directive"), string=_bare())
    return about("What the rule does: `{do: …}`, with the settings of that directive.", forms)


def _rule() -> Schema:
    own = {
        "when": about("The rule matches when this holds; it reads `outcome`.", CONDITION),
        "then": _then(),
        "else": about("Always matches: `{then: {do: …}}`.", ANYTHING),
        "expr": about("What `eval` calls `when`.", CONDITION),
        "name": about("A name for people.", ANYTHING),
        "desc": about("What the rule is for.", ANYTHING),
        "description": about("What the rule is for.", ANYTHING),
    }
    assert own.keys() == RULE_KEYS
    is_else = {"properties": {"else": {"not": {"type": "null"}}}, **has("else")}
    asks = _any_of(("when", "expr"))
    return {
        "title": "A rule",
        "description": "`{when: …, then: {do: …}}` or `{else: {then: {do: …}}}`.",
        **_closed(own, RULE_KEYS | DIRECTIVE_KEYS),
        "allOf": [
            ref("does"),
            {"not": has("when", "expr")},
            {"not": {"allOf": [has("else"), asks]}},
            when(
                is_else,
                {"properties": {"else": ref("else"), **refused(IN_ELSE)["properties"]}},
                _body(),
            ),
        ],
    }


def _body() -> Schema:
    """What a rule does stands in `then`, or beside the condition."""
    return when(
        has("then"), refused(DIRECTIVE_KEYS), _any_of(("then", "do", *sorted(DIRECTIVE_KEYS)))
    )


def _else() -> Schema:
    mapping = _closed({"then": _then()}, IN_ELSE)
    full = {**mapping, "allOf": [ref("does"), _body()]}
    return when({"type": "object"}, full, _bare())


def _policy() -> Schema:
    shapes = {
        "rules": about("Tried in order; the first that matches decides.", _rules("array")),
        "on_unmatched": about(
            "What an error meets that no rule covers. Default continue.", word(Unmatched)
        ),
    }
    return {
        "title": "The policy of a task",
        "description": "Ordered rules that map the task's outcome to a directive.",
        **table(TASK_POLICY_KEYS, shapes),
        **has("rules"),
    }


def _rules(kind: str | list[str]) -> Schema:
    return {"type": kind, "items": ref("rule")}


def _older_retry_words() -> dict[str, Schema]:
    """Other words of a block, whose values the compiler knows."""
    return {
        "retry_on": about("The errors that are retried: timeout, connection_error, 503, …."),
        "retry_on_status": about("The HTTP statuses that are retried."),
        "backoff": about("Another name for `initial_delay`.", DELAY),
        "backoff_seconds": about("Another name for `initial_delay`.", DELAY),
    }


def retry_shape() -> Schema:
    """`retry` of a task or step, in all its forms."""
    shapes = {**_RETRY_WORDS, **_older_retry_words(), "on_exhausted": _spent()}
    block = table((*RETRY_KEYS, *OLDER_RETRY_KEYS), shapes)
    number = {"not": {"type": ["boolean", "null"]}}
    text = (
        "An older form of `spec.policy`. true: 3 attempts, 1 s, ×2, at most 60 s, with jitter; a "
        "number: that many attempts; or a block."
    )
    forms = when({"type": "object"}, block, when(number, WHOLE))
    return about(text, forms)


def eval_shape() -> Schema:
    """`eval` of a task or step."""
    text = "An older form of `spec.policy.rules`; an error that no rule matches fails the step."
    return about(text, _rules(["array", "null"]))


# Keys of a `set` that name nothing; `vars.x` is `ctx.x` in some documents.
_SCOPES = "|".join(sorted(OTHER_SCOPES - {"vars"}))
_MISNAMED = rf"^({'|'.join(SET_TARGETS)}|)$|^\.|\.\.|\.$|^({_SCOPES})\."


def task_set_shapes() -> dict[str, Schema]:
    """What a task writes with every outcome."""
    texts = {
        "set": "Written with every outcome; `output` is the result. A bare name is for the later "
        "tasks, rules and attempts of this step-run; `ctx.page` and `iter.tries` write there.",
        "set_ctx": "Written to the run's `ctx` with every outcome.",
        "set_iter": "Written to `iter` with every outcome.",
    }
    taken = "|".join(sorted(RESERVED - SET_TARGETS.keys()))
    named = {"type": "object", "propertyNames": {"not": {"pattern": rf"{_MISNAMED}|^({taken})$"}}}
    shapes = {"set": nullable(named), "set_ctx": MAPPING, "set_iter": MAPPING}
    return {key: about(text, shapes[key]) for key, text in texts.items()}


def visit_set_shape(text: str = "Written to the run's `ctx`.") -> Schema:
    """`set` of a step or arc, which writes to `ctx`."""
    names = {"not": {"pattern": rf"{_MISNAMED}|^iter\."}}
    return about(text, nullable({"type": "object", "propertyNames": names}))


def rule_definitions() -> dict[str, Schema]:
    directive = _closed({}, DIRECTIVE_KEYS)
    spent = {"properties": {"do": word(SPENT_DIRECTIVES)}}
    return {
        "policy": _policy(),
        "rule": _rule(),
        "else": _else(),
        "directive": {"title": "A directive", **directive, "allOf": [ref("does")]},
        "on_exhausted": {**directive, "allOf": [ref("does"), spent]},
        "does": {
            "properties": table(DIRECTIVE_KEYS, _directive_shapes())["properties"],
            "allOf": _limits_of_do(),
        },
        "retry": retry_shape(),
        "eval": eval_shape(),
        **backoff_definitions(),
    }


def one_policy() -> list[Schema]:
    """That a task says in one way only what to do with its outcome."""
    in_spec = {"properties": {"spec": {"type": "object", **has("policy")}}, **has("spec")}
    pairs = [{"not": {**in_spec, "required": ["spec", key]}} for key in ("eval", "retry")]
    return [*at_most_one(("eval", "retry")), *pairs]
