"""The keys that playbooks accept: one table for each mapping of the language.

Readers refuse what is not in their table, the JSON Schema has a shape for each key, and the
reference explains them all. Three tables follow from others: the inputs of a task from its kind
(`program/kinds.py`), the limits of a run from `Limits`, the words of a `retry` block from what they
are rewritten to (`desugar/retries.py`). Knows nothing of what a key means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from anew.program.policy import DirectiveKind

# --- words of no one place ------------------------------------------------------------------------

# They write state or decide what is run, so that a key with such a name is never passed over.
CONTROL_WORDS = frozenset(
    "when then else do case if unless until while cond condition loop iterator for_each foreach "
    "with_items next arcs goto rules policy eval retry set set_ctx set_iter set_vars vars ctx "
    "on_failure on_error on_success on_exhausted on_unmatched attempts backoff catch finally pipe "
    "sink save collect cursor depends_on needs admit lifecycle trigger entry_step executor "
    "workflow workload workbook keychain".split()
)
# They say something to readers, wherever they stand.
ABOUT_WORDS = frozenset(
    "name title id label labels tags note notes comment comments metadata annotations owner author "
    "summary doc docs".split()
)
_STORED = "Every result is kept whole; remove it."
# Keys of another runtime that are accepted and do nothing, by where they stand, and what does it.
ROOT_IDLE = {"tracing": "The server's settings say where traces go; remove it."}
STEP_IDLE = {
    "output": _STORED,
    "output_select": _STORED,
    "assert": "Compare in a rule: `{when: …, then: {do: fail}}`, or remove it.",
    "tracing": ROOT_IDLE["tracing"],
}
TASK_IDLE = STEP_IDLE
EXECUTOR_IDLE = ROOT_IDLE
STEP_SPEC_IDLE = ROOT_IDLE
SQL_IDLE = {"pool": "Connections are kept for each credential; remove it."}
EXECUTOR_POLICY_IDLE = {
    "defaults": "Write timeouts and retries on the tasks.",
    "results": _STORED,
    **ROOT_IDLE,
}
LOOP_POLICY_IDLE = {"results": "Results are always in the order of the items; remove it."}
ADMIT_IDLE = {"mode": "The first rule that matches decides; remove it."}

# --- the document --------------------------------------------------------------------------------

ROOT_KEYS = "apiVersion kind metadata keychain executor workload ctx workflow workbook vars".split()
EXECUTOR_KEYS = ("profile", "version", "requires", "spec")
EXECUTOR_SPEC_KEYS = (
    "entry_step",
    "final_step",
    "return_step",
    "no_next_is_error",
    "policy",
    "limits",
    "ctx",
    "dependencies",
    "priority",
)

# --- a step --------------------------------------------------------------------------------------

# What belongs to the step itself when a tool's inputs stand beside it.
STEP_KEYS = frozenset(
    "step desc description spec loop tool type compensate next set set_ctx vars retry eval when "
    "case save sink pipe".split()
)
# What a step writes when a visit ends done; the last two are older forms of the first.
STEP_SET_KEYS = ("set", "set_ctx", "vars")
STEP_SPEC_KEYS = ("policy", "join", "pool", "runs_on", "gate", "exit", "visits_max")
STEP_POLICY_KEYS = ("admit", "failure", "lifecycle")
LIFECYCLE_KEYS = ("timeout_s",)
ADMIT_KEYS = ("rules",)
ADMIT_RULE_KEYS = ("when", "then", "else", "allow")
JOIN_KEYS = ("policy", "k", "merge", "lenient")
GATE_KEYS = ("accepts", "when", "to", "most", "visited_only", "budget")
LOOP_KEYS = ("in", "iterator", "spec", "mode", "max_in_flight")
LOOP_SPEC_KEYS = ("mode", "max_in_flight", "policy")

# --- where a step leads --------------------------------------------------------------------------

ROUTER_KEYS = ("spec", "arcs")
ROUTER_SPEC_KEYS = (
    "mode",
    "must_choose",
    "gives_up",
    "join",
    "max_in_flight",
    "policy",
    "on_no_match",
)
ARC_KEYS = frozenset(
    "step when args set set_ctx input with desc description spec on_failure most label "
    "weight".split()
)
# Of those: what it writes, the last being an older form; what holds the arguments; and what only
# an arc of a preferred router has.
ARC_SET_KEYS = ("set", "set_ctx")
ARC_ARGS_KEYS = ("args", "input", "with")
PREFERRED_ARC_KEYS = ("label", "weight")
# A list in `next` may hold older branches; so does the older `case`, and what one of them may do.
BRANCH_KEYS = ("when", "then", "else", "desc", "description")
CASE_BRANCH_KEYS = ("when", "then", "else", "name", "desc", "description")
CASE_ACTIONS = ("next", "set", "retry", "result")

# --- a task --------------------------------------------------------------------------------------

# What a task says besides its inputs.
TASK_KEYS = frozenset("spec eval retry paginate poll set set_ctx set_iter desc description".split())
PAGINATE_KEYS = (
    "next",
    *("param", "url", "args"),
    "items",
    "into",
    "sink",
    "max_pages",
    "stop_when",
)
POLL_KEYS = ("until", "every", "timeout", "fail_when")
# Of the keys of a task, what it writes with every outcome.
TASK_SET_KEYS = ("set", "set_ctx", "set_iter")
TASK_SPEC_KEYS = frozenset(
    "policy timeout jitter backoff pool runs_on exactly_once dependency priority "
    "hold_timeout".split()
)
# How long a retry waits: of a rule, and of a row of the `backoff` of a task, which has `kind`.
DELAY_WORDS = ("backoff", "delay", "multiplier")
BACKOFF_ROW_KEYS = ("kind", "delay", "multiplier", "jitter", "max_delay")
TASK_POLICY_KEYS = ("rules", "on_unmatched")
ARGS_KEYS = ("args", "with", "input")
# Older words that are not run, and what says it today.
UNSUPPORTED_KEYS: Mapping[str, str] = {
    # On a step these are run; a task of a pipeline is followed by another task instead.
    "case": "`next: {arcs: [{step: …, when: …}]}` on the step, and rules on the task",
    "save": "a storage task after this one: `- save: {kind: postgres, …}`",
    "sink": "a storage task after this one: `- save: {kind: postgres, …}`",
    "pipe": "its tasks as a list: `tool: [{label: {kind: …}}, …]`, each with its rules",
    "vars": '`then: {do: continue, set_ctx: {name: "{{ outcome.result.… }}"}}` in a rule',
}

# What holds an expression without braces.
CONDITION_WORDS = frozenset({"when", "expr", "retry_when", "stop_when"})

# --- a rule --------------------------------------------------------------------------------------

# What a rule may say of itself; it has no effect.
RULE_ABOUT_KEYS = ("name", "desc", "description")
RULE_KEYS = frozenset({"when", "then", "else", "expr", *RULE_ABOUT_KEYS})
PATCH_KEYS = ("set_ctx", "set_iter", "set", "set_vars")


def _settings_of(do: DirectiveKind) -> str:
    """What a directive may say beside `do` and patches."""
    match do:
        case DirectiveKind.CONTINUE:
            return "verdict"
        case DirectiveKind.BREAK:
            return ""
        case DirectiveKind.FAIL:
            return "message"
        case DirectiveKind.JUMP:
            return "to delay most max_elapsed"
        case DirectiveKind.RETRY:
            return (
                "attempts backoff delay multiplier jitter max_delay max_elapsed honor_retry_after "
                "on_exhausted budget to"
            )
        case _:
            assert_never(do)


DIRECTIVE_SETTINGS: Mapping[DirectiveKind, frozenset[str]] = {
    do: frozenset(_settings_of(do).split()) for do in DirectiveKind
}
# What may follow when the attempts are spent.
SPENT_DIRECTIVES = tuple(do for do in DirectiveKind if do is not DirectiveKind.RETRY)
DIRECTIVE_KEYS = frozenset({"do", *PATCH_KEYS}).union(*DIRECTIVE_SETTINGS.values())
# What stands in the `else` of a rule.
IN_ELSE = DIRECTIVE_KEYS | {"then"}
