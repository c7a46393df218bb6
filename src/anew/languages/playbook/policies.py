"""Read a task's rules, in the shapes of `spec.policy.rules` and of `eval`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from anew.expressions import Condition
from anew.languages.nodes import Entry, Item, ListNode, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, Place, shown
from anew.languages.playbook.coverage import covers_errors
from anew.languages.playbook.directives import DIRECTIVE_KEYS, read_directive
from anew.languages.playbook.names import check_words
from anew.languages.playbook.patches import read_patches
from anew.program.policy import Policy, Rule
from anew.program.program import Dialect
from anew.program.span import Span

_POLICY_KEYS = ("rules", "on_unmatched")
_RULE_KEYS = frozenset({"when", "then", "else", "expr", "name", "desc", "description"})


class Unmatched(StrEnum):
    CONTINUE = "continue"
    FAIL = "fail"


class RuleShape(Struct, frozen=True):
    """A rule brought to one form: what it asks, what it does, and who holds the doing."""

    when: Entry | None
    does: Mapping[str, Entry]
    holder: Span


def read_policy(c: Compilation, entry: Entry, labels: frozenset[str]) -> Policy:
    """A task's `policy`; unmatched errors continue unless `on_unmatched: fail`."""
    node = entry.node
    if not isinstance(node, MapNode):
        message = f"a task's policy must be an object with rules; found {shown(node)}"
        c.report("policy.shape", entry.place if is_null(node) else node.span, message, _POLICY_FORM)
        return Policy()
    c.check_keys(node, _POLICY_KEYS, "a task's policy")
    unmatched = c.word(
        node.get("on_unmatched"), Unmatched, rule="policy.unmatched-word", what="on_unmatched"
    )
    rules = node.get("rules")
    if rules is None or not isinstance(rules.node, ListNode):
        _report_rules(c, entry, rules)
        return Policy()
    fails = unmatched is Unmatched.FAIL
    compiled = _read_rules(c, rules.node, labels, Dialect.POLICY)
    if not fails and unmatched is None and not covers_errors(compiled):
        message = (
            "no rule covers an error outcome: the pipeline would go on as if nothing had happened"
        )
        c.report("policy.error-uncovered", rules.place, message, _COVER)
    return Policy(compiled, fail_unmatched_errors=fails)


def read_eval(c: Compilation, entry: Entry, labels: frozenset[str]) -> Policy:
    """A task's `eval`; unmatched errors fail."""
    c.noncanonical("strict.eval", entry.place, "`eval` is used", "`spec: {policy: {rules: […]}}`")
    node = c.sequence(entry, "eval")
    return Policy(_read_rules(c, node, labels, Dialect.EVAL)) if node else Policy()


def _report_rules(c: Compilation, policy: Entry, rules: Entry | None) -> None:
    if rules is None:
        c.report("policy.shape", policy.place, "a task's policy has no rules", _POLICY_FORM)
    else:
        place = rules.place if is_null(rules.node) else rules.node.span
        message = f"rules must be a list; found {shown(rules.node)}"
        c.report("policy.shape", place, message, _POLICY_FORM)


def _read_rules(
    c: Compilation, node: ListNode, labels: frozenset[str], dialect: Dialect
) -> tuple[Rule, ...]:
    rules = []
    for item in node.items:
        shape = rule_shape(c, item, dialect)
        if shape is None:
            continue
        rule = _read_rule(c, item, shape, labels)
        rules.append(rule)
        if rule.when is not None and shape.when is not None:
            check_words(c, shape.when.node, rule.when, dialect)
    return tuple(rules)


def _read_rule(c: Compilation, item: Item, shape: RuleShape, labels: frozenset[str]) -> Rule:
    when: Condition | None = None
    if shape.when is not None:
        when = c.condition(shape.when.node, Place.POLICY, what=shape.when.key)
    return Rule(
        then=read_directive(c, shape.does, holder=shape.holder, labels=labels),
        when=when,
        patches=read_patches(c, shape.does),
        span=item.place,
    )


def rule_shape(c: Compilation, item: Item, dialect: Dialect) -> RuleShape | None:
    """A rule in any of its spellings; None when (reported) it has none."""
    node = item.node
    if not isinstance(node, MapNode):
        c.report(
            "rule.shape", node.span, f"a rule must be a mapping; found {shown(node)}", _RULE_FORM
        )
        return None
    c.check_keys(node, _RULE_KEYS | DIRECTIVE_KEYS, "a rule")
    otherwise = node.get("else")
    if otherwise is not None and not is_null(otherwise.node):
        return _else_shape(c, node, otherwise, dialect)
    condition = node.get("when") or node.get("expr")
    if otherwise is not None and condition is not None:
        c.report(
            "rule.shape", condition.place, "a rule has both `else` and a condition", _RULE_FORM
        )
        condition = None
    return _body(c, node, condition, item.place, dialect)


def _else_shape(
    c: Compilation, node: MapNode, otherwise: Entry, dialect: Dialect
) -> RuleShape | None:
    inner = otherwise.node
    condition = node.get("when") or node.get("expr")
    if condition is not None:
        c.report(
            "rule.shape", condition.place, "a rule has both `else` and a condition", _RULE_FORM
        )
    if isinstance(inner, ScalarNode):  # `else: continue`
        _note_shape(c, otherwise.place)
        return RuleShape(None, {"do": Entry("do", otherwise.name, inner)}, otherwise.place)
    if not isinstance(inner, MapNode):
        c.report(
            "rule.shape", inner.span, f"else must be a mapping; found {shown(inner)}", _RULE_FORM
        )
        return None
    c.check_keys(inner, {"then"} | DIRECTIVE_KEYS, "else")
    return _body(c, inner, None, otherwise.place, dialect)


def _body(
    c: Compilation, node: MapNode, when: Entry | None, holder: Span, dialect: Dialect
) -> RuleShape | None:
    then = node.get("then")
    if then is None:
        does = {key: entry for key, entry in node.entries.items() if key in DIRECTIVE_KEYS}
        if not does:
            c.report("rule.then-missing", holder, "a rule does not say what to do", _RULE_FORM)
            return None
        if dialect is Dialect.POLICY:
            _note_shape(c, holder)
        return RuleShape(when, does, holder)
    if (when is not None and when.key == "expr") or (when is None and "else" in node):
        _note_shape(c, holder)
    if isinstance(then.node, MapNode):
        c.check_keys(then.node, DIRECTIVE_KEYS, "then")
        return RuleShape(when, then.node.entries, then.place)
    if is_null(then.node):
        return RuleShape(when, {}, then.place)
    _note_shape(c, then.place)
    return RuleShape(when, {"do": Entry("do", then.name, then.node)}, then.place)


def _note_shape(c: Compilation, place: Span) -> None:
    canonical = "`{when: …, then: {do: …}}` or `{else: {then: {do: …}}}`"
    c.noncanonical("strict.rule", place, "this form of a rule is not canonical", canonical)


_POLICY_FORM = "Write `policy: {rules: [{when: …, then: {do: …}}, {else: {then: {do: …}}}]}`."
_RULE_FORM = "Write `{when: …, then: {do: …}}` or `{else: {then: {do: …}}}`."
_COVER = (
    "Add `{when: \"{{ outcome.status == 'error' }}\", then: {do: fail}}`, an `else`, "
    "or `on_unmatched: fail`."
)
