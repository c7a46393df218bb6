"""Read what a step's `spec` says: who may enter, how tokens join, what a failure does."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from anew.languages.nodes import Entry, Item, MapNode, is_null
from anew.languages.playbook.compilation import Compilation, Place, shown
from anew.languages.playbook.durations import seconds_of
from anew.program.program import AdmitRule, FailureMode, Join

_SPEC_KEYS = ("policy", "join", "pool", "runs_on")
_POLICY_KEYS = ("admit", "failure", "lifecycle")
_DIRECTIVE_SIGNS = ("rules", "do", "retry", "on_unmatched")
_ADMIT_FORM = "Write `{when: …, then: {allow: true}}` or `{else: {then: {allow: false}}}`."
_RULES_PLACE = "Move it to the task: `- label: {kind: …, spec: {policy: {rules: […]}}}`."


class StepSpec(Struct, frozen=True):
    admit: tuple[AdmitRule, ...] = ()
    join: Join = Join.ALL
    failure: FailureMode | None = None
    deadline_seconds: float | None = None


def read_step_spec(c: Compilation, entry: Entry | None, *, takes_timeout: bool) -> StepSpec:
    """A step's `spec`. The attempt timeout of a tool given as a string is read with its task."""
    node = c.mapping(entry, "a step's spec")
    if node is None:
        return StepSpec()
    c.check_keys(node, (*_SPEC_KEYS, "timeout") if takes_timeout else _SPEC_KEYS, "a step's spec")
    join = c.word(node.get("join"), Join, rule="step.join", what="join")
    policy = c.mapping(node.get("policy"), "a step's policy")
    if policy is None:
        return StepSpec(join=join or Join.ALL)
    report_misplaced(c, node, "a step")
    known = (*_POLICY_KEYS, *_DIRECTIVE_SIGNS)
    c.check_keys(policy, known, "a step's policy")
    return StepSpec(
        admit=_read_admit(c, policy.get("admit")),
        join=join or Join.ALL,
        failure=read_failure(c, policy.get("failure")),
        deadline_seconds=_read_deadline(c, policy.get("lifecycle")),
    )


def report_misplaced(c: Compilation, spec: MapNode, what: str) -> None:
    """Report task directives in a policy that is not a task's."""
    policy = spec.get("policy")
    if policy is None or not isinstance(policy.node, MapNode):
        return
    for sign in _DIRECTIVE_SIGNS:
        entry = policy.node.get(sign)
        if entry is not None:
            message = f"the policy of {what} cannot hold `{sign}`: only a task decides on outcomes"
            c.report("policy.misplaced", entry.place, message, _RULES_PLACE)


def read_failure(c: Compilation, entry: Entry | None) -> FailureMode | None:
    """`{mode: fail_fast | best_effort}`."""
    node = c.mapping(entry, "failure")
    if node is None:
        return None
    c.check_keys(node, ("mode",), "failure")
    return c.word(node.get("mode"), FailureMode, rule="failure.mode", what="failure mode")


def _read_deadline(c: Compilation, entry: Entry | None) -> float | None:
    node = c.mapping(entry, "lifecycle")
    if node is None:
        return None
    c.check_keys(node, ("timeout_s",), "lifecycle")
    found = node.get("timeout_s")
    if found is None:
        return None
    seconds = seconds_of(found.node)
    if not seconds:
        message = f"timeout_s must be seconds above 0; found {shown(found.node)}"
        c.report("tool.timeout", found.node.span, message)
    return seconds or None


# --- admission -----------------------------------------------------------------------------------


def _read_admit(c: Compilation, entry: Entry | None) -> tuple[AdmitRule, ...]:
    node = c.mapping(entry, "admit")
    if node is None:
        return ()
    c.check_keys(node, ("rules",), "admit")
    rules = c.sequence(node.get("rules"), "rules")
    found = (_read_admit_rule(c, item) for item in (rules.items if rules else ()))
    return tuple(rule for rule in found if rule is not None)


def _read_admit_rule(c: Compilation, item: Item) -> AdmitRule | None:
    node = item.node
    if not isinstance(node, MapNode):
        c.report(
            "admit.rule", node.span, f"a rule must be a mapping; found {shown(node)}", _ADMIT_FORM
        )
        return None
    c.check_keys(node, ("when", "then", "else", "allow"), "an admission rule")
    otherwise, when = node.get("else"), node.get("when")
    holder, fields = item.place, node.entries
    if otherwise is not None and isinstance(otherwise.node, MapNode):
        holder, fields = otherwise.place, otherwise.node.entries
    then = fields.get("then")
    if then is not None and isinstance(then.node, MapNode):
        holder, fields = then.place, then.node.entries
    condition = None
    if when is not None and otherwise is None:
        condition = c.condition(when.node, Place.ROUTING, what="when")
    allow = _read_allow(c, fields)
    if allow is None and "do" not in fields:
        c.report("admit.rule", holder, "an admission rule does not say `allow`", _ADMIT_FORM)
    return AdmitRule(bool(allow), condition, item.place)


def _read_allow(c: Compilation, fields: Mapping[str, Entry]) -> bool | None:
    if "do" in fields:
        message = "an admission rule cannot hold `do`: only a task decides on outcomes"
        c.report("policy.misplaced", fields["do"].place, message, _ADMIT_FORM)
    entry = fields.get("allow")
    if entry is None or is_null(entry.node):
        return None
    allow = c.flag(entry, "allow")
    return False if allow is None else allow
