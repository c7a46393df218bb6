"""`poll` on a task: rules that ask again until something holds, at most for so long.

They take their turn after the author's own rules, but before an `else` among these.
"""

from __future__ import annotations

from collections.abc import Iterator

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.expression_texts import bare_expression, quoted
from anew.languages.playbook.desugar.policies import made_policy
from anew.languages.playbook.keys import POLL_KEYS
from anew.program.span import Span

_RULE = "poll.shape"
_FORM = 'Write `poll: {until: "{{ outcome.result.data.ready }}", every: 30s, timeout: 1h}`.'
# An error is for the author's own rules.
_IS_OK = "outcome.status != 'error'"


def with_poll(c: Compilation, policy: Entry | None, poll: Entry, label: str) -> Entry | None:
    """The task's policy with the rules that `poll` stands for."""
    node = c.mapping(poll, "poll")
    if node is None:
        return policy
    c.check_keys(node, POLL_KEYS, "poll")
    for key in ("until", "every"):
        if key not in node:
            c.report(_RULE, poll.place, f"`poll` does not say `{key}`", _FORM)
    if "until" not in node or "every" not in node:
        return policy
    return with_rules_of(poll, policy, list(_rules(c, node, poll.place, label)))


def with_rules_of(
    word: Entry, policy: Entry | None, rules: list[Item], *, first: bool = False
) -> Entry:
    """A task's policy, if it has one, with the rules that a word stands for."""
    if policy is None:
        return made_policy(word, rules)
    inner = policy.node
    listed = inner.get("rules") if isinstance(inner, MapNode) else None
    if not isinstance(inner, MapNode) or listed is None or not isinstance(listed.node, ListNode):
        return policy  # reported where it is compiled
    own = listed.node.items
    at = next((n for n, item in enumerate(own) if first or _is_else(item)), len(own))
    built = made.sequence([*own[:at], *rules, *own[at:]], listed.node.span)
    entries = (made.renamed(e, e.key, built) if e is listed else e for e in inner)
    return made.renamed(policy, "policy", made.mapping(entries, inner.span))


def _is_else(item: Item) -> bool:
    return isinstance(item.node, MapNode) and "else" in item.node


def _rules(c: Compilation, poll: MapNode, place: Span, label: str) -> Iterator[Item]:
    fails, until = poll.get("fail_when"), poll.entries["until"]
    if fails is not None and (asked := bare_expression(c, fails, _RULE)) is not None:
        message = f"{label} will not come to what it is polled for: {asked}"
        yield rule_item(fails.place, f"{_IS_OK} and ({asked})", do="fail", message=message)
    asked = bare_expression(c, until, _RULE)
    if asked is None:
        return
    yield rule_item(until.place, f"{_IS_OK} and ({asked})", do="continue")
    jump = [made.renamed(poll.entries["every"], "delay")]
    timeout = poll.get("timeout")
    if timeout is not None:
        jump.append(made.renamed(timeout, "max_elapsed"))
    yield rule_item(place, _IS_OK, *jump, do="jump", to=label)
    if timeout is not None:
        message = f"timeout: {label} has not come to what it is polled for: {asked}"
        yield rule_item(timeout.place, _IS_OK, do="fail", message=message)


def rule_item(place: Span, when: str, *more: Entry, **said: str) -> Item:
    """`{when, then: {do, …}}`."""
    does = [made.entry(key, made.scalar(text, place), place) for key, text in said.items()]
    then = made.entry("then", made.mapping([*does, *more], place), place)
    asked = made.entry("when", quoted(f"{{{{ {when} }}}}", place), place)
    return Item(place, made.mapping([asked, then], place))
