"""Give every node a file name that is safe everywhere, and no two nodes the same one.

A name that is plain stays as it is. Any other is cleaned and told apart by a piece of its hash:
slashes, `..`, control characters, words that Windows keeps for itself, names that are too long, and
names that differ only by case. The same log always gives the same names.
"""

from __future__ import annotations

import re
from hashlib import sha256
from unicodedata import normalize

# A file system takes 255 bytes; numbers, a hash and an ending have to fit beside the name.
NAME_BYTES_MAX = 100

_HASH_DIGITS = 10
# `~` is in no plain name, so a cleaned one never takes the name of another node.
_HASH_MARK = "~"
_PLAIN = re.compile(r"\w(?:[\w.-]*[\w-])?")
_UNSAFE = re.compile(r"[^\w-]+")
_WINDOWS_WORDS = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{word}{digit}" for word in ("com", "lpt") for digit in "0123456789¹²³"}
)


class NodeNames:
    """The names given so far. Whoever comes first has the plain one."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, node: str) -> str:
        """The file name of a node, without an ending."""
        known = self._given.get(node)
        if known is not None:
            return known
        name = node
        if not _is_plain(node) or _folded(node) in self._taken:
            name = _distinct(node)
        self._taken.add(_folded(name))
        self._given[node] = name
        return name


def _is_plain(node: str) -> bool:
    return (
        _PLAIN.fullmatch(node) is not None
        and len(node.encode("utf-8", "replace")) <= NAME_BYTES_MAX
        and normalize("NFC", node) == node
        and node.partition(".")[0].casefold() not in _WINDOWS_WORDS
    )


def _folded(name: str) -> str:
    """Alike for two names that some file system takes for one."""
    return normalize("NFKC", normalize("NFKC", name).casefold())


def _distinct(node: str) -> str:
    digits = sha256(node.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    room = NAME_BYTES_MAX - _HASH_DIGITS - len(_HASH_MARK)
    cleaned = _UNSAFE.sub("_", normalize("NFC", node))[:room]
    cut = cleaned.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    # A name that begins with a dash is an option to many a command.
    return f"{cut.lstrip('-') or '_'}{_HASH_MARK}{digits}"
