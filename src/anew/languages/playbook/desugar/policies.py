"""A task's rules in their canonical form: `{when, then: {do, …}}` and `{else: {then: {do, …}}}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.desugar.canonical import RuleNode
from anew.languages.playbook.desugar.jitters import with_jitter
from anew.languages.playbook.directives import setting_owner
from anew.languages.playbook.keys import (
    DIRECTIVE_KEYS,
    IN_ELSE,
    PATCH_KEYS,
    RULE_ABOUT_KEYS,
    RULE_KEYS,
)
from anew.program.program import Dialect
from anew.program.span import Span

_IN_RULE = RULE_KEYS | DIRECTIVE_KEYS
_RULE_FORM = "Write `{when: …, then: {do: …}}` or `{else: {then: {do: …}}}`."


def with_rules(c: Compilation, policy: Entry, jitter: Entry | None = None) -> Entry:
    """A task's `policy` with its rules in canonical form; `jitter` is that of the task."""
    node = policy.node
    rules = node.get("rules") if isinstance(node, MapNode) else None
    if not isinstance(node, MapNode) or rules is None or not isinstance(rules.node, ListNode):
        return policy  # reported where it is compiled
    found = (_rule(c, item, Dialect.POLICY) for item in rules.node.items)
    built = made.with_items(rules.node, (with_jitter(item, jitter) for item in found))
    if built is rules.node:
        return policy
    others = (entry for entry in node if entry is not rules)
    inner = made.mapping((*others, made.renamed(rules, "rules", built)), node.span)
    return made.renamed(policy, "policy", inner)


def policy_of_eval(c: Compilation, entry: Entry, jitter: Entry | None = None) -> Entry | None:
    """The policy that `eval` stands for: an error that no rule matches fails."""
    c.noncanonical("strict.eval", entry.place, "`eval` is used", "`spec: {policy: {rules: […]}}`")
    node = c.sequence(entry, "eval")
    if node is None or not node.items:
        return None
    found = (_rule(c, item, Dialect.EVAL) for item in node.items)
    return made_policy(entry, (with_jitter(item, jitter) for item in found))


def made_policy(entry: Entry, rules: Iterable[Item]) -> Entry:
    """The policy that an older word stands for."""
    place = entry.place
    unmatched = made.entry("on_unmatched", made.scalar("fail", place), place)
    found = made.entry("rules", made.sequence(rules, place), place)
    return made.entry("policy", made.mapping([unmatched, found], place), place, entry)


# --- rules ---------------------------------------------------------------------------------------


def _rule(c: Compilation, item: Item, dialect: Dialect) -> Item:
    """A rule of any spelling; one that (reported) has none is marked as broken."""
    node = item.node
    if not isinstance(node, MapNode):
        c.report(
            "rule.shape", node.span, f"a rule must be a mapping; found {shown(node)}", _RULE_FORM
        )
        return _broken(item)
    c.check_keys(node, _IN_RULE, "a rule")
    otherwise, condition = node.get("else"), node.get("when") or node.get("expr")
    if "when" in node and "expr" in node:
        c.ignored(node.entries["expr"], "together with `when`", "Keep one of the two.")
    if condition is None and "then" in node:
        _note_shape(c, item.place)
    if otherwise is not None and not is_null(otherwise.node):
        _report_ignored(c, node, IN_ELSE, "else")
        then = _in_else(c, otherwise, dialect)
    else:
        then = _then(c, node, condition, item.place, dialect)
    if then is None:
        return _broken(item)
    if otherwise is not None and condition is not None:
        message = "a rule has both `else` and a condition"
        c.report("rule.shape", condition.place, message, _RULE_FORM)
        return Item(item.place, RuleNode({"then": then}, item.place, is_broken=True))
    if condition is not None:
        keys = [*_about(node), made.renamed(condition, "when"), then]
        return made.with_node(item, _ordered(node, keys))
    return made.with_node(item, _ordered(node, [*_about(node), _else(otherwise, then, item.place)]))


def _about(node: MapNode) -> list[Entry]:
    return [entry for entry in node if entry.key in RULE_ABOUT_KEYS]


def _ordered(node: MapNode, keys: list[Entry]) -> MapNode:
    """The author's own mapping where it has these entries, in whatever order."""
    return node if all(node.get(e.key) is e for e in keys) else made.mapping(keys, node.span)


