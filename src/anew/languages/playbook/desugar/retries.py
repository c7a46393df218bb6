"""The rules that a `retry` block (playbook.md#the-retry-block) stands for.

`stop_when` is asked first and wins; without `retry_when` every error is retried. An ok result
that merely kept matching `retry_when` is returned when the attempts are spent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.desugar.canonical import ErrorsNode, RuleNode
from anew.languages.playbook.desugar.policies import made_policy, spent_field
from anew.languages.playbook.desugar.retry_words import with_block_words
from anew.program.policy import OutcomeStatus
from anew.program.retry import ATTEMPTS_DEFAULT, DELAY_SECONDS_DEFAULT
from anew.program.span import Span

MAX_DELAY_DEFAULT = 60.0
# What each setting is called in a rule, and what it is where the block does not say.
_SETTINGS: Mapping[str, tuple[str, int | float | bool | None]] = {
    "max_attempts": ("attempts", ATTEMPTS_DEFAULT),
    "initial_delay": ("delay", DELAY_SECONDS_DEFAULT),
    "backoff_multiplier": ("multiplier", None),
    "max_delay": ("max_delay", MAX_DELAY_DEFAULT),
    "jitter": ("jitter", True),
    "max_elapsed": ("max_elapsed", None),
    "honor_retry_after": ("honor_retry_after", None),
}
# What says that the block has a delay of its own, and the settings of a rule that go with one.
_OWN_DELAY = ("initial_delay", "backoff_multiplier")
_OF_DELAY = ("delay", "max_delay", "jitter")
RETRY_KEYS = (*_SETTINGS, "on_exhausted", "retry_when", "stop_when")
_UNSUPPORTED = ("on_error", "on_success")
_PAGES = (
    "rules that come back for the next page: `{when: …, then: {do: jump, to: …, set_iter: {page: "
    "…}}}` and `{else: {then: {do: break}}}`"
)
_CANONICAL = "`spec: {policy: {rules: [{when: …, then: {do: retry, attempts: 3, …}}]}}`"
_FORM = "Write `retry: true`, `retry: 3` or `retry: {max_attempts: 3, …}`."


def policy_of_retry(
    c: Compilation, entry: Entry, jitter: Entry | None = None, *, has_backoff: bool = False
) -> Entry | None:
    """The policy a `retry` block stands for; None when it asks for nothing or is not run.

    `jitter` is that of the task, which its rules have unless the block says another. With
    `has_backoff` the task says how long to wait, where the block names no delay.
    """
    node = entry.node
    c.noncanonical("strict.retry", entry.place, "a `retry` block is used", _CANONICAL)
    if isinstance(node, ListNode) or (
        isinstance(node, MapNode) and any(k in node for k in _UNSUPPORTED)
    ):
        _refuse(c, node)
        return None
    known = {} if jitter is None else {"jitter": jitter}
    if isinstance(node, MapNode):
        node = with_block_words(c, node)
        c.check_keys(node, RETRY_KEYS, "retry")
        return made_policy(entry, _rules(c, entry, {**known, **node.entries}, has_backoff))
    if node.value is False or node.value is None:
        return None
    if not isinstance(node.value, int) and not node.text.isdigit():
        _report_form(c, node)
        return None
    fields = known if node.value is True else {**known, "max_attempts": entry}
    return made_policy(entry, _rules(c, entry, fields, has_backoff))


def _report_form(c: Compilation, node: ScalarNode) -> None:
    message = f"retry must be true, false, a whole number or a mapping; found {shown(node)}"
    c.report("value.type", node.span, message, _FORM)


def _refuse(c: Compilation, node: ListNode | MapNode) -> None:
    message = "`retry` with when/then, on_error or on_success is an older form that is not run"
    if isinstance(node, ListNode):
        c.report("dialect.unsupported", node.span, message, f"Write {_CANONICAL}.")
        return
    first = next(entry for entry in node if entry.key in _UNSUPPORTED)
    canonical = _PAGES if first.key == "on_success" else _CANONICAL
    c.report("dialect.unsupported", first.place, message, f"Write {canonical}.")


def _rules(
    c: Compilation, block: Entry, fields: Mapping[str, Entry], has_backoff: bool
) -> Iterator[Item]:
    stop, again = _given(fields, "stop_when"), _given(fields, "retry_when")
    if stop is not None:
        yield _rule(OutcomeStatus.ERROR, stop, [_do("fail", stop.place)], stop.place, "stop_when")
        yield _rule(OutcomeStatus.OK, stop, [_do("continue", stop.place)], stop.place, "stop_when")
    where = fields["retry_when"].place if "retry_when" in fields else block.place
    name = "retry" if again is None else "retry_when"
    spent = fields.get("on_exhausted")
    said = [] if spent is None else [spent_field(c, spent)]
    retry = [*_retry(block, fields, has_backoff), *said]
    yield _rule(OutcomeStatus.ERROR, again, retry, where, name)
    if again is not None and not isinstance(again.node, ErrorsNode):
        kept = made.mapping([_do("continue", where)], where, is_flow=True)
        returns = [] if said else [made.entry("on_exhausted", kept, where)]
        yield _rule(OutcomeStatus.OK, again, [*retry, *returns], where, name)


def _given(fields: Mapping[str, Entry], key: str) -> Entry | None:
    entry = fields.get(key)
    return None if entry is None or is_null(entry.node) else entry


def _rule(
    on: OutcomeStatus, asked: Entry | None, does: list[Entry], place: Span, name: str
) -> Item:
    then = made.entry("then", made.mapping(does, place), place)
    when = {} if asked is None else {"when": made.renamed(asked, "when")}
    return Item(place, RuleNode({**when, "then": then}, place, on=on, name=name))


def _do(word: str, place: Span) -> Entry:
    return made.entry("do", made.scalar(word, place), place)


def _retry(block: Entry, fields: Mapping[str, Entry], has_backoff: bool) -> Iterator[Entry]:
    place = block.place
    delay = fields.get("initial_delay")
    is_elsewhere = has_backoff and not any(word in fields for word in _OWN_DELAY)
    yield _do("retry", place)
    if not is_elsewhere:
        growth = made.scalar("exponential", place if delay is None else delay.node.span)
        yield made.entry("backoff", growth, place)
    for old, (new, default) in _SETTINGS.items():
        if old in fields:
            yield made.renamed(fields[old], new)
        elif default is not None and not (is_elsewhere and new in _OF_DELAY):
            yield made.entry(new, made.scalar(default, place), place)
