"""Tell of conditions that look for words in an error's message, where the kind says it stably.

Knows the words that every message of a kind has (`engine/outcome.py`). Does not judge whether a
condition can hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from anew.engine.http_statuses import http_error_kind
from anew.engine.outcome import MESSAGE_WORDS
from anew.languages.nodes import ScalarNode
from anew.languages.playbook.compilation import Compilation, NameRead, Site, place_in

_WORD = r"(?P<quote>['\"])(?P<word>[^'\"]+)(?P=quote)"
# What is read, and through which filters: a few, as a long chain is read again from each of them.
_PATH = r"(?<![\w.])(?P<path>[\w.]+?)(?P<filters>(?:\s*\|\s*\w+){0,9})"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_WORD}\s+(?:not\s+)?in\s+[\s(]*{_PATH}(?![\w.|(])",  # 'timeout' in (error|lower)
        rf"{_PATH}[\s)]*\.(?:startswith|endswith|find|index|count)[\s(]+{_WORD}",
        rf"{_PATH}[\s)]*[!=]=[\s(]*{_WORD}",
        rf"{_WORD}[\s)]*[!=]=[\s(]*{_PATH}(?![\w.|(])",
    )
)
_OWNERS = ("outcome", "output", "event")
_MESSAGES = frozenset({f"{owner}.error.message" for owner in _OWNERS} | {"outcome.py.exception"})
# Of these it is a message only as text: `'x' in outcome.error` asks for a key.
_ERRORS = frozenset(f"{owner}.error" for owner in _OWNERS)
_TEXTS = frozenset({"string", "lower", "upper", "tojson"})
# What authors also look for; messages need not have it.
_MEANINGS: Mapping[str, str] = {
    "timed out": "timeout",
    "time out": "timeout",
    "too many requests": "rate limit",
    "throttl": "rate limit",
    "refused": "connection",
    "unreachable": "connection",
}
_STATUS = re.compile(r"(?<!\d)[45]\d\d(?!\d)")


def check_message_texts(c: Compilation) -> None:
    """Tell of every condition that looks for a text in a message."""
    for read in c.reads:
        if read.is_condition and isinstance(read.node, ScalarNode):
            for offset, word in sorted(_searches(read, read.node.text)):
                message = f"the condition looks for {word!r} in the text of a message"
                remedy = f"{_kind_words(word, read.place)} is stable, whatever the text says."
                c.report("outcome.message-text", place_in(read.node, offset), message, remedy)


def _searches(read: NameRead, text: str) -> Iterator[tuple[int, str]]:
    for form in _FORMS:
        for found in form.finditer(text):
            if _is_message(found["path"], found["filters"], read.place):
                yield found.start("quote"), found["word"]


def _is_message(path: str, filters: str, site: Site) -> bool:
    if path in _ERRORS:
        return not _TEXTS.isdisjoint(re.findall(r"\w+", filters))
    return path in _MESSAGES or (site is Site.RETRY and path == "error")


def _kind_words(word: str, site: Site) -> str:
    """`outcome.error.kind == 'timeout'`: what asks for the errors whose messages have a word."""
    owner, text = "event" if site is Site.ARC else "outcome", word.lower()
    status = _STATUS.search(text)
    if status is not None:
        kind = f"`{owner}.error.kind == '{http_error_kind(int(status[0]))}'`"
        return kind if owner == "event" else f"`outcome.http.status == {status[0]}` or {kind}"
    meant = {text, *(known for other, known in _MEANINGS.items() if other in text)}
    kinds = [kind for kind, known in MESSAGE_WORDS.items() if any(known in one for one in meant)]
    if not kinds:
        return f"`{owner}.error.kind`"
    if len(kinds) == 1:
        return f"`{owner}.error.kind == '{kinds[0]}'`"
    return f"`{owner}.error.kind in [{', '.join(map(repr, kinds))}]`"
