"""A step's `spec` and `loop` in their canonical form: settings and admission rules below `spec`."""

from __future__ import annotations

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, plain
from anew.languages.playbook.compilation import Compilation
from anew.program.span import Span

ADMIT_FORMS = "`{when: …, then: {allow: true}}` or `{else: {then: {allow: false}}}`"
_LOOP_SETTINGS = ("mode", "max_in_flight")
_WHEN_FORM = (
    "`spec: {policy: {admit: {rules: [{when: …, then: {allow: true}}, "
    "{else: {then: {allow: false}}}]}}}`"
)


def spec_of(
    c: Compilation, spec: Entry | None, when: Entry | None, *, drops_timeout: bool
) -> Entry | None:
    """A step's `spec`, with the older `when` as admission rules; None where nothing is left.

    `drops_timeout`: the attempt timeout in it belongs to the tool that stands on the step.
    """
    if spec is not None and not isinstance(spec.node, MapNode):
        return spec  # reported where it is compiled
    node = spec.node if spec is not None and isinstance(spec.node, MapNode) else None
    gone = ("next_mode", "timeout") if drops_timeout else ("next_mode",)
    kept = [e for e in node or () if e.key not in gone]
    entries = [_with_admission(c, e) if e.key == "policy" else e for e in kept]
    if when is not None:
        policy = next((e for e in entries if e.key == "policy"), None)
        entries = [e for e in entries if e is not policy]
        entries.append(_policy_with(c, policy, when))
    if spec is None or node is None:
        assert when is not None
        return made.entry("spec", made.mapping(entries, when.place), when.place, when)
    if not entries and node.entries:
        return None
    return made.renamed(spec, "spec", made.with_entries(node, entries))


def note_when(c: Compilation, when: Entry, *, has_policy: bool) -> None:
    if has_policy:
        message = "`when` on a step is not allowed where a task uses `spec.policy`"
        c.report("step.when", when.place, message, f"Write {_WHEN_FORM}.")
    else:
        c.noncanonical("strict.step-when", when.place, "a step has `when`", _WHEN_FORM)


# --- admission -----------------------------------------------------------------------------------


def _policy_with(c: Compilation, policy: Entry | None, when: Entry) -> Entry:
    """The step's policy, with `when` as what a token is asked."""
    place = when.place
    rules = [
        Item(place, made.mapping([made.renamed(when, "when"), _answer(True, place)], place)),
        Item(place, made.mapping([_otherwise(False, place)], place)),
    ]
    others = list(policy.node) if policy is not None and isinstance(policy.node, MapNode) else []
    admit = next((e for e in others if e.key == "admit"), None)
    if admit is not None:
        message = "a step has both `when` and admission rules"
        c.report("policy.conflict", place, message, "Keep the rules.")
    inner = made.mapping([made.entry("rules", made.sequence(rules, place), place)], place)
    entries = [*others, made.entry("admit", inner, place)]
    if policy is None:
        return made.entry("policy", made.mapping(entries, place), place)
    return made.renamed(policy, "policy", made.mapping(entries, policy.node.span))


def _with_admission(c: Compilation, policy: Entry) -> Entry:
    admit = policy.node.get("admit") if isinstance(policy.node, MapNode) else None
    inner = admit.node if admit is not None else None
    rules = inner.get("rules") if isinstance(inner, MapNode) else None
    if admit is None or rules is None or not isinstance(rules.node, ListNode):
        return policy
    built = made.with_items(rules.node, (_admit_rule(c, item) for item in rules.node.items))
    return _replaced(policy, admit, _replaced(admit, rules, made.renamed(rules, "rules", built)))


def _replaced(holder: Entry, old: Entry, new: Entry) -> Entry:
    """The mapping of an entry with one of its entries exchanged."""
    assert isinstance(holder.node, MapNode)
    entries = (new if entry is old else entry for entry in holder.node)
    return made.renamed(holder, holder.key, made.with_entries(holder.node, entries))


def _admit_rule(c: Compilation, item: Item) -> Item:
    """`{when, then: {allow}}` or `{else: {then: {allow}}}`; what is wrong stays as it is."""
    node = item.node
    if not isinstance(node, MapNode):
        return item
    otherwise, when = node.get("else"), node.get("when")
    holder, fields = item.place, node.entries
    if otherwise is not None and isinstance(otherwise.node, MapNode):
        holder, fields = otherwise.holder, otherwise.node.entries
    then = fields.get("then")
    if then is not None and (when is not None or otherwise is not None):
        return item
    c.noncanonical("strict.rule", holder, "this form of a rule is not canonical", ADMIT_FORMS)
    inner = then.node if then is not None else None
    allow = inner.get("allow") if isinstance(inner, MapNode) else fields.get("allow")
    if allow is None:
        return item
    allows = plain(allow.node) is True
    if when is not None and otherwise is None:
        answer = _answer(allows, holder, allow)
        return made.with_node(item, made.mapping([when, answer], node.span))
    origins = (allow,) if otherwise is None else (otherwise, allow)
    return made.with_node(item, made.mapping([_otherwise(allows, holder, *origins)], node.span))


def _answer(allows: bool, place: Span, *origins: Entry) -> Entry:
    allow = made.entry("allow", made.scalar(allows, place), place)
    return made.entry("then", made.mapping([allow], place, is_flow=True), place, *origins)


def _otherwise(allows: bool, place: Span, *origins: Entry) -> Entry:
    inner = made.mapping([_answer(allows, place)], place, is_flow=True)
    return made.entry("else", inner, place, *origins)


# --- loop ----------------------------------------------------------------------------------------


def loop_of(c: Compilation, entry: Entry) -> Entry:
    """A loop with its settings below `spec`, which win over those beside it."""
    node = entry.node
    if not isinstance(node, MapNode) or "cursor" in node:
        return entry
    beside = [found for found in node if found.key in _LOOP_SETTINGS]
    for found in beside:
        message = f"`{found.key}` is on the loop"
        canonical = f"`loop: {{spec: {{{found.key}: …}}}}`"
        c.noncanonical("strict.place", found.place, message, canonical)
    spec = node.get("spec")
    if not beside or (spec is not None and not isinstance(spec.node, MapNode)):
        return entry
    inside = list(spec.node) if spec is not None and isinstance(spec.node, MapNode) else []
    given = {found.key: found for found in [*beside, *inside]}
    others = [e for e in node if e is not spec and e.key not in _LOOP_SETTINGS]
    settings = made.mapping(given.values(), entry.place)
    below = made.entry("spec", settings, entry.place, *(() if spec is None else (spec,)))
    return made.renamed(entry, "loop", made.mapping([*others, below], node.span))
