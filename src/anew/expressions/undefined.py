"""Two values that only expressions know: what is missing, and a name with several words.

Both answer Python's own operators, so that compiled comparisons need no extra checks. Neither
leaves an evaluation inside data: a missing value becomes null there, several words the first.
"""

from __future__ import annotations

from typing import Final

from anew.values import Value

_EVENT_KEYS_MAX = 32


class Undefined:
    """What a name, key or index that does not exist reads as.

    Every comparison with it is false, `!=` is true, its truth is false.
    """

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    __lt__ = __le__ = __gt__ = __ge__ = __eq__

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined()


class WordAliases(str):
    """A text that also answers to other words: equal to each of them, printed as the first."""

    words: tuple[str, ...]

    def __new__(cls, first: str, *others: str) -> WordAliases:
        made = super().__new__(cls, first)
        made.words = (first, *others)
        return made

    def __eq__(self, other: object) -> bool:
        if isinstance(other, WordAliases):
            return any(word in other.words for word in self.words)
        return other in self.words

    def __ne__(self, other: object) -> bool:
        return not self == other

    # As a key it is its first word.
    __hash__ = str.__hash__


def plain(value: Value) -> Value:
    """`value` as it may stand in data: UNDEFINED is None, aliases are their first word."""
    if value is UNDEFINED:
        return None
    if type(value) is WordAliases:
        return str(value)
    if type(value) is dict:
        return _plain_object(value)
    return value


def _plain_object(value: dict[str, Value]) -> dict[str, Value]:
    # Aliases stand only directly in an object of the scope (`event`), so one level is enough, and
    # it has few keys.
    if len(value) > _EVENT_KEYS_MAX:
        return value
    for item in value.values():
        if type(item) is WordAliases:
            return {key: str(v) if type(v) is WordAliases else v for key, v in value.items()}
    return value
