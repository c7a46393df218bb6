"""Read a task's rules: what each asks, and what it does."""

from __future__ import annotations

from enum import StrEnum

from anew.expressions import Condition, ExpressionError, MappingScope
from anew.languages.nodes import Entry, Item, ListNode, MapNode, is_null
from anew.languages.playbook.compilation import BROKEN, Compilation, Site, shown
from anew.languages.playbook.desugar.canonical import RuleNode
from anew.languages.playbook.directives import read_directive
from anew.languages.playbook.keys import TASK_POLICY_KEYS
from anew.languages.playbook.patches import read_patches
from anew.languages.playbook.words import check_words
from anew.program.check import is_else
from anew.program.policy import Fail, OutcomeStatus, Policy, Rule
from anew.program.program import Dialect
from anew.program.span import NOWHERE

_PLAIN_RULE = RuleNode({}, NOWHERE)


class Unmatched(StrEnum):
    CONTINUE = "continue"
    FAIL = "fail"


def read_policy(c: Compilation, entry: Entry, labels: frozenset[str], dialect: Dialect) -> Policy:
    """A task's `policy`; unmatched errors continue unless `on_unmatched: fail`."""
    node = entry.node
    if not isinstance(node, MapNode):
        message = f"a task's policy must be an object with rules; found {shown(node)}"
        c.report("policy.shape", entry.place if is_null(node) else node.span, message, _POLICY_FORM)
        return Policy()
    c.check_keys(node, TASK_POLICY_KEYS, "a task's policy")
    unmatched = c.word(
        node.get("on_unmatched"), Unmatched, rule="policy.unmatched-word", what="on_unmatched"
    )
    rules = node.get("rules")
    if rules is None or not isinstance(rules.node, ListNode):
        _report_rules(c, entry, rules)
        return Policy()
    fails = unmatched is Unmatched.FAIL
    compiled = tuple(_read_rule(c, item, labels, dialect) for item in rules.node.items)
    _warn_always(c, rules.node, compiled)
    if "on_unmatched" not in node and _leaves_errors(compiled):
        message = "no rule covers an error outcome: the pipeline would continue after an error"
        c.report("policy.error-uncovered", rules.place, message, _COVER)
    return Policy(
        compiled, fail_unmatched_errors=fails, span=entry.place, unmatched=_unmatched(compiled)
    )


def _warn_always(c: Compilation, node: ListNode, rules: tuple[Rule, ...]) -> None:
    """Warn where nothing but spent attempts ends the retries of a success."""
    if any(rule.name == "stop_when" for rule in rules):
        return
    for item, rule in zip(node.items, rules, strict=True):
        if rule.on is OutcomeStatus.OK and rule.when is not None and _is_always(rule.when):
            asked = item.node.get("when") if isinstance(item.node, MapNode) else None
            place = rule.span if asked is None else asked.node.span
            message = "`retry_when` always holds: a success is executed again, too"
            c.report("retry.always", place, message, _SPECIFIC)


def _is_always(condition: Condition) -> bool:
    """Whether a condition reads nothing, and holds."""
    if condition.names or condition.calls or condition is BROKEN:
        return False
    try:
        return condition.holds(MappingScope({}))
    except ExpressionError:
        return False


def _unmatched(rules: tuple[Rule, ...]) -> str:
    """`retry_when: false, stop_when: false`: the conditions of a retry block, as written."""
    names = {rule.name for rule in rules if rule.name and rule.when is not None}
    return ", ".join(f"{name}: false" for name in sorted(names))


def _leaves_errors(rules: tuple[Rule, ...]) -> bool:
    """Whether some error meets no rule. Rules that were reported leave nothing to say."""
    if any(is_else(rule) or rule.when is BROKEN for rule in rules):
        return False
    # Most policies have an `else` and need no closer look.
    from anew.languages.playbook.coverage import covers_errors  # noqa: PLC0415

    return not covers_errors(rules)


def _report_rules(c: Compilation, policy: Entry, rules: Entry | None) -> None:
    if rules is None:
        c.report("policy.shape", policy.holder, "a task's policy has no rules", _POLICY_FORM)
    else:
        place = rules.place if is_null(rules.node) else rules.node.span
        message = f"rules must be a list; found {shown(rules.node)}"
        c.report("policy.shape", place, message, _POLICY_FORM)


def _read_rule(c: Compilation, item: Item, labels: frozenset[str], dialect: Dialect) -> Rule:
    node = item.node
    assert isinstance(node, MapNode)
    otherwise = node.get("else")
    inner = otherwise.node if otherwise is not None else node
    then = inner.get("then") if isinstance(inner, MapNode) else None
    own = node if isinstance(node, RuleNode) else _PLAIN_RULE
    if then is None or not isinstance(then.node, MapNode):
        return Rule(Fail(), BROKEN, span=item.place)
    asked = node.get("when")
    place = Site.POLICY if own.on is None else Site.RETRY
    when = None if asked is None else c.condition(asked.node, place, what=asked.name.text)
    if when is not None and asked is not None:
        check_words(c, asked.node, when, dialect)
    return Rule(
        then=read_directive(c, then.node.entries, holder=then.holder, labels=labels),
        when=BROKEN if own.is_broken else when,
        on=own.on,
        patches=read_patches(c, then.node.entries),
        name=own.name,
        span=item.place,
    )


_SPECIFIC = (
    "Remove it to retry every error, or ask for what is worth another attempt: "
    '`retry_when: "{{ status_code >= 500 }}"`.'
)
_POLICY_FORM = "Write `policy: {rules: [{when: …, then: {do: …}}, {else: {then: {do: …}}}]}`."
_COVER = (
    "Add `{when: \"{{ outcome.status == 'error' }}\", then: {do: fail}}`, an `else`, "
    "or `on_unmatched: fail`."
)
