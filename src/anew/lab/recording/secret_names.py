"""Which names secrets go by: of keys, headers, variables and parameters.

Knows names only. A name that is not here is no promise that nothing secret stands under it.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

_HEADERS = frozenset(
    "authorization proxy-authorization cookie set-cookie x-api-key x-auth-token x-csrf-token "
    "x-amz-security-token x-vault-token".split()
)
_WORDS = frozenset(
    "authorization bearer cookie credential jwt otp passcode passphrase passwd password pwd secret "
    "sessionid token apikey".split()
)
# `authtoken` and `dbpassword` are one word to whoever splits names.
_ENDINGS = ("token", "password", "passwd", "passphrase", "secret", "apikey")
_PAIRS = frozenset(
    f"{one} key" for one in "access account api client encryption master private secret".split()
) | {"session id", "session key", "shared key", "signing key"}
# A log has few names, many times over.
_NAMES_KEPT = 4_096
_PART_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class HiddenPart(IntEnum):
    """What under a name is a secret. `tokens` counts as often as it names: numbers there stay."""

    NOTHING = 0
    TEXTS = 1
    EVERYTHING = 2


def is_header(name: str) -> bool:
    """Whether all that follows a header of this name is secret."""
    return name.lower() in _HEADERS


def looks_secret(name: str) -> bool:
    """Whether what stands under this name is usually a secret."""
    return hidden_by(name) is not HiddenPart.NOTHING


@lru_cache(_NAMES_KEPT)
def hidden_by(name: str) -> HiddenPart:
    """What of that under this name is taken for a secret."""
    if is_header(name):
        return HiddenPart.EVERYTHING
    parts = [part.lower() for part in _PART_OF_NAME.findall(name)]
    if not parts:
        return HiddenPart.NOTHING
    named = [*parts, *(f"{one} {other}" for one, other in pairwise(parts))]
    # In `token_count` the number is the count; in `api_token` it is the token.
    ends = {parts[-1], named[-1]}
    if any(map(_is_word, ends)):
        return HiddenPart.EVERYTHING
    is_text = any(_is_word(part) or _is_word(part.removesuffix("s")) for part in named)
    return HiddenPart.TEXTS if is_text else HiddenPart.NOTHING


def _is_word(part: str) -> bool:
    return part in _WORDS or part in _PAIRS or part.endswith(_ENDINGS)
