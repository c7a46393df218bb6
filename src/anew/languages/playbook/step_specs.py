"""Read what a step's `spec` says: who may enter, how tokens join, what a failure does."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from anew.languages.nodes import Entry, Item, MapNode, is_null
from anew.languages.playbook.compilation import Compilation, Site, shown
from anew.languages.playbook.desugar.specs import ADMIT_FORMS
from anew.languages.playbook.durations import seconds_of
from anew.languages.playbook.goals import read_gate
from anew.languages.playbook.joining import read_join
from anew.languages.playbook.keys import (
    ADMIT_IDLE,
    ADMIT_KEYS,
    ADMIT_RULE_KEYS,
    LIFECYCLE_KEYS,
    STEP_POLICY_KEYS,
    STEP_SPEC_IDLE,
    STEP_SPEC_KEYS,
)
from anew.languages.playbook.other_policies import (
    check_policy_keys,
    policy_part,
    read_failure,
    read_other_policy,
)
from anew.program.program import AdmitRule, Step

_ADMIT_FORM = f"Write {ADMIT_FORMS}."


def with_spec(c: Compilation, step: Step, entry: Entry | None) -> Step:
    """The step as its `spec` says; each field of it goes where Step has it."""
    node = c.mapping(entry, "a step's spec")
    if node is None:
        return step
    c.check_keys(node, STEP_SPEC_KEYS, "a step's spec", idle=STEP_SPEC_IDLE)
    join, gather = read_join(c, node.get("join"))
    step = replace(
        step,
        join=join,
        pool=read_pool(c, node.get("pool")),
        gather=gather,
        gate=read_gate(c, node.get("gate")),
        is_exit=bool(c.flag(node.get("exit"), "exit")),
        visits_max=c.whole_number(node.get("visits_max"), "visits_max", rule="limit.value"),
    )
    policy = read_other_policy(c, node, STEP_POLICY_KEYS, "a step")
    if policy is None:
        return step
    what = f"a failure of step {c.step!r} goes to"
    failure = read_failure(c, policy.get("failure"), way="goto", what=what)
    return replace(
        step,
        admit=_read_admit(c, policy.get("admit")),
        failure=failure.mode,
        rescue=failure.to,
        rescue_span=failure.place,
        deadline_seconds=_read_deadline(c, policy.get("lifecycle")),
    )


def read_pool(c: Compilation, entry: Entry | None) -> str | None:
    """The name of a pool; it is known before a run starts, so it cannot be a template."""
    if entry is None or is_null(entry.node):
        return None
    name = c.text(entry, "pool")
    if name is not None and ("{{" in name or not name.strip()):
        message = f"pool must be the name of a pool of workers; found {shown(entry.node)}"
        c.report("value.type", entry.node.span, message, "Write `pool: heavy`.")
        return None
    return name


def _read_deadline(c: Compilation, entry: Entry | None) -> float | None:
    node = policy_part(c, entry, "lifecycle")
    if node is None:
        return None
    check_policy_keys(c, node, LIFECYCLE_KEYS, "lifecycle")
    found = node.get("timeout_s")
    if found is None:
        return None
    seconds = seconds_of(found.node)
    if not seconds:
        message = f"timeout_s must be seconds above 0; found {shown(found.node)}"
        c.report("tool.timeout", found.node.span, message, "Write `timeout_s: 60`.")
    return seconds or None


# --- admission -----------------------------------------------------------------------------------


def _read_admit(c: Compilation, entry: Entry | None) -> tuple[AdmitRule, ...]:
    node = c.mapping(entry, "admit")
    if node is None:
        return ()
    c.check_keys(node, ADMIT_KEYS, "admit", idle=ADMIT_IDLE)
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
    c.check_keys(node, ADMIT_RULE_KEYS, "an admission rule")
    otherwise, when = node.get("else"), node.get("when")
    condition = None
    if when is not None and otherwise is None:
        condition = c.condition(when.node, Site.ROUTING, what="when")
    elif when is not None:
        c.ignored(when, "together with `else`", "Keep one of the two.")
    holder, fields = item.place, node.entries
    if otherwise is not None and isinstance(otherwise.node, MapNode):
        holder, fields = otherwise.holder, otherwise.node.entries
    then = fields.get("then")
    if then is not None and isinstance(then.node, MapNode):
        holder, fields = then.holder, then.node.entries
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
