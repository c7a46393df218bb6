"""Tell of conditions that look for words in an error's message, where the kind says it stably.

Knows the words that every message of a kind has (`engine/outcome.py`). Does not judge whether a
condition can hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anew.engine.outcome import MESSAGE_WORDS
from anew.languages.nodes import ScalarNode
from anew.languages.playbook.compilation import Compilation, NameRead, Site, place_in

# `'timeout' in (error|lower)`, `"x" not in outcome.error.message`.
_SEARCH = re.compile(r"(['\"])(?P<word>[^'\"]+)\1\s+(?:not\s+)?in\s+\(*\s*(?P<path>[\w.]+)")
_MESSAGES = frozenset({"outcome.error.message", "output.error.message", "event.error.message"})
_RETRY_MESSAGES = _MESSAGES | {"error"}


def check_message_texts(c: Compilation) -> None:
    """Tell of every condition that looks for a text in a message."""
    for read in c.reads:
        if read.is_condition and isinstance(read.node, ScalarNode):
            for word, offset in _searches(read, read.node.text):
                kind = _kind_words(word, read.place)
                message = f"the condition looks for {word!r} in the text of a message"
                remedy = f"{kind} is stable, whatever the text says."
                c.report("outcome.message-text", place_in(read.node, offset), message, remedy)


def _searches(read: NameRead, text: str) -> Iterator[tuple[str, int]]:
    messages = _RETRY_MESSAGES if read.place is Site.RETRY else _MESSAGES
    for found in _SEARCH.finditer(text):
        if found["path"] in messages:
            yield found["word"], found.start()
    if read.place is not Site.RETRY:
        for path, word in sorted(read.compares):
            if ".".join(path) in _MESSAGES:
                yield word, max(text.find(word), 0)


def _kind_words(word: str, site: Site) -> str:
    """`outcome.error.kind == 'timeout'`: what asks for the errors whose messages have a word."""
    owner = "event" if site is Site.ARC else "outcome"
    kinds = [kind for kind, known in MESSAGE_WORDS.items() if known in word.lower()]
    if not kinds:
        return f"`{owner}.error.kind`"
    if len(kinds) == 1:
        return f"`{owner}.error.kind == '{kinds[0]}'`"
    return f"`{owner}.error.kind in [{', '.join(map(repr, kinds))}]`"
