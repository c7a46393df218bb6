"""Find what a text itself shows to be a secret: `Bearer …`, `user:password@host`, `token=…`, keys.

Says which part of the text that is. Decides nothing about what is put in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from anew.engine.secret_texts import MASK_BEGIN
from anew.lab.recording.secret_names import is_header, looks_secret

# Put into texts by whoever takes secrets out; what begins so is out already.
OUT_ALREADY = (MASK_BEGIN, "[secret ")
# Somebody who signs in by name alone is rarely called by so many letters.
_USER_CHARS_MIN = 20

_ALONE = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?P<pem>.*?)(?:-----END|\Z)"
    r"|://[^\s:@/?#\"']*:(?P<password>[^\s/?#\"'<>]+)@"
    rf"|://(?P<user>[^\s:@/?#\"']{{{_USER_CHARS_MIN},}})@"
    r"|\b(?i:bearer|basic)\s+(?P<credential>[\w.~+/=-]{6,})"
    r"|\b(?P<known>(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk-|AKIA|ASIA|AIza)[\w-]{12,})"
    r"|\b(?P<jwt>eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*)",
    re.DOTALL,
)
# `name=`, `Name: `, `"name": `, `--name `; the value comes after it.
_NAME = re.compile(
    r"(?<![\w.-])(?:--(?P<option>[A-Za-z][\w-]{0,99})[ \t]{1,9}"
    r"|-{0,2}(?P<name>[A-Za-z][\w.-]{0,99})\\{0,9}[\"']?[ \t]{0,9}(?:=>|[:=])[ \t]{0,9})"
)
_QUOTED = re.compile(r"(?P<quote>\\*[\"'])(?P<value>(?:(?!(?P=quote))(?:\\.|[^\\\n]))+)(?P=quote)")
_WORD = re.compile(r"(?P<value>[^\s\"'&;,<>\[{(][^\s\"'&;,<>)\]}]*)")
_LINE = re.compile(r"(?P<value>[^\s\"'][^\n\"']*)")
_SIGNATURE = re.compile(r"(?:^|[-_])sig(?:nature)?$", re.IGNORECASE)


def with_replaced(text: str, instead: Callable[[str], str]) -> str:
    """`text` with each secret that it shows replaced by what `instead` gives for it."""

    def put(secret: str) -> str:
        is_out = any(mark in secret for mark in OUT_ALREADY)
        return secret if is_out else instead(secret)

    return _without_named(_ALONE.sub(lambda found: _replaced(found, put), text), put)


def _replaced(found: re.Match[str], put: Callable[[str], str]) -> str:
    """The whole match, the one group that it has replaced."""
    group, whole = found.lastgroup or 0, found.group()
    begin, end = found.start(group) - found.start(), found.end(group) - found.start()
    return f"{whole[:begin]}{put(found[group])}{whole[end:]}" if begin < end else whole


def _without_named(text: str, put: Callable[[str], str]) -> str:
    pieces, end = [], 0
    for found in _NAME.finditer(text):
        value = _value_after(found) if found.start() >= end else None
        if value is not None:
            pieces += [text[end : value.start("value")], put(value["value"])]
            end = value.end("value")
    return "".join([*pieces, text[end:]])


def _value_after(found: re.Match[str]) -> re.Match[str] | None:
    """What stands under a name that secrets go by. Of a header that is all of its line."""
    name = found["option"] or found["name"]
    if not looks_secret(name) and not _SIGNATURE.search(name):
        return None
    text, begin = found.string, found.end()
    bare = _LINE if is_header(name) else _WORD
    return _QUOTED.match(text, begin) or bare.match(text, begin)