def _else(otherwise: Entry | None, then: Entry, place: Span) -> Entry:
    if otherwise is None or is_null(otherwise.node):
        return made.entry("else", made.mapping([then], place), place)
    if isinstance(otherwise.node, MapNode):
        return made.renamed(otherwise, "else", _ordered(otherwise.node, [then]))
    return made.renamed(otherwise, "else", made.mapping([then], otherwise.place))


def _broken(item: Item) -> Item:
    # Nobody knows what it would match; it must not make others look dead or endless.
    return Item(item.place, RuleNode({}, item.place, is_broken=True))


def _report_ignored(c: Compilation, node: MapNode, keys: AbstractSet[str], beside: str) -> None:
    for key, entry in node.entries.items():
        if key in keys:
            c.ignored(entry, f"next to `{beside}`", f"Move it into `{beside}`, or remove it.")


def _in_else(c: Compilation, otherwise: Entry, dialect: Dialect) -> Entry | None:
    inner = otherwise.node
    if isinstance(inner, ScalarNode):  # `else: continue`
        _note_shape(c, otherwise.place)
        return _then_of(c, {"do": Entry("do", otherwise.name, inner)}, otherwise.place)
    if not isinstance(inner, MapNode):
        c.report(
            "rule.shape", inner.span, f"else must be a mapping; found {shown(inner)}", _RULE_FORM
        )
        return None
    c.check_keys(inner, IN_ELSE, "else")
    return _then(c, inner, None, otherwise.holder, dialect)


def _then(
    c: Compilation, node: MapNode, when: Entry | None, holder: Span, dialect: Dialect
) -> Entry | None:
    """What a rule does, as the one entry `then: {do: …}`; None when (reported) it says nothing."""
    then = node.get("then")
    if then is None:
        does = {key: entry for key, entry in node.entries.items() if key in DIRECTIVE_KEYS}
        if not does:
            c.report("rule.then-missing", holder, "a rule does not say what to do", _RULE_FORM)
            return None
        if dialect is Dialect.POLICY:
            _note_shape(c, holder)
        return _then_of(c, does, holder)
    _report_ignored(c, node, DIRECTIVE_KEYS, "then")
    if when is not None and when.key == "expr":
        _note_shape(c, holder)
    if isinstance(then.node, MapNode):
        c.check_keys(then.node, DIRECTIVE_KEYS, "then")
        found = made.with_entries(then.node, directive_fields(c, then.node.entries, then.holder))
        return made.renamed(then, "then", found)
    if is_null(then.node):
        return _then_of(c, {}, then.place, then)
    _note_shape(c, then.place)
    return _then_of(c, {"do": Entry("do", then.name, then.node)}, then.place, then)


def _then_of(c: Compilation, does: Mapping[str, Entry], holder: Span, *origins: Entry) -> Entry:
    inner = made.mapping(directive_fields(c, does, holder), holder)
    return made.entry("then", inner, holder, *origins)


def directive_fields(c: Compilation, does: Mapping[str, Entry], holder: Span) -> list[Entry]:
    """What a rule does with `do` said, and what follows spent attempts as a mapping."""
    found = [spent_field(c, e) if key == "on_exhausted" else e for key, e in does.items()]
    if "do" in does:
        return found
    for key, entry in does.items():
        if key in DIRECTIVE_KEYS and key not in PATCH_KEYS:
            c.ignored(entry, "without `do`", f"Add the {setting_owner(key)} it belongs to.")
    c.noncanonical("strict.rule", holder, "a rule does not say `do`", "`do: continue`")
    return [made.entry("do", made.scalar("continue", holder), holder), *found]


def spent_field(c: Compilation, entry: Entry) -> Entry:
    """What follows spent attempts, as a mapping."""
    node = entry.node
    if isinstance(node, MapNode):
        c.check_keys(node, DIRECTIVE_KEYS, "on_exhausted")
        inner = made.with_entries(node, directive_fields(c, node.entries, entry.holder))
        return made.renamed(entry, "on_exhausted", inner)
    canonical = "`on_exhausted: {do: …}`"
    c.noncanonical("strict.rule", entry.place, "`on_exhausted` is a bare word", canonical)
    inner = made.mapping([Entry("do", entry.name, node)], entry.place)
    return made.renamed(entry, "on_exhausted", inner)


def _note_shape(c: Compilation, place: Span) -> None:
    canonical = "`{when: …, then: {do: …}}` or `{else: {then: {do: …}}}`"
    c.noncanonical("strict.rule", place, "this form of a rule is not canonical", canonical)
