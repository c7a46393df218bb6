"""Words that users of NoETL write in a `retry` block, as the words of the block itself.

`retry_on` and `retry_on_status` name the errors that are retried, `backoff` and `backoff_seconds`
the first delay. Only errors are retried by them, never results that are ok.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages import made
from anew.languages.nodes import Entry, ListNode, MapNode, ScalarNode
from anew.languages.playbook.compilation import Compilation, shown
from anew.languages.playbook.desugar.canonical import of_errors
from anew.languages.playbook.durations import seconds_of

_CONNECTION = ("connection", "db_connection")
_TIMEOUT = ("timeout", "db_timeout")
# What each word means, in kinds of errors.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "timeout": _TIMEOUT,
    "timeout_error": _TIMEOUT,
    "connection": _CONNECTION,
    "connection_error": _CONNECTION,
    "network": _CONNECTION,
    "network_error": _CONNECTION,
    "rate_limit": ("rate_limit",),
    "server_error": ("server_error",),
    "5xx": ("server_error",),
    "deadlock": ("db_deadlock",),
}
OLDER_RETRY_KEYS = ("retry_on", "retry_on_status", "backoff", "backoff_seconds")
_DELAYS = ("backoff", "backoff_seconds")
_DELAY_FORM = "Write `initial_delay: 5`, and `backoff_multiplier: 1` where it does not grow."


def with_block_words(c: Compilation, block: MapNode) -> MapNode:
    """The block in its own words; itself where it has no others."""
    older = [block.entries[key] for key in OLDER_RETRY_KEYS if key in block]
    if not older:
        return block
    entries = [entry for entry in block if entry.key not in OLDER_RETRY_KEYS]
    asks = [entry for entry in older if entry.key not in _DELAYS]
    _add(c, entries, _retry_when(c, asks) if asks else None)
    for entry in older:
        if entry.key in _DELAYS:
            _add(c, entries, _initial_delay(c, entry))
    return made.mapping(entries, block.span)


def _add(c: Compilation, entries: list[Entry], new: Entry | None) -> None:
    if new is None:
        return
    first = next((entry for entry in entries if entry.key == new.key), None)
    if first is None:
        entries.append(new)
        return
    message = f"`{new.origins[0].key}` and `{first.name.text}` say the same of a retry"
    c.report("tool.input-twice", new.place, message, f"Keep `{new.key}`.")


def _initial_delay(c: Compilation, entry: Entry) -> Entry | None:
    if seconds_of(entry.node) is None:
        message = f"{entry.key} must be a number of seconds; found {shown(entry.node)}"
        c.report("rule.backoff", entry.node.span, message, _DELAY_FORM)
        return None
    return made.entry("initial_delay", entry.node, entry.place, entry)


def _retry_when(c: Compilation, asks: list[Entry]) -> Entry:
    """One condition for all that is named: kinds of errors, and HTTP statuses."""
    kinds: list[str] = []
    statuses: list[int] = []
    for entry in asks:
        node = entry.node
        values = [item.node for item in node.items] if isinstance(node, ListNode) else [node]
        for value in values:
            number = value.value if isinstance(value, ScalarNode) else None
            word = value.text.lower() if isinstance(value, ScalarNode) else ""
            if isinstance(number, int) and not isinstance(number, bool):
                statuses.append(number)
            elif entry.key == "retry_on" and word in _KINDS:
                kinds += _KINDS[word]
            else:
                c.unknown_word(value, sorted(_KINDS), rule="rule.shape", what=entry.key)
    place = asks[0].node.span
    named = ", ".join(f"'{kind}'" for kind in dict.fromkeys(kinds))
    parts = [f"outcome.error.kind in [{named}]"] if kinds else []
    parts += [f"status_code in {statuses}"] if statuses else []
    text = f"{{{{ {' or '.join(parts) or 'false'} }}}}"
    return made.entry("retry_when", of_errors(text, place), asks[0].place, *asks)
