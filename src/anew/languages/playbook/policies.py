"""Read a task's rules, in the shapes of `spec.policy.rules` and of `eval`."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from anew.languages.nodes import Entry, Item, ListNode, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import BROKEN, Compilation, Place, shown
from anew.languages.playbook.directives import DIRECTIVE_KEYS, read_directive
from anew.languages.playbook.patches import read_patches
from anew.languages.playbook.words import check_words
from anew.program.check import is_else
from anew.program.policy import Fail, Policy, Rule
from anew.program.program import Dialect
from anew.program.span import Span

_POLICY_KEYS = ("rules", "on_unmatched")
_RULE_KEYS = frozenset({"when", "then", "else", "expr", "name", "desc", "description"})
_IN_RULE = _RULE_KEYS | DIRECTIVE_KEYS
_IN_ELSE = DIRECTIVE_KEYS | {"then"}


class Unmatched(StrEnum):
    CONTINUE = "continue"
    FAIL = "fail"


class RuleShape(Struct, frozen=True):
    """A rule brought to one form: what it asks, what it does, and who holds the doing.

    `is_broken`: it was reported, and nobody knows when it would match.
    """

    when: Entry | None
    does: Mapping[str, Entry]
    holder: Span
    is_broken: bool = False


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
    if "on_unmatched" not in node and _leaves_errors(compiled):
        message = (
            "no rule covers an error outcome: the pipeline would go on as if nothing had happened"
        )
        c.report("policy.error-uncovered", rules.place, message, _COVER)
    return Policy(compiled, fail_unmatched_errors=fails, span=entry.place)


def _leaves_errors(rules: tuple[Rule, ...]) -> bool:
    """Whether some error meets no rule. Rules that were reported leave nothing to say."""
    if any(is_else(rule) or rule.when is BROKEN for rule in rules):
        return False
    # Most policies have an `else` and need no closer look.
    from anew.languages.playbook.coverage import covers_errors  # noqa: PLC0415

    return not covers_errors(rules)


def read_eval(c: Compilation, entry: Entry, labels: frozenset[str]) -> Policy:
    """A task's `eval`; unmatched errors fail."""
    c.noncanonical("strict.eval", entry.place, "`eval` is used", "`spec: {policy: {rules: […]}}`")
    node = c.sequence(entry, "eval")
    rules = _read_rules(c, node, labels, Dialect.EVAL) if node else ()
    return Policy(rules, span=entry.place)


def _report_rules(c: Compilation, policy: Entry, rules: Entry | None) -> None:
    if rules is None:
        c.report("policy.shape", policy.holder, "a task's policy has no rules", _POLICY_FORM)
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
            # Nobody knows what it would match; it must not make others look dead or endless.
            rules.append(Rule(Fail(), BROKEN, span=item.place))
            continue
        rule = _read_rule(c, item, shape, labels)
        rules.append(rule)
        if rule.when is not None and shape.when is not None:
            check_words(c, shape.when.node, rule.when, dialect)
    return tuple(rules)


def _read_rule(c: Compilation, item: Item, shape: RuleShape, labels: frozenset[str]) -> Rule:
    asked = shape.when
    when = c.condition(asked.node, Place.POLICY, what=asked.key) if asked is not None else None
    return Rule(
        then=read_directive(c, shape.does, holder=shape.holder, labels=labels),
        when=BROKEN if shape.is_broken else when,
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
    c.check_keys(node, _IN_RULE, "a rule")
    otherwise, condition = node.get("else"), node.get("when") or node.get("expr")
    if "when" in node and "expr" in node:
        c.ignored(node.entries["expr"], "beside `when`", "Keep one of the two.")
    if condition is None and "then" in node:
        _note_shape(c, item.place)
    if otherwise is not None and not is_null(otherwise.node):
        _report_ignored(c, node, _IN_ELSE, "else")
        shape = _else_shape(c, otherwise, dialect)
    else:
        shape = _body(c, node, condition, item.place, dialect)
    if otherwise is None or condition is None or shape is None:
        return shape
    message = "a rule has both `else` and a condition"
    c.report("rule.shape", condition.place, message, _RULE_FORM)
    return replace(shape, when=None, is_broken=True)


def _report_ignored(c: Compilation, node: MapNode, keys: AbstractSet[str], beside: str) -> None:
    for key, entry in node.entries.items():
        if key in keys:
            c.ignored(entry, f"beside `{beside}`", f"Move it into `{beside}`, or remove it.")


def _else_shape(c: Compilation, otherwise: Entry, dialect: Dialect) -> RuleShape | None:
    inner = otherwise.node
    if isinstance(inner, ScalarNode):  # `else: continue`
        _note_shape(c, otherwise.place)
        return RuleShape(None, {"do": Entry("do", otherwise.name, inner)}, otherwise.place)
    if not isinstance(inner, MapNode):
        c.report(
            "rule.shape", inner.span, f"else must be a mapping; found {shown(inner)}", _RULE_FORM
        )
        return None
    c.check_keys(inner, _IN_ELSE, "else")
    return _body(c, inner, None, otherwise.holder, dialect)


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
    _report_ignored(c, node, DIRECTIVE_KEYS, "then")
    if when is not None and when.key == "expr":
        _note_shape(c, holder)
    if isinstance(then.node, MapNode):
        c.check_keys(then.node, DIRECTIVE_KEYS, "then")
        return RuleShape(when, then.node.entries, then.holder)
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
